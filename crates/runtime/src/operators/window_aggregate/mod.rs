//! Aggregation by window and key.

mod fired;
mod pane;
mod sessions;
mod sliced;
#[cfg(test)]
mod tests;

use std::ops::Range;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_plan::physical::{WindowAggregate, WindowSource};
use flott_state::{StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema};

use super::window::{WallClock, instants};
use crate::Result;
use crate::context::{OperatorContext, TaskInfo};
use crate::late::LateRows;
use crate::operator::Operator;
use fired::Fired;
use sessions::Sessions;
use sliced::Sliced;

/// Keeps aggregates by window and key, and gives a row for each when the window ends: when the
/// watermark, or processing time, reaches its last millisecond.
///
/// A row whose windows have all ended is late: it is dropped and counted. One that came late for
/// some of its windows, of HOP or CUMULATE, counts in the others. Windows of processing time do not
/// end with the input.
pub struct WindowAggregateOperator {
    times: TimeSource,
    is_rowtime: bool,
    windows: Box<dyn Windows>,
    fired: Fired,
    state_bytes: usize,
}

/// Where the times of rows come from.
enum TimeSource {
    /// A column of event time, seen by a clock.
    Column(usize, WallClock),
    /// Processing time, seen by a clock.
    Processing(WallClock),
}

/// Rows with their times.
struct TimedRows<'a> {
    columns: &'a [ArrayRef],
    /// +1 or −1 for each row; `None`: all are added.
    signs: Option<&'a [i8]>,
    /// Wall-clock milliseconds; where the input names the windows, their ends.
    times: &'a [Option<i64>],
    /// The watermark before each row; in processing time no row is late.
    watermarks: &'a [i64],
    /// Processing time.
    now: i64,
}

/// The windows of an operator and their state.
trait Windows: Send {
    /// Takes in rows and gives those that were late. Rows without a time are passed over.
    fn add(&mut self, rows: &TimedRows) -> Result<LateRows>;

    /// When the next window fires.
    fn next_firing(&self) -> Option<i64>;

    /// When the first window of a time fires.
    fn first_firing(&self, time: i64) -> i64;

    /// Gives the rows of the windows that fire up to an instant, in the order of their ends, and
    /// drops what no later window needs.
    fn fire(&mut self, until: i64, out: &mut Fired) -> Result<()>;

    /// Writes the state.
    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()>;

    /// Takes up state that was written.
    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()>;

    /// The bytes held, in constant time.
    fn memory(&self) -> usize;

    /// Whether keys can move to disk.
    fn spills(&self) -> bool;

    /// Moves keys to disk, so that `room` bytes are enough for the rest.
    fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()>;

    /// The first instant at which a window may fire that is on disk.
    fn next_due(&self) -> Option<i64>;

    /// Fires part of what is on disk of the windows up to an instant, and what is in memory of those before.
    fn wake(&mut self, until: i64, out: &mut Fired, ctx: &OperatorContext) -> Result<()>;
}

impl WindowAggregateOperator {
    /// An operator over rows of `input` that gives columns of `schema`.
    pub fn new(
        spec: &WindowAggregate,
        input: &Schema,
        schema: SchemaRef,
        task: &TaskInfo,
    ) -> Result<Self> {
        let (is_rowtime, is_ltz) = match &spec.window {
            WindowSource::Assign(window) => (window.is_rowtime, window.is_ltz),
            WindowSource::Attached { is_rowtime, is_ltz, .. } => (*is_rowtime, *is_ltz),
        };
        let clock = WallClock::new(is_ltz, &task.zone);
        let times = match &spec.window {
            // Ends of windows are wall-clock time, whatever the time of rows is.
            WindowSource::Attached { end, .. } => TimeSource::Column(*end, WallClock::plain()),
            WindowSource::Assign(window) if is_rowtime => {
                TimeSource::Column(window.time_column, clock.clone())
            }
            WindowSource::Assign(_) => TimeSource::Processing(clock.clone()),
        };
        let windows: Box<dyn Windows> = match Sliced::new(spec, input, &clock, task)? {
            Some(sliced) => Box::new(sliced),
            None => Box::new(Sessions::new(spec, input, &clock)?),
        };
        let fired = Fired::new(&spec.outputs, clock, schema);
        Ok(Self { times, is_rowtime, windows, fired, state_bytes: 0 })
    }

