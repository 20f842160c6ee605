//! Decoding bytes as rows of a table with a column of every kind.

use std::sync::Arc;

use flott_catalog::connector::{DecodeContext, FailOnBadRecord, Options};
use flott_types::{ChangelogBatch, DataType, Field, RowField, Schema, TypeRoot};
use jiff::tz::TimeZone;

/// Decodes the bytes in two parts, as a file reader may hand them over.
pub fn decode(format: &str, bytes: &[u8]) {
    let schema = schema(format);
    let projection = (0..schema.len()).collect();
    let context = DecodeContext {
        schema,
        projection,
        metadata: Vec::new(),
        options: Options::default(),
        zone: TimeZone::UTC,
        bad_records: Arc::new(FailOnBadRecord),
    };
    let formats = flott_formats::all();
    let format = formats.into_iter().find(|known| known.name == format).expect("a format");
    let mut decoder = format.decoder.expect("a decoder")(&context).expect("valid options");
    let place = |_| String::new();
    let middle = bytes.len() / 2;
    let mut taken = 0;
    for (end, last) in [(middle, false), (bytes.len(), true)] {
        match decoder.decode_stream(&bytes[taken..end], last, ChangelogBatch::MAX_ROWS, &place) {
            Ok(count) => taken += count,
            Err(_) => return,
        }
        if decoder.take().is_err() {
            return;
        }
    }
}

fn schema(format: &str) -> Schema {
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
    if format == "json" {
        types.push(DataType::map(DataType::string(), DataType::array(DataType::double())));
    }
    let field = |(i, ty)| Field::new(format!("c{i}"), ty);
    Schema::new(types.into_iter().enumerate().map(field).collect())
}
