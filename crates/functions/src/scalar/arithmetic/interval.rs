//! Arithmetic with intervals: on dates, times, timestamps, and among themselves.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, DurationMillisecondType, IntervalYearMonthType,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use flott_types::text::{civil_from_days, days_from_civil};
use flott_types::{DataType, Family, TimestampUnit, TypeRoot, arrow_type, timestamp_unit};

use super::{Compiled, kernels};
use crate::loops::{binary, try_binary};
use crate::{CallArgs, Column, EvalError, Resolved, SignatureError, kernel, total_kernel};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The rule of `+` (or `-`, when `subtract`) with intervals; `None` when it is none of theirs.
pub(super) fn resolve_sum(args: &CallArgs, subtract: bool) -> Option<Resolved> {
    let [left, right] = args.args.as_slice() else { return None };
    let (left, right) = (&left.data_type, &right.data_type);
    let nullable = left.nullable || right.nullable;
    let returns = match (left.family(), right.family()) {
        (Family::Interval, Family::Interval) if left.same_root(right) => left,
        (Family::Date | Family::Time | Family::Timestamp, Family::Interval) => left,
        // Flink has no form with the interval before a TIMESTAMP_LTZ.
        (Family::Interval, _) if matches!(right.root, TypeRoot::TimestampLtz(_)) => return None,
        (Family::Interval, Family::Date | Family::Time | Family::Timestamp) if !subtract => right,
        _ => return None,
    };
    Some(Resolved::unchanged(args, returns.clone().with_nullable(nullable)))
}

/// The rule of `*` of an interval and a number.
pub(super) fn resolve_product(args: &CallArgs) -> Option<Resolved> {
    let [left, right] = args.args.as_slice() else { return None };
    let (interval, number) = match (left.data_type.family(), right.data_type.family()) {
        (Family::Interval, Family::Numeric) => (&left.data_type, &right.data_type),
        (Family::Numeric, Family::Interval) => (&right.data_type, &left.data_type),
        _ => return None,
    };
    if !number.root.is_integer() {
        return None;
    }
    // The number becomes so many months or milliseconds, which makes both sides alike.
    let returns = interval.clone().with_nullable(args.any_nullable());
    Some(Resolved { parameters: vec![interval.clone(), interval.clone()], returns })
}

/// The rule of `(a - b) unit`.
pub(super) fn resolve_difference(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let refused = || args.no_match(&["(<DATETIME> - <DATETIME>) <TIME_UNIT>"]);
    let ([left, right], [unit, ..]) = (args.args.as_slice(), args.symbols.as_slice()) else {
        return Err(refused());
    };
    let datetime =
        matches!(left.data_type.family(), Family::Date | Family::Time | Family::Timestamp);
    let is_instant = |ty: &DataType| matches!(ty.root, TypeRoot::TimestampLtz(_));
    if !datetime
        || left.data_type.family() != right.data_type.family()
        || is_instant(&left.data_type) != is_instant(&right.data_type)
    {
        return Err(refused());
    }
    let root = if unit.starts_with("YEAR") || unit.starts_with("MONTH") || &**unit == "QUARTER" {
        TypeRoot::IntervalYearMonth
    } else {
        TypeRoot::IntervalDayTime
    };
    let common = crate::coercion::common_type(&args.types()).ok_or_else(refused)?;
    let returns = DataType::new(root).with_nullable(args.any_nullable());
    Ok(Resolved { parameters: vec![common.clone(), common], returns })
}

/// Makes the kernel of a sum or difference with an interval in it.
pub(super) fn compile_sum(args: &CallArgs, returns: &DataType, subtract: bool) -> Compiled {
    if returns.family() == Family::Interval {
        return kernels::add(args, &returns.root, subtract);
    }
    let swapped = args.data_type(0).family() == Family::Interval;
    let interval = &args.data_type(usize::from(!swapped)).root;
    let sign = if subtract { -1 } else { 1 };
    let months = *interval == TypeRoot::IntervalYearMonth;
    let to = returns.clone();
    let evaluate = move |args: &[Column], rows: usize| {
        let (point, interval) = if swapped { (&args[1], &args[0]) } else { (&args[0], &args[1]) };
        if months {
            plus_months(point, interval, sign, rows, &to)
        } else {
            plus_millis(point, interval, sign, rows, &to)
        }
    };
    // Only the days of a DATE have a range to leave.
    Ok(match returns.root {
        TypeRoot::Date => kernel(move |args, context| evaluate(args, context.rows)),
        _ => total_kernel(move |args, context| evaluate(args, context.rows)),
    })
}

