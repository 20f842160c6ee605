//! JSON texts, read and written as Jackson does, which Flink uses.

mod cursor;
mod malformed;
mod node;
mod number;
mod string;

pub use cursor::{Cursor, Kind};
pub use malformed::{Malformed, Problem};
pub use node::Node;
pub use number::{Decimal, Number, NumberText, write_big_decimal};
pub use string::StringText;
