//! Arithmetic on DECIMAL values as Java's `BigDecimal` does it: digits without their point in 128 bits,
//! HALF_UP rounding, and no value (SQL's NULL) where a result does not fit its precision.

use arrow::datatypes::i256;
use flott_types::text::write_double_digits;

/// The most digits a DECIMAL has.
pub const MAX_PRECISION: u8 = 38;

const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// 10 to the power of `exponent`, which is at most 38.
#[inline]
pub fn pow10(exponent: u8) -> i128 {
    POWERS[usize::from(exponent)]
}

/// Whether the digits are at most `precision` many.
#[inline]
pub fn fits(digits: i128, precision: u8) -> bool {
    digits.unsigned_abs() < pow10(precision).unsigned_abs()
}

/// How many decimal digits a number has; 1 for 0.
pub fn digit_count(digits: i128) -> u8 {
    let magnitude = digits.unsigned_abs();
    let count = POWERS.iter().take_while(|power| power.unsigned_abs() <= magnitude).count();
    count.max(1) as u8
}

/// The same value with another scale, rounded HALF_UP; `None` when it needs more than
/// `precision` digits.
#[inline]
pub fn rescale(digits: i128, from: u8, to: u8, precision: u8) -> Option<i128> {
    let moved = if to >= from {
        digits.checked_mul(pow10(to - from))?
    } else {
        divide_half_up(digits, pow10(from - to))
    };
    fits(moved, precision).then_some(moved)
}

/// The value cut to a smaller scale, towards zero.
#[inline]
pub fn truncate(digits: i128, from: u8, to: u8) -> i128 {
    if to >= from { digits } else { digits / pow10(from - to) }
}

/// `left` ± `right` at the result's scale; `None` when it does not fit.
///
/// `subtract` chooses the sign. Scales are those of the operands, then of the result.
#[inline]
pub fn add(
    (left, left_scale): (i128, u8),
    (right, right_scale): (i128, u8),
    subtract: bool,
    (precision, scale): (u8, u8),
) -> Option<i128> {
    let common = left_scale.max(right_scale);
    let narrow = || {
        let left = left.checked_mul(pow10(common - left_scale))?;
        let right = right.checked_mul(pow10(common - right_scale))?;
        if subtract { left.checked_sub(right) } else { left.checked_add(right) }
    };
    match narrow() {
        Some(sum) => rescale(sum, common, scale, precision),
        None => {
            let left = wide(left).wrapping_mul(wide(pow10(common - left_scale)));
            let right = wide(right).wrapping_mul(wide(pow10(common - right_scale)));
            let sum = if subtract { left.wrapping_sub(right) } else { left.wrapping_add(right) };
            narrow_to(sum, common, scale, precision)
        }
    }
}

/// `left` × `right`, whose product has the sum of their scales; `None` when it does not fit.
#[inline]
pub fn multiply(
    left: i128,
    right: i128,
    product_scale: u8,
    (precision, scale): (u8, u8),
) -> Option<i128> {
    match left.checked_mul(right) {
        Some(product) if product_scale.abs_diff(scale) <= MAX_PRECISION => {
            rescale(product, product_scale, scale, precision)
        }
        _ => {
            let product = wide(left).wrapping_mul(wide(right));
            narrow_to(product, product_scale, scale, precision)
        }
    }
}

/// `left` / `right` rounded to 38 significant digits and then to the result's scale, both HALF_UP;
/// `None` when it does not fit. `right` must not be 0.
#[inline]
pub fn divide(
    (left, left_scale): (i128, u8),
    (right, right_scale): (i128, u8),
    (precision, scale): (u8, u8),
) -> Option<i128> {
    if left == 0 {
        return Some(0);
    }
    // One division gives the result, if rounding to 38 digits first cannot have an influence.
    let shift = i16::from(scale) + i16::from(right_scale) - i16::from(left_scale);
    if (0..=38).contains(&shift)
        && let Some(numerator) = left.checked_mul(pow10(shift as u8))
        && digit_count(numerator) < 37
    {
        let quotient = divide_half_up_signed(numerator, right);
        return fits(quotient, precision).then_some(quotient);
    }
    divide_wide((left, left_scale), (right, right_scale), (precision, scale))
}

