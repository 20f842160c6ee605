//! Partition values as text, and back.
//!
//! Where Flink writes what it cannot read (a DATE as its day number, a TIME as milliseconds), the text is
//! the ISO form; its number is read too.

use flott_catalog::connector::ConnectorError;
use flott_types::text::{
    civil_from_days, days_from_civil, write_decimal, write_double, write_float,
};
use flott_types::{DataType, TypeRoot, Value};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// The text of a value in the name of its directory; `None` for NULL.
pub(in super::super) fn value_text(
    value: &Value,
    data_type: &DataType,
) -> Result<Option<String>, ConnectorError> {
    let mut out = String::new();
    match (value, &data_type.root) {
        (Value::Null, _) => return Ok(None),
        (Value::Boolean(value), _) => return Ok(Some(value.to_string())),
        (Value::Int(value), _) => return Ok(Some(value.to_string())),
        (Value::Float(value), _) => write_float(&mut out, *value),
        (Value::Double(value), _) => write_double(&mut out, *value),
        (Value::Decimal(digits), TypeRoot::Decimal { scale, .. }) => {
            write_decimal(&mut out, *digits, *scale);
        }
        (Value::String(text), _) => return Ok(Some(text.to_string())),
        (Value::Date(days), _) => return Ok(Some(date_text(i64::from(*days)))),
        (Value::Time(millis), _) => {
            return Ok(Some(clock_text(i128::from(*millis) * 1_000_000)));
        }
        (Value::Timestamp(nanos), _) => {
            let day = NANOS_PER_SECOND * i128::from(SECONDS_PER_DAY);
            let date = date_text(nanos.div_euclid(day) as i64);
            return Ok(Some(format!("{date}T{}", clock_text(nanos.rem_euclid(day)))));
        }
        _ => return Err(unsupported(data_type)),
    }
    Ok(Some(out))
}

/// The value that a directory's name gives to a partition column.
pub(in super::super) fn parse_value(
    text: &str,
    data_type: &DataType,
) -> Result<Value, ConnectorError> {
    let value = match &data_type.root {
        TypeRoot::Char(_) | TypeRoot::Varchar(_) => Some(Value::string(text)),
        // As in Java, whatever is not true is false.
        TypeRoot::Boolean => Some(Value::Boolean(text.eq_ignore_ascii_case("true"))),
        TypeRoot::TinyInt => text.parse::<i8>().ok().map(|value| Value::Int(value.into())),
        TypeRoot::SmallInt => text.parse::<i16>().ok().map(|value| Value::Int(value.into())),
        TypeRoot::Int => text.parse::<i32>().ok().map(|value| Value::Int(value.into())),
        TypeRoot::BigInt => text.parse().ok().map(Value::Int),
        TypeRoot::Float => text.parse().ok().map(Value::Float),
        TypeRoot::Double => text.parse().ok().map(Value::Double),
        TypeRoot::Decimal { precision, scale } => {
            parse_decimal(text, *precision, *scale).map(Value::Decimal)
        }
        TypeRoot::Date => {
            let days = parse_date(text).or_else(|| text.parse().ok());
            days.and_then(|days| i32::try_from(days).ok()).map(Value::Date)
        }
        TypeRoot::Time(_) => {
            let millis = parse_clock(text).map(|nanos| nanos / 1_000_000);
            millis
                .or_else(|| text.parse().ok())
                .and_then(|millis| i32::try_from(millis).ok())
                .map(Value::Time)
        }
        TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) => {
            parse_timestamp(text).map(Value::Timestamp)
        }
        _ => return Err(unsupported(data_type)),
    };
    value.ok_or_else(|| {
        ConnectorError::new(format!("cannot convert '{text}' to {}", data_type.summary()))
    })
}

fn unsupported(data_type: &DataType) -> ConnectorError {
    ConnectorError::new(format!(
        "a column of type {} cannot be partitioned by",
        data_type.summary()
    ))
    .hint("use a text, a number, a BOOLEAN, a DATE, a TIME or a timestamp")
}

fn date_text(days: i64) -> String {
    let date = civil_from_days(days);
    let sign = match date.year {
        ..0 => "-",
        10_000.. => "+",
        _ => "",
    };
    format!("{sign}{:04}-{:02}-{:02}", date.year.unsigned_abs(), date.month, date.day)
}

