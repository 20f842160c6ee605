//! A job that runs: its status, its counters, and how to end it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::checkpoint::{Checkpoint, CheckpointKind};
use crate::config::JobConfig;
use crate::control::JobControl;
use crate::element::EndOfInput;
use crate::events::{CheckpointRequest, EventSender};
use crate::graph::NodeSpec;
use crate::metrics::{OperatorCounts, OperatorMetrics, SourceMetrics, SplitProgress};
use crate::{CheckpointProblem, Result, RuntimeError};

/// A job under way; cheap to clone. Dropping it leaves the job running.
#[derive(Clone)]
pub struct JobHandle(pub(crate) Arc<JobCell>);

/// What a job is seen through: the attempt that runs, and how the job ended.
pub(crate) struct JobCell {
    pub attempt: Mutex<Attempt>,
    pub restarts: AtomicUsize,
    pub wish: Wish,
    pub outcome: OutcomeCell,
    /// The folder of its checkpoints.
    pub folder: Option<PathBuf>,
}

/// One run of a job from its start or from a checkpoint.
#[derive(Clone)]
pub(crate) struct Attempt {
    pub control: Arc<JobControl>,
    pub metrics: Arc<MetricsRegistry>,
    pub events: EventSender,
}

/// What the job's user wants of it, whichever attempt runs.
#[derive(Default)]
pub(crate) struct Wish(Mutex<Option<End>>, Condvar);

/// How a user ends a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Cancel,
    Stop,
}

impl Wish {
    fn set(&self, end: End) {
        let mut wish = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A job that was cancelled stays so.
        if *wish != Some(End::Cancel) {
            *wish = Some(end);
        }
        self.1.notify_all();
    }

    /// Waits at most `time` for the job's end to be wanted.
    pub fn within(&self, time: Duration) -> Option<End> {
        let wish = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.1.wait_timeout_while(wish, time, |wish| wish.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl JobCell {
    pub fn new(attempt: Attempt, config: &JobConfig) -> Arc<Self> {
        let store = config.checkpoints.as_deref();
        Arc::new(Self {
            folder: store.and_then(|store| store.folder()).map(Path::to_path_buf),
            attempt: Mutex::new(attempt),
            restarts: AtomicUsize::new(0),
            wish: Wish::default(),
            outcome: OutcomeCell::default(),
        })
    }

    /// The attempt that runs.
    pub fn attempt(&self) -> Attempt {
        self.attempt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another attempt takes over; it is ended at once if that was wanted meanwhile.
    pub fn replace(&self, attempt: Attempt) {
        let control = attempt.control.clone();
        *self.attempt.lock().unwrap_or_else(PoisonError::into_inner) = attempt;
        self.restarts.fetch_add(1, Ordering::Relaxed);
        match self.wish.within(Duration::ZERO) {
            Some(End::Cancel) => control.cancel(),
            Some(End::Stop) => control.stop(),
            None => {}
        }
    }
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
        let outcome = self.0.outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = self.0.outcome.1.wait_while(outcome, |outcome| outcome.is_none());
        match &*over.unwrap_or_else(PoisonError::into_inner) {
            Some(outcome) => outcome.clone(),
            None => Err(RuntimeError::Cancelled),
        }
    }

    /// Waits for the end at most `timeout`; whether it came.
    pub fn wait_within(&self, timeout: Duration) -> bool {
        let outcome = self.0.outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.outcome.1.wait_timeout_while(outcome, timeout, |o| o.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }

    /// Ends all tasks at once; what sinks have not committed is removed.
    pub fn cancel(&self) {
        self.0.wish.set(End::Cancel);
        self.0.attempt().control.cancel();
    }

    /// Ends the sources; what they gave is processed and written, then the job is finished.
    pub fn stop(&self) {
        self.0.wish.set(End::Stop);
        self.0.attempt().control.stop();
    }

    /// How many times the job was restarted after a failure.
    pub fn restarts(&self) -> usize {
        self.0.restarts.load(Ordering::Relaxed)
    }

    /// Ends the job with a last checkpoint, which is kept: a job that resumes from it goes on exactly
    /// there.
    pub fn suspend(&self) -> Result<()> {
        self.take(CheckpointKind::Checkpoint, None, true).map(drop)
    }

    /// The folder of the job's checkpoints, if they are kept on disk.
    pub fn checkpoint_folder(&self) -> Option<&Path> {
        self.0.folder.as_deref()
    }

    /// Where the job stands.
    pub fn status(&self) -> JobStatus {
        match &*self.0.outcome.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok(how)) => JobStatus::Finished(*how),
            Some(Err(RuntimeError::Cancelled)) => JobStatus::Cancelled,
            Some(Err(error)) => JobStatus::Failed(error.clone()),
            None if self.0.wish.within(Duration::ZERO) == Some(End::Cancel) => {
                JobStatus::Cancelling
            }
            None => JobStatus::Running,
        }
    }

    /// Takes a checkpoint or savepoint now and waits until it is complete.
    pub fn checkpoint(&self, kind: CheckpointKind) -> Result<Arc<Checkpoint>> {
        self.take(kind, None, false)
    }

    /// Writes a savepoint into a folder, which must not exist, and waits until it is there. With
    /// `stop` the job ends with it: what the savepoint does not hold was not written either, so
    /// that a job that resumes from it goes on exactly there.
    pub fn savepoint(&self, folder: impl Into<PathBuf>, stop: bool) -> Result<()> {
        self.take(CheckpointKind::Savepoint, Some(folder.into()), stop).map(drop)
    }

    fn take(
        &self,
        kind: CheckpointKind,
        target: Option<PathBuf>,
        stop: bool,
    ) -> Result<Arc<Checkpoint>> {
        let (reply, taken) = channel();
        self.0.attempt().events.take(CheckpointRequest { kind, target, stop, reply });
        taken
            .recv()
            .unwrap_or(Err(RuntimeError::Checkpoint { id: 0, problem: CheckpointProblem::NotNow }))
    }

    /// The counters now.
    pub fn metrics(&self) -> JobMetrics {
        self.0.attempt().metrics.report()
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
