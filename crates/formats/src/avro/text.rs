//! Rows in Avro's JSON encoding, as Java's encoder writes them.

use std::fmt::Write;

use arrow::array::Array;

use super::encode::{fixed, misfit, null_key, number, shortest, symbol, write_fixed_decimal};
use super::shape::{Kind, Shape};
use crate::cells::{Cells, write_integer};
use crate::error::FormatError;
use crate::text;

/// Appends a record.
pub(super) fn write_json(
    out: &mut Vec<u8>,
    fields: &[(Box<str>, Shape)],
    columns: &[Cells<'_>],
    row: usize,
) -> Result<(), FormatError> {
    out.push(b'{');
    for (at, ((name, shape), cells)) in fields.iter().zip(columns).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(out, name.chars());
        out.push(b':');
        value(out, shape, cells, row).map_err(|error| error.in_column(name))?;
    }
    out.push(b'}');
    Ok(())
}

fn value(
    out: &mut Vec<u8>,
    shape: &Shape,
    cells: &Cells<'_>,
    row: usize,
) -> Result<(), FormatError> {
    if cells.is_null(row) {
        if shape.branches.is_none() && !matches!(shape.kind, Kind::Null) {
            return Err(FormatError::AvroNull(String::new()));
        }
        out.extend_from_slice(b"null");
        return Ok(());
    }
    if shape.branches.is_none() {
        return plain(out, &shape.kind, cells, row);
    }
    out.push(b'{');
    write_text(out, shape.branch_name.chars());
    out.push(b':');
    plain(out, &shape.kind, cells, row)?;
    out.push(b'}');
    Ok(())
}

fn plain(out: &mut Vec<u8>, kind: &Kind, cells: &Cells<'_>, row: usize) -> Result<(), FormatError> {
    match (kind, cells) {
        (Kind::Null, _) => out.extend_from_slice(b"null"),
        (Kind::Boolean, Cells::Boolean(array)) => {
            out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
        }
        (Kind::Int | Kind::Long(_), cells) => {
            write_integer(out, number(cells, row, kind).ok_or_else(misfit)?);
        }
        (Kind::Float, Cells::Float(array)) => {
            let number = array.value(row);
            quoted_unless(out, number.is_finite(), |out| text::write_float(out, number));
        }
        (Kind::Double, Cells::Double(array)) => {
            let number = array.value(row);
            quoted_unless(out, number.is_finite(), |out| text::write_double(out, number));
        }
        (Kind::String, Cells::Text(array)) => write_text(out, array.value(row).chars()),
        (Kind::Enum(symbols), Cells::Text(array)) => {
            let text = array.value(row);
            symbol(symbols, text)?;
            write_text(out, text.chars());
        }
        (Kind::Bytes, Cells::Binary(array)) => write_latin(out, array.value(row)),
        (Kind::Fixed(size), Cells::Binary(array)) => {
            write_latin(out, fixed(*size, array.value(row))?);
        }
        (Kind::Decimal(size), Cells::Decimal(array, _)) => {
            let wide = array.value(row).to_be_bytes();
            match size {
                None => write_latin(out, shortest(&wide)),
                Some(size) => {
                    let mut bytes = Vec::with_capacity(*size);
                    write_fixed_decimal(&mut bytes, *size, &wide)?;
                    write_latin(out, &bytes);
                }
            }
        }
        (Kind::Array(item), Cells::Array(lists, items)) => {
            let offsets = lists.value_offsets();
            out.push(b'[');
            for at in offsets[row]..offsets[row + 1] {
                if at > offsets[row] {
                    out.push(b',');
                }
                value(out, item, items, at as usize)?;
            }
            out.push(b']');
        }
        (Kind::Map(of), Cells::Map(lists, keys, values)) => {
            let Cells::Text(keys) = &**keys else { return Err(misfit()) };
            let offsets = lists.value_offsets();
            out.push(b'{');
            for at in offsets[row]..offsets[row + 1] {
                if at > offsets[row] {
                    out.push(b',');
                }
                if keys.is_null(at as usize) {
                    return Err(null_key());
                }
                write_text(out, keys.value(at as usize).chars());
                out.push(b':');
                value(out, of, values, at as usize)?;
            }
            out.push(b'}');
        }
        (Kind::Record(fields), Cells::Row(_, columns)) => write_json(out, fields, columns, row)?,
        _ => return Err(misfit()),
    }
    Ok(())
}

fn quoted_unless(out: &mut Vec<u8>, bare: bool, write: impl FnOnce(&mut Vec<u8>)) {
    if bare {
        write(out);
    } else {
        out.push(b'"');
        write(out);
        out.push(b'"');
    }
}

fn write_latin(out: &mut Vec<u8>, bytes: &[u8]) {
    write_text(out, bytes.iter().map(|byte| char::from(*byte)));
}

/// Appends text in quotes; characters beyond the basic plane are two escapes.
fn write_text(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    out.push(b'"');
    let mut bytes = [0; 4];
    for c in text {
        let short = match c {
            '"' | '\\' => c as u8,
            '\u{8}' => b'b',
            '\t' => b't',
            '\n' => b'n',
            '\u{c}' => b'f',
            '\r' => b'r',
            '\0'..'\u{20}' | '\u{10000}'.. => {
                let mut escapes = String::new();
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escapes, "\\u{unit:04X}");
                }
                out.extend_from_slice(escapes.as_bytes());
                continue;
            }
            _ => {
                out.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.push(b'"');
}
