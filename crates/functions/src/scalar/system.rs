//! Functions about the session and the row.

use crate::ScalarFunction;

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[];
