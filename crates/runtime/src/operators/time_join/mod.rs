//! Joins bounded by time: interval joins, window joins, and joins with versions of a table.
//!
//! All three keep rows by key and give each row out once, as an insertion or with the kind of its left
//! row. They share how rows are kept ([`rows::SideRows`]) and how pairs become batches
//! ([`pairs::Pairs`]): an operator writes down what happens, row by row, and the residual condition
//! is computed for all pairs of a batch at once, whatever watermarks stand between them.

mod interval;
mod pairs;
mod rows;
mod temporal;
#[cfg(test)]
mod tests;
mod timers;
mod window;

pub use interval::IntervalJoinOperator;
pub use temporal::TemporalJoinOperator;
pub use window::WindowJoinOperator;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::{and, is_not_null};

use crate::Result;

/// The left input.
const LEFT: usize = 0;
/// The right input.
const RIGHT: usize = 1;

/// Which rows can match by their key: those without NULL but where NULL equals NULL; `None`: all.
pub(super) fn matchable(keys: &[ArrayRef], null_safe: &[bool]) -> Result<Option<BooleanArray>> {
    let mut all: Option<BooleanArray> = None;
    for (key, null_safe) in keys.iter().zip(null_safe) {
        if *null_safe || key.null_count() == 0 {
            continue;
        }
        let valid = is_not_null(key)?;
        all = Some(match all {
            None => valid,
            Some(so_far) => and(&so_far, &valid)?,
        });
    }
    Ok(all)
}
