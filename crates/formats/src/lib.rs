//! Formats: bytes to batches and back, with Flink's options and Flink's rules for text.
//!
//! A format is a [`FormatDef`]: its options as data, and how to make a decoder and an encoder. A
//! decoder goes from bytes straight into Arrow columns of the wanted fields; there is no tree and
//! no allocation per record. Records that do not decode are handed to the table's
//! [`BadRecordHandler`](flott_catalog::connector::BadRecordHandler) and leave no trace in the batch.
//!
//! Formats of whole files (Parquet, Avro) and transport (files, Kafka) are not here.
//!
//! ```
//! let names: Vec<_> = flott_formats::all().iter().map(|format| format.name).collect();
//! assert!(names.contains(&"json"));
//! ```

mod avro;
mod builders;
mod cdc;
mod cells;
mod csv;
mod error;
mod json;
mod lines;
mod raw;
mod text;
mod utf8;

use flott_catalog::connector::{DecodeContext, FormatDef};
use flott_types::Schema;

/// All formats of this crate.
pub fn all() -> Vec<&'static FormatDef> {
    vec![
        &avro::AVRO,
        &avro::AVRO_CONFLUENT,
        &avro::DEBEZIUM_AVRO,
        &csv::CSV,
        &json::JSON,
        &raw::RAW,
        &cdc::DEBEZIUM,
        &cdc::CANAL,
        &cdc::MAXWELL,
        &cdc::OGG,
        &cdc::UPSERT,
    ]
}

/// The schema of the columns that a decoder gives, metadata aside.
fn projected(context: &DecodeContext) -> Schema {
    Schema::new(context.projection.iter().map(|at| context.schema.fields[*at].clone()).collect())
}
