//! A job that runs: its status, its counters, and how to end it.

use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::checkpoint::{Checkpoint, CheckpointKind};
use crate::control::JobControl;
use crate::element::EndOfInput;
use crate::events::EventSender;
use crate::graph::NodeSpec;
use crate::metrics::{OperatorCounts, OperatorMetrics, SourceMetrics, SplitProgress};
use crate::{CheckpointProblem, Result, RuntimeError};

/// A job under way; cheap to clone. Dropping it leaves the job running.
#[derive(Clone)]
pub struct JobHandle {
    pub(crate) control: Arc<JobControl>,
    pub(crate) metrics: Arc<MetricsRegistry>,
    pub(crate) events: EventSender,
    pub(crate) outcome: Arc<OutcomeCell>,
}

/// Where a job stands, in Flink's words.
#[derive(Debug, Clone)]
pub enum JobStatus {
    /// It runs.
    Running,
    /// It is being ended.
    Cancelling,
    /// It has read and written everything, or was stopped and has written what it had read.
    Finished(EndOfInput),
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed(RuntimeError),
}

/// The counters of a job at one moment.
#[derive(Debug, Clone, Default)]
pub struct JobMetrics {
    /// Sources, operators and sinks in the order in which rows flow.
    pub operators: Vec<OperatorReport>,
}

/// The counters of one source, operator or sink.
#[derive(Debug, Clone)]
pub struct OperatorReport {
    /// Its name.
    pub name: Arc<str>,
    /// Its fingerprint.
    pub uid: Arc<str>,
    /// The counters of each task.
    pub tasks: Vec<OperatorCounts>,
    /// Of sources: the splits under way.
    pub splits: Vec<SplitProgress>,
    /// Of sources: the bytes read, as far as the connector tells.
    pub bytes: u64,
}

impl JobHandle {
    /// Waits for the end. `Err` is why the job failed, or [`RuntimeError::Cancelled`].
    pub fn wait(&self) -> Result<EndOfInput> {
        let outcome = self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = self.outcome.1.wait_while(outcome, |outcome| outcome.is_none());
        match &*over.unwrap_or_else(PoisonError::into_inner) {
            Some(outcome) => outcome.clone(),
            None => Err(RuntimeError::Cancelled),
        }
    }

    /// Waits for the end at most `timeout`; whether it came.
    pub fn wait_within(&self, timeout: Duration) -> bool {
        let outcome = self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.outcome.1.wait_timeout_while(outcome, timeout, |o| o.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }

    /// Ends all tasks at once; what sinks have not committed is removed.
    pub fn cancel(&self) {
        self.control.cancel();
    }

    /// Ends the sources; what they gave is processed and written, then the job is finished.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Where the job stands.
    pub fn status(&self) -> JobStatus {
        match &*self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok(how)) => JobStatus::Finished(*how),
            Some(Err(RuntimeError::Cancelled)) => JobStatus::Cancelled,
            Some(Err(error)) => JobStatus::Failed(error.clone()),
            None if self.control.is_cancelled() => JobStatus::Cancelling,
            None => JobStatus::Running,
        }
    }

    /// Takes a checkpoint or savepoint now and waits until it is complete.
    pub fn checkpoint(&self, kind: CheckpointKind) -> Result<Arc<Checkpoint>> {
        let (reply, taken) = channel();
        self.events.take(kind, reply);
        taken
            .recv()
            .unwrap_or(Err(RuntimeError::Checkpoint { id: 0, problem: CheckpointProblem::NotNow }))
    }

    /// The counters now.
    pub fn metrics(&self) -> JobMetrics {
        self.metrics.report()
    }
}

impl OperatorReport {
    /// The counters of all tasks together; the watermark is the lowest.
    pub fn total(&self) -> OperatorCounts {
        let sum = |of: fn(&OperatorCounts) -> u64| self.tasks.iter().map(of).sum();
        OperatorCounts {
            rows_in: sum(|task| task.rows_in),
            rows_out: sum(|task| task.rows_out),
            late_rows: sum(|task| task.late_rows),
            state_bytes: sum(|task| task.state_bytes),
            watermark: self.tasks.iter().map(|task| task.watermark).min().flatten(),
        }
    }

    /// The split that holds the watermark back most.
    pub fn slowest_split(&self) -> Option<&SplitProgress> {
        self.splits.iter().min_by_key(|split| split.watermark)
    }
}

/// How a job ended, once it has.
#[derive(Default)]
pub(crate) struct OutcomeCell(Mutex<Option<Result<EndOfInput>>>, Condvar);

impl OutcomeCell {
    /// Settles how the job ended and tells everybody who waits.
    pub fn settle(&self, outcome: Result<EndOfInput>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.1.notify_all();
    }
}

/// The live counters of a job.
#[derive(Default)]
pub(crate) struct MetricsRegistry {
    pub operators: Vec<OperatorEntry>,
}

pub(crate) struct OperatorEntry {
    pub node: usize,
    pub task: usize,
    name: Arc<str>,
    uid: Arc<str>,
    metrics: Arc<OperatorMetrics>,
    source: Option<Arc<SourceMetrics>>,
}

impl MetricsRegistry {
    /// Counters for one task of an operator or sink.
    pub fn operator(&mut self, node: usize, spec: &NodeSpec, task: usize) -> Arc<OperatorMetrics> {
        self.add(node, spec, task, None)
    }

    /// Counters for one task of a source.
    pub fn source(
        &mut self,
        node: usize,
        spec: &NodeSpec,
        task: usize,
    ) -> (Arc<OperatorMetrics>, Arc<SourceMetrics>) {
        let source = Arc::new(SourceMetrics::default());
        (self.add(node, spec, task, Some(source.clone())), source)
    }

    fn add(
        &mut self,
        node: usize,
        spec: &NodeSpec,
        task: usize,
        source: Option<Arc<SourceMetrics>>,
    ) -> Arc<OperatorMetrics> {
        let metrics = Arc::new(OperatorMetrics::default());
        self.operators.push(OperatorEntry {
            node,
            task,
            name: spec.name.clone(),
            uid: spec.uid.clone(),
            metrics: metrics.clone(),
            source,
        });
        metrics
    }

    /// The counters now.
    pub fn report(&self) -> JobMetrics {
        let one = |tasks: &[OperatorEntry]| OperatorReport {
            name: tasks[0].name.clone(),
            uid: tasks[0].uid.clone(),
            tasks: tasks.iter().map(|entry| entry.metrics.counts()).collect(),
            splits: tasks.iter().flat_map(|e| e.source.iter()).flat_map(|s| s.splits()).collect(),
            bytes: tasks.iter().flat_map(|e| e.source.iter()).map(|source| source.bytes()).sum(),
        };
        let by_node = self.operators.chunk_by(|one, other| one.node == other.node);
        JobMetrics { operators: by_node.map(one).collect() }
    }
}
