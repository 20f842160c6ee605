//! What a job runs, without a plan: nodes, and edges with an exchange each.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::Int64Array;
use flott_catalog::connector::{BadRecordHandler, ScanRequest, TableSink, TableSource};
use flott_types::{ChangelogBatch, DataType};

use crate::Result;
use crate::check::OutputContract;
use crate::context::TaskInfo;
use crate::late::LateFactory;
use crate::operator::Operator;
use crate::results::ResultSender;

/// Sources, operators and sinks, and how rows go from one to the other.
#[derive(Default)]
pub struct JobGraph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
}

/// A node of a [`JobGraph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) usize);

/// What all nodes have.
#[derive(Debug, Clone)]
pub struct NodeSpec {
    /// The name that people see: `GroupAggregate(groupBy=[user], …)`.
    pub name: Arc<str>,
    /// The fingerprint under which state is kept; unique in the job and the same for the same
    /// operator of a later run.
    pub uid: Arc<str>,
    /// The number of parallel tasks.
    pub parallelism: usize,
    /// What the output looks like, for checks in debug builds; `None` for sinks.
    pub output: Option<OutputContract>,
}

/// A scan of a table.
pub struct SourceSpec {
    /// The table.
    pub source: Arc<dyn TableSource>,
    /// What is wanted of it.
    pub request: ScanRequest,
    /// How watermarks are taken from its rows; without it the only watermark is the final one.
    pub watermark: Option<WatermarkStrategy>,
    /// Where bad records go.
    pub bad_records: Arc<dyn BadRecordHandler>,
}

/// How watermarks are taken from the rows of a source.
#[derive(Clone)]
pub struct WatermarkStrategy {
    /// Makes the function that gives each row's watermark.
    pub values: WatermarkFactory,
    /// A split that gives no row for so long holds nobody back; zero means never
    /// (`scan.watermark.idle-timeout`, `table.exec.source.idle-timeout`).
    pub idle_timeout: Duration,
}

/// Makes a [`WatermarkFn`] for one task.
pub type WatermarkFactory = Arc<dyn Fn(&TaskInfo) -> Result<WatermarkFn> + Send + Sync>;

/// The watermark after each row of a batch, in milliseconds since the epoch; NULL leaves it as it is.
pub type WatermarkFn = Box<dyn FnMut(&ChangelogBatch) -> Result<Int64Array> + Send>;

/// Makes an operator for one task.
pub type OperatorFactory = Arc<dyn Fn(&TaskInfo) -> Result<Box<dyn Operator>> + Send + Sync>;

/// A table that is written.
pub struct SinkSpec {
    /// The table.
    pub sink: Arc<dyn TableSink>,
    /// Values of static partitions, as text.
    pub static_partitions: Vec<(String, String)>,
    /// Whether what the table holds is replaced.
    pub overwrite: bool,
}

/// How rows go from the tasks of one node to those of the next.
#[derive(Debug, Clone, PartialEq)]
pub enum Exchange {
    /// From each task to the one of the same number, by a direct call where possible; between
    /// nodes of different parallelism the same as [`Exchange::Rebalance`].
    Forward,
    /// To the task that owns the key.
    Hash {
        /// The key's columns.
        columns: Vec<usize>,
        /// Their types.
        types: Vec<DataType>,
    },
    /// To every task.
    Broadcast,
    /// To the first task.
    Single,
    /// Batch by batch to the next task.
    Rebalance,
}

pub(crate) struct Node {
    pub spec: NodeSpec,
    pub kind: NodeKind,
}

pub(crate) enum NodeKind {
    Source(SourceSpec),
    Operator(OperatorFactory),
    Sink(SinkSpec),
    Results(ResultSender),
}

pub(crate) struct Edge {
    pub from: usize,
    pub to: usize,
    pub input: usize,
    pub exchange: Exchange,
    /// That it carries what came late at `from`, and how that becomes rows.
    pub late: Option<LateFactory>,
}

impl JobGraph {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name and the fingerprint of each node.
    pub fn operators(&self) -> impl Iterator<Item = (&str, &str)> {
        self.nodes.iter().map(|node| (&*node.spec.name, &*node.spec.uid))
    }

    /// Adds a source.
    pub fn source(&mut self, node: NodeSpec, source: SourceSpec) -> NodeId {
        self.add(node, NodeKind::Source(source))
    }

    /// Adds an operator.
    pub fn operator(&mut self, node: NodeSpec, factory: OperatorFactory) -> NodeId {
        self.add(node, NodeKind::Operator(factory))
    }

    /// Adds a sink.
    pub fn sink(&mut self, node: NodeSpec, sink: SinkSpec) -> NodeId {
        self.add(node, NodeKind::Sink(sink))
    }

    /// Adds a sink that hands batches to the program, see [`results`](crate::results).
    pub fn results(&mut self, node: NodeSpec, sender: ResultSender) -> NodeId {
        self.add(node, NodeKind::Results(sender))
    }

    /// Leads the rows of `from` into input `input` of `to`, inputs being numbered from 0. A node
    /// may feed several, and an input may be fed by several nodes: that is UNION ALL.
    pub fn connect(&mut self, from: NodeId, to: NodeId, input: usize, exchange: Exchange) {
        self.edges.push(Edge { from: from.0, to: to.0, input, exchange, late: None });
    }

    /// Leads the rows that an operator drops because they come late into the first input of `to`, turned
    /// by what `late` makes. An operator has one such edge at most.
    pub fn connect_late(
        &mut self,
        from: NodeId,
        to: NodeId,
        exchange: Exchange,
        late: LateFactory,
    ) {
        let late = Some(late);
        self.edges.push(Edge { from: from.0, to: to.0, input: 0, exchange, late });
    }

    fn add(&mut self, spec: NodeSpec, kind: NodeKind) -> NodeId {
        self.nodes.push(Node { spec, kind });
        NodeId(self.nodes.len() - 1)
    }
}
