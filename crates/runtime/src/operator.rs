//! What an operator is.

use flott_state::{StateReader, StateWriter};
use flott_types::ChangelogBatch;

use crate::Result;
use crate::context::OperatorContext;

/// An operator: state, and what it does with rows and time.
///
/// One task calls it, never two at once. It may block on nothing and sees time only through its
/// context. Rows must come out as if the operator had been fed row by row, in order per key.
///
/// # Watermarks and rows
///
/// A watermark may stand between any two rows. What the operator says of itself decides how it
/// meets them:
///
/// | [`handles_marks`](Self::handles_marks) | what happens |
/// |---|---|
/// | false (the default) | a batch is cut where a watermark stands: `on_batch`, `on_watermark`, `on_batch`… |
/// | true | the batch comes whole, [`OperatorContext::marks`] tells where watermarks stand, and `on_watermark` is called with the last of them afterwards |
///
/// Where neither the operator nor any after it [needs to know](Self::needs_exact_watermarks) which
/// rows came before which watermark, batches come whole and `on_watermark` follows them.
pub trait Operator: Send {
    /// The kind of operator, for messages: `GroupAggregate`.
    fn name(&self) -> &str;

    /// Called once, after [`restore`](Self::restore) if there is something to restore and before
    /// anything else; the place to register timers.
    fn open(&mut self, _ctx: &mut OperatorContext) -> Result<()> {
        Ok(())
    }

    /// Takes rows of an input, numbered from 0. There is at least one row.
    fn on_batch(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()>;

    /// Takes note that event time has reached `watermark` (milliseconds since the epoch) on all
    /// inputs that are not idle. The default hands it on; an operator that does otherwise calls
    /// [`OperatorContext::emit_watermark`] itself, after the rows that the watermark released.
    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        ctx.emit_watermark(watermark)
    }

    /// Called when processing time has reached `time`, for which the operator registered a timer.
    fn on_timer(&mut self, _time: i64, _ctx: &mut OperatorContext) -> Result<()> {
        Ok(())
    }

    /// Called when an input has given everything, after its last watermark; not when a job is
    /// stopped early.
    fn on_end(&mut self, _input: usize, _ctx: &mut OperatorContext) -> Result<()> {
        Ok(())
    }

    /// Called when input pauses, to send on what waits only for the sake of throughput.
    fn on_pause(&mut self, _ctx: &mut OperatorContext) -> Result<()> {
        Ok(())
    }

    /// Called before a checkpoint, while rows may still be emitted that belong to it. The place to
    /// finish a mini-batch.
    fn before_snapshot(&mut self, _ctx: &mut OperatorContext) -> Result<()> {
        Ok(())
    }

    /// Writes what [`restore`](Self::restore) needs: everything, or what changed since the last snapshot
    /// on which this one [builds](flott_state::SnapshotScope). Keyed state tells by itself what changed,
    /// as long as every change of what is kept under a slot is
    /// [noted](flott_state::KeySlots::changed); it must be [told](flott_state::KeySlots::handed_over) when
    /// it was written. Other sections are written whole.
    fn snapshot(&mut self, _state: &mut StateWriter) -> Result<()> {
        Ok(())
    }

    /// Whether it could write its state now: not while it holds rows that
    /// [`before_snapshot`](Self::before_snapshot) would send on, and not in batch mode.
    fn can_snapshot(&self) -> bool {
        true
    }

    /// Takes up state that was written before: its own, or after a change of parallelism that of
    /// all tasks, of which the reader gives the key groups of this one.
    fn restore(&mut self, _state: &StateReader<'_>, _ctx: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// The bytes of state it holds; called often, so it must be a stored number. They are shown
    /// and charged to the job's memory budget by the caller.
    fn state_bytes(&self) -> usize {
        0
    }

    /// Whether it can move state to disk, so that [`spill`](Self::spill) is called.
    fn spills(&self) -> bool {
        false
    }

    /// Called after everything that changes state, with the bytes that the operator may hold. One that holds
    /// more, or soon would, moves state to disk.
    fn spill(&mut self, _room: usize, _ctx: &OperatorContext) -> Result<()> {
        Ok(())
    }

    /// The time, of watermarks or of timers, at which state is due that is on disk; none before it is. Batches are
    /// cut where a watermark reaches it, so that [`wake`](Self::wake) is called between batches only.
    fn due_on_disk(&self) -> Option<i64> {
        None
    }

    /// Called before `on_watermark` and `on_timer` as long as state on disk is due up to `until`: the operator
    /// brings some of it back and does what is due so far. What need not stay leaves again before the next call.
    fn wake(&mut self, _until: i64, _ctx: &mut OperatorContext) -> Result<()> {
        Ok(())
    }

    /// Whether it takes whole batches and reads the watermarks inside them from
    /// [`OperatorContext::marks`]. Operators that map rows to rows say true and emit with
    /// [`OperatorContext::emit_marked`].
    fn handles_marks(&self) -> bool {
        false
    }

    /// Whether its result depends on which rows came before which watermark. Operators without
    /// event time say false.
    fn needs_exact_watermarks(&self) -> bool {
        true
    }
}
