//! Dates, times, timestamps and intervals as text.

use std::fmt::Write;

use super::calendar::civil_from_days;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Writes a DATE as `yyyy-MM-dd`.
pub fn write_date(out: &mut String, days: i32) {
    write_civil(out, i64::from(days));
}

fn write_civil(out: &mut String, days: i64) {
    let date = civil_from_days(days);
    let _ = write!(out, "{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

/// Writes a TIME as `HH:mm:ss`, and with a precision above 0 its fraction without trailing zeros,
/// but one digit at least. Digits beyond the precision are cut off.
pub fn write_time(out: &mut String, millis: i32, precision: u8) {
    write_clock(out, i64::from(millis.div_euclid(1000)));
    let mut rest = millis.rem_euclid(1000);
    for place in 0..precision.min(3) {
        if place == 0 {
            out.push('.');
        }
        out.push(char::from(b'0' + (rest / 100) as u8));
        rest = rest % 100 * 10;
        if rest == 0 {
            break;
        }
    }
}

/// Writes a timestamp, in nanoseconds since the epoch, as `yyyy-MM-dd HH:mm:ss.f` with exactly
/// `precision` digits of fraction.
pub fn write_timestamp(out: &mut String, nanos: i128, precision: u8) {
    let seconds = nanos.div_euclid(NANOS_PER_SECOND) as i64;
    let fraction = nanos.rem_euclid(NANOS_PER_SECOND) as u32;
    write_civil(out, seconds.div_euclid(SECONDS_PER_DAY));
    out.push(' ');
    write_clock(out, seconds.rem_euclid(SECONDS_PER_DAY));
    if precision > 0 {
        let cut = fraction / 10u32.pow(9 - u32::from(precision.min(9)));
        let _ = write!(out, ".{cut:0width$}", width = usize::from(precision.min(9)));
    }
}

fn write_clock(out: &mut String, seconds: i64) {
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/// Writes an interval of months as `+yy-mm`.
pub fn write_year_month_interval(out: &mut String, months: i32) {
    let magnitude = months.unsigned_abs();
    let sign = if months < 0 { '-' } else { '+' };
    let _ = write!(out, "{sign}{}-{:02}", magnitude / 12, magnitude % 12);
}

/// Writes an interval of milliseconds as `+d hh:mm:ss.fff`.
pub fn write_day_time_interval(out: &mut String, millis: i64) {
    let magnitude = millis.unsigned_abs();
    let sign = if millis < 0 { '-' } else { '+' };
    let seconds = magnitude / 1000;
    let _ = write!(out, "{sign}{} ", seconds / 86_400);
    write_clock(out, (seconds % 86_400) as i64);
    let _ = write!(out, ".{:03}", magnitude % 1000);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn temporal_values_print_as_flink_prints_them() {
        assert_eq!(text(|o| write_date(o, -719_528)), "0000-01-01");
        assert_eq!(text(|o| write_time(o, 25_689_500, 3)), "07:08:09.5");
        assert_eq!(text(|o| write_time(o, 25_689_987, 1)), "07:08:09.9");
        assert_eq!(text(|o| write_time(o, 25_689_000, 3)), "07:08:09.0");
        assert_eq!(text(|o| write_time(o, 25_689_500, 0)), "07:08:09");
        assert_eq!(text(|o| write_timestamp(o, -1, 9)), "1969-12-31 23:59:59.999999999");
        assert_eq!(text(|o| write_timestamp(o, 1_120_000_000, 3)), "1970-01-01 00:00:01.120");
        assert_eq!(text(|o| write_timestamp(o, 1_120_000_000, 0)), "1970-01-01 00:00:01");
        assert_eq!(text(|o| write_year_month_interval(o, 14)), "+1-02");
        assert_eq!(text(|o| write_day_time_interval(o, 93_784_567)), "+1 02:03:04.567");
    }
}
