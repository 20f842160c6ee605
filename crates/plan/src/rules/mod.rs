//! Rewrites of the logical plan: small, named, and listed here in the order in which they apply.

mod drop_sorts;
mod fold_constants;
mod keys;
mod prune_columns;
mod prune_empty;
mod push_filters;
mod push_limits;
mod push_predicates;
mod push_split_filters;
mod rank;
mod reject_nulls;

pub(crate) use fold_constants::fold;

use flott_functions::SessionSettings;

use crate::Result;
use crate::logical::{LogicalOp, LogicalPlan, PlanRef};

/// A rule over all plans of a job at once, which may share nodes.
type Rule = fn(Vec<PlanRef>, &SessionSettings) -> Result<Vec<PlanRef>>;

/// The rules, in order.
const RULES: &[(&str, Rule)] = &[
    ("fold constants", fold_constants::apply),
    ("prune what is empty", prune_empty::apply),
    ("drop sorts", drop_sorts::apply),
    ("push filters", push_filters::apply),
    ("filters on ranks", rank::apply),
    ("push split filters", push_split_filters::apply),
    ("push predicates", push_predicates::apply),
    ("push limits", push_limits::apply),
    ("prune columns", prune_columns::apply),
];

/// Applies all rules.
pub fn optimize(mut roots: Vec<PlanRef>, settings: &SessionSettings) -> Result<Vec<PlanRef>> {
    for (_, rule) in RULES {
        roots = rule(roots, settings)?;
    }
    Ok(roots)
}

/// The node with every expression rewritten.
pub(crate) fn map_exprs(
    plan: &LogicalPlan,
    rewrite: &mut impl FnMut(flott_functions::Expr) -> flott_functions::Expr,
) -> LogicalOp {
    let mut op = plan.op.clone();
    match &mut op {
        LogicalOp::Project(exprs) => replace_all(exprs, rewrite),
        LogicalOp::Filter(condition) => replace(condition, rewrite),
        // The expressions of a pattern are not over columns of its input.
        LogicalOp::Match(_) => {}
        LogicalOp::Values(rows) | LogicalOp::Expand(rows) => {
            rows.iter_mut().for_each(|row| replace_all(row, rewrite));
        }
        LogicalOp::Aggregate(aggregate) => {
            replace_all(&mut aggregate.groups, rewrite);
            for call in &mut aggregate.calls {
                replace_all(&mut call.args, rewrite);
                if let Some(filter) = &mut call.filter {
                    replace(filter, rewrite);
                }
            }
        }
        LogicalOp::Join(join) => {
            for pair in &mut join.equal {
                replace(&mut pair.left, rewrite);
                replace(&mut pair.right, rewrite);
            }
            if let Some(residual) = &mut join.residual {
                replace(residual, rewrite);
            }
        }
        LogicalOp::Over(over) => over.exprs_mut().for_each(|expr| replace(expr, rewrite)),
        LogicalOp::Correlate(correlate) => replace_all(&mut correlate.args, rewrite),
        LogicalOp::Rank(rank) => {
            rank.order.iter_mut().for_each(|key| replace(&mut key.expr, rewrite));
        }
        LogicalOp::Sort(sort) => {
            sort.keys.iter_mut().for_each(|key| replace(&mut key.expr, rewrite));
        }
        LogicalOp::Scan(scan) => {
            if let Some(watermark) = &mut scan.watermark {
                replace(watermark, rewrite);
            }
        }
        LogicalOp::Window(_)
        | LogicalOp::Union
        | LogicalOp::ChangelogNormalize(_)
        | LogicalOp::ChangelogFunction(_)
        | LogicalOp::Sink(_) => {}
    }
    op
}

fn replace_all(
    exprs: &mut [flott_functions::Expr],
    rewrite: &mut impl FnMut(flott_functions::Expr) -> flott_functions::Expr,
) {
    exprs.iter_mut().for_each(|expr| replace(expr, rewrite));
}

fn replace(
    expr: &mut flott_functions::Expr,
    rewrite: &mut impl FnMut(flott_functions::Expr) -> flott_functions::Expr,
) {
    let old = std::mem::replace(expr, flott_functions::Expr::boolean(true));
    *expr = rewrite(old);
}
