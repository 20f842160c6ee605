//! The interval join: rows meet that are not too far apart in time.

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_functions::SessionSettings;
use flott_plan::physical::IntervalJoin;
use flott_state::{KeySlots, StateDecoder, StateEncoder, StateReader, StateWriter};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::pairs::Pairs;
use super::rows::SideRows;
use super::timers::KeyTimers;
use super::{LEFT, matchable};
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::movable::{self, Movable, Plain, PlainReader, ValueReader, ValueWriter};
use crate::operators::window::instants;

/// The version of the join's state.
const VERSION: u16 = 1;

/// Joins rows of two inputs when `left.time BETWEEN right.time + lower AND right.time + upper`.
///
/// The rules are those of Flink's `TimeIntervalJoin`. A row meets what is kept of the other input and is
/// then kept itself as long as rows to come may meet it; what was never met comes out beside NULLs
/// when it is freed, or at once where it came too late to be kept. Late rows are not dropped: they
/// meet what is still there. In event time the watermark goes out held back by the wider bound,
/// as no row that comes out is older than that.
pub struct IntervalJoinOperator {
    is_rowtime: bool,
    key_columns: [Vec<usize>; 2],
    null_safe: Vec<bool>,
    times: [usize; 2],
    /// How far a row may be behind a row of the other side and still meet it, in milliseconds.
    reach: [i64; 2],
    min_cleanup_interval: i64,
    keys: KeySlots,
    sides: [SideRows; 2],
    timers: [KeyTimers; 2],
    /// Rows of each side up to this time may have been freed.
    expired: [i64; 2],
    pairs: Pairs,
    /// Keys that may have lost their last row.
    emptied: Vec<u32>,
    state_bytes: usize,
}

impl IntervalJoinOperator {
    /// A join of inputs with these schemas that gives columns of `schema`.
    pub fn new(
        spec: &IntervalJoin,
        left: &Schema,
        right: &Schema,
        schema: SchemaRef,
        settings: &SessionSettings,
    ) -> Result<Self> {
        let types: Vec<DataType> =
            spec.left_keys.iter().map(|key| left.fields[*key].data_type.clone()).collect();
        Ok(Self {
            is_rowtime: spec.is_rowtime,
            key_columns: [spec.left_keys.clone(), spec.right_keys.clone()],
            null_safe: spec.null_safe.clone(),
            times: [spec.left_time, spec.right_time],
            reach: [spec.lower.saturating_neg(), spec.upper],
            min_cleanup_interval: i64::try_from(spec.min_cleanup_interval).unwrap_or(i64::MAX),
            keys: KeySlots::new(&types, None),
            sides: [SideRows::new(left), SideRows::new(right)],
            timers: Default::default(),
            expired: [i64::MIN; 2],
            pairs: Pairs::new(
                spec.kind,
                spec.residual.as_ref(),
                left.fields.len(),
                schema,
                settings,
            )?,
            emptied: Vec::new(),
            state_bytes: 0,
        })
    }

    /// Whether the bounds exclude each other, so that no rows ever meet.
    fn is_void(&self) -> bool {
        self.reach[0].saturating_add(self.reach[1]) < 0
    }

    /// The watermark that holds for what comes out.
    fn held_back(&self, watermark: i64) -> i64 {
        if watermark == i64::MAX || !self.is_rowtime || self.is_void() {
            return watermark;
        }
        watermark.saturating_sub(self.reach[0].max(self.reach[1]))
    }

    /// The time up to which rows of a side meet nothing any more.
    fn expiry(&self, side: usize, now: i64) -> i64 {
        if now == i64::MAX { now } else { now.saturating_sub(self.reach[side]).saturating_sub(1) }
    }

    /// Takes a kept row: joins it, and frees or links it. `now` is the watermark or processing time.
    fn row(&mut self, input: usize, key: u32, id: u32, time: i64, can_match: bool, now: i64) {
        let other = 1 - input;
        let earliest = time.saturating_sub(self.reach[other]);
        let latest = time.saturating_add(self.reach[input]);
        if self.expired[other] < latest {
            self.expired[other] = self.expiry(other, now);
            if can_match {
                self.meet(input, key, id, earliest..=latest);
            }
            self.expire(other, key);
        }
        if now < latest {
            self.sides[input].link(key, id, time);
            // Flink sets a timer for the first row alone, and so frees older ones after it late.
            self.set_timer(input, key, time);
        } else {
            self.pairs.done(input, id);
            self.emptied.push(key);
        }
    }

