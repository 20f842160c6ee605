//! Values as text that databases write and read.

use flott_types::text::{value_to_string, write_timestamp};
use flott_types::{DataType, TypeRoot, Value};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// Nanoseconds in a day.
pub(super) const DAY: i128 = 86_400_000_000_000;

/// The value of a type that a text of a database stands for; `None` when it is none.
pub(super) fn parse(text: &str, data_type: &DataType, zone: &TimeZone) -> Option<Value> {
    let trimmed = text.trim();
    Some(match &data_type.root {
        TypeRoot::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "t" | "true" | "1" | "y" | "yes" | "on" => Value::Boolean(true),
            "f" | "false" | "0" | "n" | "no" | "off" => Value::Boolean(false),
            _ => return None,
        },
        TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int | TypeRoot::BigInt => {
            Value::Int(trimmed.parse().ok()?)
        }
        TypeRoot::Float => Value::Float(trimmed.parse().ok()?),
        TypeRoot::Double => Value::Double(trimmed.parse().ok()?),
        TypeRoot::Decimal { precision, scale } => {
            Value::Decimal(decimal(trimmed, *precision, *scale)?)
        }
        TypeRoot::Char(length) => padded(text, *length),
        TypeRoot::Varchar(_) => Value::string(text),
        TypeRoot::Binary(_) | TypeRoot::Varbinary(_) => Value::Bytes(text.as_bytes().into()),
        TypeRoot::Date => Value::Date(days(date(trimmed)?)),
        TypeRoot::Time(_) => Value::Time((time_nanos(trimmed)? / 1_000_000) as i32),
        TypeRoot::Timestamp(p) => match instant(trimmed) {
            Some(nanos) => Value::Timestamp(cut(local_of(nanos, zone), *p)),
            None => Value::Timestamp(cut(local(trimmed)?, *p)),
        },
        TypeRoot::TimestampLtz(p) => match instant(trimmed) {
            Some(nanos) => Value::Timestamp(cut(nanos, *p)),
            None => Value::Timestamp(cut(instant_of(local(trimmed)?, zone)?, *p)),
        },
        _ => return None,
    })
}

/// The text of a value that a database reads; instants are written in UTC, with `+00` behind them.
pub(super) fn write(value: &Value, data_type: &DataType) -> String {
    match (value, &data_type.root) {
        (Value::Boolean(value), _) => if *value { "true" } else { "false" }.into(),
        (Value::Float(value), _) => value.to_string(),
        (Value::Double(value), _) => value.to_string(),
        (Value::Timestamp(nanos), TypeRoot::TimestampLtz(p)) => {
            let mut out = String::new();
            write_timestamp(&mut out, *nanos, *p);
            out.push_str("+00");
            out
        }
        _ => value_to_string(value, data_type, &TimeZone::UTC),
    }
}

/// A CHAR value with its padding, which databases take off.
pub(super) fn padded(text: &str, length: u32) -> Value {
    let missing = (length as usize).saturating_sub(text.chars().count());
    if missing == 0 {
        Value::string(text)
    } else {
        Value::string(text.to_string() + &" ".repeat(missing))
    }
}

/// The digits of a decimal of so many and with so many behind the point, rounded half up.
pub(super) fn decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    // So many digits of the text belong to the result.
    let wanted = whole.len() as i64 + i64::from(exponent) + i64::from(scale);
    let mut digits = 0i128;
    let mut round_up = false;
    let mut count = 0i64;
    for byte in whole.bytes().chain(fraction.bytes()) {
        let digit = char::from(byte).to_digit(10)?;
        if count < wanted {
            digits = digits.checked_mul(10)?.checked_add(i128::from(digit))?;
        } else if count == wanted {
            round_up = digit >= 5;
        }
        count += 1;
    }
    while count < wanted && digits != 0 {
        digits = digits.checked_mul(10)?;
        count += 1;
    }
    digits += i128::from(round_up);
    let fits = digits < 10i128.pow(u32::from(precision));
    fits.then_some(if negative { -digits } else { digits })
}

/// Nanoseconds since the epoch without what the precision does not hold.
pub(super) fn cut(nanos: i128, precision: u8) -> i128 {
    let step = 10i128.pow(9 - u32::from(precision.min(9)));
    nanos.div_euclid(step) * step
}

