//! From a graph to tasks: which operators are chained, and which channels join the chains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};

use flott_state::KeyGroupRange;

use crate::chain::Link;
use crate::channel::{ChannelSender, Inbox, Limits};
use crate::check::OutputCheck;
use crate::checkpoint::Checkpoint;
use crate::clock::Sleeper;
use crate::config::JobConfig;
use crate::context::TaskInfo;
use crate::control::JobControl;
use crate::coordinator::Coordinator;
use crate::events::{EventSender, Message};
use crate::exchange::{ExchangeWriter, HashPartitioner, Partitioner};
use crate::gate::InputGate;
use crate::graph::{Edge, Exchange, JobGraph, NodeKind};
use crate::job::{Attempt, MetricsRegistry};
use crate::late::LateOutput;
use crate::outputs::{Output, Outputs};
use crate::results::ResultStage;
use crate::sink::SinkStage;
use crate::source::{SourceTask, SourceTaskParts, SplitQueue};
use crate::stage::Stage;
use crate::task::{OperatorTask, Task, TaskKind};
use crate::{CheckpointProblem, Result, RuntimeError};

/// A job ready to run.
pub(crate) struct BuiltJob {
    pub tasks: Vec<Task>,
    pub coordinator: Coordinator,
    pub messages: Receiver<Message>,
    pub events: EventSender,
    pub control: Arc<JobControl>,
    pub metrics: Arc<MetricsRegistry>,
    pub resumed: Option<Arc<Checkpoint>>,
    pub config: JobConfig,
}

impl BuiltJob {
    /// What the job is seen through while this attempt runs.
    pub fn attempt(&self) -> Attempt {
        Attempt {
            control: self.control.clone(),
            metrics: self.metrics.clone(),
            events: self.events.clone(),
        }
    }
}

/// Builds the tasks of a graph. `waiting` says whether senders wait for room in a channel.
pub(crate) fn build(
    graph: JobGraph,
    config: JobConfig,
    resumed: Option<Arc<Checkpoint>>,
    waiting: bool,
) -> Result<BuiltJob> {
    let order = topological_order(&graph)?;
    validate(&graph, &config)?;
    if let Some(checkpoint) = resumed.as_ref().filter(|_| !config.drop_unknown_state) {
        all_state_is_claimed(&graph, checkpoint)?;
    }
    let (sender, messages) = channel();
    let events = EventSender::new(sender);
    let mut builder = Builder::new(&graph, &config, order, waiting, events.clone());
    let tasks = builder.tasks(resumed.as_deref())?;
    let coordinator = builder.coordinator(tasks.len(), resumed.as_deref())?;
    let (control, metrics) = (builder.control, Arc::new(builder.metrics));
    Ok(BuiltJob { tasks, coordinator, messages, events, control, metrics, resumed, config })
}

/// The nodes so that each comes before those it feeds.
fn topological_order(graph: &JobGraph) -> Result<Vec<usize>> {
    let mut missing: Vec<usize> = vec![0; graph.nodes.len()];
    graph.edges.iter().for_each(|edge| missing[edge.to] += 1);
    let mut order: Vec<usize> = (0..graph.nodes.len()).filter(|n| missing[*n] == 0).collect();
    let mut next = 0;
    while let Some(node) = order.get(next).copied() {
        next += 1;
        for edge in graph.edges.iter().filter(|edge| edge.from == node) {
            missing[edge.to] -= 1;
            if missing[edge.to] == 0 {
                order.push(edge.to);
            }
        }
    }
    if order.len() < graph.nodes.len() {
        return Err(RuntimeError::internal("job graph", "its edges form a cycle"));
    }
    Ok(order)
}

fn validate(graph: &JobGraph, config: &JobConfig) -> Result<()> {
    let mut uids = BTreeSet::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let broken = |problem: &str| Err(RuntimeError::internal(node.spec.name.clone(), problem));
        let inputs: BTreeSet<_> =
            graph.edges.iter().filter(|edge| edge.to == number).map(|edge| edge.input).collect();
        if matches!(node.kind, NodeKind::Source(_)) != inputs.is_empty() {
            return broken("only sources have no input, and all others have");
        }
        if inputs.iter().enumerate().any(|(expected, input)| expected != *input) {
            return broken("its inputs are not numbered through from 0");
        }
        if !uids.insert(node.spec.uid.clone()) {
            return broken("its fingerprint is another operator's too");
        }
        if node.spec.parallelism == 0 || node.spec.parallelism > usize::from(config.max_parallelism)
        {
            return Err(RuntimeError::Parallelism {
                operator: node.spec.name.clone(),
                parallelism: node.spec.parallelism,
                max_parallelism: config.max_parallelism,
            });
        }
        let single = graph.edges.iter().any(|e| e.to == number && e.exchange == Exchange::Single);
        if single && node.spec.parallelism != 1 {
            return broken("it takes everything in one task but has several");
        }
    }
    Ok(())
}

