//! VARIANT columns: any JSON value, kept as it is.

use flott_types::text::utf16_order;
use flott_types::variant::{
    push_array, push_boolean, push_decimal, push_double, push_integer, push_null, push_object,
    push_string,
};

use super::lexer::{Lexer, Number, SyntaxError};

/// The most digits, in all and behind the point, of a number that is kept as a decimal one.
const MAX_DIGITS: usize = 38;

/// Appends the variant of a JSON value, as PARSE_JSON makes it; of members of one name the last counts.
/// `raw` is UTF-8 and known to be sound, which bounds its depth.
pub(super) fn push(raw: &[u8], out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    value(&mut Lexer { bytes: raw, at: 0 }, out)
}

fn value(lexer: &mut Lexer<'_>, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    match lexer.peek() {
        b'{' => object(lexer, out)?,
        b'[' => array(lexer, out)?,
        b'"' => push_string(out, &text(lexer)?),
        b't' => {
            lexer.word(b"true")?;
            push_boolean(out, true);
        }
        b'f' => {
            lexer.word(b"false")?;
            push_boolean(out, false);
        }
        b'n' => {
            lexer.word(b"null")?;
            push_null(out);
        }
        _ => number(lexer.number()?, out),
    }
    Ok(())
}

fn text(lexer: &mut Lexer<'_>) -> Result<String, SyntaxError> {
    let mut bytes = Vec::new();
    lexer.string()?.unescape(&mut bytes);
    // The record is UTF-8, and so is what its escapes stand for.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn array(lexer: &mut Lexer<'_>, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    let (mut ends, mut elements) = (Vec::new(), Vec::new());
    lexer.eat(b'[');
    while !lexer.eat(b']') {
        lexer.eat(b',');
        value(lexer, &mut elements)?;
        ends.push(elements.len());
    }
    push_array(out, &ends, &elements);
    Ok(())
}

fn object(lexer: &mut Lexer<'_>, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    let (mut members, mut values) = (Vec::new(), Vec::new());
    lexer.eat(b'{');
    while !lexer.eat(b'}') {
        lexer.eat(b',');
        lexer.peek();
        let name = text(lexer)?;
        lexer.colon()?;
        let start = values.len();
        value(lexer, &mut values)?;
        members.push((name, start..values.len()));
    }
    members.sort_by(|(a, _), (b, _)| utf16_order(a, b));
    let is_last = |i: usize| members.get(i + 1).is_none_or(|(next, _)| *next != members[i].0);
    let kept: Vec<(&str, &[u8])> = (0..members.len())
        .filter(|i| is_last(*i))
        .map(|i| (members[i].0.as_str(), &values[members[i].1.clone()]))
        .collect();
    push_object(out, &kept);
    Ok(())
}

/// Integers of 64 bits are integers; what has no exponent and few enough digits is decimal; the rest is
/// floating point.
fn number(number: Number<'_>, out: &mut Vec<u8>) {
    let text = std::str::from_utf8(number.text).unwrap_or_default();
    if number.whole
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
