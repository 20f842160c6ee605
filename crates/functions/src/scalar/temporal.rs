//! Dates, times, timestamps and intervals.

use crate::ScalarFunction;

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[];
