//! Queries that only compute from the row around, and the rows a table function gives for it, need no join:
//! they continue the plan around.

use flott_functions::Expr;
use flott_types::Schema;

use super::{columns, ground, substitute};
use crate::logical::{Correlate, JoinKind, LogicalOp, LogicalPlan, PlanRef};

/// The plan around continued by the query, and the query's columns over it; `None` where the query reads
/// other tables or does more than compute, filter and call table functions.
pub fn attach(plan: &PlanRef, around: &PlanRef, level: usize) -> Option<(PlanRef, Vec<Expr>)> {
    let over = |exprs: &[Expr], outputs: &[Expr]| -> Vec<Expr> {
        exprs.iter().map(|e| ground(substitute(e, outputs), level, &|column| column)).collect()
    };
    match &plan.op {
        LogicalOp::Values(rows) if rows.len() == 1 && rows[0].is_empty() => {
            Some((around.clone(), Vec::new()))
        }
        LogicalOp::Project(exprs) => {
            let (below, outputs) = attach(plan.input(), around, level)?;
            Some((below, over(exprs, &outputs)))
        }
        LogicalOp::Filter(condition) => {
            let (below, outputs) = attach(plan.input(), around, level)?;
            let condition = over(std::slice::from_ref(condition), &outputs).pop()?;
            let schema = (*below.schema).clone();
            let op = LogicalOp::Filter(condition);
            Some((LogicalPlan::new(op, vec![below], schema), outputs))
        }
        LogicalOp::Correlate(correlate) if correlate.kind == JoinKind::Inner => {
            let (below, outputs) = attach(plan.input(), around, level)?;
            let args = over(&correlate.args, &outputs);
            let mut fields = below.schema.fields.clone();
            let given = &plan.schema.fields[correlate.passed.len()..];
            let outputs = correlate.passed.iter().map(|column| outputs[*column].clone());
            let given_columns = columns(given).into_iter().map(|c| super::shift(c, fields.len()));
            let outputs = outputs.chain(given_columns).collect();
            fields.extend(given.iter().cloned());
            let passed = (0..below.schema.len()).collect();
            let op = LogicalOp::Correlate(Correlate { args, passed, ..correlate.clone() });
            Some((LogicalPlan::new(op, vec![below], Schema::new(fields)), outputs))
        }
        _ => None,
    }
}
