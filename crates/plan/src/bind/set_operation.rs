//! UNION, INTERSECT and EXCEPT.
//!
//! INTERSECT and EXCEPT are semi and anti joins under a DISTINCT; with ALL they count rows and give
//! each as often as it is left over.

use flott_functions::aggregate::AggregateFunction;
use flott_functions::{Expr, aggregate_function, coercion, table};
use flott_sql::ast::{SetOp, Span};
use flott_types::{DataType, Field, Schema, TypeRoot, Value};

use super::aggregate::aggregate_args;
use super::expr::{builtin, case};
use super::query::{align, anonymous};
use super::select::{distinct, filter};
use super::{Bound, table_call};
use crate::logical::{
    Aggregate, AggregateCall, Correlate, EquiPair, Join, JoinKind, LogicalOp, LogicalPlan, PlanRef,
};
use crate::{PlanError, Result};

/// A set operation. Columns are brought to their common types and take the first input's names.
pub fn set_operation(
    op: SetOp,
    all: bool,
    left: PlanRef,
    right: PlanRef,
    span: Span,
) -> Result<Bound> {
    let name = match op {
        SetOp::Union => "UNION",
        SetOp::Intersect => "INTERSECT",
        SetOp::Except => "EXCEPT",
    };
    let name = if all { format!("{name} ALL") } else { name.to_string() };
    let fields = common_fields(&[&left, &right], &name, span)?;
    let (left, right) = (align(left, &fields)?, align(right, &fields)?);
    let plan = match (op, all) {
        (SetOp::Union, true) => union(left, right, fields, span),
        (SetOp::Union, false) => distinct(union(left, right, fields, span), None, span),
        (SetOp::Intersect, false) => {
            distinct(matching(JoinKind::Semi, left, right, span), None, span)
        }
        (SetOp::Except, false) => distinct(matching(JoinKind::Anti, left, right, span), None, span),
        (SetOp::Intersect, true) => intersect_all(left, right, &fields, span)?,
        (SetOp::Except, true) => except_all(left, right, &fields, span)?,
    };
    Ok(anonymous(plan))
}

fn common_fields(inputs: &[&PlanRef], name: &str, span: Span) -> Result<Vec<Field>> {
    let width = inputs[0].schema.len();
    if let Some(other) = inputs.iter().find(|input| input.schema.len() != width) {
        return Err(PlanError::new(format!(
            "Column count mismatch in {name}: {width} and {}",
            other.schema.len()
        ))
        .at(span));
    }
    (0..width)
        .map(|column| {
            let of_column: Vec<&Field> = inputs.iter().map(|i| &i.schema.fields[column]).collect();
            let types: Vec<DataType> =
                of_column.iter().map(|field| field.data_type.clone()).collect();
            let common = coercion::common_type(&types).ok_or_else(|| {
                PlanError::new(format!("Type mismatch in column {} of {name}", column + 1))
                    .at(span)
                    .hint("cast the column to one type in all inputs")
            })?;
            let first = of_column[0];
            let same_time = of_column.iter().all(|field| field.time == first.time);
            let time = if same_time { first.time } else { None };
            Ok(Field::new(first.name.clone(), common).with_time(time))
        })
        .collect()
}

fn union(left: PlanRef, right: PlanRef, fields: Vec<Field>, span: Span) -> PlanRef {
    LogicalPlan::spanned(LogicalOp::Union, vec![left, right], Schema::new(fields), span)
}

/// The left rows that have an equal right row, or have none; NULL equals NULL.
fn matching(kind: JoinKind, left: PlanRef, right: PlanRef, span: Span) -> PlanRef {
    let equal = columns(&left.schema.fields)
        .into_iter()
        .zip(columns(&right.schema.fields))
        .map(|(left, right)| EquiPair { left, right, null_safe: true })
        .collect();
    let mut schema = (*left.schema).clone();
    schema.fields.iter_mut().for_each(|field| field.time = None);
    let op = LogicalOp::Join(Join::new(kind, equal, None));
    LogicalPlan::spanned(op, vec![left, right], schema, span)
}

/// Each row as often as it is in both inputs.
fn intersect_all(left: PlanRef, right: PlanRef, fields: &[Field], span: Span) -> Result<PlanRef> {
    let marker = || Expr::boolean(true);
    let missing = || Expr::null(DataType::boolean());
    let left = marked(left, fields, vec![marker(), missing()]);
    let right = marked(right, fields, vec![missing(), marker()]);
    let width = fields.len();
    let count = |marker: usize| call("COUNT", Expr::column(width + marker, DataType::boolean()));
    let calls = vec![count(0)?, count(1)?];
    let grouped = group(left, right, fields, calls, span);
    let (left, right) = (column(&grouped, width), column(&grouped, width + 1));
    let has = |count: &Expr| builtin(">=", vec![count.clone(), number(1)]);
    let both = Expr::And(vec![has(&left)?, has(&right)?]);
    let more = builtin(">", vec![left.clone(), right.clone()])?;
    let fewer = case(vec![(more, right)], left)?;
    replicate(filter(grouped, both, span), fewer, fields, span)
}

