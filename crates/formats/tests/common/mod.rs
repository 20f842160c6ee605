//! Decoders and encoders driven from texts.

#![allow(dead_code, missing_docs)]

pub mod whole;

use std::sync::{Arc, Mutex};

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder, EncodeContext,
    FailOnBadRecord, FormatDef, Options, RecordBuffer,
};
use flott_types::text::value_to_string;
use flott_types::{ChangelogBatch, DataType, Field, RowField, Schema, TypeRoot, Value, arrow_type};
use jiff::tz::TimeZone;

pub fn format(name: &str) -> &'static FormatDef {
    flott_formats::all().into_iter().find(|format| format.name == name).expect("a format")
}

pub fn schema(columns: &[(&str, DataType)]) -> Schema {
    Schema::new(columns.iter().map(|(name, ty)| Field::new(*name, ty.clone())).collect())
}

pub fn options(pairs: &[(&str, &str)]) -> Options {
    Options::new(pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())))
}

pub fn row(fields: &[(&str, DataType)]) -> DataType {
    let fields: Vec<_> = fields.iter().map(|(name, ty)| RowField::new(*name, ty.clone())).collect();
    DataType::row(fields)
}

pub fn time(precision: u8) -> DataType {
    TypeRoot::Time(precision).nullable()
}

/// A decoding to set up and run.
#[derive(Clone)]
pub struct Decoding {
    pub format: &'static str,
    pub schema: Schema,
    pub options: Options,
    pub projection: Option<Vec<usize>>,
    pub metadata: Vec<&'static str>,
}

impl Decoding {
    pub fn new(format: &'static str, columns: &[(&str, DataType)], pairs: &[(&str, &str)]) -> Self {
        Self {
            format,
            schema: schema(columns),
            options: options(pairs),
            projection: None,
            metadata: Vec::new(),
        }
    }

    pub fn project(mut self, projection: &[usize]) -> Self {
        self.projection = Some(projection.to_vec());
        self
    }

