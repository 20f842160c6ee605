//! The names under which state is kept.
//!
//! An operator's fingerprint says what it computes and from what: its own description and the fingerprints
//! of its inputs. It does not depend on the rest of the job, so that state stays with its
//! operator when other parts of a script change, and is not taken for that of another when the
//! operator itself does. A source is known by its table alone: what is read further on depends on what
//! was read, not on which columns are wanted.

use std::collections::HashMap;
use std::fmt::Write;

use flott_plan::explain;
use flott_plan::physical::{
    Distribution, NodeId, PhysicalInput, PhysicalNode, PhysicalOp, PhysicalPlan,
};
use xxhash_rust::xxh3::Xxh3;

/// The fingerprints of all nodes of a plan. Of two that are alike, the second gets a number.
pub(super) fn fingerprints(plan: &PhysicalPlan) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(plan.nodes.len());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for id in 0..plan.nodes.len() {
        let mut uid = fingerprint(plan, id, &all);
        let times = seen.entry(uid.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            let _ = write!(uid, "#{times}");
        }
        all.push(uid);
    }
    all
}

fn fingerprint(plan: &PhysicalPlan, id: usize, below: &[String]) -> String {
    let node = plan.node(id);
    let description = explain::describe_state(plan, id);
    let kind = description.split('(').next().unwrap_or_default();
    if let PhysicalOp::Source(scan) = &node.op {
        return format!("{kind}/{}", scan.path);
    }
    let mut hash = Xxh3::new();
    hash.update(description.as_bytes());
    for field in &node.schema.fields {
        hash.update(format!("\0{}", field.data_type).as_bytes());
    }
    for (input, keys) in inputs(plan, node) {
        hash.update(b"\0");
        hash.update(below[input].as_bytes());
        if let Some(columns) = keys {
            hash.update(format!("\0{columns:?}").as_bytes());
        }
    }
    format!("{kind}/{:016x}", hash.digest())
}

/// The inputs of a node, each with the columns by which its rows find their task. An aggregation in two
/// phases is known by the rows before the first, as if it had but one: its state is the same.
fn inputs<'p>(
    plan: &'p PhysicalPlan,
    node: &'p PhysicalNode,
) -> Vec<(NodeId, Option<&'p [usize]>)> {
    if let PhysicalOp::GroupAggregate(aggregate) = &node.op {
        let rows = aggregate.rows(plan, node);
        return vec![(rows.node, Some(rows.keys).filter(|keys| !keys.is_empty()))];
    }
    let keys = |input: &'p PhysicalInput| match &input.distribution {
        Distribution::Hash(columns) => Some(columns.as_slice()),
        _ => None,
    };
    node.inputs.iter().map(|input| (input.node, keys(input))).collect()
}
