//! GROUP BY in two phases: the rows of a bundle are aggregated where they are, and only one row a key and
//! bundle is sent to the task of the key.

use std::sync::Arc;

use flott_sql::ast::Span;
use flott_types::{Field, Schema};

use super::{Lowering, any};
use crate::physical::{
    ColumnAggregate, LocalGroupAggregate, NodeId, PartialLayout, PhysicalOp, SplitStep,
};
use crate::{AggPhase, Result};

impl Lowering<'_> {
    /// The first phase of an aggregation over `input`, which gives the keys first; `None`: it has one phase.
    ///
    /// As in Flink there are two where mini-batch is on, unless
    /// `table.optimizer.agg-phase-strategy` is ONE_PHASE, and all accumulators can be added up. One
    /// task alone saves no rows on their way: AUTO lets the second phase do all of it then.
    pub(super) fn local_phase(
        &mut self,
        input: NodeId,
        keys: &[usize],
        calls: &[ColumnAggregate],
        split: Option<SplitStep>,
        span: Option<Span>,
    ) -> Result<Option<NodeId>> {
        let wanted = match self.config.agg_phase {
            AggPhase::Auto => self.config.parallelism > 1,
            AggPhase::TwoPhase => true,
            AggPhase::OnePhase => false,
        };
        let retracts = !self.plan.node(input).changelog.is_insert_only();
        let gathers = self.config.mini_batch.is_some() && !self.config.batch;
        if !wanted || !gathers || !calls.iter().all(|call| is_additive(call, retracts)) {
            return Ok(None);
        }
        let below = &self.plan.node(input).schema;
        let mut fields: Vec<Field> = keys.iter().map(|key| below.fields[*key].clone()).collect();
        fields.extend(PartialLayout::of(calls, retracts)?.fields());
        let op = PhysicalOp::LocalGroupAggregate(LocalGroupAggregate {
            keys: keys.to_vec(),
            calls: calls.to_vec(),
            input_retracts: retracts,
            split,
        });
        self.add(op, vec![any(input)], Arc::new(Schema::new(fields)), span).map(Some)
    }
}

/// Whether what a call makes of some rows can be added to what it makes of others, in any order, also
/// where only the second ones hold what the first ones take back.
fn is_additive(call: &ColumnAggregate, retracts: bool) -> bool {
    match call.function.name {
        "COUNT" | "SUM" | "$SUM0" | "AVG" | "MIN" | "MAX" | "COLLECT" => true,
        // Values of DISTINCT are counted, and fed to the accumulator by the second phase alone.
        name if is_spread(name) => call.distinct || !retracts,
        "LISTAGG" | "ARRAY_AGG" => !call.distinct && !retracts,
        "PERCENTILE" | "APPROX_COUNT_DISTINCT" => !retracts,
        _ => false,
    }
}

fn is_spread(name: &str) -> bool {
    name.starts_with("STDDEV") || name.starts_with("VAR")
}
