//! A place in the text of a path or filter.

use super::compile::Refusal;

/// A text that is read from left to right with a look at what comes; blanks are spaces only.
///
/// All characters with a meaning are ASCII, so that positions count bytes.
#[derive(Debug, Clone)]
pub(super) struct Chars<'p> {
    text: &'p str,
    position: usize,
    /// Behind the last byte that counts.
    end: usize,
}

impl<'p> Chars<'p> {
    /// A text without the blanks round it.
    pub fn trimmed(text: &'p str) -> Self {
        let mut chars = Self { text, position: 0, end: text.len() };
        chars.trim();
        chars
    }

    /// Leaves blanks round what is left out of account; a last blank stays.
    pub fn trim(&mut self) {
        self.skip_blanks();
        while self.position + 1 < self.end && self.text.as_bytes()[self.end - 1] == b' ' {
            self.end -= 1;
        }
    }

    /// Moves over blanks, but not over the last byte.
    pub fn skip_blanks(&mut self) {
        while self.position + 1 < self.end && self.text.as_bytes()[self.position] == b' ' {
            self.position += 1;
        }
    }

    /// Where it stands.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes somewhere.
    pub fn go(&mut self, position: usize) {
        self.position = position;
    }

    /// Goes on by some bytes.
    pub fn advance(&mut self, bytes: usize) {
        self.position += bytes;
    }

    /// Behind the last byte that counts.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Whether there is a byte at a place.
    pub fn has(&self, place: usize) -> bool {
        place < self.end
    }

    /// Whether there is a byte to read.
    pub fn in_bounds(&self) -> bool {
        self.has(self.position)
    }

    /// Whether nothing but the byte at hand is left, or not even that.
    pub fn at_tail(&self) -> bool {
        self.position + 1 >= self.end
    }

    /// The byte at a place, be it one that was trimmed.
    pub fn at(&self, place: usize) -> Result<u8, Refusal> {
        self.text.as_bytes().get(place).copied().ok_or(Refusal::Fatal)
    }

    /// The byte at hand.
    pub fn current(&self) -> Result<u8, Refusal> {
        self.at(self.position)
    }

    /// Whether the byte at hand is this one; false at the end.
    pub fn is(&self, byte: u8) -> bool {
        self.text.as_bytes().get(self.position) == Some(&byte)
    }

    /// The last byte that counts.
    pub fn last(&self) -> Option<u8> {
        self.text.as_bytes().get(self.end.checked_sub(1)?).copied()
    }

    /// The text between two places.
    pub fn slice(&self, start: usize, end: usize) -> Result<&'p str, Refusal> {
        self.text.get(start..end).ok_or(Refusal::Fatal)
    }

    /// The first byte behind a place that is no blank, with its place.
    pub fn significant_after(&self, place: usize) -> Option<(usize, u8)> {
        let place = (place + 1..self.end).find(|at| self.text.as_bytes()[*at] != b' ')?;
        Some((place, self.text.as_bytes()[place]))
    }

    /// The place of the first byte behind a place that is no blank, if it is this byte.
    pub fn significant_is(&self, place: usize, byte: u8) -> Option<usize> {
        self.significant_after(place).filter(|(_, found)| *found == byte).map(|(at, _)| at)
    }

    /// The last byte before a place that is no blank, with its place.
    pub fn significant_before(&self, place: usize) -> Option<(usize, u8)> {
        let place = (0..place).rev().find(|at| self.text.as_bytes()[*at] != b' ')?;
        Some((place, self.text.as_bytes()[place]))
    }

    /// The next place of a byte, from a place on.
    pub fn find(&self, from: usize, byte: u8) -> Option<usize> {
        (from..self.end).find(|at| self.text.as_bytes()[*at] == byte)
    }

    /// The next place of a byte behind a place, unless a backslash stands before it.
    pub fn find_unescaped(&self, behind: usize, byte: u8) -> Option<usize> {
        let mut escaped = false;
        (behind + 1..self.end).find(|at| {
            let found = self.text.as_bytes()[*at];
            let hit = !escaped && found == byte;
            escaped = !escaped && found == b'\\';
            hit
        })
    }

    /// Where the bracket that opens at a place is closed. Brackets within quotes do not count, and those
    /// within the slashes of a pattern do not with `skip_patterns`.
    pub fn closing(
        &self,
        open_at: usize,
        (open, close): (u8, u8),
        skip_patterns: bool,
    ) -> Result<Option<usize>, Refusal> {
        let mut opened = 1;
        let mut at = open_at + 1;
        while self.has(at) {
            let quote = self.at(at)?;
            if matches!(quote, b'\'' | b'"') {
                at = self.find_unescaped(at, quote).ok_or(Refusal::Invalid)? + 1;
            }
            if skip_patterns && self.at(at)? == b'/' {
                at = self.find_unescaped(at, b'/').ok_or(Refusal::Invalid)? + 1;
            }
            match self.at(at)? {
                byte if byte == open => opened += 1,
                byte if byte == close => opened -= 1,
                _ => {}
            }
            if opened == 0 {
                return Ok(Some(at));
            }
            at += 1;
        }
        Ok(None)
    }
}
