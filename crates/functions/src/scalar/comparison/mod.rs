//! Comparison: the operators, BETWEEN, IN, IS NULL, IS DISTINCT FROM, GREATEST and LEAST.

mod compare;
mod equality;
mod extremes;
mod membership;
mod null_tests;
mod operators;
mod pairing;
mod range;
mod row_forms;

pub use extremes::FUNCTIONS as EXTREMES;
pub use membership::FUNCTIONS as MEMBERSHIP;
pub use null_tests::FUNCTIONS as NULL_TESTS;
pub use operators::FUNCTIONS as OPERATORS;
pub use range::FUNCTIONS as RANGES;

pub(super) use compare::{Comparer, Comparison};
pub(crate) use equality::Equality;
pub(super) use equality::RowsEqual;
pub(super) use pairing::Pairing;
pub(crate) use row_forms::by_fields;
