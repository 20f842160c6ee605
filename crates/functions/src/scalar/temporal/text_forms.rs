//! Forms of dates and timestamps that are read without a format.

use flott_types::text::days_from_civil;

use super::calendar::days_in_month;
use super::formatter::{Failure, Formatter};
use super::stamps::Stamp;

/// `yyyy-MM-dd[ HH:mm:ss[.fraction]]`, months and so on of one or two digits.
pub struct DefaultForm {
    formatter: Formatter,
}

impl DefaultForm {
    /// The form.
    pub fn new() -> Self {
        Self { formatter: Formatter::default_timestamp() }
    }

    /// The local time that a text names.
    pub fn parse(&self, text: &str) -> Result<Stamp, Failure> {
        match padded_timestamp(text.as_bytes()) {
            Some(stamp) => Ok(stamp),
            None => self.formatter.parse(text),
        }
    }
}

/// The usual case of [`DefaultForm`]: all parts there and padded.
fn padded_timestamp(text: &[u8]) -> Option<Stamp> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b' ', rest @ ..] = text else { return None };
    let [h1, h2, b':', n1, n2, b':', s1, s2, fraction @ ..] = rest else { return None };
    let year = digits(&[*y1, *y2, *y3, *y4])?;
    let [month, day, hour, minute, second] =
        [[*m1, *m2], [*d1, *d2], [*h1, *h2], [*n1, *n2], [*s1, *s2]].map(|two| digits(&two));
    let (month, day) = (month?, day?);
    let (hour, minute, second) = (hour?, minute?, second?);
    let nano = match fraction {
        [] => 0,
        [b'.', digits @ ..] => nanos(digits)?,
        _ => return None,
    };
    let in_range = year > 0
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !in_range {
        return None;
    }
    let day = day.min(days_in_month(year as i32, month));
    let days = days_from_civil(year as i32, month, day);
    let of_day = i64::from(hour * 3_600 + minute * 60 + second);
    Some(Stamp { second: days * 86_400 + of_day, nano })
}

fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0'))
    })
}

/// Up to nine digits of a fraction.
fn nanos(text: &[u8]) -> Option<u32> {
    let missing = 9usize.checked_sub(text.len())?;
    Some(digits(text)? * 10u32.pow(missing as u32))
}

/// The day that TO_DATE reads: year, year and month, or all of `yyyy-MM-dd`, each of any number of
/// digits with blanks around it; what follows the first blank is left out.
pub fn date(text: &str) -> Option<i32> {
    let text = match text.find(' ') {
        Some(end) if end > 0 => &text[..end],
        _ => text,
    };
    let mut parts = text.splitn(3, '-');
    let mut part = |missing: Option<u32>| match parts.next() {
        Some(part) => {
            // Java's trim takes control characters off too.
            let part = part.trim_matches(|c| c <= ' ');
            if part.is_empty() || part.len() > 9 { None } else { digits(part.as_bytes()) }
        }
        None => missing,
    };
    let (year, month, day) = (part(None)?, part(Some(1))?, part(Some(1))?);
    let exists = year <= 9999
        && (1..=12).contains(&month)
        && (1..=days_in_month(year as i32, month)).contains(&day);
    exists.then(|| days_from_civil(year as i32, month, day) as i32)
}

/// What Java's `Timestamp.valueOf` and `Date.valueOf` read: `yyyy-[M]M-[d]d`, then possibly a time
/// `h:m:s[.fraction]` whose parts may be of any size and are carried over.
pub fn jdbc_timestamp(text: &str) -> Option<Stamp> {
    let text = text.trim_matches(|c| c <= ' ');
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let [year, month, day] = [parts.next()?, parts.next()?, parts.next()?];
    if year.len() != 4 || !(1..=2).contains(&month.len()) || !(1..=2).contains(&day.len()) {
        return None;
    }
    let [year, month, day] = [number(year)?, number(month)?, number(day)?];
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // A day past the end of its month is one of the next. Java has no year 0.
    let days = days_from_civil(year.max(1) as i32, month as u32, 1) + day - 1;
    let (second, nano) = time.map_or(Some((0, 0)), jdbc_time)?;
    Some(Stamp { second: days * 86_400 + second, nano })
}

fn jdbc_time(text: &str) -> Option<(i64, u32)> {
    let mut parts = text.splitn(3, ':');
    let [hour, minute, second] = [parts.next()?, parts.next()?, parts.next()?];
    let (second, nano) = match second.split_once('.') {
        Some((second, fraction)) => {
            (second, if fraction.is_empty() { None } else { nanos(fraction.as_bytes()) }?)
        }
        None => (second, 0),
    };
    Some((number(hour)? * 3_600 + number(minute)? * 60 + number(second)?, nano))
}

/// A number as Java's `Integer.parseInt` reads it.
fn number(text: &str) -> Option<i64> {
    text.parse::<i32>().ok().map(i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_may_lack_parts() {
        for (text, days) in [
            ("1970-01-02", Some(1)),
            ("1970-1-2", Some(1)),
            ("1970-02", Some(31)),
            ("1971", Some(365)),
            ("1970-01-02 10:00:00", Some(1)),
            ("2024-02-30", None),
            ("2024-13-01", None),
            ("abc", None),
            ("", None),
            ("+1970", None),
            ("1970-01-02-03", None),
            ("99999999999", None),
        ] {
            assert_eq!(date(text), days, "{text}");
        }
    }

    #[test]
    fn jdbc_forms_carry_over() {
        let stamp = |second, nano| Some(Stamp { second, nano });
        for (text, expected) in [
            ("1970-01-02 00:00:01", stamp(86_401, 0)),
            (" 1970-1-2 0:0:1.5 ", stamp(86_401, 500_000_000)),
            ("1970-01-01 25:60:61", stamp(25 * 3_600 + 3_600 + 61, 0)),
            ("1970-02-30", stamp(60 * 86_400, 0)),
            ("1970-13-01", None),
            ("70-01-01", None),
            ("1970-01-01  10:00:00", None),
            ("1970-01-01 10:00", None),
            ("1970-01-01 10:00:00.", None),
            ("1970-01-01 10:00:00.1234567890", None),
        ] {
            assert_eq!(jdbc_timestamp(text), expected, "{text}");
        }
    }
}
