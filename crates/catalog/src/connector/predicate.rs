//! Conditions that a source hands on to what holds the rows, such as a database.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flott_types::{DataType, Value};

/// A condition on the physical columns of a table, in terms that a data store has words for.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// `column op value`; the value is never NULL.
    Compare {
        /// The column's position in the table.
        column: usize,
        /// How they are compared.
        op: Comparison,
        /// What the column is compared with.
        value: Value,
        /// The value's type.
        data_type: DataType,
    },
    /// `column IS NULL`, or `IS NOT NULL`.
    IsNull {
        /// The column's position in the table.
        column: usize,
        /// Whether it must not be NULL.
        negated: bool,
    },
    /// `column LIKE pattern` without an escape character.
    Like {
        /// The column's position in the table.
        column: usize,
        /// The pattern.
        pattern: Arc<str>,
    },
    /// All of them hold.
    And(Vec<Predicate>),
    /// One of them holds.
    Or(Vec<Predicate>),
}

/// The comparisons of [`Predicate::Compare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The operator of SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// The comparison of this operator of SQL.
    pub fn of(sql: &str) -> Option<Self> {
        [
            Self::Equal,
            Self::NotEqual,
            Self::Less,
            Self::LessOrEqual,
            Self::Greater,
            Self::GreaterOrEqual,
        ]
        .into_iter()
        .find(|op| op.sql() == sql)
    }

    /// The comparison with its sides changed over.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

/// What a source can do with a [`Predicate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredicateSupport {
    /// Nothing.
    None,
    /// It leaves out rows for which the predicate does not hold, but perhaps not all of them: it is
    /// evaluated again on what comes.
    Narrows,
    /// It gives exactly the rows for which the predicate holds.
    Decides,
}

/// A predicate that a scan was given, with the text by which EXPLAIN shows it.
#[derive(Debug, Clone)]
pub struct PushedPredicate {
    /// The condition.
    pub predicate: Predicate,
    /// All of it as text: two predicates of one text are the same.
    pub text: Arc<str>,
}

impl fmt::Display for PushedPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for PushedPredicate {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PushedPredicate {}

impl Hash for PushedPredicate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}
