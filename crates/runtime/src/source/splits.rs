//! The splits of a source, found once a job and handed to the tasks that read them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flott_catalog::connector::{Split, SplitEnumerator};

use crate::checkpoint::{Barrier, SourceState};
use crate::clock::Sleeper;
use crate::control::JobControl;
use crate::{Result, RuntimeError};

/// Finds splits and hands them out; shared by the tasks of a source.
pub(crate) struct SplitQueue {
    name: Arc<str>,
    state: Mutex<State>,
    /// Something is there to look at again.
    changed: Condvar,
    control: Arc<JobControl>,
    parallelism: usize,
    /// The number of the checkpoint begun last.
    begun: AtomicU64,
    /// The number of the latest checkpoint that is complete.
    complete: AtomicU64,
    /// Counts what a waiting task must look at.
    changes: AtomicU64,
}

struct State {
    enumerator: Box<dyn SplitEnumerator>,
    unassigned: VecDeque<(Split, Option<usize>)>,
    discovery: Discovery,
    /// The task that gets the next split when all are to be read at once.
    next_task: usize,
    barrier: Option<Barrier>,
}

/// When to look for splits again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discovery {
    At(i64),
    Never,
}

/// What a task that asks for splits is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Assignment {
    /// Read these.
    Splits(Vec<Split>),
    /// Take the state for a checkpoint first.
    Barrier(Barrier),
    /// There is none; more may be found at this time.
    Later(i64),
    /// There is none for this task and never will be.
    Never,
}

impl SplitQueue {
    pub fn new(
        name: Arc<str>,
        mut enumerator: Box<dyn SplitEnumerator>,
        unassigned: Vec<(Split, Option<usize>)>,
        parallelism: usize,
        control: &Arc<JobControl>,
    ) -> Arc<Self> {
        enumerator.start(parallelism);
        // A task that was meant for a split may no longer be there.
        let unassigned =
            unassigned.into_iter().map(|(split, task)| (split, task.map(|t| t % parallelism)));
        let queue = Arc::new(Self {
            name,
            state: Mutex::new(State {
                enumerator,
                unassigned: unassigned.collect(),
                discovery: Discovery::At(i64::MIN),
                next_task: 0,
                barrier: None,
            }),
            changed: Condvar::new(),
            control: control.clone(),
            parallelism,
            begun: AtomicU64::new(0),
            complete: AtomicU64::new(0),
            changes: AtomicU64::new(0),
        });
        let sleeper: Arc<dyn Sleeper> = queue.clone();
        control.subscribe(Arc::downgrade(&sleeper));
        queue
    }

    /// Asks for splits: all that task `task` is to read, or the next. A task that has not yet seen
    /// the checkpoint begun last is told of it first, so that no split is handed out between the
    /// two halves of the source's state.
    pub fn request(&self, task: usize, all: bool, seen: u64, now: i64) -> Result<Assignment> {
        let mut state = self.lock();
        if let Some(barrier) = state.barrier.filter(|barrier| barrier.checkpoint > seen) {
            return Ok(Assignment::Barrier(barrier));
        }
        let mut splits = state.take(task, all, self.parallelism);
        if let (true, Discovery::At(time)) = (splits.is_empty() || all, state.discovery)
            && time <= now
        {
            self.discover(&mut state, now)?;
            splits.extend(state.take(task, all, self.parallelism));
        }
        if !splits.is_empty() {
            return Ok(Assignment::Splits(splits));
        }
        Ok(match state.discovery {
            Discovery::At(time) => Assignment::Later(time),
            Discovery::Never => Assignment::Never,
        })
    }

    fn discover(&self, state: &mut State, now: i64) -> Result<()> {
        let found = state.enumerator.discover();
        let found = found.map_err(|error| RuntimeError::from(error).at(&self.name))?;
        let tasks = found.tasks.into_iter().map(|task| Some(task % self.parallelism));
        let tasks = tasks.chain(std::iter::repeat(None));
        state.unassigned.extend(found.splits.into_iter().zip(tasks));
        state.discovery = match found.again_after {
            Some(after) => Discovery::At(now.saturating_add(after.as_millis() as i64)),
            None => Discovery::Never,
        };
        self.changes.fetch_add(1, Ordering::Release);
        self.changed.notify_all();
        Ok(())
    }

    /// Counts everything that a task should look at: found splits, checkpoints, the job's end.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Waits until there have been more than `seen` changes or the time is over.
    pub fn wait(&self, seen: u64, at_most: Option<Duration>) {
        let state = self.lock();
        let asleep = |_: &mut State| self.changes() == seen && !self.control.is_cancelled();
        match at_most {
            None => drop(self.changed.wait_while(state, asleep)),
            Some(time) => drop(self.changed.wait_timeout_while(state, time, asleep)),
        }
    }

    /// Begins a checkpoint: what is remembered here is its first half, what the tasks were reading
    /// when they saw it the second.
    pub fn begin_checkpoint(&self, barrier: Barrier) -> SourceState {
        let mut state = self.lock();
        state.barrier = Some(barrier);
        self.begun.store(barrier.checkpoint, Ordering::Release);
        let first = SourceState {
            enumerator: state.enumerator.snapshot(),
            unassigned: state.unassigned.iter().cloned().collect(),
            tasks: Vec::new(),
            parallelism: self.parallelism,
        };
        drop(state);
        self.wake();
        first
    }

    /// The checkpoint that a task which has seen `seen` must take part in.
    pub fn barrier(&self, seen: u64) -> Option<Barrier> {
        if self.begun.load(Ordering::Acquire) <= seen {
            return None;
        }
        self.lock().barrier
    }

    /// Says that a checkpoint is complete.
    pub fn complete_checkpoint(&self, checkpoint: u64) {
        self.complete.store(checkpoint, Ordering::Release);
        self.wake();
    }

    /// The latest checkpoint that is complete, 0 before the first.
    pub fn completed(&self) -> u64 {
        self.complete.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sleeper for SplitQueue {
    fn wake(&self) {
        // Under the lock, so that a task cannot miss it between looking and waiting.
        let state = self.lock();
        self.changes.fetch_add(1, Ordering::Release);
        drop(state);
        self.changed.notify_all();
    }
}

impl State {
    fn take(&mut self, task: usize, all: bool, parallelism: usize) -> Vec<Split> {
        if all {
            for (_, of) in &mut self.unassigned {
                if of.is_none() {
                    *of = Some(self.next_task);
                    self.next_task = (self.next_task + 1) % parallelism;
                }
            }
        }
        let mine = |of: &Option<usize>| of.is_none_or(|of| of == task);
        if !all {
            let next = self.unassigned.iter().position(|(_, of)| mine(of));
            return next
                .and_then(|next| self.unassigned.remove(next))
                .map(|(s, _)| s)
                .into_iter()
                .collect();
        }
        let (taken, left) = self.unassigned.drain(..).partition(|(_, of)| mine(of));
        self.unassigned = left;
        let taken: VecDeque<_> = taken;
        taken.into_iter().map(|(split, _)| split).collect()
    }
}
