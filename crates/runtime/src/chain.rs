//! Operators that call each other directly.

use std::sync::Arc;

use flott_state::{MemoryAccount, Snapshot, SnapshotScope, StateReader, StateWriter};
use flott_types::ChangelogBatch;

use crate::change_check::ChangeCheck;
use crate::checkpoint::{Barrier, Checkpoint, CheckpointKind, OperatorState, TaskSnapshot};
use crate::context::{OperatorContext, TaskInfo};
use crate::element::{EndOfInput, MarkedBatch};
use crate::marks::{Mark, Marks};
use crate::metrics::OperatorMetrics;
use crate::operator::Operator;
use crate::outputs::Outputs;
use crate::stage::{Stage, earlier};
use crate::watermark::{Change, WatermarkCombiner};
use crate::{Result, RuntimeError};

/// State that an operator need not account for, in bytes.
const SMALL_STATE: usize = 16 * 1024;

/// An operator of a chain with everything after it up to the next exchanges.
///
/// It combines the watermarks of the operator's inputs, meets its wishes about watermarks inside
/// batches, fires its timers, and keeps its state and its counters.
pub(crate) struct Link {
    /// The operator's fingerprint, under which its state is kept.
    uid: Arc<str>,
    operator: Box<dyn Operator>,
    context: OperatorContext,
    handles_marks: bool,
    /// Whether this operator or one after it must know which row came before which watermark.
    exact: bool,
    open_inputs: usize,
    memory: MemoryAccount,
    /// The last checkpoint that the operator wrote its state for, on which the next one builds.
    handed_over: Option<u64>,
    /// Only debug builds pay for it.
    changes: Option<ChangeCheck>,
}

impl Link {
    pub fn new(
        uid: Arc<str>,
        operator: Box<dyn Operator>,
        inputs: usize,
        outputs: Outputs,
        info: TaskInfo,
        metrics: Arc<OperatorMetrics>,
    ) -> Self {
        Self {
            uid,
            handles_marks: operator.handles_marks(),
            exact: operator.needs_exact_watermarks() || outputs.exact(),
            memory: info.memory.account(info.name.clone(), operator.spills()),
            operator,
            context: OperatorContext {
                info,
                outputs,
                inputs: WatermarkCombiner::of_inputs(inputs),
                watermark: i64::MIN,
                marks: Marks::NONE,
                timers: Default::default(),
                metrics,
                captured: None,
            },
            open_inputs: inputs,
            handed_over: None,
            changes: cfg!(debug_assertions).then(ChangeCheck::default),
        }
    }

    fn rows(&mut self, input: usize, batch: ChangelogBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.call(|operator, context| operator.on_batch(input, batch, context))
    }

    fn advance(&mut self, watermark: Option<i64>) -> Result<()> {
        let Some(watermark) = watermark else { return Ok(()) };
        self.context.watermark = watermark;
        self.context.metrics.record_watermark(watermark);
        self.wake(watermark)?;
        self.call(|operator, context| operator.on_watermark(watermark, context))
    }

    /// Lets the operator work off what is due on disk, part by part, as memory cannot hold all of it.
    fn wake(&mut self, until: i64) -> Result<()> {
        while self.operator.due_on_disk().is_some_and(|due| due <= until) {
            self.call(|operator, context| operator.wake(until, context))?;
            self.account()?;
        }
        Ok(())
    }

    /// Hands a batch over with the watermarks inside it, cut where one reaches what is due on disk.
    fn marked(&mut self, input: usize, batch: &ChangelogBatch, marks: &Marks) -> Result<()> {
        let (mut from, mut inside) = (0, Vec::new());
        for segment in marks.segments(batch.len()) {
            let to = segment.rows.end;
            let reached = segment.watermark.zip(self.operator.due_on_disk());
            if let Some(watermark) = segment.watermark {
                inside.push(Mark { row: (to - from) as u32, watermark });
            }
            let is_due = reached.is_some_and(|(watermark, due)| due <= watermark);
            if !is_due && to < batch.len() {
                continue;
            }
            if is_due {
                // The last watermark follows the rows.
                inside.pop();
            }
            self.context.marks = inside.drain(..).collect();
            let last = self.context.marks.last();
            self.rows(input, batch.slice(from, to - from))?;
            self.context.marks = Marks::NONE;
            self.advance(if is_due { segment.watermark } else { last })?;
            if is_due {
                self.account()?;
            }
            from = to;
        }
        Ok(())
    }

    fn apply(&mut self, change: Change) -> Result<()> {
        if change.idle == Some(false) {
            self.context.outputs.idle(false)?;
        }
        self.advance(change.watermark)?;
        if change.idle == Some(true) {
            self.context.outputs.idle(true)?;
        }
        Ok(())
    }

    /// Calls the operator and names it in what goes wrong.
    fn call(
        &mut self,
        f: impl FnOnce(&mut dyn Operator, &mut OperatorContext) -> Result<()>,
    ) -> Result<()> {
        f(&mut *self.operator, &mut self.context).map_err(|error| error.at(&self.context.info.name))
    }

    /// Lets the operator move state to disk if it must, and charges the budget with what it holds.
    fn account(&mut self) -> Result<()> {
        if let Some(room) = self.memory.room() {
            self.call(|operator, context| operator.spill(room, context))?;
            // Lists of what left take memory too. Who has no room even so lets all keys go.
            if self.operator.state_bytes() > room {
                self.call(|operator, context| operator.spill(room, context))?;
            }
        }
        let bytes = self.operator.state_bytes();
        if cfg!(debug_assertions) && bytes > isize::MAX as usize {
            return Err(self.broken(format!("accounts for {bytes} bytes of state")));
        }
        self.context.metrics.record_state(bytes);
        Ok(self.memory.resize(bytes)?)
    }

