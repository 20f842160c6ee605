//! Variants from JSON texts.

use flott_types::text::utf16_order;
use flott_types::variant::{
    push_array, push_boolean, push_decimal, push_double, push_integer, push_null, push_object,
    push_string,
};

use crate::scalar::json::text::{Cursor, Kind, Malformed, NumberText};

/// The most digits, in all and behind the point, of a number that is kept as a decimal one.
const MAX_DIGITS: usize = 38;

/// Why a text is no variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is not JSON.
    Malformed(Malformed),
    /// An object has two members of the same name.
    Duplicate,
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// Appends the variant of the first value of a JSON text. Of members of the same name the last counts,
/// where they are allowed.
pub fn parse_variant(out: &mut Vec<u8>, text: &str, duplicates: bool) -> Result<(), Refused> {
    read(out, &mut Cursor::new(text), duplicates)
}

fn read(out: &mut Vec<u8>, cursor: &mut Cursor, duplicates: bool) -> Result<(), Refused> {
    match cursor.kind()? {
        Kind::Word => match cursor.word()? {
            None => push_null(out),
            Some(value) => push_boolean(out, value),
        },
        Kind::Number => push_number(out, cursor.number()?),
        Kind::String => push_string(out, &cursor.string()?.decode()),
        Kind::Array => {
            let (mut ends, mut elements) = (Vec::new(), Vec::new());
            cursor.enter()?;
            while cursor.element(ends.is_empty())? {
                read(&mut elements, cursor, duplicates)?;
                ends.push(elements.len());
            }
            push_array(out, &ends, &elements);
        }
        Kind::Object => {
            let (mut members, mut values) = (Vec::new(), Vec::new());
            cursor.enter()?;
            while let Some(name) = cursor.member(members.is_empty())? {
                let start = values.len();
                read(&mut values, cursor, duplicates)?;
                members.push((name.decode(), start..values.len()));
            }
            members.sort_by(|(a, _), (b, _)| utf16_order(a, b));
            let last_of_name =
                |i: usize| members.get(i + 1).is_none_or(|(next, _)| *next != members[i].0);
            let kept: Vec<(&str, &[u8])> = (0..members.len())
                .filter(|i| last_of_name(*i))
                .map(|i| (members[i].0.as_ref(), &values[members[i].1.clone()]))
                .collect();
            if kept.len() < members.len() && !duplicates {
                return Err(Refused::Duplicate);
            }
            push_object(out, &kept);
        }
    }
    Ok(())
}

/// Integers of 64 bits are integers; what has no exponent and few enough digits is decimal; the rest is
/// floating point.
fn push_number(out: &mut Vec<u8>, number: NumberText) {
    let text = number.text();
    if number.is_integer()
        && let Ok(value) = text.parse()
    {
        return push_integer(out, value);
    }
    match decimal(text) {
        Some((digits, scale)) => push_decimal(out, digits, scale),
        None => push_double(out, text.parse().unwrap_or(f64::NAN)),
    }
}

fn decimal(text: &str) -> Option<(i128, u8)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches(['-', '0']).len();
    if significant > MAX_DIGITS || fraction.len() > MAX_DIGITS {
        return None;
    }
    // Fails for texts with an exponent.
    Some((digits.parse().ok()?, fraction.len() as u8))
}