    pub fn metadata(mut self, keys: &[&'static str]) -> Self {
        self.metadata = keys.to_vec();
        self
    }

    pub fn decoder(
        &self,
        bad_records: Arc<dyn BadRecordHandler>,
    ) -> Result<Box<dyn Decoder>, ConnectorError> {
        let def = format(self.format);
        self.options.validate("format", def.options)?;
        def.decoder.expect("a decoder")(&DecodeContext {
            schema: self.schema.clone(),
            projection: self.projected(),
            key: key_of(self.format),
            metadata: self.metadata.iter().map(|key| key.to_string()).collect(),
            options: self.options.clone(),
            zone: TimeZone::UTC,
            bad_records,
        })
    }

    fn projected(&self) -> Vec<usize> {
        self.projection.clone().unwrap_or_else(|| (0..self.schema.len()).collect())
    }

    /// The types of the decoder's columns.
    pub fn types(&self) -> Vec<DataType> {
        let def = format(self.format);
        let physical =
            self.projected().into_iter().map(|at| self.schema.fields[at].data_type.clone());
        let metadata = self.metadata.iter().map(|key| {
            def.metadata.iter().find(|(name, _)| name == key).expect("a metadata key").1()
        });
        physical.chain(metadata).collect()
    }

    /// The rows of a file, as text.
    pub fn stream(&self, bytes: impl AsRef<[u8]>) -> Result<Vec<String>, ConnectorError> {
        let mut decoder = self.decoder(Arc::new(FailOnBadRecord))?;
        self.feed(&mut *decoder, bytes.as_ref())
    }

    /// The rows of a file whose bad records are skipped, and what was said of those.
    pub fn lenient(&self, bytes: impl AsRef<[u8]>) -> (Vec<String>, Vec<String>) {
        let bad = Arc::new(Collect::default());
        let mut decoder = self.decoder(bad.clone()).expect("valid options");
        let rows = self.feed(&mut *decoder, bytes.as_ref()).expect("bad records are skipped");
        let said = bad.0.lock().expect("no panic").clone();
        (rows, said)
    }

    fn feed(&self, decoder: &mut dyn Decoder, bytes: &[u8]) -> Result<Vec<String>, ConnectorError> {
        let mut rows = Vec::new();
        let mut at = 0;
        loop {
            let place = |offset: usize| format!("byte {}", at + offset);
            at += decoder.decode_stream(&bytes[at..], true, ChangelogBatch::MAX_ROWS, &place)?;
            rows.extend(self.take(decoder)?);
            if at >= bytes.len() {
                return Ok(rows);
            }
        }
    }

    /// The rows of one message, as text.
    pub fn message(&self, bytes: impl AsRef<[u8]>) -> Result<Vec<String>, ConnectorError> {
        let mut decoder = self.decoder(Arc::new(FailOnBadRecord))?;
        decoder.decode_message(bytes.as_ref(), &|| "message".into())?;
        self.take(&mut *decoder)
    }

    pub fn take(&self, decoder: &mut dyn Decoder) -> Result<Vec<String>, ConnectorError> {
        let Some(batch) = decoder.take()? else { return Ok(Vec::new()) };
        Ok(self.texts(&batch))
    }

    /// The rows of a batch as `+I[a, b]`.
    pub fn texts(&self, batch: &ChangelogBatch) -> Vec<String> {
        let types = self.types();
        for (column, ty) in batch.rows.columns().iter().zip(&types) {
            assert_eq!(column.data_type(), &arrow_type(ty), "the layout of {ty}");
        }
        (0..batch.len())
            .map(|row| {
                let cells: Vec<_> = types
                    .iter()
                    .enumerate()
                    .map(|(at, ty)| {
                        let value = Value::from_array(batch.column(at), row, ty);
                        value_to_string(&value, ty, &TimeZone::UTC)
                    })
                    .collect();
                format!("{}[{}]", batch.kind(row), cells.join(", "))
            })
            .collect()
    }
}

/// Skips bad records and keeps what is said of them.
#[derive(Default)]
pub struct Collect(pub Mutex<Vec<String>>);

impl BadRecordHandler for Collect {
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError> {
        let raw = String::from_utf8_lossy(record.raw).into_owned();
        let said = format!("{}: {} <- {raw:?}", record.place, record.error.message);
        self.0.lock().expect("no panic").push(said);
        Ok(())
    }
}

/// Encodes rows of values; `delimiter` says whether they go to a file.
pub fn encode(
    name: &str,
    columns: &[(&str, DataType)],
    pairs: &[(&str, &str)],
    batch: &ChangelogBatch,
    delimiter: &'static [u8],
) -> Result<String, ConnectorError> {
    let out = records(name, columns, pairs, batch, delimiter)?;
    Ok(String::from_utf8(out.bytes).expect("text"))
}

/// Encodes rows of values into records that may be no text.
pub fn records(
    name: &str,
    columns: &[(&str, DataType)],
    pairs: &[(&str, &str)],
    batch: &ChangelogBatch,
    delimiter: &'static [u8],
) -> Result<RecordBuffer, ConnectorError> {
    let def = format(name);
    let options = options(pairs);
    options.validate("format", def.options)?;
    let context =
        EncodeContext { schema: schema(columns), key: key_of(name), options, zone: TimeZone::UTC };
    let mut encoder = def.encoder.expect("an encoder")(&context)?;
    let mut out = RecordBuffer::new(delimiter);
    encoder.encode(batch, &mut out)?;
    assert_eq!(out.records().count(), batch.len());
    Ok(out)
}

/// Bytes as digits of base 16.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Digits of base 16 as bytes.
pub fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// The first column is the key where a format needs one.
fn key_of(format: &str) -> Vec<usize> {
    if format == "upsert-json" { vec![0] } else { Vec::new() }
}

/// An insert-only batch of values.
pub fn batch(columns: &[(&str, DataType)], rows: &[Vec<Value>]) -> ChangelogBatch {
    let arrays = columns
        .iter()
        .enumerate()
        .map(|(at, (_, ty))| {
            let values: Vec<_> = rows.iter().map(|row| row[at].clone()).collect();
            Value::to_array(&values, ty).expect("values of the type")
        })
        .collect();
    let rows = arrow::record_batch::RecordBatch::try_new(schema(columns).to_arrow(), arrays);
    ChangelogBatch::inserts(rows.expect("columns of one length"))
}
