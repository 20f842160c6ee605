//! Conditions move towards the sources, and equalities across a join become its keys.

use std::sync::Arc;

use flott_functions::{Expr, SessionSettings, Volatility};
use flott_types::Value;

use super::reject_nulls::rejects;
use crate::Result;
use crate::bind::{inline, split_condition};
use crate::logical::{Aggregate, Join, JoinKind, LogicalOp, LogicalPlan, PlanRef, WindowKind};
use crate::traits::window::window_columns;

pub(super) fn apply(roots: Vec<PlanRef>, settings: &SessionSettings) -> Result<Vec<PlanRef>> {
    Ok(roots.iter().map(|root| push(root, Vec::new(), settings)).collect())
}

/// The plan with these conditions, over its columns, applied as low as they can be.
fn push(plan: &PlanRef, mut conditions: Vec<Expr>, settings: &SessionSettings) -> PlanRef {
    match &plan.op {
        LogicalOp::Filter(condition) => {
            let mut all = condition.clone().conjuncts();
            all.append(&mut conditions);
            // The filter's own place in the text is lost with it; its input has one.
            push(plan.input(), all, settings)
        }
        LogicalOp::Project(exprs) => {
            let (down, stay) = conditions.into_iter().partition(|condition| {
                inline(condition, exprs).volatility() == Volatility::Immutable
            });
            let down: Vec<Expr> = down;
            let down = down.iter().map(|condition| inline(condition, exprs)).collect();
            above(rebuild(plan, vec![push(plan.input(), down, settings)]), stay)
        }
        LogicalOp::Union => {
            let inputs =
                plan.inputs.iter().map(|input| push(input, conditions.clone(), settings)).collect();
            rebuild(plan, inputs)
        }
        LogicalOp::Aggregate(aggregate) => push_aggregate(plan, aggregate, conditions, settings),
        LogicalOp::Window(window) => {
            let width = plan.input().schema.len();
            let (down, stay) = conditions.into_iter().partition(|condition| {
                let columns = condition.columns();
                match window.kind {
                    // Taking rows away moves the bounds of sessions.
                    WindowKind::Session { .. } => {
                        !columns.is_empty()
                            && columns.iter().all(|column| window.partition.contains(column))
                    }
                    _ => columns.iter().all(|column| *column < width),
                }
            });
            above(rebuild(plan, vec![push(plan.input(), down, settings)]), stay)
        }
        LogicalOp::Over(over) => {
            // Other rows than those of whole partitions would be missing in frames.
            let keys: Vec<&Expr> = over.partition.iter().collect();
            let is_key = |column: &usize| {
                keys.iter().any(|key| matches!(key, Expr::Column { index, .. } if index == column))
            };
            let (down, stay) = conditions.into_iter().partition(|condition| {
                let columns = condition.columns();
                !columns.is_empty()
                    && columns.iter().all(is_key)
                    && condition.volatility() == Volatility::Immutable
            });
            above(rebuild(plan, vec![push(plan.input(), down, settings)]), stay)
        }
        LogicalOp::Join(join) => push_join(plan, join, conditions, settings),
        LogicalOp::Correlate(correlate) => {
            let passed = &correlate.passed;
            let (down, stay) = conditions.into_iter().partition(|condition| {
                condition.columns().iter().all(|column| *column < passed.len())
                    && condition.volatility() == Volatility::Immutable
            });
            let down: Vec<Expr> = down;
            let down = down.into_iter().map(|c| c.map_columns(&|column| passed[column])).collect();
            above(rebuild(plan, vec![push(plan.input(), down, settings)]), stay)
        }
        LogicalOp::Sort(sort) if sort.fetch.is_none() && sort.offset == 0 => {
            rebuild(plan, vec![push(plan.input(), conditions, settings)])
        }
        _ => {
            let inputs =
                plan.inputs.iter().map(|input| push(input, Vec::new(), settings)).collect();
            above(rebuild(plan, inputs), conditions)
        }
    }
}

/// A condition on keys alone removes whole groups, before as well as after grouping. One on the bounds
/// of a window stays behind it: the windows that overlap then still share their parts.
fn push_aggregate(
    plan: &PlanRef,
    aggregate: &Aggregate,
    conditions: Vec<Expr>,
    settings: &SessionSettings,
) -> PlanRef {
    let keys = &aggregate.groups;
    let window = window_columns(plan.input());
    let is_bound = |key: &Expr| match key {
        Expr::Column { index, .. } => window.is_some_and(|window| window.contains(*index)),
        _ => false,
    };
    let (down, stay) = conditions.into_iter().partition(|condition| {
        let columns = condition.columns();
        !columns.is_empty()
            && columns.iter().all(|column| {
                keys.get(*column)
                    .is_some_and(|key| key.volatility() == Volatility::Immutable && !is_bound(key))
            })
            && condition.volatility() == Volatility::Immutable
    });
    let down: Vec<Expr> = down;
    let down = down.iter().map(|condition| inline(condition, keys)).collect();
    above(rebuild(plan, vec![push(plan.input(), down, settings)]), stay)
}

