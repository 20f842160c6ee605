//! The earliest row of each key by event time.

use arrow::datatypes::SchemaRef;
use flott_plan::physical::Deduplicate;
use flott_state::{
    KeySlots, NO_ROW, RowStore, SlotMeta, StateDecoder, StateEncoder, StateError, StateReader,
    StateWriter, TimerQueue,
};
use flott_types::{ChangelogBatch, DataType, Schema};

use super::{SWEEP, key_types, row_times, ttl};
use crate::Result;
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::operator::Operator;
use crate::operators::aggregation::pick;
use crate::operators::movable::{self, Movable, Plain, ValueReader, ValueWriter};
use crate::operators::ranking::Released;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("first rows", 1);
/// The time of a row that was given before the state was read.
const GIVEN: i64 = i64::MAX;

/// Gives the earliest row of each key once the watermark says that no earlier one comes, Flink's
/// `RowTimeDeduplicateKeepFirstRowFunction`:
///
/// - A row before the watermark is late: dropped and counted.
/// - Of rows of the same time the one that came first is kept.
/// - What comes after a key's row was given is passed over. With a TTL a key is new again when so
///   long has passed since then; rows that wait for the watermark never expire.
pub(super) struct KeepFirstByTime {
    key: Vec<usize>,
    rowtime: usize,
    slots: KeySlots,
    /// By slot, the row that waits, or `NO_ROW` once it was given.
    waiting: Vec<u32>,
    /// By slot, the time of the row that waits or was given; `i64::MIN` before there is one.
    times: Vec<i64>,
    timers: TimerQueue<u32>,
    rows: RowStore,
    /// The watermark that set rows free last; rows that came after it wait for the next, whatever
    /// their time.
    watermark: i64,
    released: Released,
    schema: SchemaRef,
    state_bytes: usize,
}

impl KeepFirstByTime {
    pub fn new(spec: &Deduplicate, rowtime: usize, input: &Schema, schema: SchemaRef) -> Self {
        let types: Vec<DataType> = input.fields.iter().map(|f| f.data_type.clone()).collect();
        Self {
            key: spec.key.clone(),
            rowtime,
            // The row that waits for the watermark does not expire.
            slots: KeySlots::new(&key_types(spec, input), ttl(spec)).keeping_expired(),
            waiting: Vec::new(),
            times: Vec::new(),
            timers: TimerQueue::new(),
            rows: RowStore::new(&types),
            watermark: i64::MIN,
            released: Released::default(),
            schema,
            state_bytes: 0,
        }
    }

    fn apply(&mut self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<()> {
        let now = ctx.now();
        let columns = batch.rows.columns();
        let keys = self.slots.encoder().encode(&pick(columns, &self.key), batch.len())?;
        let (slots, mut kept) = self.parts();
        movable::load(slots, &mut kept, &keys, now)?;
        let rows = self.rows.encode(columns, batch.len())?;
        let times = row_times(&columns[self.rowtime])?;
        let mut watermark = ctx.watermark();
        let mut late = LateRows::new();
        for segment in ctx.marks().segments(batch.len()) {
            for row in segment.rows {
                let time = times[row];
                if time < watermark {
                    late.push(row, watermark);
                    continue;
                }
                let slot = match self.slots.index().lookup_one(&keys, row) {
                    Some(slot) => slot,
                    None => self.slots.write_one(&keys, row, now)?.0,
                };
                self.slots.meet(&[slot]);
                let is_new = self.grow(slot);
                let at = slot as usize;
                let waits = self.waiting[at];
                if waits != NO_ROW {
                    if time >= self.times[at] {
                        continue;
                    }
                    self.timers.delete(self.times[at], &slot);
                    self.rows.remove(waits);
                } else if !is_new && !self.slots.meta().is_expired(slot, now) {
                    continue;
                }
                self.waiting[at] = self.rows.insert(&rows, row)?;
                self.times[at] = time;
                self.timers.register(time, slot);
                self.slots.changed(slot);
            }
            if let Some(mark) = segment.watermark {
                watermark = watermark.max(mark);
                self.watermark = mark;
                self.release(mark, now);
                self.released.mark(mark);
            }
        }
        ctx.drop_late(0, batch, late)
    }

    /// Makes room for a slot; whether it is new.
    fn grow(&mut self, slot: u32) -> bool {
        let at = slot as usize;
        if at < self.waiting.len() {
            return self.times[at] == i64::MIN;
        }
        self.waiting.resize(at + 1, NO_ROW);
        self.times.resize(at + 1, i64::MIN);
        true
    }

    /// Gives the rows whose time has come.
    fn release(&mut self, watermark: i64, now: i64) {
        while let Some((_, slot)) = self.timers.pop_due(watermark) {
            let row = std::mem::replace(&mut self.waiting[slot as usize], NO_ROW);
            self.released.push(row);
            self.slots.written(slot, now);
        }
    }

    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.slots.sweep(now, rows + SWEEP, &mut expired);
        expired.retain(|slot| self.waiting[*slot as usize] == NO_ROW);
        for slot in expired {
            self.times[slot as usize] = i64::MIN;
            self.slots.remove(slot);
        }
        Ok(self.slots.sweep_disk(now, rows + SWEEP)?)
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, FirstRows<'_>) {
        let rows = FirstRows {
            rowtime: self.rowtime,
            waiting: &mut self.waiting,
            times: &mut self.times,
            timers: &mut self.timers,
            rows: &mut self.rows,
        };
        (&mut self.slots, rows)
    }

