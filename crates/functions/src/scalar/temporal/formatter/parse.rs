//! Text as local times.

use super::super::stamps::Stamp;
use super::resolve::resolve;
use super::{Field, Formatter, Fraction, Item, Number, Sign, zone};

/// Why a text gives no local time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It does not have the form of the pattern, or its fields contradict each other.
    Unparsable(String),
    /// It has, but not all fields of a date are there and those that are make none.
    Invalid(String),
}

impl Formatter {
    /// Reads a text that must fit the pattern to its end. What is missing is taken from
    /// 1970-01-01 00:00:00.
    pub fn parse(&self, text: &str) -> Result<Stamp, Failure> {
        let mut values = Values::default();
        match parse_all(&self.items, &mut values, text, 0) {
            Ok(end) if end == text.len() => resolve(values),
            Ok(end) | Err(end) => Err(Failure::Unparsable(format!(
                "'{text}' does not fit the format from position {} on",
                text.get(..end).map_or(0, |head| head.chars().count()) + 1
            ))),
        }
    }
}

/// The fields that were read.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    values: [i64; Field::COUNT],
    known: u32,
}

impl Default for Values {
    fn default() -> Self {
        Self { values: [0; Field::COUNT], known: 0 }
    }
}

impl Values {
    /// The value of a field, if it is there.
    pub fn get(&self, field: Field) -> Option<i64> {
        (self.known & (1 << field as u32) != 0).then(|| self.values[field as usize])
    }

    /// Takes a field away.
    pub fn take(&mut self, field: Field) -> Option<i64> {
        let value = self.get(field);
        self.known &= !(1 << field as u32);
        value
    }

    /// Sets a field; `false` when it is there already with another value.
    #[must_use]
    pub fn set(&mut self, field: Field, value: i64) -> bool {
        match self.get(field) {
            Some(before) => before == value,
            None => {
                self.values[field as usize] = value;
                self.known |= 1 << field as u32;
                true
            }
        }
    }
}

/// The position after what was read, or that of what did not fit.
type Position = Result<usize, usize>;

fn parse_all(items: &[Item], values: &mut Values, text: &str, start: usize) -> Position {
    items.iter().try_fold(start, |position, item| parse_one(item, values, text, position))
}

fn parse_one(item: &Item, values: &mut Values, text: &str, start: usize) -> Position {
    let rest = text.get(start..).ok_or(start)?;
    match item {
        Item::Text(expected) => match rest.starts_with(&**expected) {
            true => Ok(start + expected.len()),
            false => Err(start),
        },
        Item::Number(number) => parse_number(number, values, text, start),
        Item::Fraction(fraction) => parse_fraction(*fraction, values, text, start),
        Item::Name { field, names, .. } => {
            match names.iter().find(|(text, _)| rest.starts_with(&**text)) {
                Some((text, value)) if values.set(*field, *value) => Ok(start + text.len()),
                _ => Err(start),
            }
        }
        Item::Zone(part) => zone::length(*part, rest).map(|length| start + length).ok_or(start),
        Item::Optional(items) => {
            let mut attempt = *values;
            match parse_all(items, &mut attempt, text, start) {
                Ok(end) => {
                    *values = attempt;
                    Ok(end)
                }
                Err(_) => Ok(start),
            }
        }
        Item::Padded { width, item } => {
            // The width counts in characters.
            let end = rest
                .char_indices()
                .map(|(i, _)| i)
                .chain([rest.len()])
                .nth(*width)
                .filter(|_| !rest.is_empty())
                .ok_or(start)?;
            let field = &rest[..end];
            let blanks = field.len() - field.trim_start_matches(' ').len();
            match parse_one(item, values, &text[..start + end], start + blanks)? {
                reached if reached == start + end => Ok(reached),
                _ => Err(start),
            }
        }
    }
}

fn parse_number(number: &Number, values: &mut Values, text: &str, start: usize) -> Position {
    let bytes = text.as_bytes();
    let (positive, negative) = match bytes.get(start) {
        None => return Err(start),
        Some(b'+') => (true, false),
        Some(b'-') => (false, true),
        Some(_) => (false, false),
    };
    let allowed = match number.sign {
        Sign::ExceedsPad => true,
        Sign::Normal => !positive,
        Sign::Never => !positive && !negative,
    };
    if !allowed {
        return Err(start);
    }
    let first = start + usize::from(positive || negative);
    let digits = bytes[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits.min(number.max + number.reserved);
    if length < number.min {
        return Err(start);
    }
    if number.reserved > 0 {
        length = length.saturating_sub(number.reserved).max(number.min);
    }
    let end = first + length;
    let magnitude = bytes[first..end]
        .iter()
        .try_fold(0i64, |n, b| n.checked_mul(10)?.checked_add(i64::from(b - b'0')))
        .ok_or(start)?;
    if negative && magnitude == 0 {
        return Err(start);
    }
    if number.sign == Sign::ExceedsPad && !negative && positive != (length > number.min) {
        return Err(start);
    }
    let value = match (negative, number.reduced) {
        (true, _) => -magnitude,
        (false, true) => 2000 + magnitude,
        (false, false) => magnitude,
    };
    if values.set(number.field, value) { Ok(end) } else { Err(start) }
}

fn parse_fraction(fraction: Fraction, values: &mut Values, text: &str, start: usize) -> Position {
    let bytes = text.as_bytes();
    let mut first = start;
    if fraction.point {
        match bytes.get(start) {
            Some(b'.') => first += 1,
            _ if fraction.min > 0 => return Err(start),
            _ => return Ok(start),
        }
    }
    let available = bytes.get(first..).unwrap_or_default();
    let digits =
        available.iter().take(fraction.max).take_while(|byte| byte.is_ascii_digit()).count();
    if digits < fraction.min {
        return Err(start);
    }
    let scaled = available[..digits]
        .iter()
        .map(|byte| i64::from(byte - b'0'))
        .chain(std::iter::repeat(0))
        .take(9)
        .fold(0, |n, digit| n * 10 + digit);
    if values.set(Field::Nano, scaled) { Ok(first + digits) } else { Err(start) }
}
