//! Bitmaps as text.

use std::fmt::Write;

use roaring::RoaringBitmap;

/// From how many bytes on the text of a bitmap is cut short: Flink's limit.
const MAX_TEXT: usize = 0x80000;

/// Writes a BITMAP, which is kept in the portable format of Roaring bitmaps, as `{1,2,4294967295}`. A very
/// long text is cut short and ends with `...}`. Bytes that are no bitmap are empty.
pub fn write_bitmap(out: &mut String, bytes: &[u8]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(members: impl IntoIterator<Item = u32>) -> String {
        let mut bytes = Vec::new();
        RoaringBitmap::from_iter(members).serialize_into(&mut bytes).unwrap();
        let mut out = String::new();
        write_bitmap(&mut out, &bytes);
        out
    }

    #[test]
    fn members_are_unsigned_and_sorted() {
        assert_eq!(text([]), "{}");
        assert_eq!(text([u32::MAX, 0, 7]), "{0,7,4294967295}");
    }

    #[test]
    fn long_texts_are_cut_where_flink_cuts_them() {
        let text = text(0..200_000);
        assert_eq!(text.len(), 524_293);
        assert!(text.ends_with(",89231,89232,...}"));
    }
}
