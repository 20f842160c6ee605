//! ORDER BY time: rows wait for the watermark and leave in order.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_plan::physical::{RowOrder, TemporalSort};
use flott_state::{StateDecoder, StateEncoder, StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema};

use super::deduplicate::row_times;
use super::ranking::{Released, Run, SortedRows};
use crate::Result;
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::operator::Operator;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("rows by time", 1);

/// Gives insert-only rows in the order of a time attribute, rows of the same time in an order of
/// their own or as they came: Flink's `RowTimeSortOperator` and `ProcTimeSortOperator`.
///
/// - By event time rows leave when the watermark reaches their time. A row not after the last one that left
///   is late: dropped and counted.
/// - By processing time rows leave a millisecond after they came, or when the input ends.
pub struct TemporalSortOperator {
    rowtime: Option<usize>,
    has_order: bool,
    sorted: SortedRows,
    /// The rows that wait: their time, their arrival, their number.
    pending: BinaryHeap<Reverse<(i64, u64, u32)>>,
    arrivals: u64,
    /// The time of the row that left last.
    last: i64,
    /// The watermark that set rows free last; rows that came after it wait for the next, whatever
    /// their time.
    watermark: i64,
    released: Released,
    schema: SchemaRef,
    state_bytes: usize,
}

impl TemporalSortOperator {
    /// An operator over rows of `input`; `schema` is the same in Arrow's words.
    pub fn new(spec: &TemporalSort, input: &Schema, schema: SchemaRef) -> Result<Self> {
        let order = RowOrder { columns: spec.order.clone(), newest_first: false };
        Ok(Self {
            rowtime: spec.rowtime,
            has_order: !spec.order.is_empty(),
            sorted: SortedRows::new(input, &order)?,
            pending: BinaryHeap::new(),
            arrivals: 0,
            last: i64::MIN,
            watermark: i64::MIN,
            released: Released::default(),
            schema,
            state_bytes: 0,
        })
    }

    /// Takes in rows, and gives those that watermarks between them set free.
    fn sort_by_event_time(
        &mut self,
        time: &ArrayRef,
        batch: &ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let arrivals = self.sorted.arrivals(batch.rows.columns(), batch.len())?;
        let times = row_times(time)?;
        let mut late = LateRows::new();
        let mut watermark = ctx.watermark();
        for segment in ctx.marks().segments(batch.len()) {
            for row in segment.rows {
                if self.last != i64::MIN && times[row] <= self.last {
                    late.push(row, watermark);
                    continue;
                }
                let id = self.sorted.insert(&arrivals, row)?;
                self.wait(times[row], id);
            }
            if let Some(mark) = segment.watermark {
                watermark = mark;
                self.watermark = mark;
                self.release(mark);
                self.released.mark(mark);
            }
        }
        ctx.drop_late(0, batch, late)?;
        self.released.emit(&mut self.sorted, &self.schema, ctx)
    }

    fn sort_by_processing_time(
        &mut self,
        batch: &ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let arrivals = self.sorted.arrivals(batch.rows.columns(), batch.len())?;
        for row in 0..batch.len() {
            let id = self.sorted.insert(&arrivals, row)?;
            self.wait(0, id);
        }
        ctx.register_timer(ctx.now().saturating_add(1));
        Ok(())
    }

    fn wait(&mut self, time: i64, id: u32) {
        self.pending.push(Reverse((time, self.arrivals, id)));
        self.arrivals += 1;
    }

    /// Gives the rows up to a time, in order.
    fn release(&mut self, until: i64) {
        let mut due = Vec::new();
        while let Some(Reverse(row)) = self.pending.peek()
            && row.0 <= until
        {
            due.push(*row);
            self.pending.pop();
        }
        if self.has_order {
            let key = |id: u32| self.sorted.key(id);
            due.sort_by(|(time, arrival, id), (other_time, other_arrival, other)| {
                (time, key(*id), arrival).cmp(&(other_time, key(*other), other_arrival))
            });
        }
        if let Some((time, ..)) = due.last() {
            self.last = *time;
        }
        due.into_iter().for_each(|(_, _, id)| self.released.push(id));
    }

    fn release_all(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.release(i64::MAX);
        self.released.emit(&mut self.sorted, &self.schema, ctx)?;
        self.account();
        Ok(())
    }

    fn account(&mut self) {
        self.state_bytes =
            self.sorted.memory() + self.pending.capacity() * size_of::<(i64, u64, u32)>();
    }
}

impl Operator for TemporalSortOperator {
    fn name(&self) -> &str {
        "TemporalSort"
    }

    fn open(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        if self.rowtime.is_none() && !self.pending.is_empty() {
            ctx.register_timer(ctx.now().saturating_add(1));
        }
        Ok(())
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        match self.rowtime {
            Some(column) => self.sort_by_event_time(batch.column(column), &batch, ctx)?,
            None if self.has_order => self.sort_by_processing_time(&batch, ctx)?,
            None => return ctx.emit_marked(batch, ctx.marks()),
        }
        self.account();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.rowtime.is_some() && self.watermark < watermark {
            self.watermark = watermark;
            self.release(watermark);
            self.released.emit(&mut self.sorted, &self.schema, ctx)?;
            self.account();
        }
        ctx.emit_watermark(watermark)
    }

    fn on_timer(&mut self, _time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.release_all(ctx)
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        if self.rowtime.is_none() { self.release_all(ctx) } else { Ok(()) }
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let mut pending: Vec<(u64, i64, u32)> = self
            .pending
            .iter()
            .map(|Reverse((time, arrival, id))| (*arrival, *time, *id))
            .collect();
        pending.sort_unstable();
        let run: Run = pending.iter().map(|(_, _, id)| *id).collect();
        state.operator(SECTION.0, SECTION.1, |out| {
            out.i64(self.last);
            out.list(pending.iter(), |out: &mut StateEncoder, (_, time, _)| out.i64(*time));
            self.sorted.write(&run, out);
        });
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, _ctx: &OperatorContext) -> Result<()> {
        for (_, mut value) in state.operator(SECTION.0, SECTION.1)? {
            self.last = self.last.max(value.i64()?);
            let times = value.list(StateDecoder::i64)?;
            let run = self.sorted.read(&mut value)?;
            if run.len() != times.len() {
                return Err(value.damaged("not one time for each row").into());
            }
            for (time, id) in times.into_iter().zip(run.iter()) {
                self.wait(time, id);
            }
        }
        self.sorted.restore_keys()?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        self.rowtime.is_some()
    }
}