    /// Pairs a row with the rows of the other side within the bounds, in order of time.
    fn meet(&mut self, input: usize, key: u32, id: u32, bounds: std::ops::RangeInclusive<i64>) {
        let side = &self.sides[1 - input];
        // Rows that are met are most often the latest.
        let mut from = side.last(key);
        while let Some(before) = from.and_then(|row| side.previous(row)) {
            if side.time(before) < *bounds.start() {
                break;
            }
            from = Some(before);
        }
        while let Some(row) = from.filter(|row| side.time(*row) <= *bounds.end()) {
            if side.time(row) >= *bounds.start() {
                let (left, right) = if input == LEFT { (id, row) } else { (row, id) };
                self.pairs.pair(left, right);
            }
            from = side.next(row);
        }
    }

    /// Frees the rows of a key that expired.
    fn expire(&mut self, side: usize, key: u32) {
        let rows = &mut self.sides[side];
        while let Some(first) = rows.first(key).filter(|id| rows.time(*id) <= self.expired[side]) {
            rows.unlink(key, first);
            self.pairs.done(side, first);
            if rows.first(key).is_none() {
                self.emptied.push(key);
            }
        }
    }

    /// Sees to it that a row of this time is freed when it can be.
    fn set_timer(&mut self, side: usize, key: u32, time: i64) {
        let due = time
            .saturating_add(self.reach[side])
            .saturating_add(self.min_cleanup_interval)
            .saturating_add(1);
        if self.timers[side].get(key).is_none_or(|set| due < set) {
            self.timers[side].set(key, due);
        }
    }

    /// Frees rows by the timers that are due.
    fn fire(&mut self, now: i64) {
        loop {
            let next = |side: usize| self.timers[side].next_time().unwrap_or(i64::MAX);
            let first = usize::from(next(1) < next(0));
            let mut due = None;
            for side in [first, 1 - first] {
                if due.is_none() {
                    due = self.timers[side].pop_due(now).map(|key| (side, key));
                }
            }
            let Some((side, key)) = due else { return };
            self.expired[side] = self.expiry(side, now);
            self.keys.changed(key);
            self.expire(side, key);
            if let Some(first) = self.sides[side].first(key) {
                self.set_timer(side, key, self.sides[side].time(first));
            }
        }
    }

    /// Sends on what was found, and forgets keys without rows.
    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.pairs.flush(&mut self.sides, ctx)?;
        for key in std::mem::take(&mut self.emptied) {
            if self.sides.iter().all(|side| side.first(key).is_none()) && self.keys.remove(key) {
                self.timers.iter_mut().for_each(|timers| timers.clear(key));
            }
        }
        if !self.is_rowtime {
            let next = self.timers.iter().filter_map(KeyTimers::next_time);
            next.chain(self.keys.next_due())
                .min()
                .into_iter()
                .for_each(|at| ctx.register_timer(at));
        }
        self.account();
        Ok(())
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, KeyRows<'_>) {
        let rows = KeyRows { sides: &mut self.sides, timers: &mut self.timers };
        (&mut self.keys, rows)
    }

    fn account(&mut self) {
        let rows: usize = self.sides.iter().map(SideRows::memory).sum();
        let timers: usize = self.timers.iter().map(KeyTimers::memory).sum();
        self.state_bytes = self.keys.memory() + rows + timers;
    }

    fn schema(&self) -> String {
        let [left, right] = &self.sides;
        self.keys.schema(&format!("[{}] [{}]", left.schema(), right.schema()))
    }
}

impl Operator for IntervalJoinOperator {
    fn name(&self) -> &str {
        "IntervalJoin"
    }

    fn open(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.finish(ctx)
    }

