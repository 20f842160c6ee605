//! Records to rows: keys and values are decoded apart and put together column by column.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, Decoder, ScanColumn, ScanRequest,
};
use flott_kafka::{Record, TopicPartition};
use flott_types::{ChangelogBatch, Field, RowKind, Schema};

use super::metadata::{MetadataBuilder, PREFIX, RecordMetadata};
use super::part::Part;
use super::table::Table;

/// Decodes the records of a table into the columns that a scan wants.
pub(super) struct RowBuilder {
    schema: SchemaRef,
    output: Vec<Output>,
    /// Decodes keys, where one of their columns is wanted or says which row is deleted.
    key: Option<Box<dyn Decoder>>,
    value: Box<dyn Decoder>,
    value_columns: usize,
    metadata: Vec<MetadataBuilder>,
    upsert: bool,
    bad_records: Arc<dyn BadRecordHandler>,
    /// Of each row, which decoded key and value it has; a row without a value is deleted. Not kept
    /// when every row is a decoded value.
    key_of: Vec<u32>,
    value_of: Vec<Option<u32>>,
}

/// Where a column of the batch comes from: a position among the columns of that source.
#[derive(Debug, Clone, Copy)]
enum Output {
    Key(usize),
    Value(usize),
    ValueMetadata(usize),
    Metadata(usize),
}

impl RowBuilder {
    pub(super) fn new(
        table: &Table,
        request: &ScanRequest,
        bad_records: &Arc<dyn BadRecordHandler>,
    ) -> Result<Self, ConnectorError> {
        let (mut output, mut fields, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_key, mut of_value, mut of_format) = (Vec::new(), Vec::new(), Vec::new());
        for column in &request.columns {
            match column {
                ScanColumn::Physical(position) => {
                    fields.push(table.context.schema.fields[*position].clone());
                    let within =
                        |part: &Part| part.columns.iter().position(|column| column == position);
                    let in_key = table.key.as_ref().and_then(within);
                    // The key of an upsert says which row it is; else the value has the last word,
                    // as in Flink.
                    match (within(&table.value), in_key) {
                        (Some(at), None) => push(&mut output, Output::Value, &mut of_value, at),
                        (Some(at), Some(_)) if !table.upsert => {
                            push(&mut output, Output::Value, &mut of_value, at);
                        }
                        (_, Some(at)) => push(&mut output, Output::Key, &mut of_key, at),
                        (None, None) => return Err(unknown(&format!("column {position}"))),
                    }
                }
                ScanColumn::Metadata(name) => {
                    let formats = table.value.format.def.metadata;
                    let in_format = name
                        .strip_prefix(PREFIX)
                        .and_then(|key| formats.iter().find(|(known, _)| *known == key));
                    if let Some((key, data_type)) = in_format {
                        fields.push(Field::new(name.as_str(), data_type()));
                        push(&mut output, Output::ValueMetadata, &mut of_format, key.to_string());
                        continue;
                    }
                    let column = RecordMetadata::of(name).ok_or_else(|| unknown(name))?;
                    fields.push(Field::new(name.as_str(), column.data_type()));
                    push(
                        &mut output,
                        Output::Metadata,
                        &mut metadata,
                        MetadataBuilder::new(column),
                    );
                }
            }
        }
        let key = match &table.key {
            Some(key) if table.upsert || !of_key.is_empty() => {
                Some(key.decoder(of_key, Vec::new(), bad_records.clone())?)
            }
            _ => None,
        };
        Ok(Self {
            schema: Schema::new(fields).to_arrow(),
            output,
            key,
            value_columns: of_value.len(),
            value: table.value.decoder(of_value, of_format, bad_records.clone())?,
            metadata,
            upsert: table.upsert,
            bad_records: bad_records.clone(),
            key_of: Vec::new(),
            value_of: Vec::new(),
        })
    }

    /// How many rows have gathered.
    pub(super) fn rows(&self) -> usize {
        if self.key.is_some() { self.value_of.len() } else { self.value.rows() }
    }

