//! Which operators gather rows to give their net change, and for how long: `table.exec.mini-batch.*`.

use crate::config::MiniBatch;
use crate::physical::{PhysicalNode, PhysicalOp, PhysicalPlan};

/// Lets operators gather rows whose changes may cancel each other.
///
/// Rows that pass several of them one after the other wait in each, so the latency is shared: from a
/// source to a sink no row waits for longer than `allow-latency`.
pub(super) fn assign(plan: &mut PhysicalPlan, limits: MiniBatch) {
    let gathers: Vec<bool> = plan.nodes.iter().map(gathers).collect();
    // The most of them on any way from a source to the end of a node, and from there to a sink.
    let mut before = vec![0u64; plan.nodes.len()];
    let mut after = vec![0u64; plan.nodes.len()];
    for id in 0..plan.nodes.len() {
        let inputs = plan.nodes[id].inputs.iter();
        let longest = inputs.map(|input| before[input.node]).max().unwrap_or(0);
        before[id] = longest + u64::from(gathers[id]);
    }
    for id in (0..plan.nodes.len()).rev() {
        for input in &plan.nodes[id].inputs {
            after[input.node] = after[input.node].max(after[id] + u64::from(gathers[id]));
        }
    }
    for id in (0..plan.nodes.len()).filter(|id| gathers[*id]) {
        let latency = (limits.latency / (before[id] + after[id])).max(1);
        plan.nodes[id].mini_batch = Some(MiniBatch { latency, ..limits });
    }
}

/// Whether an operator's changes of some rows may cancel each other. Operators that wait for time, and those
/// that only ever add rows, have nothing to gather.
fn gathers(node: &PhysicalNode) -> bool {
    match &node.op {
        PhysicalOp::LocalGroupAggregate(_) => true,
        PhysicalOp::GroupAggregate(_)
        | PhysicalOp::Join(_)
        | PhysicalOp::Rank(_)
        | PhysicalOp::Deduplicate(_)
        | PhysicalOp::Over(_)
        | PhysicalOp::ChangelogNormalize { .. } => !node.changelog.is_insert_only(),
        _ => false,
    }
}
