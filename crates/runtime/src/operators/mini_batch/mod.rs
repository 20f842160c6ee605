//! Mini-batches: rows are gathered, and what follows gets their net change.

mod latest;
mod net;
mod operator;
mod pace;
#[cfg(test)]
mod tests;

pub use operator::{Changelog, MiniBatchOperator};
pub(super) use pace::Pace;
