//! The columns by which updates of a plan's rows find each other.

use std::collections::BTreeSet;
use std::sync::Arc;

use flott_functions::Expr;
use flott_types::Schema;

use crate::logical::{LogicalOp, LogicalPlan, PlanRef};

/// The columns of a plan's unique keys, where its rows are updated by them; none if there is no key.
pub(super) fn key_columns(plan: &LogicalPlan) -> BTreeSet<usize> {
    match &plan.op {
        LogicalOp::Aggregate(aggregate) => (0..aggregate.groups.len()).collect(),
        LogicalOp::ChangelogNormalize(key) => key.iter().copied().collect(),
        LogicalOp::Rank(rank) => {
            let mut columns = key_columns(plan.input());
            columns.extend(&rank.partition);
            columns.extend(rank.with_number.then_some(plan.input().schema.len()));
            columns
        }
        LogicalOp::Filter(_) | LogicalOp::Sort(_) => key_columns(plan.input()),
        LogicalOp::Project(exprs) => {
            let columns: Option<_> =
                key_columns(plan.input()).iter().map(|key| place(exprs, *key)).collect();
            columns.unwrap_or_default()
        }
        _ => BTreeSet::new(),
    }
}

/// The plan with those columns of its keys that projections left out, behind its own.
///
/// A Top-N finds by them what an update replaces, and may then forget what is out of range.
pub(super) fn with_key_columns(plan: &PlanRef) -> PlanRef {
    match &plan.op {
        LogicalOp::Project(exprs) => {
            let input = with_key_columns(plan.input());
            let mut exprs = exprs.clone();
            let mut fields = plan.schema.fields.clone();
            for key in key_columns(&input) {
                if place(&exprs, key).is_none() {
                    let field = input.schema.fields[key].clone();
                    exprs.push(Expr::column(key, field.data_type.clone()));
                    fields.push(field);
                }
            }
            let is_same = fields.len() == plan.schema.len() && Arc::ptr_eq(&input, plan.input());
            if is_same {
                plan.clone()
            } else {
                node(plan, LogicalOp::Project(exprs), input, fields)
            }
        }
        LogicalOp::Filter(_) => {
            let input = with_key_columns(plan.input());
            if Arc::ptr_eq(&input, plan.input()) {
                return plan.clone();
            }
            let fields = input.schema.fields.clone();
            node(plan, plan.op.clone(), input, fields)
        }
        _ => plan.clone(),
    }
}

fn node(
    plan: &LogicalPlan,
    op: LogicalOp,
    input: PlanRef,
    fields: Vec<flott_types::Field>,
) -> PlanRef {
    let schema = Arc::new(Schema::new(fields));
    Arc::new(LogicalPlan { op, inputs: vec![input], schema, span: plan.span })
}

fn place(exprs: &[Expr], column: usize) -> Option<usize> {
    exprs.iter().position(|e| matches!(e, Expr::Column { index, .. } if *index == column))
}