    fn times(&self, batch: &ChangelogBatch, now: i64) -> Result<Vec<Option<i64>>> {
        match &self.times {
            TimeSource::Processing(clock) => Ok(vec![Some(clock.local(now)); batch.len()]),
            TimeSource::Column(column, clock) => {
                let (instants, nulls) = instants(batch.column(*column))?;
                let local = instants.iter().map(|instant| Some(clock.local(*instant)));
                Ok(match nulls {
                    None => local.collect(),
                    Some(nulls) => {
                        local.zip(&nulls).map(|(time, valid)| time.filter(|_| valid)).collect()
                    }
                })
            }
        }
    }

    /// Takes in the rows of a batch and fires windows where watermarks stand between them.
    fn add(&mut self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<()> {
        let now = ctx.now();
        let rows = Rows {
            times: self.times(batch, now)?,
            signs: batch
                .kinds
                .as_ref()
                .map(|kinds| kinds.iter().map(|kind| if kind.adds() { 1 } else { -1 }).collect()),
            watermarks: match self.is_rowtime {
                true => ctx.marks().per_row(batch.len(), ctx.watermark()),
                false => vec![i64::MIN; batch.len()],
            },
            batch,
            now,
        };
        if !self.is_rowtime || ctx.marks().is_empty() {
            return self.add_range(&rows, 0..batch.len(), ctx);
        }
        let mut added = 0;
        let mut nearest = self.windows.next_firing();
        for segment in ctx.marks().segments(batch.len()) {
            let earliest = rows.times[segment.rows.clone()].iter().flatten().min();
            if let Some(earliest) = earliest {
                // A window that a row is taken into has not fired yet.
                let firing = self.windows.first_firing(*earliest);
                let firing = firing.max(rows.watermarks[segment.rows.start].saturating_add(1));
                nearest = Some(nearest.map_or(firing, |nearest| nearest.min(firing)));
            }
            let Some(watermark) = segment.watermark else { continue };
            if nearest.is_some_and(|nearest| nearest <= watermark) {
                self.add_range(&rows, added..segment.rows.end, ctx)?;
                added = segment.rows.end;
                self.windows.fire(watermark, &mut self.fired)?;
                self.fired.mark(watermark);
                nearest = self.windows.next_firing();
            }
        }
        self.add_range(&rows, added..batch.len(), ctx)
    }

    fn add_range(
        &mut self,
        rows: &Rows,
        range: Range<usize>,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let batch = rows.batch.slice(range.start, range.len());
        let late = self.windows.add(&TimedRows {
            columns: batch.rows.columns(),
            signs: rows.signs.as_deref().map(|signs| &signs[range.clone()]),
            times: &rows.times[range.clone()],
            watermarks: &rows.watermarks[range],
            now: rows.now,
        })?;
        ctx.drop_late(0, &batch, late)
    }

    /// Gives out what fired, and asks to be called when the next window of processing time does.
    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.state_bytes = self.windows.memory();
        self.register(ctx);
        match self.fired.take()? {
            Some((batch, marks)) => ctx.emit_marked(batch, marks),
            None => Ok(()),
        }
    }

    fn register(&self, ctx: &mut OperatorContext) {
        let next = [self.windows.next_firing(), self.windows.next_due()];
        let next = next.into_iter().flatten().min();
        if let Some(firing) = next.filter(|_| !self.is_rowtime) {
            ctx.register_timer(firing.saturating_add(self.delay()));
        }
    }

    /// How long after its instant a window fires: in processing time its last millisecond takes rows until it is over.
    fn delay(&self) -> i64 {
        i64::from(!self.is_rowtime)
    }
}

/// The rows of a batch with what is known of each.
struct Rows<'a> {
    batch: &'a ChangelogBatch,
    times: Vec<Option<i64>>,
    signs: Option<Vec<i8>>,
    watermarks: Vec<i64>,
    now: i64,
}

impl Operator for WindowAggregateOperator {
    fn name(&self) -> &str {
        "WindowAggregate"
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
        self.add(&batch, ctx)?;
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.is_rowtime {
            self.windows.fire(watermark, &mut self.fired)?;
            self.finish(ctx)?;
        }
        ctx.emit_watermark(watermark)
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.windows.fire(time.saturating_sub(1), &mut self.fired)?;
        self.finish(ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        self.windows.snapshot(state)
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        self.windows.restore(state, ctx)?;
        self.state_bytes = self.windows.memory();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        self.windows.spills()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        self.windows.make_way(room, ctx)?;
        self.state_bytes = self.windows.memory();
        Ok(())
    }

    fn due_on_disk(&self) -> Option<i64> {
        self.windows.next_due().map(|due| due.saturating_add(self.delay()))
    }

    fn wake(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.windows.wake(until.saturating_sub(self.delay()), &mut self.fired, ctx)?;
        self.finish(ctx)
    }

    fn handles_marks(&self) -> bool {
        true
    }
}
