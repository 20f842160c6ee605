//! Conditions on columns move into a scan whose source hands them on to what holds the rows.
//!
//! What the source decides is not evaluated again, so that a limit above can follow; what only narrows
//! the rows stays where it is as well.

use std::collections::HashMap;
use std::sync::Arc;

use flott_catalog::connector::{
    Comparison, Predicate, PredicateSupport, PushedPredicate, ScanColumn,
};
use flott_functions::{Expr, SessionSettings};
use flott_types::{DataType, Value};

use crate::Result;
use crate::logical::{LogicalOp, LogicalPlan, PlanRef, Scan};

type Key = *const LogicalPlan;

pub(super) fn apply(roots: Vec<PlanRef>, _: &SessionSettings) -> Result<Vec<PlanRef>> {
    let mut readers = HashMap::new();
    roots.iter().for_each(|root| count(root, &mut readers));
    // A scan that several share is left whole, so that it runs once.
    let shared = |plan: &PlanRef| readers.get(&Arc::as_ptr(plan)).is_some_and(|n| *n > 1);
    let mut done = HashMap::new();
    Ok(roots.iter().map(|root| rewrite(root, &shared, &mut done)).collect())
}

fn count(plan: &PlanRef, readers: &mut HashMap<Key, usize>) {
    for input in &plan.inputs {
        let number = readers.entry(Arc::as_ptr(input)).or_default();
        *number += 1;
        if *number == 1 {
            count(input, readers);
        }
    }
}

fn rewrite(
    plan: &PlanRef,
    shared: &dyn Fn(&PlanRef) -> bool,
    done: &mut HashMap<Key, PlanRef>,
) -> PlanRef {
    if let Some(done) = done.get(&Arc::as_ptr(plan)) {
        return done.clone();
    }
    let pushed = match &plan.op {
        LogicalOp::Filter(condition) if !shared(plan.input()) => push(plan, condition),
        _ => None,
    };
    let rewritten = pushed.unwrap_or_else(|| {
        let inputs: Vec<PlanRef> =
            plan.inputs.iter().map(|input| rewrite(input, shared, done)).collect();
        let unchanged = inputs.iter().zip(&plan.inputs).all(|(a, b)| Arc::ptr_eq(a, b));
        if unchanged { plan.clone() } else { plan.with_inputs(inputs) }
    });
    done.insert(Arc::as_ptr(plan), rewritten.clone());
    rewritten
}

/// A filter over a scan, of which the scan takes what it can.
fn push(plan: &PlanRef, condition: &Expr) -> Option<PlanRef> {
    let LogicalOp::Scan(scan) = &plan.input().op else { return None };
    // Rows that are left out would not move the watermark.
    if scan.watermark.is_some() || !scan.source.changelog_mode().is_insert_only() {
        return None;
    }
    let names: Vec<String> =
        plan.input().schema.fields.iter().map(|f| f.name.to_string()).collect();
    let mut scan = scan.clone();
    let before = scan.predicates.len();
    let mut stay = Vec::new();
    for conjunct in condition.clone().conjuncts() {
        let predicate = predicate(&conjunct, &scan);
        let support = predicate.as_ref().map(|p| scan.source.predicate_support(p));
        match (predicate, support) {
            (Some(predicate), Some(support)) if support != PredicateSupport::None => {
                let text = conjunct.display(&names).to_string().into();
                scan.predicates.push(PushedPredicate { predicate, text });
                if support == PredicateSupport::Narrows {
                    stay.push(conjunct);
                }
            }
            _ => stay.push(conjunct),
        }
    }
    if scan.predicates.len() == before {
        return None;
    }
    let input =
        Arc::new(LogicalPlan { op: LogicalOp::Scan(scan), ..LogicalPlan::clone(plan.input()) });
    if stay.is_empty() {
        return Some(input);
    }
    let op = LogicalOp::Filter(Expr::conjunction(stay));
    Some(Arc::new(LogicalPlan { op, inputs: vec![input], ..LogicalPlan::clone(plan) }))
}

/// A condition over a scan's columns in a data store's terms; `None` where those have no words for it.
fn predicate(condition: &Expr, scan: &Scan) -> Option<Predicate> {
    let all = |args: &[Expr]| -> Option<Vec<Predicate>> {
        args.iter().map(|arg| predicate(arg, scan)).collect()
    };
    match condition {
        Expr::And(args) => Some(Predicate::And(all(args)?)),
        Expr::Or(args) => Some(Predicate::Or(all(args)?)),
        Expr::Call { function, args, .. } => match (function.name, args.as_slice()) {
            ("IS NULL", [arg]) => {
                Some(Predicate::IsNull { column: plain(arg, scan)?, negated: false })
            }
            ("IS NOT NULL", [arg]) => {
                Some(Predicate::IsNull { column: plain(arg, scan)?, negated: true })
            }
            ("LIKE", [arg, Expr::Literal { value: Value::String(pattern), .. }]) => {
                Some(Predicate::Like { column: plain(arg, scan)?, pattern: pattern.clone() })
            }
            ("IN", [arg, values @ ..]) => values
                .iter()
                .map(|value| compare(arg, Comparison::Equal, value, scan))
                .collect::<Option<_>>()
                .map(Predicate::Or),
            ("BETWEEN", [arg, low, high]) => Some(Predicate::And(vec![
                compare(arg, Comparison::GreaterOrEqual, low, scan)?,
                compare(arg, Comparison::LessOrEqual, high, scan)?,
            ])),
            (name, [left, right]) => {
                let op = Comparison::of(name)?;
                compare(left, op, right, scan).or_else(|| compare(right, op.mirrored(), left, scan))
            }
            _ => None,
        },
        _ => None,
    }
}

fn compare(left: &Expr, op: Comparison, right: &Expr, scan: &Scan) -> Option<Predicate> {
    let Expr::Literal { value, data_type } = right else { return None };
    if value.is_null() {
        return None;
    }
    let column = match left {
        // A wider type holds the same numbers.
        Expr::Cast { input, data_type, .. } if widens(&input.data_type(), data_type) => {
            plain(input, scan)?
        }
        other => plain(other, scan)?,
    };
    Some(Predicate::Compare { column, op, value: value.clone(), data_type: data_type.clone() })
}

fn widens(from: &DataType, to: &DataType) -> bool {
    match (from.root.as_decimal(), to.root.as_decimal()) {
        (Some((from_digits, from_scale)), Some((digits, scale))) => {
            scale >= from_scale && digits - scale >= from_digits - from_scale
        }
        _ => false,
    }
}

/// The physical column that an expression is.
fn plain(expr: &Expr, scan: &Scan) -> Option<usize> {
    let Expr::Column { index, .. } = expr else { return None };
    match scan.columns.get(*index)? {
        ScanColumn::Physical(at) => Some(*at),
        ScanColumn::Metadata(_) => None,
    }
}
