//! EXTRACT and the functions named after its units.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{
    Date32Type, Decimal128Type, DurationMillisecondType, Int64Type, IntervalYearMonthType,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use flott_types::text::civil_from_days;
use flott_types::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

use super::calendar;
use super::clock::to_local;
use super::unit::{MILLIS_PER_DAY, NANOS_PER_DAY, NANOS_PER_SECOND, Unit};
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings, SignatureError,
    Volatility, total_kernel,
};

/// A function that is EXTRACT of one unit.
macro_rules! extract_of {
    ($name:literal, $unit:expr, $text:literal, $examples:expr) => {
        ScalarFunction {
            name: $name,
            aliases: &[],
            volatility: Volatility::Immutable,
            resolve: |args| resolve(args, $unit),
            compile: |args, _, settings| compile(args, settings, $unit),
            doc: FunctionDoc {
                syntax: &[concat!($name, "(temporal)")],
                text: $text,
                examples: $examples,
            },
        }
    };
}

/// EXTRACT and its short forms.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "EXTRACT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| resolve(args, Unit::of_call(args)?),
        compile: |args, _, settings| compile(args, settings, Unit::of_call(args)?),
        doc: FunctionDoc {
            syntax: &["EXTRACT(unit FROM temporal)"],
            text: "A part of a date, time, timestamp or interval, as a BIGINT. Units: MILLENNIUM, \
                   CENTURY, DECADE, YEAR, ISOYEAR, QUARTER, MONTH, WEEK (ISO 8601), DAY, DOY, DOW \
                   (Sunday is 1), ISODOW (Monday is 1), HOUR, MINUTE, SECOND, MILLISECOND, \
                   MICROSECOND, NANOSECOND (the last three count the whole fraction of the second) \
                   and EPOCH (seconds since 1970-01-01). A TIMESTAMP_LTZ is read in the session's \
                   time zone.",
            examples: &[
                ("EXTRACT(YEAR FROM DATE '2024-02-29')", "2024"),
                ("EXTRACT(WEEK FROM DATE '2021-01-03')", "53"),
                ("EXTRACT(MINUTE FROM TIMESTAMP '2024-02-29 12:34:56')", "34"),
            ],
        },
    },
    extract_of!("YEAR", Unit::Year, "The year.", &[("YEAR(DATE '2024-02-29')", "2024")]),
    extract_of!(
        "QUARTER",
        Unit::Quarter,
        "The quarter of the year, 1 to 4.",
        &[("QUARTER(DATE '2024-02-29')", "1")]
    ),
    extract_of!("MONTH", Unit::Month, "The month, 1 to 12.", &[("MONTH(DATE '2024-02-29')", "2")]),
    extract_of!(
        "WEEK",
        Unit::Week,
        "The ISO 8601 week of the year, 1 to 53.",
        &[("WEEK(DATE '2024-02-29')", "9")]
    ),
    extract_of!(
        "DAYOFYEAR",
        Unit::DayOfYear,
        "The day of the year, 1 to 366.",
        &[("DAYOFYEAR(DATE '2024-02-29')", "60")]
    ),
    extract_of!(
        "DAYOFMONTH",
        Unit::Day,
        "The day of the month, 1 to 31.",
        &[("DAYOFMONTH(DATE '2024-02-29')", "29")]
    ),
    extract_of!(
        "DAYOFWEEK",
        Unit::DayOfWeek,
        "The day of the week, 1 (Sunday) to 7.",
        &[("DAYOFWEEK(DATE '2024-02-29')", "5")]
    ),
    extract_of!(
        "HOUR",
        Unit::Hour,
        "The hour of the day, 0 to 23.",
        &[("HOUR(TIMESTAMP '2024-02-29 12:34:56')", "12")]
    ),
    extract_of!(
        "MINUTE",
        Unit::Minute,
        "The minute of the hour, 0 to 59.",
        &[("MINUTE(TIME '12:34:56')", "34")]
    ),
    extract_of!(
        "SECOND",
        Unit::Second,
        "The second of the minute, 0 to 59.",
        &[("SECOND(TIME '12:34:56')", "56")]
    ),
];

