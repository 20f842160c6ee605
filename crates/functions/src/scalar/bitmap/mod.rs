//! BITMAP: sets of 32-bit integers.
//!
//! A bitmap is kept in the portable format of Roaring bitmaps, its containers as small as they can be: the
//! same set has one encoding only, so that bitmaps are equal when their bytes are.

mod functions;

use std::fmt::Write;

use roaring::RoaringBitmap;

pub use functions::FUNCTIONS;

use crate::EvalError;

/// From how many bytes on a text of members is cut short: Flink's limit.
const MAX_TEXT: usize = 0x80000;

/// The text of a BITMAP as it is kept in arrays: `{1,2,4294967295}`. A very long one ends with `...}`.
pub fn bitmap_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    write_bitmap(&mut text, bytes);
    text
}

/// Writes what [`bitmap_text`] gives.
pub(crate) fn write_bitmap(out: &mut String, bytes: &[u8]) {
    let members = RoaringBitmap::deserialize_from(bytes).unwrap_or_default();
    let start = out.len();
    out.push('{');
    for (i, member) in members.iter().enumerate() {
        if i > 0 {
            out.push(',');
            if out.len() - start > MAX_TEXT {
                out.push_str("...");
                break;
            }
        }
        let _ = write!(out, "{member}");
    }
    out.push('}');
}

/// The bytes of a bitmap.
pub(crate) fn encode(mut bitmap: RoaringBitmap) -> Result<Vec<u8>, EvalError> {
    bitmap.remove_run_compression();
    bitmap.optimize();
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    bitmap.serialize_into(&mut bytes).map_err(|error| EvalError::Internal(error.to_string()))?;
    Ok(bytes)
}

/// The bitmap of some bytes that are one.
pub(crate) fn decode(bytes: &[u8]) -> Result<RoaringBitmap, EvalError> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|error| EvalError::Internal(format!("not a bitmap: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_set_has_the_same_bytes() {
        let all = RoaringBitmap::from_iter(0..10_000);
        let odd = RoaringBitmap::from_iter((0..10_000).filter(|i| i % 2 == 1));
        let even = RoaringBitmap::from_iter((0..10_000).filter(|i| i % 2 == 0));
        let mut optimized = all.clone();
        optimized.optimize();
        assert_eq!(encode(&odd | &even).unwrap(), encode(all.clone()).unwrap());
        assert_eq!(encode(&optimized - &odd).unwrap(), encode(even).unwrap());
        assert_eq!(encode(optimized).unwrap(), encode(all).unwrap());
    }

    #[test]
    fn long_texts_are_cut() {
        let bytes = encode(RoaringBitmap::from_iter(0..200_000)).unwrap();
        let text = bitmap_text(&bytes);
        assert!(text.ends_with(",...}"), "{}", &text[text.len() - 20..]);
        assert!(text.len() < MAX_TEXT + 10);
        assert_eq!(bitmap_text(b"bad"), "{}");
    }
}
