//! CSV text value by value, under the rules of Flink's reader: a quote counts only where a value
//! starts, a line ends at `\n`, `\r` or `\r\n`, and quoted values may hold line ends.

use memchr::{memchr, memchr3};

use super::dialect::Dialect;
use crate::error::FormatError;
use crate::text::trim;

/// A character in UTF-8.
#[derive(Debug, Clone, Copy)]
struct Mark {
    bytes: [u8; 4],
    len: usize,
}

impl Mark {
    fn new(c: char) -> Self {
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len();
        Self { bytes, len }
    }

    #[inline]
    fn starts(&self, text: &[u8]) -> bool {
        text.first() == Some(&self.bytes[0])
            && (self.len == 1 || text.starts_with(&self.bytes[..self.len]))
    }
}

/// The characters with a meaning.
#[derive(Debug)]
pub(super) struct Marks {
    separator: Mark,
    quote: Option<Mark>,
    escape: Option<Mark>,
    trim: bool,
    /// The separator, where values that are not quoted end at one byte or a line end and stand as
    /// they are.
    pub(super) plain: Option<u8>,
}

impl Marks {
    pub(super) fn new(dialect: &Dialect) -> Self {
        let separator = Mark::new(dialect.separator);
        let plain = separator.len == 1 && dialect.escape.is_none() && !dialect.trim;
        Self {
            separator,
            quote: dialect.quote.map(Mark::new),
            escape: dialect.escape.map(Mark::new),
            trim: dialect.trim,
            plain: plain.then_some(separator.bytes[0]),
        }
    }
}

/// What comes after a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another value of the same row.
    Value,
    /// Another row, or nothing.
    Row,
}

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Stop {
    /// The bytes end before the value does, and more may follow.
    More,
    /// The value is broken; reading can go on after it.
    Broken(FormatError),
}

/// A value: a part of the bytes, or in the scratch space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    start: usize,
    end: usize,
    scratch: bool,
    pub(super) next: Next,
}

