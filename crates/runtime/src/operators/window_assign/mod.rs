//! Window table functions without aggregation: each row with its windows.

mod sessions;
#[cfg(test)]
mod tests;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::datatypes::SchemaRef;
use flott_plan::logical::WindowKind;
use flott_plan::physical::WindowOf;
use flott_state::{StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema};

use super::window::{Slices, WallClock, instants, timestamps};
use crate::Result;
use crate::context::{OperatorContext, TaskInfo};
use crate::operator::Operator;
use sessions::SessionRows;

/// Gives each row once for each of its windows, with the window's start, end and time as columns.
///
/// Rows of TUMBLE, HOP and CUMULATE come at once, late or not; those of SESSION when their session
/// ends. Rows without a time are in no window and dropped, as in Flink.
pub struct WindowAssignOperator {
    window: WindowOf,
    clock: WallClock,
    windows: Windows,
    schema: SchemaRef,
}

enum Windows {
    /// Known from a row alone.
    Aligned(Slices),
    /// Known when they end.
    Sessions(Box<SessionRows>),
}

impl WindowAssignOperator {
    /// An operator over rows of `input` that gives columns of `schema`: those of the input, then the
    /// window's.
    pub fn new(
        window: &WindowOf,
        input: &Schema,
        schema: SchemaRef,
        task: &TaskInfo,
    ) -> Result<Self> {
        let clock = WallClock::new(window.is_ltz, &task.zone);
        let windows = match (Slices::of(window.kind), window.kind) {
            (None, WindowKind::Session { gap }) => {
                Windows::Sessions(Box::new(SessionRows::new(window, gap, input, &clock)))
            }
            (Some(slices), _) => Windows::Aligned(slices),
            (None, _) => {
                return Err(crate::RuntimeError::internal("", "a window of an unknown kind"));
            }
        };
        Ok(Self { window: window.clone(), clock, windows, schema })
    }

    /// The wall-clock time of each row, `None` for NULL.
    fn times(&self, batch: &ChangelogBatch, ctx: &OperatorContext) -> Result<Vec<Option<i64>>> {
        if !self.window.is_rowtime {
            return Ok(vec![Some(self.clock.local(ctx.now())); batch.len()]);
        }
        let (instants, nulls) = instants(batch.column(self.window.time_column))?;
        let time = |(row, instant): (usize, &i64)| {
            let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            valid.then(|| self.clock.local(*instant))
        };
        Ok(instants.iter().enumerate().map(time).collect())
    }

    fn assign(
        &self,
        slices: Slices,
        batch: &ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let times = self.times(batch, ctx)?;
        let mut picked = Vec::with_capacity(batch.len());
        let mut bounds = Vec::with_capacity(batch.len());
        let mut counts = Vec::with_capacity(batch.len() + 1);
        counts.push(0);
        for (row, time) in (0u32..).zip(times) {
            bounds.extend(time.into_iter().flat_map(|time| slices.windows(time)));
            picked.resize(bounds.len(), row);
            counts.push(bounds.len());
        }
        let marks = ctx.marks().remap(|row| counts[row]);
        let once = picked.iter().enumerate().all(|(at, row)| at == *row as usize);
        let out = if once && picked.len() == batch.len() {
            batch.clone()
        } else {
            batch.take(&UInt32Array::from(picked))?
        };
        let rows = self.with_windows(out.rows.columns(), &bounds)?;
        ctx.emit_marked(ChangelogBatch { rows, kinds: out.kinds }, marks)
    }

    /// Rows and the bounds of their windows as a batch.
    fn with_windows(&self, columns: &[ArrayRef], bounds: &[(i64, i64)]) -> Result<RecordBatch> {
        let window = [
            timestamps(bounds.iter().map(|(start, _)| *start).collect()),
            timestamps(bounds.iter().map(|(_, end)| *end).collect()),
            timestamps(bounds.iter().map(|(_, end)| self.clock.instant(*end - 1)).collect()),
        ];
        let columns = columns.iter().cloned().chain(window).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(bounds.len()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    /// Asks to be called when the next session of processing time is over.
    fn register(&self, ctx: &mut OperatorContext) {
        if let Windows::Sessions(sessions) = &self.windows
            && !self.window.is_rowtime
            && let Some(firing) = sessions.next_firing()
        {
            ctx.register_timer(firing.saturating_add(self.delay()));
        }
    }

    /// How long after its instant a session is given: in processing time its last millisecond still takes rows.
    fn delay(&self) -> i64 {
        i64::from(!self.window.is_rowtime)
    }

    /// Gives the rows of the sessions that end up to an instant.
    fn fire(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        let Windows::Sessions(sessions) = &mut self.windows else { return Ok(()) };
        let (columns, bounds) = sessions.fire(until)?;
        self.register(ctx);
        let mut start = 0;
        for chunk in bounds.chunks(ChangelogBatch::MAX_ROWS) {
            let part: Vec<ArrayRef> =
                columns.iter().map(|column| column.slice(start, chunk.len())).collect();
            ctx.emit(ChangelogBatch::inserts(self.with_windows(&part, chunk)?))?;
            start += chunk.len();
        }
        Ok(())
    }
}

impl Operator for WindowAssignOperator {
    fn name(&self) -> &str {
        "WindowTableFunction"
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
        if let Windows::Aligned(slices) = self.windows {
            return self.assign(slices, &batch, ctx);
        }
        let times = self.times(&batch, ctx)?;
        let watermark = if self.window.is_rowtime { ctx.watermark() } else { i64::MIN };
        let Windows::Sessions(sessions) = &mut self.windows else { return Ok(()) };
        let late = sessions.add(batch.rows.columns(), &times, watermark)?;
        ctx.drop_late(0, &batch, late)?;
        self.register(ctx);
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.window.is_rowtime {
            self.fire(watermark, ctx)?;
        }
        ctx.emit_watermark(watermark)
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.fire(time.saturating_sub(1), ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        match &mut self.windows {
            Windows::Aligned(_) => Ok(()),
            Windows::Sessions(sessions) => sessions.snapshot(state),
        }
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        match &mut self.windows {
            Windows::Aligned(_) => Ok(()),
            Windows::Sessions(sessions) => sessions.restore(state, ctx),
        }
    }

    fn state_bytes(&self) -> usize {
        match &self.windows {
            Windows::Aligned(_) => 0,
            Windows::Sessions(sessions) => sessions.memory(),
        }
    }

    fn spills(&self) -> bool {
        matches!(&self.windows, Windows::Sessions(sessions) if sessions.spills())
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        match &mut self.windows {
            Windows::Aligned(_) => Ok(()),
            Windows::Sessions(sessions) => sessions.make_way(room, ctx),
        }
    }

    fn due_on_disk(&self) -> Option<i64> {
        let Windows::Sessions(sessions) = &self.windows else { return None };
        sessions.next_due().map(|due| due.saturating_add(self.delay()))
    }

    fn wake(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        let until = until.saturating_sub(self.delay());
        let Windows::Sessions(sessions) = &mut self.windows else { return Ok(()) };
        let reached = sessions.load_due(until, ctx)?;
        self.fire(reached, ctx)
    }

    fn handles_marks(&self) -> bool {
        matches!(self.windows, Windows::Aligned(_))
    }

    fn needs_exact_watermarks(&self) -> bool {
        matches!(self.windows, Windows::Sessions(_))
    }
}
