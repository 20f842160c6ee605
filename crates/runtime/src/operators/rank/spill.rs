//! Partitions on disk: those that a batch needs come back before it, cold ones leave after it.

use flott_plan::logical::RankEnd;
use flott_state::{KeyBatch, StateDecoder, StateError};

use super::{CHUNK, RankOperator};
use crate::Result;
use crate::context::OperatorContext;
use crate::operators::ranking::{Run, SortedRows};

impl RankOperator {
    /// Brings the partitions of a batch back that are on disk.
    pub(super) fn load(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        if !self.slots.is_spilled() {
            return Ok(());
        }
        let mut returned = Vec::new();
        let has_ends = self.has_ends();
        let (runs, ends, sorted) = (&mut self.runs, &mut self.ends, &mut self.sorted);
        self.slots.load(keys, now, |slot, input| {
            returned.push(slot);
            read_partition(runs, has_ends.then_some(&mut *ends), sorted, slot, input)
        })?;
        self.take_up(&returned)
    }

    /// Batch mode: gives the partitions on disk. All partitions must have left memory.
    pub(super) fn emit_spilled(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let has_ends = self.has_ends();
        let mut cursor = Vec::new();
        loop {
            let mut returned = Vec::new();
            let (runs, ends, sorted) = (&mut self.runs, &mut self.ends, &mut self.sorted);
            let limit = CHUNK;
            let more = self.slots.load_next(&mut cursor, limit, |slot, input| {
                returned.push(slot);
                read_partition(runs, has_ends.then_some(&mut *ends), sorted, slot, input)
            })?;
            self.take_up(&returned)?;
            self.emit_partitions(&returned, ctx)?;
            self.drop_partitions(&returned)?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Moves partitions to disk, so that `room` bytes are enough for the rest.
    pub(super) fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        let held = self.state_bytes;
        let victims = self.slots.victims(held, room, space, |_| false)?;
        if victims.is_empty() {
            return Ok(());
        }
        self.evict(&victims, ctx)?;
        if self.slots.is_empty() {
            self.slots.give_back();
            self.sorted = self.sorted.emptied()?;
            self.row_keys = self.row_keys.as_ref().map(super::RowKeys::emptied);
            (self.runs, self.ends) = Default::default();
        }
        self.account();
        Ok(())
    }

    /// Moves all partitions to disk.
    pub(super) fn evict_all(&mut self, ctx: &OperatorContext) -> Result<()> {
        let all: Vec<u32> = self.slots.index().slots().collect();
        self.evict(&all, ctx)
    }

    fn evict(&mut self, victims: &[u32], ctx: &OperatorContext) -> Result<()> {
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        let changed = self.slots.not_on_disk(victims);
        let has_ends = self.has_ends();
        let (runs, ends, sorted) = (&self.runs, &self.ends, &self.sorted);
        let groups = ctx.task().max_parallelism;
        self.slots.write_to_disk(&changed, space, groups, |slot, out| {
            if has_ends {
                out.u64(ends[slot as usize]);
            }
            sorted.write(&runs[slot as usize], out);
        })?;
        self.drop_partitions(victims)
    }

    fn drop_partitions(&mut self, slots: &[u32]) -> Result<()> {
        slots.iter().for_each(|slot| self.reset(*slot));
        self.changes.finish(&[], &mut self.sorted, &self.schema)?;
        self.slots.forget(slots);
        Ok(())
    }

    /// Completes partitions that were read.
    fn take_up(&mut self, slots: &[u32]) -> Result<()> {
        let runs = slots.iter().map(|slot| &self.runs[*slot as usize]);
        self.run_bytes += runs.clone().map(Run::memory).sum::<usize>();
        let ids: Vec<u32> = runs.flat_map(Run::iter).collect();
        for chunk in ids.chunks(CHUNK) {
            self.sorted.return_keys(chunk)?;
            if let Some(row_keys) = &mut self.row_keys {
                row_keys.take_up(&self.sorted, chunk)?;
            }
        }
        Ok(())
    }

    /// Whether each partition has its own last rank.
    pub(super) fn has_ends(&self) -> bool {
        matches!(self.end, RankEnd::Column { .. })
    }
}

/// Reads a partition that a snapshot or the disk holds; its sort keys are still to be computed.
pub(super) fn read_partition(
    runs: &mut Vec<Run>,
    ends: Option<&mut Vec<u64>>,
    sorted: &mut SortedRows,
    slot: u32,
    input: &mut StateDecoder<'_>,
) -> Result<(), StateError> {
    let at = slot as usize;
    if let Some(ends) = ends {
        ends.resize(ends.len().max(at + 1), 0);
        ends[at] = input.u64()?;
    }
    runs.resize_with(runs.len().max(at + 1), Run::default);
    runs[at] = sorted.read(input)?;
    Ok(())
}
