//! The format `canal-json`: several rows a message, and for updates the old values of what changed.

use fancy_regex::Regex;
use flott_catalog::connector::{
    ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FormatDef, FormatMetadata,
    OptionDef, OptionKind,
};
use flott_types::{ChangelogMode, DataType, RowKind};

use super::decode::{self, Protocol, RowWriter, corrupt, image};
use super::encode::{self, Template};
use super::envelope::{Envelope, elements, mark_keys, text_at};
use super::metadata::{Metadata, Source, instant, int_map, strings};
use crate::error::FormatError;
use crate::json::lexer::Lexer;
use crate::json::{Trouble, options};

/// The format `canal-json`.
pub(crate) static CANAL: FormatDef = FormatDef {
    name: "canal-json",
    help: "changes as Canal writes them: 'type' with rows in 'data' and old values in 'old'",
    options: &[
        options::IGNORE_PARSE_ERRORS,
        options::TIMESTAMP_FORMAT,
        DATABASE_INCLUDE,
        TABLE_INCLUDE,
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

const DATABASE_INCLUDE: OptionDef = OptionDef::new(
    "database.include",
    OptionKind::Text,
    "only read changes of databases whose whole name matches this regular expression",
);
const TABLE_INCLUDE: OptionDef = OptionDef::new(
    "table.include",
    OptionKind::Text,
    "only read changes of tables whose whole name matches this regular expression",
);

const OFFERED: &[FormatMetadata] = &[
    ("database", DataType::string),
    ("table", DataType::string),
    ("sql-type", int_map),
    ("pk-names", strings),
    ("ingestion-timestamp", instant),
    ("event-timestamp", instant),
];

const METADATA: &[Metadata] = &[
    Metadata::new("database", "database", Source::AsIs(DataType::string)),
    Metadata::new("table", "table", Source::AsIs(DataType::string)),
    Metadata::new("sql-type", "sqlType", Source::AsIs(int_map)),
    Metadata::new("pk-names", "pkNames", Source::AsIs(strings)),
    Metadata::new("ingestion-timestamp", "ts", Source::Instant { factor: 1 }),
    Metadata::new("event-timestamp", "es", Source::Instant { factor: 1 }),
];

const FORMAT: &str = "Canal JSON";

fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let pattern = |def: &OptionDef| context.options.text(def).map(|text| whole(def, text));
    let database = pattern(&DATABASE_INCLUDE).transpose()?;
    let table = pattern(&TABLE_INCLUDE).transpose()?;
    decode::decoder(context, "canal-json", METADATA, OFFERED, |writer| {
        let wanted = writer.metadata.columns.iter().map(|column| column.field);
        let names = ["data", "old", "type", "database", "table"].into_iter().chain(wanted);
        Ok(Box::new(Canal {
            root: Envelope::new(names.collect()),
            patch: Patch::default(),
            database,
            table,
        }))
    })
}

/// A pattern that a whole name must match.
fn whole(def: &OptionDef, pattern: &str) -> Result<Regex, ConnectorError> {
    Regex::new(&format!(r"\A(?:{pattern})\z")).map_err(|_| {
        FormatError::Option {
            option: format!("canal-json.{}", def.key),
            value: pattern.into(),
            wanted: "a regular expression".into(),
        }
        .into()
    })
}

fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    encode::encoder(context, "canal-json", Template::data("{\"data\":[", "]", "INSERT", "DELETE"))
}

struct Canal {
    /// `data`, `old`, `type`, `database`, `table`, then the field of each metadata column.
    root: Envelope,
    patch: Patch,
    database: Option<Regex>,
    table: Option<Regex>,
}

impl Protocol for Canal {
    fn message(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble> {
        self.root.read(&mut Lexer::new(message))?;
        for (pattern, index) in [(&self.database, 3), (&self.table, 4)] {
            if let Some(pattern) = pattern
                && !self.is_included(message, pattern, index)?
            {
                return Ok(());
            }
        }
        let Some(kind) = self.root.value(message, 2) else {
            return Err(corrupt(FORMAT, "\"type\" is missing"));
        };
        let kind = text_at(message, kind).map_err(|error| Trouble::Value(Box::new(error)))?;
        match kind.as_str() {
            "INSERT" => self.rows(message, RowKind::Insert, rows),
            "DELETE" => self.rows(message, RowKind::Delete, rows),
            "UPDATE" => self.updates(message, rows),
            "CREATE" => Ok(()),
            other => Err(corrupt(FORMAT, format!("unknown \"type\" value \"{other}\""))),
        }
    }
}

impl Canal {
    fn is_included(&self, message: &[u8], pattern: &Regex, index: usize) -> Result<bool, Trouble> {
        let Some(start) = self.root.start(index) else {
            return Err(corrupt(FORMAT, "\"database\" or \"table\" is missing"));
        };
        let name = text_at(message, start).map_err(|error| Trouble::Value(Box::new(error)))?;
        Ok(pattern.is_match(&name).unwrap_or(false))
    }

