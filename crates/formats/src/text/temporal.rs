//! Dates, times and timestamps as Java's formatters read them.

use flott_types::text::days_from_civil;

use super::words;
use crate::builders::Fault;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_DAY: i64 = 86_400 * NANOS_PER_SECOND;

/// A point on the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateTime {
    /// Days since 1970-01-01.
    pub(crate) days: i64,
    /// Nanoseconds since midnight.
    pub(crate) nanos: i64,
}

/// How a timestamp is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimestampStyle {
    /// `2025-03-01 10:00:00.5`
    Sql,
    /// `2025-03-01 10:00:00.5Z`
    SqlZoned,
    /// `2025-03-01T10:00:00.5`, seconds optional
    Iso,
    /// `2025-03-01T10:00:00.5Z`, seconds optional
    IsoZoned,
}

/// Reads a timestamp. Java resolves all styles but `Iso` smartly: the 31st of a shorter month is
/// its last day, and 24:00:00 is midnight of the next day.
#[inline]
pub(crate) fn parse_timestamp(text: &[u8], style: TimestampStyle) -> Result<DateTime, Fault> {
    match common_timestamp(text, style) {
        Some(point) => Ok(point),
        None => parse_any_timestamp(text, style),
    }
}

/// Reads `yyyy-MM-dd HH:mm:ss` and up to nine digits of a fraction, eight bytes at a time. `None` is for all
/// other forms and for what is wrong.
#[inline]
fn common_timestamp(text: &[u8], style: TimestampStyle) -> Option<DateTime> {
    const DATE: u64 = u64::from_le_bytes(*b"0000-00-");
    const MIDDLE: u64 = u64::from_le_bytes(*b"00 00:00");
    const ISO_MIDDLE: u64 = u64::from_le_bytes(*b"00T00:00");
    const DATE_MARKS: u64 = u64::from_le_bytes([0, 0, 0, 0, 0xFF, 0, 0, 0xFF]);
    const MIDDLE_MARKS: u64 = u64::from_le_bytes([0, 0, 0xFF, 0, 0, 0xFF, 0, 0]);
    let iso = matches!(style, TimestampStyle::Iso | TimestampStyle::IsoZoned);
    let zoned = matches!(style, TimestampStyle::SqlZoned | TimestampStyle::IsoZoned);
    let text = if zoned { text.strip_suffix(b"Z")? } else { text };
    let (head, fraction) = text.split_first_chunk::<19>()?;
    let word = |at: usize| head[at..].first_chunk().map(|chunk| u64::from_le_bytes(*chunk));
    let date = word(0)? ^ DATE;
    let middle = word(8)? ^ if iso { ISO_MIDDLE } else { MIDDLE };
    let [b':', a @ b'0'..=b'9', b @ b'0'..=b'9'] = head[16..] else { return None };
    let wrong = words::not_digits(date) | words::not_digits(middle);
    if wrong | date & DATE_MARKS | middle & MIDDLE_MARKS != 0 {
        return None;
    }
    let (date, middle) = (words::two_digits(date), words::two_digits(middle));
    let pair = |word: u64, at: usize| (word >> (8 * at)) as u8;
    let year = i64::from(pair(date, 0)) * 100 + i64::from(pair(date, 2));
    let (month, day) = (u32::from(pair(date, 5)), u32::from(pair(middle, 0)));
    let (hour, minute) = (u32::from(pair(middle, 3)), u32::from(pair(middle, 6)));
    let second = u32::from(a - b'0') * 10 + u32::from(b - b'0');
    let fraction = common_fraction(fraction)?;
    let days = resolve_date(year, month, day, style != TimestampStyle::Iso).ok()?;
    let nanos = nanos_of_day(hour, minute, second, fraction).ok()?;
    (nanos < NANOS_PER_DAY).then_some(DateTime { days, nanos })
}

/// The nanoseconds of nothing, or of a point with three, six or nine digits.
#[inline]
fn common_fraction(text: &[u8]) -> Option<i64> {
    let unit = match text.len() {
        0 => return Some(0),
        4 => 1_000_000,
        7 => 1_000,
        10 => 1,
        _ => return None,
    };
    let [b'.', digits @ ..] = text else { return None };
    let mut number = 0i64;
    let mut bad = false;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        bad |= digit > 9;
        number = number * 10 + i64::from(digit);
    }
    (!bad).then_some(number * unit)
}

