//! Decoding bytes as rows of a table with a column of every kind.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder, Options,
};
use flott_types::{ChangelogBatch, DataType, Field, RowField, Schema, TypeRoot};
use jiff::tz::TimeZone;

/// Passes bad records over, so that what follows them is decoded, too.
struct Skip;

impl BadRecordHandler for Skip {
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError> {
        // What is told of it must be printable.
        let _ = record.error.to_string();
        Ok(())
    }
}

/// Decodes the bytes in two parts, as a file reader may hand them over.
#[allow(dead_code)]
pub fn decode(format: &str, bytes: &[u8]) {
    let mut decoder = decoder(format, &[]);
    let place = |_| String::new();
    let middle = bytes.len() / 2;
    let mut taken = 0;
    for (end, last) in [(middle, false), (bytes.len(), true)] {
        // A decoder stops when it has enough rows; then its caller takes them and goes on.
        loop {
            match decoder.decode_stream(&bytes[taken..end], last, ChangelogBatch::MAX_ROWS, &place)
            {
                Ok(0) => break,
                Ok(count) => taken += count,
                Err(_) => return,
            }
            if decoder.take().is_err() {
                return;
            }
        }
        if decoder.take().is_err() {
            return;
        }
    }
}

/// Decodes the bytes as two messages.
#[allow(dead_code)]
pub fn decode_messages(format: &str, options: &[(&str, &str)], bytes: &[u8]) {
    let mut decoder = decoder(format, options);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for message in [first, second] {
        let _ = decoder.decode_message(message, &String::new);
    }
    let _ = decoder.take();
}

fn decoder(format: &str, options: &[(&str, &str)]) -> Box<dyn Decoder> {
    let schema = schema(format);
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string()));
    let context = DecodeContext {
        projection: (0..schema.len()).collect(),
        schema,
        key: if format == "upsert-json" { vec![2, 7] } else { Vec::new() },
        metadata: Vec::new(),
        options: Options::new(options),
        zone: TimeZone::UTC,
        bad_records: Arc::new(Skip),
    };
    let formats = flott_formats::all();
    let format = formats.into_iter().find(|known| known.name == format).expect("a format");
    format.decoder.expect("a decoder")(&context).expect("valid options")
}

fn schema(format: &str) -> Schema {
    if format == "raw" {
        return Schema::new(vec![Field::new("c0", DataType::string())]);
    }
    let mut types = vec![
        DataType::boolean(),
        TypeRoot::TinyInt.nullable(),
        DataType::int(),
        DataType::bigint(),
        TypeRoot::Float.nullable(),
        DataType::double(),
        DataType::decimal(10, 2),
        DataType::string(),
        DataType::bytes(),
        TypeRoot::Date.nullable(),
        TypeRoot::Time(3).nullable(),
        DataType::timestamp(9),
        DataType::timestamp_ltz(3),
        DataType::array(DataType::int()),
        DataType::row(vec![
            RowField::new("x", DataType::int()),
            RowField::new("y", DataType::string()),
        ]),
    ];
    if format == "avro" {
        // Those that Avro knows.
        types[11] = DataType::timestamp(3);
        types[12] = DataType::new(TypeRoot::Multiset(DataType::string().into()));
    }
    if format != "csv" {
        types.push(DataType::map(DataType::string(), DataType::array(DataType::double())));
    }
    let field = |(i, ty)| Field::new(format!("c{i}"), ty);
    Schema::new(types.into_iter().enumerate().map(field).collect())
}
