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

/// The tags.
pub mod tag {
    pub const NULL: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const INTEGER: u8 = 3;
    pub const DECIMAL: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const STRING: u8 = 6;
    pub const ARRAY: u8 = 7;
    pub const OBJECT: u8 = 8;
}

/// Appends an integer.
pub fn push_integer(out: &mut Vec<u8>, value: i64) {
    out.push(tag::INTEGER);
    if let Ok(value) = i8::try_from(value) {
        out.extend_from_slice(&value.to_le_bytes());
    } else if let Ok(value) = i16::try_from(value) {
        out.extend_from_slice(&value.to_le_bytes());
    } else if let Ok(value) = i32::try_from(value) {
        out.extend_from_slice(&value.to_le_bytes());
    } else {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Appends a decimal number.
pub fn push_decimal(out: &mut Vec<u8>, digits: i128, scale: u8) {
    out.extend_from_slice(&[tag::DECIMAL, scale]);
    if let Ok(digits) = i32::try_from(digits) {
        out.extend_from_slice(&digits.to_le_bytes());
    } else if let Ok(digits) = i64::try_from(digits) {
        out.extend_from_slice(&digits.to_le_bytes());
    } else {
        out.extend_from_slice(&digits.to_le_bytes());
    }
}

/// Appends a floating point number.
pub fn push_double(out: &mut Vec<u8>, value: f64) {
    out.push(tag::DOUBLE);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a string.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(tag::STRING);
    out.extend_from_slice(text.as_bytes());
}

/// Appends an array of the values that stand in `elements` one behind the other and end at `ends`.
pub fn push_array(out: &mut Vec<u8>, ends: &[usize], elements: &[u8]) {
    out.push(tag::ARRAY);
    push_table(out, ends.len(), &[ends], elements.len());
    out.extend_from_slice(elements);
}

/// Appends an object of members with sorted names.
pub fn push_object(out: &mut Vec<u8>, members: &[(&str, &[u8])]) {
    let ends = |length: fn(&(&str, &[u8])) -> usize| -> Vec<usize> {
        let mut end = 0;
        members
            .iter()
            .map(|member| {
                end += length(member);
                end
            })
            .collect()
    };
    let names = ends(|(name, _)| name.len());
    let values = ends(|(_, value)| value.len());
    let largest = names.last().copied().max(values.last().copied()).unwrap_or(0);
    out.push(tag::OBJECT);
    push_table(out, members.len(), &[&names, &values], largest);
    members.iter().for_each(|(name, _)| out.extend_from_slice(name.as_bytes()));
    members.iter().for_each(|(_, value)| out.extend_from_slice(value));
}

/// Appends the table of an array or object, none of whose ends is beyond `largest`.
fn push_table(out: &mut Vec<u8>, count: usize, ends: &[&[usize]], largest: usize) {
    // Values of a column are less than 2 GiB together, so that 4 bytes do.
    let width = match count.max(largest) {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    };
    out.push(width as u8);
    let mut push = |number: usize| out.extend_from_slice(&(number as u32).to_le_bytes()[..width]);
    push(count);
    ends.iter().flat_map(|ends| ends.iter()).for_each(|end| push(*end));
}
