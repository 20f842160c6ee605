//! OVER windows.

use super::Lowering;
use crate::logical::{FrameBound, Over, OverFunction, PlanRef, RankingFunction};
use crate::physical::NodeId;
use crate::{PlanError, Result};

impl Lowering<'_> {
    pub(super) fn over(&mut self, plan: &PlanRef, over: &Over) -> Result<NodeId> {
        if !self.config.batch {
            check_streaming(plan, over)?;
        }
        self.node(plan.input())?;
        Err(PlanError::new("OVER windows cannot be run by this version"))
    }
}

/// What Flink's streaming plans refuse.
fn check_streaming(plan: &PlanRef, over: &Over) -> Result<()> {
    let refuse = |message: &str, hint: &str| Err(PlanError::new(message).hint(hint));
    let in_batch = "SET 'execution.runtime-mode' = 'batch', where every window is possible";
    for call in &over.calls {
        let needs_end = match &call.function {
            OverFunction::Offset(function) => function.is_lead,
            OverFunction::Ranking(function) => matches!(
                function,
                RankingFunction::Ntile(_)
                    | RankingFunction::PercentRank
                    | RankingFunction::CumeDist
            ),
            OverFunction::Aggregate(_) => false,
        };
        if needs_end {
            let name = call.name();
            let problem = format!("{name} Function is not supported in stream mode.");
            return refuse(
                &problem,
                "it needs rows that are still to come; use LAG, or batch mode",
            );
        }
    }
    let is_ranking =
        over.calls.iter().any(|call| matches!(call.function, OverFunction::Ranking(_)));
    if is_ranking && over.order.iter().all(|key| key.expr.columns().is_empty()) {
        return refuse(
            "Over Agg: The window rank function requires order by clause with non-constant \
             fields. please re-check the over window statement.",
            "add ORDER BY a time attribute",
        );
    }
    let [key] = over.order.as_slice() else {
        return refuse(
            "The window can only be ordered by a single time column.",
            "ORDER BY one column: a time attribute, or any other for a window from the first row on",
        );
    };
    if key.descending {
        return refuse("The window can only be ordered in ASCENDING mode.", in_batch);
    }
    if key.expr.columns().is_empty() {
        return refuse("The window can only be ordered by a single time column.", in_batch);
    }
    if over.frame.end != FrameBound::CurrentRow || over.frame.start == FrameBound::CurrentRow {
        return refuse("OVER RANGE FOLLOWING windows are not supported yet.", in_batch);
    }
    let is_time = crate::bind::time_of(&key.expr, &plan.input().schema).is_some();
    match &over.frame.start {
        FrameBound::UnboundedPreceding => Ok(()),
        FrameBound::Preceding(_) if !is_time => refuse(
            "Non-time attribute sort is not supported for bounded OVER window.",
            "order by a time attribute, or let the window start UNBOUNDED PRECEDING",
        ),
        FrameBound::Preceding(flott_types::Value::Months(_)) => refuse(
            "INTERVAL_YEAR_MONTH type is not allowed for window boundary",
            "write the distance in days or less: INTERVAL '30' DAY",
        ),
        _ => Ok(()),
    }
}
