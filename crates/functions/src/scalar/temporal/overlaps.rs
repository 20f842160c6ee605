//! OVERLAPS of two periods.

use std::sync::Arc;

use arrow::array::BooleanBuilder;
use arrow::datatypes::{DurationMillisecondType, IntervalYearMonthType};
use flott_types::{DataType, Family, TypeRoot};

use super::arithmetic::{Moments, moved_by_millis, moved_by_months};
use super::stamps::Stamp;
use super::unit::MILLIS_PER_DAY;
use crate::read::Primitives;
use crate::{
    CallArgs, Column, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "OVERLAPS",
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve,
    compile,
    doc: FunctionDoc {
        syntax: &[
            "(start, end) OVERLAPS (start, end)",
            "(start, interval) OVERLAPS (start, interval)",
        ],
        text: "Whether two periods have a point of time in common, their ends included. A period whose \
               end is before its start is turned round. A NULL end leaves a point of which only the \
               other end is known.",
        examples: &[(
            "(TIME '2:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '3:30:00', INTERVAL '2' HOUR)",
            "TRUE",
        )],
    },
}];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &[
        "(<DATETIME>, <DATETIME>) OVERLAPS (<DATETIME>, <DATETIME>)",
        "(<DATETIME>, <INTERVAL>) OVERLAPS (<DATETIME>, <INTERVAL>)",
    ];
    if args.len() != 4 {
        return Err(args.no_match(FORMS));
    }
    let types = args.types();
    if types[..2].iter().any(|ty| ty.family() == Family::Null) {
        return Err(SignatureError::UntypedNull);
    }
    let kind = |ty: &DataType| std::mem::discriminant(&ty.root);
    let points = types.iter().filter(|ty| ty.family() != Family::Interval);
    let known = types.iter().find(|ty| is_point(ty)).ok_or_else(|| args.no_match(FORMS))?;
    let same = points.clone().all(|ty| ty.family() == Family::Null || kind(ty) == kind(known));
    let starts = [&types[0], &types[2]].iter().all(|ty| ty.family() != Family::Interval);
    if !same || !starts {
        return Err(args.no_match(FORMS));
    }
    let parameters = types
        .iter()
        .map(|ty| match ty.family() {
            Family::Null => known.clone().with_nullable(true),
            _ => ty.clone(),
        })
        .collect();
    Ok(Resolved { parameters, returns: DataType::boolean().with_nullable(args.any_nullable()) })
}

fn is_point(ty: &DataType) -> bool {
    matches!(ty.family(), Family::Date | Family::Time | Family::Timestamp)
}

fn compile(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let roots: Vec<TypeRoot> = args.args.iter().map(|arg| arg.data_type.root.clone()).collect();
    Ok(total_kernel(move |args, context| {
        let first = Periods::new(&args[..2], &roots[..2]);
        let second = Periods::new(&args[2..], &roots[2..]);
        let mut builder = BooleanBuilder::with_capacity(context.rows);
        for row in 0..context.rows {
            let ((start1, end1), (start2, end2)) = (first.get(row), second.get(row));
            builder.append_option(and(not_before(end1, start2), not_before(end2, start1)));
        }
        Ok(Arc::new(builder.finish()))
    }))
}

/// The columns of one side.
struct Periods<'a> {
    starts: Moments<'a>,
    ends: Ends<'a>,
    of: &'a TypeRoot,
}

enum Ends<'a> {
    Points(Moments<'a>),
    Months(Primitives<'a, IntervalYearMonthType>),
    Millis(Primitives<'a, DurationMillisecondType>),
}

impl<'a> Periods<'a> {
    fn new(columns: &'a [Column], roots: &'a [TypeRoot]) -> Self {
        let ends = match &roots[1] {
            TypeRoot::IntervalYearMonth => Ends::Months(Primitives::new(&columns[1])),
            TypeRoot::IntervalDayTime => Ends::Millis(Primitives::new(&columns[1])),
            root => Ends::Points(Moments::new(&columns[1], root)),
        };
        Self { starts: Moments::new(&columns[0], &roots[0]), ends, of: &roots[0] }
    }

    /// Start and end in order, each `None` when it is not known.
    fn get(&self, row: usize) -> (Option<Stamp>, Option<Stamp>) {
        let start = self.starts.get(row);
        let end = match &self.ends {
            Ends::Points(points) => points.get(row),
            Ends::Months(months) => start.zip(months.get(row)).map(|(start, m)| match self.of {
                TypeRoot::Time(_) => start,
                _ => moved_by_months(start, m.into()),
            }),
            Ends::Millis(millis) => start.zip(millis.get(row)).map(|(start, m)| match self.of {
                TypeRoot::Date => moved_by_millis(start, m - m % MILLIS_PER_DAY),
                TypeRoot::Time(_) => {
                    let moved = moved_by_millis(start, m);
                    Stamp { second: moved.second.rem_euclid(86_400), ..moved }
                }
                _ => moved_by_millis(start, m),
            }),
        };
        // As Flink's CASE has it, anything but a TRUE comparison turns the period round.
        if not_before(end, start) == Some(true) { (start, end) } else { (end, start) }
    }
}

/// Whether one point is at or after another; UNKNOWN when one is not known.
fn not_before(point: Option<Stamp>, other: Option<Stamp>) -> Option<bool> {
    point.zip(other).map(|(point, other)| point >= other)
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