/// Each row as often as the left input has it more often than the right one.
fn except_all(left: PlanRef, right: PlanRef, fields: &[Field], span: Span) -> Result<PlanRef> {
    let left = marked(left, fields, vec![number(1)]);
    let right = marked(right, fields, vec![number(-1)]);
    let width = fields.len();
    let marker = Expr::column(width, TypeRoot::BigInt.not_null());
    let grouped = group(left, right, fields, vec![call("SUM", marker)?], span);
    let surplus = column(&grouped, width);
    let any = builtin(">", vec![surplus.clone(), number(0)])?;
    replicate(filter(grouped, any, span), surplus, fields, span)
}

/// The rows of an input with some constants behind them.
fn marked(input: PlanRef, fields: &[Field], markers: Vec<Expr>) -> PlanRef {
    let mut all: Vec<Field> =
        fields.iter().map(|field| Field { time: None, ..field.clone() }).collect();
    for (i, marker) in markers.iter().enumerate() {
        let ty = marker.data_type().with_nullable(markers.len() > 1);
        all.push(Field::new(format!("$marker{i}"), ty));
    }
    let exprs = columns(&input.schema.fields).into_iter().chain(markers).collect();
    LogicalPlan::new(LogicalOp::Project(exprs), vec![input], Schema::new(all))
}

/// Groups the rows of both inputs by all columns but their markers.
fn group(
    left: PlanRef,
    right: PlanRef,
    fields: &[Field],
    calls: Vec<AggregateCall>,
    span: Span,
) -> PlanRef {
    let all = union(left.clone(), right, left.schema.fields.clone(), span);
    let groups = columns(fields);
    let mut given: Vec<Field> = all.schema.fields[..fields.len()].to_vec();
    for (i, call) in calls.iter().enumerate() {
        given.push(Field::new(format!("$agg{i}"), call.data_type.clone()));
    }
    let op = LogicalOp::Aggregate(Aggregate::new(groups, calls));
    LogicalPlan::spanned(op, vec![all], Schema::new(given), span)
}

/// The first columns of each row, `count` times.
fn replicate(input: PlanRef, count: Expr, fields: &[Field], span: Span) -> Result<PlanRef> {
    let function = table::table_function("$REPLICATE_ROWS")
        .ok_or_else(|| PlanError::new("internal error: no function to replicate rows"))?;
    let mut args = vec![count];
    args.extend(columns(fields));
    let resolved = (function.resolve)(&table_call(function.name, &args, &[]))?;
    let args = args
        .into_iter()
        .zip(&resolved.parameters)
        .map(|(arg, wanted)| arg.cast_to(wanted))
        .collect::<Result<_, _>>()?;
    let op = LogicalOp::Correlate(Correlate {
        kind: JoinKind::Inner,
        function,
        args,
        symbols: Vec::new(),
        condition: None,
        passed: Vec::new(),
        given: (0..fields.len()).collect(),
    });
    let fields = fields.iter().map(|field| Field { time: None, ..field.clone() }).collect();
    Ok(LogicalPlan::spanned(op, vec![input], Schema::new(fields), span))
}

fn call(name: &str, arg: Expr) -> Result<AggregateCall> {
    let function: &'static AggregateFunction = aggregate_function(name)
        .ok_or_else(|| PlanError::new(format!("internal error: no aggregate function {name}")))?;
    let args = vec![arg];
    let resolved = (function.resolve)(&aggregate_args(name, &args, &[]), false)?;
    Ok(AggregateCall {
        function,
        args,
        symbols: Vec::new(),
        distinct: false,
        filter: None,
        data_type: resolved.returns,
    })
}

fn number(value: i64) -> Expr {
    Expr::literal(Value::Int(value), TypeRoot::BigInt.not_null())
}

fn column(plan: &PlanRef, index: usize) -> Expr {
    Expr::column(index, plan.schema.fields[index].data_type.clone())
}

fn columns(fields: &[Field]) -> Vec<Expr> {
    fields.iter().enumerate().map(|(i, f)| Expr::column(i, f.data_type.clone())).collect()
}
