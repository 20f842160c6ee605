//! What cannot have rows is not computed: filters and joins on FALSE, and all that reads nothing but them.

use std::sync::Arc;

use flott_functions::{Expr, SessionSettings};
use flott_types::Value;

use crate::Result;
use crate::decorrelate::empty_value;
use crate::logical::{Aggregate, Join, JoinKind, LogicalOp, LogicalPlan, PlanRef};

pub(super) fn apply(roots: Vec<PlanRef>, settings: &SessionSettings) -> Result<Vec<PlanRef>> {
    Ok(LogicalPlan::transform(&roots, &mut |plan| simpler(plan, settings)))
}

fn simpler(plan: PlanRef, settings: &SessionSettings) -> PlanRef {
    match &plan.op {
        LogicalOp::Filter(condition) if never(&over_row(condition, plan.input(), settings)) => {
            empty(&plan)
        }
        LogicalOp::Sort(sort) if sort.fetch == Some(0) => empty(&plan),
        LogicalOp::Project(_)
        | LogicalOp::Filter(_)
        | LogicalOp::Expand(_)
        | LogicalOp::Window(_)
        | LogicalOp::Correlate(_)
        | LogicalOp::Sort(_)
            if is_empty(plan.input()) =>
        {
            empty(&plan)
        }
        LogicalOp::Union => union(plan),
        LogicalOp::Aggregate(aggregate) if is_empty(plan.input()) => {
            grouped(&plan, aggregate).unwrap_or(plan)
        }
        LogicalOp::Join(join) => joined(&plan, join).unwrap_or(plan),
        _ => plan,
    }
}

/// A condition on the only row of VALUES, with its values put in.
fn over_row(condition: &Expr, input: &LogicalPlan, settings: &SessionSettings) -> Expr {
    match &input.op {
        LogicalOp::Values(rows) if rows.len() == 1 => {
            super::fold(crate::bind::inline(condition, &rows[0]), settings)
        }
        _ => condition.clone(),
    }
}

/// Whether a condition is TRUE for no row.
fn never(condition: &Expr) -> bool {
    match condition {
        Expr::Literal { value: Value::Boolean(false) | Value::Null, .. } => true,
        Expr::And(conjuncts) => conjuncts.iter().any(never),
        _ => false,
    }
}

fn is_empty(plan: &LogicalPlan) -> bool {
    matches!(&plan.op, LogicalOp::Values(rows) if rows.is_empty())
}

fn empty(plan: &LogicalPlan) -> PlanRef {
    let op = LogicalOp::Values(Vec::new());
    Arc::new(LogicalPlan { op, inputs: Vec::new(), ..plan.clone() })
}

fn union(plan: PlanRef) -> PlanRef {
    let inputs: Vec<PlanRef> = plan.inputs.iter().filter(|i| !is_empty(i)).cloned().collect();
    match inputs.as_slice() {
        [] => empty(&plan),
        [only] => LogicalPlan::project(only.clone(), columns(only), (*plan.schema).clone()),
        _ if inputs.len() < plan.inputs.len() => plan.with_inputs(inputs),
        _ => plan,
    }
}

/// Groups of no rows: none, or the one of an aggregate without GROUP BY.
fn grouped(plan: &PlanRef, aggregate: &Aggregate) -> Option<PlanRef> {
    if !aggregate.groups.is_empty() {
        return Some(empty(plan));
    }
    let row = aggregate.calls.iter().map(empty_value).collect::<Option<Vec<_>>>()?;
    let op = LogicalOp::Values(vec![row]);
    Some(Arc::new(LogicalPlan { op, inputs: Vec::new(), ..LogicalPlan::clone(plan) }))
}

/// A join that pairs no rows: nothing, or one side with NULLs beside it.
fn joined(plan: &PlanRef, join: &Join) -> Option<PlanRef> {
    let [left, right] = plan.inputs.as_slice() else { return None };
    let pairs_none = join.residual.as_ref().is_some_and(never);
    let (no_left, no_right) = (is_empty(left), is_empty(right));
    let left_alone = || {
        let mut exprs = columns(left);
        let missing = plan.schema.fields[left.schema.len()..].iter();
        exprs.extend(missing.map(|field| Expr::null(field.data_type.clone())));
        LogicalPlan::project(left.clone(), exprs, (*plan.schema).clone())
    };
    let right_alone = || {
        let missing = plan.schema.fields[..left.schema.len()].iter();
        let mut exprs: Vec<Expr> =
            missing.map(|field| Expr::null(field.data_type.clone())).collect();
        exprs.extend(columns(right));
        LogicalPlan::project(right.clone(), exprs, (*plan.schema).clone())
    };
    match join.kind {
        JoinKind::Inner | JoinKind::Semi if pairs_none || no_left || no_right => Some(empty(plan)),
        JoinKind::Left | JoinKind::Anti if no_left => Some(empty(plan)),
        JoinKind::Right if no_right => Some(empty(plan)),
        JoinKind::Full if no_left && no_right => Some(empty(plan)),
        JoinKind::Left if pairs_none || no_right => Some(left_alone()),
        JoinKind::Anti if pairs_none || no_right => Some(left.clone()),
        JoinKind::Right if pairs_none || no_left => Some(right_alone()),
        JoinKind::Full if no_right => Some(left_alone()),
        JoinKind::Full if no_left => Some(right_alone()),
        _ => None,
    }
}

fn columns(plan: &LogicalPlan) -> Vec<Expr> {
    let fields = plan.schema.fields.iter().enumerate();
    fields.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect()
}
