//! A place in a JSON text that moves on value by value.

use super::{Malformed, NumberText, Problem, StringText};

/// How deep arrays and objects may lie within each other: Jackson's limit.
const MAX_DEPTH: usize = 1000;

/// How long a name may be, in UTF-16 units: Jackson's limit.
const MAX_NAME: usize = 50_000;

/// What a value is, as its first character tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`, `true` or `false`.
    Word,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A place in a JSON text.
///
/// What Jackson accepts is accepted: the first value counts and whatever follows it is not read, except
/// that white space must follow a number at the top. Reading a value reads all of it, so that a text
/// with an error anywhere in its first value is refused wherever the wanted part stands.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// The start of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Where the cursor stands, in bytes.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The text from an earlier position to here.
    pub fn text_since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// What the next value is; the cursor moves to its first character.
    pub fn kind(&mut self) -> Result<Kind, Malformed> {
        self.skip_space();
        match self.byte() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(byte) if byte.is_ascii_alphabetic() => Ok(Kind::Word),
            Some(_) => Err(self.problem(Problem::Character)),
            None if self.depth == 0 => Err(self.problem(Problem::Empty)),
            None => Err(self.problem(Problem::End)),
        }
    }

    /// Reads `null` as `None`, `true` and `false`.
    pub fn word(&mut self) -> Result<Option<bool>, Malformed> {
        let rest = &self.text[self.at..];
        let (word, value) = match self.byte() {
            Some(b't') => ("true", Some(true)),
            Some(b'f') => ("false", Some(false)),
            _ => ("null", None),
        };
        let continues = |rest: &str| rest.chars().next().is_some_and(is_identifier_part);
        match rest.strip_prefix(word) {
            Some(rest) if !continues(rest) => {
                self.at += word.len();
                Ok(value)
            }
            _ => Err(self.problem(Problem::Token)),
        }
    }

    /// Reads a number.
    pub fn number(&mut self) -> Result<NumberText<'a>, Malformed> {
        let (number, length) = NumberText::read(&self.text[self.at..])
            .map_err(|(problem, offset)| Malformed { problem, at: self.at + offset })?;
        self.at += length;
        if self.depth == 0 && !matches!(self.byte(), None | Some(b' ' | b'\t' | b'\n' | b'\r')) {
            return Err(self.problem(Problem::Separator));
        }
        Ok(number)
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<StringText<'a>, Malformed> {
        let start = self.at + 1;
        let (string, length) = StringText::read(&self.text[start..])
            .map_err(|(problem, offset)| Malformed { problem, at: start + offset })?;
        self.at = start + length + 1;
        Ok(string)
    }

    /// Goes into the array or object whose first character the cursor stands at.
    pub fn enter(&mut self) -> Result<(), Malformed> {
        if self.depth == MAX_DEPTH {
            return Err(self.problem(Problem::Depth));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Moves to the next element of an array that was entered, to the `first` one or to the one behind
    /// the element just read; false at the end of the array, which the cursor then leaves.
    pub fn element(&mut self, first: bool) -> Result<bool, Malformed> {
        Ok(!self.leaves(b']', first)?)
    }

    /// Moves to the next member of an object that was entered and reads its name, so that its value is
    /// next; `None` at the end of the object, which the cursor then leaves.
    pub fn member(&mut self, first: bool) -> Result<Option<StringText<'a>>, Malformed> {
        if self.leaves(b'}', first)? {
            return Ok(None);
        }
        self.skip_space();
        self.expect(b'"')?;
        self.at -= 1;
        let name = self.string()?;
        if name.is_longer_than(MAX_NAME) {
            return Err(self.problem(Problem::LongName));
        }
        self.skip_space();
        self.expect(b':')?;
        Ok(Some(name))
    }

    /// Whether an array or object ends here, and past its end or past the comma before what is next.
    fn leaves(&mut self, close: u8, first: bool) -> Result<bool, Malformed> {
        self.skip_space();
        match self.byte() {
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth -= 1;
                Ok(true)
            }
            Some(b',') if !first => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if first => Ok(false),
            Some(_) => Err(self.problem(Problem::Character)),
            None => Err(self.problem(Problem::End)),
        }
    }

    /// Reads the next value and forgets it.
    pub fn skip(&mut self) -> Result<(), Malformed> {
        let mut inside = Nesting::default();
        loop {
            match self.kind()? {
                Kind::Word => drop(self.word()?),
                Kind::Number => drop(self.number()?),
                Kind::String => drop(self.string()?),
                Kind::Array => {
                    self.enter()?;
                    if self.element(true)? {
                        inside.push(Kind::Array);
                        continue;
                    }
                }
                Kind::Object => {
                    self.enter()?;
                    if self.member(true)?.is_some() {
                        inside.push(Kind::Object);
                        continue;
                    }
                }
            }
            loop {
                let more = match inside.top() {
                    None => return Ok(()),
                    Some(Kind::Array) => self.element(false)?,
                    Some(_) => self.member(false)?.is_some(),
                };
                if more {
                    break;
                }
                inside.pop();
            }
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        match self.byte() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.problem(Problem::Character)),
            None => Err(self.problem(Problem::End)),
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn problem(&self, problem: Problem) -> Malformed {
        Malformed { problem, at: self.at }
    }
}