fn parse_any_timestamp(text: &[u8], style: TimestampStyle) -> Result<DateTime, Fault> {
    let mut scan = Scan { text };
    let (year, month, day) = scan.date()?;
    let smart = style != TimestampStyle::Iso;
    let days = resolve_date(year, month, day, smart)?;
    let iso = matches!(style, TimestampStyle::Iso | TimestampStyle::IsoZoned);
    match scan.next() {
        Some(b' ') if !iso => {}
        Some(b'T') if iso => {}
        Some(b't') if style == TimestampStyle::Iso => {}
        _ => return Err(Fault::Form),
    }
    let nanos = scan.clock(!iso)?;
    if matches!(style, TimestampStyle::SqlZoned | TimestampStyle::IsoZoned) {
        scan.expect(b'Z')?;
    }
    scan.end()?;
    match nanos {
        0..NANOS_PER_DAY => Ok(DateTime { days, nanos }),
        NANOS_PER_DAY if smart => Ok(DateTime { days: days + 1, nanos: 0 }),
        _ => Err(Fault::Range),
    }
}

/// Reads a timestamp of which month, day, hour, minute and second may have one digit, and the time
/// of day may be missing, resolved smartly.
pub(crate) fn parse_loose_timestamp(text: &[u8]) -> Result<DateTime, Fault> {
    let mut scan = Scan { text };
    let year = scan.year()?;
    scan.expect(b'-')?;
    let month = scan.up_to_two_digits()?;
    scan.expect(b'-')?;
    let days = resolve_date(year, month, scan.up_to_two_digits()?, true)?;
    if scan.text.is_empty() {
        return Ok(DateTime { days, nanos: 0 });
    }
    scan.expect(b' ')?;
    let hour = scan.up_to_two_digits()?;
    scan.expect(b':')?;
    let minute = scan.up_to_two_digits()?;
    scan.expect(b':')?;
    let second = scan.up_to_two_digits()?;
    let nanos = nanos_of_day(hour, minute, second, scan.fraction())?;
    scan.end()?;
    match nanos {
        NANOS_PER_DAY => Ok(DateTime { days: days + 1, nanos: 0 }),
        nanos => Ok(DateTime { days, nanos }),
    }
}

/// Reads `HH:mm:ss` with an optional fraction, as nanoseconds of the day; 24:00:00 is midnight.
pub(crate) fn parse_sql_time(text: &[u8]) -> Result<i64, Fault> {
    let mut scan = Scan { text };
    let nanos = scan.clock(true)?;
    scan.end()?;
    match nanos {
        0..NANOS_PER_DAY => Ok(nanos),
        NANOS_PER_DAY => Ok(0),
        _ => Err(Fault::Range),
    }
}

/// Reads what `LocalTime.parse` reads: `HH:mm`, optional seconds and fraction.
pub(crate) fn parse_local_time(text: &[u8]) -> Result<i64, Fault> {
    let mut scan = Scan { text };
    let nanos = scan.clock(false)?;
    scan.end()?;
    if nanos < NANOS_PER_DAY { Ok(nanos) } else { Err(Fault::Range) }
}

/// Reads a DATE as `ISO_LOCAL_DATE` does, as days since 1970-01-01.
pub(crate) fn parse_strict_date(text: &[u8]) -> Result<i32, Fault> {
    let mut scan = Scan { text };
    let (year, month, day) = scan.date()?;
    scan.end()?;
    i32::try_from(resolve_date(year, month, day, false)?).map_err(|_| Fault::Range)
}

/// Reads a DATE as `java.sql.Date.valueOf` does: `yyyy-[m]m-[d]d`, where a day past the end of its
/// month counts on into the next one, and years before 1582 have Julian leap days.
pub(crate) fn parse_lenient_date(text: &[u8]) -> Result<i32, Fault> {
    let mut parts = text.splitn(3, |byte| *byte == b'-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Fault::Form);
    };
    if year.len() != 4 || !(1..=2).contains(&month.len()) || !(1..=2).contains(&day.len()) {
        return Err(Fault::Form);
    }
    let (year, month, day) = (small_number(year)?, small_number(month)?, small_number(day)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(Fault::Range);
    }
    let (year, month, day) = (year as i32, month as u32, day as u32);
    if year > 1582 {
        return Ok((days_from_civil(year, month, 1) + i64::from(day) - 1) as i32);
    }
    let julian_length = if month == 2 && year % 4 == 0 { 29 } else { month_length(year, month) };
    let (month, day) =
        if day > julian_length { (month + 1, day - julian_length) } else { (month, day) };
    // Java counts the year before 1 as year 1 of the era before.
    let days = resolve_date(i64::from(year.max(1)), month, day, false)?;
    // The ten days that were left out when the Gregorian calendar came are read as Julian.
    let skipped = days_from_civil(1582, 10, 5)..days_from_civil(1582, 10, 15);
    Ok(if skipped.contains(&days) { days + 10 } else { days } as i32)
}

fn small_number(text: &[u8]) -> Result<i64, Fault> {
    if text.iter().any(|byte| *byte <= b' ') {
        Err(Fault::Form)
    } else {
        super::parse_integer(text)
    }
}

