//! What OVER in the order of time keeps of a partition, on its way to snapshots and to disk.

use flott_state::{SlotMeta, StateDecoder, StateEncoder, StateError};

use super::expiry::Expiry;
use super::frames::Frames;
use super::functions::{Functions, FunctionsReader};
use super::pending::{Pending, Restored};
use crate::Result;
use crate::operators::movable::{Movable, Plain, ValueReader, ValueWriter};

/// No time.
const NEVER: i64 = i64::MIN;

/// The state of partitions, by slot.
pub(super) struct Partitions<'a> {
    pub pending: &'a mut Pending,
    pub frames: &'a mut Frames,
    pub functions: &'a mut Functions,
    pub last: &'a mut Vec<i64>,
    pub coming: &'a mut Vec<u32>,
    pub expiry: &'a mut Expiry,
}

impl Movable for Partitions<'_> {
    fn writer<'a>(&'a self, slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        let waiting = self.pending.by_group(slots);
        let functions = self.functions.writer(slots)?;
        let rest = Plain(move |slot: u32, out: &mut StateEncoder| {
            out.i64(self.last[slot as usize]);
            self.expiry.write(slot, out);
            self.pending.write(waiting.get(&slot).map_or(&[], Vec::as_slice), out);
            self.frames.write(slot, out);
        });
        Ok((rest, functions))
    }

    fn reader(&mut self, now: i64) -> impl ValueReader + '_ {
        let functions = self.functions.reader(now);
        Reader { functions, waiting: Vec::new(), to: self }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        self.pending.leave(slots);
        self.frames.reset(slots);
        self.functions.reset(slots);
        self.expiry.leave(slots);
        slots.iter().for_each(|slot| self.last[*slot as usize] = NEVER);
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        self.pending.give_back();
        *self.frames = self.frames.emptied();
        (*self.last, *self.coming, *self.expiry) = Default::default();
        self.functions.give_back()
    }

    /// When the first row that waits comes out, or else the partition is over.
    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        let first = self.pending.first_times(slots);
        let due = |slot: &u32| first.get(slot).copied().or_else(|| self.expiry.of(*slot));
        slots.iter().filter_map(|slot| Some((*slot, due(slot)?))).collect()
    }

    /// Rows that wait do not expire.
    fn last_write(&self, slot: u32, meta: &SlotMeta) -> Option<i64> {
        meta.last_write(slot).filter(|_| self.pending.count(slot) == 0)
    }
}

struct Reader<'a, 'b> {
    to: &'a mut Partitions<'b>,
    functions: FunctionsReader,
    waiting: Vec<Restored>,
}

impl ValueReader for Reader<'_, '_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let (at, to) = (slot as usize, &mut *self.to);
        if at >= to.last.len() {
            to.last.resize(at + 1, NEVER);
            to.coming.resize(at + 1, 0);
        }
        to.pending.resize(at + 1);
        to.frames.resize(at + 1);
        to.expiry.resize(at + 1);
        to.last[at] = input.i64()?;
        to.expiry.restore(slot, input.i64()?);
        to.pending.read(slot, input, &mut self.waiting)?;
        to.frames.read(slot, input)?;
        self.functions.read(to.functions, slot, input)
    }

    fn finish(self) -> Result<()> {
        self.to.pending.restore(self.waiting);
        self.functions.finish(self.to.functions)
    }
}
