//! Texts as numbers and truth values, read as Flink's `BinaryStringDataUtil` and Java do, without
//! allocation.

use super::digits::with_ascii_digits;
use crate::decimal;

/// What is wrong with a text, as a short fact.
pub type Reason = &'static str;

const EMPTY: Reason = "it is empty";
const LONE_SIGN: Reason = "it is just a sign";
const NOT_A_DIGIT: Reason = "it has a character that is no digit";
const OVERFLOW: Reason = "it is out of range";
const NOT_A_NUMBER: Reason = "it is not a number";

/// Blanks at both ends are no part of a number; other white space is not removed.
fn trim(text: &str) -> &str {
    text.trim_matches(' ')
}

/// Reads an integer between `min` and `max`. Blanks around it are passed over, digits after a
/// point are checked and dropped: `' +12.9 '` is 12.
pub fn parse_integer(text: &str, min: i64, max: i64) -> Result<i64, Reason> {
    let bytes = trim(text).as_bytes();
    let (negative, digits) = match bytes {
        [] => return Err(EMPTY),
        [b'-' | b'+'] => return Err(LONE_SIGN),
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    };
    let (whole, fraction) = match memchr::memchr(b'.', digits) {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    // Negative numbers reach one further, so digits are collected below zero.
    let mut value: i64 = 0;
    for byte in whole {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(NOT_A_DIGIT);
        }
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_sub(i64::from(digit)))
            .ok_or(OVERFLOW)?;
    }
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(NOT_A_DIGIT);
    }
    let value = if negative { value } else { value.checked_neg().ok_or(OVERFLOW)? };
    if (min..=max).contains(&value) { Ok(value) } else { Err(OVERFLOW) }
}

/// Reads a DOUBLE as Java's `Double.parseDouble`: `'1e3'`, `'.5'`, `'1d'`, `'NaN'`, `'-Infinity'`.
pub fn parse_double(text: &str) -> Result<f64, Reason> {
    parse_java_float(text, |text| text.parse().ok(), |value| value)
}

/// Reads a FLOAT as Java's `Float.parseFloat`.
pub fn parse_float(text: &str) -> Result<f32, Reason> {
    parse_java_float(text, |text| text.parse().ok(), |value| value as f32)
}

fn parse_java_float<T>(
    text: &str,
    decimal: impl Fn(&str) -> Option<T>,
    from_f64: impl Fn(f64) -> T,
) -> Result<T, Reason> {
    // Java trims everything up to the blank, control characters included.
    let text = text.trim_matches(|c| c <= ' ');
    if text.is_empty() {
        return Err(EMPTY);
    }
    let (negative, magnitude) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let signed = |value: f64| from_f64(if negative { -value } else { value });
    match magnitude {
        "NaN" => return Ok(from_f64(f64::NAN)),
        "Infinity" => return Ok(signed(f64::INFINITY)),
        _ => {}
    }
    if let Some(hex) = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        return parse_hex_float(hex).map(signed).ok_or(NOT_A_NUMBER);
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    // Rust also reads "inf" and "nan", which have letters other than the exponent's.
    let plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    if !number.as_bytes().iter().all(plain) {
        return Err(NOT_A_NUMBER);
    }
    decimal(number).ok_or(NOT_A_NUMBER)
}

/// Java's hexadecimal floats after their `0x`: `1.8p1` is 3. The exponent must be there.
fn parse_hex_float(text: &str) -> Option<f64> {
    let text = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut digits: u64 = 0;
    let mut binary_exponent = i64::from(exponent) - 4 * fraction.len() as i64;
    for character in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(character.to_digit(16)?);
        if digits >> 59 == 0 {
            digits = digits << 4 | digit;
        } else {
            // More digits than a DOUBLE keeps; the last bit says whether something was cut.
            digits |= u64::from(digit != 0);
            binary_exponent += 4;
        }
    }
    let exponent = binary_exponent.clamp(-4000, 4000) as i32;
    // In two steps, so that subnormal results are rounded once.
    let half = exponent / 2;
    Some(digits as f64 * 2f64.powi(half) * 2f64.powi(exponent - half))
}

/// Reads `true`, `t`, `yes`, `y`, `1` and `false`, `f`, `no`, `n`, `0`, in any case.
pub fn parse_boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "t", "yes", "y", "1"]) {
        Some(true)
    } else if is_one_of(["false", "f", "no", "n", "0"]) {
        Some(false)
    } else {
        None
    }
}

