//! Numbers as Java prints them.

use std::fmt::Write;

use super::java_digits::{self, DOUBLE, SINGLE};

/// Writes a DOUBLE as Java's `Double.toString`, as of the JDK 17: `1.0`, `1.0E10`, `NaN`, `Infinity`.
///
/// The digits are the shortest that read back as the same value, but for those of
/// [`java_digits`].
pub fn write_double<W: Write + ?Sized>(out: &mut W, value: f64) {
    let text = double_digits(value);
    write_float_text(out, value.is_finite(), value.is_nan(), text.as_str());
}

/// Writes the digits that [`write_double`] writes, as `d.ddde±x` without padding.
pub fn write_double_digits<W: Write + ?Sized>(out: &mut W, value: f64) -> std::fmt::Result {
    out.write_str(double_digits(value).as_str())
}

fn double_digits(value: f64) -> StackText {
    let mut text = StackText::default();
    // `{:e}` prints the shortest digits as `d.ddde±x`; Java prints two at least, the nearest ones,
    // which makes a difference for the smallest value: 4.9E-324.
    let _ = match value.abs() == f64::from_bits(1) {
        true => write!(text, "{value:.1e}"),
        false => write!(text, "{value:e}"),
    };
    let magnitude = value.abs();
    if (LEAST_DOUBLE..MOST).contains(&magnitude) {
        let bits = magnitude.to_bits();
        let mantissa = bits & ((1 << 52) - 1) | (1 << 52);
        let parts = (value < 0.0, mantissa, (bits >> 52) as i32 - 1);
        text.replace(|out, text| java_digits::write(out, DOUBLE, parts, text));
    }
    text
}

/// Writes a FLOAT as Java's `Float.toString`.
pub fn write_float<W: Write + ?Sized>(out: &mut W, value: f32) {
    let mut text = StackText::default();
    // Two digits for the smallest values, as for DOUBLE.
    let _ = match value.is_subnormal() && value.abs() < 1e-44 {
        true => write!(text, "{value:.1e}"),
        false => write!(text, "{value:e}"),
    };
    let magnitude = value.abs();
    let bits = magnitude.to_bits();
    if (LEAST_FLOAT..MOST as f32).contains(&magnitude) {
        let mantissa = u64::from(bits & ((1 << 23) - 1) | (1 << 23));
        let parts = (value < 0.0, mantissa, (bits >> 23) as i32 - 1);
        text.replace(|out, text| java_digits::write(out, SINGLE, parts, text));
    } else if bits << 9 == 0 && value.is_normal() {
        text.replace(|out, text| java_digits::write_power_of_two(out, value, text));
    }
    write_float_text(out, value.is_finite(), value.is_nan(), text.as_str());
}

/// Below these the shortest digits are the JDK's, but for powers of two; see [`java_digits`].
const LEAST_DOUBLE: f64 = (1u64 << 40) as f64;
const LEAST_FLOAT: f32 = (1u32 << 12) as f32;
/// From two to the power of 63 on, too.
const MOST: f64 = 9_223_372_036_854_775_808.0;

fn write_float_text<W: Write + ?Sized>(out: &mut W, finite: bool, nan: bool, scientific: &str) {
    // Memory is all that writing could fail for.
    let _ = match (finite, nan) {
        (true, _) => write_java(out, scientific),
        (false, true) => out.write_str("NaN"),
        (false, false) if scientific.starts_with('-') => out.write_str("-Infinity"),
        (false, false) => out.write_str("Infinity"),
    };
}

/// Java switches to scientific notation below 1E-3 and from 1E7, and always prints a fraction.
fn write_java<W: Write + ?Sized>(out: &mut W, scientific: &str) -> std::fmt::Result {
    let (sign, rest) = match scientific.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", scientific),
    };
    let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (first, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    out.write_str(sign)?;
    if first == "0" {
        return out.write_str("0.0");
    }
    match exponent {
        -3..0 => {
            out.write_str(["0.", "0.0", "0.00"][(-exponent - 1) as usize])?;
            out.write_str(first)?;
            out.write_str(fraction)
        }
        0..7 => {
            let shift = exponent as usize;
            let whole = fraction.len().min(shift);
            out.write_str(first)?;
            out.write_str(&fraction[..whole])?;
            out.write_str(&"000000"[..shift - whole])?;
            out.write_char('.')?;
            out.write_str(if whole < fraction.len() { &fraction[whole..] } else { "0" })
        }
        _ => {
            out.write_str(first)?;
            out.write_char('.')?;
            out.write_str(if fraction.is_empty() { "0" } else { fraction })?;
            write!(out, "E{exponent}")
        }
    }
}

