//! TIMESTAMPADD and TIMESTAMPDIFF.

use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Builder, Int32Builder, Int64Builder, Time32MillisecondBuilder};
use arrow::datatypes::{Date32Type, Int64Type, Time32MillisecondType};
use flott_types::{DataType, TypeRoot};

use super::calendar::{add_months, months_between};
use super::stamps::{Stamp, StampBuilder, Stamps};
use super::unit::{MILLIS_PER_DAY, NANOS_PER_SECOND, Unit};
use crate::read::Primitives;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "TIMESTAMPADD",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_add,
        compile: compile_add,
        doc: FunctionDoc {
            syntax: &["TIMESTAMPADD(unit, integer, temporal)"],
            text: "Moves a date, time or timestamp by a number of units; units from SECOND to YEAR, \
                   also MILLISECOND for timestamps. A day that the month reached does not have \
                   becomes its last. Adding less than a day to a DATE gives a TIMESTAMP(6).",
            examples: &[
                ("TIMESTAMPADD(MONTH, 1, DATE '2024-01-31')", "2024-02-29"),
                ("TIMESTAMPADD(HOUR, 2, DATE '2024-01-31')", "2024-01-31 02:00:00.000000"),
            ],
        },
    },
    ScalarFunction {
        name: "TIMESTAMPDIFF",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_diff,
        compile: compile_diff,
        doc: FunctionDoc {
            syntax: &["TIMESTAMPDIFF(unit, from, to)"],
            text: "The number of whole units from one point of time to another, as an INT that \
                   wraps around; negative when the second is before the first. A TIMESTAMP_LTZ can be \
                   compared with another only.",
            examples: &[
                ("TIMESTAMPDIFF(DAY, DATE '2024-02-28', DATE '2024-03-01')", "2"),
                ("TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')", "1"),
            ],
        },
    },
];

fn resolve_add(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &["<UNIT>, <INTEGER>, <DATETIME>"];
    let [amount, value] = args.args.as_slice() else { return Err(args.no_match(FORMS)) };
    args.refuse_untyped_null()?;
    if !amount.data_type.root.is_integer() {
        return Err(args.no_match(FORMS));
    }
    let unit = Unit::of_call(args)?;
    let by_months = unit.months().is_some();
    let of_days = by_months || matches!(unit, Unit::Day | Unit::Week);
    let of_seconds = matches!(unit, Unit::Hour | Unit::Minute | Unit::Second);
    let root = match &value.data_type.root {
        TypeRoot::Date if of_days => TypeRoot::Date,
        TypeRoot::Date if of_seconds => TypeRoot::Timestamp(6),
        root @ (TypeRoot::Time(_) | TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_))
            if of_days || of_seconds =>
        {
            root.clone()
        }
        TypeRoot::Timestamp(p) if unit == Unit::Millisecond => TypeRoot::Timestamp((*p).max(3)),
        TypeRoot::TimestampLtz(p) if unit == Unit::Millisecond => {
            TypeRoot::TimestampLtz((*p).max(3))
        }
        TypeRoot::Date | TypeRoot::Time(_) | TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) => {
            return Err(SignatureError::Other(format!(
                "TIMESTAMPADD of unit {unit} does not take a {}\nhint: use a unit from SECOND to YEAR",
                value.data_type.summary()
            )));
        }
        _ => return Err(args.no_match(FORMS)),
    };
    Ok(Resolved {
        parameters: vec![
            DataType::bigint().with_nullable(amount.data_type.nullable),
            value.data_type.clone(),
        ],
        returns: root.nullable().with_nullable(args.any_nullable()),
    })
}

/// How far a value is moved.
#[derive(Clone, Copy)]
enum Step {
    Months(i64),
    Millis(i64),
}

fn compile_add(
    args: &CallArgs,
    returns: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let unit = Unit::of_call(args)?;
    let step = match unit.months() {
        Some(months) => Step::Months(months),
        None => Step::Millis(unit.millis().unwrap_or(1)),
    };
    let from = args.data_type(1).root.clone();
    let to = returns.root.clone();
    Ok(total_kernel(move |args, context| {
        let amounts = Primitives::<Int64Type>::new(&args[0]);
        Ok(add(amounts, &args[1], step, (&from, &to), context))
    }))
}

