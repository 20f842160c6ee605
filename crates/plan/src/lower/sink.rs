//! Sinks: what stands between a query and the table that takes its changes.

use std::sync::Arc;

use flott_catalog::connector::TableSink;
use flott_sql::ast::ConflictStrategy;
use flott_types::{ChangelogMode, RowKind, Schema};

use super::{Lowering, any};
use crate::logical::{ChangelogFunction, PlanRef, Sink, SinkTarget};
use crate::physical::{
    Distribution, NodeId, PhysicalInput, PhysicalOp, PhysicalPlan, PhysicalSink, SinkMaterialize,
};
use crate::traits::{changelog, keys};
use crate::{PlanError, Result, UpsertMaterialize};

impl Lowering<'_> {
    pub(super) fn sink(&mut self, plan: &PlanRef, sink: &Sink) -> Result<NodeId> {
        let mut input = self.node(plan.input())?;
        if let SinkTarget::Table(table) = &sink.target {
            if let Some(materialize) = self.materialize(input, sink, &**table)? {
                let schema = self.plan.node(input).schema.clone();
                let distribution = Distribution::Hash(materialize.key.clone());
                let op = PhysicalOp::SinkMaterialize(materialize);
                let edge = PhysicalInput { node: input, distribution };
                input = self.add(op, vec![edge], schema, plan.span)?;
            }
            let given = self.plan.node(input).changelog;
            let taken = table.changelog_mode(given);
            if given.contains(RowKind::UpdateBefore)
                && !taken.contains(RowKind::UpdateBefore)
                && taken.contains(RowKind::UpdateAfter)
                && (!table.deletes_old_versions()
                    || changelog::can_omit_update_before(&self.plan, input))
            {
                let schema = self.plan.node(input).schema.clone();
                input = self.add(PhysicalOp::DropUpdateBefore, vec![any(input)], schema, None)?;
            }
        }
        let distribution = match sink.target {
            SinkTarget::Collect => Distribution::Single,
            SinkTarget::Table(_) => Distribution::Any,
        };
        let op = PhysicalOp::Sink(PhysicalSink {
            sink: sink.clone(),
            enforcement: self.config.enforcement,
            keyed_shuffle: self.config.keyed_shuffle,
        });
        let input = PhysicalInput { node: input, distribution };
        self.add(op, vec![input], plan.schema.clone(), plan.span)
    }

    pub(super) fn changelog_function(
        &mut self,
        plan: &PlanRef,
        function: &ChangelogFunction,
    ) -> Result<NodeId> {
        let input = self.node(plan.input())?;
        if matches!(function, ChangelogFunction::From { .. })
            && !self.plan.node(input).changelog.is_insert_only()
        {
            return Err(PlanError::new(
                "FROM_CHANGELOG reads rows that are only added, but its input is updated",
            )
            .hint("read the events themselves: a table whose format is not one of changes"));
        }
        let op = PhysicalOp::ChangelogFunction(function.clone());
        self.add(op, vec![any(input)], plan.schema.clone(), plan.span)
    }

    /// How rows of one key that come from rows of different keys are told apart before a sink, where
    /// that may happen. Flink's rule: the query's upsert key must be part of the sink's primary key.
    fn materialize(
        &self,
        input: NodeId,
        sink: &Sink,
        table: &dyn TableSink,
    ) -> Result<Option<SinkMaterialize>> {
        if self.config.batch {
            return Ok(None);
        }
        let node = self.plan.node(input);
        let given = node.changelog;
        let taken = table.changelog_mode(given.without(RowKind::UpdateBefore));
        if let Some(strategy) = sink.on_conflict {
            check_clause(&self.plan, input, sink, strategy, taken)?;
        }
        let key = &sink.primary_key;
        let upsert_key = node.unique_keys.iter().min_by_key(|key| key.len()).cloned();
        let fits = keys::covers(&node.unique_keys, key);
        let needed = match self.config.upsert_materialize {
            _ if key.is_empty() || taken.contains(RowKind::UpdateBefore) => false,
            UpsertMaterialize::None => false,
            UpsertMaterialize::Force => true,
            UpsertMaterialize::Auto if taken.is_insert_only() || fits => false,
            // Rows that are only added conflict, too, where a clause says that they do.
            UpsertMaterialize::Auto if given.is_insert_only() => {
                sink.on_conflict.is_some_and(|it| it != ConflictStrategy::Deduplicate)
            }
            UpsertMaterialize::Auto => true,
        };
        if !needed {
            return Ok(None);
        }
        if sink.on_conflict.is_none()
            && self.config.require_on_conflict
            && !fits
            && !given.is_insert_only()
        {
            return Err(differing_keys(sink, &node.schema, upsert_key.as_deref()));
        }
        Ok(Some(SinkMaterialize {
            key: key.clone(),
            upsert_key: upsert_key.unwrap_or_default(),
            conflict: sink.on_conflict.unwrap_or(ConflictStrategy::Deduplicate),
            fits,
        }))
    }
}