/// The wall clock of an instant, both in nanoseconds.
pub(super) fn local_of(instant: i128, zone: &TimeZone) -> i128 {
    let known = jiff::Timestamp::MIN.as_nanosecond()..=jiff::Timestamp::MAX.as_nanosecond();
    let nearest = instant.clamp(*known.start(), *known.end());
    let offset =
        jiff::Timestamp::from_nanosecond(nearest).map_or(0, |t| zone.to_offset(t).seconds());
    instant + i128::from(offset) * 1_000_000_000
}

/// The instant at which a wall clock shows this, both in nanoseconds.
pub(super) fn instant_of(local: i128, zone: &TimeZone) -> Option<i128> {
    let as_if_utc = jiff::Timestamp::from_nanosecond(local).ok()?;
    let clock = TimeZone::UTC.to_datetime(as_if_utc);
    Some(zone.to_ambiguous_timestamp(clock).compatible().ok()?.as_nanosecond())
}

/// Days since the epoch.
pub(super) fn days(date: Date) -> i32 {
    nanos_of(date.to_datetime(Time::midnight())).div_euclid(DAY) as i32
}

fn nanos_of(clock: DateTime) -> i128 {
    TimeZone::UTC
        .to_ambiguous_timestamp(clock)
        .compatible()
        .map_or(0, jiff::Timestamp::as_nanosecond)
}

fn date(text: &str) -> Option<Date> {
    // Of a text with a time the date counts.
    text.get(..10)?.parse().ok()
}

/// Nanoseconds of the day.
fn time_nanos(text: &str) -> Option<i128> {
    let time = text.rsplit([' ', 'T']).next()?;
    let time: Time = time.parse().ok()?;
    Some(nanos_of(time.on(1970, 1, 1)))
}

/// A wall clock without a zone.
fn local(text: &str) -> Option<i128> {
    let clock = match text.len() {
        10 => text.parse::<Date>().ok()?.to_datetime(Time::midnight()),
        _ => text.parse::<DateTime>().ok()?,
    };
    Some(nanos_of(clock))
}

/// A text with an offset from UTC.
fn instant(text: &str) -> Option<i128> {
    let clock = text.get(10..)?;
    if !clock.contains(['Z', 'z', '+', '-']) {
        return None;
    }
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_nanosecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly_and_rounded_half_up() {
        let of = |text| decimal(text, 10, 2);
        assert_eq!(of("12.3"), Some(1230));
        assert_eq!(of("-0.005"), Some(-1));
        assert_eq!(of("0.0049"), Some(0));
        assert_eq!(of("1e3"), Some(100_000));
        assert_eq!(of("1234E-3"), Some(123));
        assert_eq!(of("99999999.99"), Some(9_999_999_999));
        assert_eq!(of("99999999.995"), None);
        assert_eq!(of("NaN"), None);
        assert_eq!(of("."), None);
        let all = "12345678901234567890.123456789012345678";
        assert_eq!(decimal(all, 38, 18), Some(12_345_678_901_234_567_890_123_456_789_012_345_678));
        assert_eq!(decimal("0.0000000000000000000000000000000000000001", 38, 18), Some(0));
    }

    #[test]
    fn times_are_read_with_and_without_an_offset() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let of = |text: &str, ty: DataType| {
            let value = parse(text, &ty, &berlin)?;
            Some(value_to_string(&value, &ty, &berlin))
        };
        let shown = |text: &str| Some(text.to_string());
        assert_eq!(
            of("2024-07-01 12:30:00.1239", DataType::timestamp(3)),
            shown("2024-07-01 12:30:00.123")
        );
        assert_eq!(
            of("2024-07-01T10:30:00Z", DataType::timestamp(0)),
            shown("2024-07-01 12:30:00")
        );
        assert_eq!(
            of("2024-07-01 10:30:00+00", DataType::timestamp_ltz(0)),
            shown("2024-07-01 12:30:00")
        );
        assert_eq!(
            of("2024-07-01 10:30:00", DataType::timestamp_ltz(0)),
            shown("2024-07-01 10:30:00")
        );
        assert_eq!(of("2024-07-01", TypeRoot::Date.nullable()), shown("2024-07-01"));
        assert_eq!(of("23:59:59.5", TypeRoot::Time(3).nullable()), shown("23:59:59.5"));
        assert_eq!(of("soon", DataType::timestamp(3)), None);
    }
}