/// Writes a DECIMAL with all digits of its scale and never an exponent: `1.50`.
pub fn write_decimal<W: Write + ?Sized>(out: &mut W, digits: i128, scale: u8) {
    let sign = if digits < 0 { "-" } else { "" };
    let magnitude = digits.unsigned_abs();
    let width = usize::from(scale);
    // Memory is all that writing could fail for; numbers of 64 bits print much faster.
    let _ = match (u64::try_from(magnitude), 10u64.checked_pow(scale.into())) {
        (Ok(magnitude), _) if scale == 0 => write!(out, "{sign}{magnitude}"),
        (Ok(magnitude), Some(unit)) => {
            write!(out, "{sign}{}.{:0width$}", magnitude / unit, magnitude % unit)
        }
        _ if scale == 0 => write!(out, "{sign}{magnitude}"),
        _ => {
            let unit = 10u128.pow(scale.into());
            write!(out, "{sign}{}.{:0width$}", magnitude / unit, magnitude % unit)
        }
    };
}

/// A small text on the stack: shortest digits of a float never exceed it.
#[derive(Default)]
struct StackText {
    bytes: [u8; 32],
    len: usize,
}

impl StackText {
    /// Takes what `write` makes of the text, if it says so.
    fn replace(&mut self, write: impl FnOnce(&mut Self, &str) -> Result<bool, std::fmt::Error>) {
        let mut other = Self::default();
        if let Ok(true) = write(&mut other, self.as_str()) {
            *self = other;
        }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl Write for StackText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> String {
        let mut out = String::new();
        write_double(&mut out, value);
        out
    }

    #[test]
    fn doubles_print_as_java_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (123456.789, "123456.789"),
            (9999999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.25e-3, "0.00125"),
            (1.25e-4, "1.25E-4"),
            (-1.5e300, "-1.5E300"),
            (100.0, "100.0"),
            (f64::from_bits(1), "4.9E-324"),
            // Whole numbers of which not all digits are known.
            (9_007_199_254_740_993.0, "9.007199254740992E15"),
            (324_534_158_776_075_400.0, "3.2453415877607539E17"),
            (1_750_423_542_865_795_800.0, "1.75042354286579584E18"),
            (-2_157_349_312_477_753_300.0, "-2.15734931247775334E18"),
            (1e18, "1.0E18"),
            (1e19, "1.0E19"),
            // Two texts are as near.
            (598_803_990_663_483.0 + 0.25, "5.988039906634832E14"),
            (150_894_924_949_118.0 + 0.625, "1.5089492494911862E14"),
            (0.5, "0.5"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn floats_print_as_java_does() {
        for (value, text) in [
            (0.1, "0.1"),
            (123_456_789.0, "1.23456792E8"),
            (16_777_217.0, "1.6777216E7"),
            (-8.091_214e8, "-8.0912141E8"),
            (2.320_806e17, "2.32080602E17"),
            (1e10, "1.0E10"),
            (f32::MIN_POSITIVE, "1.17549435E-38"),
            (f32::from_bits(1), "1.4E-45"),
            (2f32.powi(-96), "1.26217745E-29"),
            (2f32.powi(-10), "9.765625E-4"),
            (f32::MAX, "3.4028235E38"),
        ] {
            let mut out = String::new();
            write_float(&mut out, value);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn decimals_keep_their_scale() {
        for (digits, scale, text) in [(150, 2, "1.50"), (-5, 3, "-0.005"), (42, 0, "42")] {
            let mut out = String::new();
            write_decimal(&mut out, digits, scale);
            assert_eq!(out, text);
        }
    }
}