fn divide_wide(
    (left, left_scale): (i128, u8),
    (right, right_scale): (i128, u8),
    (precision, scale): (u8, u8),
) -> Option<i128> {
    let negative = (left < 0) != (right < 0);
    let (left, right) = (wide(left).wrapping_abs(), wide(right).wrapping_abs());
    let significant = wide(pow10(MAX_PRECISION));
    // The quotient gets 38 or 39 digits; with one digit too many the shift is one less.
    let mut shift = 38 + i16::from(wide_digit_count(right)) - i16::from(wide_digit_count(left));
    let mut numerator = left.wrapping_mul(wide_pow10(shift));
    if numerator.wrapping_div(right) >= significant {
        shift -= 1;
        numerator = left.wrapping_mul(wide_pow10(shift));
    }
    let quotient = wide_divide_half_up(numerator, right);
    let quotient_scale = i16::from(left_scale) - i16::from(right_scale) + shift;
    let excess = quotient_scale - i16::from(scale);
    let rounded = match excess {
        ..0 => return None,
        0..=76 => wide_divide_half_up(quotient, wide_pow10(excess)),
        _ => i256::ZERO,
    };
    let rounded = rounded.to_i128().filter(|digits| fits(*digits, precision))?;
    Some(if negative { -rounded } else { rounded })
}

/// The remainder of `left` / `right`, with the sign of `left`, at the larger of their scales;
/// then brought to the result's. `None` when it does not fit. `right` must not be 0.
#[inline]
pub fn remainder(
    (left, left_scale): (i128, u8),
    (right, right_scale): (i128, u8),
    (precision, scale): (u8, u8),
) -> Result<Option<i128>, QuotientTooLong> {
    let common = left_scale.max(right_scale);
    let narrow = || {
        let left = left.checked_mul(pow10(common - left_scale))?;
        let right = right.checked_mul(pow10(common - right_scale))?;
        Some(left.wrapping_rem(right))
    };
    match narrow() {
        Some(rest) => Ok(rescale(rest, common, scale, precision)),
        None => {
            let left = wide(left).wrapping_mul(wide(pow10(common - left_scale)));
            let right = wide(right).wrapping_mul(wide(pow10(common - right_scale)));
            if left.wrapping_div(right).wrapping_abs() >= wide(pow10(MAX_PRECISION)) {
                return Err(QuotientTooLong);
            }
            Ok(narrow_to(left.wrapping_rem(right), common, scale, precision))
        }
    }
}

/// A remainder whose quotient has more than 38 digits, which `BigDecimal` refuses to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotientTooLong;

/// Integer division rounded HALF_UP: away from zero at exactly a half. `unit` is positive.
#[inline]
pub fn divide_half_up(digits: i128, unit: i128) -> i128 {
    // 64 bits divide several times faster, and most values have no more.
    if let (Ok(small), Ok(small_unit)) = (i64::try_from(digits), i64::try_from(unit)) {
        let (quotient, rest) = (small / small_unit, small % small_unit);
        let up = rest.unsigned_abs() >= small_unit.unsigned_abs().div_ceil(2);
        return i128::from(quotient + if up { small.signum() } else { 0 });
    }
    let (quotient, rest) = (digits / unit, digits % unit);
    let up = rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2);
    quotient + if up { digits.signum() } else { 0 }
}

fn divide_half_up_signed(numerator: i128, divisor: i128) -> i128 {
    if divisor < 0 {
        divide_half_up(-numerator, -divisor)
    } else {
        divide_half_up(numerator, divisor)
    }
}

fn wide(digits: i128) -> i256 {
    i256::from_i128(digits)
}

/// 10 to the power of `exponent`, 0 to 76.
fn wide_pow10(exponent: i16) -> i256 {
    let exponent = exponent.clamp(0, 76) as u8;
    let high = exponent.saturating_sub(MAX_PRECISION);
    wide(pow10(exponent - high)).wrapping_mul(wide(pow10(high)))
}

