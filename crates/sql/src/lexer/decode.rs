//! The values of string literals.

use crate::error::ParseErrorKind;

/// The text between two quotes of kind `quote`, doubled quotes made one. What stands before the
/// first quote (`U&`, `_UTF16` …) is left off.
pub(crate) fn quoted(literal: &str, quote: char) -> String {
    let inner =
        literal.split_once(quote).and_then(|(_, rest)| rest.strip_suffix(quote)).unwrap_or(literal);
    let doubled: String = [quote, quote].iter().collect();
    inner.replace(&doubled, quote.encode_utf8(&mut [0; 4]))
}

/// The value of `X'0AFF'`.
pub(crate) fn binary(literal: &str) -> Result<Vec<u8>, ParseErrorKind> {
    let digits = quoted(literal, '\'')
        .chars()
        .map(|digit| digit.to_digit(16).map(|value| value as u8))
        .collect::<Option<Vec<u8>>>()
        .ok_or(ParseErrorKind::BinaryDigits)?;
    if !digits.len().is_multiple_of(2) {
        return Err(ParseErrorKind::BinaryLength);
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Resolves the escapes of `U&'…'`: four hexadecimal digits, UTF-16, behind `escape`, which
/// stands for itself when doubled.
pub(crate) fn unicode_string(text: &str, escape: char) -> Result<String, ParseErrorKind> {
    let mut units = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        if character != escape {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
        } else if let Some(behind) = rest.strip_prefix(escape) {
            units.extend_from_slice(escape.encode_utf16(&mut [0; 2]));
            rest = behind;
        } else {
            let place = text.len() - rest.len() - escape.len_utf8();
            units.push(utf16_unit(rest, place)?);
            rest = &rest[4..];
        }
    }
    Ok(String::from_utf16_lossy(&units))
}

/// Resolves the escapes of `E'…'`: those of C, `\uXXXX` (UTF-16), `\xXX` and octal.
pub(crate) fn escaped_string(text: &str) -> Result<String, ParseErrorKind> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        units.extend(rest[..at].encode_utf16());
        let place = text.len() - rest.len() + at;
        rest = &rest[at + 1..];
        let (unit, used) = match rest.bytes().next() {
            Some(b'b') => (8, 1),
            Some(b'f') => (12, 1),
            Some(b'n') => (10, 1),
            Some(b'r') => (13, 1),
            Some(b't') => (9, 1),
            Some(b'u' | b'U') => (utf16_unit(&rest[1..], place)?, 5),
            Some(b'x') => code(&rest[1..], 16, 2).map_or((b'\\'.into(), 0), |(c, n)| (c, n + 1)),
            Some(b'0'..=b'7') => code(rest, 8, 3).unwrap_or((b'\\'.into(), 0)),
            Some(byte @ (b'\\' | b'\'')) => (byte.into(), 1),
            _ => (b'\\'.into(), 0),
        };
        units.push(unit);
        rest = &rest[used..];
    }
    units.extend(rest.encode_utf16());
    Ok(String::from_utf16_lossy(&units))
}

/// The code unit that the four hexadecimal digits at the start of `text` stand for. As Flink reads
/// them as a number, a plus may stand in place of the first.
fn utf16_unit(text: &str, place: usize) -> Result<u16, ParseErrorKind> {
    let (digits, count) = match text.strip_prefix('+') {
        Some(digits) => (digits, 3),
        None => (text, 4),
    };
    match code(digits, 16, count) {
        Some((unit, used)) if used == count => Ok(unit),
        _ => Err(ParseErrorKind::UnicodeEscape { place }),
    }
}

/// The number that up to `limit` leading digits of `text` stand for, and how many they are.
fn code(text: &str, radix: u32, limit: usize) -> Option<(u16, usize)> {
    let used = text.chars().take(limit).take_while(|digit| digit.is_digit(radix)).count();
    Some((u16::from_str_radix(&text[..used], radix).ok()?, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        assert_eq!(quoted("'it''s'", '\''), "it's");
        assert_eq!(quoted("`a``b`", '`'), "a`b");
        assert_eq!(quoted("_UTF16''", '\''), "");
        assert_eq!(quoted("''''", '\''), "'");
    }

    #[test]
    fn binaries() {
        assert_eq!(binary("X'0Aff'"), Ok(vec![0x0a, 0xff]));
        assert_eq!(binary("x'102'"), Err(ParseErrorKind::BinaryLength));
        assert_eq!(binary("x''"), Ok(vec![]));
        assert_eq!(binary("x'1G'"), Err(ParseErrorKind::BinaryDigits));
    }

    #[test]
    fn unicode_escapes() {
        assert_eq!(unicode_string(r"\263A\\x", '\\').as_deref(), Ok("☺\\x"));
        assert_eq!(unicode_string("!d83d!de00ü", '!').as_deref(), Ok("😀ü"));
        assert_eq!(unicode_string(r"ab\26", '\\'), Err(ParseErrorKind::UnicodeEscape { place: 2 }));
        assert_eq!(unicode_string(r"\+01f60", '\\').as_deref(), Ok("\u{1f}60"));
    }

    #[test]
    fn c_escapes() {
        let decode = escaped_string;
        assert_eq!(decode(r"a\tb\u0041\x41\101\q\'").as_deref(), Ok("a\tbAAA\\q'"));
        assert_eq!(decode(r"ü\").as_deref(), Ok("ü\\"));
        assert_eq!(decode(r"\ü\x").as_deref(), Ok("\\ü\\x"));
        assert_eq!(decode(r"\ud83d\ude00").as_deref(), Ok("😀"));
        assert_eq!(decode(r"ab\u12"), Err(ParseErrorKind::UnicodeEscape { place: 2 }));
    }
}
