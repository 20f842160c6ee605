//! How variants are kept as bytes.
//!
//! A value is a tag and what follows it; how long it is its surroundings say. A value within an array or
//! object is a slice of it and stands for itself, so that it can be taken out by copying.
//!
//! | tag | value | behind the tag |
//! |---|---|---|
//! | 0, 1, 2 | null, true, false | |
//! | 3 | an integer | the fewest of 1, 2, 4, 8 bytes that hold it |
//! | 4 | a decimal number | its scale, one byte, then its digits in the fewest of 4, 8, 16 bytes |
//! | 5 | a floating point number | 8 bytes |
//! | 6 | a string | UTF-8 |
//! | 7 | an array | a table: the number of elements, and for each where it ends; then the elements |
//! | 8 | an object | a table: the number of members, for each where its name ends, and for each where its value ends; then the names, then the values |
//!
//! All numbers are little-endian, signed ones in two's complement. A table starts with a byte that says how
//! many bytes each of its numbers takes: 1, 2 or 4. Ends of elements and names are counted from the end
//! of the table, ends of values from the end of the names. Members are sorted by name, in UTF-16 units.
//!
//! The same value has one encoding only, so that variants are equal when their bytes are. `1` and `1.0`
//! are different values, as they are to Flink.

mod encode;
mod print;
mod view;

pub use encode::{
    push_array, push_boolean, push_decimal, push_double, push_integer, push_null, push_object,
    push_string,
};
pub use print::write_variant;
pub use view::{Array, Object, View};
