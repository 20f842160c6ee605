//! State by key whose cold keys move to disk: what operators with and without timers have in common.
//!
//! An operator says of what it keeps under a key how it is written, read and dropped, and when something is to happen
//! to it; the rest is here. Timers of keys in memory stay in memory, those of keys on disk are there too
//! ([`KeySlots::load_due`]).

use flott_state::{
    KeyBatch, KeySlots, KeyedEntries, KeyedSection, SlotMeta, StateDecoder, StateEncoder,
    StateError,
};

use crate::Result;
use crate::context::OperatorContext;
use crate::operators::aggregation::GroupWriter;

/// What an operator keeps under its keys, by slot.
pub(super) trait Movable {
    /// What writes the values of slots that are given in the order in which they will be written.
    fn writer<'a>(&'a self, slots: &'a [u32]) -> Result<impl ValueWriter + 'a>;

    /// What reads values, each for a slot under which nothing is kept. `now` is processing time.
    fn reader(&mut self, now: i64) -> impl ValueReader + '_;

    /// Drops what is kept under slots, whose keys are on disk now.
    fn leave(&mut self, slots: &[u32]) -> Result<()>;

    /// Gives all memory back: no slot has a key any more.
    fn give_back(&mut self) -> Result<()>;

    /// Of some slots those to whose key something is to happen, whether a row asks for it or not, and when.
    fn dues(&self, _slots: &[u32]) -> Vec<(u32, i64)> {
        Vec::new()
    }

    /// When the state of a slot's key was written last, if it may expire.
    fn last_write(&self, slot: u32, meta: &SlotMeta) -> Option<i64> {
        meta.last_write(slot)
    }
}

/// Writes values of keys as snapshots and the disk hold them.
pub(super) trait ValueWriter {
    /// Writes the value of the next slot.
    fn write(&mut self, slot: u32, out: &mut StateEncoder);

    /// Tells whether all went well.
    fn finish(self) -> Result<()>;
}

/// A value that there may not be.
impl<W: ValueWriter> ValueWriter for Option<W> {
    fn write(&mut self, slot: u32, out: &mut StateEncoder) {
        self.iter_mut().for_each(|writer| writer.write(slot, out));
    }

    fn finish(self) -> Result<()> {
        self.map_or(Ok(()), W::finish)
    }
}

/// Groups that are numbered as their slots.
impl ValueWriter for GroupWriter<'_> {
    fn write(&mut self, _slot: u32, out: &mut StateEncoder) {
        self.write(out);
    }

    fn finish(self) -> Result<()> {
        self.finish()
    }
}

/// Reads values of keys from snapshots and from disk.
pub(super) trait ValueReader {
    /// Reads the value of a slot.
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError>;

    /// Completes the reading.
    fn finish(self) -> Result<()>;
}

/// A function that writes or reads, with nothing to complete.
pub(super) struct Plain<F>(pub F);

impl<F: FnMut(u32, &mut StateEncoder)> ValueWriter for Plain<F> {
    fn write(&mut self, slot: u32, out: &mut StateEncoder) {
        (self.0)(slot, out);
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// Two values, one behind the other.
impl<A: ValueWriter, B: ValueWriter> ValueWriter for (A, B) {
    fn write(&mut self, slot: u32, out: &mut StateEncoder) {
        self.0.write(slot, out);
        self.1.write(slot, out);
    }

    fn finish(self) -> Result<()> {
        self.0.finish()?;
        self.1.finish()
    }
}

/// The same of a function that reads.
pub(super) struct PlainReader<F>(pub F);

impl<F: FnMut(u32, &mut StateDecoder<'_>) -> Result<(), StateError>> ValueReader
    for PlainReader<F>
{
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        (self.0)(slot, input)
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// Brings the keys of a batch back that are on disk.
pub(super) fn load(
    keys: &mut KeySlots,
    state: &mut impl Movable,
    batch: &KeyBatch,
    now: i64,
) -> Result<()> {
    if !keys.is_spilled() {
        return Ok(());
    }
    let mut reader = state.reader(now);
    keys.load(batch, now, |slot, input| reader.read(slot, input))?;
    reader.finish()
}

/// Brings keys back that are due up to a time; gives the time up to which that has been done, as
/// [`KeySlots::load_due`] does.
pub(super) fn load_due(
    keys: &mut KeySlots,
    state: &mut impl Movable,
    until: i64,
    ctx: &OperatorContext,
) -> Result<i64> {
    let Some(space) = ctx.task().memory.space() else { return Ok(until) };
    let mut reader = state.reader(ctx.now());
    let reached = keys.load_due(until, ctx.now(), space, |slot, input| reader.read(slot, input))?;
    reader.finish()?;
    Ok(reached)
}

/// Moves keys to disk, so that `room` bytes are enough for a state that holds `held`; whether any went.
pub(super) fn make_way(
    keys: &mut KeySlots,
    state: &mut impl Movable,
    (held, room): (usize, usize),
    ctx: &OperatorContext,
) -> Result<bool> {
    let task = ctx.task();
    let Some(space) = task.memory.space() else { return Ok(false) };
    let leaving = keys.victims(held, room, space, |_| false)?;
    if leaving.is_empty() {
        return Ok(false);
    }
    let changed = keys.not_on_disk(&leaving);
    let mut writer = state.writer(&changed)?;
    let groups = task.max_parallelism;
    let last_write = |meta: &SlotMeta, slot: u32| state.last_write(slot, meta);
    keys.write_timed(&changed, space, groups, last_write, |slot, out| writer.write(slot, out))?;
    writer.finish()?;
    keys.wake_at(&state.dues(&leaving), space, groups)?;
    state.leave(&leaving)?;
    keys.forget(&leaving);
    if keys.is_empty() {
        keys.give_back();
        state.give_back()?;
    }
    Ok(true)
}

/// Writes all keys, or those that changed, wherever they are.
pub(super) fn snapshot(
    keys: &KeySlots,
    state: &impl Movable,
    section: KeyedSection<'_>,
) -> Result<()> {
    let slots = keys.to_write(section.state());
    let mut writer = state.writer(&slots)?;
    keys.snapshot(section, |slot, out| writer.write(slot, out))?;
    writer.finish()
}

/// Takes up the keys of a snapshot; `now` is the time of writing of those that say none.
pub(super) fn restore(
    keys: &mut KeySlots,
    state: &mut impl Movable,
    entries: KeyedEntries<'_>,
    now: i64,
    ctx: &OperatorContext,
) -> Result<()> {
    let mut reader = state.reader(ctx.now());
    let groups = ctx.task().max_parallelism;
    keys.restore(groups, now, entries, |slot, _version, input| reader.read(slot, input))?;
    reader.finish()
}
