//! The digits of floating-point numbers where the JDK's differ from the shortest.
//!
//! Up to version 18 `Double.toString` and `Float.toString` give the fewest digits that read back as the value,
//! but for these:
//!
//! - Whole numbers too large to have all their digits are cut to as many digits as were sure to be known:
//!   `1.23456792E8` of a FLOAT.
//! - Of two shortest texts that are equally near the one with the even last digit is chosen.
//! - The numbers below a power of two lie half as far off as those above, and the JDK takes the nearer
//!   distance for both. For FLOAT that is done here, too.

use std::fmt::Write;

/// A format of numbers: how they are made of bits.
#[derive(Clone, Copy)]
pub(super) struct Binary {
    /// Bits of the mantissa, the one that is not written included.
    bits: u32,
    /// The value of the lowest bit of the smallest normal number is two to the power of this.
    lowest: i32,
}

/// FLOAT.
pub(super) const SINGLE: Binary = Binary { bits: 24, lowest: -149 };
/// DOUBLE.
pub(super) const DOUBLE: Binary = Binary { bits: 53, lowest: -1074 };

/// Writes `d.ddde±x` where the JDK's digits may differ from `shortest`, which is of that form; whether it did.
///
/// The value is `mantissa × 2^(exponent + lowest)`, a normal number from 1 to below 2^63.
pub(super) fn write(
    out: &mut impl Write,
    format: Binary,
    (negative, mantissa, exponent): (bool, u64, i32),
    shortest: &str,
) -> Result<bool, std::fmt::Error> {
    // The value lies between two to the power of this and the next power.
    let power = exponent + format.lowest + format.bits as i32 - 1;
    if power >= format.bits as i32 {
        let whole = mantissa << (power + 1 - format.bits as i32);
        // As many digits as bits have that are not known: 1233 / 4096 is the logarithm of two.
        let unknown = ((power - format.bits as i32 - 1).max(0) as u32 * 1233) >> 12;
        let unit = 10u64.pow(unknown);
        let rounded = whole / unit + u64::from(unknown > 0 && whole % unit >= unit / 2);
        return write_scientific(out, negative, rounded, unknown as i32).map(|()| true);
    }
    // The value has `places` bits behind its point.
    let places = (format.bits as i32 - 1 - power) as u32;
    let Some(decimals) = decimals(shortest).filter(|decimals| (1..=20).contains(decimals)) else {
        return Ok(false);
    };
    let scaled = u128::from(mantissa) * 10u128.pow(decimals);
    let (floor, rest) = (scaled >> places, scaled & ((1 << places) - 1));
    if rest << 1 != 1 << places {
        return Ok(false);
    }
    let even = floor + (floor & 1);
    write_scientific(out, negative, even as u64, -(decimals as i32)).map(|()| true)
}

/// As [`write`], for a FLOAT that is a power of two.
pub(super) fn write_power_of_two(
    out: &mut impl Write,
    value: f32,
    shortest: &str,
) -> Result<bool, std::fmt::Error> {
    let exact = f64::from(value);
    // A quarter of the distance to the next larger one.
    let margin = exact.abs() / f64::from(1 << 25);
    let is_near = |text: &str| text.parse::<f64>().is_ok_and(|near| (near - exact).abs() < margin);
    if is_near(shortest) {
        return Ok(false);
    }
    let longer = (1..9).map(|decimals| format!("{exact:.decimals$e}"));
    match longer.into_iter().find(|text| is_near(text)) {
        Some(text) => out.write_str(&text).map(|()| true),
        None => Ok(false),
    }
}

/// How many digits stand behind the point, written without an exponent.
fn decimals(scientific: &str) -> Option<u32> {
    let (mantissa, exponent) = scientific.split_once('e')?;
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    u32::try_from(fraction as i32 - exponent.parse::<i32>().ok()?).ok()
}

/// `digits × 10^exponent` as `d.ddde±x`.
fn write_scientific(
    out: &mut impl Write,
    negative: bool,
    mut digits: u64,
    mut exponent: i32,
) -> std::fmt::Result {
    while digits > 9 && digits.is_multiple_of(10) {
        digits /= 10;
        exponent += 1;
    }
    let behind = digits.checked_ilog10().unwrap_or(0);
    let unit = 10u64.pow(behind);
    let sign = if negative { "-" } else { "" };
    write!(out, "{sign}{}", digits / unit)?;
    if behind > 0 {
        write!(out, ".{:0width$}", digits % unit, width = behind as usize)?;
    }
    write!(out, "e{}", exponent + behind as i32)
}