fn add(
    amounts: Primitives<Int64Type>,
    values: &Column,
    step: Step,
    (from, to): (&TypeRoot, &TypeRoot),
    context: &EvalContext,
) -> ArrayRef {
    let rows = context.rows;
    match (from, to) {
        (TypeRoot::Date, TypeRoot::Date) => {
            let dates = Primitives::<Date32Type>::new(values);
            let mut builder = Date32Builder::with_capacity(rows);
            for row in 0..rows {
                builder.append_option(dates.get(row).zip(amounts.get(row)).map(
                    |(date, amount)| {
                        let days = i64::from(date);
                        (match step {
                            Step::Months(months) => {
                                add_months(days, wrapped_months(amount, months))
                            }
                            Step::Millis(millis) => {
                                days.wrapping_add(amount.wrapping_mul(millis / MILLIS_PER_DAY))
                            }
                        }) as i32
                    },
                ));
            }
            Arc::new(builder.finish())
        }
        (TypeRoot::Time(_), _) => {
            let times = Primitives::<Time32MillisecondType>::new(values);
            let mut builder = Time32MillisecondBuilder::with_capacity(rows);
            for row in 0..rows {
                builder.append_option(times.get(row).zip(amounts.get(row)).map(
                    |(time, amount)| {
                        match step {
                            Step::Months(_) => time,
                            Step::Millis(millis) => i64::from(time)
                                .wrapping_add(amount.wrapping_mul(millis))
                                .rem_euclid(MILLIS_PER_DAY)
                                as i32,
                        }
                    },
                ));
            }
            Arc::new(builder.finish())
        }
        (_, TypeRoot::Timestamp(precision) | TypeRoot::TimestampLtz(precision)) => {
            let stamps = Moments::new(values, from);
            let mut builder = StampBuilder::new(*precision, rows);
            for row in 0..rows {
                builder.append(
                    stamps.get(row).zip(amounts.get(row)).map(|(s, amount)| moved(s, amount, step)),
                );
            }
            builder.finish()
        }
        _ => crate::evaluator::nulls(&to.clone().nullable(), rows),
    }
}

/// Months in Flink's intervals are 32 bits wide.
fn wrapped_months(amount: i64, months: i64) -> i64 {
    i64::from(amount.wrapping_mul(months) as i32)
}

fn moved(stamp: Stamp, amount: i64, step: Step) -> Stamp {
    match step {
        Step::Months(months) => moved_by_months(stamp, wrapped_months(amount, months)),
        Step::Millis(millis) => moved_by_millis(stamp, amount.wrapping_mul(millis)),
    }
}

/// The point of time some months later, at the last day of its month where that is shorter.
pub fn moved_by_months(stamp: Stamp, months: i64) -> Stamp {
    let days = add_months(stamp.second.div_euclid(86_400), months);
    Stamp { second: days * 86_400 + stamp.second.rem_euclid(86_400), ..stamp }
}

/// The point of time some milliseconds later.
pub fn moved_by_millis(stamp: Stamp, millis: i64) -> Stamp {
    let nanos = i64::from(stamp.nano) + millis.rem_euclid(1_000) * 1_000_000;
    Stamp {
        second: stamp
            .second
            .wrapping_add(millis.div_euclid(1_000))
            .wrapping_add(nanos / NANOS_PER_SECOND),
        nano: (nanos % NANOS_PER_SECOND) as u32,
    }
}

