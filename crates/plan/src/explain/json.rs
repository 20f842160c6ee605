//! `EXPLAIN JSON_EXECUTION_PLAN`: the plan for programs, in the form of Flink's.

use serde_json::{Value as Json, json};

use super::describe;
use crate::physical::{Distribution, PhysicalOp, PhysicalPlan};

/// The plan as the text of a JSON object: `{"nodes": […]}`, inputs before their readers. `id` counts
/// from 1; `pact` says whether a node is a source, a sink or an operator between them; `ship_strategy`
/// how rows get from a predecessor to the tasks of the node.
pub(super) fn execution_plan(plan: &PhysicalPlan, parallelism: usize) -> String {
    let nodes: Vec<Json> = (0..plan.nodes.len()).map(|id| node(plan, id, parallelism)).collect();
    // Printing values of JSON cannot fail.
    serde_json::to_string_pretty(&json!({ "nodes": nodes })).unwrap_or_default()
}

fn node(plan: &PhysicalPlan, id: usize, parallelism: usize) -> Json {
    let node = plan.node(id);
    let contents = describe(plan, id);
    let name = contents.split('(').next().unwrap_or_default();
    let (role, kind) = match &node.op {
        PhysicalOp::Source(scan) => ("Data Source", format!("Source: {}", scan.path.object)),
        PhysicalOp::Values(_) => ("Data Source", "Source: Values".to_string()),
        PhysicalOp::Sink(sink) => ("Data Sink", format!("Sink: {}", sink.sink.path.object)),
        _ => ("Operator", name.to_string()),
    };
    let single = node.inputs.iter().any(|input| input.distribution == Distribution::Single);
    let mut json = json!({
        "id": id + 1,
        "type": kind,
        "pact": role,
        "contents": contents,
        "parallelism": if single { 1 } else { parallelism },
    });
    let predecessors: Vec<Json> = node
        .inputs
        .iter()
        .enumerate()
        .map(|(i, input)| {
            json!({
                "id": input.node + 1,
                "ship_strategy": match input.distribution {
                    Distribution::Any => "FORWARD",
                    Distribution::Hash(_) => "HASH",
                    Distribution::Single => "GLOBAL",
                },
                "side": if i == 0 { "first" } else { "second" },
            })
        })
        .collect();
    if !predecessors.is_empty() {
        json["predecessors"] = Json::Array(predecessors);
    }
    json
}