fn resolve(args: &CallArgs, unit: Unit) -> Result<Resolved, SignatureError> {
    let [arg] = args.args.as_slice() else {
        return Err(args.no_match(&["<TEMPORAL>"]));
    };
    if !has_part(&arg.data_type.root, unit) {
        let known = matches!(
            arg.data_type.root,
            TypeRoot::Date
                | TypeRoot::Time(_)
                | TypeRoot::Timestamp(_)
                | TypeRoot::TimestampLtz(_)
                | TypeRoot::IntervalYearMonth
                | TypeRoot::IntervalDayTime
        );
        return Err(match known {
            true => SignatureError::Other(format!(
                "a value of type {} has no {unit}\nhint: extract another unit or cast it to TIMESTAMP",
                arg.data_type.summary()
            )),
            false => args.no_match(&["<DATE>", "<TIME>", "<TIMESTAMP>", "<INTERVAL>"]),
        });
    }
    let returns = DataType::bigint().with_nullable(arg.data_type.nullable);
    Ok(Resolved::unchanged(args, returns))
}

/// Whether values of a type have such a part.
fn has_part(root: &TypeRoot, unit: Unit) -> bool {
    use Unit::*;
    match root {
        TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) => true,
        TypeRoot::Date => !matches!(unit, Microsecond | Nanosecond),
        TypeRoot::Time(_) => matches!(unit, Hour | Minute | Second | Millisecond),
        TypeRoot::IntervalDayTime => matches!(unit, Day | Hour | Minute | Second | Millisecond),
        TypeRoot::IntervalYearMonth => {
            matches!(unit, Millennium | Century | Year | Quarter | Month)
        }
        _ => false,
    }
}

fn compile(
    args: &CallArgs,
    settings: &SessionSettings,
    unit: Unit,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let root = args.data_type(0).root.clone();
    let zone = settings.zone.clone();
    Ok(total_kernel(move |args, context| {
        let array = args[0].clone().into_array(context.rows)?;
        Ok(Arc::new(match root {
            TypeRoot::IntervalYearMonth => of_months(&array, unit),
            TypeRoot::IntervalDayTime => of_millis(&array, unit),
            TypeRoot::TimestampLtz(precision) => {
                let local = to_local(&array, precision, &zone);
                part(Values::of_timestamps(&local, precision), unit)
            }
            TypeRoot::Timestamp(precision) => part(Values::of_timestamps(&array, precision), unit),
            TypeRoot::Time(_) => part(Values::Times(&array), unit),
            _ => part(Values::Dates(&array), unit),
        }))
    }))
}

fn part(values: Values, unit: Unit) -> Int64Array {
    match unit {
        Unit::Millennium => values.by_day(|d| rounded_away(civil_from_days(d).year, 1_000)),
        Unit::Century => values.by_day(|d| rounded_away(civil_from_days(d).year, 100)),
        Unit::Decade => values.by_day(|d| i64::from(civil_from_days(d).year / 10)),
        Unit::Year => values.by_day(|d| civil_from_days(d).year.into()),
        Unit::IsoYear => values.by_day(|d| calendar::iso_week(d).0.into()),
        Unit::Quarter => values.by_day(|d| i64::from(civil_from_days(d).month.div_ceil(3))),
        Unit::Month => values.by_day(|d| civil_from_days(d).month.into()),
        Unit::Week => values.by_day(|d| calendar::iso_week(d).1),
        Unit::Day => values.by_day(|d| civil_from_days(d).day.into()),
        Unit::DayOfWeek => values.by_day(calendar::day_of_week),
        Unit::IsoDayOfWeek => values.by_day(calendar::iso_day_of_week),
        Unit::DayOfYear => values.by_day(calendar::day_of_year),
        Unit::Hour => values.by_nano_of_day(|n| n / (3_600 * NANOS_PER_SECOND)),
        Unit::Minute => values.by_nano_of_day(|n| n / (60 * NANOS_PER_SECOND) % 60),
        Unit::Second => values.by_nano_of_day(|n| n / NANOS_PER_SECOND % 60),
        Unit::Millisecond => values.by_nano_of_day(|n| n / 1_000_000 % 1_000),
        Unit::Microsecond => values.by_nano_of_day(|n| n / 1_000 % 1_000_000),
        Unit::Nanosecond => values.by_nano_of_day(|n| n % NANOS_PER_SECOND),
        Unit::Epoch => values.epoch(),
    }
}

/// Centuries and millennia begin with their year 1.
fn rounded_away(year: i32, length: i32) -> i64 {
    i64::from(if year > 0 { year + length - 1 } else { year - length + 1 }) / i64::from(length)
}

