//! Group windows that give results beside their end, and so update them: `table.exec.emit.*`.

mod changes;
mod panes;
#[cfg(test)]
mod tests;
mod windows;

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use flott_plan::physical::{EmitStrategy, WindowAggregate, WindowOf, WindowSource};
use flott_state::{StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema};

use super::aggregation::pick;
use super::window::{Slices, WallClock, instants};
use crate::context::{OperatorContext, TaskInfo};
use crate::late::LateRows;
use crate::operator::Operator;
use crate::{Result, RuntimeError};
use changes::Changes;
use panes::Panes;
use windows::Windows;

/// Keeps aggregates by window and key, and gives and updates a window's row whenever its strategy says so:
///
/// - at the end of the window, and before it with every row or each so many milliseconds;
/// - after the end with every row that comes late, or each so many milliseconds, until the watermark has
///   gone past the end by the allowed lateness, when the window is forgotten;
/// - a result that did not change is not given again; one whose rows were all taken back is deleted.
///
/// Rows whose windows are all forgotten are late: dropped and counted. As in Flink, what came late and
/// waits for its delay when the window is forgotten is lost.
pub struct GroupWindowOperator {
    window: WindowOf,
    slices: Slices,
    clock: WallClock,
    strategy: EmitStrategy,
    keys: Vec<usize>,
    panes: Panes,
    windows: Windows,
    changes: Changes,
    state_bytes: usize,
}

/// The rows of a batch that are not late.
struct Accepted {
    columns: Vec<ArrayRef>,
    signs: Option<Vec<i8>>,
    times: Vec<i64>,
    now: i64,
}

impl GroupWindowOperator {
    /// An operator over rows of `input` that gives columns of `schema`; `spec` has an emit strategy and
    /// windows that are no sessions.
    pub fn new(
        spec: &WindowAggregate,
        strategy: EmitStrategy,
        input: &Schema,
        schema: SchemaRef,
        task: &TaskInfo,
    ) -> Result<Self> {
        let WindowSource::Assign(window) = &spec.window else {
            return Err(RuntimeError::internal("", "an emit strategy for windows of the input"));
        };
        let slices = Slices::of(window.kind)
            .ok_or_else(|| RuntimeError::internal("", "an emit strategy for sessions"))?;
        let clock = WallClock::new(window.is_ltz, &task.zone);
        Ok(Self {
            window: window.clone(),
            slices,
            strategy,
            keys: spec.keys.clone(),
            panes: Panes::new(spec, input, slices)?,
            windows: Windows::new(spec, input, strategy),
            changes: Changes::new(&spec.outputs, &spec.calls, clock.clone(), schema),
            clock,
            state_bytes: 0,
        })
    }

    /// When a window's last millisecond is over, and when it is forgotten.
    fn ends(&self, window_end: i64) -> (i64, i64) {
        let last = window_end.saturating_sub(1);
        let lateness = i64::try_from(self.strategy.allow_lateness).unwrap_or(i64::MAX);
        (self.clock.firing(last), self.clock.firing(last.saturating_add(lateness)))
    }

