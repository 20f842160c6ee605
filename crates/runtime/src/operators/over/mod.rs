//! OVER windows: functions over the rows round each row.
//!
//! Operators by how the order comes about: [`TimedOverOperator`] in the order of time, [`UpdatingOverOperator`] in
//! that of any other column, [`BoundedOverOperator`] the same over the last rows, [`BatchOverOperator`] when all rows
//! are there.

mod batch;
mod bounds;
mod expiry;
mod frames;
mod functions;
mod given;
mod given_partitions;
mod lag;
mod partition;
mod partitions;
mod pending;
mod ranks;
mod script;
mod sliding;
#[cfg(test)]
mod tests;
mod timed;
mod updating;
mod updating_bounded;

pub use batch::BatchOverOperator;
pub use timed::TimedOverOperator;
pub use updating::UpdatingOverOperator;
pub use updating_bounded::BoundedOverOperator;
