//! LIKE, SIMILAR TO and regular expressions.

use crate::ScalarFunction;

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[];
