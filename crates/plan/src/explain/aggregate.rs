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
            for (given, name) in global_calls(aggregate).into_iter().zip(outputs) {
                select.push(format!("{given} AS {name}"));
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
    let Ok(layout) = PartialLayout::of(&aggregate.calls, aggregate.input_retracts) else {
        return text("LocalGroupAggregate", "", aggregate.split, &select);
    };
    for (call, state) in aggregate.calls.iter().zip(&layout.states) {
        let given = match sets_of(&layout, call) {
            Some(set) => format!("DISTINCT({}) AS distinct${set}", names(below, &call.args)),
            None => {
                let state: Vec<&str> = state.iter().map(|field| &*field.name).collect();
                format!("{} AS ({})", call_text(call, below), state.join(", "))
            }
        };
        let given = match state.as_slice() {
            [one] => format!("{} AS {}", call_text(call, below), one.name),
            _ => given,
        };
        if !select.contains(&given) {
            select.push(given);
        }
    }
    text("LocalGroupAggregate", &names(below, &aggregate.keys), aggregate.split, &select)
}

/// What each call of a second phase adds up.
fn global_calls(aggregate: &GroupAggregate) -> Vec<String> {
    let Ok(layout) = PartialLayout::of(&aggregate.calls, aggregate.input_retracts) else {
        return Vec::new();
    };
    let each = aggregate.calls.iter().zip(&layout.states);
    each.map(|(call, state)| match sets_of(&layout, call) {
        Some(set) => format!("{}(distinct${set})", call.function.name),
        None => {
            let state: Vec<&str> = state.iter().map(|field| &*field.name).collect();
            format!("{}({})", call.function.name, state.join(", "))
        }
    })
    .collect()
}

/// Which set of values a DISTINCT call looks at.
fn sets_of(layout: &PartialLayout, call: &ColumnAggregate) -> Option<usize> {
    let position = || layout.sets.iter().position(|set| set.columns == call.args);
    call.distinct.then(position).flatten()
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
