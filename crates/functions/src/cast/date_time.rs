//! Casts of texts to dates, times and timestamps, in the forms that Flink's `DateTimeUtils` reads.

use std::sync::Arc;

use arrow::array::{
    Array, AsArray, Date32Builder, Decimal128Builder, Time32MillisecondBuilder,
    TimestampMicrosecondBuilder, TimestampMillisecondBuilder,
};
use flott_types::text::days_from_civil;
use flott_types::{DataType, TimestampUnit, TypeRoot, arrow_type, timestamp_unit};
use jiff::tz::TimeZone;

use super::conversion::Conversion;
use super::to_number::fail;
use crate::zone::Zone;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The conversion of texts to a DATE, TIME or timestamp type.
pub(super) fn from_text(to: &DataType, zone: TimeZone) -> Conversion {
    let to = to.clone();
    let zone = Zone::new(zone);
    Conversion::fallible(move |array, failures| {
        let texts = array.as_string::<i32>();
        macro_rules! build {
            ($builder:expr, $expected:literal, $parse:expr) => {{
                let mut values = $builder;
                for (row, text) in texts.iter().enumerate() {
                    let value = text.and_then($parse);
                    values.append_option(value);
                    if let (Some(text), None) = (text, value) {
                        fail(failures, row, text, &to, $expected);
                    }
                }
                Ok(Arc::new(values.finish()))
            }};
        }
        let rows = texts.len();
        let instant = |text: &str| {
            let (seconds, nanos) = parse_timestamp(text)?;
            match to.root {
                TypeRoot::TimestampLtz(_) => Some((seconds - zone.offset_of_local(seconds), nanos)),
                _ => Some((seconds, nanos)),
            }
        };
        match to.root {
            TypeRoot::Date => {
                build!(Date32Builder::with_capacity(rows), "it is no date yyyy-MM-dd", parse_date)
            }
            TypeRoot::Time(precision) => {
                let granule = 10i32.pow(3u32.saturating_sub(precision.into()));
                build!(
                    Time32MillisecondBuilder::with_capacity(rows),
                    "it is no time HH:mm:ss[.fff]",
                    |text| parse_time(text).map(|millis| millis / granule * granule)
                )
            }
            TypeRoot::Timestamp(precision) | TypeRoot::TimestampLtz(precision) => {
                let granule = 10u32.pow(9 - u32::from(precision.min(9)));
                let cut = |nanos: u32| i64::from(nanos / granule * granule);
                match timestamp_unit(precision) {
                    TimestampUnit::Millis => build!(
                        TimestampMillisecondBuilder::with_capacity(rows),
                        "it is no timestamp yyyy-MM-dd[ HH:mm:ss[.f]]",
                        |text| {
                            let (seconds, nanos) = instant(text)?;
                            seconds.checked_mul(1000).map(|step| step + cut(nanos) / 1_000_000)
                        }
                    ),
                    TimestampUnit::Micros => build!(
                        TimestampMicrosecondBuilder::with_capacity(rows),
                        "it is no timestamp yyyy-MM-dd[ HH:mm:ss[.f]]",
                        |text| {
                            let (seconds, nanos) = instant(text)?;
                            seconds.checked_mul(1_000_000).map(|step| step + cut(nanos) / 1000)
                        }
                    ),
                    TimestampUnit::Nanos => build!(
                        Decimal128Builder::with_capacity(rows).with_data_type(arrow_type(&to)),
                        "it is no timestamp yyyy-MM-dd[ HH:mm:ss[.f]]",
                        |text| instant(text).map(|(s, nanos)| {
                            i128::from(s) * i128::from(NANOS_PER_SECOND) + i128::from(cut(nanos))
                        })
                    ),
                }
            }
            _ => Err(crate::EvalError::Internal(format!("{to} is no type of date or time"))),
        }
    })
}

/// Days since 1970-01-01 of `y[-M[-d]]`; whatever follows a blank is passed over, and blanks around
/// the parts are. The day must exist.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let text = match text.find(' ') {
        Some(blank) if blank > 0 => &text[..blank],
        _ => text,
    };
    let mut parts = text.splitn(3, '-');
    let mut next = || parts.next().map(digits);
    let year = next()??;
    let month = next().unwrap_or(Some(1))?;
    let day = next().unwrap_or(Some(1))?;
    let valid = year <= 9999 && (1..=12).contains(&month);
    (valid && (1..=days_in_month(year, month)).contains(&day))
        .then(|| days_from_civil(year as i32, month, day) as i32)
}

