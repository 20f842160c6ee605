//! Top-N and deduplication: which operator, and how it keeps its rows.

use std::sync::Arc;

use flott_types::{Schema, TimeAttribute};

use super::{Lowering, by, column};
use crate::logical::{PlanRef, Rank, RankEnd, RankFunction, SortKey};
use crate::physical::{
    self, Deduplicate, Keep, NodeId, OrderColumn, PhysicalOp, RankOrigin, RankStrategy, RowOrder,
    WindowRank,
};
use crate::traits::monotonicity::{Monotonicity, of_node};
use crate::traits::window::{joined_windows, window_assignment};
use crate::{PlanError, Result};

impl Lowering<'_> {
    pub(super) fn rank(&mut self, plan: &PlanRef, rank: &Rank) -> Result<NodeId> {
        let input = self.node(plan.input())?;
        if self.config.batch {
            return self.add_rank(plan, rank, input, RankOrigin::Rank);
        }
        check(rank)?;
        if let Some((start, end)) = window_bounds(plan, rank) {
            return self.window_rank(plan, rank, input, start, end);
        }
        match deduplication(rank, &plan.input().schema) {
            Some((keep, rowtime)) if self.plan.node(input).changelog.is_insert_only() => {
                let op = PhysicalOp::Deduplicate(Deduplicate {
                    key: rank.partition.clone(),
                    rowtime,
                    keep,
                    emit_update_before: true,
                    state_ttl: self.config.state_ttl,
                });
                self.add(op, vec![by(input, &rank.partition)], plan.schema.clone(), plan.span)
            }
            _ => self.add_rank(plan, rank, input, RankOrigin::Rank),
        }
    }

    /// A Top-N over rows of `input`.
    pub(super) fn add_rank(
        &mut self,
        plan: &PlanRef,
        rank: &Rank,
        input: NodeId,
        origin: RankOrigin,
    ) -> Result<NodeId> {
        let order = row_order(&self.plan.node(input).schema, &rank.order)?;
        let op = PhysicalOp::Rank(physical::Rank {
            origin,
            function: rank.function,
            partition: rank.partition.clone(),
            strategy: self.rank_strategy(rank, &order, input),
            order,
            range: rank.range,
            with_number: rank.with_number,
            emit_update_before: true,
            final_only: self.config.batch,
            state_ttl: self.config.state_ttl,
        });
        self.add(op, vec![by(input, &rank.partition)], plan.schema.clone(), plan.span)
    }

    /// Flink's `RankProcessStrategy`: rows that never move down need not be kept once they are out
    /// of range.
    fn rank_strategy(&self, rank: &Rank, order: &RowOrder, input: NodeId) -> RankStrategy {
        let node = self.plan.node(input);
        if node.changelog.is_insert_only() {
            return RankStrategy::AppendFast;
        }
        let whole = |key: &&Vec<usize>| rank.partition.iter().all(|column| key.contains(column));
        let key = node.unique_keys.iter().find(whole);
        let fits = rank.function == RankFunction::RowNumber
            && !order.newest_first
            && !order.columns.is_empty();
        let (Some(key), Some(columns), true) = (key, of_node(&self.plan, input), fits) else {
            return RankStrategy::Retract;
        };
        let moves_up = |key: &OrderColumn| match columns[key.column] {
            Monotonicity::Constant => true,
            Monotonicity::Increasing => key.descending,
            Monotonicity::Decreasing => !key.descending,
            Monotonicity::None => false,
        };
        if order.columns.iter().all(moves_up) {
            RankStrategy::UpdateFast { key: key.clone() }
        } else {
            RankStrategy::Retract
        }
    }

    fn window_rank(
        &mut self,
        plan: &PlanRef,
        rank: &Rank,
        input: NodeId,
        window_start: usize,
        window_end: usize,
    ) -> Result<NodeId> {
        let window = window_assignment(plan.input())
            .ok_or_else(|| PlanError::new("the window of a window Top-N was lost"))?;
        if !window.is_rowtime {
            return Err(PlanError::new("Processing time Window TopN is not supported yet.")
                .hint("cut windows over a column of event time, or rank without window bounds"));
        }
        let schema = &plan.input().schema;
        let keep = deduplication(rank, schema).and_then(|(keep, rowtime)| rowtime.map(|_| keep));
        let mut order = row_order(schema, &rank.order)?;
        order.newest_first |= keep == Some(Keep::Last);
        let op = PhysicalOp::WindowRank(WindowRank {
            function: rank.function,
            partition: rank.partition.clone(),
            window_start,
            window_end,
            is_ltz: window.is_ltz,
            order,
            range: rank.range,
            with_number: rank.with_number,
            keep,
            input_retracts: !self.plan.node(input).changelog.is_insert_only(),
        });
        // Rows of one window meet in one task only if all keys beside it agree.
        let keys: Vec<usize> = rank
            .partition
            .iter()
            .copied()
            .filter(|column| *column != window_start && *column != window_end)
            .collect();
        self.add(op, vec![by(input, &keys)], plan.schema.clone(), plan.span)
    }
}

/// Refuses what no streaming Top-N can do, in Flink's words.
fn check(rank: &Rank) -> Result<()> {
    match rank.range.end {
        RankEnd::Unbounded => Err(PlanError::new(
            "Rank end is not specified. Currently rank only support TopN, which means the rank \
             end must be specified.",
        )
        .hint("add an upper bound: WHERE rn <= 10, or BETWEEN")),
        RankEnd::Constant(end) if end <= 0 => {
            Err(PlanError::new(format!("Rank end should not less than zero, but now is {end}"))
                .hint("ranks are counted from 1"))
        }
        _ if rank.order.is_empty() => Err(PlanError::new(
            "Over Agg: The window rank function requires order by clause with non-constant \
             fields. please re-check the over window statement.",
        )
        .hint("say which rows come first: ROW_NUMBER() OVER (… ORDER BY …)")),
        _ => Ok(()),
    }
}

/// Which row a deduplication keeps and its column of event time: of a Top-1 by one time attribute.
fn deduplication(rank: &Rank, schema: &Schema) -> Option<(Keep, Option<usize>)> {
    let [key] = rank.order.as_slice() else { return None };
    let by = column(&key.expr).ok()?;
    let rowtime = match schema.fields[by].time? {
        TimeAttribute::Rowtime => Some(by),
        TimeAttribute::Proctime => None,
    };
    let is_top_1 = rank.function == RankFunction::RowNumber && rank.range.is_top_1();
    let keep = if key.descending { Keep::Last } else { Keep::First };
    (is_top_1 && !rank.with_number).then_some((keep, rowtime))
}

/// The columns of the window's bounds, if both are in the partition.
fn window_bounds(plan: &PlanRef, rank: &Rank) -> Option<(usize, usize)> {
    joined_windows(plan.input()).into_iter().find_map(|window| {
        let (start, end) = (window.start?, window.end?);
        let is_whole = rank.partition.contains(&start) && rank.partition.contains(&end);
        is_whole.then_some((start, end))
    })
}

/// An order over columns. Processing time is the order of arrival, and decides whatever comes after it.
fn row_order(schema: &Arc<Schema>, keys: &[SortKey]) -> Result<RowOrder> {
    let mut order = RowOrder::default();
    for key in keys {
        let column = column(&key.expr)?;
        if schema.fields[column].time == Some(TimeAttribute::Proctime) {
            order.newest_first = key.descending;
            break;
        }
        let SortKey { descending, nulls_first, .. } = *key;
        order.columns.push(OrderColumn { column, descending, nulls_first });
    }
    Ok(order)
}