fn wide_digit_count(magnitude: i256) -> u8 {
    magnitude.to_i128().map_or(39, digit_count)
}

/// HALF_UP division with a positive divisor.
fn wide_divide_half_up(digits: i256, unit: i256) -> i256 {
    let quotient = digits.wrapping_div(unit);
    let rest = digits.wrapping_rem(unit).wrapping_abs();
    if rest >= unit.wrapping_sub(rest) {
        let step = if digits < i256::ZERO { i256::MINUS_ONE } else { i256::ONE };
        quotient.wrapping_add(step)
    } else {
        quotient
    }
}

fn narrow_to(digits: i256, from: u8, to: u8, precision: u8) -> Option<i128> {
    let moved = if to >= from {
        // More digits than 128 bits hold are too many already.
        wide(digits.to_i128()?).wrapping_mul(wide_pow10(i16::from(to - from)))
    } else {
        wide_divide_half_up(digits, wide_pow10(i16::from(from - to)))
    };
    moved.to_i128().filter(|digits| fits(*digits, precision))
}

/// The value as DOUBLE. Up to 18 digits of precision Flink divides the digits by a power of ten,
/// beyond it takes the nearest DOUBLE.
#[inline]
pub fn to_f64(digits: i128, precision: u8, scale: u8) -> f64 {
    const EXACT: i128 = 1 << 52;
    let small = digits.unsigned_abs() < EXACT.unsigned_abs() && scale <= 22;
    if precision <= 18 || small {
        return digits as f64 / 10f64.powi(i32::from(scale));
    }
    parse_f64(digits, -i32::from(scale))
}

/// A DOUBLE as DECIMAL by its text, rounded HALF_UP, as `BigDecimal.valueOf` does; `None`
/// when it does not fit or is no number.
pub fn from_f64(value: f64, precision: u8, scale: u8) -> Option<i128> {
    let (digits, exponent) = shortest_digits(value)?;
    shift(digits, exponent + i32::from(scale), precision)
}

/// The digits that Java prints for a DOUBLE, mostly the fewest that tell it from its neighbours, and the power of ten
/// they are multiplied with; `None` if it is no finite number.
pub fn shortest_digits(value: f64) -> Option<(i128, i32)> {
    if !value.is_finite() {
        return None;
    }
    let mut text = StackText::new();
    write_double_digits(&mut text, value).ok()?;
    let (mantissa, exponent) = text.as_str().split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let mut digits: i128 = 0;
    let mut fraction = 0;
    let mut after_point = false;
    for byte in mantissa.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + i128::from(byte - b'0');
                fraction += i32::from(after_point);
            }
            b'.' => after_point = true,
            _ => {}
        }
    }
    Some((if value < 0.0 { -digits } else { digits }, exponent - fraction))
}

/// The DOUBLE nearest to `digits` × 10^`exponent`.
pub fn parse_f64(digits: i128, exponent: i32) -> f64 {
    use std::fmt::Write;
    let mut text = StackText::new();
    // Reading digits with an exponent is exact, and needs no point.
    let _ = write!(text, "{digits}e{exponent}");
    text.as_str().parse().unwrap_or(f64::NAN)
}

/// `digits` × 10^`exponent`, rounded HALF_UP to a whole number; `None` when it has more than
/// `precision` digits.
pub fn shift(digits: i128, exponent: i32, precision: u8) -> Option<i128> {
    let moved = match exponent {
        _ if digits == 0 => 0,
        0..=38 => digits.checked_mul(pow10(exponent as u8))?,
        39.. => return None,
        -38..0 => divide_half_up(digits, pow10(-exponent as u8)),
        // Nothing is left of 38 digits.
        _ => 0,
    };
    fits(moved, precision).then_some(moved)
}

/// A short text on the stack, enough for the digits of any number.
struct StackText {
    bytes: [u8; 48],
    len: usize,
}

impl StackText {
    fn new() -> Self {
        Self { bytes: [0; 48], len: 0 }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl std::fmt::Write for StackText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
