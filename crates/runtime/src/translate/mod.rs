//! A physical plan to a job graph: each operator of the plan becomes a node, its traits decide
//! exchanges and parallelism.

mod fingerprint;
mod late;
mod operators;
mod source;

use std::sync::Arc;

use flott_catalog::connector::BadRecordHandler;
use flott_functions::{SessionSettings, SignatureError};
use flott_plan::logical::{Scan, SinkTarget};
use flott_plan::physical::{
    Distribution, NodeId as PlanId, PhysicalOp, PhysicalPlan, PhysicalSink,
};
use flott_plan::{KeyedShuffle, PlannerConfig, explain};

use crate::check::OutputContract;
use crate::graph::{Exchange, JobGraph, NodeId, NodeSpec, SinkSpec, SourceSpec};
use crate::late::LateTable;
use crate::operators::{ConstraintEnforcer, ValuesSource};
use crate::results::ResultSender;
use crate::{Result, RuntimeError};

/// What a job needs beside its plan.
pub struct Surroundings<'a> {
    /// The session's settings.
    pub settings: &'a SessionSettings,
    /// The options that decide parallelism.
    pub config: &'a PlannerConfig,
    /// Where the rows of a collecting sink go.
    pub results: Option<ResultSender>,
    /// Makes what takes the bad records of a scan.
    pub bad_records: &'a dyn Fn(&Scan) -> Result<Arc<dyn BadRecordHandler>>,
    /// Takes the rows that operators drop because they come late.
    pub late_rows: Option<Arc<LateTable>>,
}

/// The job graph of a plan.
pub fn translate(plan: &Arc<PhysicalPlan>, mut around: Surroundings) -> Result<JobGraph> {
    let mut translation = Translation {
        plan,
        graph: JobGraph::new(),
        uids: fingerprint::fingerprints(plan),
        nodes: Vec::with_capacity(plan.nodes.len()),
        parallelism: Vec::with_capacity(plan.nodes.len()),
    };
    for id in 0..plan.nodes.len() {
        translation.node(id, &mut around)?;
    }
    if let Some(table) = &around.late_rows {
        translation.late_rows(table)?;
    }
    Ok(translation.graph)
}

struct Translation<'a> {
    plan: &'a Arc<PhysicalPlan>,
    graph: JobGraph,
    uids: Vec<String>,
    nodes: Vec<NodeId>,
    parallelism: Vec<usize>,
}