/// Makes the kernel of an interval so many times; the number has been made an interval.
pub(super) fn compile_product(args: &CallArgs, returns: &DataType) -> Compiled {
    kernels::multiply(args, &returns.root)
}

/// Makes the kernel of `(a - b) unit`.
pub(super) fn compile_difference(args: &CallArgs, returns: &DataType) -> Compiled {
    let point = args.data_type(0).clone();
    let months = returns.root == TypeRoot::IntervalYearMonth;
    Ok(total_kernel(move |args, context| difference(args, &point, months, context.rows)))
}

fn plus_millis(
    point: &Column,
    interval: &Column,
    sign: i64,
    rows: usize,
    to: &DataType,
) -> Result<ArrayRef, EvalError> {
    type Millis = DurationMillisecondType;
    Ok(match &to.root {
        TypeRoot::Date => Arc::new(try_binary::<Date32Type, Millis, Date32Type>(
            point,
            interval,
            rows,
            |d, i| {
                let days = i32::try_from(i / MILLIS_PER_DAY).map_err(|_| EvalError::Argument {
                    function: "+",
                    reason: "the interval has more days than a DATE can count".into(),
                })?;
                Ok(Some(if sign > 0 { d.wrapping_add(days) } else { d.wrapping_sub(days) }))
            },
        )?),
        // What the precision does not show is kept.
        TypeRoot::Time(_) => {
            Arc::new(binary::<Time32MillisecondType, Millis, Time32MillisecondType>(
                point,
                interval,
                rows,
                |time, i| {
                    let sum = i64::from(time).wrapping_add(sign.wrapping_mul(i));
                    sum.rem_euclid(MILLIS_PER_DAY) as i32
                },
            ))
        }
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
            TimestampUnit::Millis => {
                type T = TimestampMillisecondType;
                Arc::new(binary::<T, Millis, T>(point, interval, rows, |t, i| {
                    t.wrapping_add(sign.wrapping_mul(i))
                }))
            }
            TimestampUnit::Micros => {
                type T = TimestampMicrosecondType;
                Arc::new(binary::<T, Millis, T>(point, interval, rows, |t, i| {
                    t.wrapping_add(sign.wrapping_mul(i).wrapping_mul(1000))
                }))
            }
            TimestampUnit::Nanos => {
                type T = Decimal128Type;
                let sum = binary::<T, Millis, T>(point, interval, rows, |t, i| {
                    t.wrapping_add(i128::from(sign) * i128::from(i) * 1_000_000)
                });
                Arc::new(sum.with_data_type(arrow_type(to)))
            }
        },
        root => return Err(EvalError::Internal(format!("{root} plus an interval"))),
    })
}

