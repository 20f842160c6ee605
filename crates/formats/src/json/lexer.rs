//! JSON text piece by piece, under the rules of Flink's parser: strict JSON, but for control
//! characters, which may stand in strings as they are.

use memchr::memchr2;

use crate::text::words;

/// The deepest nesting that is read, as in Jackson.
const MAX_DEPTH: usize = 1000;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// A string between its quotes, escapes not yet resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawString<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) escaped: bool,
}

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number<'a> {
    pub(crate) text: &'a [u8],
    /// Whether it has neither fraction nor exponent.
    pub(crate) whole: bool,
}

/// A place in a JSON text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of a document, after a byte order mark.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Self { bytes, at }
    }

    pub(crate) fn error<T>(&self, what: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { what, at: self.at })
    }

    /// The next byte that is no white space, without going past it; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => *byte,
            _ => self.peek_past_space(),
        }
    }

    #[cold]
    fn peek_past_space(&mut self) -> u8 {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(byte) => return *byte,
                None => return 0,
            }
        }
    }

    /// Goes past `byte` if it is the next one that is no white space.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte) || self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Goes past `text` if it comes right here.
    #[inline]
    pub(crate) fn eat_exactly(&mut self, text: &[u8]) -> bool {
        let here = self.bytes.get(self.at..self.at + text.len());
        let found = here.is_some_and(|here| words::equal(here, text));
        if found {
            self.at += text.len();
        }
        found
    }

    /// Reads a string from its opening quote.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<RawString<'a>, SyntaxError> {
        if !self.eat(b'"') {
            return self.error("a string is missing");
        }
        let start = self.at;
        let rest = &self.bytes[start..];
        match quote_or_backslash(rest) {
            Some(end) if rest[end] == b'"' => {
                self.at = start + end + 1;
                Ok(RawString { raw: &rest[..end], escaped: false })
            }
            Some(end) => self.escaped_string(start, start + end),
            None => self.error("a string does not end"),
        }
    }

    fn escaped_string(
        &mut self,
        start: usize,
        mut at: usize,
    ) -> Result<RawString<'a>, SyntaxError> {
        loop {
            self.at = at;
            match self.bytes[at] {
                b'"' => {
                    self.at = at + 1;
                    return Ok(RawString { raw: &self.bytes[start..at], escaped: true });
                }
                _ => match self.bytes.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u') => {
                        let digits = self.bytes.get(at + 2..at + 6);
                        if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                            return self.error("four hexadecimal digits must follow \\u");
                        }
                        at += 6;
                    }
                    _ => return self.error("an unknown escape in a string"),
                },
            }
            match quote_or_backslash(&self.bytes[at..]) {
                Some(next) => at += next,
                None => return self.error("a string does not end"),
            }
        }
    }

    /// Reads a number from its first digit or minus.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<Number<'a>, SyntaxError> {
        let start = self.at;
        let mut at = start + usize::from(self.bytes.get(start) == Some(&b'-'));
        let digits = |mut at: usize| {
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let whole_end = digits(at);
        if whole_end == at {
            self.at = at;
            return self.error("a value is missing");
        }
        if self.bytes[at] == b'0' && whole_end > at + 1 {
            return self.error("a number starts with a zero");
        }
        at = whole_end;
        if self.bytes.get(at) == Some(&b'.') {
            at = digits(at + 1);
            if at == whole_end + 1 {
                self.at = at;
                return self.error("no digit follows the decimal point");
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            let sign = usize::from(matches!(self.bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = at + 1 + sign;
            at = digits(exponent);
            if at == exponent {
                self.at = at;
                return self.error("no digit follows the exponent's mark");
            }
        }
        self.at = at;
        Ok(Number { text: &self.bytes[start..at], whole: at == whole_end })
    }

    /// Reads `true`, `false` or `null`.
    pub(crate) fn word(&mut self, word: &'static [u8]) -> Result<(), SyntaxError> {
        if self.eat_exactly(word) { Ok(()) } else { self.error("an unknown word") }
    }

    /// Reads the colon after a key.
    #[inline]
    pub(crate) fn colon(&mut self) -> Result<(), SyntaxError> {
        if self.eat(b':') { Ok(()) } else { self.error("a colon must follow the key") }
    }

    /// Goes past one value and returns its text.
    pub(crate) fn skip_value(&mut self) -> Result<&'a [u8], SyntaxError> {
        let first = self.peek();
        let start = self.at;
        match first {
            b'{' | b'[' => self.skip_container()?,
            _ => self.skip_scalar(first)?,
        }
        Ok(&self.bytes[start..self.at])
    }

    #[inline]
    fn skip_scalar(&mut self, first: u8) -> Result<(), SyntaxError> {
        match first {
            b'"' => self.string().map(drop),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            _ => self.error("a value is missing"),
        }
    }

    fn skip_container(&mut self) -> Result<(), SyntaxError> {
        // One bit for each open container: whether it is an object.
        let mut open = [0u64; MAX_DEPTH.div_ceil(64)];
        let mut depth = 0usize;
        loop {
            // Here a value starts.
            match self.peek() {
                bracket @ (b'{' | b'[') => {
                    if depth == MAX_DEPTH {
                        return self.error("nesting is too deep");
                    }
                    let object = bracket == b'{';
                    let bit = 1u64 << (depth % 64);
                    open[depth / 64] = open[depth / 64] & !bit | if object { bit } else { 0 };
                    depth += 1;
                    self.at += 1;
                    if !self.eat(if object { b'}' } else { b']' }) {
                        if object {
                            self.string()?;
                            self.colon()?;
                        }
                        continue;
                    }
                    depth -= 1;
                }
                first => self.skip_scalar(first)?,
            }
            // Here a value has ended.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let object = open[(depth - 1) / 64] >> ((depth - 1) % 64) & 1 == 1;
                if self.eat(b',') {
                    if object {
                        self.string()?;
                        self.colon()?;
                    }
                    break;
                }
                if !self.eat(if object { b'}' } else { b']' }) {
                    return self.error(if object {
                        "a comma or a closing brace is missing"
                    } else {
                        "a comma or a closing bracket is missing"
                    });
                }
                depth -= 1;
            }
        }
    }
}

