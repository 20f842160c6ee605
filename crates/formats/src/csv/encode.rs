//! The encoder of `csv`.

use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, RecordBuffer};
use flott_types::{ChangelogBatch, Schema};
use memchr::memmem;

use super::check_types;
use super::dialect::Dialect;
use crate::cells::{Cells, write_integer, write_time, write_timestamp};
use crate::text;

/// Flink does not look into longer texts: it quotes them unseen.
const LONGEST_UNQUOTED: usize = 24;

/// Makes the encoder of `csv`.
pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    check_types(&context.schema)?;
    let dialect = Dialect::of(&context.options)?;
    let bytes = |c: Option<char>| c.map(|c| c.to_string().into_bytes()).unwrap_or_default();
    Ok(Box::new(CsvEncoder {
        separator: bytes(Some(dialect.separator)),
        array_separator: dialect.array_separator.clone(),
        quote: bytes(dialect.quote),
        escape: bytes(dialect.escape),
        null: dialect.null_literal.clone().unwrap_or_default(),
        unsafe_bytes: unsafe_bytes(&dialect),
        scientific: dialect.scientific,
        schema: context.schema.clone(),
        scratch: Vec::new(),
    }))
}

/// The bytes for which a short text is quoted: those of every character up to the last special one,
/// which Flink does not look at closely either, and of what escapes. Of characters past ASCII all are
/// taken to be unsafe once one of them is.
fn unsafe_bytes(dialect: &Dialect) -> [bool; 256] {
    let special = [Some(dialect.separator), dialect.quote, Some('\n')];
    let last = special.into_iter().flatten().max().map_or(0, u32::from);
    let escapes = match dialect.escape {
        Some(escape) => [Some(escape), None],
        None => [Some('\\'), dialect.quote],
    };
    std::array::from_fn(|byte| {
        byte as u32 <= last
            || escapes
                .into_iter()
                .flatten()
                .any(|c| if c.is_ascii() { c as usize == byte } else { byte >= 0x80 })
            || (byte >= 0x80 && last >= 0x80)
    })
}

struct CsvEncoder {
    schema: Schema,
    separator: Vec<u8>,
    array_separator: Vec<u8>,
    /// Empty when nothing is quoted.
    quote: Vec<u8>,
    /// Empty when there is none.
    escape: Vec<u8>,
    null: Vec<u8>,
    unsafe_bytes: [bool; 256],
    scientific: Option<bool>,
    scratch: Vec<u8>,
}

impl Encoder for CsvEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        let columns = self
            .schema
            .fields
            .iter()
            .enumerate()
            .map(|(at, field)| Cells::new(batch.column(at), &field.data_type))
            .collect::<Result<Vec<_>, _>>()?;
        let plain = !self.scientific.unwrap_or_else(|| out.is_delimited());
        let mut scratch = std::mem::take(&mut self.scratch);
        for row in 0..batch.len() {
            for (at, cells) in columns.iter().enumerate() {
                if at > 0 {
                    out.bytes.extend_from_slice(&self.separator);
                }
                self.value(&mut out.bytes, cells, row, plain, &mut scratch);
            }
            out.end_record();
        }
        self.scratch = scratch;
        Ok(())
    }
}

impl CsvEncoder {
    fn value(
        &self,
        out: &mut Vec<u8>,
        cells: &Cells<'_>,
        row: usize,
        plain: bool,
        scratch: &mut Vec<u8>,
    ) {
        if cells.is_null(row) {
            out.extend_from_slice(&self.null);
            return;
        }
        match cells {
            Cells::Text(array) => self.quoted(out, array.value(row).as_bytes()),
            Cells::Binary(_)
            | Cells::Date(_)
            | Cells::Time(_)
            | Cells::Timestamp { .. }
            | Cells::Array(..)
            | Cells::Row(..) => {
                scratch.clear();
                self.unquoted(scratch, cells, row, plain);
                self.quoted(out, scratch);
            }
            _ => self.unquoted(out, cells, row, plain),
        }
    }

    /// Writes a value, elements and all, that is not NULL.
    fn unquoted(&self, out: &mut Vec<u8>, cells: &Cells<'_>, row: usize, plain: bool) {
        match cells {
            Cells::Null | Cells::Map(..) => {}
            Cells::Boolean(array) => {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
            }
            Cells::TinyInt(array) => write_integer(out, array.value(row)),
            Cells::SmallInt(array) => write_integer(out, array.value(row)),
            Cells::Int(array) => write_integer(out, array.value(row)),
            Cells::BigInt(array) => write_integer(out, array.value(row)),
            Cells::Months(array) => write_integer(out, array.value(row)),
            Cells::Millis(array) => write_integer(out, array.value(row)),
            Cells::Float(array) => text::write_float(out, array.value(row)),
            Cells::Double(array) => text::write_double(out, array.value(row)),
            Cells::Decimal(array, scale) => {
                text::write_decimal(out, array.value(row), *scale, plain);
            }
            Cells::Text(array) => out.extend_from_slice(array.value(row).as_bytes()),
            Cells::Binary(array) => text::write_base64(out, array.value(row)),
            Cells::Date(array) => text::write_date(out, array.value(row).into()),
            Cells::Time(array) => write_time(out, array.value(row)),
            Cells::Timestamp { values, zoned } => {
                write_timestamp(out, values.value(row), b' ', *zoned);
            }
            Cells::Array(lists, items) => {
                let offsets = lists.value_offsets();
                for item in offsets[row]..offsets[row + 1] {
                    self.element(out, items, item as usize, item > offsets[row], plain);
                }
            }
            Cells::Row(_, columns) => {
                for (at, column) in columns.iter().enumerate() {
                    self.element(out, column, row, at > 0, plain);
                }
            }
        }
    }

    fn element(&self, out: &mut Vec<u8>, cells: &Cells<'_>, at: usize, follows: bool, plain: bool) {
        if follows {
            out.extend_from_slice(&self.array_separator);
        }
        if cells.is_null(at) {
            out.extend_from_slice(&self.null);
        } else {
            self.unquoted(out, cells, at, plain);
        }
    }

    /// Writes a text, in quotes where it may need them.
    fn quoted(&self, out: &mut Vec<u8>, text: &[u8]) {
        if self.quote.is_empty() || !self.may_need_quotes(text) {
            out.extend_from_slice(text);
            return;
        }
        out.extend_from_slice(&self.quote);
        let mut rest = text;
        while let Some((at, mark)) = self.next_special(rest) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(mark);
            out.extend_from_slice(mark);
            rest = &rest[at + mark.len()..];
        }
        out.extend_from_slice(rest);
        out.extend_from_slice(&self.quote);
    }

    /// The first quote or escape character, which is written twice.
    fn next_special(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let quote = memmem::find(text, &self.quote).map(|at| (at, &*self.quote));
        let escape = match self.escape.is_empty() {
            true => None,
            false => memmem::find(text, &self.escape).map(|at| (at, &*self.escape)),
        };
        [quote, escape].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    fn may_need_quotes(&self, text: &[u8]) -> bool {
        // Java counts UTF-16 units, each of which takes one to three bytes in UTF-8.
        if text.len() > LONGEST_UNQUOTED
            && (text.len() > 3 * LONGEST_UNQUOTED
                || String::from_utf8_lossy(text).encode_utf16().count() > LONGEST_UNQUOTED)
        {
            return true;
        }
        text.iter().any(|byte| self.unsafe_bytes[usize::from(*byte)])
    }
}
