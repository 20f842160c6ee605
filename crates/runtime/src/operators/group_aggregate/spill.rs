//! Groups on disk: those that a batch needs come back before it, cold ones leave after it.

use flott_state::{KeyBatch, SpillSpace, StateDecoder, StateEncoder, StateError};
use flott_types::ChangelogBatch;

use super::GroupAggregateOperator;
use super::lives::Lives;
use crate::Result;
use crate::context::OperatorContext;
use crate::operators::aggregation::{Aggregation, GroupReader, GroupWriter};

impl GroupAggregateOperator {
    /// Brings the groups of a batch back that are on disk.
    pub(super) fn load(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        if !self.slots.is_spilled() {
            return Ok(());
        }
        let mut reader = GroupReader::new(&self.aggregation, now);
        let (lives, aggregation) = (&mut self.lives, &mut self.aggregation);
        self.slots.load(keys, now, |slot, input| {
            read_group(lives, aggregation, &mut reader, slot, input)
        })?;
        reader.finish(&mut self.aggregation)
    }

    /// Moves groups to disk, so that `room` bytes are enough for the rest.
    pub(super) fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let memory = &ctx.task().memory;
        let Some(space) = memory.space() else { return Ok(()) };
        // What waits in a bundle is told by its slot.
        let bundle = self.bundle.as_ref();
        let waits = |slot| bundle.is_some_and(|bundle| bundle.holds(slot));
        let victims = self.slots.victims(self.state_bytes, room, space, waits)?;
        if victims.is_empty() {
            return Ok(());
        }
        self.evict(&victims, space, ctx.task().max_parallelism)?;
        if self.slots.is_empty() {
            self.slots.give_back();
            self.aggregation = self.aggregation.emptied()?;
            self.lives = self.lives.is_some().then(Lives::default);
        }
        self.account();
        Ok(())
    }

    fn evict(&mut self, victims: &[u32], space: &SpillSpace, max_parallelism: u16) -> Result<()> {
        let changed = self.slots.not_on_disk(victims);
        let groups = self.groups(&changed);
        let mut writer = GroupWriter::new(&self.aggregation, &groups)?;
        let lives = &self.lives;
        let write = |slot, out: &mut StateEncoder| {
            if let Some(lives) = lives {
                out.i64(lives.rows(slot));
            }
            writer.write(out);
        };
        self.slots.write_to_disk(&changed, space, max_parallelism, write)?;
        writer.finish()?;
        self.slots.forget(victims);
        self.end_groups(victims);
        Ok(())
    }

    /// Batch mode: gives the groups on disk, a batch at a time. All groups must have left memory.
    pub(super) fn emit_spilled(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let mut cursor = Vec::new();
        loop {
            let mut reader = GroupReader::new(&self.aggregation, ctx.now());
            let (lives, aggregation) = (&mut self.lives, &mut self.aggregation);
            let limit = ChangelogBatch::MAX_ROWS;
            let more = self.slots.load_next(&mut cursor, limit, |slot, input| {
                read_group(lives, aggregation, &mut reader, slot, input)
            })?;
            reader.finish(&mut self.aggregation)?;
            let slots: Vec<u32> = self.slots.index().slots().collect();
            self.emit_groups(&slots, ctx)?;
            self.slots.forget(&slots);
            self.end_groups(&slots);
            if !more {
                return Ok(());
            }
        }
    }

    /// Moves all groups to disk.
    pub(super) fn evict_all(&mut self, ctx: &OperatorContext) -> Result<()> {
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        let all: Vec<u32> = self.slots.index().slots().collect();
        self.evict(&all, space, ctx.task().max_parallelism)
    }
}

/// Reads the state of a group that a snapshot or the disk holds.
pub(super) fn read_group(
    lives: &mut Option<Lives>,
    aggregation: &mut Aggregation,
    reader: &mut GroupReader,
    slot: u32,
    input: &mut StateDecoder<'_>,
) -> Result<(), StateError> {
    let group = match lives {
        None => slot,
        Some(lives) => lives.revive(slot, input.i64()?),
    };
    reader.read(aggregation, group, input)
}
