//! `EXPLAIN ESTIMATED_COST`: how many rows each operator is thought to give, and how many all
//! operators up to it work on.
//!
//! Nothing is known of the data before a job runs, so that these are rules of thumb: a table counts as
//! 100 million rows, as in Flink. They tell plans of one query apart, not how long one takes.

use crate::logical::{JoinKind, WindowKind};
use crate::physical::{Calc, PhysicalOp, PhysicalPlan, RegularJoin};

/// Rows of a table of unknown size.
const TABLE_ROWS: f64 = 1e8;
/// The part of the rows that a condition is thought to let through.
const SELECTIVITY: f64 = 0.25;
/// How many rows are thought to share a key.
const ROWS_PER_GROUP: f64 = 10.0;

/// The estimate for one operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// Rows given.
    pub(super) rows: f64,
    /// Rows given by this operator and all below it; what several read counts once for each.
    pub(super) cumulative: f64,
}

/// The estimates for all operators of a plan.
pub(super) fn estimate(plan: &PhysicalPlan) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        let inputs: Vec<Cost> = node.inputs.iter().map(|input| costs[input.node]).collect();
        let rows = rows(&node.op, &inputs.iter().map(|cost| cost.rows).collect::<Vec<_>>());
        let below: f64 = inputs.iter().map(|cost| cost.cumulative).sum();
        costs.push(Cost { rows, cumulative: below + rows });
    }
    costs
}

fn rows(op: &PhysicalOp, inputs: &[f64]) -> f64 {
    let first = inputs.first().copied().unwrap_or(0.0);
    match op {
        PhysicalOp::Source(_) => TABLE_ROWS,
        PhysicalOp::Values(rows) => rows.len() as f64,
        PhysicalOp::Calc(Calc { condition: Some(_), .. }) => first * SELECTIVITY,
        PhysicalOp::Expand(sets) => first * sets.len() as f64,
        PhysicalOp::GroupAggregate(aggregate) if aggregate.keys.is_empty() => 1.0,
        PhysicalOp::LocalGroupAggregate(_) => first,
        PhysicalOp::GroupAggregate(_) | PhysicalOp::WindowAggregate(_) => first / ROWS_PER_GROUP,
        PhysicalOp::WindowAssign(window) => first * windows_per_row(window.kind),
        PhysicalOp::Join(join) => joined(join, first, inputs.get(1).copied().unwrap_or(0.0)),
        PhysicalOp::Union => inputs.iter().sum(),
        PhysicalOp::Limit { fetch, .. } => first.min(*fetch as f64),
        _ => first,
    }
}

fn windows_per_row(kind: WindowKind) -> f64 {
    match kind {
        WindowKind::Hop { slide, size, .. } => size as f64 / slide.max(1) as f64,
        // A row is in half of the steps of its window, taken over all rows.
        WindowKind::Cumulate { step, size, .. } => (size as f64 / step.max(1) as f64 + 1.0) / 2.0,
        WindowKind::Tumble { .. } | WindowKind::Session { .. } => 1.0,
    }
}

fn joined(join: &RegularJoin, left: f64, right: f64) -> f64 {
    let matches = if join.left_keys.is_empty() { left * right } else { left.max(right) };
    let matches = if join.residual.is_some() { matches * SELECTIVITY } else { matches };
    match join.kind {
        JoinKind::Inner => matches,
        JoinKind::Left => matches.max(left),
        JoinKind::Right => matches.max(right),
        JoinKind::Full => matches.max(left).max(right),
        JoinKind::Semi => left * SELECTIVITY,
        JoinKind::Anti => left * (1.0 - SELECTIVITY),
    }
}

/// A number of rows as Flink prints it: `1.0E8`, `12.5`.
pub(super) fn number(rows: f64) -> String {
    if rows == 0.0 || (1e-3..1e7).contains(&rows) {
        return format!("{rows:?}");
    }
    let text = format!("{rows:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_java() {
        for (rows, text) in
            [(0.0, "0.0"), (3.0, "3.0"), (12.5, "12.5"), (1e8, "1.0E8"), (2.5e7, "2.5E7")]
        {
            assert_eq!(number(rows), text);
        }
    }

    #[test]
    fn windows_that_overlap_give_a_row_several_times() {
        assert_eq!(windows_per_row(WindowKind::Hop { slide: 2, size: 10, offset: 0 }), 5.0);
        assert_eq!(windows_per_row(WindowKind::Cumulate { step: 2, size: 6, offset: 0 }), 2.0);
    }
}
