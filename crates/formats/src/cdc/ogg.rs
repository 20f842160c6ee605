//! The format `ogg-json`: rows before and after a change, as Oracle GoldenGate writes them.

use flott_catalog::connector::{
    ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FormatDef, FormatMetadata,
};
use flott_types::{ChangelogMode, DataType};

use super::debezium::{BeforeAfter, Op};
use super::decode::{self, Protocol, RowWriter, corrupt, image};
use super::encode::{self, Template};
use super::envelope::{Envelope, text_at};
use super::metadata::{Metadata, Source, instant_micros, strings};
use crate::builders::Fault;
use crate::json::lexer::Lexer;
use crate::json::{Trouble, options};
use crate::text::{self, DateTime, TimestampStyle};

/// The format `ogg-json`.
pub(crate) static OGG: FormatDef = FormatDef {
    name: "ogg-json",
    help: "changes as Oracle GoldenGate writes them: 'op_type' with the row 'before' and 'after'",
    options: &[
        options::IGNORE_PARSE_ERRORS,
        options::TIMESTAMP_FORMAT,
        options::MAP_NULL_KEY_MODE,
        options::MAP_NULL_KEY_LITERAL,
        options::ENCODE_DECIMAL_AS_PLAIN_NUMBER,
        options::ENCODE_IGNORE_NULL_FIELDS,
    ],
    decodes: ChangelogMode::ALL,
    encodes: ChangelogMode::ALL,
    metadata: OFFERED,
    decoder: Some(decoder),
    encoder: Some(encoder),
};

const OFFERED: &[FormatMetadata] = &[
    ("table", DataType::string),
    ("primary-keys", strings),
    ("ingestion-timestamp", instant_micros),
    ("event-timestamp", instant_micros),
];

const METADATA: &[Metadata] = &[
    Metadata::new("table", "table", Source::AsIs(DataType::string)),
    Metadata::new("primary-keys", "primary_keys", Source::AsIs(strings)),
    Metadata::new("ingestion-timestamp", "current_ts", Source::Text(ingestion_time)),
    Metadata::new("event-timestamp", "op_ts", Source::Text(event_time)),
];

const FORMAT: &str = "Ogg JSON";

/// Reads `op_ts`: digits may be few, and the time of day may be missing.
fn event_time(text: &[u8]) -> Result<Option<DateTime>, Fault> {
    text::parse_loose_timestamp(text).map(|point| Some(millis(point)))
}

/// Reads `current_ts`, which has six digits of fraction; other forms are tried too, and what is
/// none of them is NULL.
fn ingestion_time(text: &[u8]) -> Result<Option<DateTime>, Fault> {
    const LENGTH: usize = "2020-05-13T15:40:07.000001".len();
    let point = match text::parse_timestamp(text, TimestampStyle::Iso) {
        Ok(point) if text.len() == LENGTH => Ok(point),
        _ => text::parse_loose_timestamp(text::trim(text)),
    };
    Ok(point.ok().map(millis))
}

/// Flink keeps milliseconds of both, though the columns have room for microseconds.
fn millis(point: DateTime) -> DateTime {
    DateTime { nanos: point.nanos / 1_000_000 * 1_000_000, ..point }
}

fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    decode::decoder(context, "ogg-json", METADATA, OFFERED, |writer| {
        let wanted = writer.metadata.columns.iter().map(|column| column.field);
        let names = ["before", "after", "op_type"].into_iter().chain(wanted).collect();
        Ok(Box::new(Ogg { root: Envelope::new(names) }))
    })
}

fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    encode::encoder(context, "ogg-json", Template::before_after("op_type", "I", "D"))
}

struct Ogg {
    /// `before`, `after`, `op_type`, then the field of each metadata column.
    root: Envelope,
}

impl Protocol for Ogg {
    fn message(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble> {
        let mut lexer = Lexer::new(message);
        decode::enter_single(&mut lexer)?;
        self.root.read(&mut lexer)?;
        let change = BeforeAfter {
            before: image(message, self.root.value(message, 0), rows.ignore_errors)?,
            after: image(message, self.root.value(message, 1), rows.ignore_errors)?,
        };
        let Some(op) = self.root.value(message, 2) else {
            return Err(corrupt(FORMAT, "\"op_type\" is missing"));
        };
        let op = text_at(message, op).map_err(|error| Trouble::Value(Box::new(error)))?;
        let op = match op.as_str() {
            "I" => Op::Insert,
            "U" => Op::Update,
            "D" => Op::Delete,
            other => return Err(corrupt(FORMAT, format!("unknown \"op_type\" value \"{other}\""))),
        };
        let root = &self.root;
        change.write(op, message, rows, FORMAT, "Ogg", |at, _| (root, 3 + at))
    }
}