/// A job that resumes must not lose state silently.
fn all_state_is_claimed(graph: &JobGraph, checkpoint: &Checkpoint) -> Result<()> {
    let known: BTreeSet<_> = graph.nodes.iter().map(|node| &node.spec.uid).collect();
    match checkpoint.claims().find(|uid| !known.contains(uid)) {
        None => Ok(()),
        Some(uid) => Err(RuntimeError::Checkpoint {
            id: checkpoint.id,
            problem: CheckpointProblem::UnknownOperator { operator: uid.to_string() },
        }),
    }
}

struct Builder<'a> {
    graph: &'a JobGraph,
    config: &'a JobConfig,
    order: Vec<usize>,
    limits: Limits,
    control: Arc<JobControl>,
    events: EventSender,
    metrics: MetricsRegistry,
    /// The inboxes of the tasks that begin with a node.
    inboxes: Vec<Vec<Arc<Inbox>>>,
    /// The number of the first task that begins with a node.
    first_task: Vec<usize>,
    /// Whether a node, or one that it feeds, must know which row came before which watermark.
    exact: Vec<bool>,
    queues: Vec<Option<Arc<SplitQueue>>>,
    malformed: Arc<AtomicBool>,
}

impl<'a> Builder<'a> {
    fn new(
        graph: &'a JobGraph,
        config: &'a JobConfig,
        order: Vec<usize>,
        waiting: bool,
        events: EventSender,
    ) -> Self {
        let limits = Limits { rows: config.channel_rows, wait: waiting, ..Limits::default() };
        let nodes = graph.nodes.len();
        Self {
            graph,
            config,
            order,
            limits,
            control: Arc::default(),
            events,
            metrics: MetricsRegistry::default(),
            inboxes: vec![Vec::new(); nodes],
            first_task: vec![0; nodes],
            exact: vec![false; nodes],
            queues: vec![None; nodes],
            malformed: Arc::default(),
        }
    }

    /// All tasks, those near the sources first.
    fn tasks(&mut self, resumed: Option<&Checkpoint>) -> Result<Vec<Task>> {
        let heads: Vec<_> = self.order.iter().copied().filter(|n| !self.is_chained(*n)).collect();
        let mut count = 0;
        for head in &heads {
            let parallelism = self.parallelism(*head);
            self.first_task[*head] = count;
            count += parallelism;
            if let NodeKind::Source(_) = self.graph.nodes[*head].kind {
                self.queues[*head] = Some(self.split_queue(*head, resumed)?);
                continue;
            }
            let channels = self.edges_into(*head).map(|edge| self.channels(edge)).sum();
            for _ in 0..parallelism {
                let inbox = Inbox::new(channels, self.limits, &self.control, &self.config.memory);
                let sleeper: Arc<dyn Sleeper> = inbox.clone();
                self.config.clock.subscribe(Arc::downgrade(&sleeper));
                self.inboxes[*head].push(inbox);
            }
        }
        // From the sinks upwards: an exchange must know what the stages after it need.
        let mut tasks = Vec::new();
        for head in heads.iter().rev() {
            for task in (0..self.parallelism(*head)).rev() {
                tasks.push(self.task(*head, task)?);
            }
        }
        tasks.reverse();
        self.metrics.operators.sort_by_key(|entry| {
            (self.order.iter().position(|node| *node == entry.node), entry.task)
        });
        Ok(tasks)
    }

    fn coordinator(&self, tasks: usize, resumed: Option<&Checkpoint>) -> Result<Coordinator> {
        let nodes = self.graph.nodes.iter();
        let parallelism: BTreeMap<_, _> =
            nodes.map(|node| (node.spec.uid.clone(), node.spec.parallelism)).collect();
        let control = self.control.clone();
        let mut coordinator = Coordinator::new(tasks, parallelism, self.config, control);
        for (node, queue) in self.graph.nodes.iter().zip(&self.queues) {
            if let Some(queue) = queue {
                coordinator.add_source(node.spec.uid.clone(), queue.clone());
            }
            if let NodeKind::Sink(sink) = &node.kind {
                let (uid, name) = (node.spec.uid.clone(), node.spec.name.clone());
                coordinator.add_sink(uid, name, &*sink.sink, node.spec.parallelism)?;
            }
        }
        if let Some(checkpoint) = resumed {
            coordinator.resume(checkpoint)?;
        }
        Ok(coordinator)
    }