impl RawString<'_> {
    /// Appends the string with its escapes resolved.
    #[inline]
    pub(crate) fn unescape(&self, out: &mut Vec<u8>) {
        if self.escaped {
            unescape(self.raw, out);
        } else {
            out.extend_from_slice(self.raw);
        }
    }
}

fn unescape(mut raw: &[u8], out: &mut Vec<u8>) {
    while let Some(plain) = memchr::memchr(b'\\', raw) {
        out.extend_from_slice(&raw[..plain]);
        let escape = &raw[plain + 1..];
        let (byte, used) = match escape {
            [b'u', ..] => {
                let used = unescape_code(escape, out);
                raw = &escape[used..];
                continue;
            }
            [b'b', ..] => (8, 1),
            [b'f', ..] => (12, 1),
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b't', ..] => (b'\t', 1),
            [other, ..] => (*other, 1),
            [] => return,
        };
        out.push(byte);
        raw = &escape[used..];
    }
    out.extend_from_slice(raw);
}

/// Appends the character of `uXXXX`, or of a pair of them, and returns how many bytes it took.
/// Half a pair becomes `?`, as it does where Java encodes it.
fn unescape_code(escape: &[u8], out: &mut Vec<u8>) -> usize {
    let first = code_unit(&escape[1..]);
    let (code, used) = match (first, escape.get(5..7)) {
        (0xD800..0xDC00, Some(b"\\u")) => match code_unit(&escape[7..]) {
            second @ 0xDC00..0xE000 => (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 11),
            _ => (first, 5),
        },
        _ => (first, 5),
    };
    let mut buffer = [0; 4];
    let text = char::from_u32(code).map_or("?", |c| c.encode_utf8(&mut buffer));
    out.extend_from_slice(text.as_bytes());
    used
}

fn code_unit(digits: &[u8]) -> u32 {
    digits
        .iter()
        .take(4)
        .fold(0, |code, digit| code << 4 | char::from(*digit).to_digit(16).unwrap_or(0))
}

/// Where the first quote or backslash is. Short strings are looked through by words of eight bytes.
#[inline]
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const QUOTES: u64 = words::repeat(b'"');
    const BACKSLASHES: u64 = words::repeat(b'\\');
    let mut at = 0;
    let (chunks, _) = text.as_chunks::<8>();
    for chunk in chunks.iter().take(3) {
        let word = u64::from_le_bytes(*chunk);
        let found = words::zero_bytes(word ^ QUOTES) | words::zero_bytes(word ^ BACKSLASHES);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'"', b'\\', &text[at..]).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_are_skipped_and_broken_ones_found() {
        for (text, rest) in [
            ("1,2", ",2"),
            ("-0.5e+10]", "]"),
            ("\"a\\\"b\" ", " "),
            ("{}x", "x"),
            ("{ \"a\" : [ 1 , {\"b\":null} , [] ] , \"c\":true}}", "}"),
            (" [\"\\u00e4\",false] ", " "),
        ] {
            let mut lexer = Lexer::new(text.as_bytes());
            lexer.skip_value().unwrap();
            assert_eq!(&text[lexer.at..], rest, "{text}");
        }
        for text in [
            "",
            "{",
            "[1",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "[1,]",
            "01",
            "1.",
            ".5",
            "1e",
            "-",
            "+1",
            "tru",
            "\"a",
            "\"\\x\"",
            "\"\\u12\"",
            "{\"a\":1,}",
            "NaN",
            "[}",
        ] {
            let skipped = Lexer::new(text.as_bytes()).skip_value();
            assert!(skipped.is_err(), "{text}: {skipped:?}");
        }
        let deep = "[".repeat(1001) + &"]".repeat(1001);
        assert!(Lexer::new(deep.as_bytes()).skip_value().is_err());
        assert!(Lexer::new(&deep.as_bytes()[1..2001]).skip_value().is_ok());
    }

    #[test]
    fn escapes_resolve() {
        for (raw, text) in [
            (r"plain", "plain"),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r"\u00e4x\uD83D\uDE00", "äx😀"),
            (r"\uD83Dx", "?x"),
            (r"\uDE00\uD83D", "??"),
        ] {
            let mut out = Vec::new();
            RawString { raw: raw.as_bytes(), escaped: true }.unescape(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text, "{raw}");
        }
    }

    #[test]
    fn strings_of_every_length_end_at_their_quote() {
        for len in 0..80 {
            let text = format!("\"{}\" ", "a".repeat(len));
            let string = Lexer::new(text.as_bytes()).string().unwrap();
            assert_eq!(string.raw.len(), len);
        }
    }
}
