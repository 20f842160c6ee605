//! Decimals, from any number of digits to at most 38.

use crate::builders::Fault;

/// Reads a DECIMAL as Flink does: the grammar of Java's `BigDecimal`, rounded HALF_UP to `scale`;
/// `None`, which is NULL, when it then has more than `precision` digits.
///
/// Nothing is trimmed.
pub(crate) fn parse_decimal(text: &[u8], precision: u8, scale: u8) -> Result<Option<i128>, Fault> {
    let number = Number::parse(text)?;
    Ok(number.to_scale(precision, scale))
}

/// A number as its digits.
struct Number<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Number<'a> {
    fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (whole, rest) = split_digits(text);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => split_digits(rest),
            rest => (&[][..], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(Fault::Form);
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', exponent @ ..] => parse_exponent(exponent)?,
            _ => return Err(Fault::Form),
        };
        Ok(Self { negative, whole, fraction, exponent })
    }

    /// The unscaled value at `scale`, unless it has more than `precision` digits.
    fn to_scale(&self, precision: u8, scale: u8) -> Option<i128> {
        let mut digits = self.whole.iter().chain(self.fraction).map(|digit| digit - b'0');
        let leading_zeros = digits.clone().take_while(|digit| *digit == 0).count();
        let significant = self.whole.len() + self.fraction.len() - leading_zeros;
        if significant == 0 {
            return Some(0);
        }
        // How many of the significant digits stand left of the last one that is kept.
        let kept =
            self.whole.len() as i64 + self.exponent - leading_zeros as i64 + i64::from(scale);
        if kept < 0 {
            return Some(0);
        }
        if kept > i64::from(precision) {
            return None;
        }
        let mut digits = digits.by_ref().skip(leading_zeros);
        let mut unscaled = 0i128;
        for _ in 0..kept {
            unscaled = unscaled * 10 + i128::from(digits.next().unwrap_or(0));
        }
        if digits.next().is_some_and(|digit| digit >= 5) {
            unscaled += 1;
        }
        (unscaled < 10i128.pow(precision.into())).then_some(if self.negative {
            -unscaled
        } else {
            unscaled
        })
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// An exponent has at most ten digits and fits in 32 bits, as in Java.
fn parse_exponent(text: &[u8]) -> Result<i64, Fault> {
    let digits = match text {
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Fault::Form);
    }
    match super::parse_integer(text) {
        Ok(exponent) if i32::try_from(exponent).is_ok() => Ok(exponent),
        _ => Err(Fault::Range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_round_half_up_and_overflow_to_null() {
        for (text, precision, scale, value) in [
            ("1.005", 5, 2, Some(101)),
            ("-1.005", 5, 2, Some(-101)),
            ("1.0049999", 5, 2, Some(100)),
            ("999.995", 5, 2, None),
            ("999.994", 5, 2, Some(99_999)),
            ("1e2", 5, 2, Some(10_000)),
            ("1.5E+1", 5, 0, Some(15)),
            ("0.05e-1", 5, 2, Some(1)),
            ("0.04e-1", 5, 2, Some(0)),
            ("5e-3", 3, 2, Some(1)),
            ("5e-4", 3, 2, Some(0)),
            ("-0.000", 3, 2, Some(0)),
            ("0e2000000000", 3, 2, Some(0)),
            ("1e2000000000", 3, 2, None),
            ("1e-2000000000", 3, 2, Some(0)),
            (".5", 3, 0, Some(1)),
            ("5.", 3, 0, Some(5)),
            ("+00012", 3, 0, Some(12)),
            ("99999999999999999999999999999999999999", 38, 0, Some(10i128.pow(38) - 1)),
            ("99999999999999999999999999999999999999.5", 38, 0, None),
        ] {
            assert_eq!(parse_decimal(text.as_bytes(), precision, scale), Ok(value), "{text}");
        }
        for text in ["", ".", "-", "1e", "1e+", " 1", "1 ", "1.2.3", "1f", "NaN", "1e99999999999"] {
            assert!(parse_decimal(text.as_bytes(), 5, 2).is_err(), "{text}");
        }
    }
}