    fn account(&mut self) {
        self.state_bytes = self.slots.memory()
            + self.rows.memory()
            + self.timers.memory()
            + self.waiting.capacity() * size_of::<u32>()
            + self.times.capacity() * size_of::<i64>();
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&self.rows.codec().schema())
    }
}

impl Operator for KeepFirstByTime {
    fn name(&self) -> &str {
        "Deduplicate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        self.apply(&batch, ctx)?;
        self.released.emit(&mut self.rows, &self.schema, ctx)?;
        self.sweep(ctx.now(), batch.len())?;
        self.account();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.watermark < watermark {
            self.watermark = watermark;
            self.release(watermark, ctx.now());
            self.released.emit(&mut self.rows, &self.schema, ctx)?;
            self.account();
        }
        ctx.emit_watermark(watermark)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.state_schema());
        let (slots, kept) = self.parts();
        movable::snapshot(slots, &kept, section)?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION.0, SECTION.1, &self.state_schema())?;
        let (slots, mut kept) = self.parts();
        movable::restore(slots, &mut kept, entries, ctx.now(), ctx)?;
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
        let bytes = (self.state_bytes, room);
        let (slots, mut kept) = self.parts();
        if movable::make_way(slots, &mut kept, bytes, ctx)? {
            self.account();
        }
        Ok(())
    }

    fn due_on_disk(&self) -> Option<i64> {
        self.slots.next_due()
    }

    fn wake(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        let (slots, mut kept) = self.parts();
        let reached = movable::load_due(slots, &mut kept, until, ctx)?;
        self.release(reached, ctx.now());
        self.released.emit(&mut self.rows, &self.schema, ctx)?;
        self.account();
        Ok(())
    }

    fn handles_marks(&self) -> bool {
        true
    }
}

/// What is kept under a key: the row that waits, if it was not given yet.
struct FirstRows<'a> {
    rowtime: usize,
    waiting: &'a mut Vec<u32>,
    times: &'a mut Vec<i64>,
    timers: &'a mut TimerQueue<u32>,
    rows: &'a mut RowStore,
}

impl FirstRows<'_> {
    fn row(&self, slot: u32) -> Option<u32> {
        Some(self.waiting[slot as usize]).filter(|row| *row != NO_ROW)
    }
}

impl Movable for FirstRows<'_> {
    fn writer<'a>(&'a self, _slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        Ok(Plain(|slot: u32, out: &mut StateEncoder| {
            self.rows.write_rows(self.row(slot).as_slice(), out);
        }))
    }

    fn reader(&mut self, _now: i64) -> impl ValueReader + '_ {
        Reader { to: self, slots: Vec::new() }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for slot in slots {
            let at = *slot as usize;
            let time = std::mem::replace(&mut self.times[at], i64::MIN);
            let row = std::mem::replace(&mut self.waiting[at], NO_ROW);
            if row != NO_ROW {
                self.timers.delete(time, slot);
                self.rows.remove(row);
            }
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        (*self.waiting, *self.times, *self.timers) = Default::default();
        *self.rows = self.rows.emptied();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        let waits = slots.iter().filter(|slot| self.row(**slot).is_some());
        waits.map(|slot| (*slot, self.times[*slot as usize])).collect()
    }

    /// A row that waits does not expire.
    fn last_write(&self, slot: u32, meta: &SlotMeta) -> Option<i64> {
        meta.last_write(slot).filter(|_| self.row(slot).is_none())
    }
}

struct Reader<'a, 'b> {
    to: &'a mut FirstRows<'b>,
    /// Those with a row that waits.
    slots: Vec<u32>,
}

impl ValueReader for Reader<'_, '_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let at = slot as usize;
        let mut ids = Vec::with_capacity(1);
        self.to.rows.read_rows(input, &mut ids)?;
        if at >= self.to.waiting.len() {
            self.to.waiting.resize(at + 1, NO_ROW);
            self.to.times.resize(at + 1, i64::MIN);
        }
        match ids[..] {
            [] => {
                self.to.waiting[at] = NO_ROW;
                self.to.times[at] = GIVEN;
            }
            [row] => {
                self.to.waiting[at] = row;
                self.slots.push(slot);
            }
            _ => return Err(input.damaged("several first rows for a key")),
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let ids: Vec<u32> = self.slots.iter().map(|slot| self.to.waiting[*slot as usize]).collect();
        let columns = self.to.rows.gather_columns(&ids, &[self.to.rowtime])?;
        for (slot, time) in self.slots.into_iter().zip(row_times(&columns[0])?) {
            self.to.times[slot as usize] = time;
            self.to.timers.register(time, slot);
        }
        Ok(())
    }
}