/// Reads a DECIMAL, rounded HALF_UP to `scale`; an exponent is allowed.
///
/// Flink reads short texts for short DECIMALs with code of its own, and all others by Java's
/// `BigDecimal`. Its own code is stricter about range, where it counts every digit that is written
/// (`'0.5'` is no `DECIMAL(1, 1)`), and laxer about form: it passes over one character after the digits.
pub fn parse_decimal(text: &str, precision: u8, scale: u8) -> Result<i128, Reason> {
    const LONG_DIGITS: usize = 18;
    let own = usize::from(precision) <= LONG_DIGITS && text.len() <= LONG_DIGITS;
    let ascii;
    let text = if own || text.is_ascii() {
        text
    } else {
        ascii = with_ascii_digits(text);
        &ascii
    };
    let bytes = text.trim_matches([' ', '\n', '\t']).as_bytes();
    let (negative, rest) = match bytes {
        [] => return Err(EMPTY),
        [b'-' | b'+'] => return Err(LONE_SIGN),
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    };
    let (digits, tail) = Digits::read(rest)?;
    let exponent = if own { lax_exponent(tail)? } else { exponent(tail)? };
    if digits.count == 0 && !own {
        return Err(NOT_A_NUMBER);
    }
    let moved = exponent - digits.fraction + i32::from(scale);
    // Flink's powers of ten end at 18.
    if own && (digits.count + moved > i32::from(precision) || moved < -(LONG_DIGITS as i32)) {
        return Err(OVERFLOW);
    }
    let value = digits.shifted(moved, precision).ok_or(OVERFLOW)?;
    Ok(if negative { -value } else { value })
}

/// Digits with a point somewhere. The first 38 that count are kept, and the one after them.
#[derive(Default)]
struct Digits {
    value: i128,
    next: u8,
    dropped: i32,
    count: i32,
    fraction: i32,
}

impl Digits {
    /// Reads digits up to another character.
    fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Reason> {
        let mut digits = Self::default();
        let mut point = false;
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    digits.push(byte - b'0');
                    digits.fraction += i32::from(point);
                }
                b'.' if point => return Err(NOT_A_NUMBER),
                b'.' => point = true,
                _ => return Ok((digits, &bytes[i..])),
            }
        }
        Ok((digits, &[]))
    }

    fn push(&mut self, digit: u8) {
        self.count += 1;
        if self.dropped == 0 && self.value < decimal::pow10(37) {
            self.value = self.value * 10 + i128::from(digit);
        } else {
            if self.dropped == 0 {
                self.next = digit;
            }
            self.dropped += 1;
        }
    }

    /// The digits moved by a power of ten, rounded HALF_UP.
    fn shifted(&self, exponent: i32, precision: u8) -> Option<i128> {
        match exponent + self.dropped {
            0 if self.dropped > 0 && self.next >= 5 => {
                Some(self.value + 1).filter(|value| decimal::fits(*value, precision))
            }
            moved => decimal::shift(self.value, moved, precision),
        }
    }
}

fn exponent(tail: &[u8]) -> Result<i32, Reason> {
    let (negative, digits) = match tail {
        [] => return Ok(0),
        [b'e' | b'E', b'-', digits @ ..] => (true, digits),
        [b'e' | b'E', b'+', digits @ ..] => (false, digits),
        [b'e' | b'E', digits @ ..] => (false, digits),
        _ => return Err(NOT_A_NUMBER),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NOT_A_NUMBER);
    }
    Ok(signed_exponent(negative, digits))
}

/// The exponent as Flink's own code reads it: one character that belongs to no number may follow.
fn lax_exponent(tail: &[u8]) -> Result<i32, Reason> {
    let is_end = |rest: &[u8]| {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t');
        if rest.iter().skip(1).all(blank) { Ok(()) } else { Err(NOT_A_NUMBER) }
    };
    let (negative, rest) = match tail {
        [b'e' | b'E', b'-' | b'+'] => return Err(NOT_A_NUMBER),
        [b'e' | b'E', b'-', rest @ ..] => (true, rest),
        [b'e' | b'E', b'+', rest @ ..] => (false, rest),
        [b'e' | b'E', rest @ ..] if !rest.is_empty() => (false, rest),
        _ => return is_end(tail).map(|()| 0),
    };
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    is_end(&rest[end..])?;
    Ok(signed_exponent(negative, &rest[..end]))
}

/// An exponent, cut to what is far enough for every DECIMAL and safe to add to.
fn signed_exponent(negative: bool, digits: &[u8]) -> i32 {
    let value = digits
        .iter()
        .fold(0i32, |value, byte| value.saturating_mul(10).saturating_add(i32::from(byte - b'0')))
        .min(1 << 20);
    if negative { -value } else { value }
}
