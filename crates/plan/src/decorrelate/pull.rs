//! Conditions on the row around move upwards until they stand above the query.

use std::sync::Arc;

use flott_functions::aggregate::AggregateSpec;
use flott_functions::{Arg, CallArgs, Expr};
use flott_types::{Field, Schema, Value};

use super::top::first_rows;
use super::{Dependent, columns, shift, substitute};
use crate::bind::outer::{is_placeholder, outer_columns, reads_outer};
use crate::bind::split_condition;
use crate::logical::{
    Aggregate, AggregateCall, Correlate, Join, JoinKind, LogicalOp, LogicalPlan, Over, PlanRef,
    Sort, WindowAssignment, WindowKind,
};

/// The query without its conditions on the query at `level`; `None` where one of its operators does
/// not let them pass.
pub fn pull(plan: &PlanRef, level: usize) -> Option<Dependent> {
    if outer_columns(plan, level).is_empty() {
        return Some(Dependent {
            plan: plan.clone(),
            outputs: columns(&plan.schema.fields),
            conditions: Vec::new(),
            defaults: None,
        });
    }
    match &plan.op {
        LogicalOp::Filter(condition) => pull_filter(plan, condition, level),
        LogicalOp::Project(exprs) => {
            let below = pull(plan.input(), level)?;
            let over = |outputs: &[Expr]| exprs.iter().map(|e| substitute(e, outputs)).collect();
            Some(Dependent {
                outputs: over(&below.outputs),
                defaults: below.defaults.as_deref().map(over),
                ..below
            })
        }
        LogicalOp::Join(join) if join.as_of.is_none() => pull_join(plan, join, level),
        LogicalOp::Aggregate(aggregate) => pull_aggregate(plan, aggregate, level),
        LogicalOp::Sort(sort) if sort.fetch.is_none() && sort.offset == 0 => {
            pull(plan.input(), level)
        }
        LogicalOp::Sort(sort) => pull_limit(plan, sort, level),
        LogicalOp::Over(over) => pull_over(plan, over, level),
        LogicalOp::Window(window) => pull_window(plan, window, level),
        LogicalOp::Correlate(correlate) => pull_correlate(plan, correlate, level),
        _ => None,
    }
}

/// What an input is pulled to, if rows around without a match have none in it.
fn pull_plain(plan: &PlanRef, level: usize) -> Option<Dependent> {
    pull(plan, level).filter(|below| below.defaults.is_none())
}

fn pull_filter(plan: &PlanRef, condition: &Expr, level: usize) -> Option<Dependent> {
    let mut below = pull_plain(plan.input(), level)?;
    let condition = substitute(condition, &below.outputs);
    let (linked, own): (Vec<Expr>, Vec<Expr>) =
        condition.conjuncts().into_iter().partition(|conjunct| reads_outer(conjunct, level));
    if !own.is_empty() {
        let schema = (*below.plan.schema).clone();
        let op = LogicalOp::Filter(Expr::conjunction(own));
        below.plan = LogicalPlan::new(op, vec![below.plan], schema);
    }
    below.conditions.extend(linked);
    Some(below)
}

fn pull_join(plan: &PlanRef, join: &Join, level: usize) -> Option<Dependent> {
    let left = pull_plain(&plan.inputs[0], level)?;
    let right = match join.kind {
        JoinKind::Inner => pull_plain(&plan.inputs[1], level)?,
        JoinKind::Left | JoinKind::Semi | JoinKind::Anti
            if outer_columns(&plan.inputs[1], level).is_empty() =>
        {
            pull_plain(&plan.inputs[1], level)?
        }
        _ => return None,
    };
    let split = left.plan.schema.len();
    let mut outputs = left.outputs;
    outputs.extend(right.outputs.into_iter().map(|output| shift(output, split)));
    let on = condition_of(join, plan.inputs[0].schema.len())?;
    let on = on.into_iter().map(|conjunct| substitute(&conjunct, &outputs));
    let (linked, own): (Vec<Expr>, Vec<Expr>) =
        on.partition(|conjunct| reads_outer(conjunct, level));
    // Only of an inner join the condition may be applied later.
    if !linked.is_empty() && join.kind != JoinKind::Inner {
        return None;
    }
    let (equal, residual) = split_condition(own, split);
    let residual = (!residual.is_empty()).then(|| Expr::conjunction(residual));
    let one_sided = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
    let mut fields = left.plan.schema.fields.clone();
    if one_sided {
        outputs.truncate(plan.inputs[0].schema.len());
    } else {
        fields.extend(right.plan.schema.fields.iter().map(|field| {
            let mut field = field.clone();
            field.data_type.nullable |= join.kind == JoinKind::Left;
            field
        }));
        for (output, field) in outputs.iter_mut().zip(&plan.schema.fields) {
            if let Expr::Column { data_type, .. } = output {
                data_type.nullable |= field.data_type.nullable;
            }
        }
    }
    let mut conditions = left.conditions;
    conditions.extend(right.conditions.into_iter().map(|condition| shift(condition, split)));
    conditions.extend(linked);
    let op = LogicalOp::Join(Join {
        hints: join.hints.clone(),
        ..Join::new(join.kind, equal, residual)
    });
    let joined = LogicalPlan::new(op, vec![left.plan, right.plan], Schema::new(fields));
    let plan = Arc::new(LogicalPlan { span: plan.span, ..LogicalPlan::clone(&joined) });
    Some(Dependent { plan, outputs, conditions, defaults: None })
}