    /// The rows that a window still takes; those that came too late are dropped.
    fn accept(&self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<Accepted> {
        let now = ctx.now();
        let watermark = self.watermark(ctx);
        let mut times = Vec::with_capacity(batch.len());
        let mut picked = Vec::with_capacity(batch.len());
        let mut late = LateRows::new();
        if self.window.is_rowtime {
            let (instants, nulls) = instants(batch.column(self.window.time_column))?;
            for (row, instant) in (0u32..).zip(instants.iter()) {
                if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row as usize)) {
                    continue;
                }
                let time = self.clock.local(*instant);
                if self.open_windows(time, watermark).next().is_none() {
                    if self.slices.windows(time).next().is_some() {
                        late.push(row as usize, watermark);
                    }
                    continue;
                }
                picked.push(row);
                times.push(time);
            }
        } else {
            let time = self.clock.local(now);
            if self.slices.windows(time).next().is_some() {
                picked.extend(0..batch.len() as u32);
                times.resize(batch.len(), time);
            }
        }
        let sign = |row: u32| if batch.kind(row as usize).adds() { 1 } else { -1 };
        let signs = batch.kinds.is_some().then(|| picked.iter().map(|row| sign(*row)).collect());
        let columns = if picked.len() == batch.len() {
            batch.rows.columns().to_vec()
        } else {
            let picked = UInt32Array::from(picked);
            batch.rows.columns().iter().map(|c| take(c, &picked, None)).collect::<Result<_, _>>()?
        };
        ctx.drop_late(0, batch, late)?;
        Ok(Accepted { columns, signs, times, now })
    }

    fn watermark(&self, ctx: &OperatorContext) -> i64 {
        if self.window.is_rowtime { ctx.watermark() } else { i64::MIN }
    }

    /// The windows of a time that are not forgotten, in Flink's order.
    fn open_windows(&self, time: i64, watermark: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.slices.windows(time).filter(move |(_, end)| self.ends(*end).1 > watermark)
    }

    /// Takes in rows, and gives the results of windows that give one with each row.
    fn add(&mut self, rows: &Accepted, watermark: i64) -> Result<()> {
        let count = rows.times.len();
        let mut of_row = Vec::new();
        let mut bounds = Vec::new();
        for (row, time) in (0u32..).zip(&rows.times) {
            bounds.extend(self.open_windows(*time, watermark));
            of_row.resize(bounds.len(), row);
        }
        let picked = UInt32Array::from(of_row.clone());
        let keys: Vec<ArrayRef> = self
            .keys
            .iter()
            .map(|key| take(&rows.columns[*key], &picked, None))
            .collect::<Result<_, _>>()?;
        let mut with_end = keys;
        let ends = bounds.iter().map(|(_, end)| *end);
        with_end.push(Arc::new(Int64Array::from_iter_values(ends)));
        let mut slots = Vec::new();
        self.windows.find(&with_end, &bounds, &mut slots)?;
        let mut fires = vec![false; slots.len()];
        for (at, slot) in slots.iter().enumerate() {
            let is_over = self.ends(bounds[at].1).0 <= watermark;
            fires[at] = self.windows.on_row(*slot, is_over, rows.now);
        }
        self.panes.find(&pick(&rows.columns, &self.keys), &rows.times)?;
        if !fires.contains(&true) {
            return self.panes.add_all(&rows.columns, rows.signs.as_deref(), rows.now);
        }
        if self.panes.are_windows() {
            // Each row has one window: what it gives is known from the results after each row.
            let (results, counts) =
                self.panes.add_with_results(&rows.columns, rows.signs.as_deref(), rows.now)?;
            let results = self.changes.encode(&results, 2 * count)?;
            for at in (0..slots.len()).filter(|at| fires[*at]) {
                let row = of_row[at] as usize;
                let result = (counts[row] != 0).then_some(2 * row + 1);
                self.windows.give(slots[at], &results, result, &mut self.changes)?;
            }
            return Ok(());
        }
        let mut at = 0;
        for row in 0..count {
            self.panes.add_one(row, &rows.columns, rows.signs.as_deref(), rows.now)?;
            let first = at;
            while at < slots.len() && of_row[at] as usize == row {
                at += 1;
            }
            let firing: Vec<u32> =
                (first..at).filter(|at| fires[*at]).map(|at| slots[at]).collect();
            self.give(&firing)?;
        }
        Ok(())
    }

    /// Gives the results that windows have now.
    fn give(&mut self, slots: &[u32]) -> Result<()> {
        if slots.is_empty() {
            return Ok(());
        }
        let bounds: Vec<(i64, i64)> = slots.iter().map(|slot| self.windows.bounds(*slot)).collect();
        let keys = self.windows.key_columns(slots)?;
        let (results, counts) = self.panes.results(&keys, &bounds)?;
        let results = self.changes.encode(&results, slots.len())?;
        for (at, slot) in slots.iter().enumerate() {
            let result = (counts[at] != 0).then_some(at);
            self.windows.give(*slot, &results, result, &mut self.changes)?;
        }
        Ok(())
    }

    /// Gives the windows that end up to an instant, and forgets those whose lateness is over.
    fn pass(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        let ending = {
            let clock = &self.clock;
            let is_over = |end: i64| clock.firing(end.saturating_sub(1)) <= until;
            self.windows.take_ending(is_over)
        };
        for slots in ending {
            self.give(&slots)?;
        }
        self.flush(ctx)?;
        let lateness = i64::try_from(self.strategy.allow_lateness).unwrap_or(i64::MAX);
        let clock = self.clock.clone();
        let is_past =
            |end: i64| clock.firing(end.saturating_sub(1).saturating_add(lateness)) <= until;
        self.windows.forget(is_past);
        let slices = self.slices;
        let last_window = |slice_end: i64| {
            let next = |end: &i64| slices.next_window(slice_end, *end);
            std::iter::successors(slices.first_window(slice_end), next).last()
        };
        self.panes.forget(|slice_end| last_window(slice_end).is_none_or(is_past));
        Ok(())
    }

    fn flush(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        match self.changes.take(&self.windows)? {
            Some(batch) => ctx.emit(batch),
            None => Ok(()),
        }
    }

    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.flush(ctx)?;
        self.register(ctx);
        self.state_bytes = self.panes.memory() + self.windows.memory();
        Ok(())
    }

    fn register(&self, ctx: &mut OperatorContext) {
        if let Some(time) = self.windows.next_timer() {
            ctx.register_timer(time);
        }
        if !self.window.is_rowtime
            && let Some(end) = self.windows.next_ending()
        {
            // The last millisecond of a window takes rows until it is over.
            ctx.register_timer(self.ends(end).0.saturating_add(1));
        }
    }
}

impl Operator for GroupWindowOperator {
    fn name(&self) -> &str {
        "GroupWindowAggregate"
    }

    fn open(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.register(ctx);
        Ok(())
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let watermark = self.watermark(ctx);
        let rows = self.accept(&batch, ctx)?;
        if !rows.times.is_empty() {
            self.add(&rows, watermark)?;
        }
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.window.is_rowtime {
            self.pass(watermark, ctx)?;
            self.finish(ctx)?;
        }
        ctx.emit_watermark(watermark)
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        let due = self.windows.take_due(time);
        self.give(&due)?;
        if !self.window.is_rowtime {
            self.pass(time.saturating_sub(1), ctx)?;
        }
        self.finish(ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        self.panes.snapshot(state)?;
        self.windows.snapshot(state)
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        self.panes.restore(state, ctx)?;
        self.windows.restore(state, ctx, |end| self.slices.window_start(end))?;
        self.state_bytes = self.panes.memory() + self.windows.memory();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }
}
