//! Places in the SQL text.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A range of bytes of the script, `start` inclusive, `end` exclusive.
///
/// All spans are equal to each other and hash alike, so that the derived equality of syntax nodes
/// compares what was written and not where. Use [`Span::is_same_place`] to compare places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to, not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn cover(self, other: Span) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether both spans are the same range of bytes.
    pub fn is_same_place(self, other: Span) -> bool {
        self.start == other.start && self.end == other.end
    }

    /// The text of the span in `source`; empty when the span does not belong to that text.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }

    /// Line and column where the span starts in `source`.
    pub fn position(self, source: &str) -> Position {
        Position::of(source, self.start)
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Span {}

impl Hash for Span {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A place as people read it: line and column, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of the byte `offset` of `source`; an offset behind the end means the end.
    pub fn of(source: &str, offset: usize) -> Self {
        let mut end = offset.min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let before = &source[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = "a\nπx y";
        let at = |offset| Position::of(source, offset);
        assert_eq!(at(0), Position { line: 1, column: 1 });
        assert_eq!(at(2), Position { line: 2, column: 1 });
        assert_eq!(at(3), at(2), "inside a character means its start");
        assert_eq!(at(6), Position { line: 2, column: 4 });
        assert_eq!(at(99), Position { line: 2, column: 5 });
    }

    #[test]
    fn spans_cover() {
        let span = Span::new(4, 6).cover(Span::new(1, 2));
        assert!(span.is_same_place(Span::new(1, 6)));
        assert_eq!(Span::new(0, 3).text("abcdef"), "abc");
        assert_eq!(Span::new(0, 9).text("abcdef"), "");
    }
}
