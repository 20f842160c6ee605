//! Objects written by specifiers.

use std::fmt::Write;

use jiff::tz::TimeZone;

use super::argument::Argument;
use super::float;
use super::spec::{Conversion, Format, Index, Piece, Spec};
use super::time;

impl Format {
    /// Appends the objects; `None` if they do not fit the format.
    pub fn write(&self, objects: &[Argument], zone: &TimeZone, out: &mut String) -> Option<()> {
        let (mut next, mut last) = (0, None);
        for piece in &self.pieces {
            let spec = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Spec(spec) => spec,
            };
            match spec.conversion {
                Conversion::Line => out.push('\n'),
                Conversion::Percent => spec.justify("%", out),
                _ => {
                    let place = match spec.index {
                        Index::Next => {
                            next += 1;
                            next - 1
                        }
                        Index::Last => last?,
                        Index::At(place) => place,
                    };
                    last = Some(place);
                    spec.write(objects.get(place)?, zone, out)?;
                }
            }
        }
        Some(())
    }
}

impl Spec {
    fn write(&self, object: &Argument, zone: &TimeZone, out: &mut String) -> Option<()> {
        if let (Argument::Null, conversion) = (object, self.conversion) {
            let text = if conversion == Conversion::Boolean { "false" } else { "null" };
            self.write_text(text, out);
            return Some(());
        }
        match self.conversion {
            Conversion::Text => self.write_text(&object.text(), out),
            Conversion::Boolean => {
                self.write_text(
                    if matches!(object, Argument::Boolean(false)) { "false" } else { "true" },
                    out,
                );
            }
            Conversion::Hash => self.write_text(&format!("{:x}", object.hash_code()?), out),
            Conversion::Character => self.write_character(object, out)?,
            Conversion::Decimal | Conversion::Octal | Conversion::Hex => {
                let Argument::Integer { value, bits } = object else { return None };
                match self.conversion {
                    Conversion::Decimal => self.write_decimal(*value, out),
                    _ => self.write_bits(*value, *bits, out)?,
                }
            }
            Conversion::Scientific
            | Conversion::General
            | Conversion::Fixed
            | Conversion::HexFloat => self.write_float(
                match object {
                    Argument::Double(value) => *value,
                    Argument::Float(value) => f64::from(*value),
                    _ => return None,
                },
                matches!(object, Argument::Float(_)),
                out,
            ),
            Conversion::Time(letter) => {
                let Argument::Integer { value, bits: 64 } = object else { return None };
                self.write_text(&time::format(letter, *value, zone)?, out);
            }
            Conversion::Line | Conversion::Percent => {}
        }
        Some(())
    }

    /// Cuts a text to the precision and brings it to the width.
    fn write_text(&self, text: &str, out: &mut String) {
        let cut = self.precision.map_or(text.len(), |units| utf16_offset(text, units));
        let text = &text[..cut];
        if self.upper { self.justify(&text.to_uppercase(), out) } else { self.justify(text, out) }
    }

    /// Appends a text with blanks up to the width.
    fn justify(&self, text: &str, out: &mut String) {
        let blanks = match self.width {
            Some(width) => width.saturating_sub(text.encode_utf16().count()),
            None => 0,
        };
        if !self.flags.left {
            out.extend(std::iter::repeat_n(' ', blanks));
        }
        out.push_str(text);
        if self.flags.left {
            out.extend(std::iter::repeat_n(' ', blanks));
        }
    }

    fn write_character(&self, object: &Argument, out: &mut String) -> Option<()> {
        let Argument::Integer { value, bits: 8 | 16 | 32 } = object else { return None };
        let code = u32::try_from(*value).ok().filter(|code| *code <= 0x10ffff)?;
        // Half a character is written as a question mark.
        let c = char::from_u32(code).unwrap_or('?');
        self.write_text(c.encode_utf8(&mut [0; 4]), out);
        Some(())
    }

    fn write_decimal(&self, value: i64, out: &mut String) {
        let digits = value.unsigned_abs().to_string();
        self.write_number(value < 0, &digits, "", out);
    }

    /// `%x` and `%o`: the bits of the two's complement.
    fn write_bits(&self, value: i64, bits: u32, out: &mut String) -> Option<()> {
        let flags = &self.flags;
        if flags.parentheses || flags.space || flags.plus {
            return None;
        }
        let value = value as u64 & (u64::MAX >> (64 - bits));
        let (prefix, digits) = match self.conversion {
            Conversion::Octal => ("0", format!("{value:o}")),
            _ => ("0x", format!("{value:x}")),
        };
        let mut text = String::from(if flags.alternate { prefix } else { "" });
        if flags.zero {
            let zeros = self.width.unwrap_or(0).saturating_sub(text.len() + digits.len());
            text.extend(std::iter::repeat_n('0', zeros));
        }
        text.push_str(&digits);
        if self.upper {
            text.make_ascii_uppercase();
        }
        self.justify(&text, out);
        Some(())
    }

