//! What a scan gives: columns of the records, partition columns and metadata of the file.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::{
    ConnectorError, FormatMetadata, MetadataColumn, ScanColumn, ScanRequest, TableContext,
};
use flott_types::{ChangelogBatch, DataType, Field, Schema, Value};

use super::listing::FoundFile;
use super::partition::parse_value;
use crate::common::record_columns;

/// What stands before the keys of a format's metadata columns, as in Flink.
const PREFIX: &str = "value.";

/// The metadata columns, those of Flink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileMetadata {
    Path,
    Name,
    Size,
    ModificationTime,
}

impl FileMetadata {
    const ALL: [Self; 4] = [Self::Path, Self::Name, Self::Size, Self::ModificationTime];

    fn key(self) -> &'static str {
        match self {
            Self::Path => "file.path",
            Self::Name => "file.name",
            Self::Size => "file.size",
            Self::ModificationTime => "file.modification-time",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Path | Self::Name => DataType::string().not_null(),
            Self::Size => DataType::bigint().not_null(),
            Self::ModificationTime => DataType::timestamp_ltz(3).not_null(),
        }
    }

    pub(super) fn value(self, file: &FoundFile) -> Value {
        match self {
            Self::Path => Value::string(&file.path),
            Self::Name => {
                let name = Path::new(&file.path).file_name().and_then(|name| name.to_str());
                Value::string(name.unwrap_or(&file.path))
            }
            Self::Size => Value::Int(file.size.map_or(0, |size| size as i64)),
            Self::ModificationTime => {
                Value::Timestamp(i128::from(file.modified_millis) * 1_000_000)
            }
        }
    }

    /// The column of a key; the error lists all keys.
    pub(super) fn of(key: &str) -> Result<Self, ConnectorError> {
        Self::ALL.into_iter().find(|column| column.key() == key).ok_or_else(|| {
            let keys: Vec<_> = Self::ALL.into_iter().map(Self::key).collect();
            ConnectorError::new(format!("invalid metadata key '{key}'"))
                .hint(format!("the connector 'filesystem' has {}", keys.join(", ")))
        })
    }

    /// All of them as a scan names them.
    pub(super) fn scan_columns() -> impl Iterator<Item = ScanColumn> {
        Self::ALL.into_iter().map(|column| ScanColumn::Metadata(column.key().into()))
    }

    /// All of them and those of the format, as the planner wants to know them.
    pub(super) fn columns(of_format: &[FormatMetadata]) -> Vec<MetadataColumn> {
        let own = Self::ALL.into_iter().map(|column| (column.key().into(), column.data_type()));
        let of_format =
            of_format.iter().map(|(key, data_type)| (format!("{PREFIX}{key}"), data_type()));
        own.chain(of_format)
            .map(|(key, data_type)| MetadataColumn { key, data_type, writable: false })
            .collect()
    }
}