    fn on_batch(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let rows = batch.len();
        let columns = batch.rows.columns();
        let keys: Vec<ArrayRef> =
            self.key_columns[input].iter().map(|key| columns[*key].clone()).collect();
        let matchable = matchable(&keys, &self.null_safe)?;
        let can_match = |row: usize| matchable.as_ref().is_none_or(|all| all.value(row));
        let encoded = self.keys.encoder().encode(&keys, rows)?;
        let (known, mut kept) = self.parts();
        movable::load(known, &mut kept, &encoded, 0)?;
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        self.keys.write(&encoded, 0, &mut slots, &mut fresh)?;
        self.keys.meet(&slots);
        let processing = ctx.now();
        let times = match self.is_rowtime {
            true => Some(instants(&columns[self.times[input]])?),
            false => None,
        };
        let encoded = self.sides[input].encode(columns, rows)?;
        let mut now = if self.is_rowtime { ctx.watermark() } else { processing };
        let marks = ctx.marks();
        for segment in marks.segments(rows) {
            for row in segment.rows {
                let id = self.sides[input].keep(&encoded, row, RowKind::Insert)?;
                let time = match &times {
                    None => Some(processing),
                    Some((_, Some(valid))) if valid.is_null(row) => None,
                    Some((times, _)) => Some(times[row]),
                };
                match time.filter(|_| !self.is_void()) {
                    Some(time) => self.row(input, slots[row], id, time, can_match(row), now),
                    None => {
                        self.pairs.done(input, id);
                        self.emptied.push(slots[row]);
                    }
                }
                if self.pairs.is_full() {
                    self.pairs.flush(&mut self.sides, ctx)?;
                }
            }
            if let Some(watermark) = segment.watermark {
                now = now.max(watermark);
                self.fire(now);
                self.pairs.watermark(self.held_back(watermark));
            }
        }
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.is_rowtime {
            self.fire(watermark);
            self.finish(ctx)?;
        }
        ctx.emit_watermark(self.held_back(watermark))
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.fire(time);
        self.finish(ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed("interval join", VERSION, &self.schema());
        let (keys, kept) = self.parts();
        movable::snapshot(keys, &kept, section)?;
        state.operator("interval join times", VERSION, |out| {
            self.expired.iter().for_each(|time| out.i64(*time));
        });
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed("interval join", VERSION, &self.schema())?;
        let (keys, mut kept) = self.parts();
        movable::restore(keys, &mut kept, entries, 0, ctx)?;
        // A task that takes over from several knows as freed what all of them freed.
        let mut expired = [i64::MAX; 2];
        for (_, mut times) in state.operator("interval join times", VERSION)? {
            for time in &mut expired {
                *time = (*time).min(times.i64()?);
            }
        }
        self.expired = expired;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        !self.key_columns[LEFT].is_empty()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.state_bytes, room);
        let (keys, mut kept) = self.parts();
        if movable::make_way(keys, &mut kept, bytes, ctx)? {
            self.account();
        }
        Ok(())
    }

    fn due_on_disk(&self) -> Option<i64> {
        self.keys.next_due()
    }

    fn wake(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        let (keys, mut kept) = self.parts();
        let reached = movable::load_due(keys, &mut kept, until, ctx)?;
        self.fire(reached);
        self.finish(ctx)
    }

    fn handles_marks(&self) -> bool {
        self.is_rowtime
    }

    fn needs_exact_watermarks(&self) -> bool {
        self.is_rowtime
    }
}

/// What is kept under a key: for each side a timer and rows.
struct KeyRows<'a> {
    sides: &'a mut [SideRows; 2],
    timers: &'a mut [KeyTimers; 2],
}

impl Movable for KeyRows<'_> {
    fn writer<'a>(&'a self, _slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        Ok(Plain(|key: u32, out: &mut StateEncoder| {
            for (side, timers) in self.sides.iter().zip(self.timers.iter()) {
                out.option(timers.get(key), StateEncoder::i64);
                side.write(key, out);
            }
        }))
    }

    fn reader(&mut self, _now: i64) -> impl ValueReader + '_ {
        PlainReader(|key: u32, input: &mut StateDecoder<'_>| {
            for (side, timers) in self.sides.iter_mut().zip(self.timers.iter_mut()) {
                if let Some(due) = input.option(StateDecoder::i64)? {
                    timers.set(key, due);
                }
                side.read(key, input)?;
            }
            Ok(())
        })
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for key in slots {
            self.sides.iter_mut().for_each(|side| side.leave(*key));
            self.timers.iter_mut().for_each(|timers| timers.clear(*key));
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        self.sides.iter_mut().for_each(|side| *side = side.emptied());
        *self.timers = Default::default();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        let due = |key: &u32| self.timers.iter().filter_map(|timers| timers.get(*key)).min();
        slots.iter().filter_map(|key| Some((*key, due(key)?))).collect()
    }
}
