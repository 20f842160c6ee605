//! Arithmetic on numbers, and on dates, times and intervals.

mod interval;
mod kernels;
mod math;
mod notation;
mod operators;
mod random;
mod rounding;
mod sign;

pub use math::FUNCTIONS as MATH;
pub use notation::FUNCTIONS as NOTATION;
pub use operators::FUNCTIONS as OPERATORS;
pub use random::FUNCTIONS as RANDOM;
pub use rounding::FUNCTIONS as ROUNDING;
pub use sign::FUNCTIONS as SIGN;

use crate::{Kernel, SignatureError};

/// What the compilation of a call gives.
type Compiled = Result<Box<dyn Kernel>, SignatureError>;