/// A column of dates, times of day or timestamps as points of time.
pub enum Moments<'a> {
    /// Midnights.
    Dates(Primitives<'a, Date32Type>),
    /// Times of 1970-01-01.
    Times(Primitives<'a, Time32MillisecondType>),
    /// As they are.
    Stamps(Stamps<'a>),
}

impl<'a> Moments<'a> {
    /// A view of a column of DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ.
    pub fn new(column: &'a Column, root: &TypeRoot) -> Self {
        match root {
            TypeRoot::Date => Self::Dates(Primitives::new(column)),
            TypeRoot::Time(_) => Self::Times(Primitives::new(column)),
            TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => {
                Self::Stamps(Stamps::new(column, *p))
            }
            _ => Self::Stamps(Stamps::new(column, 3)),
        }
    }

    /// The value of `row`; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Stamp> {
        match self {
            Self::Dates(dates) => {
                dates.get(row).map(|days| Stamp { second: i64::from(days) * 86_400, nano: 0 })
            }
            Self::Times(times) => times.get(row).map(|millis| Stamp {
                second: i64::from(millis).div_euclid(1_000),
                nano: millis.rem_euclid(1_000) as u32 * 1_000_000,
            }),
            Self::Stamps(stamps) => stamps.get(row),
        }
    }
}

fn resolve_diff(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &["<UNIT>, <DATETIME>, <DATETIME>"];
    let [from, to] = args.args.as_slice() else { return Err(args.no_match(FORMS)) };
    let unit = Unit::of_call(args)?;
    args.refuse_untyped_null()?;
    let (first, second) = (&from.data_type.root, &to.data_type.root);
    let is_local = |root: &TypeRoot| matches!(root, TypeRoot::Date | TypeRoot::Timestamp(_));
    let is_instant = |root: &TypeRoot| matches!(root, TypeRoot::TimestampLtz(_));
    let is_time = |root: &TypeRoot| matches!(root, TypeRoot::Time(_));
    let both = |test: &dyn Fn(&TypeRoot) -> bool| test(first) && test(second);
    if !(both(&is_local) || both(&is_instant) || (both(&is_time) && unit.months().is_none())) {
        let known = |root: &TypeRoot| is_local(root) || is_instant(root) || is_time(root);
        return Err(if both(&known) {
            SignatureError::Other(format!(
                "TIMESTAMPDIFF cannot count {unit} between {} and {}\nhint: cast both to the same type",
                from.data_type.summary(),
                to.data_type.summary()
            ))
        } else {
            args.no_match(FORMS)
        });
    }
    let returns = if unit == Unit::Nanosecond { DataType::bigint() } else { DataType::int() };
    Ok(Resolved::unchanged(args, returns.with_nullable(args.any_nullable())))
}

fn compile_diff(
    args: &CallArgs,
    returns: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let unit = Unit::of_call(args)?;
    let roots = [args.data_type(0).root.clone(), args.data_type(1).root.clone()];
    let wide = returns.root == TypeRoot::BigInt;
    Ok(total_kernel(move |args, context| {
        let from = Moments::new(&args[0], &roots[0]);
        let to = Moments::new(&args[1], &roots[1]);
        let differences = (0..context.rows).map(|row| {
            let (from, to) = from.get(row).zip(to.get(row))?;
            Some(difference(from, to, unit))
        });
        collect(differences, context.rows, wide)
    }))
}

fn collect(
    values: impl Iterator<Item = Option<i64>>,
    rows: usize,
    wide: bool,
) -> Result<ArrayRef, EvalError> {
    if wide {
        let mut builder = Int64Builder::with_capacity(rows);
        values.for_each(|value| builder.append_option(value));
        Ok(Arc::new(builder.finish()))
    } else {
        let mut builder = Int32Builder::with_capacity(rows);
        values.for_each(|value| builder.append_option(value.map(|v| v as i32)));
        Ok(Arc::new(builder.finish()))
    }
}

/// Whole units between two points of time. As in Flink units finer than a second are counted in whole
/// seconds first.
fn difference(from: Stamp, to: Stamp, unit: Unit) -> i64 {
    if let Some(length) = unit.months() {
        return whole_months(from, to) / length;
    }
    let millis = to.millis().wrapping_sub(from.millis());
    match unit {
        Unit::Week | Unit::Day | Unit::Hour | Unit::Minute | Unit::Second => {
            millis / unit.millis().unwrap_or(1)
        }
        Unit::Millisecond => (millis / 1_000).wrapping_mul(1_000),
        Unit::Microsecond => (millis / 1_000).wrapping_mul(1_000_000),
        Unit::Nanosecond => (millis / 1_000).wrapping_mul(1_000_000_000),
        Unit::Epoch => millis / 1_000,
        _ => millis / MILLIS_PER_DAY,
    }
}

/// Whole months between two points of time. Flink takes one off whenever the last day reached is cut
/// short, also when counting backwards.
fn whole_months(from: Stamp, to: Stamp) -> i64 {
    let split = |stamp: Stamp| {
        let millis = stamp.millis();
        (millis.div_euclid(MILLIS_PER_DAY), millis.rem_euclid(MILLIS_PER_DAY))
    };
    let ((from_day, from_time), (to_day, to_time)) = (split(from), split(to));
    let months = months_between(from_day, to_day);
    let cut_short = add_months(from_day, months) == to_day && to_time < from_time;
    months - i64::from(cut_short)
}
