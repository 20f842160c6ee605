//! LIMIT without an order moves into the scan, which need not read more rows.

use std::sync::Arc;

use flott_functions::SessionSettings;
use flott_types::{ChangelogMode, RowKind};

use crate::Result;
use crate::logical::{LogicalOp, LogicalPlan, PlanRef};

pub(super) fn apply(roots: Vec<PlanRef>, _: &SessionSettings) -> Result<Vec<PlanRef>> {
    Ok(LogicalPlan::transform(&roots, &mut push))
}

fn push(plan: PlanRef) -> PlanRef {
    let LogicalOp::Sort(sort) = &plan.op else { return plan };
    let limit = sort.fetch.map(|fetch| sort.offset.saturating_add(fetch));
    let limited =
        limit.filter(|_| sort.keys.is_empty()).and_then(|rows| limited(plan.input(), rows));
    match limited {
        None => plan,
        Some(input) => plan.with_inputs(vec![input]),
    }
}

/// The plan with a scan that gives so many rows at most, if only projections lie above it.
///
/// As in Flink these are rows of the changelog where the table has one.
fn limited(plan: &PlanRef, rows: u64) -> Option<PlanRef> {
    match &plan.op {
        LogicalOp::Project(_) => Some(plan.with_inputs(vec![limited(plan.input(), rows)?])),
        // What upserts make of the table is known only behind the scan.
        LogicalOp::Scan(scan) if is_upsert(scan.source.changelog_mode()) => None,
        LogicalOp::Scan(scan) => {
            let mut scan = scan.clone();
            scan.limit = Some(scan.limit.map_or(rows, |limit| limit.min(rows)));
            let op = LogicalOp::Scan(scan);
            Some(Arc::new(LogicalPlan { op, ..LogicalPlan::clone(plan) }))
        }
        _ => None,
    }
}

fn is_upsert(mode: ChangelogMode) -> bool {
    mode.contains(RowKind::UpdateAfter) && !mode.contains(RowKind::UpdateBefore)
}