/// Whether a sink and the sources may have an ON CONFLICT clause between them.
fn check_clause(
    plan: &PhysicalPlan,
    input: NodeId,
    sink: &Sink,
    strategy: ConflictStrategy,
    taken: ChangelogMode,
) -> Result<()> {
    let refuse = |why: &str| {
        Err(PlanError::new(format!(
            "ON CONFLICT clause is only allowed for upsert sinks. The sink '{}' is not an upsert \
             sink because it {why}.",
            sink.path
        ))
        .hint("leave the clause out, or write to a table that finds rows by its PRIMARY KEY"))
    };
    if taken.is_insert_only() {
        return refuse("only accepts INSERT (append-only) changes");
    }
    if taken.contains(RowKind::UpdateBefore) {
        return refuse("requires UPDATE_BEFORE (retract mode)");
    }
    let word = match strategy {
        ConflictStrategy::Deduplicate => return Ok(()),
        ConflictStrategy::Error => "ERROR",
        ConflictStrategy::Nothing => "NOTHING",
    };
    let mut timeless = Vec::new();
    sources_without_watermark(plan, input, &mut timeless);
    if timeless.is_empty() {
        return Ok(());
    }
    Err(PlanError::new(format!(
        "ON CONFLICT DO {word} requires all source tables to define watermarks, but the following \
         source(s) do not: {}.",
        timeless.join(", ")
    ))
    .hint("add a WATERMARK declaration to these tables, or write ON CONFLICT DO DEDUPLICATE"))
}

fn sources_without_watermark(plan: &PhysicalPlan, id: NodeId, found: &mut Vec<String>) {
    let node = plan.node(id);
    if let PhysicalOp::Source(scan) = &node.op
        && scan.watermark.is_none()
    {
        let path = scan.path.to_string();
        if !found.contains(&path) {
            found.push(path);
        }
    }
    node.inputs.iter().for_each(|input| sources_without_watermark(plan, input.node, found));
}

fn differing_keys(sink: &Sink, schema: &Arc<Schema>, upsert_key: Option<&[usize]>) -> PlanError {
    let names = |columns: &[usize]| {
        let names = columns.iter().map(|column| &*schema.fields[*column].name);
        names.collect::<Vec<_>>().join(", ")
    };
    PlanError::new(format!(
        "The query has an upsert key that differs from the primary key of the sink table '{}'. \
         Primary key: [{}], upsert key: [{}]. This can lead to non-deterministic results when \
         multiple records with different upsert keys map to the same primary key.",
        sink.path,
        names(&sink.primary_key),
        upsert_key.map_or_else(|| "none".to_string(), names),
    ))
    .hint(
        "add ON CONFLICT DO DEDUPLICATE (the latest row counts; all rows of a key are kept), \
         ON CONFLICT DO ERROR, or ON CONFLICT DO NOTHING (the first row counts)",
    )
}