/// The columns of a scan's batches and where each comes from.
#[derive(Debug, Clone)]
pub(super) struct ScanColumns {
    output: Vec<Output>,
    constants: Vec<Constant>,
    schema: SchemaRef,
    /// The columns of the records: those of the table that no directory holds.
    pub(super) record_schema: Schema,
    /// Which of them the scan wants.
    pub(super) projection: Vec<usize>,
    /// Which of the format's metadata columns it wants; they come behind the projected ones.
    pub(super) metadata: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Output {
    /// The column at this position of the decoder's output.
    Decoded(usize),
    /// The metadata column at this position of those that the decoder gives.
    Metadata(usize),
    /// The constant at this position, the same for all rows of a file.
    Constant(usize),
}

#[derive(Debug, Clone)]
enum Constant {
    Partition { position: usize, column: Arc<str>, data_type: DataType },
    Metadata(FileMetadata),
}

impl ScanColumns {
    /// The columns that a request asks of a table.
    pub(super) fn new(
        context: &TableContext,
        metadata: &[FormatMetadata],
        request: &ScanRequest,
    ) -> Result<Self, ConnectorError> {
        let mut of_format = Vec::new();
        let in_records = record_columns(context);
        let (mut output, mut constants) = (Vec::new(), Vec::new());
        let (mut projection, mut fields) = (Vec::new(), Vec::new());
        for column in &request.columns {
            let constant = match column {
                ScanColumn::Physical(position) => {
                    let field = &context.schema.fields[*position];
                    fields.push(field.clone());
                    let key = context.partition_keys.iter().position(|key| key == position);
                    key.map(|position| Constant::Partition {
                        position,
                        column: field.name.clone(),
                        data_type: field.data_type.clone(),
                    })
                }
                ScanColumn::Metadata(key) => {
                    let in_format = key
                        .strip_prefix(PREFIX)
                        .and_then(|key| metadata.iter().find(|(known, _)| *known == key));
                    if let Some((known, data_type)) = in_format {
                        fields.push(Field::new(key.as_str(), data_type()));
                        output.push(Output::Metadata(of_format.len()));
                        of_format.push(known.to_string());
                        continue;
                    }
                    let metadata = FileMetadata::of(key)?;
                    fields.push(Field::new(key.as_str(), metadata.data_type()));
                    Some(Constant::Metadata(metadata))
                }
            };
            match (constant, column) {
                (Some(constant), _) => {
                    output.push(Output::Constant(constants.len()));
                    constants.push(constant);
                }
                (None, ScanColumn::Physical(position)) => {
                    output.push(Output::Decoded(projection.len()));
                    projection.extend(in_records.iter().position(|column| column == position));
                }
                (None, ScanColumn::Metadata(_)) => {}
            }
        }
        Ok(Self {
            output,
            constants,
            schema: Schema::new(fields).to_arrow(),
            record_schema: record_schema(context),
            projection,
            metadata: of_format,
        })
    }

    /// The constants of a file.
    pub(super) fn constants(&self, file: &FoundFile) -> Result<FileConstants, ConnectorError> {
        let single = |constant: &Constant| {
            let (value, data_type) = match constant {
                Constant::Metadata(metadata) => (metadata.value(file), metadata.data_type()),
                Constant::Partition { position, column, data_type } => {
                    let value = match file.partition.get(*position).and_then(Option::as_deref) {
                        None => Value::Null,
                        Some(text) => parse_value(text, data_type).map_err(|mut error| {
                            error.message =
                                format!("partition column '{column}': {}", error.message);
                            error.at(&file.path)
                        })?,
                    };
                    (value, data_type.clone())
                }
            };
            Value::to_array(&[value], &data_type)
                .map_err(|error| ConnectorError::new(error.to_string()).at(&file.path))
        };
        Ok(FileConstants(self.constants.iter().map(single).collect::<Result<_, _>>()?))
    }

    /// A decoded batch with the constants of its file.
    pub(super) fn assemble(
        &self,
        decoded: ChangelogBatch,
        constants: &mut FileConstants,
    ) -> Result<ChangelogBatch, ConnectorError> {
        let rows = decoded.len();
        let columns = self
            .output
            .iter()
            .map(|column| match column {
                Output::Decoded(position) => Ok(decoded.column(*position).clone()),
                Output::Metadata(position) => {
                    Ok(decoded.column(self.projection.len() + position).clone())
                }
                Output::Constant(position) => constants.repeat(*position, rows),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| ConnectorError::new(format!("columns do not fit: {error}")))?;
        Ok(ChangelogBatch { rows, kinds: decoded.kinds })
    }
}

/// The values that all rows of a file share, repeated as often as a batch needed them so far.
pub(super) struct FileConstants(Vec<ArrayRef>);

impl FileConstants {
    fn repeat(&mut self, position: usize, rows: usize) -> Result<ArrayRef, ConnectorError> {
        let array = &mut self.0[position];
        if array.len() < rows {
            *array = take(&*array, &UInt32Array::from_value(0, rows), None)
                .map_err(|error| ConnectorError::new(error.to_string()))?;
        }
        Ok(array.slice(0, rows))
    }
}

/// The columns that records have.
pub(super) fn record_schema(context: &TableContext) -> Schema {
    let columns = record_columns(context).into_iter();
    Schema::new(columns.map(|at| context.schema.fields[at].clone()).collect())
}
