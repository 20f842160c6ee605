//! FLOOR and CEIL of temporal values to a unit.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::binary;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType,
};
use flott_types::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

use super::calendar;
use super::clock::to_local;
use super::stamps::NANOS_STORAGE;
use super::unit::{MILLIS_PER_DAY, Unit};
use crate::{CallArgs, EvalError, Kernel, Resolved, SessionSettings, SignatureError, total_kernel};

/// The type rule of `FLOOR(value TO unit)` and, with `up`, of CEIL.
pub fn resolve(args: &CallArgs, up: bool) -> Result<Resolved, SignatureError> {
    let [arg] = args.args.as_slice() else {
        return Err(args.no_match(&["<TEMPORAL> TO <UNIT>"]));
    };
    let unit = Unit::of_call(args)?;
    if !can_round(&arg.data_type.root, unit) {
        return Err(match arg.data_type.root {
            TypeRoot::Date
            | TypeRoot::Time(_)
            | TypeRoot::Timestamp(_)
            | TypeRoot::TimestampLtz(_) => SignatureError::Other(format!(
                "a {} cannot be rounded {} to {}\nhint: use a unit from MILLENNIUM to MILLISECOND, for TIME from HOUR",
                arg.data_type.summary(),
                if up { "up" } else { "down" },
                args.symbols.first().map(AsRef::as_ref).unwrap_or_default(),
            )),
            _ => args.no_match(&["<DATE> TO <UNIT>", "<TIME> TO <UNIT>", "<TIMESTAMP> TO <UNIT>"]),
        });
    }
    Ok(Resolved::unchanged(args, arg.data_type.clone()))
}

/// Whether values of a type are rounded to a unit. What Flink computes for other pairs is no
/// rounding (a TIME TO YEAR) or fails.
fn can_round(root: &TypeRoot, unit: Unit) -> bool {
    use Unit::*;
    let of_calendar =
        matches!(unit, Millennium | Century | Decade | Year | Quarter | Month | Week | Day);
    let of_clock = matches!(unit, Hour | Minute | Second | Millisecond);
    match root {
        TypeRoot::Date => of_calendar || of_clock || matches!(unit, Microsecond | Nanosecond),
        TypeRoot::Time(_) => of_clock,
        TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) => of_calendar || of_clock,
        _ => false,
    }
}

/// The kernel of `FLOOR(value TO unit)` and, with `up`, of CEIL.
///
/// A TIMESTAMP_LTZ is rounded on the local clock and keeps, as in Flink, the offset of the instant it
/// came from. CEIL to a unit of the calendar looks at the day only, as in Flink: midnight of the first
/// day of a month is the ceiling of all that day.
pub fn compile(
    args: &CallArgs,
    returns: &DataType,
    settings: &SessionSettings,
    up: bool,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let unit = Unit::of_call(args)?;
    let root = returns.root.clone();
    let zone = settings.zone.clone();
    Ok(total_kernel(move |args, context| {
        let array = args[0].clone().into_array(context.rows)?;
        match root {
            TypeRoot::Timestamp(precision) => {
                let is_exact = unit == Unit::Millisecond;
                round_timestamps(&array, precision, unit, up, is_exact)
            }
            TypeRoot::TimestampLtz(precision) if unit.millis().is_some_and(|m| m < 3_600_000) => {
                round_timestamps(&array, precision, unit, up, false)
            }
            TypeRoot::TimestampLtz(precision) => {
                let local = to_local(&array, precision, &zone);
                let rounded = round_timestamps(&local, precision, unit, up, false)?;
                shift_back(&rounded, &local, &array, precision)
            }
            TypeRoot::Time(_) => {
                let step = unit.millis().unwrap_or(1);
                let times = array.as_primitive::<Time32MillisecondType>();
                Ok(Arc::new(
                    times.unary::<_, Time32MillisecondType>(|v| {
                        round(i64::from(v), step, up) as i32
                    }),
                ))
            }
            _ => {
                let dates = array.as_primitive::<Date32Type>();
                Ok(Arc::new(dates.unary::<_, Date32Type>(|v| {
                    let days = i64::from(v);
                    (if up { calendar::ceil(days, unit) } else { calendar::floor(days, unit) })
                        as i32
                })))
            }
        }
    }))
}

/// As in Flink what is finer than milliseconds does not count for CEIL, unless it `is_exact`.
fn round_timestamps(
    array: &ArrayRef,
    precision: u8,
    unit: Unit,
    up: bool,
    is_exact: bool,
) -> Result<ArrayRef, EvalError> {
    // Weeks begin on Sunday and months have no fixed length: both go by the calendar.
    let step = unit.millis().filter(|_| unit != Unit::Week);
    let cut = |steps: i64, per_milli: i64| match is_exact {
        true => steps,
        false => steps - steps.rem_euclid(per_milli),
    };
    let rounded = |steps: i64, per_milli: i64| match step {
        Some(millis) => round(cut(steps, per_milli), millis * per_milli, up),
        None => {
            let per_day = MILLIS_PER_DAY * per_milli;
            let days = steps.div_euclid(per_day);
            let day = if up { calendar::ceil(days, unit) } else { calendar::floor(days, unit) };
            day.wrapping_mul(per_day)
        }
    };
    Ok(match timestamp_unit(precision) {
        TimestampUnit::Millis => Arc::new(
            array
                .as_primitive::<TimestampMillisecondType>()
                .unary::<_, TimestampMillisecondType>(|v| rounded(v, 1)),
        ),
        TimestampUnit::Micros => Arc::new(
            array
                .as_primitive::<TimestampMicrosecondType>()
                .unary::<_, TimestampMicrosecondType>(|v| rounded(v, 1_000)),
        ),
        TimestampUnit::Nanos => Arc::new(
            array
                .as_primitive::<Decimal128Type>()
                .unary::<_, Decimal128Type>(|v| {
                    // Milliseconds suffice, save that CEIL must not lose what is finer.
                    let millis = v.div_euclid(1_000_000) as i64;
                    let finer = v.rem_euclid(1_000_000) != 0;
                    let millis = millis + i64::from(up && finer && is_exact);
                    i128::from(rounded(millis, 1)) * 1_000_000
                })
                .with_data_type(NANOS_STORAGE),
        ),
    })
}

#[inline]
fn round(value: i64, step: i64, up: bool) -> i64 {
    let below = value - value.rem_euclid(step);
    if up && below != value { below.wrapping_add(step) } else { below }
}

/// Rounded local times as instants: each keeps the offset that its local time had.
fn shift_back(
    rounded: &ArrayRef,
    local: &ArrayRef,
    instants: &ArrayRef,
    precision: u8,
) -> Result<ArrayRef, EvalError> {
    macro_rules! shift {
        ($ty:ty) => {{
            let offsets = binary::<_, _, _, $ty>(
                local.as_primitive::<$ty>(),
                instants.as_primitive::<$ty>(),
                |local, instant| local.wrapping_sub(instant),
            )?;
            binary::<_, _, _, $ty>(rounded.as_primitive::<$ty>(), &offsets, |rounded, offset| {
                rounded.wrapping_sub(offset)
            })?
        }};
    }
    Ok(match timestamp_unit(precision) {
        TimestampUnit::Millis => Arc::new(shift!(TimestampMillisecondType)),
        TimestampUnit::Micros => Arc::new(shift!(TimestampMicrosecondType)),
        TimestampUnit::Nanos => Arc::new(shift!(Decimal128Type).with_data_type(NANOS_STORAGE)),
    })
}
