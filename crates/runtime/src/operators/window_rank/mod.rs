//! Top-N and deduplication by window.

mod kept;
#[cfg(test)]
mod tests;

use arrow::datatypes::SchemaRef;
use flott_plan::logical::{RankEnd, RankFunction};
use flott_plan::physical::WindowRank;
use flott_state::{KeySlots, StateReader, StateWriter, TimerQueue};
use flott_types::{ChangelogBatch, DataType, Schema};

use super::aggregation::pick;
use super::movable;
use super::rank::{Bounds, Partition, walk};
use super::ranking::{Changes, Released, Run, SortedRows};
use super::window::{WallClock, instants};
use crate::Result;
use crate::context::{OperatorContext, TaskInfo};
use crate::late::LateRows;
use crate::operator::Operator;
use kept::KeptWindows;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("window rows", 1);

/// Keeps the first rows of each window and key, and gives them in their order when the watermark reaches the
/// window's last millisecond: Flink's window rank and window deduplication.
///
/// A row whose window has ended is late: dropped and counted. Windows that end at once leave in the order in
/// which their first rows came, those on disk part by part in the order of their keys.
pub struct WindowRankOperator {
    partition: Vec<usize>,
    window_end: usize,
    function: RankFunction,
    bounds: Bounds,
    end: RankEnd,
    with_number: bool,
    keeps_all: bool,
    clock: WallClock,
    slots: KeySlots,
    /// By slot.
    windows: Vec<Window>,
    /// When windows fire: the order in which they came, and their slots.
    timers: TimerQueue<(u64, u32)>,
    next: u64,
    sorted: SortedRows,
    changes: Changes,
    released: Released,
    schema: SchemaRef,
    order: String,
    run_bytes: usize,
    state_bytes: usize,
}

/// The rows of a window and key.
#[derive(Debug, Default)]
struct Window {
    rows: Run,
    /// The last rank given.
    last: u64,
    /// When it fires, and its place among those that fire at once.
    timer: (i64, u64),
}

impl WindowRankOperator {
    /// An operator over rows of `input` that gives columns of `schema`: those of the input, then
    /// the rank if it is wanted.
    pub fn new(
        spec: &WindowRank,
        input: &Schema,
        schema: SchemaRef,
        task: &TaskInfo,
    ) -> Result<Self> {
        let types: Vec<DataType> =
            spec.partition.iter().map(|column| input.fields[*column].data_type.clone()).collect();
        let end = match spec.range.end {
            RankEnd::Constant(end) => u64::try_from(end).unwrap_or(0),
            RankEnd::Column { .. } | RankEnd::Unbounded => u64::MAX,
        };
        Ok(Self {
            partition: spec.partition.clone(),
            window_end: spec.window_end,
            function: spec.function,
            bounds: Bounds { start: spec.range.start.max(1), end },
            end: spec.range.end,
            with_number: spec.with_number,
            keeps_all: spec.input_retracts,
            clock: WallClock::new(spec.is_ltz, &task.zone),
            slots: KeySlots::new(&types, None),
            windows: Vec::new(),
            timers: TimerQueue::new(),
            next: 0,
            sorted: SortedRows::new(input, &spec.order)?,
            changes: Changes::silent(),
            released: Released::default(),
            schema,
            order: format!("{:?} {:?}", spec.function, spec.order),
            run_bytes: 0,
            state_bytes: 0,
        })
    }

