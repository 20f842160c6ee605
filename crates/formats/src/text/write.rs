//! Values as Java prints them, appended to bytes.

use flott_types::text::{self, civil_from_days};

/// Writes a DATE as `ISO_LOCAL_DATE`: years past 9999 carry a plus.
pub(crate) fn write_date(out: &mut Vec<u8>, days: i64) {
    let date = civil_from_days(days);
    match date.year {
        10_000.. => out.push(b'+'),
        ..0 => out.push(b'-'),
        _ => {}
    }
    write_padded(out, date.year.unsigned_abs(), 4);
    out.push(b'-');
    write_padded(out, date.month, 2);
    out.push(b'-');
    write_padded(out, date.day, 2);
}

/// Writes `HH:mm:ss`, with as much of a fraction as there is.
pub(crate) fn write_nanos_of_day(out: &mut Vec<u8>, nanos: i64) {
    let seconds = (nanos / 1_000_000_000) as u32;
    write_padded(out, seconds / 3600, 2);
    out.push(b':');
    write_padded(out, seconds / 60 % 60, 2);
    out.push(b':');
    write_padded(out, seconds % 60, 2);
    let fraction = (nanos % 1_000_000_000) as u32;
    if fraction != 0 {
        out.push(b'.');
        write_padded(out, fraction, 9);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

fn write_padded(out: &mut Vec<u8>, number: u32, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    out.extend(std::iter::repeat_n(b'0', width.saturating_sub(digits.len())));
    out.extend_from_slice(digits.as_bytes());
}

/// Writes a DOUBLE as `Double.toString`.
pub(crate) fn write_double(out: &mut Vec<u8>, value: f64) {
    text::write_double(&mut Appended(out), value);
}

/// Writes a FLOAT as `Float.toString`.
pub(crate) fn write_float(out: &mut Vec<u8>, value: f32) {
    text::write_float(&mut Appended(out), value);
}

/// Bytes that texts are appended to.
struct Appended<'a>(&'a mut Vec<u8>);

impl std::fmt::Write for Appended<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Writes a DECIMAL: `plain` with all digits of its scale, else without trailing zeros as
/// `BigDecimal.toString` does, with an exponent where that is shorter for Java (`1E+2`, `1E-7`).
pub(crate) fn write_decimal(out: &mut Vec<u8>, unscaled: i128, scale: u8, plain: bool) {
    if plain {
        return text::write_decimal(&mut Appended(out), unscaled, scale);
    }
    let (mut unscaled, mut scale) = (unscaled, i32::from(scale));
    if unscaled == 0 {
        scale = 0;
    }
    while unscaled != 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    if unscaled < 0 {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    write_scientific(out, buffer.format(unscaled.unsigned_abs()).as_bytes(), scale);
}

/// Writes digits at a scale as `BigDecimal.toString` does.
pub(crate) fn write_scientific(out: &mut Vec<u8>, digits: &[u8], scale: i32) {
    let exponent = digits.len() as i32 - 1 - scale;
    if scale >= 0 && exponent >= -6 {
        let point = digits.len() as i32 - scale;
        if point > 0 {
            let (whole, fraction) = digits.split_at(point as usize);
            out.extend_from_slice(whole);
            if !fraction.is_empty() {
                out.push(b'.');
                out.extend_from_slice(fraction);
            }
        } else {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', (-point) as usize));
            out.extend_from_slice(digits);
        }
        return;
    }
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    if exponent != 0 {
        out.extend_from_slice(if exponent > 0 { b"E+" } else { b"E-" });
        out.extend_from_slice(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decimals_are_plain_or_scientific() {
        for (unscaled, scale, scientific, plain) in [
            (210, 2, "2.1", "2.10"),
            (10_000, 2, "1E+2", "100.00"),
            (12_000, 2, "1.2E+2", "120.00"),
            (-1, 7, "-1E-7", "-0.0000001"),
            (12, 7, "0.0000012", "0.0000012"),
            (0, 2, "0", "0.00"),
            (123, 0, "123", "123"),
        ] {
            assert_eq!(text(|out| write_decimal(out, unscaled, scale, false)), scientific);
            assert_eq!(text(|out| write_decimal(out, unscaled, scale, true)), plain);
        }
    }

    #[test]
    fn dates_and_times_print_as_iso() {
        assert_eq!(text(|out| write_date(out, -719_528)), "0000-01-01");
        assert_eq!(text(|out| write_date(out, 2_932_897)), "+10000-01-01");
        assert_eq!(text(|out| write_date(out, -719_529)), "-0001-12-31");
        assert_eq!(text(|out| write_nanos_of_day(out, 36_000_120_000_000)), "10:00:00.12");
        assert_eq!(text(|out| write_nanos_of_day(out, 0)), "00:00:00");
    }
}
