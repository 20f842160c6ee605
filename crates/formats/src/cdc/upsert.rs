//! The format `upsert-json`: the key of a row and its newest value, which is null for a row that goes.
//!
//! A record is what upsert-kafka keeps as a message: `{"key":{"user":"Mary"},"value":{"user":"Mary","cnt":2}}`
//! sets the row of a key, and `{"key":{"user":"Mary"},"value":null}`, the tombstone, deletes it.

use flott_catalog::connector::{
    ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FormatDef, OptionDef,
    OptionKind, RecordBuffer,
};
use flott_types::{ChangelogBatch, ChangelogMode, RowKind, Schema};

use super::canal::field_starts;
use super::decode::{self, Protocol, RowWriter, corrupt, image};
use super::envelope::Envelope;
use crate::error::FormatError;
use crate::json::lexer::Lexer;
use crate::json::{RowEncoder, Trouble, options};

/// The format `upsert-json`.
pub(crate) static UPSERT: FormatDef = FormatDef {
    name: "upsert-json",
    help: "the newest row of each key: 'key' with the row in 'value', null for a deletion",
    options: &[
        options::IGNORE_PARSE_ERRORS,
        options::TIMESTAMP_FORMAT,
        options::MAP_NULL_KEY_MODE,
        options::MAP_NULL_KEY_LITERAL,
        options::ENCODE_DECIMAL_AS_PLAIN_NUMBER,
        options::ENCODE_IGNORE_NULL_FIELDS,
        VALUE_FIELDS_INCLUDE,
    ],
    decodes: ChangelogMode::UPSERT,
    encodes: ChangelogMode::UPSERT,
    metadata: &[],
    decoder: Some(decoder),
    encoder: Some(encoder),
};

const VALUE_FIELDS_INCLUDE: OptionDef = OptionDef::new(
    "value.fields-include",
    OptionKind::Enum(&["ALL", "EXCEPT_KEY"]),
    "whether the columns of the key are written into the value, too; they are read from the key",
)
.default("ALL");

const FORMAT: &str = "upsert JSON";

fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let names = key_names(&context.schema, &context.key)?;
    decode::decoder(context, "upsert-json", &[], &[], |writer| {
        let fields = writer.decoder.fields();
        let key = names.iter().filter_map(|name| fields.find(name.as_bytes())).collect();
        let root = Envelope::new(vec!["key", "value"]);
        Ok(Box::new(Upsert { root, key, starts: Vec::new() }))
    })
}

/// The names of the key's columns; a table without a key has no upserts.
fn key_names(schema: &Schema, key: &[usize]) -> Result<Vec<String>, ConnectorError> {
    if key.is_empty() {
        return Err(FormatError::NoKey { format: "upsert-json" }.into());
    }
    Ok(key.iter().map(|column| schema.fields[*column].name.to_string()).collect())
}

struct Upsert {
    /// `key` and `value`.
    root: Envelope,
    /// Which of the decoder's columns are of the key.
    key: Vec<usize>,
    /// Where the value of each column starts in the key.
    starts: Vec<Option<usize>>,
}

impl Protocol for Upsert {
    fn message(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble> {
        self.root.read(&mut Lexer::new(message))?;
        let key = image(message, self.root.value(message, 0), rows.ignore_errors)?
            .ok_or_else(|| corrupt(FORMAT, "\"key\" is missing"))?;
        let kind = match image(message, self.root.value(message, 1), rows.ignore_errors)? {
            None => RowKind::Delete,
            Some(value) => {
                rows.object(message, value)?;
                RowKind::Insert
            }
        };
        self.key_columns(message, key, rows)?;
        rows.end_row(message, kind, |_, _| (&self.root, 0))
    }
}

impl Upsert {
    /// Sets the columns of the key, whatever the value says of them.
    fn key_columns(
        &mut self,
        message: &[u8],
        key: usize,
        rows: &mut RowWriter,
    ) -> Result<(), Trouble> {
        field_starts(message, key, rows, &mut self.starts)?;
        let row = rows.rows.len();
        for field in &self.key {
            let start = self.starts[*field]
                .ok_or_else(|| corrupt(FORMAT, "\"key\" lacks a column of the primary key"))?;
            let column = &mut rows.rows.columns[*field];
            column.truncate(row);
            rows.decoder.field(&mut Lexer { bytes: message, at: start }, *field, column)?;
        }
        Ok(())
    }
}

fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    key_names(&context.schema, &context.key)?;
    let include = context.options.text(&VALUE_FIELDS_INCLUDE).unwrap_or_default();
    let all = !include.eq_ignore_ascii_case("EXCEPT_KEY");
    let value = (0..context.schema.len()).filter(|at| all || !context.key.contains(at)).collect();
    Ok(Box::new(UpsertEncoder {
        key: Part::new(context, context.key.clone())?,
        value: Part::new(context, value)?,
    }))
}

struct UpsertEncoder {
    key: Part,
    value: Part,
}

/// Some columns of the table, written as an object.
struct Part {
    columns: Vec<usize>,
    rows: RowEncoder,
}

impl Part {
    fn new(context: &EncodeContext, columns: Vec<usize>) -> Result<Self, ConnectorError> {
        let fields = columns.iter().map(|at| context.schema.fields[*at].clone()).collect();
        let context = EncodeContext { schema: Schema::new(fields), ..context.clone() };
        Ok(Self { columns, rows: RowEncoder::new(&context, "upsert-json")? })
    }

    fn of(&self, batch: &ChangelogBatch) -> Result<ChangelogBatch, ConnectorError> {
        let rows = batch.rows.project(&self.columns);
        let rows = rows.map_err(|error| ConnectorError::new(error.to_string()))?;
        Ok(ChangelogBatch::inserts(rows))
    }
}

impl Encoder for UpsertEncoder {
    /// Appends one record a change. `-U` is no change of its own: the `+U` behind it says all.
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        let (keys, values) = (self.key.of(batch)?, self.value.of(batch)?);
        let (keys, values) = (self.key.rows.columns(&keys)?, self.value.rows.columns(&values)?);
        for row in 0..batch.len() {
            let kind = batch.kind(row);
            if kind == RowKind::UpdateBefore {
                continue;
            }
            out.bytes.extend_from_slice(b"{\"key\":");
            self.key.rows.write(&mut out.bytes, &keys, row)?;
            out.bytes.extend_from_slice(b",\"value\":");
            if kind.adds() {
                self.value.rows.write(&mut out.bytes, &values, row)?;
            } else {
                out.bytes.extend_from_slice(b"null");
            }
            out.bytes.push(b'}');
            out.end_record();
        }
        Ok(())
    }
}
