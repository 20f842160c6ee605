//! The condition that pairs of rows of a join meet beside the equality of their keys.

use arrow::array::{ArrayRef, BooleanArray};
use flott_functions::{EvalContext, Evaluator, Expr, RecordTimes, SessionSettings};

use crate::{Result, RuntimeError};

/// A condition over the columns of two inputs, the left one's first. It asks for the columns that it
/// reads and no others: making columns of kept rows is most of what a join does.
pub(super) struct PairCondition {
    condition: Evaluator,
    left: Vec<usize>,
    right: Vec<usize>,
}

impl PairCondition {
    /// Compiles a condition; the left input has `left_width` columns.
    pub fn new(condition: &Expr, left_width: usize, settings: &SessionSettings) -> Result<Self> {
        let columns = condition.columns();
        let (left, right) = columns.split_at(columns.partition_point(|c| *c < left_width));
        let moved =
            condition.clone().map_columns(&|column| columns.partition_point(|c| *c < column));
        Ok(Self {
            condition: Evaluator::new(&moved, settings)?,
            left: left.to_vec(),
            right: right.iter().map(|column| column - left_width).collect(),
        })
    }

    /// For each pair, of which `times` says when, whether the condition is TRUE; `left` and `right` give
    /// the columns asked for.
    pub fn holds(
        &self,
        times: &RecordTimes,
        left: impl FnOnce(&[usize]) -> Result<Vec<ArrayRef>>,
        right: impl FnOnce(&[usize]) -> Result<Vec<ArrayRef>>,
    ) -> Result<BooleanArray> {
        let mut columns = left(&self.left)?;
        columns.extend(right(&self.right)?);
        let context = EvalContext::of_records(times);
        self.condition.evaluate_filter(&columns, &context).map_err(RuntimeError::operator)
    }
}