    fn split_queue(&self, node: usize, resumed: Option<&Checkpoint>) -> Result<Arc<SplitQueue>> {
        let spec = &self.graph.nodes[node].spec;
        let NodeKind::Source(source) = &self.graph.nodes[node].kind else {
            return Err(RuntimeError::internal(spec.name.clone(), "it is no source"));
        };
        let state = resumed.and_then(|checkpoint| checkpoint.sources.get(&spec.uid));
        let remembered = state.map(|state| &state.enumerator[..]);
        let enumerator = source.source.enumerator(&source.request, remembered);
        let enumerator = enumerator.map_err(|error| RuntimeError::from(error).at(&spec.name))?;
        let unassigned = state.map(|state| state.unassigned.clone()).unwrap_or_default();
        let name = spec.name.clone();
        let queue = SplitQueue::new(name, enumerator, unassigned, spec.parallelism, &self.control);
        let sleeper: Arc<dyn Sleeper> = queue.clone();
        self.config.clock.subscribe(Arc::downgrade(&sleeper));
        Ok(queue)
    }

    /// Task `task` of those that begin with a node.
    fn task(&mut self, head: usize, task: usize) -> Result<Task> {
        let node = &self.graph.nodes[head];
        let id = self.first_task[head] + task;
        let info = self.info(head, task);
        let kind = if let NodeKind::Source(source) = &node.kind {
            let Some(queue) = self.queues[head].clone() else {
                return Err(RuntimeError::internal(info.name, "it has no splits"));
            };
            let (metrics, source_metrics) = self.metrics.source(head, &node.spec, task);
            let outputs = self.outputs(head, task, id)?;
            self.exact[head] |= outputs.exact();
            TaskKind::Source(Box::new(SourceTask::new(SourceTaskParts {
                uid: node.spec.uid.clone(),
                id,
                source: source.source.clone(),
                request: source.request.clone(),
                bad_records: source.bad_records.clone(),
                strategy: source.watermark.clone(),
                watermark_interval: self.config.watermark_interval.as_millis() as i64,
                queue,
                outputs,
                info,
                metrics,
                source_metrics,
                control: self.control.clone(),
                events: self.events.clone(),
            })))
        } else {
            let stage = self.stage(head, task, id)?;
            let inputs = self.inputs(head);
            let channels = |input| {
                let edges = self.edges_into(head).filter(move |edge| edge.input == input);
                edges.map(|edge| self.channels(edge)).sum()
            };
            let channels: Vec<usize> = (0..inputs).map(channels).collect();
            let gate = InputGate::new(self.inboxes[head][task].clone(), &channels);
            TaskKind::Operators(Box::new(OperatorTask::new(
                id,
                node.spec.uid.clone(),
                gate,
                stage,
                inputs,
                info,
                self.events.clone(),
                self.control.clone(),
            )))
        };
        Ok(Task { id, name: self.task_name(head, task), kind })
    }

    /// A node, not a source, with everything after it up to the next exchanges.
    fn stage(&mut self, number: usize, task: usize, task_id: usize) -> Result<Box<dyn Stage>> {
        let node = &self.graph.nodes[number];
        let info = self.info(number, task);
        let metrics = self.metrics.operator(number, &node.spec, task);
        let inputs = self.inputs(number);
        let uid = node.spec.uid.clone();
        let stage: Box<dyn Stage> = match &node.kind {
            NodeKind::Source(_) => {
                return Err(RuntimeError::internal(info.name, "a source has no input"));
            }
            NodeKind::Operator(factory) => {
                let outputs = self.outputs(number, task, task_id)?;
                let operator = factory(&info).map_err(|error| error.at(&info.name))?;
                Box::new(Link::new(uid, operator, inputs, outputs, info, metrics))
            }
            NodeKind::Sink(sink) => {
                let events = self.events.clone();
                Box::new(SinkStage::new(uid, sink, inputs, info, task_id, metrics, events))
            }
            NodeKind::Results(sender) => {
                let (sender, control) = (sender.clone(), self.control.clone());
                Box::new(ResultStage::new(sender, control, metrics, self.limits.wait))
            }
        };
        self.exact[number] |= stage.exact();
        Ok(stage)
    }