impl Translation<'_> {
    fn node(&mut self, id: PlanId, around: &mut Surroundings) -> Result<()> {
        let node = self.plan.node(id);
        let parallelism = self.parallelism_of(id, around.config);
        let spec = self.spec(id, parallelism);
        let graph_node = match &node.op {
            PhysicalOp::Source(scan) => {
                let source = source::source(scan, around)?;
                self.graph.source(spec, source)
            }
            PhysicalOp::Values(rows) => {
                let source = SourceSpec {
                    source: Arc::new(ValuesSource::new(operators::values(rows, &node.schema)?)),
                    request: Default::default(),
                    watermark: None,
                    bad_records: Arc::new(flott_catalog::connector::FailOnBadRecord),
                };
                self.graph.source(spec, source)
            }
            PhysicalOp::Sink(sink) => return self.sink(id, sink, spec, around),
            _ => {
                let factory = operators::factory(self.plan.clone(), id, around)?;
                self.graph.operator(spec, factory)
            }
        };
        for (input, edge) in node.inputs.iter().enumerate() {
            let exchange = self.exchange(edge.node, &edge.distribution, parallelism);
            self.graph.connect(self.nodes[edge.node], graph_node, input, exchange);
        }
        self.nodes.push(graph_node);
        self.parallelism.push(parallelism);
        Ok(())
    }

    fn sink(
        &mut self,
        id: PlanId,
        sink: &PhysicalSink,
        spec: NodeSpec,
        around: &mut Surroundings,
    ) -> Result<()> {
        let input = &self.plan.node(id).inputs[0];
        let (from, parallelism) = (self.nodes[input.node], spec.parallelism);
        let exchange = self.sink_exchange(id, sink, parallelism);
        let mut last = (from, exchange);
        let schema = &self.plan.node(id).schema;
        let to_table = matches!(sink.sink.target, SinkTarget::Table(_));
        if to_table && ConstraintEnforcer::new(schema, sink.enforcement).is_some() {
            last = (self.enforcer(id, sink, &spec, last), Exchange::Forward);
        }
        let node = match &sink.sink.target {
            SinkTarget::Table(table) => self.graph.sink(
                NodeSpec { output: None, ..spec },
                SinkSpec {
                    sink: table.clone(),
                    static_partitions: sink.sink.static_partitions.clone(),
                    overwrite: sink.sink.overwrite,
                },
            ),
            SinkTarget::Collect => {
                let results = around.results.take().ok_or_else(|| {
                    RuntimeError::internal("Sink", "a collecting sink without a reader")
                })?;
                self.graph.results(NodeSpec { output: None, ..spec }, results)
            }
        };
        self.graph.connect(last.0, node, 0, last.1);
        self.nodes.push(node);
        self.parallelism.push(parallelism);
        Ok(())
    }

    fn enforcer(
        &mut self,
        id: PlanId,
        sink: &PhysicalSink,
        spec: &NodeSpec,
        (from, exchange): (NodeId, Exchange),
    ) -> NodeId {
        let schema = self.plan.node(id).schema.clone();
        let enforcement = sink.enforcement;
        let spec = NodeSpec {
            name: "ConstraintEnforcer".into(),
            uid: format!("{}/enforcer", spec.uid).into(),
            ..spec.clone()
        };
        let node = self.graph.operator(
            spec,
            Arc::new(move |_| match ConstraintEnforcer::new(&schema, enforcement) {
                Some(enforcer) => Ok(Box::new(enforcer)),
                None => Err(RuntimeError::internal("ConstraintEnforcer", "nothing to enforce")),
            }),
        );
        self.graph.connect(from, node, 0, exchange);
        node
    }

    fn spec(&self, id: PlanId, parallelism: usize) -> NodeSpec {
        let node = self.plan.node(id);
        let name = explain::describe(self.plan, id);
        NodeSpec {
            uid: self.uids[id].as_str().into(),
            name: name.into(),
            parallelism,
            output: Some(OutputContract {
                schema: node.schema.to_arrow(),
                mode: node.changelog,
                repeatable: true,
            }),
        }
    }

    fn parallelism_of(&self, id: PlanId, config: &PlannerConfig) -> usize {
        let node = self.plan.node(id);
        let wanted = match &node.op {
            PhysicalOp::Source(scan) => scan.source.parallelism(),
            PhysicalOp::Values(_) => Some(1),
            PhysicalOp::Sink(sink) => match &sink.sink.target {
                SinkTarget::Collect => Some(1),
                SinkTarget::Table(table) => table.parallelism(),
            },
            _ => None,
        };
        if let Some(wanted) = wanted {
            return wanted.max(1);
        }
        let mut of_inputs = None;
        for input in &node.inputs {
            let given = match &input.distribution {
                Distribution::Single => 1,
                Distribution::Hash(_) => config.parallelism,
                Distribution::Any => self.parallelism[input.node],
            };
            // Inputs of different parallelism meet in one task, which keeps their order.
            of_inputs = Some(match of_inputs {
                Some(other) if other != given => 1,
                _ => given,
            });
        }
        of_inputs.unwrap_or(config.parallelism).max(1)
    }

    fn exchange(&self, from: PlanId, distribution: &Distribution, parallelism: usize) -> Exchange {
        match distribution {
            _ if parallelism == 1 && self.parallelism[from] == 1 => Exchange::Forward,
            Distribution::Any if self.parallelism[from] == parallelism => Exchange::Forward,
            _ if parallelism == 1 => Exchange::Single,
            Distribution::Any => Exchange::Rebalance,
            Distribution::Single => Exchange::Single,
            Distribution::Hash(columns) => self.hash(from, columns),
        }
    }

    /// Rows of one key must reach a sink in order, whatever its parallelism.
    fn sink_exchange(&self, id: PlanId, sink: &PhysicalSink, parallelism: usize) -> Exchange {
        let input = &self.plan.node(id).inputs[0];
        let from = self.plan.node(input.node);
        let key = &sink.sink.primary_key;
        let force = sink.keyed_shuffle == KeyedShuffle::Force && !key.is_empty();
        if self.parallelism[input.node] == parallelism && !(force && parallelism > 1) {
            return Exchange::Forward;
        }
        if parallelism == 1 {
            return Exchange::Single;
        }
        if force {
            return self.hash(input.node, key);
        }
        if sink.keyed_shuffle == KeyedShuffle::None {
            return Exchange::Rebalance;
        }
        match from.unique_keys.first() {
            _ if from.changelog.is_insert_only() => Exchange::Rebalance,
            _ if !key.is_empty() => self.hash(input.node, key),
            Some(key) => self.hash(input.node, key),
            None => Exchange::Single,
        }
    }

    fn hash(&self, from: PlanId, columns: &[usize]) -> Exchange {
        let schema = &self.plan.node(from).schema;
        Exchange::Hash {
            columns: columns.to_vec(),
            types: columns.iter().map(|c| schema.fields[*c].data_type.clone()).collect(),
        }
    }
}

impl From<SignatureError> for RuntimeError {
    fn from(error: SignatureError) -> Self {
        Self::operator(error)
    }
}
