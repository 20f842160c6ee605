//! Takes checkpoints of a job, commits what its sinks prepared, and knows when it is over.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{Committable, Committer, TableSink};
use flott_disk::crash_point;

use crate::checkpoint::{
    Barrier, Checkpoint, CheckpointKind, CheckpointStore, OperatorState, SourceState, TaskSnapshot,
    write_savepoint,
};
use crate::config::JobConfig;
use crate::control::JobControl;
use crate::events::{CheckpointRequest, Message, TaskEvent};
use crate::source::SplitQueue;
use crate::{CheckpointProblem, Result, RuntimeError};

/// One a job. It is told what happens and never waits by itself, so that any scheduler can drive it.
pub(crate) struct Coordinator {
    sources: BTreeMap<Arc<str>, Arc<SplitQueue>>,
    sinks: BTreeMap<Arc<str>, Sink>,
    /// The number of tasks of each operator, by fingerprint.
    parallelism: BTreeMap<Arc<str>, usize>,
    running: Vec<bool>,
    next_id: u64,
    current: Option<Pending>,
    /// Checkpoints to take when the current one is complete.
    waiting: VecDeque<CheckpointRequest>,
    store: Option<Arc<dyn CheckpointStore>>,
    /// Whether sinks wait with their last commit for a checkpoint.
    checkpointing: bool,
    /// Of checkpoints that take too long or cannot be kept: how many may follow each other.
    tolerable: u32,
    timeout: Duration,
    failed: u32,
    /// What tasks gave for checkpoints that could not be kept, since the last one that was: by the
    /// operator's fingerprint and the task. What they give next may build on it.
    unpublished: BTreeMap<(Arc<str>, usize), OperatorState>,
    has_kept: bool,
    control: Arc<JobControl>,
}

/// What the coordinator knows of a sink.
struct Sink {
    name: Arc<str>,
    committer: Option<Box<dyn Committer>>,
    open_writers: usize,
    /// What writers prepared at their end and no checkpoint holds yet.
    ended: Vec<Committable>,
    /// What savepoints hold, and checkpoints that may be there although the store failed: a job that resumes
    /// from one commits it, so it is never removed.
    held: Vec<Committable>,
    done: bool,
}

/// A checkpoint that is being taken.
struct Pending {
    checkpoint: Checkpoint,
    /// The tasks that have given their part; those that ended before need not.
    given: Vec<bool>,
    request: Option<CheckpointRequest>,
}

impl Coordinator {
    pub fn new(
        tasks: usize,
        parallelism: BTreeMap<Arc<str>, usize>,
        config: &JobConfig,
        control: Arc<JobControl>,
    ) -> Self {
        let store = config.checkpoints.clone();
        let checkpointing = store.is_some() || config.checkpoint_interval.is_some();
        Self {
            sources: BTreeMap::new(),
            sinks: BTreeMap::new(),
            parallelism,
            running: vec![true; tasks],
            next_id: 1,
            current: None,
            waiting: VecDeque::new(),
            store,
            checkpointing,
            tolerable: config.tolerable_failed_checkpoints,
            timeout: config.checkpoint_timeout,
            failed: 0,
            unpublished: BTreeMap::new(),
            has_kept: false,
            control,
        }
    }

    pub fn add_source(&mut self, uid: Arc<str>, queue: Arc<SplitQueue>) {
        self.sources.insert(uid, queue);
    }

    pub fn add_sink(
        &mut self,
        uid: Arc<str>,
        name: Arc<str>,
        sink: &dyn TableSink,
        writers: usize,
    ) -> Result<()> {
        let committer = sink.committer().map_err(|error| RuntimeError::from(error).at(&name))?;
        let sink = Sink {
            name,
            committer,
            open_writers: writers,
            ended: Vec::new(),
            held: Vec::new(),
            done: false,
        };
        self.sinks.insert(uid, sink);
        Ok(())
    }