    fn write_float(&self, value: f64, is_float: bool, out: &mut String) {
        let negative = value.is_sign_negative() && !value.is_nan();
        if !value.is_finite() {
            let mut text = String::new();
            self.write_sign(negative, &mut text);
            text.push_str(if value.is_nan() { "NaN" } else { "Infinity" });
            text.push_str(self.closing(negative));
            if self.upper {
                text.make_ascii_uppercase();
            }
            self.justify(&text, out);
            return;
        }
        let value = value.abs();
        let alternate = self.flags.alternate;
        match self.conversion {
            Conversion::HexFloat => self.write_hex_float(negative, value, out),
            Conversion::Fixed => {
                let digits = float::fixed(value, self.precision.unwrap_or(6), alternate);
                self.write_number(negative, &digits, "", out);
            }
            Conversion::Scientific => {
                let (mantissa, exponent) =
                    float::scientific(value, self.precision.unwrap_or(6), alternate);
                self.write_number(negative, &mantissa, &exponent, out);
            }
            _ => {
                let (mantissa, exponent) = float::general(value, self.precision.unwrap_or(6));
                self.write_number(negative, &mantissa, &exponent, out);
            }
        }
        debug_assert!(!is_float || value <= f64::from(f32::MAX));
    }

    /// Appends a number of ASCII digits: sign, grouping, zeros and blanks up to the width.
    fn write_number(&self, negative: bool, digits: &str, exponent: &str, out: &mut String) {
        let mut text = String::new();
        self.write_sign(negative, &mut text);
        let closing = self.closing(negative);
        let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
        let commas = if self.flags.group { (whole.len() - 1) / 3 } else { 0 };
        if let (true, Some(width)) = (self.flags.zero, self.width) {
            let length = text.len() + digits.len() + commas + exponent.len() + closing.len();
            text.extend(std::iter::repeat_n('0', width.saturating_sub(length)));
        }
        for (i, digit) in whole.chars().enumerate() {
            if commas > 0 && i > 0 && (whole.len() - i) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        text.push_str(fraction);
        text.push_str(exponent);
        text.push_str(closing);
        if self.upper {
            text.make_ascii_uppercase();
        }
        self.justify(&text, out);
    }

    fn write_hex_float(&self, negative: bool, value: f64, out: &mut String) {
        let digits = float::hexadecimal(value, self.precision);
        let mut text = String::new();
        self.write_sign(negative, &mut text);
        text.push_str("0x");
        if let (true, Some(width)) = (self.flags.zero, self.width) {
            let zeros = width.saturating_sub(text.len() + digits.len());
            text.extend(std::iter::repeat_n('0', zeros));
        }
        text.push_str(&digits);
        if self.upper {
            text.make_ascii_uppercase();
        }
        self.justify(&text, out);
    }

    fn write_sign(&self, negative: bool, text: &mut String) {
        let flags = &self.flags;
        let sign = match negative {
            true if flags.parentheses => "(",
            true => "-",
            false if flags.plus => "+",
            false if flags.space => " ",
            false => "",
        };
        let _ = text.write_str(sign);
    }

    /// What ends a negative number.
    fn closing(&self, negative: bool) -> &'static str {
        if negative && self.flags.parentheses { ")" } else { "" }
    }
}

