//! Results of a query on their way to the program that asked for them.
//!
//! Batches come in order. A reader that is slow holds the job back; one that goes away ends it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flott_types::ChangelogBatch;

use crate::checkpoint::{Barrier, Checkpoint, TaskSnapshot};
use crate::clock::Sleeper;
use crate::control::JobControl;
use crate::element::{EndOfInput, MarkedBatch};
use crate::metrics::OperatorMetrics;
use crate::stage::Stage;
use crate::{Result, RuntimeError};

/// A channel for results that holds about `capacity` rows before the job waits for its reader.
pub fn results(capacity: usize) -> (ResultSender, Results) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State { senders: 1, ..State::default() }),
        changed: Condvar::new(),
        capacity,
    });
    (ResultSender(shared.clone()), Results(shared))
}

/// The job's end, given to [`JobGraph::results`](crate::JobGraph::results).
pub struct ResultSender(Arc<Shared>);

/// The reader's end; dropping it cancels the job.
pub struct Results(Arc<Shared>);

/// What a reader finds within some time.
#[derive(Debug)]
pub enum NextResult {
    /// Rows.
    Batch(ChangelogBatch),
    /// Nothing yet.
    Pending,
    /// Nothing more will come; whether the job succeeded is the job's to say.
    End,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    capacity: usize,
}

#[derive(Default)]
struct State {
    batches: VecDeque<ChangelogBatch>,
    rows: usize,
    senders: usize,
    abandoned: bool,
}

impl Results {
    /// The next rows, waiting for them; `None` when nothing more will come.
    pub fn next(&self) -> Option<ChangelogBatch> {
        let waiting = |state: &mut State| state.batches.is_empty() && state.senders > 0;
        let state = self.0.changed.wait_while(self.0.lock(), waiting);
        self.0.pop(&mut state.unwrap_or_else(PoisonError::into_inner))
    }

    /// The next rows, waiting for them at most `timeout`.
    pub fn next_within(&self, timeout: Duration) -> NextResult {
        let deadline = Instant::now() + timeout;
        let mut state = self.0.lock();
        while state.batches.is_empty() && state.senders > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return NextResult::Pending;
            }
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.0.pop(&mut state).map_or(NextResult::End, NextResult::Batch)
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        self.0.lock().abandoned = true;
        self.0.changed.notify_all();
    }
}

impl Clone for ResultSender {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(self.0.clone())
    }
}

impl Drop for ResultSender {
    fn drop(&mut self) {
        self.0.lock().senders -= 1;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self, state: &mut State) -> Option<ChangelogBatch> {
        let batch = state.batches.pop_front()?;
        state.rows -= batch.len();
        self.changed.notify_all();
        Some(batch)
    }
}

impl Sleeper for Shared {
    fn wake(&self) {
        // Taken so that a sender cannot miss it between looking and waiting.
        drop(self.lock());
        self.changed.notify_all();
    }
}

/// The end of a task that gives results.
pub(crate) struct ResultStage {
    sender: ResultSender,
    control: Arc<JobControl>,
    metrics: Arc<OperatorMetrics>,
    /// Whether to wait for a slow reader; a scheduler of one thread cannot.
    wait: bool,
}

impl ResultStage {
    pub fn new(
        sender: ResultSender,
        control: Arc<JobControl>,
        metrics: Arc<OperatorMetrics>,
        wait: bool,
    ) -> Self {
        let sleeper: Arc<dyn Sleeper> = sender.0.clone();
        control.subscribe(Arc::downgrade(&sleeper));
        Self { sender, control, metrics, wait }
    }
}

impl Stage for ResultStage {
    fn exact(&self) -> bool {
        false
    }

    fn open(&mut self, _restored: Option<&Checkpoint>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, _input: usize, rows: MarkedBatch) -> Result<()> {
        let shared = &*self.sender.0;
        let mut state = shared.lock();
        if self.wait {
            let full = |state: &mut State| {
                state.rows >= shared.capacity && !state.abandoned && !self.control.is_cancelled()
            };
            let waited = shared.changed.wait_while(state, full);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        self.control.go_on()?;
        if state.abandoned {
            return Err(RuntimeError::Cancelled);
        }
        self.metrics.count_in(rows.batch.len());
        state.rows += rows.batch.len();
        state.batches.push_back(rows.batch);
        shared.changed.notify_all();
        Ok(())
    }

    fn watermark(&mut self, _input: usize, watermark: i64) -> Result<()> {
        self.metrics.record_watermark(watermark);
        Ok(())
    }

    fn idle(&mut self, _input: usize, _idle: bool) -> Result<()> {
        Ok(())
    }

    fn barrier(&mut self, _barrier: &Barrier, _snapshot: &mut TaskSnapshot) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _input: usize, _how: EndOfInput) -> Result<()> {
        Ok(())
    }

    fn pause(&mut self) -> Result<()> {
        Ok(())
    }

    fn deadline(&self) -> Option<i64> {
        None
    }

    fn tick(&mut self, _now: i64) -> Result<()> {
        Ok(())
    }

    fn has_room(&self) -> bool {
        true
    }
}
