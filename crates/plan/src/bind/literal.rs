//! Literals to constants with Flink's types.

use flott_functions::Expr;
use flott_sql::ast::{
    self, ExprKind, IntervalLiteral, IntervalQualifier, Literal, NumberKind, Span, TimeUnit,
    UnaryOp,
};
use flott_types::text::days_from_civil;
use flott_types::{DataType, TypeRoot, Value};

use super::types::interval_root;
use crate::{PlanError, Result};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// The constant that a literal stands for.
pub fn bind_literal(literal: &Literal, span: Span) -> Result<Expr> {
    match literal {
        Literal::Number { text, kind } => number(text, *kind, span),
        Literal::String(text) => Ok(Expr::string(text)),
        Literal::Binary(bytes) => Ok(Expr::literal(
            Value::Bytes(bytes.as_slice().into()),
            TypeRoot::Binary(bytes.len() as u32).not_null(),
        )),
        Literal::Boolean(value) => Ok(Expr::boolean(*value)),
        Literal::Unknown => Ok(Expr::null(DataType::boolean())),
        Literal::Null => Ok(Expr::null(DataType::null())),
        Literal::Date(text) => {
            let days = parse_date(text).ok_or_else(|| illegal("DATE", text, "yyyy-MM-dd", span))?;
            Ok(Expr::literal(Value::Date(days), TypeRoot::Date.not_null()))
        }
        Literal::Time(text) => {
            let (nanos, digits) =
                parse_clock(text).ok_or_else(|| illegal("TIME", text, "HH:mm:ss", span))?;
            Ok(Expr::literal(
                Value::Time((nanos / 1_000_000) as i32),
                TypeRoot::Time(digits.min(3)).not_null(),
            ))
        }
        Literal::Timestamp(text) => timestamp(text, span),
        // The wall clock of the session's zone, as a cast of the timestamp without zone.
        Literal::TimestampLtz(text) => {
            let local = timestamp(text, span)?;
            let TypeRoot::Timestamp(digits) = local.data_type().root else { return Ok(local) };
            Ok(local.cast_to(&TypeRoot::TimestampLtz(digits).not_null())?)
        }
        Literal::Interval(interval) => bind_interval(interval, span),
    }
}

fn timestamp(text: &str, span: Span) -> Result<Expr> {
    let (nanos, digits) = parse_timestamp(text)
        .ok_or_else(|| illegal("TIMESTAMP", text, "yyyy-MM-dd HH:mm:ss", span))?;
    Ok(Expr::literal(Value::Timestamp(nanos), TypeRoot::Timestamp(digits).not_null()))
}

/// The constant of an exact number with a minus before it, whose type goes by its value: -2147483648 is
/// an INT, and the smallest BIGINT has no positive twin.
pub fn bind_negative(operand: &ast::Expr, span: Span) -> Option<Result<Expr>> {
    let (negative, text, kind) = signed_number(operand)?;
    let sign = if negative { "" } else { "-" };
    Some(number(&format!("{sign}{text}"), kind, span))
}

/// The digits of an exact number, and whether an odd number of minus signs stands before them.
fn signed_number(expr: &ast::Expr) -> Option<(bool, &str, NumberKind)> {
    match &expr.kind {
        ExprKind::Literal(Literal::Number { text, kind }) if *kind != NumberKind::Approximate => {
            Some((false, text, *kind))
        }
        ExprKind::Unary { op: UnaryOp::Minus, operand } => {
            signed_number(operand).map(|(negative, text, kind)| (!negative, text, kind))
        }
        _ => None,
    }
}

fn illegal(what: &str, text: &str, form: &str, span: Span) -> PlanError {
    PlanError::new(format!("Illegal {what} literal '{text}': not in format '{form}'")).at(span)
}

fn number(text: &str, kind: NumberKind, span: Span) -> Result<Expr> {
    let too_long = || {
        PlanError::new(format!("Numeric literal '{text}' out of range"))
            .at(span)
            .hint("whole numbers fit BIGINT; write a point for a DECIMAL of up to 38 digits: 1.0")
    };
    match kind {
        NumberKind::Approximate => {
            let value: f64 = text.parse().map_err(|_| too_long())?;
            if value.is_infinite() {
                return Err(too_long());
            }
            Ok(Expr::literal(Value::Double(value), TypeRoot::Double.not_null()))
        }
        NumberKind::Integer => match text.parse::<i64>() {
            Ok(value) if i32::try_from(value).is_ok() => {
                Ok(Expr::literal(Value::Int(value), TypeRoot::Int.not_null()))
            }
            Ok(value) => Ok(Expr::literal(Value::Int(value), TypeRoot::BigInt.not_null())),
            Err(_) => Err(too_long()),
        },
        NumberKind::Decimal => decimal(text, too_long),
    }
}