    /// The rows of `data` or `old`.
    fn list(
        &self,
        message: &[u8],
        index: usize,
        name: &'static str,
    ) -> Result<Vec<usize>, Trouble> {
        let start = self.root.value(message, index);
        let start = start.ok_or_else(|| corrupt(FORMAT, format!("\"{name}\" is missing")))?;
        elements(message, start)?
            .ok_or_else(|| corrupt(FORMAT, format!("\"{name}\" is not an array")))
    }

    fn rows(&self, message: &[u8], kind: RowKind, rows: &mut RowWriter) -> Result<(), Trouble> {
        if self.root.value(message, 1).is_some() && !rows.ignore_errors {
            for start in self.list(message, 1, "old")? {
                let start = Some(start).filter(|start| message[*start] != b'n');
                rows.check_unused(message, image(message, start, false)?)?;
            }
        }
        for start in self.list(message, 0, "data")? {
            let start = row_at(message, Some(&start), "data", rows)?;
            rows.object(message, start)?;
            rows.end_row(message, kind, |at, _| (&self.root, 5 + at))?;
        }
        Ok(())
    }

    fn updates(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble> {
        let data = self.list(message, 0, "data")?;
        let old = self.list(message, 1, "old")?;
        if let Some(start) = self.root.start(1) {
            self.patch.mark(message, start, rows)?;
        }
        let locate = |at: usize, _: &Metadata| (&self.root, 5 + at);
        for (at, after) in data.iter().enumerate() {
            let after = row_at(message, Some(after), "data", rows)?;
            let before = row_at(message, old.get(at), "old", rows)?;
            self.patch.before(message, before, after, rows)?;
            let first = rows.rows.len();
            rows.end_row(message, RowKind::UpdateBefore, locate)?;
            let second = rows
                .object(message, after)
                .and_then(|()| rows.end_row(message, RowKind::UpdateAfter, locate));
            if let Err(trouble) = second {
                rows.rows.truncate(first);
                return Err(trouble);
            }
        }
        Ok(())
    }
}

/// Where a row of `data` or `old` starts, which must be there.
fn row_at(
    message: &[u8],
    start: Option<&usize>,
    name: &'static str,
    rows: &RowWriter,
) -> Result<usize, Trouble> {
    let start = start.copied().filter(|start| message[*start] != b'n');
    image(message, start, rows.ignore_errors)?
        .ok_or_else(|| corrupt(FORMAT, format!("a row of \"{name}\" is missing")))
}

/// Makes the row before an update from the old values of what changed and the row after it.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// For each column whether `old` speaks of it anywhere: then NULL is the old value.
    marks: Vec<bool>,
    old: Vec<Option<usize>>,
    data: Vec<Option<usize>>,
}

impl Patch {
    /// Looks which columns the message's `old` speaks of.
    pub(super) fn mark(
        &mut self,
        message: &[u8],
        old: usize,
        rows: &RowWriter,
    ) -> Result<(), Trouble> {
        mark_keys(message, old, rows.decoder.fields(), &mut self.marks)
    }

    /// Sets the columns to the row before the update, from objects that start at `old` and `data`.
    pub(super) fn before(
        &mut self,
        message: &[u8],
        old: usize,
        data: usize,
        rows: &mut RowWriter,
    ) -> Result<(), Trouble> {
        field_starts(message, old, rows, &mut self.old)?;
        field_starts(message, data, rows, &mut self.data)?;
        for field in 0..self.marks.len() {
            let source = match self.old[field] {
                Some(start) => Some(start),
                None if self.marks[field] => None,
                None => self.data[field],
            };
            let mut columns = std::mem::take(&mut rows.rows.columns);
            let result = match source {
                Some(start) => {
                    let mut lexer = Lexer { bytes: message, at: start };
                    rows.decoder.field(&mut lexer, field, &mut columns[field])
                }
                None => {
                    columns[field].push_null();
                    Ok(())
                }
            };
            rows.rows.columns = columns;
            result?;
        }
        Ok(())
    }
}

/// Where the value of each column starts in an object; `None` where it is missing.
pub(super) fn field_starts(
    message: &[u8],
    start: usize,
    rows: &RowWriter,
    starts: &mut Vec<Option<usize>>,
) -> Result<(), Trouble> {
    let fields = rows.decoder.fields();
    starts.clear();
    starts.resize(fields.len(), None);
    let mut lexer = Lexer { bytes: message, at: start };
    let mut key = Vec::new();
    lexer.eat(b'{');
    while !lexer.eat(b'}') {
        lexer.eat(b',');
        lexer.peek();
        key.clear();
        lexer.string()?.unescape(&mut key);
        lexer.colon()?;
        lexer.peek();
        let value = lexer.at;
        lexer.skip_value()?;
        if let Some(at) = fields.find(&key) {
            starts[at] = Some(value);
        }
    }
    Ok(())
}
