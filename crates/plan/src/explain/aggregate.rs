//! GROUP BY in its phases.

use std::fmt::Write;

use flott_types::Schema;

use super::{call_text, calls, column_names, names};
use crate::physical::{
    AggregatePhase, ColumnAggregate, GroupAggregate, LocalGroupAggregate, PartialLayout,
    PhysicalNode, PhysicalPlan, SplitStep,
};

/// `GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])`, or the second of two phases:
/// `GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(count$0) AS n])`.
pub(super) fn group(
    plan: &PhysicalPlan,
    node: &PhysicalNode,
    aggregate: &GroupAggregate,
) -> String {
    let below = &plan.node(node.inputs[0].node).schema;
    match aggregate.phase {
        AggregatePhase::Complete => {
            let select = complete(node, aggregate, &aggregate.keys, below);
            text("GroupAggregate", &names(below, &aggregate.keys), aggregate.split, &select)
        }
        AggregatePhase::Global => {
            let mut select = key_names(below, &aggregate.keys);
            let outputs = &column_names(&node.schema)[select.len()..];
            let given = given(&aggregate.calls, aggregate.input_retracts);
            for ((call, given), name) in given.zip(outputs) {
                let (Given::Values(from) | Given::State(from)) = given;
                select.push(format!("{}({from}) AS {name}", call.function.name));
            }
            text("GlobalGroupAggregate", &names(below, &aggregate.keys), aggregate.split, &select)
        }
    }
}

/// A GROUP BY as it is in one phase, whatever it is a step of: its state is the same.
pub(super) fn state(
    plan: &PhysicalPlan,
    node: &PhysicalNode,
    aggregate: &GroupAggregate,
) -> String {
    let rows = aggregate.rows(plan, node);
    let below = &plan.node(rows.node).schema;
    let select = complete(node, aggregate, rows.keys, below);
    text("GroupAggregate", &names(below, rows.keys), None, &select)
}

fn complete(
    node: &PhysicalNode,
    aggregate: &GroupAggregate,
    keys: &[usize],
    below: &Schema,
) -> Vec<String> {
    let mut select = key_names(below, keys);
    select.extend(calls(&aggregate.calls, below, &column_names(&node.schema)));
    select
}

/// `LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS count$0])`
pub(super) fn local(
    plan: &PhysicalPlan,
    node: &PhysicalNode,
    aggregate: &LocalGroupAggregate,
) -> String {
    let below = &plan.node(node.inputs[0].node).schema;
    let mut select = key_names(below, &aggregate.keys);
    if aggregate.input_retracts {
        select.push("COUNT_RETRACT(*) AS count1$0".to_string());
    }
    for (call, given) in given(&aggregate.calls, aggregate.input_retracts) {
        let part = match given {
            Given::Values(set) => format!("DISTINCT({}) AS {set}", names(below, &call.args)),
            Given::State(columns) => format!("{} AS {columns}", call_text(call, below)),
        };
        // Calls of the same values share them.
        if !select.contains(&part) {
            select.push(part);
        }
    }
    text("LocalGroupAggregate", &names(below, &aggregate.keys), aggregate.split, &select)
}

/// What a first phase gives to a call of the second.
enum Given {
    /// The set of values that it counts.
    Values(String),
    /// The columns of its accumulator.
    State(String),
}

/// What the first phase gives for each call; nothing where a call has no accumulator, which a plan would
/// have been refused for.
fn given(
    calls: &[ColumnAggregate],
    retracts: bool,
) -> impl Iterator<Item = (&ColumnAggregate, Given)> {
    let layout = PartialLayout::of(calls, retracts).ok();
    calls.iter().enumerate().filter_map(move |(at, call)| {
        let layout = layout.as_ref()?;
        if call.distinct {
            let set = layout.sets.iter().position(|set| set.columns == call.args)?;
            return Some((call, Given::Values(format!("distinct${set}"))));
        }
        let columns: Vec<&str> = layout.states[at].iter().map(|field| &*field.name).collect();
        Some((
            call,
            Given::State(match columns.as_slice() {
                [one] => (*one).to_string(),
                several => format!("({})", several.join(", ")),
            }),
        ))
    })
}

fn key_names(below: &Schema, keys: &[usize]) -> Vec<String> {
    keys.iter().map(|key| below.fields[*key].name.to_string()).collect()
}

fn text(kind: &str, group_by: &str, split: Option<SplitStep>, select: &[String]) -> String {
    let mut text = format!("{kind}(");
    if !group_by.is_empty() {
        let _ = write!(text, "groupBy=[{group_by}], ");
    }
    match split {
        None => {}
        Some(SplitStep::Partial) => text.push_str("partialFinalType=[PARTIAL], "),
        Some(SplitStep::Final) => text.push_str("partialFinalType=[FINAL], "),
    }
    let _ = write!(text, "select=[{}])", select.join(", "));
    text
}
