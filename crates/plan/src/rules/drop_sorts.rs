//! The order of a sub-query's rows is nobody's business: only the outermost ORDER BY counts, and one that
//! LIMIT cuts by.

use std::collections::HashMap;
use std::sync::Arc;

use flott_functions::SessionSettings;

use crate::Result;
use crate::logical::{LogicalOp, LogicalPlan, PlanRef};

pub(super) fn apply(roots: Vec<PlanRef>, _: &SessionSettings) -> Result<Vec<PlanRef>> {
    let mut done = HashMap::new();
    Ok(roots.iter().map(|root| drop_sorts(root, true, &mut done)).collect())
}

type Done = HashMap<(*const LogicalPlan, bool), PlanRef>;

/// The plan without sorts that nobody sees; `outermost`: its order is that of the result.
fn drop_sorts(plan: &PlanRef, outermost: bool, done: &mut Done) -> PlanRef {
    if let Some(known) = done.get(&(Arc::as_ptr(plan), outermost)) {
        return known.clone();
    }
    let rewritten = match &plan.op {
        LogicalOp::Sort(sort) if !outermost && sort.fetch.is_none() && sort.offset == 0 => {
            drop_sorts(plan.input(), false, done)
        }
        op => {
            let outermost = outermost && matches!(op, LogicalOp::Sink(_) | LogicalOp::Project(_));
            let inputs: Vec<PlanRef> =
                plan.inputs.iter().map(|input| drop_sorts(input, outermost, done)).collect();
            let unchanged = inputs.iter().zip(&plan.inputs).all(|(a, b)| Arc::ptr_eq(a, b));
            if unchanged { plan.clone() } else { plan.with_inputs(inputs) }
        }
    };
    done.insert((Arc::as_ptr(plan), outermost), rewritten.clone());
    rewritten
}