/// Local values that have a day, a time of day, or both.
enum Values<'a> {
    Dates(&'a ArrayRef),
    Times(&'a ArrayRef),
    Millis(&'a ArrayRef),
    Micros(&'a ArrayRef),
    Nanos(&'a ArrayRef),
}

impl<'a> Values<'a> {
    fn of_timestamps(array: &'a ArrayRef, precision: u8) -> Self {
        match timestamp_unit(precision) {
            TimestampUnit::Millis => Self::Millis(array),
            TimestampUnit::Micros => Self::Micros(array),
            TimestampUnit::Nanos => Self::Nanos(array),
        }
    }

    /// Computes from the days since 1970-01-01.
    fn by_day(self, f: impl Fn(i64) -> i64) -> Int64Array {
        match self {
            Self::Dates(a) => {
                a.as_primitive::<Date32Type>().unary::<_, Int64Type>(|v| f(i64::from(v)))
            }
            Self::Times(a) => a.as_primitive::<Time32MillisecondType>().unary(|_| f(0)),
            Self::Millis(a) => a
                .as_primitive::<TimestampMillisecondType>()
                .unary(|v| f(v.div_euclid(MILLIS_PER_DAY))),
            Self::Micros(a) => a
                .as_primitive::<TimestampMicrosecondType>()
                .unary(|v| f(v.div_euclid(MILLIS_PER_DAY * 1_000))),
            Self::Nanos(a) => a
                .as_primitive::<Decimal128Type>()
                .unary(|v| f(v.div_euclid(NANOS_PER_DAY.into()) as i64)),
        }
    }

    /// Computes from the nanoseconds since midnight.
    fn by_nano_of_day(self, f: impl Fn(i64) -> i64) -> Int64Array {
        match self {
            Self::Dates(a) => a.as_primitive::<Date32Type>().unary::<_, Int64Type>(|_| f(0)),
            Self::Times(a) => {
                a.as_primitive::<Time32MillisecondType>().unary(|v| f(i64::from(v) * 1_000_000))
            }
            Self::Millis(a) => a
                .as_primitive::<TimestampMillisecondType>()
                .unary(|v| f(v.rem_euclid(MILLIS_PER_DAY) * 1_000_000)),
            Self::Micros(a) => a
                .as_primitive::<TimestampMicrosecondType>()
                .unary(|v| f(v.rem_euclid(MILLIS_PER_DAY * 1_000) * 1_000)),
            Self::Nanos(a) => a
                .as_primitive::<Decimal128Type>()
                .unary(|v| f(v.rem_euclid(NANOS_PER_DAY.into()) as i64)),
        }
    }

    /// Seconds since 1970-01-01 00:00 on the local clock: Flink adds the zone's offset here too.
    fn epoch(self) -> Int64Array {
        match self {
            Self::Dates(a) => {
                a.as_primitive::<Date32Type>().unary(|v| i64::from(v) * (MILLIS_PER_DAY / 1_000))
            }
            Self::Times(a) => {
                a.as_primitive::<Time32MillisecondType>().unary(|v| i64::from(v) / 1_000)
            }
            Self::Millis(a) => {
                a.as_primitive::<TimestampMillisecondType>().unary(|v| v.div_euclid(1_000))
            }
            Self::Micros(a) => {
                a.as_primitive::<TimestampMicrosecondType>().unary(|v| v.div_euclid(1_000_000))
            }
            Self::Nanos(a) => a
                .as_primitive::<Decimal128Type>()
                .unary(|v| v.div_euclid(NANOS_PER_SECOND.into()) as i64),
        }
    }
}

/// Parts of an interval of months; all parts of a negative interval are negative.
fn of_months(array: &ArrayRef, unit: Unit) -> Int64Array {
    let months = array.as_primitive::<IntervalYearMonthType>();
    match unit {
        Unit::Month => months.unary(|m| i64::from(m % 12)),
        Unit::Quarter => months.unary(|m| i64::from((m % 12 - 1) / 3 + 1)),
        _ => {
            let length = unit.months().unwrap_or(12);
            months.unary(|m| i64::from(m) / length)
        }
    }
}

/// Parts of an interval of milliseconds.
fn of_millis(array: &ArrayRef, unit: Unit) -> Int64Array {
    let millis = array.as_primitive::<DurationMillisecondType>();
    match unit {
        Unit::Day => millis.unary(|m| m / MILLIS_PER_DAY),
        Unit::Hour => millis.unary(|m| m % MILLIS_PER_DAY / 3_600_000),
        Unit::Minute => millis.unary(|m| m % 3_600_000 / 60_000),
        Unit::Second => millis.unary(|m| m % 60_000 / 1_000),
        _ => millis.unary(|m| m % 1_000),
    }
}
