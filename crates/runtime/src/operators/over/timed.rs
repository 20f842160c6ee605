//! OVER in the order of time.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_plan::logical::{FrameBound, FrameUnit};
use flott_plan::physical::{OverMode, OverWindow};
use flott_state::{KeySlots, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, Schema, Value};

use super::expiry::Expiry;
use super::frames::{Frames, Reach, growing};
use super::functions::Functions;
use super::partitions::Partitions;
use super::pending::{Due, Pending};
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::marks::{Mark, Marks};
use crate::operator::Operator;
use crate::operators::aggregation::pick;
use crate::operators::movable;
use crate::operators::window::instants;
use crate::{Result, RuntimeError};

/// The name and version of the state.
const SECTION: &str = "over";
const VERSION: u16 = 1;
/// Partitions looked at for expiry with each batch, beside one for each row.
const SWEEP: usize = 64;
/// No time.
const NEVER: i64 = i64::MIN;

/// Gives each row with the results of functions over the rows before it, up to itself; Flink's
/// `RowTime…PrecedingFunction` and `ProcTime…PrecedingFunction`:
///
/// - By event time rows wait for the watermark and come out in the order of their times, those of one
///   time in the order in which they came. By processing time they come out at once, but for RANGE
///   with a bound, where a millisecond must be over.
/// - RANGE gives all rows of one time and partition the same results.
/// - A row is late, dropped and counted: with UNBOUNDED PRECEDING when its time is not after the
///   watermark, with a bound when it is not after that of the last row given out of its partition.
///   Rows without a time are dropped, too.
/// - Of bounded frames the rows are kept that a later row may see, else only accumulators. A
///   partition of RANGE with a bound is forgotten when the watermark has passed its last row by one
///   and a half of the bound, any other when it was idle for `table.exec.state.ttl`.
pub struct TimedOverOperator {
    partition: Vec<usize>,
    /// The time column; `None` is processing time.
    rowtime: Option<usize>,
    reach: Reach,
    /// Whether rows of one time share their results.
    peers: bool,
    slots: KeySlots,
    pending: Pending,
    frames: Frames,
    functions: Functions,
    /// By partition: the time of the last row given out.
    last: Vec<i64>,
    expiry: Expiry,
    /// The watermark up to which rows came out: those that come behind it wait for the next one.
    released: i64,
    /// Rows to come out, and the watermarks between them.
    due: Vec<Due>,
    /// By partition, how many of them.
    coming: Vec<u32>,
    marks: Vec<Mark>,
    schema: SchemaRef,
    state_bytes: usize,
    /// Of the batch at hand: the partition of each row, and the rows that begin one.
    groups: Vec<u32>,
    fresh: Vec<u32>,
}

