//! Keys of one column from encoded rows, without the detour over columns. Every step is checked, since
//! rows may come from a file.

use arrow::array::NullBufferBuilder;

use super::batch::{KeyBatch, Keys};
use super::encoder::IntKind;
use crate::error::{Result, StateError};
use crate::rows::EncodedRows;

/// Bytes before the value of a string: NULL bits, and where the value ends.
const STRING_HEAD: usize = 5;

/// Keys of one column of at most eight bytes a value.
pub(super) fn int_keys(kind: IntKind, rows: &[&[u8]]) -> Result<KeyBatch> {
    let width = kind.width();
    let mut values = Vec::with_capacity(rows.len());
    let mut nulls = NullBufferBuilder::new(rows.len());
    for row in rows {
        let [null, value @ ..] = row else { return Err(damaged("row ends early")) };
        if value.len() != width {
            return Err(damaged("row of another length"));
        }
        let is_null = null & 1 == 1;
        nulls.append(!is_null);
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(value);
        let value = i64::from_le_bytes(bytes);
        let value = match kind {
            IntKind::Boolean => i64::from(value != 0),
            IntKind::Width(1) => i64::from(value as i8),
            IntKind::Width(2) => i64::from(value as i16),
            IntKind::Width(4) => i64::from(value as i32),
            IntKind::Width(_) => value,
            IntKind::Float if f32::from_bits(value as u32).is_nan() => {
                i64::from(f32::NAN.to_bits())
            }
            IntKind::Double if f64::from_bits(value as u64).is_nan() => f64::NAN.to_bits() as i64,
            IntKind::Float | IntKind::Double => value,
        };
        values.push(if is_null { 0 } else { value });
    }
    let nulls = nulls.finish().filter(|nulls| nulls.null_count() > 0);
    Ok(KeyBatch::new(Keys::Ints(values.into()), nulls, rows.len()))
}

/// Keys of one column of strings, or of bytes.
pub(super) fn string_keys(rows: &[&[u8]], is_text: bool) -> Result<KeyBatch> {
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    let mut data: Vec<u8> = Vec::new();
    let mut nulls = NullBufferBuilder::new(rows.len());
    offsets.push(0);
    for row in rows {
        let Some((head, value)) = row.split_at_checked(STRING_HEAD) else {
            return Err(damaged("row ends early"));
        };
        let end = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        if end as usize != value.len() {
            return Err(damaged("row of another length"));
        }
        let is_null = head[0] & 1 == 1;
        nulls.append(!is_null);
        if !is_null {
            if is_text && std::str::from_utf8(value).is_err() {
                return Err(damaged("text that is not UTF-8"));
            }
            data.extend_from_slice(value);
        }
        offsets.push(i32::try_from(data.len()).map_err(|_| StateError::BatchTooLarge)?);
    }
    let nulls = nulls.finish().filter(|nulls| nulls.null_count() > 0);
    let rows_of = EncodedRows { offsets: offsets.into(), data: data.into() };
    Ok(KeyBatch::new(Keys::Strings(rows_of), nulls, rows.len()))
}

fn damaged(what: &'static str) -> StateError {
    StateError::Damaged { section: "row".into(), offset: 0, what }
}
