//! Strings as they stand in a JSON text.

use std::borrow::Cow;

use super::Problem;

/// A string as it stands between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringText<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> StringText<'a> {
    /// Reads a string from what follows its opening quote, with its length up to the closing one; or
    /// what is wrong, and where.
    pub(super) fn read(text: &'a str) -> Result<(Self, usize), (Problem, usize)> {
        let bytes = text.as_bytes();
        let (mut at, mut escaped) = (0, false);
        loop {
            at += ordinary(&bytes[at..]);
            match bytes.get(at) {
                Some(b'"') => return Ok((Self { raw: &text[..at], escaped }, at)),
                Some(b'\\') => {
                    escaped = true;
                    at += escape_length(&bytes[at..]).map_err(|problem| (problem, at))?;
                }
                Some(_) => return Err((Problem::Control, at)),
                None => return Err((Problem::End, at)),
            }
        }
    }

    /// Whether it is the string given.
    pub fn is(&self, wanted: &str) -> bool {
        if self.escaped { self.decode() == wanted } else { self.raw == wanted }
    }

    /// The string itself.
    pub fn decode(&self) -> Cow<'a, str> {
        if !self.escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut text = String::with_capacity(self.raw.len());
        unescape(self.raw, &mut text);
        Cow::Owned(text)
    }

    /// Whether it has more than `limit` UTF-16 units.
    pub fn is_longer_than(&self, limit: usize) -> bool {
        self.raw.len() > limit && self.decode().encode_utf16().count() > limit
    }
}

/// How many bytes from the start are neither a quote nor a backslash nor a control character.
fn ordinary(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // The highest bit of each byte that is less than 0x80, exact up to the first hit.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, _) = bytes.as_chunks::<8>();
    for (i, chunk) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
        let hits = control | quote | backslash;
        if hits != 0 {
            return i * 8 + hits.trailing_zeros() as usize / 8;
        }
    }
    let start = words.len() * 8;
    let rest = &bytes[start..];
    start + rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

/// The length of the escape sequence at the start.
fn escape_length(bytes: &[u8]) -> Result<usize, Problem> {
    match bytes.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => match bytes.get(2..6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(6),
            Some(_) => Err(Problem::Escape),
            None if bytes[2..].contains(&b'"') => Err(Problem::Escape),
            None => Err(Problem::End),
        },
        Some(_) => Err(Problem::Escape),
        None => Err(Problem::End),
    }
}

/// Replaces escape sequences, which must be valid. Half of a surrogate pair becomes a question mark, as
/// it does when Flink encodes it.
fn unescape(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let sequence = &rest[at..];
        let (c, length) = match sequence.as_bytes().get(1) {
            Some(b'u') => unicode_escape(sequence),
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(other) => (char::from(*other), 2),
            None => ('\\', 1),
        };
        out.push(c);
        rest = sequence.get(length..).unwrap_or("");
    }
    out.push_str(rest);
}

/// The character of `\uXXXX`, or of two such that make a surrogate pair, and the length of the sequence.
fn unicode_escape(sequence: &str) -> (char, usize) {
    let unit = |start: usize| {
        let digits = sequence.get(start..start + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return ('?', sequence.len()) };
    let pair = [first, unit(6).unwrap_or(0)];
    let decoded = char::decode_utf16(pair).next();
    match decoded {
        Some(Ok(c)) => (c, if c.len_utf16() == 2 { 12 } else { 6 }),
        _ => ('?', 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, Problem> {
        match StringText::read(text) {
            Ok((string, length)) => {
                assert_eq!(&text[length..], "\"", "{text}");
                Ok(string.decode().into_owned())
            }
            Err((problem, _)) => Err(problem),
        }
    }

    #[test]
    fn strings_are_decoded() {
        for (text, value) in [
            ("\"", ""),
            ("abc\"", "abc"),
            ("a longer one, of more than a word\"", "a longer one, of more than a word"),
            ("\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{c}\n\r\t"),
            ("\\u00e9\\uD83D\\ude00é😀\u{7f}\"", "é😀é😀\u{7f}"),
            ("\\ud83dx\\ude00\"", "?x?"),
            ("\\ud83d\\ud83d\\ude00\"", "?😀"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_hit_is_found_at_every_offset() {
        for before in 0..20 {
            for hit in ["\"", "\\", "\u{1f}"] {
                let text = "é".repeat(before) + hit + "0123456789\"";
                assert_eq!(ordinary(text.as_bytes()), before * 2, "{text:?}");
            }
        }
    }

    #[test]
    fn names_compare_decoded() {
        let (name, _) = StringText::read("\\u0061b\"").unwrap();
        assert!(name.is("ab") && !name.is("a"));
        assert!(name.is_longer_than(1) && !name.is_longer_than(2));
    }
}