/// Hours and minutes, then seconds and their fraction where there are any, in groups of three digits.
fn clock_text(nanos: i128) -> String {
    let seconds = (nanos / NANOS_PER_SECOND) as i64;
    let fraction = (nanos % NANOS_PER_SECOND) as u32;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match fraction {
        0 if second == 0 => format!("{hour:02}:{minute:02}"),
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        n if n % 1_000_000 == 0 => {
            format!("{hour:02}:{minute:02}:{second:02}.{:03}", n / 1_000_000)
        }
        n if n % 1_000 == 0 => format!("{hour:02}:{minute:02}:{second:02}.{:06}", n / 1_000),
        n => format!("{hour:02}:{minute:02}:{second:02}.{n:09}"),
    }
}

fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let valid = !whole.is_empty() && fraction.len() <= usize::from(scale);
    if !valid || !whole.bytes().chain(fraction.bytes()).all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let unscaled: i128 =
        format!("{whole}{fraction:0<width$}", width = scale.into()).parse().ok()?;
    let fits = unscaled < 10i128.pow(precision.into());
    fits.then_some(if negative { -unscaled } else { unscaled })
}

/// Days since 1970-01-01 of `yyyy-MM-dd`.
fn parse_date(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = rest.split('-');
    let year = sign * digits(parts.next()?, 4..=9)? as i32;
    let month = digits(parts.next()?, 2..=2)?;
    let day = digits(parts.next()?, 2..=2)?;
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || parts.next().is_some() {
        return None;
    }
    let days = days_from_civil(year, month, day);
    // February 30 would come out as a day of March.
    let same = civil_from_days(days);
    (same.month == month && same.day == day).then_some(days)
}

/// Nanoseconds of `HH:mm[:ss[.f]]`.
fn parse_clock(text: &str) -> Option<i128> {
    let mut parts = text.splitn(3, ':');
    let hour = digits(parts.next()?, 2..=2)?;
    let minute = digits(parts.next()?, 2..=2)?;
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(seconds) => {
            let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            let nanos = digits(fraction, 1..=9)? * 10u32.pow(9 - fraction.len() as u32);
            (digits(second, 2..=2)?, nanos)
        }
    };
    let in_range = hour < 24 && minute < 60 && second < 60;
    let seconds = i128::from(hour * 3600 + minute * 60 + second);
    in_range.then_some(seconds * NANOS_PER_SECOND + i128::from(fraction))
}

/// Nanoseconds since the epoch of a date and a time, with a `T` or a blank between them.
fn parse_timestamp(text: &str) -> Option<i128> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let seconds = parse_date(date)? * SECONDS_PER_DAY;
    Some(i128::from(seconds) * NANOS_PER_SECOND + parse_clock(clock)?)
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let plain = length.contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_text() {
        let second = 1_000_000_000i128;
        for (value, data_type, text) in [
            (Value::Int(-5), DataType::int(), "-5"),
            (Value::Boolean(true), DataType::boolean(), "true"),
            (Value::Double(1e10), DataType::double(), "1.0E10"),
            (Value::Decimal(150), DataType::decimal(5, 2), "1.50"),
            (Value::Decimal(-5), DataType::decimal(5, 2), "-0.05"),
            (Value::string("x/y"), DataType::string(), "x/y"),
            (Value::Date(19_724), TypeRoot::Date.into(), "2024-01-02"),
            (Value::Date(-800_000), TypeRoot::Date.into(), "-0221-09-04"),
            (Value::Time(36_672_000), TypeRoot::Time(0).into(), "10:11:12"),
            (Value::Timestamp(-second), DataType::timestamp(3), "1969-12-31T23:59:59"),
            (
                Value::Timestamp(1_704_164_645_678_000_000),
                DataType::timestamp(3),
                "2024-01-02T03:04:05.678",
            ),
            (Value::Timestamp(60 * second), DataType::timestamp_ltz(3), "1970-01-01T00:01"),
        ] {
            assert_eq!(value_text(&value, &data_type).unwrap().as_deref(), Some(text));
            assert_eq!(parse_value(text, &data_type).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn what_flink_writes_is_read() {
        assert_eq!(parse_value("19724", &TypeRoot::Date.into()).unwrap(), Value::Date(19_724));
        let time = parse_value("36672000", &TypeRoot::Time(0).into()).unwrap();
        assert_eq!(time, Value::Time(36_672_000));
    }

    #[test]
    fn text_of_another_type_is_an_error() {
        for (text, data_type) in [
            ("x", DataType::int()),
            ("300", TypeRoot::TinyInt.into()),
            ("2024-02-30", TypeRoot::Date.into()),
            ("2024-1-2", TypeRoot::Date.into()),
            ("1.234", DataType::decimal(5, 2)),
            ("12:61", TypeRoot::Time(0).into()),
            ("2024-01-02", DataType::timestamp(3)),
            ("a", DataType::bytes()),
        ] {
            assert!(parse_value(text, &data_type).is_err(), "{text}");
        }
    }
}
