//! What can be wrong with a JSON text.

use std::fmt;

/// A text that is not JSON: what is wrong, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong.
    pub problem: Problem,
    /// The byte at which it was seen.
    pub at: usize,
}

/// What is wrong with a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no value in it.
    #[error("there is no content")]
    Empty,
    /// It ends within a value.
    #[error("unexpected end of input")]
    End,
    /// A character that cannot stand there.
    #[error("unexpected character")]
    Character,
    /// A word that is none of `true`, `false` and `null`.
    #[error("unrecognized token")]
    Token,
    /// A control character within quotes that is not escaped.
    #[error("illegal unquoted character")]
    Control,
    /// A backslash with something behind it that makes no escape sequence.
    #[error("unrecognized character escape")]
    Escape,
    /// A number like `007`.
    #[error("leading zeroes are not allowed")]
    LeadingZero,
    /// A number of more than 1000 digits.
    #[error("number longer than 1000 digits")]
    LongNumber,
    /// An exponent beyond 32 bits.
    #[error("exponent out of range")]
    Exponent,
    /// A name of more than 50000 characters.
    #[error("name longer than 50000 characters")]
    LongName,
    /// More than 1000 arrays and objects within each other.
    #[error("nested more than 1000 levels deep")]
    Depth,
    /// A number at the top with something other than white space behind it.
    #[error("expected space behind the number")]
    Separator,
}

impl Malformed {
    /// What is wrong, in words and with its place in `text`.
    pub fn describe(self, text: &str) -> impl fmt::Display {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let found = match (self.problem, text.get(self.at..).and_then(|rest| rest.chars().next())) {
            (Problem::Character | Problem::Separator, Some(found)) => format!(" {found:?}"),
            _ => String::new(),
        };
        format!("{}{found} at line {line}, column {column}", self.problem)
    }
}
