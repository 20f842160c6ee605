//! Conditions that a source decides before it reads: on values which all rows of a split share.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flott_types::Value;

use super::{ConnectorError, ScanColumn};

/// A condition over columns that have one value in all rows of a split, such as partition columns: a
/// split for which it is not TRUE need not be read.
#[derive(Clone)]
pub struct SplitFilter {
    /// The columns it looks at.
    pub columns: Vec<ScanColumn>,
    text: Arc<str>,
    predicate: Arc<SplitPredicate>,
}

/// Whether a split with these values of the columns is read.
pub type SplitPredicate = dyn Fn(&[Value]) -> Result<bool, ConnectorError> + Send + Sync;

impl SplitFilter {
    /// A condition whose `text` says all of it: two conditions of one text are the same.
    pub fn new(
        columns: Vec<ScanColumn>,
        text: impl Into<Arc<str>>,
        predicate: Arc<SplitPredicate>,
    ) -> Self {
        Self { columns, text: text.into(), predicate }
    }

    /// Whether a split whose `columns` have these values is read.
    pub fn keeps(&self, values: &[Value]) -> Result<bool, ConnectorError> {
        (self.predicate)(values)
    }
}

impl fmt::Display for SplitFilter {
    /// The condition as EXPLAIN shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for SplitFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SplitFilter({} over {:?})", self.text, self.columns)
    }
}

impl PartialEq for SplitFilter {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns && self.text == other.text
    }
}

impl Eq for SplitFilter {}

impl Hash for SplitFilter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.columns.hash(state);
        self.text.hash(state);
    }
}
