//! CAST and TRY_CAST between all types.

use flott_types::DataType;

use crate::{Kernel, SessionSettings, SignatureError};

/// Checks that a cast exists.
pub fn check(from: &DataType, to: &DataType) -> Result<(), SignatureError> {
    Err(SignatureError::Cast { from: from.clone(), to: to.clone() })
}

/// Compiles a cast of one argument. With `lenient` (TRY_CAST) a value that cannot be cast gives NULL.
pub fn compile(
    from: &DataType,
    to: &DataType,
    _lenient: bool,
    _settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    Err(SignatureError::Cast { from: from.clone(), to: to.clone() })
}
