//! Which operators drop rows that come late, and the way of these rows to the table for them.

use std::sync::Arc;

use flott_plan::logical::WindowKind;
use flott_plan::physical::{
    Keep, NodeId, OverMode, PhysicalOp, PhysicalPlan, WindowAggregate, WindowSource,
};

use super::Translation;
use crate::Result;
use crate::graph::{Exchange, NodeSpec, SinkSpec};
use crate::late::{LateRowWriter, LateTable, LateTime};

impl Translation<'_> {
    /// Leads the late rows of all operators into the table's sink.
    pub(super) fn late_rows(&mut self, table: &Arc<LateTable>) -> Result<()> {
        let dropping: Vec<_> =
            (0..self.plan.nodes.len()).filter_map(|id| Some((id, times(self.plan, id)?))).collect();
        if dropping.is_empty() {
            return Ok(());
        }
        let parallelism = table.sink.parallelism().unwrap_or(1).max(1);
        let sink = self.graph.sink(
            NodeSpec {
                name: format!("LateRows(table=[{}])", table.path).into(),
                uid: format!("late-rows/{}", table.path).into(),
                parallelism,
                output: None,
            },
            SinkSpec { sink: table.sink.clone(), static_partitions: Vec::new(), overwrite: false },
        );
        for (id, times) in dropping {
            let exchange = match (self.parallelism[id], parallelism) {
                (from, to) if from == to => Exchange::Forward,
                (_, 1) => Exchange::Single,
                _ => Exchange::Rebalance,
            };
            let (plan, table) = (self.plan.clone(), table.clone());
            let writers = move |task: &crate::TaskInfo| {
                let inputs = plan.node(id).inputs.iter().zip(&times);
                inputs
                    .map(|(input, time)| {
                        let schema = &plan.node(input.node).schema;
                        LateRowWriter::new(&table, schema, *time, task)
                    })
                    .collect()
            };
            self.graph.connect_late(self.nodes[id], sink, exchange, Arc::new(writers));
        }
        Ok(())
    }
}

/// The time by which an operator tells late rows of each of its inputs; `None`: it drops none.
fn times(plan: &PhysicalPlan, id: NodeId) -> Option<Vec<LateTime>> {
    let node = plan.node(id);
    // Whether a column of an input is a TIMESTAMP_LTZ.
    let of = |column: usize| {
        let schema = &plan.node(node.inputs[0].node).schema;
        let is_ltz =
            matches!(schema.fields[column].data_type.root, flott_types::TypeRoot::TimestampLtz(_));
        vec![LateTime { column, is_ltz }]
    };
    match &node.op {
        PhysicalOp::WindowAggregate(aggregate) => window_time(aggregate).map(|time| vec![time]),
        PhysicalOp::WindowAssign(window)
            if window.is_rowtime && matches!(window.kind, WindowKind::Session { .. }) =>
        {
            Some(of(window.time_column))
        }
        PhysicalOp::WindowJoin(join) => Some(
            [join.left_window.1, join.right_window.1]
                .map(|column| LateTime { column, is_ltz: join.is_ltz })
                .to_vec(),
        ),
        PhysicalOp::WindowRank(rank) => {
            Some(vec![LateTime { column: rank.window_end, is_ltz: rank.is_ltz }])
        }
        PhysicalOp::Deduplicate(spec) if spec.keep == Keep::First => spec.rowtime.map(of),
        PhysicalOp::TemporalSort(sort) => sort.rowtime.map(of),
        PhysicalOp::Over(over) if over.mode == OverMode::Rowtime => Some(of(over.order[0].0)),
        PhysicalOp::Match(pattern) if pattern.is_rowtime => Some(of(pattern.order[0].column)),
        _ => None,
    }
}

fn window_time(aggregate: &WindowAggregate) -> Option<LateTime> {
    match &aggregate.window {
        WindowSource::Assign(window) if window.is_rowtime => {
            Some(LateTime { column: window.time_column, is_ltz: window.is_ltz })
        }
        WindowSource::Attached { end, is_rowtime: true, is_ltz, .. } => {
            Some(LateTime { column: *end, is_ltz: *is_ltz })
        }
        _ => None,
    }
}
