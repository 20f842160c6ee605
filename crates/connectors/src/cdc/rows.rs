//! Rows under construction: wanted columns, metadata, and kinds.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder, TimestampMillisecondBuilder};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::{ConnectorError, MetadataColumn, ScanColumn, ScanRequest};
use flott_types::{ChangelogBatch, DataType, Field, RowKind, RowKinds, Schema};

use super::columns::Column;

/// A metadata column, those of Flink CDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metadata {
    TableName,
    SchemaName,
    DatabaseName,
    OpTs,
    RowKind,
}

impl Metadata {
    fn key(self) -> &'static str {
        match self {
            Self::TableName => "table_name",
            Self::SchemaName => "schema_name",
            Self::DatabaseName => "database_name",
            Self::OpTs => "op_ts",
            Self::RowKind => "row_kind",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::OpTs => DataType::timestamp_ltz(3).not_null(),
            _ => DataType::string().not_null(),
        }
    }

    /// These as the planner asks for them.
    pub(super) fn columns(all: &[Self]) -> Vec<MetadataColumn> {
        let column = |column: &Self| MetadataColumn {
            key: column.key().into(),
            data_type: column.data_type(),
            writable: false,
        };
        all.iter().map(column).collect()
    }

    fn of(key: &str) -> Option<Self> {
        [Self::TableName, Self::SchemaName, Self::DatabaseName, Self::OpTs, Self::RowKind]
            .into_iter()
            .find(|column| column.key() == key)
    }
}

/// Where a row is from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) database: &'a str,
    pub(super) schema: &'a str,
    pub(super) table: &'a str,
    /// When the change was made, in milliseconds since 1970; 0 for rows of a snapshot.
    pub(super) at: i64,
}

/// A value as the database sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    Null,
    Text(&'a [u8]),
}

/// Gathers rows of the columns that a scan wants.
pub(super) struct Rows {
    schema: SchemaRef,
    output: Vec<Output>,
    columns: Vec<Column>,
    names: Vec<Arc<str>>,
    types: Vec<DataType>,
    texts: Vec<(Metadata, StringBuilder)>,
    times: TimestampMillisecondBuilder,
    kinds: Vec<u8>,
}

/// Where a column of the batch comes from.
#[derive(Debug, Clone, Copy)]
enum Output {
    Column(usize),
    Text(usize),
    Times,
}

impl Rows {
    /// For a request on a table of this schema. Fails on types that no value of a database is of.
    pub(super) fn new(
        schema: &Schema,
        request: &ScanRequest,
        hexadecimal: bool,
    ) -> Result<Self, ConnectorError> {
        let mut rows = Self {
            schema: SchemaRef::new(arrow::datatypes::Schema::empty()),
            output: Vec::new(),
            columns: Vec::new(),
            names: Vec::new(),
            types: Vec::new(),
            texts: Vec::new(),
            times: TimestampMillisecondBuilder::new(),
            kinds: Vec::new(),
        };
        let mut fields = Vec::with_capacity(request.columns.len());
        for column in &request.columns {
            match column {
                ScanColumn::Physical(position) => {
                    let field = &schema.fields[*position];
                    let built = Column::of(&field.data_type, hexadecimal).ok_or_else(|| {
                        ConnectorError::new(format!(
                            "the column '{}' has the type {}, which no value of the database has",
                            field.name,
                            field.data_type.summary()
                        ))
                        .hint("docs/cdc.md lists the types; STRING takes the text of any value")
                    })?;
                    rows.output.push(Output::Column(rows.columns.len()));
                    rows.columns.push(built);
                    rows.names.push(field.name.clone());
                    rows.types.push(field.data_type.clone());
                    fields.push(field.clone());
                }
                ScanColumn::Metadata(key) => {
                    let column = Metadata::of(key).ok_or_else(|| {
                        ConnectorError::new(format!("there is no metadata column '{key}'"))
                    })?;
                    rows.output.push(match column {
                        Metadata::OpTs => Output::Times,
                        _ => Output::Text(rows.texts.len()),
                    });
                    if column != Metadata::OpTs {
                        rows.texts.push((column, StringBuilder::new()));
                    }
                    fields.push(Field::new(key.as_str(), column.data_type()));
                }
            }
        }
        rows.schema = Schema::new(fields).to_arrow();
        Ok(rows)
    }

    /// The names of the physical columns that are wanted, in the order of [`push`](Self::push)'s cells.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// How many rows have gathered.
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Appends a row; `cell` gives the value of each of [`names`](Self::names).
    pub(super) fn push<'a>(
        &mut self,
        kind: RowKind,
        origin: &Origin<'_>,
        mut cell: impl FnMut(usize) -> Result<Cell<'a>, ConnectorError>,
    ) -> Result<(), ConnectorError> {
        for (at, column) in self.columns.iter_mut().enumerate() {
            match cell(at)? {
                Cell::Null => column.push_null(),
                Cell::Text(text) => column.push(text).map_err(|_| {
                    ConnectorError::new(format!(
                        "the value '{}' of the column '{}' does not fit its type {}",
                        String::from_utf8_lossy(&text[..text.len().min(100)]),
                        self.names[at],
                        self.types[at].summary()
                    ))
                    .at(format!("table {}.{}", origin.schema, origin.table))
                    .hint("declare a type that holds it; STRING takes the text of any value")
                })?,
            }
        }
        for (column, values) in &mut self.texts {
            values.append_value(match column {
                Metadata::TableName => origin.table,
                Metadata::SchemaName => origin.schema,
                Metadata::DatabaseName => origin.database,
                _ => kind.short(),
            });
        }
        self.times.append_value(origin.at);
        self.kinds.push(kind as u8);
        Ok(())
    }

    /// The rows gathered since the last call; `None` when there are none.
    pub(super) fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        if self.kinds.is_empty() {
            return Ok(None);
        }
        let kinds = RowKinds::from(std::mem::take(&mut self.kinds));
        let times: ArrayRef = Arc::new(self.times.finish());
        let columns: Vec<_> = self.columns.iter_mut().map(Column::finish).collect();
        let texts: Vec<ArrayRef> = self
            .texts
            .iter_mut()
            .map(|(_, values)| Arc::new(values.finish()) as ArrayRef)
            .collect();
        let output = self.output.iter().map(|output| match *output {
            Output::Column(at) => columns[at].clone(),
            Output::Text(at) => texts[at].clone(),
            Output::Times => times.clone(),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(kinds.len()));
        let batch =
            RecordBatch::try_new_with_options(self.schema.clone(), output.collect(), &options)
                .map_err(|error| ConnectorError::new(format!("columns do not fit: {error}")))?;
        Ok(Some(ChangelogBatch::new(batch, kinds)))
    }

    /// Forgets the rows gathered since the last call of [`take`](Self::take), a half one included.
    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| drop(column.finish()));
        self.texts.iter_mut().for_each(|(_, values)| drop(values.finish()));
        self.times = TimestampMillisecondBuilder::new();
        self.kinds.clear();
    }
}