    fn broken(&self, problem: String) -> RuntimeError {
        RuntimeError::internal(self.context.info.name.clone(), problem)
    }

    /// Makes the next checkpoint hold all state.
    pub(crate) fn begin_checkpoints(&mut self) {
        self.handed_over = None;
    }

    pub(crate) fn can_snapshot(&self) -> bool {
        self.operator.can_snapshot()
    }

    /// The operator's state for a checkpoint: what changed since the one before, if there was one. All
    /// that is done here is to write it to memory.
    pub(crate) fn snapshot(&mut self, barrier: &Barrier) -> Result<Snapshot> {
        let scope = match (barrier.kind, self.handed_over) {
            (CheckpointKind::Savepoint, _) => SnapshotScope::Whole,
            (CheckpointKind::Checkpoint, None) => SnapshotScope::Base,
            (CheckpointKind::Checkpoint, Some(_)) => SnapshotScope::Changes,
        };
        let groups = self.context.info.max_parallelism;
        if scope != SnapshotScope::Whole {
            self.handed_over = Some(barrier.checkpoint);
            if let Some(mut check) = self.changes.take() {
                self.call(|operator, _| check.check(operator, groups))?;
                self.changes = Some(check);
            }
        }
        let mut state = StateWriter::of_scope(groups, scope, self.context.now());
        self.call(|operator, _| operator.snapshot(&mut state))?;
        Ok(state.finish())
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let info = &self.context.info;
        let states = checkpoint.operator(&self.uid, info.task, info.parallelism);
        let Some(watermark) = states.iter().map(|state| state.watermark).min() else {
            return Ok(());
        };
        self.context.inputs.resume(watermark);
        self.context.watermark = watermark;
        let mut reader = StateReader::new(info.max_parallelism, info.key_groups.clone());
        states.iter().try_for_each(|state| reader.add(&state.snapshot))?;
        self.call(|operator, context| operator.restore(&reader, context))
    }
}

impl Stage for Link {
    fn exact(&self) -> bool {
        self.exact
    }

    fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()> {
        self.context.outputs.open(restored)?;
        if let Some(checkpoint) = restored {
            self.restore(checkpoint)?;
        }
        self.call(|operator, context| operator.open(context))?;
        self.account()
    }

    fn batch(&mut self, input: usize, rows: MarkedBatch) -> Result<()> {
        let MarkedBatch { batch, marks } = rows;
        self.context.metrics.count_in(batch.len());
        let marks = self.context.inputs.combine(input, marks);
        if marks.is_empty() {
            self.rows(input, batch)?;
        } else if self.handles_marks && self.operator.due_on_disk().is_some() {
            self.marked(input, &batch, &marks)?;
        } else if self.handles_marks {
            self.context.marks = marks.clone();
            self.rows(input, batch)?;
            self.context.marks = Marks::NONE;
            self.advance(marks.last())?;
        } else if self.exact {
            for segment in marks.segments(batch.len()) {
                self.rows(input, batch.slice(segment.rows.start, segment.rows.len()))?;
                self.advance(segment.watermark)?;
            }
        } else {
            self.rows(input, batch)?;
            self.advance(marks.last())?;
        }
        self.account()
    }

    fn watermark(&mut self, input: usize, watermark: i64) -> Result<()> {
        let combined = self.context.inputs.advance(input, watermark);
        self.advance(combined)?;
        self.account()
    }

    fn idle(&mut self, input: usize, idle: bool) -> Result<()> {
        let change = self.context.inputs.set_idle(input, idle);
        self.apply(change)
    }

    fn barrier(&mut self, barrier: &Barrier, snapshot: &mut TaskSnapshot) -> Result<()> {
        self.call(|operator, context| operator.before_snapshot(context))?;
        let since = self.handed_over.filter(|_| barrier.kind == CheckpointKind::Checkpoint);
        let state = OperatorState {
            task: self.context.info.task,
            watermark: self.context.watermark,
            since,
            snapshot: self.snapshot(barrier)?.into(),
        };
        if cfg!(debug_assertions)
            && state.snapshot.len() > SMALL_STATE
            && self.operator.state_bytes() == 0
        {
            return Err(self.broken("holds state and accounts for none".into()));
        }
        snapshot.operators.push((self.uid.clone(), state));
        self.context.outputs.barrier(barrier, snapshot)
    }

    fn end(&mut self, input: usize, how: EndOfInput) -> Result<()> {
        if how == EndOfInput::Drained {
            self.call(|operator, context| operator.on_end(input, context))?;
        }
        let change = self.context.inputs.end(input);
        self.apply(change)?;
        self.account()?;
        self.open_inputs -= 1;
        if self.open_inputs == 0 { self.context.outputs.end(how) } else { Ok(()) }
    }

    fn pause(&mut self) -> Result<()> {
        self.call(|operator, context| operator.on_pause(context))?;
        self.context.outputs.pause()
    }

    fn deadline(&self) -> Option<i64> {
        earlier(self.context.timers.first().copied(), self.context.outputs.deadline())
    }

    fn tick(&mut self, now: i64) -> Result<()> {
        while let Some(time) = self.context.timers.first().copied().filter(|time| *time <= now) {
            self.context.timers.remove(&time);
            self.wake(time)?;
            self.call(|operator, context| operator.on_timer(time, context))?;
        }
        self.account()?;
        self.context.outputs.tick(now)
    }

    fn has_room(&self) -> bool {
        self.context.outputs.has_room()
    }
}
