//! The format `avro`: one record a message, by the schema that Flink derives from the table's columns.

mod cursor;
mod decode;
mod defaults;
mod derive;
mod encode;
mod json;
mod parse;
mod reader;
mod registry;
mod resolve;
mod schema;
mod shape;
mod text;

use flott_catalog::connector::{ConnectorError, FormatDef, OptionDef, OptionKind, Options};
use flott_types::ChangelogMode;

pub(crate) use registry::{AVRO_CONFLUENT, DEBEZIUM_AVRO};

use derive::Timestamps;

/// The format `avro`.
pub(crate) static AVRO: FormatDef = FormatDef {
    name: "avro",
    help: "Avro records by a schema derived from the table's columns, one a message",
    options: &[ENCODING, LEGACY],
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(reader::decoder),
    encoder: Some(encode::encoder),
};

const ENCODING: OptionDef = OptionDef::new(
    "encoding",
    OptionKind::Enum(&["binary", "json"]),
    "how records are encoded: in Avro's compact binary form, or in its JSON form",
)
.default("binary");

const LEGACY: OptionDef = OptionDef::new(
    "timestamp_mapping.legacy",
    OptionKind::Bool,
    "TIMESTAMP(3) is written as timestamp-millis, as Flink did before 1.19; with false TIMESTAMP is \
     local-timestamp-millis or -micros, and TIMESTAMP_LTZ timestamp-millis or -micros",
)
.default("true");

fn is_json(options: &Options) -> Result<bool, ConnectorError> {
    let text = options.text(&ENCODING).unwrap_or_default();
    ENCODING.check(ENCODING.key, text)?;
    Ok(text.trim().eq_ignore_ascii_case("json"))
}

fn timestamps(options: &Options) -> Result<Timestamps, ConnectorError> {
    Ok(if options.bool(&LEGACY)? { Timestamps::Legacy } else { Timestamps::Sql })
}
