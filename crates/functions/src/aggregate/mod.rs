//! Aggregate functions: typing, and accumulators that hold the state of many groups in columns.
//!
//! An accumulator works on a whole batch at a time and is still exact row by row: for each row in turn
//! it notes the value of the row's group before and after, so that the changelog that an operator
//! makes of it is the one that feeding single rows would give.
//!
//! FILTER and DISTINCT are the operator's: it turns them into [signs](AggregateInput::signs).

mod approx;
mod array_agg;
mod avg;
mod bitmap;
mod cells;
mod collect;
mod count;
mod extremes;
mod first_last;
mod json;
mod keep;
mod keep_values;
mod layout;
mod listagg;
mod lists;
mod ordered;
mod percentile;
mod rows;
mod sequences;
mod single_value;
mod sum;
mod typing;
mod values;
mod variance;
mod variance_over;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use variance_over::in_windows_of_rows;

use std::any::Any;

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// An aggregate function; one entry in the table of its family.
pub struct AggregateFunction {
    /// The SQL name in upper case.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// The type rule: which types the arguments are cast to, and the type of the result. The flag says
    /// that a group may have no rows for the call (no GROUP BY, or a FILTER), so that most
    /// functions may give NULL.
    pub resolve: fn(&CallArgs, may_be_empty: bool) -> Result<Resolved, SignatureError>,
    /// Makes accumulators for a call.
    pub create: fn(&AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError>,
    /// Whether the result depends on the order of the rows.
    pub order_sensitive: bool,
    /// For the reference page and `DESCRIBE FUNCTION`.
    pub doc: FunctionDoc,
}

/// A call of an aggregate function, typed.
#[derive(Debug, Clone)]
pub struct AggregateSpec {
    /// The arguments, with their types after coercion.
    pub args: CallArgs,
    /// The type of the result.
    pub returns: DataType,
    /// Whether rows may be taken back: then the accumulator must keep what that needs.
    pub retracts: bool,
}

/// The tables of all families.
pub const FAMILIES: &[&[AggregateFunction]] = &[
    approx::FUNCTIONS,
    array_agg::FUNCTIONS,
    avg::FUNCTIONS,
    bitmap::FUNCTIONS,
    collect::FUNCTIONS,
    count::FUNCTIONS,
    extremes::FUNCTIONS,
    first_last::FUNCTIONS,
    json::FUNCTIONS,
    listagg::FUNCTIONS,
    percentile::FUNCTIONS,
    single_value::FUNCTIONS,
    sum::FUNCTIONS,
    variance::FUNCTIONS,
];

/// Rows for an accumulator.
#[derive(Clone, Copy)]
pub struct AggregateInput<'a> {
    /// The group of each row: an index below what [`Accumulator::resize`] was told.
    pub groups: &'a [u32],
    /// For each row +1 to add it, −1 to take it back, 0 to pass it over; `None`: all are added.
    pub signs: Option<&'a [i8]>,
    /// The arguments of the call, a value a row each.
    pub args: &'a [ArrayRef],
}

/// The state of one aggregate for many groups.
///
/// # Laws
///
/// - A batch and its rows one by one leave the same state.
/// - `update_with_changes` leaves the state that `update` leaves.
/// - `merge_state(g, state(g'))` on fresh groups `g` gives them the values of `g'`, in another process too.
/// - Unless the call retracts, it is given no sign of −1.
pub trait Accumulator: Send {
    /// Makes room for groups `0..groups`; new ones start as if they had seen no row.
    fn resize(&mut self, groups: usize);

    /// Takes in rows without looking at results.
    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError>;

    /// Takes in rows in order and gives two values for each, one after the other: that of the row's
    /// group before the row and that after it. Sets the flag of every row for which the two differ
    /// (NULL equals NULL, NaN equals NaN), and of others that Flink takes for a change.
    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError>;

    /// The values of some groups.
    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError>;

    /// What Flink compares beside the values of some groups to tell whether a mini-batch changed them, a column for each
    /// of [`unseen_types`](Self::unseen_types); most functions have nothing of the kind.
    fn unseen(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let _ = groups;
        Ok(Vec::new())
    }

    /// The types of the columns that `unseen` gives.
    fn unseen_types(&self) -> Vec<DataType> {
        Vec::new()
    }

    /// Puts groups back to having seen no row, and frees what they hold.
    fn reset(&mut self, groups: &[u32]);

    /// Adds the state of `from[i]` in `other`, an accumulator of the same call, to group `into[i]`:
    /// slices into windows, sessions that merge, local into global aggregates. Rows of `other` count
    /// as later ones where order matters.
    fn merge(
        &mut self,
        into: &[u32],
        other: &dyn Accumulator,
        from: &[u32],
    ) -> Result<(), EvalError> {
        self.merge_state(into, &other.state(from)?)
    }

    /// The state of some groups as columns, for checkpoints and local-global exchange. The layout
    /// is the accumulator's own and part of the state format.
    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError>;

    /// The types of the columns that `state` gives.
    fn state_types(&self) -> Vec<DataType>;

    /// Adds states that `state` gave to groups (sets them, where the group is fresh).
    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError>;

    /// Bytes held, in constant time.
    fn memory(&self) -> usize;

    /// The value itself, for `merge` to look behind the trait.
    fn as_any(&self) -> &dyn Any;
}
