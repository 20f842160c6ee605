//! Changelog modes: which kinds of rows each operator gives, and which its readers can do without.

use flott_types::{ChangelogMode, RowKind};

use flott_functions::Expr;
use flott_sql::ast::ConflictStrategy;

use crate::logical::{ChangelogFunction, JoinKind, SinkTarget};
use crate::physical::{
    GroupWindow, Keep, NodeId, OverMode, PhysicalNode, PhysicalOp, PhysicalPlan, RankStrategy,
};
use crate::{PlanError, Result};

/// The kinds an operator gives for the kinds its inputs give.
pub fn produced(op: &PhysicalOp, inputs: &[ChangelogMode]) -> ChangelogMode {
    let first = inputs.first().copied().unwrap_or(ChangelogMode::INSERT_ONLY);
    let updating =
        first.with(RowKind::Insert).with(RowKind::UpdateBefore).with(RowKind::UpdateAfter);
    match op {
        PhysicalOp::Source(scan) => scan.source.changelog_mode(),
        PhysicalOp::Values(_) => ChangelogMode::INSERT_ONLY,
        PhysicalOp::Match(_) => ChangelogMode::INSERT_ONLY,
        PhysicalOp::Calc(_) | PhysicalOp::Expand(_) | PhysicalOp::Limit { .. } => first,
        PhysicalOp::WindowAssign(_) | PhysicalOp::Correlate(_) => first,
        PhysicalOp::LocalGroupAggregate(_) => ChangelogMode::INSERT_ONLY,
        PhysicalOp::GroupAggregate(aggregate) => {
            if aggregate.final_only {
                ChangelogMode::INSERT_ONLY
            } else if aggregate.input_retracts {
                ChangelogMode::ALL
            } else {
                updating
            }
        }
        PhysicalOp::WindowAggregate(aggregate) => match &aggregate.group_window {
            Some(GroupWindow { emit: Some(_) }) if first.is_insert_only() => updating,
            Some(GroupWindow { emit: Some(_) }) => ChangelogMode::ALL,
            _ => ChangelogMode::INSERT_ONLY,
        },
        PhysicalOp::WindowRank(_) | PhysicalOp::TemporalSort(_) | PhysicalOp::Sort(_) => {
            ChangelogMode::INSERT_ONLY
        }
        PhysicalOp::Rank(rank) if rank.final_only => ChangelogMode::INSERT_ONLY,
        PhysicalOp::Deduplicate(deduplicate) if deduplicate.keep == Keep::First => {
            ChangelogMode::INSERT_ONLY
        }
        PhysicalOp::Rank(_) | PhysicalOp::Deduplicate(_) => ChangelogMode::ALL,
        PhysicalOp::Over(over) if over.mode == OverMode::Updating => ChangelogMode::ALL,
        PhysicalOp::Over(_) => ChangelogMode::INSERT_ONLY,
        PhysicalOp::Join(join) if join.batch => ChangelogMode::INSERT_ONLY,
        PhysicalOp::Join(join) => match join.kind {
            JoinKind::Inner | JoinKind::Semi => {
                inputs.iter().fold(ChangelogMode::INSERT_ONLY, |all, mode| all.union(*mode))
            }
            _ => ChangelogMode::ALL,
        },
        PhysicalOp::IntervalJoin(_) | PhysicalOp::WindowJoin(_) => ChangelogMode::INSERT_ONLY,
        // The left row's kind is that of the pair.
        PhysicalOp::TemporalJoin(_) | PhysicalOp::LookupJoin(_) => first,
        PhysicalOp::ChangelogFunction(ChangelogFunction::From { codes, .. }) => {
            ChangelogMode::of(&codes.iter().map(|(_, kind)| *kind).collect::<Vec<_>>())
        }
        PhysicalOp::ChangelogFunction(ChangelogFunction::To { .. }) => ChangelogMode::INSERT_ONLY,
        PhysicalOp::Union | PhysicalOp::Sink(_) => {
            inputs.iter().fold(ChangelogMode::INSERT_ONLY, |all, mode| all.union(*mode))
        }
        PhysicalOp::ChangelogNormalize { emit_update_before, .. } => {
            let all = if first.contains(RowKind::Delete) { ChangelogMode::ALL } else { updating };
            if *emit_update_before { all } else { all.without(RowKind::UpdateBefore) }
        }
        PhysicalOp::SinkMaterialize(materialize) => {
            let deletes = first.contains(RowKind::Delete) || first.contains(RowKind::UpdateBefore);
            if deletes || materialize.conflict != ConflictStrategy::Deduplicate {
                ChangelogMode::UPSERT
            } else {
                updating.without(RowKind::UpdateBefore)
            }
        }
        PhysicalOp::DropUpdateBefore => first.without(RowKind::UpdateBefore),
    }
}

