//! Character and byte strings.
//!
//! Lengths and positions count Unicode code points, from 1, except where Flink counts UTF-16 units
//! (LPAD, RPAD, REGEXP_INSTR).

mod affix;
mod character;
mod charset;
mod code_points;
mod concat;
mod encoding;
mod inet;
mod letter_case;
mod pad;
mod position;
pub(super) mod printf;
mod replace;
pub(super) mod rows;
pub(super) mod signature;
mod slice;
mod split;
mod trim;

#[cfg(test)]
mod tests;

pub use affix::FUNCTIONS as AFFIX;
pub use character::FUNCTIONS as CHARACTER;
pub use concat::FUNCTIONS as CONCAT;
pub use encoding::FUNCTIONS as ENCODING;
pub(super) use encoding::{lossy_utf8, write_hex};
pub use inet::FUNCTIONS as INET;
pub use letter_case::FUNCTIONS as LETTER_CASE;
pub use pad::FUNCTIONS as PAD;
pub use position::FUNCTIONS as POSITION;
pub use printf::FUNCTIONS as PRINTF;
pub use replace::FUNCTIONS as REPLACE;
pub use slice::FUNCTIONS as SLICE;
pub use split::FUNCTIONS as SPLIT;
pub use trim::FUNCTIONS as TRIM;
