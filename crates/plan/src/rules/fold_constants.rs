//! Calls on constants become constants.
//!
//! A call that fails is left alone: it fails when, and only if, a row needs it.

use std::collections::HashMap;
use std::sync::Arc;

use flott_functions::{Evaluator, Expr, SessionSettings, Volatility};
use flott_types::Value;

use super::map_exprs;
use crate::Result;
use crate::logical::{LogicalOp, LogicalPlan, PlanRef};

pub(super) fn apply(roots: Vec<PlanRef>, settings: &SessionSettings) -> Result<Vec<PlanRef>> {
    let mut done = HashMap::new();
    Ok(roots.iter().map(|root| fold_plan(root, settings, &mut done)).collect())
}

/// Folds a plan; nodes that are shared stay shared.
fn fold_plan(
    plan: &PlanRef,
    settings: &SessionSettings,
    done: &mut HashMap<*const LogicalPlan, PlanRef>,
) -> PlanRef {
    if let Some(folded) = done.get(&Arc::as_ptr(plan)) {
        return folded.clone();
    }
    let inputs = plan.inputs.iter().map(|input| fold_plan(input, settings, done)).collect();
    let op = map_exprs(plan, &mut |expr| fold(expr, settings));
    let op = match op {
        LogicalOp::Filter(condition) if is_true(&condition) => {
            let inputs: Vec<PlanRef> = inputs;
            let input = inputs[0].clone();
            done.insert(Arc::as_ptr(plan), input.clone());
            return input;
        }
        other => other,
    };
    let folded = Arc::new(LogicalPlan { op, inputs, ..LogicalPlan::clone(plan) });
    done.insert(Arc::as_ptr(plan), folded.clone());
    folded
}

/// An expression with its constant parts computed.
pub(crate) fn fold(expr: Expr, settings: &SessionSettings) -> Expr {
    expr.transform(&mut |node| fold_node(node, settings))
}

fn fold_node(node: Expr, settings: &SessionSettings) -> Expr {
    let node = match node {
        Expr::And(args) => return connective(args, false),
        Expr::Or(args) => return connective(args, true),
        other => other,
    };
    let is_constant = !matches!(node, Expr::Column { .. } | Expr::Literal { .. })
        && node.children().iter().all(|child| matches!(child, Expr::Literal { .. }))
        && node.volatility() == Volatility::Immutable;
    if !is_constant {
        return node;
    }
    let value = Evaluator::new(&node, settings)
        .ok()
        .and_then(|evaluator| evaluator.evaluate_constant(settings.query_start).ok());
    match value {
        // A NULL of a NOT NULL type (an overflow) keeps its type only as a computation.
        Some(Value::Null) if !node.data_type().nullable => node,
        Some(value) if is_long(&value) => node,
        Some(value) => Expr::literal(value, node.data_type()),
        None => node,
    }
}

/// Whether a plan had better hold how a value is made than the value.
fn is_long(value: &Value) -> bool {
    const LONG: usize = 1 << 16;
    match value {
        Value::String(text) => text.len() > LONG,
        Value::Bytes(bytes) => bytes.len() > LONG,
        _ => false,
    }
}

/// AND without its TRUEs, OR without its FALSEs; decided by a constant where one decides.
fn connective(args: Vec<Expr>, decisive: bool) -> Expr {
    let truth = |expr: &Expr| match expr {
        Expr::Literal { value: Value::Boolean(value), .. } => Some(*value),
        _ => None,
    };
    if args.first().is_some_and(|first| truth(first) == Some(decisive)) {
        return Expr::boolean(decisive);
    }
    let mut rest: Vec<Expr> =
        args.into_iter().filter(|arg| truth(arg) != Some(!decisive)).collect();
    match rest.len() {
        0 => Expr::boolean(!decisive),
        1 => rest.remove(0),
        _ if decisive => Expr::Or(rest),
        _ => Expr::And(rest),
    }
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal { value: Value::Boolean(true), .. })
}
