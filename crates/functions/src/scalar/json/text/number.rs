//! Numbers of JSON texts, printed and compared as Java's `Integer`, `BigInteger` and `BigDecimal`.

use std::cmp::Ordering;
use std::fmt::Write;

use flott_types::text::write_double;

use super::Problem;

/// How many digits a number may have: Jackson's limit.
const MAX_DIGITS: usize = 1000;

/// A number as it stands in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberText<'a> {
    text: &'a str,
    integer: bool,
}

/// A number of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'a> {
    /// One of the text.
    Text(NumberText<'a>),
    /// What a function of a path gives.
    Double(f64),
    /// The size of something.
    Count(usize),
}

impl<'a> NumberText<'a> {
    /// Reads a number from the start of a text, with its length; or what is wrong, and where.
    pub(super) fn read(text: &'a str) -> Result<(Self, usize), (Problem, usize)> {
        let bytes = text.as_bytes();
        let digits = |from: usize| {
            bytes[from..].iter().position(|b| !b.is_ascii_digit()).unwrap_or(bytes.len() - from)
        };
        let some_digits = |from: usize| match digits(from) {
            0 if from < bytes.len() => Err((Problem::Character, from)),
            0 => Err((Problem::End, from)),
            n => Ok(n),
        };
        let start = usize::from(bytes.first() == Some(&b'-'));
        let mut count = some_digits(start)?;
        if count > 1 && bytes[start] == b'0' {
            return Err((Problem::LeadingZero, start));
        }
        let mut at = start + count;
        let mut integer = true;
        if bytes.get(at) == Some(&b'.') {
            integer = false;
            let fraction = some_digits(at + 1)?;
            count += fraction;
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            integer = false;
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = some_digits(at)?;
            count += exponent;
            at += exponent;
        }
        if count > MAX_DIGITS {
            return Err((Problem::LongNumber, 0));
        }
        let number = Self { text: &text[..at], integer };
        if !integer && Decimal::parse(number.text).is_none() {
            return Err((Problem::Exponent, 0));
        }
        Ok((number, at))
    }

    /// The number as it was written.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether it was written without point and exponent.
    pub fn is_integer(&self) -> bool {
        self.integer
    }

    /// Writes it as Java prints it.
    pub fn write(&self, out: &mut String) {
        match self.text {
            "-0" => out.push('0'),
            text if self.integer || prints_as_written(text) => out.push_str(text),
            text => write_big_decimal(out, text),
        }
    }
}

impl Number<'_> {
    /// Writes it as Java prints it: `1`, `1.50`, `1E+20`, `7.0`.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Text(number) => number.write(out),
            Self::Double(number) => write_double(out, *number),
            Self::Count(count) => {
                let _ = write!(out, "{count}");
            }
        }
    }

    /// The nearest DOUBLE; never -0.0, which Java's decimal numbers have not.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Text(number) => match number.text.parse() {
                Ok(0.0) => 0.0,
                Ok(number) => number,
                Err(_) => f64::NAN,
            },
            Self::Double(number) => number,
            Self::Count(count) => count as f64,
        }
    }
}

/// Whether a number with a point or an exponent prints as it is written; false when in doubt.
fn prints_as_written(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match digits.split_once('.') {
        _ if text.contains(['e', 'E']) => false,
        Some(("0", fraction)) => fraction.len() <= 6 && !text.starts_with('-'),
        Some(_) => true,
        None => false,
    }
}

/// Writes a number as Java's `BigDecimal` of that text prints; the text itself, if it is no number or its
/// exponent is beyond 32 bits.
pub fn write_big_decimal(out: &mut String, text: &str) {
    match Decimal::parse(text) {
        Some(decimal) => decimal.write(out),
        None => out.push_str(text),
    }
}

/// Java's `BigDecimal`: digits of which the last `scale` ones stand behind the point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Without leading zeros; `0` for zero.
    digits: String,
    scale: i32,
}