    /// Everything that a node feeds.
    fn outputs(&mut self, number: usize, task: usize, task_id: usize) -> Result<Outputs> {
        let graph = self.graph;
        let (mut outputs, mut late) = (Vec::new(), None);
        for edge in graph.edges.iter().filter(|edge| edge.from == number) {
            let output = if self.is_chained(edge.to) {
                Output { stage: self.stage(edge.to, task, task_id)?, input: edge.input }
            } else {
                Output { stage: Box::new(self.exchange(edge, task)), input: 0 }
            };
            match &edge.late {
                None => outputs.push(output),
                Some(writers) => {
                    let info = self.info(number, task);
                    late = Some(LateOutput::new(writers(&info)?, output));
                }
            }
        }
        let node = &graph.nodes[number];
        let is_source = matches!(node.kind, NodeKind::Source(_));
        let contract = node.spec.output.clone().filter(|_| cfg!(debug_assertions));
        let check = contract
            .map(|contract| {
                let name = node.spec.name.clone();
                OutputCheck::new(name, contract, is_source, self.malformed.clone())
            })
            .transpose()?;
        Ok(Outputs::new(outputs, check).with_late(late))
    }

    fn exchange(&self, edge: &Edge, task: usize) -> ExchangeWriter {
        let targets = &self.inboxes[edge.to];
        let first = self.first_channel(edge);
        let (targets, channel) = if self.is_straight(edge) {
            (&targets[task..=task], first)
        } else {
            (&targets[..], first + task)
        };
        let senders = targets.iter().map(|inbox| ChannelSender::new(inbox, channel)).collect();
        let partitioner = match &edge.exchange {
            Exchange::Forward if self.is_straight(edge) => Partitioner::One,
            Exchange::Single => Partitioner::One,
            Exchange::Broadcast => Partitioner::Broadcast,
            Exchange::Forward | Exchange::Rebalance => {
                Partitioner::RoundRobin { next: task % targets.len() }
            }
            Exchange::Hash { columns, types } => Partitioner::Hash(HashPartitioner::new(
                columns.clone(),
                types,
                self.config.max_parallelism,
                targets.len(),
            )),
        };
        let timeout = self.config.buffer_timeout.as_millis() as i64;
        let exact = self.exact[edge.to];
        ExchangeWriter::new(partitioner, senders, exact, self.config.clock.clone(), timeout)
    }

    /// Whether a node runs in the task of the one that feeds it.
    fn is_chained(&self, number: usize) -> bool {
        let mut edges = self.edges_into(number);
        let (Some(edge), None) = (edges.next(), edges.next()) else { return false };
        self.config.chaining && self.is_straight(edge)
    }

    /// Whether each task of one end feeds just the one of the same number at the other.
    fn is_straight(&self, edge: &Edge) -> bool {
        edge.exchange == Exchange::Forward
            && self.parallelism(edge.from) == self.parallelism(edge.to)
    }

    /// How many channels an edge makes into each task.
    fn channels(&self, edge: &Edge) -> usize {
        if self.is_straight(edge) { 1 } else { self.parallelism(edge.from) }
    }

    /// The number of an edge's first channel; channels are numbered by input, then by edge.
    fn first_channel(&self, edge: &Edge) -> usize {
        let before = self.edges_into(edge.to).take_while(|other| !std::ptr::eq(*other, edge));
        before.map(|other| self.channels(other)).sum()
    }

    /// The edges into a node, by input.
    fn edges_into(&self, number: usize) -> impl Iterator<Item = &'a Edge> + use<'a> {
        let graph = self.graph;
        let mut edges: Vec<_> = graph.edges.iter().filter(|edge| edge.to == number).collect();
        edges.sort_by_key(|edge| edge.input);
        edges.into_iter()
    }

    fn inputs(&self, number: usize) -> usize {
        self.edges_into(number).map(|edge| edge.input + 1).max().unwrap_or(0)
    }

    fn parallelism(&self, number: usize) -> usize {
        self.graph.nodes[number].spec.parallelism
    }

    fn info(&self, number: usize, task: usize) -> TaskInfo {
        let spec = &self.graph.nodes[number].spec;
        let (groups, tasks) = (self.config.max_parallelism, spec.parallelism as u16);
        TaskInfo {
            name: spec.name.clone(),
            task,
            parallelism: spec.parallelism,
            max_parallelism: groups,
            key_groups: KeyGroupRange::of_task(groups, tasks, task as u16),
            zone: self.config.zone.clone(),
            clock: self.config.clock.clone(),
            memory: self.config.memory.clone(),
            job_id: self.config.job_id.clone(),
        }
    }

    /// The names of what is chained, and the number of the task among its likes.
    fn task_name(&self, head: usize, task: usize) -> Arc<str> {
        let mut name = self.graph.nodes[head].spec.name.to_string();
        let mut last = head;
        while let Some(edge) =
            self.graph.edges.iter().find(|edge| edge.from == last && edge.late.is_none())
            && self.is_chained(edge.to)
        {
            last = edge.to;
            name.push_str(" -> ");
            name.push_str(&self.graph.nodes[last].spec.name);
        }
        format!("{name} ({}/{})", task + 1, self.parallelism(head)).into()
    }
}
