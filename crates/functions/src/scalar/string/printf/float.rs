//! The digits of floating-point numbers as Java's `Formatter` rounds them: half up, from the shortest
//! digits that read back as the number.

use std::fmt::Write;

use flott_types::text::write_double_digits;

/// The decimal digits of a number that is finite and not negative: `0.d₁d₂d₃… × 10^point`.
struct Digits {
    digits: Vec<u8>,
    point: i32,
}

impl Digits {
    fn new(value: f64) -> Self {
        let mut text = String::new();
        // Memory is all that writing could fail for.
        let _ = write_double_digits(&mut text, value);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0');
        Self { digits: digits.collect(), point: exponent.parse().unwrap_or(0) + 1 }
    }

    /// Rounds to so many digits; nothing happens if there are fewer, or if the number is negative.
    fn round(&mut self, digits: i32) {
        let Ok(kept) = usize::try_from(digits) else { return };
        if kept >= self.digits.len() {
            return;
        }
        let up = self.digits[kept] >= 5;
        self.digits.truncate(kept);
        if !up {
            if kept == 0 {
                self.digits.push(0);
            }
            return;
        }
        while let Some(last) = self.digits.pop() {
            if last < 9 {
                self.digits.push(last + 1);
                return;
            }
        }
        self.digits.push(1);
        self.point += 1;
    }

    /// Appends the digit at a place relative to the point: 0 is the first behind it.
    fn push_digit(&self, place: i32, out: &mut String) {
        let digit = usize::try_from(place + self.point).ok().and_then(|i| self.digits.get(i));
        out.push(char::from(b'0' + digit.copied().unwrap_or(0)));
    }

    /// The number with so many digits behind the point.
    fn fixed(&self, fraction: usize, point: bool) -> String {
        let mut out = String::new();
        for place in -self.point.max(1)..0 {
            self.push_digit(place, &mut out);
        }
        if fraction > 0 || point {
            out.push('.');
        }
        (0..fraction as i32).for_each(|place| self.push_digit(place, &mut out));
        out
    }

    /// The number with one digit before the point and so many behind it, and the exponent.
    fn scientific(&self, fraction: usize, point: bool) -> (String, String) {
        let shifted = Self { digits: self.digits.clone(), point: 1 };
        let exponent = if self.digits.first() == Some(&0) { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        (shifted.fixed(fraction, point), format!("e{sign}{:02}", exponent.unsigned_abs()))
    }
}

/// `%f`
pub fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    let mut digits = Digits::new(value);
    digits.round(digits.point.saturating_add(bounded(precision)));
    digits.fixed(precision, alternate)
}

/// `%e`: the mantissa and the exponent with its `e`.
pub fn scientific(value: f64, precision: usize, alternate: bool) -> (String, String) {
    let mut digits = Digits::new(value);
    digits.round(bounded(precision).saturating_add(1));
    digits.scientific(precision, alternate)
}

/// `%g`: as `%f` with so many digits in all from 10^-4 to 10^precision, else as `%e`.
pub fn general(value: f64, precision: usize) -> (String, String) {
    let precision = precision.max(1);
    let mut digits = Digits::new(value);
    digits.round(bounded(precision));
    if value == 0.0 {
        return (digits.fixed(precision - 1, false), String::new());
    }
    let behind = bounded(precision).saturating_sub(digits.point);
    if digits.point - 1 < -4 || behind < 0 {
        return digits.scientific(precision - 1, false);
    }
    (digits.fixed(behind as usize, false), String::new())
}

/// `%a` without its `0x`: all digits, or so many, but at least one.
pub fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    const FRACTION_BITS: u32 = 52;
    let bits = value.to_bits();
    let mut fraction = bits & ((1 << FRACTION_BITS) - 1);
    let mut exponent = (bits >> FRACTION_BITS) as i32 - 1023;
    let digits = precision.map(|precision| precision.max(1));
    let subnormal = exponent == -1023;
    let mut out = String::new();
    match digits {
        Some(digits) if digits < 13 && value != 0.0 => {
            if subnormal {
                let shift = fraction.leading_zeros() - (63 - FRACTION_BITS);
                fraction = (fraction << shift) & ((1 << FRACTION_BITS) - 1);
                exponent = -1022 - shift as i32;
            }
            // Round to the nearest, to even on a tie.
            let dropped = FRACTION_BITS - 4 * digits as u32;
            let whole = (1u64 << FRACTION_BITS | fraction) >> dropped;
            let rest = (fraction << (64 - dropped)).cmp(&(1 << 63));
            let up = rest.is_gt() || (rest.is_eq() && whole & 1 == 1);
            let mut rounded = whole + u64::from(up);
            if rounded >> (4 * digits) > 1 {
                rounded >>= 1;
                exponent += 1;
            }
            let rounded = rounded & ((1 << (4 * digits)) - 1);
            let _ = write!(out, "1.{rounded:0digits$x}");
        }
        _ => {
            let lead = if subnormal { 0 } else { 1 };
            let text = format!("{fraction:013x}");
            let kept = text.trim_end_matches('0');
            let _ = write!(out, "{lead}.{}", if kept.is_empty() { "0" } else { kept });
            if subnormal {
                exponent = if value == 0.0 { 0 } else { -1022 };
            }
            if let Some(digits) = digits {
                let zeros = digits.saturating_sub(out.len() - 2);
                out.extend(std::iter::repeat_n('0', zeros));
            }
        }
    }
    let _ = write!(out, "p{exponent}");
    out
}

/// A number of digits, of which no more than an `i32` count.
fn bounded(digits: usize) -> i32 {
    i32::try_from(digits).unwrap_or(i32::MAX)
}