/// The condition of a join as conjuncts over the columns of both inputs.
pub fn condition_of(join: &Join, split: usize) -> Option<Vec<Expr>> {
    let mut all = Vec::new();
    for pair in &join.equal {
        let name = if pair.null_safe { "IS NOT DISTINCT FROM" } else { "=" };
        let right = shift(pair.right.clone(), split);
        all.push(Expr::builtin(name, vec![pair.left.clone(), right]).ok()?);
    }
    all.extend(join.residual.clone().map(Expr::conjuncts).unwrap_or_default());
    Some(all)
}

/// Grouping by what is compared with the row around gives each row around its own groups.
fn pull_aggregate(plan: &PlanRef, aggregate: &Aggregate, level: usize) -> Option<Dependent> {
    let below = pull_plain(plan.input(), level)?;
    let own = |expr: &Expr| {
        let expr = substitute(expr, &below.outputs);
        (!reads_outer(&expr, level)).then_some(expr)
    };
    let mut groups = aggregate.groups.iter().map(own).collect::<Option<Vec<_>>>()?;
    let calls = aggregate
        .calls
        .iter()
        .map(|call| {
            Some(AggregateCall {
                args: call.args.iter().map(own).collect::<Option<_>>()?,
                filter: match &call.filter {
                    Some(filter) => Some(own(filter)?),
                    None => None,
                },
                ..call.clone()
            })
        })
        .collect::<Option<Vec<_>>>()?;
    let width = groups.len();
    let mut conditions = Vec::new();
    for condition in &below.conditions {
        let Link { name, inner, around } = Link::of(condition, level)?;
        let key = groups.iter().position(|group| *group == inner).unwrap_or_else(|| {
            groups.push(inner.clone());
            groups.len() - 1
        });
        let key = Expr::column(key, inner.data_type());
        conditions.push(Expr::builtin(name, vec![key, around]).ok()?);
    }
    let mut fields: Vec<Field> = plan.schema.fields[..width].to_vec();
    for (i, group) in groups.iter().enumerate().skip(width) {
        fields.push(Field::new(format!("$c{i}"), group.data_type()));
    }
    let mut outputs = columns(&plan.schema.fields[..width]);
    for field in &plan.schema.fields[width..] {
        outputs.push(Expr::column(fields.len(), field.data_type.clone()));
        fields.push(field.clone());
    }
    let defaults = match width {
        0 => Some(calls.iter().map(empty_value).collect::<Option<Vec<_>>>()?),
        _ => None,
    };
    let op = LogicalOp::Aggregate(Aggregate::new(groups, calls));
    let inputs = vec![below.plan.clone()];
    let grouped = LogicalPlan { op, inputs, schema: Schema::new(fields).into(), span: plan.span };
    Some(Dependent { plan: Arc::new(grouped), outputs, conditions, defaults })
}

/// `inner = around`, where one side reads the plan only and the other one the row around only.
struct Link {
    name: &'static str,
    inner: Expr,
    around: Expr,
}

impl Link {
    fn of(condition: &Expr, level: usize) -> Option<Self> {
        let Expr::Call { function, args, .. } = condition else { return None };
        if !matches!(function.name, "=" | "IS NOT DISTINCT FROM") {
            return None;
        }
        let [a, b] = args.as_slice() else { return None };
        let is_inner = |expr: &Expr| !reads_outer(expr, level) && !expr.columns().is_empty();
        let is_around = |expr: &Expr| expr.columns().into_iter().all(is_placeholder);
        let (inner, around) = match (is_inner(a) && is_around(b), is_inner(b) && is_around(a)) {
            (true, _) => (a, b),
            (_, true) => (b, a),
            _ => return None,
        };
        Some(Self { name: function.name, inner: inner.clone(), around: around.clone() })
    }
}