/// A number with a point. As in Calcite every digit that is written counts, and the digits together
/// must fit 64 bits.
fn decimal(text: &str, too_long: impl Fn() -> PlanError) -> Result<Expr> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let precision = whole.trim_start_matches('-').len() + fraction.len();
    let digits: i64 = format!("{whole}{fraction}").parse().map_err(|_| too_long())?;
    let (precision, scale) = (precision.clamp(1, 38) as u8, fraction.len());
    let scale = u8::try_from(scale).ok().filter(|scale| *scale <= precision);
    let root = TypeRoot::Decimal { precision, scale: scale.ok_or_else(too_long)? };
    Ok(Expr::literal(Value::Decimal(i128::from(digits)), root.not_null()))
}

fn bind_interval(interval: &IntervalLiteral, span: Span) -> Result<Expr> {
    let qualifier = &interval.qualifier;
    let out_of_range = |what: &str, most: u32| {
        PlanError::new(format!("{what} of an interval is from 0 to {most}")).at(span)
    };
    if qualifier.start_precision.is_some_and(|digits| !(1..=10).contains(&digits)) {
        return Err(out_of_range("the leading field's precision", 10));
    }
    if qualifier.fraction_precision.is_some_and(|digits| digits > 9) {
        return Err(out_of_range("the precision of seconds", 9));
    }
    let amount = parse_interval(&interval.text, &interval.qualifier).ok_or_else(|| {
        PlanError::new(format!(
            "Illegal interval literal format '{}' for INTERVAL {}{}",
            interval.text,
            interval.qualifier.start,
            interval.qualifier.end.map(|end| format!(" TO {end}")).unwrap_or_default(),
        ))
        .at(span)
    })?;
    let amount = if interval.negative { -amount } else { amount };
    let overflow = || PlanError::new("interval literal out of range").at(span);
    Ok(match interval_root(&interval.qualifier) {
        root @ TypeRoot::IntervalYearMonth => Expr::literal(
            Value::Months(i32::try_from(amount).map_err(|_| overflow())?),
            root.not_null(),
        ),
        root => Expr::literal(
            Value::Millis(i64::try_from(amount).map_err(|_| overflow())?),
            root.not_null(),
        ),
    })
}

/// Months or milliseconds of an interval's text.
fn parse_interval(text: &str, qualifier: &IntervalQualifier) -> Option<i128> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let start_digits = qualifier.start_precision.unwrap_or(2) as usize;
    let field = |digits: &str, most: Option<i128>| -> Option<i128> {
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let value: i128 = digits.parse().ok()?;
        match most {
            Some(most) => (digits.len() <= 2 && value <= most).then_some(value),
            None => Some(value),
        }
    };
    let first = |digits: &str| -> Option<i128> {
        let value = field(digits, None)?;
        (value < 10i128.pow(start_digits as u32) && value <= i128::from(i32::MAX)).then_some(value)
    };
    let amount = match (qualifier.start, qualifier.end) {
        (TimeUnit::Year, None) => first(text)? * 12,
        (TimeUnit::Quarter, None) => first(text)? * 3,
        (TimeUnit::Month, None) => first(text)?,
        (TimeUnit::Year, Some(TimeUnit::Month)) => {
            let (years, months) = text.split_once('-')?;
            first(years)? * 12 + field(months, Some(11))?
        }
        (TimeUnit::Week, None) => first(text)? * 7 * 86_400_000,
        (start, end) => {
            let end = end.unwrap_or(start);
            let fraction_digits = qualifier.fraction_precision.unwrap_or(6) as usize;
            day_time(text, start, end, fraction_digits, &first, &field)?
        }
    };
    Some(sign * amount)
}

fn day_time(
    text: &str,
    start: TimeUnit,
    end: TimeUnit,
    fraction_digits: usize,
    first: &dyn Fn(&str) -> Option<i128>,
    field: &dyn Fn(&str, Option<i128>) -> Option<i128>,
) -> Option<i128> {
    const UNITS: [(TimeUnit, i128, i128); 4] = [
        (TimeUnit::Day, 86_400_000, i128::MAX),
        (TimeUnit::Hour, 3_600_000, 23),
        (TimeUnit::Minute, 60_000, 59),
        (TimeUnit::Second, 1_000, 59),
    ];
    let from = UNITS.iter().position(|(unit, ..)| *unit == start)?;
    let to = UNITS.iter().position(|(unit, ..)| *unit == end)?;
    let (main, fraction) = match text.split_once('.') {
        Some((main, fraction)) if end == TimeUnit::Second => (main, Some(fraction)),
        Some(_) => return None,
        None => (text, None),
    };
    let mut rest = main;
    let mut total = 0;
    for (i, (unit, millis, most)) in UNITS.iter().enumerate().take(to + 1).skip(from) {
        let part = if i == to {
            std::mem::take(&mut rest)
        } else {
            let separator = if *unit == TimeUnit::Day { ' ' } else { ':' };
            let (part, tail) = rest.split_once(separator)?;
            rest = tail;
            part
        };
        total += millis * if i == from { first(part)? } else { field(part, Some(*most))? };
    }
    if let Some(fraction) = fraction {
        if fraction.is_empty()
            || fraction.len() > fraction_digits.max(1)
            || !fraction.bytes().all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let millis: i128 = format!("{fraction:0<3}")[..3].parse().ok()?;
        total += millis;
    }
    Some(total)
}

