//! The first row of each key in the order of arrival.

use arrow::array::UInt32Array;
use flott_plan::physical::Deduplicate;
use flott_state::{KeySlots, StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema};

use super::{SWEEP, key_types, ttl};
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::aggregation::pick;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("seen keys", 1);

/// Gives a row when its key is new: Flink's `ProcTimeDeduplicateKeepFirstRowFunction`. With a TTL a
/// key is new again when so long has passed since its first row.
pub(super) struct KeepFirst {
    key: Vec<usize>,
    seen: KeySlots,
    row_slots: Vec<u32>,
    fresh: Vec<u32>,
}

impl KeepFirst {
    pub fn new(spec: &Deduplicate, input: &Schema) -> Self {
        Self {
            key: spec.key.clone(),
            seen: KeySlots::new(&key_types(spec, input), ttl(spec)),
            row_slots: Vec::new(),
            fresh: Vec::new(),
        }
    }

    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.seen.sweep(now, rows + SWEEP, &mut expired);
        for slot in expired {
            self.seen.remove(slot);
        }
        Ok(self.seen.sweep_disk(now, rows + SWEEP)?)
    }
}

impl Operator for KeepFirst {
    fn name(&self) -> &str {
        "Deduplicate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let now = ctx.now();
        let key = pick(batch.rows.columns(), &self.key);
        let keys = self.seen.encoder().encode(&key, batch.len())?;
        if self.seen.is_spilled() {
            self.seen.load(&keys, now, |_, _| Ok(()))?;
        }
        self.seen.find_or_write(&keys, now, &mut self.row_slots, &mut self.fresh)?;
        self.seen.meet(&self.row_slots);
        let mut given = 0;
        let marks = ctx.marks().remap(|row| {
            given += self.fresh[given..].partition_point(|fresh| (*fresh as usize) < row);
            given
        });
        let first = if self.fresh.len() == batch.len() {
            batch.clone()
        } else {
            batch.take(&UInt32Array::from(self.fresh.clone()))?
        };
        self.sweep(now, batch.len())?;
        ctx.emit_marked(first, marks)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.seen.schema("seen"));
        self.seen.snapshot(section, |_, _| {})?;
        self.seen.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION.0, SECTION.1, &self.seen.schema("seen"))?;
        let groups = ctx.task().max_parallelism;
        Ok(self.seen.restore(groups, ctx.now(), entries, |_, _, _| Ok(()))?)
    }

    fn state_bytes(&self) -> usize {
        self.seen.memory()
    }

    fn spills(&self) -> bool {
        true
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        let (groups, sizes) = (ctx.task().max_parallelism, (self.state_bytes(), room));
        let leaving = self.seen.move_out(sizes, space, groups, |_, _| {})?;
        self.seen.forget(&leaving);
        self.seen.give_back();
        Ok(())
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