/// Whether an operator needs −U rows from its inputs, given whether its own readers do.
fn needs_update_before(plan: &PhysicalPlan, id: NodeId, wanted: bool) -> bool {
    let node = plan.node(id);
    match &node.op {
        // A condition may let one half of an update through, unless it looks at key columns only.
        PhysicalOp::Calc(calc) => {
            let condition = calc.condition.as_ref();
            wanted || condition.is_some_and(|condition| !by_key(plan, node, &condition.columns()))
        }
        PhysicalOp::Union
        | PhysicalOp::Expand(_)
        | PhysicalOp::WindowAssign(_)
        | PhysicalOp::Limit { .. } => wanted,
        PhysicalOp::ChangelogNormalize { .. } | PhysicalOp::DropUpdateBefore => false,
        PhysicalOp::LookupJoin(_) => wanted,
        PhysicalOp::Rank(rank) => rank.strategy == RankStrategy::Retract,
        PhysicalOp::SinkMaterialize(materialize) => {
            !materialize.fits || materialize.conflict != ConflictStrategy::Deduplicate
        }
        PhysicalOp::Sink(sink) => match &sink.sink.target {
            SinkTarget::Collect => true,
            SinkTarget::Table(table) => {
                let input = plan.node(node.inputs[0].node).changelog;
                table.changelog_mode(input).contains(RowKind::UpdateBefore)
            }
        },
        _ => true,
    }
}

fn by_key(plan: &PhysicalPlan, node: &PhysicalNode, columns: &[usize]) -> bool {
    let keys = &plan.node(node.inputs[0].node).unique_keys;
    keys.iter().any(|key| columns.iter().all(|column| key.contains(column)))
}

/// Whether the −U rows of a node can be left out: nothing between it and its sources tells rows apart
/// by columns that an update may change.
pub fn can_omit_update_before(plan: &PhysicalPlan, id: NodeId) -> bool {
    let node = plan.node(id);
    match &node.op {
        PhysicalOp::Calc(calc) => {
            let fixed = |condition: &Expr| by_key(plan, node, &condition.columns());
            calc.condition.as_ref().is_none_or(fixed)
                && can_omit_update_before(plan, node.inputs[0].node)
        }
        PhysicalOp::Union => {
            node.inputs.iter().all(|input| can_omit_update_before(plan, input.node))
        }
        PhysicalOp::Join(_) => node.changelog.is_insert_only(),
        _ => true,
    }
}

/// Tells operators whose readers can do without −U not to make them, from the sinks up.
pub fn drop_unneeded_updates(plan: &mut PhysicalPlan) {
    let mut wanted = vec![false; plan.nodes.len()];
    for id in (0..plan.nodes.len()).rev() {
        // A temporal join's right side can do without where nothing below needs them; its left
        // side passes on what it is given.
        if let PhysicalOp::TemporalJoin(join) = &plan.nodes[id].op {
            wanted[plan.nodes[id].inputs[0].node] |= wanted[id];
            wanted[plan.nodes[id].inputs[1].node] |= !join.ignore_update_before;
            continue;
        }
        if needs_update_before(plan, id, wanted[id]) {
            for input in &plan.nodes[id].inputs {
                wanted[input.node] = true;
            }
        }
    }
    for (id, wanted) in wanted.into_iter().enumerate() {
        if let Some(emit) = emits_update_before(&mut plan.nodes[id].op) {
            *emit = wanted;
            if !wanted {
                plan.nodes[id].changelog = plan.nodes[id].changelog.without(RowKind::UpdateBefore);
                continue;
            }
        }
        let inputs: Vec<ChangelogMode> =
            plan.nodes[id].inputs.iter().map(|input| plan.nodes[input.node].changelog).collect();
        if matches!(
            plan.nodes[id].op,
            PhysicalOp::Calc(_)
                | PhysicalOp::Union
                | PhysicalOp::Sink(_)
                | PhysicalOp::Limit { .. }
                | PhysicalOp::TemporalJoin(_)
                | PhysicalOp::LookupJoin(_)
                | PhysicalOp::DropUpdateBefore
                | PhysicalOp::ChangelogNormalize { .. }
                | PhysicalOp::SinkMaterialize(_)
        ) {
            plan.nodes[id].changelog = produced(&plan.nodes[id].op, &inputs);
        }
    }
}

