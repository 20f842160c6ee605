//! Table functions: a row of arguments gives any number of rows.
//!
//! `FROM UNNEST(…)` and `LATERAL TABLE(f(…))` call them; plans call those that no query can name.

mod replicate;
mod unnest;

use arrow::array::ArrayRef;
use flott_types::{DataType, RowField};

use crate::{CallArgs, EvalError, FunctionDoc, SignatureError};

/// A table function; one entry in [`TABLE_FUNCTIONS`].
pub struct TableFunction {
    /// The SQL name in upper case; `$` begins those that only plans call.
    pub name: &'static str,
    /// The type rule: which types the arguments are cast to, and the columns given.
    pub resolve: fn(&CallArgs) -> Result<ResolvedTable, SignatureError>,
    /// Makes the kernel for arguments that have the types `resolve` asked for.
    pub compile: fn(&CallArgs) -> Result<Box<dyn TableKernel>, SignatureError>,
    /// For the reference page.
    pub doc: FunctionDoc,
}

/// The answer of a table function's type rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedTable {
    /// The types that the arguments are cast to implicitly, one for each.
    pub parameters: Vec<DataType>,
    /// The columns of the rows given.
    pub columns: Vec<RowField>,
    /// Sets of these columns that tell the rows of one call apart.
    pub keys: Vec<Vec<usize>>,
}

/// A compiled call of a table function.
pub trait TableKernel: Send + Sync {
    /// Looks at the arguments of `rows` rows.
    fn evaluate(&self, args: &[ArrayRef], rows: usize) -> Result<Box<dyn TableRows>, EvalError>;
}

/// What a table function gives for a batch of rows. The rows given are made only when they are asked
/// for, so that a row that gives very many does not fill the memory.
pub trait TableRows {
    /// How many rows an input row gives.
    fn count(&self, row: usize) -> usize;

    /// The columns of some of the rows given: of an input row its n-th, or a row of NULLs.
    fn gather(&self, picks: &[Pick]) -> Result<Vec<ArrayRef>, EvalError>;
}

/// One row that a table function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// The input row.
    pub row: u32,
    /// Which of its rows, from 0; `None` for a row of NULLs.
    pub nth: Option<u32>,
}

/// All table functions.
pub const TABLE_FUNCTIONS: &[TableFunction] = &[unnest::FUNCTION, replicate::FUNCTION];

/// The table function of this name, in any case.
pub fn table_function(name: &str) -> Option<&'static TableFunction> {
    TABLE_FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// The word in [`CallArgs::symbols`] by which [`table_function`]`("$UNNEST")` adds a column with the
/// position of the element, from 1.
pub const WITH_ORDINALITY: &str = "ORDINALITY";
