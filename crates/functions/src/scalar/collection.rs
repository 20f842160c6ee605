//! ARRAY, MAP, MULTISET and ROW.

use crate::ScalarFunction;

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[];