impl Decimal {
    /// Reads a number as the constructor of `BigDecimal` does.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let scale = i32::try_from(fraction.len() as i64 - i64::from(exponent)).ok()?;
        let mut digits = String::with_capacity(whole.len() + fraction.len());
        digits.push_str(whole);
        digits.push_str(fraction);
        let zeros = digits.bytes().take_while(|b| *b == b'0').count().min(digits.len() - 1);
        digits.drain(..zeros);
        Some(Self { negative: negative && digits != "0", digits, scale })
    }

    /// Writes it as `BigDecimal.toString` does: plain down to 1E-6, and without exponent unless zeros
    /// before the point would have to be made up.
    pub fn write(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        let count = self.digits.len();
        let adjusted = count as i64 - 1 - i64::from(self.scale);
        if self.scale >= 0 && adjusted >= -6 {
            let scale = self.scale as usize;
            if scale == 0 {
                out.push_str(&self.digits);
            } else if count > scale {
                out.push_str(&self.digits[..count - scale]);
                out.push('.');
                out.push_str(&self.digits[count - scale..]);
            } else {
                out.push_str("0.");
                out.extend(std::iter::repeat_n('0', scale - count));
                out.push_str(&self.digits);
            }
            return;
        }
        out.push_str(&self.digits[..1]);
        if count > 1 {
            out.push('.');
            out.push_str(&self.digits[1..]);
        }
        let _ = write!(out, "E{adjusted:+}");
    }

    /// The part before the point, if it fits.
    pub fn to_i32(&self) -> Option<i32> {
        let whole = self.digits.len() as i64 - i64::from(self.scale);
        let magnitude: i64 = match whole {
            _ if self.is_zero() || whole <= 0 => 0,
            11.. => return None,
            _ => {
                let whole = whole as usize;
                let zeros = whole.saturating_sub(self.digits.len());
                let kept = &self.digits[..whole.min(self.digits.len())];
                kept.parse::<i64>().ok()? * 10i64.pow(zeros as u32)
            }
        };
        i32::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// Whether it is zero.
    fn is_zero(&self) -> bool {
        self.digits == "0"
    }
}

impl Decimal {
    /// The order of values, whatever their scales.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self.sign(), other.sign()) {
            (0, 0) => Ordering::Equal,
            (a, b) if a != b => a.cmp(&b),
            (1, _) => self.compare_magnitude(other),
            _ => other.compare_magnitude(self),
        }
    }

    fn sign(&self) -> i32 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => -1,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let exponent = |d: &Self| d.digits.len() as i64 - i64::from(d.scale);
        exponent(self).cmp(&exponent(other)).then_with(|| {
            let length = self.digits.len().max(other.digits.len());
            let padded = |d: &Self| {
                let zeros = std::iter::repeat_n(b'0', length - d.digits.len());
                d.digits.clone().into_bytes().into_iter().chain(zeros)
            };
            padded(self).cmp(padded(other))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_java() {
        for (text, printed) in [
            ("0", "0"),
            ("-0", "0"),
            ("12345678901234567890", "12345678901234567890"),
            ("1.50", "1.50"),
            ("-0.0", "0.0"),
            ("-0.5", "-0.5"),
            ("1e5", "1E+5"),
            ("1.0E+2", "1.0E+2"),
            ("1.50e1", "15.0"),
            ("100e-2", "1.00"),
            ("-1.5E3", "-1.5E+3"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1E-7"),
            ("0.0000000", "0E-7"),
            ("0.00000012", "1.2E-7"),
            ("1E-5", "0.00001"),
            ("1e2147483647", "1E+2147483647"),
            ("0.1234567890123456789", "0.1234567890123456789"),
        ] {
            let (number, length) = NumberText::read(text).unwrap();
            assert_eq!(length, text.len());
            let mut out = String::new();
            number.write(&mut out);
            assert_eq!(out, printed, "{text}");
        }
    }

    #[test]
    fn numbers_compare_by_value() {
        let parse = |text| Decimal::parse(text).unwrap();
        let ascending = ["-1e20", "-2", "-1.5", "0", "1e-7", "0.5", "1", "9.99", "10", "1e20"];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(parse(a).compare(&parse(b)), i.cmp(&j), "{a} {b}");
            }
        }
        for (a, b) in [("1", "1.00"), ("100", "1e2"), ("0", "-0.0"), ("0e5", "0")] {
            assert_eq!(parse(a).compare(&parse(b)), Ordering::Equal, "{a} {b}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", ".", "x", "1x", "1e", "1e99999999999", "1 "] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