fn resolve_date(year: i64, month: u32, day: u32, smart: bool) -> Result<i64, Fault> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year.abs() > 999_999_999 {
        return Err(Fault::Range);
    }
    let year = year as i32;
    let length = month_length(year, month);
    if day > length && !smart {
        return Err(Fault::Range);
    }
    Ok(days_from_civil(year, month, day.min(length)))
}

/// Nanoseconds of the day; 24:00 exactly gives one day.
#[inline]
fn nanos_of_day(hour: u32, minute: u32, second: u32, fraction: i64) -> Result<i64, Fault> {
    if minute > 59 || second > 59 || hour > 24 {
        return Err(Fault::Range);
    }
    let nanos = i64::from(hour * 3600 + minute * 60 + second) * NANOS_PER_SECOND + fraction;
    if nanos > NANOS_PER_DAY { Err(Fault::Range) } else { Ok(nanos) }
}

fn month_length(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Reads from the front of a text.
struct Scan<'a> {
    text: &'a [u8],
}

impl Scan<'_> {
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.text.split_first()?;
        self.text = rest;
        Some(*first)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.next() == Some(byte) { Ok(()) } else { Err(Fault::Form) }
    }

    fn end(&self) -> Result<(), Fault> {
        if self.text.is_empty() { Ok(()) } else { Err(Fault::Form) }
    }

    #[inline]
    fn two_digits(&mut self) -> Result<u32, Fault> {
        let [a @ b'0'..=b'9', b @ b'0'..=b'9', rest @ ..] = self.text else {
            return Err(Fault::Form);
        };
        self.text = rest;
        Ok(u32::from(a - b'0') * 10 + u32::from(b - b'0'))
    }

    fn up_to_two_digits(&mut self) -> Result<u32, Fault> {
        if let Ok(number) = self.two_digits() {
            return Ok(number);
        }
        match self.next() {
            Some(digit @ b'0'..=b'9') => Ok(u32::from(digit - b'0')),
            _ => Err(Fault::Form),
        }
    }

    #[inline]
    fn date(&mut self) -> Result<(i64, u32, u32), Fault> {
        let year = self.year()?;
        self.expect(b'-')?;
        let month = self.two_digits()?;
        self.expect(b'-')?;
        Ok((year, month, self.two_digits()?))
    }

    /// Four digits; more of them, up to ten, only after a sign, and a plus only before more.
    #[inline]
    fn year(&mut self) -> Result<i64, Fault> {
        let sign = match self.text {
            [sign @ (b'+' | b'-'), rest @ ..] => {
                self.text = rest;
                Some(*sign)
            }
            _ => None,
        };
        let digits =
            self.text.iter().take(10).position(|byte| !byte.is_ascii_digit()).unwrap_or(10);
        let allowed = match sign {
            None => digits == 4,
            Some(b'+') => digits > 4,
            Some(_) => digits >= 4,
        };
        let (true, Some((year, rest))) = (allowed, self.text.split_at_checked(digits)) else {
            return Err(Fault::Form);
        };
        self.text = rest;
        let year = year.iter().fold(0i64, |year, digit| year * 10 + i64::from(digit - b'0'));
        match (sign, year) {
            (Some(b'-'), 0) => Err(Fault::Form),
            (Some(b'-'), year) => Ok(-year),
            (_, year) => Ok(year),
        }
    }

    /// Nanoseconds of the day; 24:00 exactly gives one day, for the caller to judge.
    #[inline]
    fn clock(&mut self, needs_seconds: bool) -> Result<i64, Fault> {
        let hour = self.two_digits()?;
        self.expect(b':')?;
        let minute = self.two_digits()?;
        let (mut second, mut fraction) = (0, 0);
        if let [b':', rest @ ..] = self.text {
            let before = self.text;
            self.text = rest;
            match self.two_digits() {
                Ok(value) => {
                    second = value;
                    fraction = self.fraction();
                }
                Err(fault) if needs_seconds => return Err(fault),
                // An optional part that does not fit is left for the end check to find.
                Err(_) => self.text = before,
            }
        } else if needs_seconds {
            return Err(Fault::Form);
        }
        nanos_of_day(hour, minute, second, fraction)
    }

    /// A point and up to nine digits, or nothing; a bare point counts as nothing too.
    #[inline]
    fn fraction(&mut self) -> i64 {
        let [b'.', rest @ ..] = self.text else { return 0 };
        self.text = rest;
        let (mut nanos, mut unit) = (0, NANOS_PER_SECOND);
        while let [digit @ b'0'..=b'9', rest @ ..] = self.text
            && unit > 1
        {
            unit /= 10;
            nanos += i64::from(digit - b'0') * unit;
            self.text = rest;
        }
        nanos
    }
}

