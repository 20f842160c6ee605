//! The outer object of a message: where its fields are.

use crate::error::FormatError;
use crate::json::Trouble;
use crate::json::lexer::Lexer;
use crate::json::shape::Fields;

/// Where the values of known fields of an object start.
#[derive(Debug)]
pub(super) struct Envelope {
    names: Vec<&'static str>,
    starts: Vec<Option<usize>>,
    key: Vec<u8>,
}

impl Envelope {
    /// Fields of these names are looked for; one name may stand twice.
    pub(super) fn new(names: Vec<&'static str>) -> Self {
        Self { starts: vec![None; names.len()], names, key: Vec::new() }
    }

    /// Looks through the object at the lexer, the whole of which must be sound. Of repeated keys
    /// the last counts.
    pub(super) fn read(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Trouble> {
        self.starts.fill(None);
        if !lexer.eat(b'{') {
            return Err(Trouble::shape(lexer.peek(), "an object"));
        }
        if lexer.eat(b'}') {
            return Ok(());
        }
        loop {
            lexer.peek();
            let key = lexer.string()?;
            lexer.colon()?;
            lexer.peek();
            let start = lexer.at;
            lexer.skip_value()?;
            self.key.clear();
            key.unescape(&mut self.key);
            for (at, name) in self.names.iter().enumerate() {
                if name.as_bytes() == self.key {
                    self.starts[at] = Some(start);
                }
            }
            if !lexer.eat(b',') {
                break;
            }
        }
        if lexer.eat(b'}') {
            Ok(())
        } else {
            Ok(lexer.error("a comma or a closing brace is missing")?)
        }
    }

    /// Where the field at `index` of the names starts; `None` when it is missing or `null`.
    pub(super) fn value(&self, bytes: &[u8], index: usize) -> Option<usize> {
        self.starts[index].filter(|start| bytes[*start] != b'n')
    }

    /// Where the field starts, `null` included.
    pub(super) fn start(&self, index: usize) -> Option<usize> {
        self.starts[index]
    }
}

/// The text of a value as Flink reads it into a STRING that names an operation or a table. Other
/// values than strings and numbers do as their own text.
pub(super) fn text_at(bytes: &[u8], start: usize) -> Result<String, FormatError> {
    let mut lexer = Lexer { bytes, at: start };
    let mut text = Vec::new();
    let result = match lexer.peek() {
        b'"' => lexer.string().map(|string| string.unescape(&mut text)),
        _ => lexer.skip_value().map(|raw| text.extend_from_slice(raw)),
    };
    match result {
        Ok(()) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Err(error) => Err(Trouble::Syntax(error).into_error()),
    }
}

/// An array's elements, each by its start; `None` when the value is no array.
pub(super) fn elements(bytes: &[u8], start: usize) -> Result<Option<Vec<usize>>, Trouble> {
    let mut lexer = Lexer { bytes, at: start };
    if !lexer.eat(b'[') {
        return Ok(None);
    }
    let mut starts = Vec::new();
    while !lexer.eat(b']') {
        lexer.eat(b',');
        lexer.peek();
        starts.push(lexer.at);
        lexer.skip_value()?;
    }
    Ok(Some(starts))
}

/// Notes for each field whether its name is a key anywhere inside of the value at `start`.
pub(super) fn mark_keys(
    bytes: &[u8],
    start: usize,
    fields: &Fields,
    marks: &mut Vec<bool>,
) -> Result<(), Trouble> {
    marks.clear();
    marks.resize(fields.len(), false);
    mark(&mut Lexer { bytes, at: start }, fields, marks)
}

/// Depth is bounded, as the whole message has been skipped over before.
fn mark(lexer: &mut Lexer<'_>, fields: &Fields, marks: &mut [bool]) -> Result<(), Trouble> {
    match lexer.peek() {
        b'{' => {
            lexer.at += 1;
            let mut key = Vec::new();
            while !lexer.eat(b'}') {
                lexer.eat(b',');
                lexer.peek();
                key.clear();
                lexer.string()?.unescape(&mut key);
                lexer.colon()?;
                if let Some(at) = fields.find(&key) {
                    marks[at] = true;
                }
                mark(lexer, fields, marks)?;
            }
        }
        b'[' => {
            lexer.at += 1;
            while !lexer.eat(b']') {
                lexer.eat(b',');
                mark(lexer, fields, marks)?;
            }
        }
        _ => {
            lexer.skip_value()?;
        }
    }
    Ok(())
}