fn push_join(
    plan: &PlanRef,
    join: &Join,
    conditions: Vec<Expr>,
    settings: &SessionSettings,
) -> PlanRef {
    let split = plan.inputs[0].schema.len();
    let mut join = join.clone();
    join.kind = needed_kind(join.kind, split, &conditions, settings);
    let (mut left, mut right, mut stay) = (Vec::new(), Vec::new(), Vec::new());
    let mut across = join.residual.take().map(Expr::conjuncts).unwrap_or_default();
    across.retain(|condition| !is_true(condition));
    let side = |condition: &Expr| {
        let columns = condition.columns();
        match (columns.first(), columns.last()) {
            (Some(_), Some(last)) if *last < split => Side::Left,
            (Some(first), Some(_)) if *first >= split => Side::Right,
            _ => Side::Both,
        }
    };
    for condition in conditions {
        match (side(&condition), join.kind) {
            (Side::Left, JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti) => {
                left.push(condition);
            }
            // What a table held at a moment cannot be told from some of its changes. The key of a
            // temporal table function stands in WHERE.
            (Side::Both, JoinKind::Inner)
                if join.as_of.is_some_and(|as_of| as_of.function_key.is_some()) =>
            {
                across.push(condition);
            }
            _ if join.as_of.is_some() => stay.push(condition),
            (Side::Right, JoinKind::Inner | JoinKind::Right) => right.push(condition),
            (Side::Both, JoinKind::Inner) => across.push(condition),
            _ => stay.push(condition),
        }
    }
    // Of ON, what looks at the side that need not match decides which rows can match at all.
    let mut rest = Vec::new();
    for condition in across {
        match (side(&condition), join.kind) {
            (Side::Left, JoinKind::Inner | JoinKind::Right | JoinKind::Semi) => {
                left.push(condition);
            }
            _ if join.as_of.is_some() => rest.push(condition),
            (Side::Right, kind) if !kind.keeps_right() => right.push(condition),
            _ => rest.push(condition),
        }
    }
    let (pairs, rest) = split_condition(rest, split);
    join.equal.extend(pairs);
    join.residual = (!rest.is_empty()).then(|| Expr::conjunction(rest));
    let right = right.into_iter().map(|c| c.map_columns(&|column| column - split)).collect();
    let inputs =
        vec![push(&plan.inputs[0], left, settings), push(&plan.inputs[1], right, settings)];
    let joined =
        Arc::new(LogicalPlan { op: LogicalOp::Join(join), inputs, ..LogicalPlan::clone(plan) });
    above(joined, stay)
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition, Expr::Literal { value: Value::Boolean(true), .. })
}

/// The kind of join that is left when rows padded with NULLs do not pass the conditions above.
fn needed_kind(
    kind: JoinKind,
    split: usize,
    conditions: &[Expr],
    settings: &SessionSettings,
) -> JoinKind {
    let left_is_there = kind.keeps_right()
        && conditions.iter().any(|c| rejects(c, &|column| column < split, settings));
    let right_is_there = kind.keeps_left()
        && conditions.iter().any(|c| rejects(c, &|column| column >= split, settings));
    match (kind, left_is_there, right_is_there) {
        (JoinKind::Left, _, true) | (JoinKind::Right, true, _) | (JoinKind::Full, true, true) => {
            JoinKind::Inner
        }
        (JoinKind::Full, true, false) => JoinKind::Left,
        (JoinKind::Full, false, true) => JoinKind::Right,
        _ => kind,
    }
}

enum Side {
    Left,
    Right,
    Both,
}

fn rebuild(plan: &PlanRef, inputs: Vec<PlanRef>) -> PlanRef {
    let unchanged = inputs.iter().zip(&plan.inputs).all(|(a, b)| Arc::ptr_eq(a, b));
    if unchanged { plan.clone() } else { plan.with_inputs(inputs) }
}

fn above(plan: PlanRef, conditions: Vec<Expr>) -> PlanRef {
    if conditions.is_empty() {
        return plan;
    }
    let schema = (*plan.schema).clone();
    LogicalPlan::new(LogicalOp::Filter(Expr::conjunction(conditions)), vec![plan], schema)
}
