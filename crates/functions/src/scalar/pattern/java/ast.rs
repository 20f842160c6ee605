//! What a Java pattern means, with flags worked into every node.

use super::class::CharSet;

/// A pattern or a part of one.
#[derive(Debug, Clone)]
pub enum Node {
    /// The empty string.
    Empty,
    /// One given character.
    Literal(char),
    /// One character of a set.
    Set(CharSet),
    /// One after the other.
    Sequence(Vec<Node>),
    /// The first that lets the whole match.
    Choice(Vec<Node>),
    /// A part repeated.
    Repeat {
        /// The part.
        node: Box<Node>,
        /// The least number of times.
        min: u32,
        /// The most, if there is one.
        max: Option<u32>,
        /// How many are tried first.
        greed: Greed,
    },
    /// A capturing group; groups are numbered by the order of their opening parentheses.
    Group(Box<Node>),
    /// A part that is not tried again once it matched.
    Atomic(Box<Node>),
    /// A part that must, or must not, match ahead or behind.
    Look {
        /// Behind instead of ahead.
        behind: bool,
        /// Must not match.
        negative: bool,
        /// The part.
        node: Box<Node>,
    },
    /// What a group matched.
    Backreference {
        /// Its number.
        group: u32,
        /// Without regard to case.
        insensitive: bool,
    },
    /// A condition on the place.
    Assert(Assertion),
}

/// How a repetition proceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greed {
    /// As often as possible first.
    Greedy,
    /// As seldom as possible first.
    Lazy,
    /// As often as possible, and never less.
    Possessive,
}

/// A condition on a place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assertion {
    /// `\A`, `^`: the start of the text.
    TextStart,
    /// `\z`: the end of the text.
    TextEnd,
    /// `\Z`, `$`: the end, or before a line terminator that is last.
    LastLineEnd(Terminators),
    /// `^` with flag `m`: behind a line terminator or at the start, but never at the end.
    LineStart(Terminators),
    /// `$` with flag `m`: before a line terminator or at the end.
    LineEnd(Terminators),
    /// `\b`
    WordBoundary,
    /// `\B`
    NotWordBoundary,
    /// `\G`: where the last match ended.
    LastMatchEnd,
}

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminators {
    /// `\n`, `\r`, `\r\n`, `U+0085`, `U+2028`, `U+2029`.
    All,
    /// `\n` alone: flag `d`.
    Unix,
}

impl Node {
    /// Whether it matches without taking a character, whatever the text.
    pub fn is_zero_width(&self) -> bool {
        matches!(self, Self::Empty | Self::Assert(_) | Self::Look { .. })
    }

    /// Whether some node holds.
    pub fn any(&self, holds: &impl Fn(&Node) -> bool) -> bool {
        holds(self)
            || match self {
                Self::Sequence(nodes) | Self::Choice(nodes) => {
                    nodes.iter().any(|node| node.any(holds))
                }
                Self::Repeat { node, .. }
                | Self::Group(node)
                | Self::Atomic(node)
                | Self::Look { node, .. } => node.any(holds),
                _ => false,
            }
    }
}