    /// Decodes a record.
    pub(super) fn push(
        &mut self,
        of: &TopicPartition,
        record: &Record<'_>,
    ) -> Result<(), ConnectorError> {
        let offset = record.offset;
        let place = || format!("topic '{}', partition {}, offset {offset}", of.topic, of.partition);
        let key_row = match self.decode_key(record, &place)? {
            Ok(row) => row,
            Err(NoKey) => return Ok(()),
        };
        let before = self.value.rows();
        match record.value {
            Some(value) => self.value.decode_message(value, &place)?,
            None if self.upsert => {
                self.key_of.push(key_row);
                self.value_of.push(None);
                return self.push_metadata(of, record, 1);
            }
            None => self.value.decode_null()?,
        }
        let after = self.value.rows();
        if self.key.is_some() {
            self.key_of.extend(std::iter::repeat_n(key_row, after - before));
            self.value_of.extend((before..after).map(|row| Some(row as u32)));
        }
        self.push_metadata(of, record, after - before)
    }

    fn push_metadata(
        &mut self,
        of: &TopicPartition,
        record: &Record<'_>,
        rows: usize,
    ) -> Result<(), ConnectorError> {
        self.metadata.iter_mut().try_for_each(|column| column.push(of, record, rows))
    }

    /// The row of the key, where keys are decoded.
    fn decode_key(
        &mut self,
        record: &Record<'_>,
        place: &dyn Fn() -> String,
    ) -> Result<Result<u32, NoKey>, ConnectorError> {
        let Some(decoder) = &mut self.key else { return Ok(Ok(0)) };
        let before = decoder.rows();
        match record.key {
            Some(key) => decoder.decode_message(key, place)?,
            None => {
                let error = ConnectorError::new("the record has no key")
                    .hint("the table declares columns that are read from the key");
                let raw = record.value.unwrap_or_default();
                self.bad_records.handle(BadRecord { raw, place: place(), error })?;
            }
        }
        Ok(if decoder.rows() > before { Ok(before as u32) } else { Err(NoKey) })
    }

    /// The rows gathered since the last call.
    pub(super) fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        let rows = self.rows();
        if rows == 0 {
            // Values may have been decoded to nothing but bad records.
            return Ok(None);
        }
        let values = self.value.take()?;
        let keys = match &mut self.key {
            Some(key) => key.take()?,
            None => None,
        };
        let key_of = UInt32Array::from(std::mem::take(&mut self.key_of));
        let value_of = std::mem::take(&mut self.value_of);
        let all_values = self.key.is_none()
            || value_of.len() == values.as_ref().map_or(0, ChangelogBatch::len)
                && value_of.iter().all(Option::is_some);
        let value_of = UInt32Array::from(value_of);
        let mut columns = Vec::with_capacity(self.output.len());
        for (column, field) in self.output.iter().zip(self.schema.fields()) {
            let of_value = |at: usize| -> Result<ArrayRef, ConnectorError> {
                match &values {
                    None => Ok(new_null_array(field.data_type(), rows)),
                    Some(values) if all_values => Ok(values.column(at).clone()),
                    Some(values) => pick(values.column(at), &value_of),
                }
            };
            columns.push(match *column {
                Output::Value(at) => of_value(at)?,
                Output::ValueMetadata(at) => of_value(self.value_columns + at)?,
                Output::Metadata(at) => self.metadata[at].take()?,
                Output::Key(at) => match &keys {
                    Some(keys) => pick(keys.column(at), &key_of)?,
                    None => new_null_array(field.data_type(), rows),
                },
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| ConnectorError::new(format!("columns do not fit: {error}")))?;
        let kinds = values.and_then(|values| values.kinds);
        Ok(Some(match kinds {
            Some(kinds) if all_values => ChangelogBatch::new(batch, kinds),
            Some(kinds) => ChangelogBatch::new(
                batch,
                value_of
                    .iter()
                    .map(|at| at.map_or(RowKind::Delete, |at| kinds.get(at as usize)))
                    .collect(),
            ),
            None if all_values => ChangelogBatch::inserts(batch),
            None => ChangelogBatch::new(
                batch,
                value_of.iter().map(|at| at.map_or(RowKind::Delete, |_| RowKind::Insert)).collect(),
            ),
        }))
    }
}

/// A record is left out because its key cannot be had.
struct NoKey;

/// Adds an output column, and what it comes from to its source.
fn push<T>(output: &mut Vec<Output>, make: fn(usize) -> Output, source: &mut Vec<T>, item: T) {
    output.push(make(source.len()));
    source.push(item);
}

fn pick(column: &dyn Array, rows: &UInt32Array) -> Result<ArrayRef, ConnectorError> {
    take(column, rows, None).map_err(|error| ConnectorError::new(error.to_string()))
}

fn unknown(what: &str) -> ConnectorError {
    ConnectorError::new(format!("the connector 'kafka' has no {what}"))
}