/// What an aggregate gives for no rows.
pub fn empty_value(call: &AggregateCall) -> Option<Expr> {
    let args = CallArgs {
        name: call.function.name.into(),
        args: call
            .args
            .iter()
            .map(|arg| Arg {
                data_type: arg.data_type(),
                literal: match arg {
                    Expr::Literal { value, .. } => Some(value.clone()),
                    _ => None,
                },
            })
            .collect(),
        symbols: call.symbols.clone(),
        returning: None,
    };
    let spec = AggregateSpec { args, returns: call.data_type.clone(), retracts: false };
    let mut accumulator = (call.function.create)(&spec).ok()?;
    accumulator.resize(1);
    let values = accumulator.values(&[0]).ok()?;
    Some(match Value::from_array(&values, 0, &call.data_type) {
        Value::Null => Expr::null(call.data_type.clone()),
        value => Expr::literal(value, call.data_type.clone()),
    })
}

/// Windows of rows are those of each row around, when what is compared with it parts them, too.
fn pull_over(plan: &PlanRef, over: &Over, level: usize) -> Option<Dependent> {
    let below = pull_plain(plan.input(), level)?;
    let mut over = over.clone();
    for expr in over.exprs_mut() {
        *expr = substitute(expr, &below.outputs);
        if reads_outer(expr, level) {
            return None;
        }
    }
    for condition in &below.conditions {
        let inner = Link::of(condition, level)?.inner;
        if !over.partition.contains(&inner) {
            over.partition.push(inner);
        }
    }
    let mut fields = below.plan.schema.fields.clone();
    let mut outputs = below.outputs;
    for field in &plan.schema.fields[plan.input().schema.len()..] {
        outputs.push(Expr::column(fields.len(), field.data_type.clone()));
        fields.push(field.clone());
    }
    let op = LogicalOp::Over(over);
    let inputs = vec![below.plan];
    let plan = LogicalPlan { op, inputs, schema: Schema::new(fields).into(), span: plan.span };
    let conditions = below.conditions;
    Some(Dependent { plan: Arc::new(plan), outputs, conditions, defaults: None })
}

/// A LIMIT counts the rows of each row around apart.
fn pull_limit(plan: &PlanRef, sort: &Sort, level: usize) -> Option<Dependent> {
    let below = pull_plain(plan.input(), level)?;
    let keys = sort.keys.iter().map(|key| substitute(&key.expr, &below.outputs));
    if keys.into_iter().any(|key| reads_outer(&key, level)) {
        return None;
    }
    let inner = |condition: &Expr| Link::of(condition, level).map(|link| link.inner);
    let partition = below.conditions.iter().map(inner).collect::<Option<Vec<_>>>()?;
    let plan = first_rows(below.plan, partition, sort, &below.outputs).ok()?;
    Some(Dependent { plan, ..below })
}

fn pull_window(plan: &PlanRef, window: &WindowAssignment, level: usize) -> Option<Dependent> {
    let below = pull_plain(plan.input(), level)?;
    // Sessions depend on which rows there are.
    if matches!(window.kind, WindowKind::Session { .. }) {
        return None;
    }
    let Expr::Column { index: time_column, .. } = below.outputs[window.time_column] else {
        return None;
    };
    if is_placeholder(time_column) {
        return None;
    }
    let window = WindowAssignment { time_column, ..window.clone() };
    let width = plan.input().schema.len();
    let mut fields = below.plan.schema.fields.clone();
    let mut outputs = below.outputs;
    for field in &plan.schema.fields[width..] {
        outputs.push(Expr::column(fields.len(), field.data_type.clone()));
        fields.push(field.clone());
    }
    let op = LogicalOp::Window(window);
    let inputs = vec![below.plan];
    let plan = LogicalPlan { op, inputs, schema: Schema::new(fields).into(), span: plan.span };
    let conditions = below.conditions;
    Some(Dependent { plan: Arc::new(plan), outputs, conditions, defaults: None })
}

fn pull_correlate(plan: &PlanRef, correlate: &Correlate, level: usize) -> Option<Dependent> {
    let below = pull_plain(plan.input(), level)?;
    let args: Vec<Expr> =
        correlate.args.iter().map(|arg| substitute(arg, &below.outputs)).collect();
    if args.iter().any(|arg| reads_outer(arg, level)) {
        return None;
    }
    let mut fields = below.plan.schema.fields.clone();
    let mut outputs: Vec<Expr> =
        correlate.passed.iter().map(|column| below.outputs[*column].clone()).collect();
    for field in &plan.schema.fields[correlate.passed.len()..] {
        outputs.push(Expr::column(fields.len(), field.data_type.clone()));
        fields.push(field.clone());
    }
    let passed = (0..below.plan.schema.len()).collect();
    let op = LogicalOp::Correlate(Correlate { args, passed, ..correlate.clone() });
    let inputs = vec![below.plan];
    let plan = LogicalPlan { op, inputs, schema: Schema::new(fields).into(), span: plan.span };
    let conditions = below.conditions;
    Some(Dependent { plan: Arc::new(plan), outputs, conditions, defaults: None })
}