/// What tells an operator to make −U rows, of those that can do without.
fn emits_update_before(op: &mut PhysicalOp) -> Option<&mut bool> {
    match op {
        PhysicalOp::GroupAggregate(aggregate) => Some(&mut aggregate.emit_update_before),
        PhysicalOp::Rank(rank) => Some(&mut rank.emit_update_before),
        PhysicalOp::Deduplicate(deduplicate) => Some(&mut deduplicate.emit_update_before),
        PhysicalOp::ChangelogNormalize { emit_update_before, .. } => Some(emit_update_before),
        _ => None,
    }
}

/// Leaves out nodes that drop −U where none comes.
pub fn bypass_idle_drops(plan: &mut PhysicalPlan) {
    for id in 0..plan.nodes.len() {
        for input in 0..plan.nodes[id].inputs.len() {
            let below = plan.node(plan.nodes[id].inputs[input].node);
            if !matches!(below.op, PhysicalOp::DropUpdateBefore) {
                continue;
            }
            let source = below.inputs[0].node;
            if !plan.node(source).changelog.contains(RowKind::UpdateBefore) {
                plan.nodes[id].inputs[input].node = source;
            }
        }
    }
}

/// Refuses plans whose sinks do not take what they are given; names the part of the query that is
/// the reason, and the ways out.
pub fn check_sinks(plan: &PhysicalPlan) -> Result<()> {
    for id in &plan.sinks {
        let node = plan.node(*id);
        let PhysicalOp::Sink(sink) = &node.op else { continue };
        let SinkTarget::Table(table) = &sink.sink.target else { continue };
        let input = node.inputs[0].node;
        let given = plan.node(input).changelog;
        let taken = table.changelog_mode(given);
        // −U may be dropped on the way where the sink finds rows by its key.
        let must = if taken.contains(RowKind::UpdateAfter) {
            given.without(RowKind::UpdateBefore)
        } else {
            given
        };
        if must.is_subset(taken) {
            continue;
        }
        let updates = given.has_updates() && !taken.contains(RowKind::UpdateAfter);
        let what = if updates { "update" } else { "delete" };
        let cause = first_cause(plan, input, updates);
        let culprit = plan.node(cause);
        let error = PlanError::new(format!(
            "Table sink '{}' doesn't support consuming {what} changes which is produced by node {}",
            sink.sink.path,
            crate::explain::describe(plan, cause)
        ))
        .hint(
            "write to a table that takes updates (upsert-kafka or jdbc with a PRIMARY KEY, print), \
             or aggregate by a window so that each result is final",
        );
        return Err(match culprit.span {
            Some(span) => error.at(span),
            None => error,
        });
    }
    Ok(())
}

/// The first operator on the way from the sources that makes updates (or deletions).
pub(crate) fn first_cause(plan: &PhysicalPlan, id: NodeId, updates: bool) -> NodeId {
    let offending = |id: NodeId| {
        let mode = plan.node(id).changelog;
        if updates { mode.has_updates() } else { mode.contains(RowKind::Delete) }
    };
    let source = plan.node(id).inputs.iter().map(|input| input.node).find(|n| offending(*n));
    source.map_or(id, |source| first_cause(plan, source, updates))
}
