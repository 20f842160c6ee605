//! Aggregate functions: typing, and accumulators that hold the state of many groups in columns.
//!
//! An accumulator works on a whole batch at a time and is still exact row by row: for each row in turn
//! it notes the value of the row's group before and after, so that the changelog that an operator
//! makes of it is the one that feeding single rows would give.

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::{CallArgs, Column, EvalError, FunctionDoc, Resolved, SignatureError};

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
pub const FAMILIES: &[&[AggregateFunction]] = &[];

/// Rows for an accumulator.
#[derive(Clone, Copy)]
pub struct AggregateInput<'a> {
    /// The group of each row: an index below what [`Accumulator::resize`] was told.
    pub groups: &'a [u32],
    /// For each row +1 to add it, −1 to take it back, 0 to pass it over; `None`: all are added.
    pub signs: Option<&'a [i8]>,
    /// The arguments of the call.
    pub args: &'a [Column],
}

impl AggregateInput<'_> {
    /// The sign of a row.
    #[inline]
    pub fn sign(&self, row: usize) -> i8 {
        self.signs.map_or(1, |signs| signs[row])
    }
}

/// What a row-exact update of a batch gives for one aggregate: the value of each row's group before
/// and after the row.
pub struct Changes {
    /// The values before; for a group's first row, the value of no rows.
    pub before: ArrayRef,
    /// The values after.
    pub after: ArrayRef,
}

/// The state of one aggregate for many groups.
pub trait Accumulator: Send {
    /// Makes room for groups `0..groups`; new ones start as if they had seen no row.
    fn resize(&mut self, groups: usize);

    /// Takes in rows without looking at results.
    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError>;

    /// Takes in rows in order and gives, for each, its group's value before and after it. Sets
    /// the bit of every row for which the two differ (NULL equals NULL, NaN equals NaN).
    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<Changes, EvalError>;

    /// The values of some groups.
    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError>;

    /// Puts groups back to having seen no row, and frees what they hold.
    fn reset(&mut self, groups: &[u32]);

    /// Adds the state of `from[i]` in `other`, an accumulator of the same call, to group `into[i]`:
    /// panes into windows, sessions that merge, local into global aggregates.
    fn merge(
        &mut self,
        into: &[u32],
        other: &dyn Accumulator,
        from: &[u32],
    ) -> Result<(), EvalError>;

    /// The state of some groups as columns, for checkpoints and local-global exchange. The layout
    /// is the accumulator's own and part of the state format.
    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError>;

    /// The types of the columns that `state` gives.
    fn state_types(&self) -> Vec<DataType>;

    /// Adds states that `state` gave to groups (sets them, where the group is fresh).
    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError>;

    /// Bytes held.
    fn memory(&self) -> usize;

    /// The value itself, for `merge` to look behind the trait.
    fn as_any(&self) -> &dyn std::any::Any;
}
