//! The last row of each key.

use arrow::datatypes::SchemaRef;
use flott_plan::physical::Deduplicate;
use flott_state::{KeyBatch, KeySlots, NO_ROW, RowStore, StateDecoder, StateReader, StateWriter};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::{SWEEP, key_types, row_times, ttl};
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::aggregation::pick;
use crate::operators::ranking::{Changes, Given};

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("last rows", 1);

/// Gives the latest row of each key and every change of it, Flink's `RowTimeDeduplicateFunction` and
/// `ProcTimeDeduplicateKeepLastRowFunction`:
///
/// - By event time a row replaces one that is not later than it.
/// - By processing time each row replaces the one before; an equal one is no change, unless state
///   expires: then it is given, so that operators downstream renew theirs.
pub(super) struct KeepLast {
    key: Vec<usize>,
    rowtime: Option<usize>,
    slots: KeySlots,
    /// By slot, the row kept.
    last: Vec<u32>,
    /// By slot, its time; empty by processing time.
    times: Vec<i64>,
    rows: RowStore,
    changes: Changes,
    schema: SchemaRef,
    state_bytes: usize,
    row_slots: Vec<u32>,
    fresh: Vec<u32>,
}

impl KeepLast {
    pub fn new(spec: &Deduplicate, input: &Schema, schema: SchemaRef) -> Self {
        let types: Vec<DataType> = input.fields.iter().map(|f| f.data_type.clone()).collect();
        Self {
            key: spec.key.clone(),
            rowtime: spec.rowtime,
            slots: KeySlots::new(&key_types(spec, input), ttl(spec)),
            last: Vec::new(),
            times: Vec::new(),
            rows: RowStore::new(&types),
            changes: Changes::new(spec.emit_update_before, false),
            schema,
            state_bytes: 0,
            row_slots: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// Takes in rows; `before` then holds for each how many changes came before it.
    fn apply(&mut self, batch: &ChangelogBatch, now: i64, before: &mut Vec<usize>) -> Result<()> {
        let columns = batch.rows.columns();
        let keys = self.slots.encoder().encode(&pick(columns, &self.key), batch.len())?;
        let rows = self.rows.encode(columns, batch.len())?;
        let times = self.rowtime.map(|column| row_times(&columns[column])).transpose()?;
        self.load(&keys, now)?;
        self.slots.find_or_write(&keys, now, &mut self.row_slots, &mut self.fresh)?;
        self.slots.meet(&self.row_slots);
        let bound = self.slots.index().slot_bound() as usize;
        self.last.resize(bound.max(self.last.len()), NO_ROW);
        if times.is_some() {
            self.times.resize(bound.max(self.times.len()), 0);
        }
        let expires = self.slots.meta().ttl().is_some();
        let mut fresh = self.fresh.iter().peekable();
        for (row, slot) in self.row_slots.iter().enumerate() {
            before.push(self.changes.len());
            let at = *slot as usize;
            if fresh.next_if(|fresh| **fresh == row as u32).is_some() && self.last[at] != NO_ROW {
                self.changes.retire(std::mem::replace(&mut self.last[at], NO_ROW));
            }
            let old = self.last[at];
            if old != NO_ROW {
                let passed_over = match &times {
                    Some(times) => times[row] < self.times[at],
                    None => !expires && self.rows.is_row(old, &rows, row),
                };
                if passed_over {
                    continue;
                }
                self.changes.push(RowKind::UpdateBefore, Given::Kept(old), 1);
                self.changes.push(RowKind::UpdateAfter, Given::New(row), 1);
                self.changes.retire(old);
            } else {
                self.changes.push(RowKind::Insert, Given::New(row), 1);
            }
            self.last[at] = self.rows.insert(&rows, row)?;
            if let Some(times) = &times {
                self.times[at] = times[row];
            }
            self.slots.written(*slot, now);
        }
        Ok(())
    }

    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.slots.sweep(now, rows + SWEEP, &mut expired);
        for slot in expired {
            self.rows.remove(std::mem::replace(&mut self.last[slot as usize], NO_ROW));
            self.slots.remove(slot);
        }
        Ok(self.slots.sweep_disk(now, rows + SWEEP)?)
    }

    /// Brings the rows of a batch's keys back that are on disk.
    fn load(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        if !self.slots.is_spilled() {
            return Ok(());
        }
        let (last, rows) = (&mut self.last, &mut self.rows);
        let mut returned = Vec::new();
        self.slots.load(keys, now, |slot, input| {
            returned.push(slot);
            read_last(last, rows, slot, input)
        })?;
        if let (Some(column), false) = (self.rowtime, returned.is_empty()) {
            let ids: Vec<u32> = returned.iter().map(|slot| self.last[*slot as usize]).collect();
            let times = row_times(&self.rows.gather(&ids)?[column])?;
            self.times.resize(self.times.len().max(self.last.len()), 0);
            for (slot, time) in returned.iter().zip(times) {
                self.times[*slot as usize] = time;
            }
        }
        Ok(())
    }

    fn account(&mut self) {
        self.state_bytes = self.slots.memory()
            + self.rows.memory()
            + self.last.capacity() * size_of::<u32>()
            + self.times.capacity() * size_of::<i64>();
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&self.rows.codec().schema())
    }
}

impl Operator for KeepLast {
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
        let mut before = Vec::with_capacity(batch.len());
        self.apply(&batch, now, &mut before)?;
        let all = self.changes.len();
        let marks = ctx.marks().remap(|row| before.get(row).copied().unwrap_or(all));
        let columns = batch.rows.columns();
        if let Some(given) = self.changes.finish(columns, &mut self.rows, &self.schema)? {
            ctx.emit_marked(given, marks)?;
        }
        self.sweep(now, batch.len())?;
        self.account();
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.state_schema());
        let (last, rows) = (&self.last, &self.rows);
        self.slots.snapshot(section, |slot, out| rows.write_rows(&[last[slot as usize]], out))?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION.0, SECTION.1, &self.state_schema())?;
        let groups = ctx.task().max_parallelism;
        let (last, rows) = (&mut self.last, &mut self.rows);
        self.slots.restore(groups, ctx.now(), entries, |slot, _version, value| {
            read_last(last, rows, slot, value)
        })?;
        if let Some(column) = self.rowtime {
            self.times = row_times(&self.rows.gather(&self.last)?[column])?;
        }
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        true
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        let (groups, sizes) = (ctx.task().max_parallelism, (self.state_bytes, room));
        let (last, rows) = (&self.last, &self.rows);
        let leaving = self.slots.move_out(sizes, space, groups, |slot, out| {
            rows.write_rows(&[last[slot as usize]], out);
        })?;
        for slot in &leaving {
            self.rows.remove(std::mem::replace(&mut self.last[*slot as usize], NO_ROW));
        }
        self.slots.forget(&leaving);
        if self.slots.is_empty() {
            self.slots.give_back();
            self.rows = self.rows.emptied();
            (self.last, self.times) = Default::default();
        }
        self.account();
        Ok(())
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// Reads the row of a key that a snapshot or the disk holds.
pub(in crate::operators) fn read_last(
    last: &mut Vec<u32>,
    rows: &mut RowStore,
    slot: u32,
    input: &mut StateDecoder<'_>,
) -> flott_state::Result<()> {
    let row = rows.read_row(input)?;
    last.resize(last.len().max(slot as usize + 1), NO_ROW);
    last[slot as usize] = row;
    Ok(())
}