/// Milliseconds of the day of `H[:m[:s[.f]]]`, with blanks around the parts passed over. An offset
/// `+H[:m]` or `-H[:m]` behind it is added.
pub(crate) fn parse_time(text: &str) -> Option<i32> {
    let offset_at = text.find('-').or_else(|| text.find('+')).unwrap_or(text.len());
    let (clock, offset) = text.split_at(offset_at);
    let mut parts = clock.splitn(3, ':');
    let hour = digits(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), digits)?;
    let (second, millis) = match parts.next() {
        None => (0, 0),
        Some(rest) => match rest.split_once('.') {
            None => (digits(rest)?, 0),
            Some((second, fraction)) => (digits(second)?, fraction_millis(java_trim(fraction))),
        },
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let shift = if offset.is_empty() { 0 } else { offset_minutes(offset)? };
    let minutes = i64::from(hour * 60 + minute) + shift;
    i32::try_from((minutes * 60 + i64::from(second)) * 1000 + i64::from(millis)).ok()
}

/// Minutes of `+H[:m]` or `-H[:m]`.
fn offset_minutes(offset: &str) -> Option<i64> {
    let (hour, minute) = match offset[1..].split_once(':') {
        Some((hour, minute)) => (digits(hour)?, digits(minute)?),
        None => (digits(&offset[1..])?, 0),
    };
    let minutes = i64::from(hour) * 60 + i64::from(minute);
    Some(if offset.starts_with('-') { -minutes } else { minutes })
}

/// Three digits after the point, rounded half up; other characters count as zeros.
fn fraction_millis(fraction: &str) -> u32 {
    let digit = |place: usize| match fraction.as_bytes().get(place) {
        Some(byte @ b'0'..=b'9') => u32::from(byte - b'0'),
        _ => 0,
    };
    let rounds_up = fraction.as_bytes().get(3).is_some_and(|byte| *byte >= b'5');
    digit(0) * 100 + digit(1) * 10 + digit(2) + u32::from(rounds_up)
}

/// Seconds since 1970-01-01 00:00 and nanoseconds of `yyyy-M-d[ H:m:s[.f]]`. A day past the end of
/// its month is taken as the last one, 24:00:00 as the next midnight.
pub(crate) fn parse_timestamp(text: &str) -> Option<(i64, u32)> {
    let mut scanner = Scanner { rest: text.as_bytes() };
    let year = scanner.year()?;
    scanner.byte(b'-')?;
    let month = scanner.one_or_two_digits()?;
    scanner.byte(b'-')?;
    let day = scanner.one_or_two_digits()?;
    if year == 0 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let day = day.min(days_in_month(year, month));
    let midnight = days_from_civil(i32::try_from(year).ok()?, month, day) * 86_400;
    if scanner.rest.is_empty() {
        return Some((midnight, 0));
    }
    scanner.byte(b' ')?;
    let hour = scanner.one_or_two_digits()?;
    scanner.byte(b':')?;
    let minute = scanner.one_or_two_digits()?;
    scanner.byte(b':')?;
    let second = scanner.one_or_two_digits()?;
    let nanos = if scanner.byte(b'.').is_some() { scanner.fraction() } else { 0 };
    let end_of_day = hour == 24 && minute == 0 && second == 0 && nanos == 0;
    let valid = end_of_day || (hour <= 23 && minute <= 59 && second <= 59);
    if !scanner.rest.is_empty() || !valid {
        return None;
    }
    Some((midnight + i64::from(hour * 3600 + minute * 60 + second), nanos))
}

struct Scanner<'a> {
    rest: &'a [u8],
}

impl Scanner<'_> {
    fn byte(&mut self, wanted: u8) -> Option<()> {
        let rest = self.rest.strip_prefix(&[wanted])?;
        self.rest = rest;
        Some(())
    }

    fn number(&mut self, length: usize) -> u32 {
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits.iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'))
    }

    fn digits_ahead(&self) -> usize {
        self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// Four digits, or after a plus sign more.
    fn year(&mut self) -> Option<u32> {
        let signed = self.byte(b'+').is_some();
        match (signed, self.digits_ahead()) {
            (false, 4) => Some(self.number(4)),
            (true, length @ 5..=9) => Some(self.number(length)),
            _ => None,
        }
    }

    fn one_or_two_digits(&mut self) -> Option<u32> {
        match self.digits_ahead() {
            length @ 1..=2 => Some(self.number(length)),
            _ => None,
        }
    }

    /// Up to nine digits after the point, as nanoseconds.
    fn fraction(&mut self) -> u32 {
        let length = self.digits_ahead().min(9);
        self.number(length) * 10u32.pow(9 - length as u32)
    }
}

fn java_trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// A number of ASCII digits only, blanks around it passed over.
fn digits(text: &str) -> Option<u32> {
    let text = java_trim(text);
    if text.is_empty() || text.len() > 9 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}
