//! The earliest row of each key by event time.

use arrow::datatypes::SchemaRef;
use flott_plan::physical::Deduplicate;
use flott_state::{KeySlots, NO_ROW, RowStore, StateReader, StateWriter, TimerQueue};
use flott_types::{ChangelogBatch, DataType, Schema};

use super::{SWEEP, key_types, row_times, ttl};
use crate::Result;
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::operator::Operator;
use crate::operators::aggregation::pick;
use crate::operators::ranking::Released;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("first rows", 1);

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
    /// By slot, the time of the row that waits.
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

    fn sweep(&mut self, now: i64, rows: usize) {
        let mut expired = Vec::new();
        self.slots.sweep(now, rows + SWEEP, &mut expired);
        expired.retain(|slot| self.waiting[*slot as usize] == NO_ROW);
        for slot in expired {
            self.times[slot as usize] = i64::MIN;
            self.slots.remove(slot);
        }
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
        self.sweep(ctx.now(), batch.len());
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
        let (waiting, rows) = (&self.waiting, &self.rows);
        self.slots.snapshot(section, |slot, out| {
            let waits = Some(waiting[slot as usize]).filter(|row| *row != NO_ROW);
            rows.write_rows(waits.as_slice(), out);
        })?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION.0, SECTION.1, &self.state_schema())?;
        let groups = ctx.task().max_parallelism;
        let (waiting, rows) = (&mut self.waiting, &mut self.rows);
        let mut ids = Vec::with_capacity(1);
        self.slots.restore(groups, ctx.now(), entries, |slot, _version, value| {
            ids.clear();
            rows.read_rows(value, &mut ids)?;
            waiting.resize(waiting.len().max(slot as usize + 1), NO_ROW);
            waiting[slot as usize] = match ids[..] {
                [] => NO_ROW,
                [row] => row,
                _ => return Err(value.damaged("several first rows for a key")),
            };
            Ok(())
        })?;
        // NULLs stand in for the rows that do not wait.
        self.times = row_times(&self.rows.gather(&self.waiting)?[self.rowtime])?;
        for (slot, row) in self.waiting.iter().enumerate() {
            if *row != NO_ROW {
                self.timers.register(self.times[slot], slot as u32);
            }
        }
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn handles_marks(&self) -> bool {
        true
    }
}
