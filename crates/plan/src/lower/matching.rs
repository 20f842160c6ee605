//! MATCH_RECOGNIZE.

use super::{Lowering, any, by};
use crate::logical::PlanRef;
use crate::matching::Match;
use crate::physical::{BatchSort, Distribution, NodeId, PhysicalInput, PhysicalOp};
use crate::traits::changelog::first_cause;
use crate::traits::state::StateBound;
use crate::{PlanError, Result};

impl Lowering<'_> {
    pub(super) fn match_recognize(&mut self, plan: &PlanRef, pattern: &Match) -> Result<NodeId> {
        let input = self.node(plan.input())?;
        let mode = self.plan.node(input).changelog;
        if !mode.is_insert_only() {
            let updates = mode.has_updates();
            let what = if updates { "update" } else { "delete" };
            let cause = first_cause(&self.plan, input, updates);
            return Err(PlanError::new(format!(
                "Match Recognize doesn't support consuming {what} changes which is produced by \
                 node {}",
                crate::explain::describe(&self.plan, cause)
            ))
            .hint(
                "a row that is part of a match cannot be taken back: aggregate by a window, so \
                 that each result is final",
            ));
        }
        let schema = plan.schema.clone();
        let op = PhysicalOp::Match(pattern.clone());
        if !self.config.batch {
            return self.add(op, vec![by(input, &pattern.partition)], schema, plan.span);
        }
        // As in Flink, matches of a bounded input come in the order of the partition's columns.
        let partition = pattern.partition.iter().map(|column| (*column, false, true));
        let order = pattern.order.iter().map(|key| (key.column, key.descending, key.nulls_first));
        let keys = partition.chain(order).collect();
        let sort = PhysicalOp::Sort(BatchSort { keys, offset: 0, fetch: None });
        let of_input = self.plan.node(input).schema.clone();
        let input = PhysicalInput { node: input, distribution: Distribution::Single };
        let sorted = self.add(sort, vec![input], of_input, None)?;
        self.add(op, vec![any(sorted)], schema, plan.span)
    }
}

/// What bounds the rows kept; `partition` names the columns by which they are told apart.
pub(super) fn state_bound(pattern: &Match, bounded: bool, partition: String) -> StateBound {
    match (pattern.within, pattern.longest()) {
        _ if bounded => StateBound::BoundedInput,
        (Some(within), _) if within > 0 && pattern.is_rowtime => StateBound::Watermark,
        (Some(within), _) if within > 0 => StateBound::ProcessingTime,
        (_, Some(_)) if pattern.partition.is_empty() => StateBound::Constant,
        (_, longest) => {
            let rows = match longest {
                Some(rows) => format!("the last {rows} rows"),
                None => "the rows of each match begun".to_string(),
            };
            let of = match partition.is_empty() {
                true => String::new(),
                false => format!(" of each ({partition})"),
            };
            StateBound::Unbounded {
                reason: format!("{rows}{of}"),
                cure: "write WITHIN INTERVAL '…' behind the pattern".to_string(),
            }
        }
    }
}
