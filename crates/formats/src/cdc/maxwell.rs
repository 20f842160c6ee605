//! The format `maxwell-json`: a row, and for updates the old values of what changed.

use flott_catalog::connector::{
    ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FormatDef, FormatMetadata,
};
use flott_types::{ChangelogMode, DataType, RowKind};

use super::canal::Patch;
use super::decode::{self, Protocol, RowWriter, corrupt, image};
use super::encode::{self, Template};
use super::envelope::{Envelope, text_at};
use super::metadata::{Metadata, Source, instant, strings};
use crate::json::lexer::Lexer;
use crate::json::{Trouble, options};

/// The format `maxwell-json`.
pub(crate) static MAXWELL: FormatDef = FormatDef {
    name: "maxwell-json",
    help: "changes as Maxwell writes them: 'type' with the row in 'data' and old values in 'old'",
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
    ("database", DataType::string),
    ("table", DataType::string),
    ("primary-key-columns", strings),
    ("ingestion-timestamp", instant),
];

const METADATA: &[Metadata] = &[
    Metadata::new("database", "database", Source::AsIs(DataType::string)),
    Metadata::new("table", "table", Source::AsIs(DataType::string)),
    Metadata::new("primary-key-columns", "primary_key_columns", Source::AsIs(strings)),
    Metadata::new("ingestion-timestamp", "ts", Source::Instant { factor: 1000 }),
];

const FORMAT: &str = "Maxwell JSON";

fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    decode::decoder(context, "maxwell-json", METADATA, OFFERED, |writer| {
        let wanted = writer.metadata.columns.iter().map(|column| column.field);
        let names = ["data", "old", "type"].into_iter().chain(wanted).collect();
        Ok(Box::new(Maxwell { root: Envelope::new(names), patch: Patch::default() }))
    })
}

fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    encode::encoder(context, "maxwell-json", Template::data("{\"data\":", "", "insert", "delete"))
}

struct Maxwell {
    /// `data`, `old`, `type`, then the field of each metadata column.
    root: Envelope,
    patch: Patch,
}

impl Protocol for Maxwell {
    fn message(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble> {
        self.root.read(&mut Lexer::new(message))?;
        let root = &self.root;
        let locate = |at: usize, _: &Metadata| (root, 3 + at);
        let data = image(message, root.value(message, 0), rows.ignore_errors)?;
        let old = image(message, root.value(message, 1), rows.ignore_errors)?;
        let Some(kind) = root.value(message, 2) else {
            return Err(corrupt(FORMAT, "\"type\" is missing"));
        };
        let kind = text_at(message, kind).map_err(|error| Trouble::Value(Box::new(error)))?;
        let row_kind = match kind.as_str() {
            "insert" => Some(RowKind::Insert),
            "delete" => Some(RowKind::Delete),
            "update" => None,
            other => return Err(corrupt(FORMAT, format!("unknown \"type\" value \"{other}\""))),
        };
        let data = data.ok_or_else(|| corrupt(FORMAT, "\"data\" is missing"))?;
        match row_kind {
            Some(kind) => {
                rows.check_unused(message, old)?;
                rows.object(message, data)?;
                rows.end_row(message, kind, locate)
            }
            None => {
                let old = old.ok_or_else(|| corrupt(FORMAT, "\"old\" is missing"))?;
                self.patch.mark(message, old, rows)?;
                self.patch.before(message, old, data, rows)?;
                rows.end_row(message, RowKind::UpdateBefore, locate)?;
                rows.object(message, data)?;
                rows.end_row(message, RowKind::UpdateAfter, locate)
            }
        }
    }
}