/// Whether Java takes a character as part of the identifier that a misspelt word may be.
fn is_identifier_part(c: char) -> bool {
    match c {
        '\0'..='/' => false,
        '_' => true,
        '¢'..='¥' | '\u{20a0}'..='\u{20cf}' => true,
        _ => c.is_alphanumeric(),
    }
}

/// The arrays and objects around a value, one bit each.
#[derive(Default)]
struct Nesting {
    objects: [u64; MAX_DEPTH / 64 + 1],
    depth: usize,
}

impl Nesting {
    fn push(&mut self, kind: Kind) {
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        match kind {
            Kind::Object => self.objects[word] |= bit,
            _ => self.objects[word] &= !bit,
        }
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn top(&self) -> Option<Kind> {
        let last = self.depth.checked_sub(1)?;
        let is_object = self.objects[last / 64] >> (last % 64) & 1 == 1;
        Some(if is_object { Kind::Object } else { Kind::Array })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(text: &str) -> Result<usize, Problem> {
        let mut cursor = Cursor::new(text);
        cursor.skip().map(|()| cursor.position()).map_err(|malformed| malformed.problem)
    }

    #[test]
    fn the_first_value_counts() {
        for (text, end) in [
            (" 1 2", 2),
            ("true]", 4),
            ("null:", 4),
            ("\"a\"x", 3),
            ("{\"a\":[1,{}]}}", 12),
            ("[]x", 2),
            ("[ 1 , \"\\u00e9\" , -1.5e+3 ] ", 26),
        ] {
            assert_eq!(skips(text), Ok(end), "{text}");
        }
    }

    #[test]
    fn jacksons_errors_are_errors() {
        use Problem::*;
        for (text, problem) in [
            ("", Empty),
            (" \t", Empty),
            ("1a", Separator),
            ("1]", Separator),
            ("true1", Token),
            ("tru", Token),
            ("NaN", Token),
            ("é", Character),
            ("\u{feff}1", Character),
            ("01", LeadingZero),
            ("-", End),
            ("1.", End),
            ("1.x", Character),
            ("+1", Character),
            ("1e2147483648", Exponent),
            ("1e-2147483648", Exponent),
            ("\"\\x\"", Escape),
            ("\"\t\"", Control),
            ("\"a", End),
            ("\"\\u12", End),
            ("{\"a\":1,}", Character),
            ("[1,]", Character),
            ("[,1]", Character),
            ("[1 2]", Character),
            ("{\"a\" 1}", Character),
            ("{a:1}", Character),
            ("{'a':1}", Character),
            ("{\"a\":1", End),
        ] {
            assert_eq!(skips(text), Err(problem), "{text}");
        }
    }

    #[test]
    fn limits_hold() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(skips(&nested(1000)), Ok(2000));
        assert_eq!(skips(&nested(1001)), Err(Problem::Depth));
        assert_eq!(skips(&"1".repeat(1000)), Ok(1000));
        assert_eq!(skips(&"1".repeat(1001)), Err(Problem::LongNumber));
        let named = |length: usize| format!("{{\"{}\":1}}", "n".repeat(length));
        assert!(skips(&named(50_000)).is_ok());
        assert_eq!(skips(&named(50_001)), Err(Problem::LongName));
    }
}
