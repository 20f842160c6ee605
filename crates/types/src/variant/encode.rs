//! Variants under construction: values appended to bytes.

/// The tags.
pub(super) mod tag {
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

/// Appends the JSON null.
pub fn push_null(out: &mut Vec<u8>) {
    out.push(tag::NULL);
}

/// Appends a truth value.
pub fn push_boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { tag::TRUE } else { tag::FALSE });
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
