//! Conditions of filters.

use super::operand::Operand;
use super::token::Path;

/// What a filter asks of a value.
#[derive(Debug)]
pub(super) enum Condition {
    /// `a || b`
    Any(Vec<Condition>),
    /// `a && b`
    All(Vec<Condition>),
    /// `!(a)`
    Not(Box<Condition>),
    /// `@.a` or `!@.a`: whether the path leads to something.
    Exists { path: Path, wanted: bool },
    /// `@.a > 1`
    Relation(Operand, Operator, Operand),
}

/// The operators between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    SameTypeEqual,
    NotEqual,
    SameTypeNotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    In,
    NotIn,
    Contains,
    ContainsAll,
    Size,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
    /// One that the library knows but that no text can give operands to; it is never fulfilled.
    Unusable,
}

impl Operator {
    /// The operator that is written so, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_uppercase().as_str() {
            "==" => Self::Equal,
            "===" => Self::SameTypeEqual,
            "!=" => Self::NotEqual,
            "!==" => Self::SameTypeNotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "=~" => Self::Matches,
            "IN" => Self::In,
            "NIN" => Self::NotIn,
            "CONTAINS" => Self::Contains,
            "ALL" => Self::ContainsAll,
            "SIZE" => Self::Size,
            "EMPTY" => Self::Empty,
            "SUBSETOF" => Self::SubsetOf,
            "ANYOF" => Self::AnyOf,
            "NONEOF" => Self::NoneOf,
            "EXISTS" | "TYPE" | "MATCHES" => Self::Unusable,
            _ => return None,
        })
    }
}