/// A date as Java's strict `SimpleDateFormat` reads it, see [`fields`]; days between the Julian and
/// the Gregorian calendar are none.
fn parse_date(text: &str) -> Option<i32> {
    fields(text, '-').filter(|(_, rest)| rest.is_empty()).and_then(|(date, _)| day_of(date))
}

/// The day, counted from 1970-01-01, of a year, month and day.
fn day_of(date: [u32; 3]) -> Option<i32> {
    const LAST_JULIAN: [u32; 3] = [1582, 10, 4];
    const FIRST_GREGORIAN: [u32; 3] = [1582, 10, 15];
    let [year, month, day] = date;
    let is_gap = date > LAST_JULIAN && date < FIRST_GREGORIAN;
    if year == 0 || year > 9999 || is_gap || !(1..=12).contains(&month) {
        return None;
    }
    if !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    i32::try_from(days_from_civil(year as i32, month, day)).ok()
}

/// Three numbers with separators between them, and what follows. Each may have any number of digits and
/// blanks before it.
fn fields(text: &str, separator: char) -> Option<([u32; 3], &str)> {
    let mut rest = text;
    let mut values = [0; 3];
    for (i, value) in values.iter_mut().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix(separator)?;
        }
        let digits = rest.trim_start_matches([' ', '\t']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        *value = digits[..end].parse().ok()?;
        rest = &digits[end..];
    }
    Some((values, rest))
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Nanoseconds of the day and the number of fraction digits. Digits beyond nanoseconds are dropped.
fn parse_clock(text: &str) -> Option<(i128, u8)> {
    let ([hour, minute, second], rest) = fields(text, ':')?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = match rest.strip_prefix('.') {
        Some(fraction) if fraction.bytes().all(|b| b.is_ascii_digit()) => fraction,
        None if rest.is_empty() => "",
        _ => return None,
    };
    let fraction = &fraction[..fraction.len().min(9)];
    let nanos: i128 = format!("{fraction:0<9}").parse().ok()?;
    let seconds = i128::from(hour * 3_600 + minute * 60 + second);
    Some((seconds * NANOS_PER_SECOND + nanos, fraction.len() as u8))
}

/// Nanoseconds since the epoch and the number of fraction digits; a date alone is its midnight.
fn parse_timestamp(text: &str) -> Option<(i128, u8)> {
    // Other than a DATE it may not begin with a blank.
    let (date, rest) = fields(text, '-').filter(|_| !text.starts_with([' ', '\t']))?;
    let days = day_of(date)?;
    let (nanos, digits) = match rest {
        "" => (0, 0),
        _ => parse_clock(rest.strip_prefix(' ')?)?,
    };
    Some((i128::from(days) * 86_400 * NANOS_PER_SECOND + nanos, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(text: &str, start: TimeUnit, end: Option<TimeUnit>) -> Option<i128> {
        let qualifier = IntervalQualifier {
            start,
            start_precision: None,
            end,
            fraction_precision: None,
            span: Span::default(),
        };
        parse_interval(text, &qualifier)
    }

    #[test]
    fn intervals_count_months_or_milliseconds() {
        assert_eq!(interval("1-02", TimeUnit::Year, Some(TimeUnit::Month)), Some(14));
        assert_eq!(interval("-3", TimeUnit::Day, None), Some(-3 * 86_400_000));
        let day_to_second = |text| interval(text, TimeUnit::Day, Some(TimeUnit::Second));
        assert_eq!(day_to_second("1 02:03:04.5"), Some(93_784_500));
        assert_eq!(day_to_second("1 24:00:00"), None);
        assert_eq!(interval("100", TimeUnit::Day, None), None, "two digits by default");
        assert_eq!(interval("0.001", TimeUnit::Second, None), Some(1));
        assert_eq!(interval("x", TimeUnit::Hour, None), None);
    }

    #[test]
    fn exact_numbers_get_the_smallest_type() {
        let ty = |text: &str, kind| number(text, kind, Span::default()).unwrap().data_type();
        assert_eq!(ty("2147483647", NumberKind::Integer).to_string(), "INT NOT NULL");
        assert_eq!(ty("2147483648", NumberKind::Integer).to_string(), "BIGINT NOT NULL");
        assert_eq!(ty("1.50", NumberKind::Decimal).to_string(), "DECIMAL(3, 2) NOT NULL");
    }

    #[test]
    fn dates_that_are_none_are_refused() {
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_date("2025-02-29"), None);
        assert_eq!(parse_timestamp("1970-01-01 00:00:00.25"), Some((250_000_000, 2)));
        assert_eq!(parse_timestamp("1970-01-01"), Some((0, 0)));
    }
}
