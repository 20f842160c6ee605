//! The format `debezium-json`: rows before and after a change.

use flott_catalog::connector::{
    ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FormatDef, FormatMetadata,
    OptionDef, OptionKind,
};
use flott_types::{ChangelogMode, DataType, RowKind};

use super::decode::{self, Protocol, RowWriter, corrupt, image};
use super::encode::{self, Template};
use super::envelope::{Envelope, text_at};
use super::metadata::{Metadata, Source, instant, string_map};
use crate::error::FormatError;
use crate::json::lexer::Lexer;
use crate::json::{Trouble, options};

/// The format `debezium-json`.
pub(crate) static DEBEZIUM: FormatDef = FormatDef {
    name: "debezium-json",
    help: "changes as Debezium writes them: 'op' with the row 'before' and 'after'",
    options: &[
        SCHEMA_INCLUDE,
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

const SCHEMA_INCLUDE: OptionDef = OptionDef::new(
    "schema-include",
    OptionKind::Bool,
    "whether messages have the form {\"schema\": …, \"payload\": …}, when reading",
)
.default("false");

const OFFERED: &[FormatMetadata] = &[
    ("schema", DataType::string),
    ("ingestion-timestamp", instant),
    ("source.timestamp", instant),
    ("source.database", DataType::string),
    ("source.schema", DataType::string),
    ("source.table", DataType::string),
    ("source.properties", string_map),
];

const METADATA: &[Metadata] = &[
    Metadata {
        key: "schema",
        field: "schema",
        outside: true,
        source: Source::AsIs(DataType::string),
    },
    Metadata::new("ingestion-timestamp", "ts_ms", Source::Instant { factor: 1 }),
    Metadata::new("source.timestamp", "source", Source::InstantEntry("ts_ms")),
    Metadata::new("source.database", "source", Source::Entry("db")),
    Metadata::new("source.schema", "source", Source::Entry("schema")),
    Metadata::new("source.table", "source", Source::Entry("table")),
    Metadata::new("source.properties", "source", Source::AsIs(string_map)),
];

const FORMAT: &str = "Debezium JSON";

fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let schema_include = context.options.bool(&SCHEMA_INCLUDE)?;
    decode::decoder(context, "debezium-json", METADATA, OFFERED, |writer| {
        let wanted = writer.metadata.columns.iter();
        let outside = wanted.clone().map(|column| column.field);
        let inside = wanted.map(|column| column.field);
        Ok(Box::new(Debezium {
            root: Envelope::new(["payload"].into_iter().chain(outside).collect()),
            payload: Envelope::new(["before", "after", "op"].into_iter().chain(inside).collect()),
            schema_include,
        }))
    })
}

fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    if context.options.bool(&SCHEMA_INCLUDE)? {
        return Err(FormatError::Option {
            option: "debezium-json.schema-include".into(),
            value: "true".into(),
            wanted: "false: messages are written without their schema".into(),
        }
        .into());
    }
    encode::encoder(context, "debezium-json", Template::before_after("op", "c", "d"))
}

struct Debezium {
    /// `payload`, then the field of each metadata column.
    root: Envelope,
    /// `before`, `after`, `op`, then the field of each metadata column.
    payload: Envelope,
    schema_include: bool,
}

impl Protocol for Debezium {
    fn message(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble> {
        let mut lexer = Lexer::new(message);
        decode::enter_single(&mut lexer)?;
        let start = lexer.at;
        self.root.read(&mut lexer)?;
        let payload = match self.schema_include {
            true => self.root.value(message, 0),
            false => Some(start),
        };
        let payload = image(message, payload, rows.ignore_errors)?
            .ok_or_else(|| corrupt(FORMAT, "\"payload\" is missing"))?;
        self.payload.read(&mut Lexer { bytes: message, at: payload })?;
        let change = BeforeAfter {
            before: image(message, self.payload.value(message, 0), rows.ignore_errors)?,
            after: image(message, self.payload.value(message, 1), rows.ignore_errors)?,
        };
        let Some(op) = self.payload.value(message, 2) else {
            return Err(corrupt(FORMAT, "\"op\" is missing"));
        };
        let op = text_at(message, op).map_err(|error| Trouble::Value(Box::new(error)))?;
        let op = match op.as_str() {
            "c" | "r" => Op::Insert,
            "u" => Op::Update,
            "d" => Op::Delete,
            other => return Err(corrupt(FORMAT, format!("unknown \"op\" value \"{other}\""))),
        };
        let (root, payload) = (&self.root, &self.payload);
        change.write(op, message, rows, FORMAT, "Debezium", |at, column| {
            if column.outside { (root, 1 + at) } else { (payload, 3 + at) }
        })
    }
}

/// What happened to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Insert,
    Update,
    Delete,
}

/// Where the two versions of a row start.
pub(super) struct BeforeAfter {
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
}

impl BeforeAfter {
    /// Adds the rows of the change.
    pub(super) fn write<'e>(
        &self,
        op: Op,
        message: &[u8],
        rows: &mut RowWriter,
        format: &'static str,
        database: &'static str,
        locate: impl Fn(usize, &Metadata) -> (&'e Envelope, usize),
    ) -> Result<(), Trouble> {
        let no_before = |op| Trouble::Value(Box::new(FormatError::NoBefore { op, database }));
        let no_after = || corrupt(format, "the \"after\" field is null");
        match op {
            Op::Insert => {
                rows.check_unused(message, self.before)?;
                rows.object(message, self.after.ok_or_else(no_after)?)?;
                rows.end_row(message, RowKind::Insert, &locate)
            }
            Op::Update => {
                let before = self.before.ok_or_else(|| no_before("UPDATE"))?;
                let after = self.after.ok_or_else(no_after)?;
                rows.object(message, before)?;
                rows.end_row(message, RowKind::UpdateBefore, &locate)?;
                rows.object(message, after)?;
                rows.end_row(message, RowKind::UpdateAfter, &locate)
            }
            Op::Delete => {
                rows.check_unused(message, self.after)?;
                rows.object(message, self.before.ok_or_else(|| no_before("DELETE"))?)?;
                rows.end_row(message, RowKind::Delete, &locate)
            }
        }
    }
}