    /// Commits what the checkpoint that is resumed from holds, in case that did not happen.
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.next_id = checkpoint.id + 1;
        for (uid, committables) in &checkpoint.committables {
            if let Some(sink) = self.sinks.get_mut(uid) {
                sink.commit(committables.clone(), false)?;
            }
        }
        crash_point("resumed");
        Ok(())
    }

    /// Takes note of a message. What goes wrong ends the job.
    pub fn handle(&mut self, message: Message) {
        let done = match message {
            Message::Task(event) => self.event(event),
            Message::Take(request) => self.begin(Some(request)),
        };
        if let Err(error) = done {
            self.control.fail(error);
        }
    }

    /// Begins a checkpoint unless one is under way or there is nothing left to take.
    pub fn trigger(&mut self) {
        if let Err(error) = self.begin(None) {
            self.control.fail(error);
        }
    }

    /// The checkpoint under way takes too long. It goes on, but counts as failed.
    pub fn overdue(&mut self) {
        let Some(id) = self.current.as_ref().map(|pending| pending.checkpoint.id) else { return };
        let problem = CheckpointProblem::Timeout(self.timeout);
        if let Err(error) = self.tolerate(RuntimeError::Checkpoint { id, problem }) {
            self.control.fail(error);
        }
    }

    /// Takes note of a failed checkpoint; one too many is the job's failure.
    fn tolerate(&mut self, error: RuntimeError) -> Result<()> {
        self.failed += 1;
        if self.failed > self.tolerable {
            return Err(error);
        }
        tracing::warn!(%error, failed = self.failed, tolerable = self.tolerable, "a checkpoint failed");
        Ok(())
    }

    /// Whether every task is over.
    pub fn is_over(&self) -> bool {
        !self.running.contains(&true)
    }

    /// Whether the store has a checkpoint of this attempt.
    pub fn has_kept(&self) -> bool {
        self.has_kept
    }

    /// Whether a checkpoint is being taken.
    pub fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Commits or removes what is left when every task is over.
    pub fn close(&mut self) {
        for request in self.waiting.drain(..) {
            let problem = CheckpointProblem::NotNow;
            let error = RuntimeError::Checkpoint { id: self.next_id, problem };
            let _ = request.reply.send(Err(error));
        }
        if self.control.is_cancelled() {
            self.abort();
        } else if let Err(error) = self.commit_rest() {
            self.control.fail(error);
            self.abort();
        }
    }

    fn event(&mut self, event: TaskEvent) -> Result<()> {
        match event {
            TaskEvent::Snapshot { task, checkpoint, snapshot } => {
                self.part(task, checkpoint, snapshot)
            }
            TaskEvent::SinkEnded { sink, task, committables } => {
                self.sink_ended(&sink, task, committables)
            }
            TaskEvent::Finished { task, .. } => {
                self.running[task] = false;
                self.complete_if_whole()
            }
            TaskEvent::Failed { task, error } => {
                self.running[task] = false;
                Err(error)
            }
        }
    }

    fn begin(&mut self, request: Option<CheckpointRequest>) -> Result<()> {
        if self.current.is_some() || self.is_over() || self.control.is_cancelled() {
            match request {
                // Whoever asks while another is being taken gets the next.
                Some(request) if self.current.is_some() && !self.control.is_cancelled() => {
                    self.waiting.push_back(request);
                }
                Some(request) => {
                    let (id, problem) = (self.next_id, CheckpointProblem::NotNow);
                    let _ = request.reply.send(Err(RuntimeError::Checkpoint { id, problem }));
                }
                None => {}
            }
            return Ok(());
        }
        let kind = request.as_ref().map_or(CheckpointKind::Checkpoint, |request| request.kind);
        let id = self.next_id;
        self.next_id += 1;
        let mut checkpoint = Checkpoint { id, kind, ..Checkpoint::default() };
        for (uid, sink) in &mut self.sinks {
            checkpoint.committables.insert(uid.clone(), std::mem::take(&mut sink.ended));
        }
        let given = vec![false; self.running.len()];
        let barrier = Barrier { checkpoint: id, kind };
        for (uid, queue) in &self.sources {
            checkpoint.sources.insert(uid.clone(), queue.begin_checkpoint(barrier));
        }
        self.current = Some(Pending { checkpoint, given, request });
        crash_point("checkpoint begun");
        Ok(())
    }

    fn part(&mut self, task: usize, checkpoint: u64, snapshot: TaskSnapshot) -> Result<()> {
        let Some(pending) = self.current.as_mut().filter(|p| p.checkpoint.id == checkpoint) else {
            return Ok(());
        };
        pending.given[task] = true;
        crash_point("part given");
        let whole = &mut pending.checkpoint;
        for (uid, state) in snapshot.operators {
            let states = whole.operators.entry(uid.clone()).or_default();
            states.parallelism = self.parallelism.get(&uid).copied().unwrap_or(1);
            states.tasks.push(state);
        }
        if let Some((uid, state)) = snapshot.source {
            whole.sources.entry(uid).or_insert_with(SourceState::default).tasks.push(state);
        }
        for (uid, committables) in snapshot.committables {
            whole.committables.entry(uid).or_default().extend(committables);
        }
        self.complete_if_whole()
    }

    fn sink_ended(&mut self, uid: &str, task: usize, committables: Vec<Committable>) -> Result<()> {
        let Some(sink) = self.sinks.get_mut(uid) else { return Ok(()) };
        sink.open_writers -= 1;
        match &mut self.current {
            // The task ended before the barrier came: its end belongs to the checkpoint.
            Some(pending) if !pending.given[task] => {
                let of = pending.checkpoint.committables.entry(uid.into()).or_default();
                of.extend(committables);
            }
            _ => sink.ended.extend(committables),
        }
        if !self.checkpointing && sink.open_writers == 0 && self.current.is_none() {
            let committables = std::mem::take(&mut sink.ended);
            sink.commit(committables, true)?;
        }
        Ok(())
    }

    fn complete_if_whole(&mut self) -> Result<()> {
        let whole = self.current.take_if(|pending| {
            !self.running.iter().zip(&pending.given).any(|(running, given)| *running && !given)
        });
        let Some(Pending { mut checkpoint, request, .. }) = whole else { return Ok(()) };
        for states in checkpoint.operators.values_mut() {
            states.tasks.sort_by_key(|state| state.task);
        }
        if checkpoint.kind == CheckpointKind::Checkpoint {
            self.add_unpublished(&mut checkpoint)?;
        }
        let checkpoint = Arc::new(checkpoint);
        let Some(request) = request else {
            let done = self.publish(&checkpoint);
            if let Some(next) = self.waiting.pop_front() {
                self.begin(Some(next))?;
            }
            return done;
        };
        let done = match checkpoint.kind {
            CheckpointKind::Checkpoint => self.publish(&checkpoint),
            CheckpointKind::Savepoint => self.savepoint(&checkpoint, &request),
        };
        let stops = request.stop && done.is_ok();
        let _ = request.reply.send(done.clone().map(|()| checkpoint.clone()));
        if stops {
            self.control.cancel();
        } else if let Some(next) = self.waiting.pop_front() {
            self.begin(Some(next))?;
        }
        if checkpoint.kind == CheckpointKind::Savepoint { Ok(()) } else { done }
    }

    /// Writes a savepoint. What it holds is committed only if the job ends with it: otherwise the
    /// job may yet restart from an earlier checkpoint and prepare the same again. A savepoint that
    /// cannot be written is the trouble of whoever wanted it, a commit that fails is the job's.
    fn savepoint(&mut self, checkpoint: &Checkpoint, request: &CheckpointRequest) -> Result<()> {
        let written = match &request.target {
            Some(folder) => write_savepoint(checkpoint, folder),
            None => Ok(()),
        };
        let is_written = written.is_ok();
        let may_be_there = written.as_ref().err().is_none_or(RuntimeError::is_doubtful);
        for (uid, committables) in &checkpoint.committables {
            let Some(sink) = self.sinks.get_mut(uid) else { continue };
            if is_written && request.stop {
                let committed = sink.commit(committables.clone(), false);
                committed.inspect_err(|error| self.control.fail(error.clone()))?;
                continue;
            }
            sink.ended.splice(0..0, committables.iter().cloned());
            if may_be_there {
                sink.held.extend(committables.iter().cloned());
            }
        }
        written
    }

    /// Puts what could not be kept before the states that build on it.
    fn add_unpublished(&mut self, checkpoint: &mut Checkpoint) -> Result<()> {
        for (uid, states) in &mut checkpoint.operators {
            for state in &mut states.tasks {
                if let Some(before) = self.unpublished.remove(&(uid.clone(), state.task)) {
                    *state = before.followed_by(state)?;
                }
            }
        }
        self.unpublished.clear();
        Ok(())
    }

    /// Keeps a checkpoint, then commits what it holds. What one that cannot be kept holds is
    /// committed with the next.
    fn publish(&mut self, checkpoint: &Arc<Checkpoint>) -> Result<()> {
        let kept = self.store.as_ref().map_or(Ok(()), |store| store.publish(checkpoint.clone()));
        if let Err(error) = kept {
            for (uid, states) in &checkpoint.operators {
                let tasks = states.tasks.iter();
                self.unpublished
                    .extend(tasks.map(|state| ((uid.clone(), state.task), state.clone())));
            }
            for (uid, committables) in &checkpoint.committables {
                if let Some(sink) = self.sinks.get_mut(uid) {
                    sink.ended.splice(0..0, committables.iter().cloned());
                    if error.is_doubtful() {
                        sink.held.extend(committables.iter().cloned());
                    }
                }
            }
            return self.tolerate(error);
        }
        self.failed = 0;
        self.has_kept |= self.store.is_some();
        for (uid, committables) in &checkpoint.committables {
            if let Some(sink) = self.sinks.get_mut(uid) {
                sink.commit(committables.clone(), false)?;
            }
        }
        self.sources.values().for_each(|queue| queue.complete_checkpoint(checkpoint.id));
        Ok(())
    }

    /// The job has read and written everything: a last checkpoint says so, then the rest is
    /// committed.
    fn commit_rest(&mut self) -> Result<()> {
        let id = self.next_id;
        if let Some(store) = &self.store {
            let mut last = Checkpoint { id, ..Checkpoint::default() };
            let barrier = Barrier { checkpoint: id, kind: last.kind };
            for (uid, queue) in &self.sources {
                last.sources.insert(uid.clone(), queue.begin_checkpoint(barrier));
            }
            for (uid, sink) in &self.sinks {
                last.committables.insert(uid.clone(), sink.ended.clone());
            }
            let kept = store.publish(Arc::new(last));
            // Whoever resumes from it commits what it holds, also if that fails here.
            if kept.as_ref().err().is_none_or(RuntimeError::is_doubtful) {
                for sink in self.sinks.values_mut() {
                    sink.held.extend(sink.ended.iter().cloned());
                }
            }
            kept?;
            crash_point("last checkpoint published");
        }
        for sink in self.sinks.values_mut().filter(|sink| !sink.done) {
            let committables = std::mem::take(&mut sink.ended);
            sink.commit(committables, true)?;
        }
        Ok(())
    }

    /// Removes what was prepared and belongs to no checkpoint that was kept.
    fn abort(&mut self) {
        let mut lost = self.current.take().map(|pending| pending.checkpoint.committables);
        for (uid, sink) in &mut self.sinks {
            let mut committables = std::mem::take(&mut sink.ended);
            let of_current = lost.as_mut().and_then(|lost| lost.remove(uid));
            committables.extend(of_current.unwrap_or_default());
            committables.retain(|committable| !sink.held.contains(committable));
            let Some(committer) = &mut sink.committer else { continue };
            if let Err(error) = committer.abort(committables) {
                tracing::warn!(sink = &*sink.name, %error, "could not remove what was prepared");
            }
        }
    }
}

impl Sink {
    fn commit(&mut self, committables: Vec<Committable>, end_of_input: bool) -> Result<()> {
        self.done |= end_of_input;
        self.held.retain(|committable| !committables.contains(committable));
        match &mut self.committer {
            Some(committer) if end_of_input || !committables.is_empty() => committer
                .commit(committables, end_of_input)
                .map_err(|error| RuntimeError::from(error).at(&self.name)),
            _ => Ok(()),
        }
    }
}
