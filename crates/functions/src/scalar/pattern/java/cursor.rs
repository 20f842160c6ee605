//! Going through a pattern: its characters, quotes, comments and flags.

use super::PatternError;
use super::ast::Terminators;
use super::class::CharSet;
use super::parser::Parser;
use super::property;

/// A character of the pattern.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    c: char,
    /// It stands for itself: it was between `\Q` and `\E`.
    quoted: bool,
}

/// The flags in force.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    /// `i`
    pub insensitive: bool,
    /// `m`
    pub multiline: bool,
    /// `s`
    pub dot_all: bool,
    /// `d`
    pub unix_lines: bool,
    /// `u`, or implied by `U`.
    pub unicode_case: bool,
    /// `U`
    pub unicode_class: bool,
    /// `x`
    pub comments: bool,
}

impl Flags {
    /// A set with what the flags make equal to its members.
    pub fn fold(&self, set: CharSet) -> CharSet {
        match (self.insensitive, self.unicode_case) {
            (false, _) => set,
            (true, false) => set.fold_ascii(),
            (true, true) => set.fold_unicode(),
        }
    }

    /// What ends a line.
    pub fn terminators(&self) -> Terminators {
        if self.unix_lines { Terminators::Unix } else { Terminators::All }
    }
}

impl Parser {
    /// The error for a pattern that Java refuses.
    pub(super) fn invalid(&self, reason: &str) -> PatternError {
        PatternError::Invalid(format!("{reason} near index {}", self.at))
    }

    /// The next unit as it stands.
    pub(super) fn raw(&self, ahead: usize) -> Option<char> {
        self.units.get(self.at + ahead).map(|unit| unit.c)
    }

    /// The next character that means something: with flag `x`, behind white space and comments.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_comments();
        self.raw(0)
    }

    /// Whether the next character is this one, with its special meaning; then it is taken.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c) && !self.is_quoted();
        self.at += usize::from(found);
        found
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    /// Takes the next unit as it stands.
    pub(super) fn next_raw(&mut self) -> Option<char> {
        let c = self.raw(0);
        self.at += usize::from(c.is_some());
        c
    }

    /// Goes over so many units.
    pub(super) fn skip(&mut self, units: usize) {
        self.at += units;
    }

    /// Goes back by so many units.
    pub(super) fn back(&mut self, units: usize) {
        self.at = self.at.saturating_sub(units);
    }

    /// Whether the next unit stands for itself.
    pub(super) fn is_quoted(&self) -> bool {
        self.units.get(self.at).is_some_and(|unit| unit.quoted)
    }

    /// With flag `x`, goes over white space and comments.
    pub(super) fn skip_comments(&mut self) {
        while self.flags.comments && !self.is_quoted() {
            match self.raw(0) {
                Some('\t'..='\r' | ' ') => self.at += 1,
                Some('#') => {
                    let ends = property::terminators(self.flags.unix_lines);
                    while self.raw(0).is_some_and(|c| !ends.contains(c)) {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }
}

/// The characters of a pattern, those between `\Q` and `\E` marked.
pub(super) fn unquote(pattern: &str) -> Vec<Unit> {
    let mut units = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix("\\Q") {
            let (text, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            units.extend(text.chars().map(|c| Unit { c, quoted: true }));
            rest = after;
            continue;
        }
        let length = if c == '\\' {
            1 + rest[1..].chars().next().map_or(0, char::len_utf8)
        } else {
            c.len_utf8()
        };
        units.extend(rest[..length].chars().map(|c| Unit { c, quoted: false }));
        rest = &rest[length..];
    }
    units
}