fn plus_months(
    point: &Column,
    interval: &Column,
    sign: i64,
    rows: usize,
    to: &DataType,
) -> Result<ArrayRef, EvalError> {
    type Months = IntervalYearMonthType;
    fn timestamps<T: ArrowPrimitiveType<Native = i64>>(
        point: &Column,
        interval: &Column,
        sign: i64,
        rows: usize,
        day: i64,
    ) -> ArrayRef {
        Arc::new(binary::<T, Months, T>(point, interval, rows, |step, months| {
            let days = add_months(step.div_euclid(day), sign * i64::from(months));
            days.wrapping_mul(day).wrapping_add(step.rem_euclid(day))
        }))
    }
    Ok(match &to.root {
        TypeRoot::Date => {
            type D = Date32Type;
            Arc::new(binary::<D, Months, D>(point, interval, rows, |days, months| {
                add_months(days.into(), sign * i64::from(months)) as i32
            }))
        }
        // A clock shows the same after whole months.
        TypeRoot::Time(_) => {
            type T = Time32MillisecondType;
            Arc::new(binary::<T, Months, T>(point, interval, rows, |time, _| time))
        }
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
            TimestampUnit::Millis => {
                let day = MILLIS_PER_DAY;
                timestamps::<TimestampMillisecondType>(point, interval, sign, rows, day)
            }
            TimestampUnit::Micros => {
                let day = MILLIS_PER_DAY * 1000;
                timestamps::<TimestampMicrosecondType>(point, interval, sign, rows, day)
            }
            TimestampUnit::Nanos => {
                type T = Decimal128Type;
                let day = i128::from(MILLIS_PER_DAY) * 1_000_000;
                let sum = binary::<T, Months, T>(point, interval, rows, |step, months| {
                    let days = step.div_euclid(day) as i64;
                    i128::from(add_months(days, sign * i64::from(months))) * day
                        + step.rem_euclid(day)
                });
                Arc::new(sum.with_data_type(arrow_type(to)))
            }
        },
        root => return Err(EvalError::Internal(format!("{root} plus an interval"))),
    })
}

/// The day, counted from 1970-01-01, that is `months` later; the last of its month where that is
/// shorter.
pub(crate) fn add_months(days: i64, months: i64) -> i64 {
    let date = civil_from_days(days);
    let month = i64::from(date.year) * 12 + i64::from(date.month) - 1 + months;
    let (year, month) = (month.div_euclid(12) as i32, month.rem_euclid(12) as u32 + 1);
    let first = days_from_civil(year, month, 1);
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let length = days_from_civil(next_year, next_month, 1) - first;
    first + i64::from(date.day).min(length) - 1
}

fn difference(
    args: &[Column],
    point: &DataType,
    months: bool,
    rows: usize,
) -> Result<ArrayRef, EvalError> {
    fn between<T: ArrowPrimitiveType>(
        args: &[Column],
        rows: usize,
        months: bool,
        // Milliseconds since the epoch of a value.
        millis: impl Fn(T::Native) -> i64,
    ) -> ArrayRef {
        if months {
            Arc::new(binary::<T, T, IntervalYearMonthType>(&args[0], &args[1], rows, |a, b| {
                months_between(millis(a), millis(b))
            }))
        } else {
            Arc::new(binary::<T, T, DurationMillisecondType>(&args[0], &args[1], rows, |a, b| {
                millis(a).wrapping_sub(millis(b))
            }))
        }
    }
    Ok(match &point.root {
        TypeRoot::Date => {
            between::<Date32Type>(args, rows, months, |days| i64::from(days) * MILLIS_PER_DAY)
        }
        TypeRoot::Time(_) => between::<Time32MillisecondType>(args, rows, months, i64::from),
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
            TimestampUnit::Millis => {
                between::<TimestampMillisecondType>(args, rows, months, |step| step)
            }
            TimestampUnit::Micros => {
                between::<TimestampMicrosecondType>(args, rows, months, |step| {
                    step.div_euclid(1000)
                })
            }
            TimestampUnit::Nanos => between::<Decimal128Type>(args, rows, months, |step| {
                step.div_euclid(1_000_000) as i64
            }),
        },
        root => return Err(EvalError::Internal(format!("difference of {root}"))),
    })
}

/// Whole months from `earlier` to `later`, both in milliseconds; negative when they are swapped.
fn months_between(later: i64, earlier: i64) -> i32 {
    let split =
        |millis: i64| (millis.div_euclid(MILLIS_PER_DAY), millis.rem_euclid(MILLIS_PER_DAY));
    let ((later_day, later_time), (earlier_day, earlier_time)) = (split(later), split(earlier));
    let (a, b) = (civil_from_days(later_day), civil_from_days(earlier_day));
    let mut months =
        (i64::from(a.year) - i64::from(b.year)) * 12 + i64::from(a.month) - i64::from(b.month);
    // A month that is not full does not count, in either direction.
    let reached = (add_months(earlier_day, months), earlier_time);
    let wanted = (later_day, later_time);
    if months > 0 && reached > wanted {
        months -= 1;
    } else if months < 0 && reached < wanted {
        months += 1;
    }
    months as i32
}