    fn apply(&mut self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<()> {
        let columns = batch.rows.columns();
        let keys = self.slots.encoder().encode(&pick(columns, &self.partition), batch.len())?;
        let (slots, mut kept) = self.parts();
        movable::load(slots, &mut kept, &keys, 0)?;
        let arrivals = self.sorted.arrivals(columns, batch.len())?;
        let (ends, _) = instants(&columns[self.window_end])?;
        let lasts = match self.end {
            RankEnd::Column { column, less } => super::rank::ends_of(&columns[column], less)?,
            _ => Vec::new(),
        };
        let mut watermark = ctx.watermark();
        let mut late = LateRows::new();
        for segment in ctx.marks().segments(batch.len()) {
            for row in segment.rows {
                let firing = self.clock.firing(ends[row].saturating_sub(1));
                if firing <= watermark {
                    late.push(row, watermark);
                    continue;
                }
                let (slot, fresh) = self.slots.write_one(&keys, row, 0)?;
                self.slots.meet(&[slot]);
                if fresh {
                    let last = lasts.get(row).copied().unwrap_or(self.bounds.end);
                    self.open_window(slot, firing, last);
                }
                self.step(slot, batch.kind(row).adds(), &arrivals, row)?;
            }
            if let Some(mark) = segment.watermark {
                watermark = watermark.max(mark);
                self.fire(mark);
                self.released.mark(mark);
            }
        }
        ctx.drop_late(0, batch, late)
    }

    fn open_window(&mut self, slot: u32, firing: i64, last: u64) {
        let at = slot as usize;
        self.windows.resize_with(self.windows.len().max(at + 1), Window::default);
        let timer = (firing, self.next);
        self.windows[at] = Window { rows: Run::default(), last, timer };
        self.timers.register(firing, (self.next, slot));
        self.next += 1;
    }

    fn step(
        &mut self,
        slot: u32,
        adds: bool,
        arrivals: &super::ranking::Arrivals,
        row: usize,
    ) -> Result<()> {
        let window = &mut self.windows[slot as usize];
        let before = window.rows.memory();
        let mut partition = Partition {
            bounds: Bounds { end: window.last, ..self.bounds },
            run: &mut window.rows,
            sorted: &mut self.sorted,
            out: &mut self.changes,
            numbered: false,
            keeps_all: self.keeps_all,
        };
        match (self.function, adds) {
            (RankFunction::RowNumber, true) => {
                partition.add(arrivals, row)?;
            }
            (RankFunction::RowNumber, false) => {
                partition.remove(arrivals, row);
            }
            (function, true) => {
                partition.add_tied(function, arrivals, row)?;
            }
            (function, false) => {
                partition.remove_tied(function, arrivals, row);
            }
        }
        self.run_bytes = self.run_bytes + self.windows[slot as usize].rows.memory() - before;
        Ok(())
    }

    /// Gives the rows of the windows that end up to an instant.
    fn fire(&mut self, until: i64) {
        while let Some((_, (_, slot))) = self.timers.pop_due(until) {
            let Window { mut rows, last, .. } = std::mem::take(&mut self.windows[slot as usize]);
            self.run_bytes -= rows.memory();
            let bounds = Bounds { end: last, ..self.bounds };
            for (id, rank) in walk(self.function, &self.sorted, &rows, 0, 1) {
                if !bounds.holds(rank) {
                    self.changes.retire(id);
                } else if self.with_number {
                    self.released.push_ranked(id, rank);
                } else {
                    self.released.push(id);
                }
            }
            drop(rows.take());
            self.slots.remove(slot);
        }
    }

    /// Gives what was released and forgets it.
    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.changes.finish(&[], &mut self.sorted, &self.schema)?;
        self.released.emit(&mut self.sorted, &self.schema, ctx)?;
        self.account();
        Ok(())
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, KeptWindows<'_>) {
        let windows = KeptWindows {
            windows: &mut self.windows,
            timers: &mut self.timers,
            next: &mut self.next,
            sorted: &mut self.sorted,
            run_bytes: &mut self.run_bytes,
        };
        (&mut self.slots, windows)
    }

    fn account(&mut self) {
        self.state_bytes = self.slots.memory()
            + self.sorted.memory()
            + self.timers.memory()
            + self.run_bytes
            + self.windows.capacity() * size_of::<Window>();
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&format!("{} by {}", self.sorted.schema(), self.order))
    }
}

impl Operator for WindowRankOperator {
    fn name(&self) -> &str {
        "WindowRank"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        self.apply(&batch, ctx)?;
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.fire(watermark);
        self.finish(ctx)?;
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
        self.fire(reached);
        self.finish(ctx)
    }

    fn handles_marks(&self) -> bool {
        true
    }
}
