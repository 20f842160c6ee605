//! Integers and floating-point numbers.

use crate::builders::Fault;

/// Cuts off what Java's `String.trim` cuts off: every character up to the space.
#[inline]
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && *first <= b' '
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && *last <= b' '
    {
        text = rest;
    }
    text
}

/// Reads an integer as `Long.parseLong` does after `trim`: digits with an optional sign.
#[inline]
pub(crate) fn parse_integer(text: &[u8]) -> Result<i64, Fault> {
    // Eighteen digits fit whatever they are.
    if let [b'0'..=b'9', ..] = text
        && text.len() <= 18
    {
        let mut number = 0i64;
        let mut bad = 0u8;
        for byte in text {
            let digit = byte.wrapping_sub(b'0');
            bad |= u8::from(digit > 9);
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
        }
        if bad == 0 {
            return Ok(number);
        }
    }
    parse_any_integer(text)
}

#[cold]
fn parse_any_integer(text: &[u8]) -> Result<i64, Fault> {
    let (negative, digits) = match trim(text) {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Fault::Form);
    }
    digits
        .iter()
        .try_fold(0i64, |number, digit| {
            let digit = i64::from(digit - b'0');
            number.checked_mul(10)?.checked_add(if negative { -digit } else { digit })
        })
        .ok_or(Fault::Range)
}

/// Reads a DOUBLE as `Double.parseDouble` does, hexadecimal numbers aside.
pub(crate) fn parse_double(text: &[u8]) -> Result<f64, Fault> {
    parse_floating(text, f64::NAN, f64::INFINITY)
}

/// Reads a FLOAT as `Float.parseFloat` does, hexadecimal numbers aside.
pub(crate) fn parse_float(text: &[u8]) -> Result<f32, Fault> {
    parse_floating(text, f32::NAN, f32::INFINITY)
}

/// Rust's parser takes what Java's takes, but for the words (any case in Rust, exact in Java) and
/// Java's type suffixes.
fn parse_floating<T>(text: &[u8], nan: T, infinity: T) -> Result<T, Fault>
where
    T: std::str::FromStr + std::ops::Neg<Output = T>,
{
    let text = trim(text);
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    match unsigned {
        b"NaN" => return Ok(nan),
        b"Infinity" => return Ok(if negative { -infinity } else { infinity }),
        [b'0'..=b'9' | b'.', ..] => {}
        _ => return Err(Fault::Form),
    }
    let number = match text {
        [number @ .., b'f' | b'F' | b'd' | b'D'] => number,
        number => number,
    };
    std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).ok_or(Fault::Form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_trimmed_and_signed() {
        for (text, number) in [
            ("0", Ok(0)),
            (" 12\t", Ok(12)),
            ("+7", Ok(7)),
            ("-9223372036854775808", Ok(i64::MIN)),
            ("9223372036854775807", Ok(i64::MAX)),
            ("000000000000000000000012", Ok(12)),
            ("9223372036854775808", Err(Fault::Range)),
            ("", Err(Fault::Form)),
            ("-", Err(Fault::Form)),
            ("1.0", Err(Fault::Form)),
            ("1 2", Err(Fault::Form)),
            ("0x1", Err(Fault::Form)),
        ] {
            assert_eq!(parse_integer(text.as_bytes()), number, "{text:?}");
        }
    }

    #[test]
    fn doubles_are_javas() {
        for (text, number) in [
            ("1.5", Some(1.5)),
            (" -.5e1 ", Some(-5.0)),
            ("1.", Some(1.0)),
            ("1e400", Some(f64::INFINITY)),
            ("1.5f", Some(1.5)),
            ("2D", Some(2.0)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1e-320", Some(1e-320)),
            ("inf", None),
            ("nan", None),
            ("infinity", None),
            ("", None),
            (".", None),
            ("e5", None),
            ("1e", None),
            ("1ff", None),
            ("f", None),
            ("1_0", None),
        ] {
            assert_eq!(parse_double(text.as_bytes()).ok(), number, "{text:?}");
        }
        assert!(parse_double(b"NaN").is_ok_and(f64::is_nan));
        assert!(parse_float(b"+NaN").is_ok_and(f32::is_nan));
    }
}
