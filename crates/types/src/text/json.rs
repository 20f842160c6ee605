//! Strings in JSON texts.

use std::cmp::Ordering;
use std::fmt::Write;

/// Writes a string with its quotes, escaped as Jackson does: quotes, backslashes and control characters.
pub fn write_json_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                let _ = write!(out, "\\u{control:04X}");
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The order of Java's strings, by UTF-16 units, in which Flink writes the members of objects.
pub fn utf16_order(left: &str, right: &str) -> Ordering {
    if left.is_ascii() || right.is_ascii() {
        // ASCII comes first in both encodings.
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let mut out = String::new();
        write_json_string(&mut out, "a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}é😀");
        assert_eq!(out, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\u{7f}é😀\"");
    }

    #[test]
    fn surrogates_sort_before_the_end_of_the_basic_plane() {
        assert_eq!(utf16_order("😀", "～"), Ordering::Less);
        assert_eq!("😀".cmp("～"), Ordering::Greater);
        assert_eq!(utf16_order("b", "a"), Ordering::Greater);
        assert_eq!(utf16_order("é", "a"), Ordering::Greater);
    }
}