impl TimedOverOperator {
    /// An operator over rows of `input` that gives columns of `schema`: the input's, then results.
    pub fn new(spec: &OverWindow, input: &Schema, schema: SchemaRef) -> Result<Self> {
        let reach = reach(spec)?;
        let rowtime = match (spec.mode, spec.order.as_slice()) {
            (OverMode::Rowtime, [(column, ..)]) => Some(*column),
            (OverMode::Proctime, _) => None,
            _ => return Err(RuntimeError::internal("OverAggregate", "an order that is no time")),
        };
        let in_range = spec.frame.unit == FrameUnit::Range;
        let type_of = |column: &usize| input.fields[*column].data_type.clone();
        let keys: Vec<DataType> = spec.partition.iter().map(type_of).collect();
        let ttl = Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX));
        let ttl = ttl.filter(|_| !matches!(reach, Reach::Millis(_)));
        let functions = Functions::new(&spec.functions, reach != Reach::Unbounded)?;
        let args: Vec<DataType> = functions.args().iter().map(type_of).collect();
        let types: Vec<DataType> = input.fields.iter().map(|f| f.data_type.clone()).collect();
        Ok(Self {
            partition: spec.partition.clone(),
            rowtime,
            reach,
            peers: in_range && (rowtime.is_some() || matches!(reach, Reach::Millis(_))),
            // Rows that wait do not expire.
            slots: KeySlots::new(&keys, ttl).keeping_expired(),
            pending: Pending::new(&types),
            frames: Frames::new(&args),
            functions,
            last: Vec::new(),
            expiry: Expiry::default(),
            released: NEVER,
            due: Vec::new(),
            coming: Vec::new(),
            marks: Vec::new(),
            schema,
            state_bytes: 0,
            groups: Vec::new(),
            fresh: Vec::new(),
        })
    }

    /// Whether rows wait for their time before they come out.
    fn waits(&self) -> bool {
        self.rowtime.is_some() || matches!(self.reach, Reach::Millis(_))
    }

    /// Finds the partitions of a batch's rows, and begins those that are new or expired.
    fn enter(&mut self, columns: &[ArrayRef], rows: usize, now: i64) -> Result<()> {
        let keys = self.slots.encoder().encode(&pick(columns, &self.partition), rows)?;
        let (slots, mut partitions) = self.parts();
        movable::load(slots, &mut partitions, &keys, now)?;
        self.slots.write(&keys, now, &mut self.groups, &mut self.fresh)?;
        self.slots.meet(&self.groups);
        let bound = self.slots.index().slot_bound() as usize;
        self.resize(bound);
        let fresh: Vec<u32> = self.fresh.iter().map(|row| self.groups[*row as usize]).collect();
        self.forget(fresh.into_iter().filter(|group| self.pending.count(*group) == 0).collect());
        Ok(())
    }

    fn resize(&mut self, groups: usize) {
        self.functions.resize(groups);
        self.pending.resize(groups);
        self.frames.resize(groups);
        self.expiry.resize(groups);
        if groups > self.last.len() {
            self.last.resize(groups, NEVER);
            self.coming.resize(groups, 0);
        }
    }

    /// The keys of the partitions, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, Partitions<'_>) {
        let partitions = Partitions {
            pending: &mut self.pending,
            frames: &mut self.frames,
            functions: &mut self.functions,
            last: &mut self.last,
            coming: &mut self.coming,
            expiry: &mut self.expiry,
        };
        (&mut self.slots, partitions)
    }

    /// Puts partitions back to having seen no row.
    fn forget(&mut self, groups: Vec<u32>) {
        self.functions.reset(&groups);
        self.frames.reset(&groups);
        for group in groups {
            self.last[group as usize] = NEVER;
            self.expiry.forget(group);
        }
    }

    /// Takes in the rows of a batch, and lets those come out that watermarks between them release.
    fn add(&mut self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<()> {
        let columns = batch.rows.columns();
        let now = ctx.now();
        self.enter(columns, batch.len(), now)?;
        let Some(rowtime) = self.rowtime else {
            let times = vec![Some(now); batch.len()];
            self.wait(columns, 0..batch.len(), &times)?;
            return Ok(());
        };
        let (times, nulls) = instants(&columns[rowtime])?;
        let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let mut watermark = ctx.watermark();
        let mut late = LateRows::new();
        for segment in ctx.marks().segments(batch.len()) {
            let mut taken = Vec::with_capacity(segment.rows.len());
            for row in segment.rows.clone() {
                let on_time = is_valid(row) && self.is_on_time(row, times[row], watermark, ctx)?;
                if !on_time {
                    late.push(row, watermark);
                }
                taken.push(on_time.then_some(times[row]));
            }
            self.wait(columns, segment.rows, &taken)?;
            if let Some(mark) = segment.watermark {
                watermark = watermark.max(mark);
                let before = self.due.len();
                self.release(mark);
                if self.due.len() > before {
                    self.marks.push(Mark { row: self.due.len() as u32, watermark: mark });
                }
            }
        }
        if late.is_empty() {
            return Ok(());
        }
        self.drop_empty();
        ctx.drop_late(0, batch, late)
    }

    /// Forgets partitions that a batch began with late rows only.
    fn drop_empty(&mut self) {
        for row in &self.fresh {
            let group = self.groups[*row as usize];
            if self.pending.count(group) == 0 && self.last[group as usize] == NEVER {
                self.slots.remove(group);
            }
        }
    }

    /// Whether a row is not late.
    fn is_on_time(
        &mut self,
        row: usize,
        time: i64,
        watermark: i64,
        ctx: &mut OperatorContext,
    ) -> Result<bool> {
        if self.reach == Reach::Unbounded {
            return Ok(time > watermark);
        }
        let group = self.groups[row];
        let last = self.last[group as usize];
        if !self.expiry.is_over(group, watermark) {
            return Ok(time > last);
        }
        // A partition whose time is over begins anew, once its last rows are out.
        if self.coming[group as usize] > 0 {
            self.flush(ctx)?;
        }
        if self.pending.count(group) == 0 {
            self.forget(vec![group]);
        }
        Ok(true)
    }

    /// Keeps rows of a batch until their time comes; `times` has one for each of `rows`.
    fn wait(
        &mut self,
        columns: &[ArrayRef],
        rows: std::ops::Range<usize>,
        times: &[Option<i64>],
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Reach::Millis(millis) = self.reach {
            for (group, time) in self.groups[rows.clone()].iter().zip(times) {
                time.iter().for_each(|time| self.expiry.extend(*group, *time, millis));
            }
        }
        let columns: Vec<ArrayRef> =
            columns.iter().map(|column| column.slice(rows.start, rows.len())).collect();
        self.pending.add(&columns, &self.groups[rows], times)
    }

    /// Makes the rows due whose time is at or before `until`.
    fn release(&mut self, until: i64) {
        if until <= self.released {
            return;
        }
        self.released = until;
        let from = self.due.len();
        self.pending.take_due(until, &mut self.due);
        for due in &self.due[from..] {
            self.last[due.group as usize] = due.time;
            self.coming[due.group as usize] += 1;
        }
    }

    /// Gives out the rows that are due.
    fn flush(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        if self.due.is_empty() {
            return Ok(());
        }
        let due = std::mem::take(&mut self.due);
        let marks: Marks = self.marks.drain(..).collect();
        let columns = self.pending.release(&due)?;
        let groups: Vec<u32> = due.iter().map(|due| due.group).collect();
        let times: Vec<i64> = due.iter().map(|due| due.time).collect();
        let now = ctx.now();
        for group in &groups {
            self.slots.written(*group, now);
            self.coming[*group as usize] = 0;
        }
        self.emit(columns, &groups, &times, marks, ctx)
    }

    /// Gives out rows in this order, with their results.
    fn emit(
        &mut self,
        mut columns: Vec<ArrayRef>,
        groups: &[u32],
        times: &[i64],
        marks: Marks,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let args = pick(&columns, self.functions.args());
        let (args, script) = match self.reach {
            Reach::Unbounded => (args, growing(groups, times, self.peers)),
            reach => self.frames.advance(reach, &args, groups, times, self.peers)?,
        };
        columns.extend(self.functions.run(&args, &script, ctx.now())?);
        let options = RecordBatchOptions::new().with_row_count(Some(groups.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        ctx.emit_marked(ChangelogBatch::inserts(rows), marks)
    }

    /// Forgets partitions whose time is over, and some that expired.
    fn clean(&mut self, until: i64, now: i64, rows: usize) -> Result<()> {
        let mut over = self.expiry.pop(until);
        self.slots.sweep(now, rows + SWEEP, &mut over);
        over.retain(|group| self.pending.count(*group) == 0);
        over.iter().for_each(|group| {
            self.slots.remove(*group);
        });
        self.forget(over);
        Ok(self.slots.sweep_disk(now, rows + SWEEP)?)
    }

    /// Up to when rows of processing time are due, and partitions over.
    fn settle(&mut self, until: i64, rows: usize, ctx: &mut OperatorContext) -> Result<()> {
        self.release(until);
        self.flush(ctx)?;
        self.clean(until, ctx.now(), rows)?;
        self.account();
        self.register(ctx);
        Ok(())
    }

    /// Asks to be called when rows of processing time are due.
    fn register(&self, ctx: &mut OperatorContext) {
        if self.rowtime.is_none() && self.waits() {
            let next = [self.pending.first_time(), self.expiry.first()];
            if let Some(next) = next.into_iter().flatten().min() {
                ctx.register_timer(next.saturating_add(1));
            }
        }
    }

    fn account(&mut self) {
        self.state_bytes = self.slots.memory()
            + self.pending.memory()
            + self.frames.memory()
            + self.functions.memory()
            + self.expiry.memory()
            + self.last.capacity() * size_of::<i64>()
            + self.coming.capacity() * size_of::<u32>();
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&format!("{:?} {}", self.reach, self.functions.schema()))
    }
}

/// How far the frames of a window reach back.
fn reach(spec: &OverWindow) -> Result<Reach> {
    match (&spec.frame.start, &spec.frame.end) {
        (FrameBound::UnboundedPreceding, FrameBound::CurrentRow) => Ok(Reach::Unbounded),
        (FrameBound::Preceding(Value::Int(rows)), FrameBound::CurrentRow) => {
            Ok(Reach::Rows(u32::try_from(*rows).unwrap_or(u32::MAX)))
        }
        (FrameBound::Preceding(Value::Millis(millis)), FrameBound::CurrentRow) => {
            Ok(Reach::Millis(*millis))
        }
        _ => Err(RuntimeError::internal("OverAggregate", "a frame that streaming does not have")),
    }
}

impl Operator for TimedOverOperator {
    fn name(&self) -> &str {
        "OverAggregate"
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
        let rows = batch.len();
        if !self.waits() {
            let now = ctx.now();
            self.enter(batch.rows.columns(), rows, now)?;
            let groups = std::mem::take(&mut self.groups);
            let times = vec![now; rows];
            let columns = batch.rows.columns().to_vec();
            self.emit(columns, &groups, &times, ctx.marks(), ctx)?;
            self.groups = groups;
            self.clean(NEVER, now, rows)?;
            self.account();
            return Ok(());
        }
        self.add(&batch, ctx)?;
        if self.rowtime.is_none() {
            // A millisecond takes rows until it is over.
            return self.settle(ctx.now().saturating_sub(1), rows, ctx);
        }
        self.flush(ctx)?;
        let watermark =
            ctx.marks().last().map_or(ctx.watermark(), |mark| mark.max(ctx.watermark()));
        self.clean(watermark, ctx.now(), rows)?;
        self.account();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.rowtime.is_some() {
            self.settle(watermark, 0, ctx)?;
        }
        ctx.emit_watermark(watermark)
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(time.saturating_sub(1), 0, ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION, VERSION, &self.state_schema());
        let (slots, partitions) = self.parts();
        movable::snapshot(slots, &partitions, section)?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.state_schema())?;
        let (slots, mut partitions) = self.parts();
        movable::restore(slots, &mut partitions, entries, ctx.now(), ctx)?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        // Where rows of processing time wait they are few.
        !self.partition.is_empty() && (self.rowtime.is_some() || !self.waits())
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.state_bytes, room);
        let (slots, mut partitions) = self.parts();
        if movable::make_way(slots, &mut partitions, bytes, ctx)? {
            self.account();
        }
        Ok(())
    }

    fn due_on_disk(&self) -> Option<i64> {
        self.slots.next_due()
    }

    fn wake(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        loop {
            let (slots, mut partitions) = self.parts();
            let reached = movable::load_due(slots, &mut partitions, until, ctx)?;
            // Rows of one time come out in the order in which they came, whatever their partition, and those that
            // came behind the last watermark with the first after it.
            let is_whole = self.slots.next_due().is_none_or(|due| due > reached);
            if is_whole && (reached > self.released || reached == until) {
                return self.settle(reached, 0, ctx);
            }
        }
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        self.rowtime.is_some()
    }
}
