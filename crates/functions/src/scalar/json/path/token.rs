//! Compiled paths.

use super::condition::Condition;
use super::function::Function;

/// A path that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON path")]
pub struct InvalidPath;

/// A compiled path.
#[derive(Debug)]
pub struct Path {
    /// Whether it starts with `$`, the document, and not with `@`, the value under test.
    pub(super) from_document: bool,
    /// Its parts, in order.
    pub(super) tokens: Vec<Token>,
}

/// A part of a path.
#[derive(Debug)]
pub(super) enum Token {
    /// `.a`, `['a']` or `['a','b']`: at least one name.
    Names(Vec<String>),
    /// `[0]` or `[0,-1]`: at least one index; negative ones count from the end.
    Indexes(Vec<i32>),
    /// `[1:3]`, either end of which may be missing, but not both.
    Slice(Option<i32>, Option<i32>),
    /// `*`
    Wildcard,
    /// `..`; the last one only before a function.
    Scan,
    /// `[?(…)]`
    Filter(Condition),
    /// `.length()`
    Function(Function),
}

impl Path {
    /// Whether it leads to one value at most; the others give an array of what they find.
    pub(super) fn is_definite(&self) -> bool {
        (0..self.tokens.len()).all(|token| self.is_token_definite(token))
    }

    /// Whether all parts before a part lead to one value at most.
    pub(super) fn is_definite_before(&self, token: usize) -> bool {
        (0..token).all(|token| self.is_token_definite(token))
    }

    fn is_token_definite(&self, token: usize) -> bool {
        match &self.tokens[token] {
            // Several names at the end give one object.
            Token::Names(names) => names.len() == 1 || self.is_last(token),
            Token::Indexes(indexes) => indexes.len() == 1,
            Token::Function(_) => true,
            Token::Slice(..) | Token::Wildcard | Token::Scan | Token::Filter(_) => false,
        }
    }

    /// Whether a part is the last one.
    pub(super) fn is_last(&self, token: usize) -> bool {
        token + 1 == self.tokens.len()
    }

    /// Whether it ends with a function.
    pub(super) fn is_function(&self) -> bool {
        matches!(self.tokens.last(), Some(Token::Function(_)))
    }
}
