//! Numbers as Java prints them.

use std::fmt::Write;

/// Writes a DOUBLE as Java's `Double.toString`: `1.0`, `1.0E10`, `NaN`, `Infinity`.
///
/// The digits are the shortest that read back as the same value.
pub fn write_double<W: Write + ?Sized>(out: &mut W, value: f64) {
    let mut text = StackText::default();
    // `{:e}` prints the shortest digits as `d.ddde±x`; Java prints two at least, the nearest ones,
    // which makes a difference for the smallest value: 4.9E-324.
    let _ = match value.abs() == f64::from_bits(1) {
        true => write!(text, "{value:.1e}"),
        false => write!(text, "{value:e}"),
    };
    write_float_text(out, value.is_finite(), value.is_nan(), text.as_str());
}

/// Writes a FLOAT as Java's `Float.toString`.
pub fn write_float<W: Write + ?Sized>(out: &mut W, value: f32) {
    let mut text = StackText::default();
    // Two digits for the smallest values, as for DOUBLE.
    let _ = match value.is_subnormal() && value.abs() < 1e-44 {
        true => write!(text, "{value:.1e}"),
        false => write!(text, "{value:e}"),
    };
    write_float_text(out, value.is_finite(), value.is_nan(), text.as_str());
}

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
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
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