/// Reads values one after the other.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// Whether no more bytes follow.
    last: bool,
    marks: &'a Marks,
    scratch: &'a mut Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        at: usize,
        last: bool,
        marks: &'a Marks,
        scratch: &'a mut Vec<u8>,
    ) -> Self {
        Self { bytes, at, last, marks, scratch }
    }

    pub(super) fn text(&self, value: Value) -> &[u8] {
        if value.scratch { self.scratch } else { &self.bytes[value.start..value.end] }
    }

    /// Reads the next value.
    #[inline]
    pub(super) fn value(&mut self) -> Result<Value, Stop> {
        if let Some(separator) = self.marks.plain {
            let start = self.at;
            let first = self.bytes.get(start..).unwrap_or_default();
            if !self.marks.quote.is_some_and(|quote| quote.starts(first))
                && let Some(len) = plain_end(first, separator)
            {
                let next = if first[len] == separator {
                    self.at = start + len + 1;
                    Next::Value
                } else {
                    self.at = start + len;
                    self.line_end()?
                };
                return Ok(Value { start, end: start + len, scratch: false, next });
            }
        }
        self.any_value()
    }

    /// Goes past the rest of the row.
    pub(super) fn skip_row(&mut self) -> Result<(), Stop> {
        loop {
            match self.value() {
                Ok(Value { next: Next::Row, .. }) => return Ok(()),
                Ok(_) => {}
                Err(Stop::More) => return Err(Stop::More),
                // What is broken a second time ends where the bytes end, if they do.
                Err(Stop::Broken(_)) if self.at >= self.bytes.len() => {
                    return if self.last { Ok(()) } else { Err(Stop::More) };
                }
                Err(Stop::Broken(_)) => {}
            }
        }
    }

    /// Goes past empty lines and lines that start with `#`, and past spaces before a row.
    pub(super) fn skip_comments(&mut self) -> Result<(), Stop> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'\n' | b'\r') => {
                    self.line_end()?;
                }
                Some(b' ') => self.at += 1,
                Some(b'#') => match memchr::memchr2(b'\n', b'\r', &self.bytes[self.at..]) {
                    Some(end) => {
                        let start = self.at;
                        self.at = start + end;
                        if let Err(stop) = self.line_end() {
                            self.at = start;
                            return Err(stop);
                        }
                    }
                    None if self.last => self.at = self.bytes.len(),
                    None => return Err(Stop::More),
                },
                _ => return Ok(()),
            }
        }
    }

    /// Goes past a line end, which may be two characters.
    #[inline]
    fn line_end(&mut self) -> Result<Next, Stop> {
        if self.bytes[self.at] == b'\r' {
            match self.bytes.get(self.at + 1) {
                Some(b'\n') => self.at += 1,
                None if !self.last => return Err(Stop::More),
                _ => {}
            }
        }
        self.at += 1;
        Ok(Next::Row)
    }

    fn any_value(&mut self) -> Result<Value, Stop> {
        if self.marks.trim {
            while let Some(0..=b' ') = self.bytes.get(self.at)
                && !matches!(self.bytes[self.at], b'\n' | b'\r')
                && !self.marks.separator.starts(&self.bytes[self.at..])
            {
                self.at += 1;
            }
        }
        let rest = &self.bytes[self.at..];
        match self.marks.quote {
            Some(quote) if quote.starts(rest) && !matches!(rest[0], b'\n' | b'\r') => {
                self.at += quote.len;
                self.quoted(quote)
            }
            _ => self.unquoted(),
        }
    }

    fn unquoted(&mut self) -> Result<Value, Stop> {
        let mut start = self.at;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.at..];
            let end = self.at;
            let next = match rest.first() {
                None if self.last => Next::Row,
                None => return Err(Stop::More),
                Some(b'\n' | b'\r') => self.line_end()?,
                _ if self.marks.separator.starts(rest) => {
                    self.at += self.marks.separator.len;
                    Next::Value
                }
                _ => {
                    match self.marks.escape {
                        Some(escape) if escape.starts(rest) => {
                            if !std::mem::replace(&mut escaped, true) {
                                self.scratch.clear();
                            }
                            self.scratch.extend_from_slice(&self.bytes[start..end]);
                            self.escape(escape)?;
                            start = self.at;
                        }
                        _ => self.at += 1,
                    }
                    continue;
                }
            };
            if escaped {
                self.scratch.extend_from_slice(&self.bytes[start..end]);
            }
            return Ok(self.trimmed(Value { start, end, scratch: escaped, next }));
        }
    }

    /// The value without the spaces at its end, where the dialect cuts them off.
    fn trimmed(&mut self, mut value: Value) -> Value {
        if self.marks.trim {
            let text = self.text(value);
            let cut = text.len() - text.iter().rev().take_while(|b| **b <= b' ').count();
            if value.scratch {
                self.scratch.truncate(cut);
            } else {
                value.end = value.start + cut;
            }
        }
        value
    }

    /// Resolves an escape into the scratch space.
    fn escape(&mut self, escape: Mark) -> Result<(), Stop> {
        self.at += escape.len;
        match self.bytes.get(self.at) {
            None if !self.last => return Err(Stop::More),
            None => return Err(Stop::Broken(FormatError::OpenEscape)),
            Some(b'0') => self.scratch.push(0),
            Some(b'n') => self.scratch.push(b'\n'),
            Some(b'r') => self.scratch.push(b'\r'),
            Some(b't') => self.scratch.push(b'\t'),
            Some(other) => {
                // The bytes that continue a character need no care: none of them has a meaning.
                self.scratch.push(*other);
            }
        }
        self.at += 1;
        Ok(())
    }

    fn quoted(&mut self, quote: Mark) -> Result<Value, Stop> {
        let start = self.at;
        let mut copied = start;
        let mut scratch = false;
        let end = loop {
            let rest = &self.bytes[self.at..];
            let found = match self.marks.escape {
                None => memchr(quote.bytes[0], rest),
                Some(escape) => memchr::memchr2(quote.bytes[0], escape.bytes[0], rest),
            };
            let Some(found) = found else {
                if !self.last {
                    return Err(Stop::More);
                }
                self.at = self.bytes.len();
                return Err(Stop::Broken(FormatError::OpenQuote));
            };
            self.at += found;
            let rest = &self.bytes[self.at..];
            if quote.starts(rest) {
                let end = self.at;
                self.at += quote.len;
                if self.at >= self.bytes.len() && !self.last {
                    return Err(Stop::More);
                }
                if !quote.starts(&self.bytes[self.at..]) {
                    break end;
                }
                self.keep(&mut scratch, copied..self.at);
                self.at += quote.len;
                copied = self.at;
            } else if let Some(escape) = self.marks.escape
                && escape.starts(rest)
            {
                self.keep(&mut scratch, copied..self.at);
                self.escape(escape)?;
                copied = self.at;
            } else {
                self.at += 1;
            }
        };
        if scratch {
            self.scratch.extend_from_slice(&self.bytes[copied..end]);
        }
        let next = self.after_quote()?;
        Ok(Value { start, end, scratch, next })
    }

    /// Copies a part of a value into the scratch space.
    fn keep(&mut self, scratch: &mut bool, part: std::ops::Range<usize>) {
        if !std::mem::replace(scratch, true) {
            self.scratch.clear();
        }
        self.scratch.extend_from_slice(&self.bytes[part]);
    }

    /// Spaces may stand between a closing quote and what ends the value.
    fn after_quote(&mut self) -> Result<Next, Stop> {
        loop {
            let rest = &self.bytes[self.at..];
            match rest.first() {
                None if self.last => return Ok(Next::Row),
                None => return Err(Stop::More),
                _ if self.marks.separator.starts(rest) => {
                    self.at += self.marks.separator.len;
                    return Ok(Next::Value);
                }
                Some(b'\n' | b'\r') => return self.line_end(),
                Some(0..=b' ') => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    return Err(Stop::Broken(FormatError::AfterQuote));
                }
            }
        }
    }
}

/// Whether a value counts as empty where one may follow the last column.
pub(super) fn is_blank(text: &[u8]) -> bool {
    trim(text).is_empty()
}

/// Where a value that is not quoted ends: at the separator or a line end. Short values are looked
/// through by words of eight bytes.
#[inline]
fn plain_end(text: &[u8], separator: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    while at < 16 {
        let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let word = u64::from_le_bytes(*chunk);
        let found = zero_bytes(word ^ (ONES * u64::from(separator)))
            | zero_bytes(word ^ (ONES * u64::from(b'\n')))
            | zero_bytes(word ^ (ONES * u64::from(b'\r')));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr3(separator, b'\n', b'\r', text.get(at..)?).map(|found| at + found)
}

/// The high bit of each byte that is zero; bits above the lowest may be wrong.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}
