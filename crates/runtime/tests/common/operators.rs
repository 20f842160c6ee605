//! Small operators.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use flott_runtime::{LateRows, Marks, Operator, OperatorContext, Result, RuntimeError};
use flott_state::{KeySlots, StateReader, StateWriter};
use flott_types::{ChangelogBatch, DataType, RowKind};

use super::{longs, schema};

/// Passes rows through, whole batches with their marks, and keeps those whose key is not negative.
pub struct Pass;

impl Operator for Pass {
    fn name(&self) -> &str {
        "Pass"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let keys = batch.column(0).as_primitive::<Int64Type>();
        let keep = BooleanArray::from_unary(keys, |key| key >= 0);
        let marks = ctx.marks().filter(&keep);
        ctx.emit_marked(batch.filter(&keep)?, marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// `COUNT(*) GROUP BY key`, row by row, with updates.
pub struct Count {
    groups: KeySlots,
    counts: Vec<i64>,
}

impl Count {
    pub fn new() -> Self {
        Self { groups: KeySlots::new(&[DataType::bigint()], None), counts: Vec::new() }
    }
}

impl Operator for Count {
    fn name(&self) -> &str {
        "Count"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        let keys = self.groups.encoder().encode(&[batch.column(0).clone()], batch.len())?;
        self.groups.write(&keys, 0, &mut slots, &mut fresh)?;
        self.counts.resize(self.groups.index().slot_bound() as usize, 0);
        let (mut out_keys, mut out_counts, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        for (slot, key) in slots.iter().zip(longs(&batch, 0)) {
            let count = &mut self.counts[*slot as usize];
            let mut push = |kind: RowKind, count: i64| {
                out_keys.push(key);
                out_counts.push(count);
                kinds.push(kind as u8);
            };
            if *count > 0 {
                push(RowKind::UpdateBefore, *count);
            }
            push(if *count > 0 { RowKind::UpdateAfter } else { RowKind::Insert }, *count + 1);
            *count += 1;
        }
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(out_keys)), Arc::new(Int64Array::from(out_counts))];
        let rows = RecordBatch::try_new(schema(&["key", "count"]), columns)?;
        ctx.emit(ChangelogBatch::new(rows, kinds.into()))
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed("groups", 1, &self.groups.schema("COUNT(*)"));
        let counts = &self.counts;
        self.groups.snapshot(section, |slot, out| out.i64(counts[slot as usize]))?;
        self.groups.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed("groups", 1, &self.groups.schema("COUNT(*)"))?;
        let counts = &mut self.counts;
        let groups = ctx.task().max_parallelism;
        Ok(self.groups.restore(groups, 0, entries, |slot, _, value| {
            counts.resize(counts.len().max(slot as usize + 1), 0);
            counts[slot as usize] = value.i64()?;
            Ok(())
        })?)
    }

    fn state_bytes(&self) -> usize {
        self.groups.memory() + self.counts.capacity() * 8
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// Drops rows whose time is not after the watermark, as event-time operators do.
pub struct DropLate {
    /// Whether it reads the marks itself rather than being fed in pieces.
    pub reads_marks: bool,
}

impl Operator for DropLate {
    fn name(&self) -> &str {
        "DropLate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx.marks();
        let watermarks = marks.per_row(batch.len(), ctx.watermark());
        let times = longs(&batch, 1);
        let keep: BooleanArray =
            times.iter().zip(&watermarks).map(|(time, watermark)| Some(time > watermark)).collect();
        let mut late = LateRows::new();
        (0..keep.len()).filter(|row| !keep.value(*row)).for_each(|row| {
            late.push(row, watermarks[row]);
        });
        ctx.drop_late(0, &batch, late)?;
        ctx.emit_marked(batch.filter(&keep)?, marks.filter(&keep))
    }

    fn handles_marks(&self) -> bool {
        self.reads_marks
    }
}

/// Gives every row with the watermark it met: `key`, `watermark`.
pub struct WatermarkOfRow;

impl Operator for WatermarkOfRow {
    fn name(&self) -> &str {
        "WatermarkOfRow"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let watermarks = Int64Array::from(vec![ctx.watermark(); batch.len()]);
        let columns: Vec<ArrayRef> = vec![batch.column(0).clone(), Arc::new(watermarks)];
        let rows = RecordBatch::try_new(schema(&["key", "watermark"]), columns)?;
        ctx.emit(ChangelogBatch::inserts(rows))
    }
}

/// Fails, or panics, at the row with this key.
pub struct FailAt {
    pub key: i64,
    pub panic: bool,
}

impl Operator for FailAt {
    fn name(&self) -> &str {
        "FailAt"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        if longs(&batch, 0).contains(&self.key) {
            assert!(!self.panic, "key {} is not liked", self.key);
            return Err(RuntimeError::operator(std::fmt::Error));
        }
        ctx.emit(batch)
    }

    fn handles_marks(&self) -> bool {
        false
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// Gives back rows after a delay in processing time.
#[derive(Default)]
pub struct Delay {
    pub millis: i64,
    waiting: Vec<(i64, ChangelogBatch)>,
}

impl Delay {
    pub fn new(millis: i64) -> Self {
        Self { millis, waiting: Vec::new() }
    }
}

impl Operator for Delay {
    fn name(&self) -> &str {
        "Delay"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let due = ctx.now() + self.millis;
        self.waiting.push((due, batch));
        ctx.register_timer(due);
        Ok(())
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        let (due, waiting): (Vec<_>, Vec<_>) =
            self.waiting.drain(..).partition(|(due, _)| *due <= time);
        self.waiting = waiting;
        due.into_iter().try_for_each(|(_, batch)| ctx.emit(batch))
    }
}

/// No marks, for tests that only care for rows.
pub const NO_MARKS: Marks = Marks::NONE;