/// The byte offset of a number of UTF-16 units, never inside of a character.
fn utf16_offset(text: &str, units: usize) -> usize {
    let mut left = units;
    text.char_indices()
        .find_map(|(offset, c)| match left.checked_sub(c.len_utf16()) {
            Some(rest) => {
                left = rest;
                None
            }
            None => Some(offset),
        })
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(format: &str, objects: &[Argument]) -> Option<String> {
        let mut out = String::new();
        Format::parse(format)?.write(objects, &TimeZone::UTC, &mut out).map(|()| out)
    }

    fn int(value: i64) -> Argument<'static> {
        Argument::Integer { value, bits: 32 }
    }

    #[test]
    fn integers_are_signed_grouped_and_padded() {
        for (spec, value, wanted) in [
            ("%5d|%<-5d|%<05d", 42, Some("   42|42   |00042")),
            ("%+d", 5, Some("+5")),
            ("% d", 5, Some(" 5")),
            ("%(d", -5, Some("(5)")),
            ("%(05d", -5, Some("(005)")),
            ("%,d", -1234567, Some("-1,234,567")),
            ("%,08d", 1234, Some("0001,234")),
            ("%+05d|", 42, Some("+0042|")),
            ("%x %<X %<o", 255, Some("ff FF 377")),
            ("%x", -1, Some("ffffffff")),
            ("%#08x", 255, Some("0x0000ff")),
            ("%#X", 255, Some("0XFF")),
            ("%-#8x|", 255, Some("0xff    |")),
            ("%+x", 255, None),
            ("%c", 128512, Some("😀")),
            ("%c", 55357, Some("?")),
            ("%c", -1, None),
            ("%-3c|", 65, Some("A  |")),
            ("%b", 5, Some("true")),
            ("%8h|", 5, Some("       5|")),
            ("%f", 5, None),
            ("%tY", 5, None),
        ] {
            assert_eq!(format(spec, &[int(value)]).as_deref(), wanted, "{spec}");
        }
        let tiny = Argument::Integer { value: -1, bits: 8 };
        assert_eq!(format("%x %<o", &[tiny]).as_deref(), Some("ff 377"));
    }

    #[test]
    fn floats_are_rounded_half_up() {
        for (spec, value, wanted) in [
            ("%f", 1.0, "1.000000"),
            ("%.0f", 2.5, "3"),
            ("%.0f", 0.5, "1"),
            ("%#.0f", 3.5, "4."),
            ("%.1f", 0.35, "0.4"),
            ("%.2f", 1.005, "1.01"),
            ("%.20f", 0.1, "0.10000000000000000000"),
            ("%,.2f", 1234567.891, "1,234,567.89"),
            ("%(,.2f", -1234567.891, "(1,234,567.89)"),
            ("%010.2f", -3.13579, "-000003.14"),
            ("%,015.2f", 1234567.891, "0001,234,567.89"),
            ("%-10.2f|", 3.13579, "3.14      |"),
            ("%.1f", 99.95, "100.0"),
            ("%.2f", 1e-7, "0.00"),
            ("%.0f", 1e20, "100000000000000000000"),
            ("%f", f64::NAN, "NaN"),
            ("%(f", f64::NEG_INFINITY, "(Infinity)"),
            ("%010f", f64::NEG_INFINITY, " -Infinity"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%E", 12345.678, "1.234568E+04"),
            ("%e", 0.0, "0.000000e+00"),
            ("%.0e", 12345.678, "1e+04"),
            ("%#.0e", 12345.678, "1.e+04"),
            ("%.3e", 1e100, "1.000e+100"),
            ("%e", 9.9999999, "1.000000e+01"),
            ("%012.3e", 12345.678, "0001.235e+04"),
            ("%g", 12345.678, "12345.7"),
            ("%g", 0.0001, "0.000100000"),
            ("%g", 0.00001, "1.00000e-05"),
            ("%g", 1234567.8, "1.23457e+06"),
            ("%.0g", 1234.5, "1e+03"),
            ("%g", 0.0, "0.00000"),
            ("%G", 1e20, "1.00000E+20"),
            ("%,g", 12345.678, "12,345.7"),
            ("%.3g", 0.000099999, "0.000100"),
            ("%.3g", 999.99, "1.00e+03"),
            ("%.3g", 99.99, "100"),
            ("%a", 1.0, "0x1.0p0"),
            ("%a", -1.5, "-0x1.8p0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%A", 10.5, "0X1.5P3"),
            ("%.2a", 0.1, "0x1.9ap-4"),
            ("%.1a", 1.96875, "0x1.0p1"),
            ("%a", 1e-320, "0x0.00000000007e8p-1022"),
            ("%020a|", 1.5, "0x00000000000001.8p0|"),
        ] {
            let result = format(spec, &[Argument::Double(value)]);
            assert_eq!(result.as_deref(), Some(wanted), "{spec} {value}");
        }
    }

    #[test]
    fn objects_are_chosen_by_place() {
        let objects = [int(1), int(2)];
        for (spec, wanted) in [
            ("%2$s %1$s", Some("2 1")),
            ("%2$s %s %s", Some("2 1 2")),
            ("%s %<s %s", Some("1 1 2")),
            ("%s", Some("1")),
            ("%%%n", Some("%\n")),
            ("%5%|%-5%|", Some("    %|%    |")),
            ("%<s", None),
            ("%3$s", None),
            ("%s %s %s", None),
        ] {
            assert_eq!(format(spec, &objects).as_deref(), wanted, "{spec}");
        }
    }

    #[test]
    fn texts_are_cut_and_justified() {
        let objects = [Argument::Text("abc"), Argument::Null, Argument::Text("ab😀")];
        for (spec, wanted) in [
            ("%S", Some("ABC")),
            ("%.2s", Some("ab")),
            ("%-5.2s|", Some("ab   |")),
            ("%2$5s|", Some(" null|")),
            ("%2$.2s|", Some("nu|")),
            ("%2$05d|", Some(" null|")),
            ("%2$X|", Some("NULL|")),
            ("%2$b|", Some("false|")),
            ("%3$10s|", Some("      ab😀|")),
            ("%.3h", Some("4ed")),
            ("%d", None),
            ("%c", None),
        ] {
            assert_eq!(format(spec, &objects).as_deref(), wanted, "{spec}");
        }
    }
}
