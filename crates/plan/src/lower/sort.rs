//! ORDER BY and LIMIT.

use flott_types::{RowKind, TimeAttribute};

use super::{Lowering, column};
use crate::logical::{PlanRef, Rank, RankFunction, RankRange, Sort, SortKey};
use crate::physical::{
    BatchSort, Distribution, NodeId, OrderColumn, PhysicalInput, PhysicalOp, RankOrigin,
    TemporalSort,
};
use crate::{PlanError, Result};

impl Lowering<'_> {
    pub(super) fn sort(&mut self, plan: &PlanRef, sort: &Sort) -> Result<NodeId> {
        let input = self.node(plan.input())?;
        if sort.fetch == Some(0) {
            let nothing = PhysicalOp::Values(Vec::new());
            return self.add(nothing, Vec::new(), plan.schema.clone(), plan.span);
        }
        if self.config.batch {
            return self.batch_sort(plan, sort, input);
        }
        let Some(fetch) = sort.fetch else {
            if sort.offset > 0 {
                return Err(PlanError::new(
                    "FETCH is missed, which on streaming table is not supported currently.",
                )
                .hint("say how many rows are wanted: LIMIT 10 OFFSET 5"));
            }
            return self.temporal_sort(plan, sort, input);
        };
        let keeps_all = self.plan.node(input).changelog.is_insert_only();
        if sort.keys.is_empty() && keeps_all {
            return self.add_limit(plan, sort, input);
        }
        let rank = Rank {
            function: RankFunction::RowNumber,
            partition: Vec::new(),
            order: sort.keys.clone(),
            range: RankRange {
                start: sort.offset.saturating_add(1),
                ..RankRange::first(sort.offset.saturating_add(fetch))
            },
            with_number: false,
        };
        let origin = if sort.keys.is_empty() { RankOrigin::Limit } else { RankOrigin::SortLimit };
        self.add_rank(plan, &rank, input, origin)
    }

    fn batch_sort(&mut self, plan: &PlanRef, sort: &Sort, input: NodeId) -> Result<NodeId> {
        if sort.keys.is_empty() {
            return self.add_limit(plan, sort, input);
        }
        if sort.fetch.is_none() && sort.offset > 0 {
            return Err(PlanError::new("Not support limitEnd is max value now!")
                .hint("say how many rows are wanted: ORDER BY … LIMIT 1000 OFFSET 5"));
        }
        let keys = order_columns(&sort.keys)?
            .iter()
            .map(|key| (key.column, key.descending, key.nulls_first))
            .collect();
        let op = PhysicalOp::Sort(BatchSort { keys, offset: sort.offset, fetch: sort.fetch });
        self.add(op, vec![single(input)], plan.schema.clone(), plan.span)
    }

    fn add_limit(&mut self, plan: &PlanRef, sort: &Sort, input: NodeId) -> Result<NodeId> {
        let fetch = sort.fetch.unwrap_or(u64::MAX);
        let op = PhysicalOp::Limit { offset: sort.offset, fetch };
        self.add(op, vec![single(input)], plan.schema.clone(), plan.span)
    }

    fn temporal_sort(&mut self, plan: &PlanRef, sort: &Sort, input: NodeId) -> Result<NodeId> {
        let mut keys = order_columns(&sort.keys)?.into_iter();
        let first = keys.next().filter(|key| !key.descending);
        let node = self.plan.node(input);
        let time = first.and_then(|key| node.schema.fields[key.column].time);
        let (Some(first), Some(time)) = (first, time) else {
            return Err(PlanError::new("Sort on a non-time-attribute field is not supported.")
                .hint(
                    "order by a time attribute first, ascending; or add LIMIT; or SET \
                     'execution.runtime-mode' = 'batch'",
                ));
        };
        if !node.changelog.is_insert_only() {
            let updates = node.changelog.contains(RowKind::UpdateAfter);
            let what = if updates { "update" } else { "delete" };
            return Err(PlanError::new(format!(
                "TemporalSort doesn't support consuming {what} changes which is produced by node \
                 {}",
                crate::explain::describe(&self.plan, input)
            ))
            .hint("sort the rows before they are aggregated or joined, or add LIMIT"));
        }
        let rowtime = (time == TimeAttribute::Rowtime).then_some(first.column);
        let op = PhysicalOp::TemporalSort(TemporalSort { rowtime, order: keys.collect() });
        self.add(op, vec![single(input)], plan.schema.clone(), plan.span)
    }
}

fn single(node: NodeId) -> PhysicalInput {
    PhysicalInput { node, distribution: Distribution::Single }
}

fn order_columns(keys: &[SortKey]) -> Result<Vec<OrderColumn>> {
    keys.iter()
        .map(|key| {
            Ok(OrderColumn {
                column: column(&key.expr)?,
                descending: key.descending,
                nulls_first: key.nulls_first,
            })
        })
        .collect()
}
