//! Which correlated queries Flink plans.
//!
//! Flink refuses the others with `unexpected correlate variable`. Flott could plan them, but then a script
//! that runs here would not run there; `flott.correlation` = `general` asks for it.

use crate::bind::outer::{outer_columns, reads_outer};
use crate::logical::{JoinKind, LogicalOp, PlanRef};
use crate::{PlanError, Result};
use flott_sql::ast::Span;

/// Where a correlated query stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In an expression.
    Expression,
    /// In FROM, behind LATERAL.
    Lateral,
}

/// Fails where Flink cannot plan a query that reads columns of the query at `level`.
pub fn check(plan: &PlanRef, level: usize, place: Place, span: Span) -> Result<()> {
    match refused(plan, level, place, true) {
        None => Ok(()),
        Some(what) => Err(unexpected_variable(what).at(span)),
    }
}

/// Flink's error where something reads columns that it cannot give it.
pub fn unexpected_variable(what: &str) -> PlanError {
    PlanError::new(format!(
        "unexpected correlate variable in the plan: {what} reads columns of the outer query"
    ))
    .hint("write it as a join; SET 'flott.correlation' = 'general' plans it here, but not in Flink")
}

/// What Flink does not plan; `linear` as long as there was nothing but projections and filters above.
fn refused(plan: &PlanRef, level: usize, place: Place, linear: bool) -> Option<&'static str> {
    if outer_columns(plan, level).is_empty() {
        return None;
    }
    let reads = |plan: &PlanRef| !outer_columns(plan, level).is_empty();
    let own = match &plan.op {
        LogicalOp::Sort(sort) if sort.fetch.is_some() || sort.offset > 0 => Some("a LIMIT"),
        LogicalOp::Union => Some("a UNION"),
        LogicalOp::Values(_) => Some("VALUES"),
        LogicalOp::Project(exprs) if place == Place::Lateral => {
            let computes = exprs.iter().any(|expr| reads_outer(expr, level));
            let without_from = matches!(plan.input().op, LogicalOp::Values(_));
            (computes && without_from).then_some("a SELECT without FROM")
        }
        LogicalOp::Correlate(correlate) => {
            let computes = correlate.args.iter().any(|arg| reads_outer(arg, level));
            let fits = place == Place::Lateral && linear;
            (computes && !fits).then_some("an UNNEST inside of a sub-query")
        }
        LogicalOp::Join(join) => {
            let pairs = join.equal.iter();
            let in_pairs =
                pairs.clone().any(|p| reads_outer(&p.left, level) || reads_outer(&p.right, level));
            let in_rest = join.residual.iter().any(|residual| reads_outer(residual, level));
            let one_sided = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
            // A sub-query of the sub-query may read both, if it is linked with the inner one.
            let linked = one_sided && pairs.len() > 0;
            ((in_pairs || in_rest) && !linked).then_some("the condition of a join")
        }
        _ => None,
    };
    let linear = linear && matches!(plan.op, LogicalOp::Project(_) | LogicalOp::Filter(_));
    own.or_else(|| {
        let mut inputs = plan.inputs.iter().filter(|input| reads(input));
        inputs.find_map(|input| refused(input, level, place, linear))
    })
}