/// The text of a day, for tests and messages.
#[cfg(test)]
fn date_text(days: i32) -> String {
    let date = flott_types::text::civil_from_days(days.into());
    format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(text: &str, style: TimestampStyle) -> Option<String> {
        let point = parse_timestamp(text.as_bytes(), style).ok()?;
        Some(format!("{} {}", date_text(point.days as i32), point.nanos))
    }

    #[test]
    fn sql_timestamps_resolve_smartly() {
        use TimestampStyle::{Sql, SqlZoned};
        for (text, style, value) in [
            ("2025-03-01 10:00:00", Sql, Some("2025-03-01 36000000000000")),
            ("2025-03-01 10:00:00.123456789", Sql, Some("2025-03-01 36000123456789")),
            ("2025-03-01 00:00:00.", Sql, Some("2025-03-01 0")),
            ("2025-02-31 00:00:00", Sql, Some("2025-02-28 0")),
            ("2025-04-31 00:00:00", Sql, Some("2025-04-30 0")),
            ("2024-12-31 24:00:00", Sql, Some("2025-01-01 0")),
            ("2025-02-32 00:00:00", Sql, None),
            ("2025-03-01 24:00:01", Sql, None),
            ("2025-03-01 10:00", Sql, None),
            ("2025-03-01T10:00:00", Sql, None),
            ("2025-3-1 10:00:00", Sql, None),
            ("2025-03-01 10:00:00.1234567891", Sql, None),
            ("2025-03-01 10:00:00Z", Sql, None),
            ("12025-03-01 10:00:00", Sql, None),
            ("+12025-03-01 00:00:00", Sql, Some("12025-03-01 0")),
            ("+2025-03-01 00:00:00", Sql, None),
            ("2025-03-01 10:00:00Z", SqlZoned, Some("2025-03-01 36000000000000")),
            ("2025-03-01 10:00:00", SqlZoned, None),
        ] {
            assert_eq!(timestamp(text, style).as_deref(), value, "{text}");
        }
    }

    #[test]
    fn iso_timestamps_are_strict_without_a_zone() {
        use TimestampStyle::{Iso, IsoZoned};
        for (text, style, value) in [
            ("2025-03-01T10:00", Iso, Some("2025-03-01 36000000000000")),
            ("2025-03-01t10:00:00.5", Iso, Some("2025-03-01 36000500000000")),
            ("2025-02-31T00:00:00", Iso, None),
            ("2025-03-01T24:00:00", Iso, None),
            ("2025-03-01 10:00:00", Iso, None),
            ("2025-02-31T00:00Z", IsoZoned, Some("2025-02-28 0")),
            ("2025-03-01t00:00Z", IsoZoned, None),
        ] {
            assert_eq!(timestamp(text, style).as_deref(), value, "{text}");
        }
    }

    #[test]
    fn dates_are_strict_in_json_and_lenient_in_csv() {
        for (text, strict, lenient) in [
            ("2024-02-29", Some("2024-02-29"), Some("2024-02-29")),
            ("2023-02-29", None, Some("2023-03-01")),
            ("2023-04-31", None, Some("2023-05-01")),
            ("2023-1-2", None, Some("2023-01-02")),
            ("1582-10-10", Some("1582-10-10"), Some("1582-10-20")),
            ("1582-10-04", Some("1582-10-04"), Some("1582-10-04")),
            ("1500-02-29", None, None),
            ("1500-02-30", None, Some("1500-03-01")),
            ("0001-01-01", Some("0001-01-01"), Some("0001-01-01")),
            ("2023-13-01", None, None),
            ("2023-01-32", None, None),
            ("2023-01-00", None, None),
            ("23-01-01", None, None),
            ("2023-01-01 ", None, None),
            ("", None, None),
        ] {
            let read =
                |parse: fn(&[u8]) -> Result<i32, Fault>| parse(text.as_bytes()).ok().map(date_text);
            assert_eq!(read(parse_strict_date).as_deref(), strict, "strict {text}");
            assert_eq!(read(parse_lenient_date).as_deref(), lenient, "lenient {text}");
        }
    }

    #[test]
    fn times_differ_between_json_and_csv() {
        let hour = 3600 * NANOS_PER_SECOND;
        for (text, sql, local) in [
            ("01:00:00", Some(hour), Some(hour)),
            ("01:00", None, Some(hour)),
            ("24:00:00", Some(0), None),
            ("01:00:00.000000001", Some(hour + 1), Some(hour + 1)),
            ("1:00:00", None, None),
            ("01:60:00", None, None),
            ("01:00:", None, None),
        ] {
            assert_eq!(parse_sql_time(text.as_bytes()).ok(), sql, "sql {text}");
            assert_eq!(parse_local_time(text.as_bytes()).ok(), local, "local {text}");
        }
    }
}
