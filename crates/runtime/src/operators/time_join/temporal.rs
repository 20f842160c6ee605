//! The temporal join: each left row meets the version of a row that held at its time.

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_functions::SessionSettings;
use flott_plan::physical::TemporalJoin;
use flott_state::{KeySlots, StateDecoder, StateEncoder, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::pairs::Pairs;
use super::rows::SideRows;
use super::timers::KeyTimers;
use super::{LEFT, RIGHT, matchable};
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::movable::{self, Movable, Plain, PlainReader, ValueReader, ValueWriter};
use crate::operators::window::instants;

/// The version of the join's state.
const VERSION: u16 = 1;
/// Expired keys looked for with each batch, beside one for each row.
const SWEEP: usize = 64;

/// Joins rows of the left input with the versions of a table that the right input's changes make.
///
/// The rules are those of Flink's `TemporalRowTimeJoinOperator`. A left row waits until the watermark
/// reaches its time, then meets the latest version of its key that is not later than it, unless
/// that version is a deletion; it comes out with its own kind. Of the versions up to the watermark
/// only the latest of each key is kept. A late left row meets what is still there with the next
/// watermark. In processing time a left row meets the latest version when it comes.
pub struct TemporalJoinOperator {
    key_columns: [Vec<usize>; 2],
    null_safe: Vec<bool>,
    times: Option<[usize; 2]>,
    ignore_update_before: bool,
    keys: KeySlots,
    /// Left rows in the order in which they came; versions in order of time, one a time.
    sides: [SideRows; 2],
    timers: KeyTimers,
    pairs: Pairs,
    /// Keys that may have lost their last row.
    emptied: Vec<u32>,
    state_bytes: usize,
}

impl TemporalJoinOperator {
    /// A join of inputs with these schemas that gives columns of `schema`.
    pub fn new(
        spec: &TemporalJoin,
        left: &Schema,
        right: &Schema,
        schema: SchemaRef,
        settings: &SessionSettings,
    ) -> Result<Self> {
        let types: Vec<DataType> =
            spec.left_keys.iter().map(|key| left.fields[*key].data_type.clone()).collect();
        let ttl = Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX));
        Ok(Self {
            key_columns: [spec.left_keys.clone(), spec.right_keys.clone()],
            null_safe: spec.null_safe.clone(),
            times: spec.times.map(|(left, right)| [left, right]),
            ignore_update_before: spec.ignore_update_before,
            keys: KeySlots::new(&types, ttl),
            sides: [SideRows::new(left), SideRows::new(right)],
            timers: KeyTimers::default(),
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

    /// Keeps a left row until its time comes, or joins it at once in processing time.
    fn left_row(&mut self, key: u32, id: u32, time: Option<i64>) {
        let Some(time) = time else {
            self.meet(key, id, i64::MAX);
            self.emptied.push(key);
            return;
        };
        self.sides[LEFT].append(key, id, time);
        self.keys.changed(key);
        self.register(key, time);
    }

    /// Keeps a version in place of the one of the same time.
    fn version(&mut self, key: u32, id: u32, time: Option<i64>) {
        let at = time.unwrap_or(0);
        self.keys.changed(key);
        let versions = &mut self.sides[RIGHT];
        let mut from = versions.last(key);
        while let Some(version) = from.filter(|version| versions.time(*version) >= at) {
            from = versions.previous(version);
            if versions.time(version) == at {
                versions.unlink(key, version);
                self.pairs.done(RIGHT, version);
            }
        }
        self.sides[RIGHT].link(key, id, at);
        match time {
            Some(time) => self.register(key, time),
            None => self.drop_deleted(key),
        }
    }

    /// Pairs a left row with the version that held at its time.
    fn meet(&mut self, key: u32, id: u32, time: i64) {
        let versions = &self.sides[RIGHT];
        let mut version = versions.last(key);
        while let Some(later) = version.filter(|version| versions.time(*version) > time) {
            version = versions.previous(later);
        }
        if let Some(version) = version.filter(|version| versions.kind(*version).adds()) {
            self.pairs.pair(id, version);
        }
        self.pairs.done(LEFT, id);
    }

    /// Sees to it that the key is looked at when the watermark reaches the time.
    fn register(&mut self, key: u32, time: i64) {
        if self.timers.get(key).is_none_or(|due| time < due) {
            self.timers.set(key, time);
        }
    }

    /// Joins the left rows up to the watermark, and frees versions that none can meet any more.
    fn fire(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        while let Some(key) = self.timers.pop_due(watermark) {
            self.keys.changed(key);
            let mut next_time = None;
            let mut at = self.sides[LEFT].first(key);
            while let Some(id) = at {
                at = self.sides[LEFT].next(id);
                let time = self.sides[LEFT].time(id);
                if time > watermark {
                    next_time = Some(next_time.map_or(time, |next: i64| next.min(time)));
                    continue;
                }
                self.sides[LEFT].unlink(key, id);
                self.meet(key, id, time);
                if self.pairs.is_full() {
                    self.pairs.flush(&mut self.sides, ctx)?;
                }
            }
            self.free_versions(key, watermark);
            match next_time {
                Some(next) => self.timers.set(key, next),
                None => self.emptied.push(key),
            }
        }
        Ok(())
    }

    fn free_versions(&mut self, key: u32, watermark: i64) {
        while let Some(first) = self.sides[RIGHT].first(key) {
            let next = self.sides[RIGHT].next(first);
            if next.is_none_or(|next| self.sides[RIGHT].time(next) > watermark) {
                break;
            }
            self.sides[RIGHT].unlink(key, first);
            self.pairs.done(RIGHT, first);
        }
        let first = self.sides[RIGHT].first(key);
        if first.is_some_and(|first| self.sides[RIGHT].time(first) <= watermark) {
            self.drop_deleted(key);
        }
    }

    /// A deletion that no version precedes says nothing.
    fn drop_deleted(&mut self, key: u32) {
        let versions = &mut self.sides[RIGHT];
        if let Some(first) = versions.first(key).filter(|first| !versions.kind(*first).adds()) {
            versions.unlink(key, first);
            self.pairs.done(RIGHT, first);
            self.emptied.push(key);
        }
    }

    /// Sends on what was found, and forgets keys without rows.
    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.pairs.flush(&mut self.sides, ctx)?;
        for key in std::mem::take(&mut self.emptied) {
            if self.sides.iter().all(|side| side.first(key).is_none()) && self.keys.remove(key) {
                self.timers.clear(key);
            }
        }
        self.account();
        Ok(())
    }

    /// Forgets everything of a key.
    fn forget(&mut self, key: u32) {
        for (side, rows) in self.sides.iter_mut().enumerate() {
            while let Some(first) = rows.first(key) {
                rows.unlink(key, first);
                // Not given out: Flink's expired rows are not, either.
                rows.set_matched(first);
                self.pairs.done(side, first);
            }
        }
        self.timers.clear(key);
    }

    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.keys.sweep(now, rows + SWEEP, &mut expired);
        for key in expired {
            self.forget(key);
            self.emptied.push(key);
        }
        Ok(self.keys.sweep_disk(now, rows + SWEEP)?)
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, KeyRows<'_>) {
        let rows = KeyRows { sides: &mut self.sides, timers: &mut self.timers };
        (&mut self.keys, rows)
    }

    fn account(&mut self) {
        let rows: usize = self.sides.iter().map(SideRows::memory).sum();
        self.state_bytes = self.keys.memory() + rows + self.timers.memory();
    }

    fn schema(&self) -> String {
        let [left, right] = &self.sides;
        self.keys.schema(&format!("[{}] [{}]", left.schema(), right.schema()))
    }
}

impl Operator for TemporalJoinOperator {
    fn name(&self) -> &str {
        "TemporalJoin"
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
        let encoded = self.keys.encoder().encode(&keys, rows)?;
        let (known, mut kept) = self.parts();
        movable::load(known, &mut kept, &encoded, ctx.now())?;
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        // With a TTL whatever comes renews a key; without one only what is kept counts as a change.
        match self.keys.meta().ttl() {
            Some(_) => self.keys.write(&encoded, ctx.now(), &mut slots, &mut fresh)?,
            None => self.keys.find_or_write(&encoded, ctx.now(), &mut slots, &mut fresh)?,
        }
        self.keys.meet(&slots);
        fresh.iter().for_each(|row| self.forget(slots[*row as usize]));
        let times = match self.times {
            Some(columns_of) => Some(instants(&columns[columns_of[input]])?),
            None => None,
        };
        let time = |row: usize| match &times {
            None => None,
            Some((_, Some(valid))) if valid.is_null(row) => Some(i64::MIN),
            Some((times, _)) => Some(times[row]),
        };
        let encoded = self.sides[input].encode(columns, rows)?;
        let marks = ctx.marks();
        for segment in marks.segments(rows) {
            for row in segment.rows {
                let (key, kind) = (slots[row], batch.kind(row));
                let passed_over = self.ignore_update_before && kind == RowKind::UpdateBefore;
                let can_match = matchable.as_ref().is_none_or(|all| all.value(row));
                if input == RIGHT && (passed_over || !can_match) {
                    self.emptied.push(key);
                    continue;
                }
                let id = self.sides[input].keep(&encoded, row, kind)?;
                match input {
                    LEFT => self.left_row(key, id, time(row)),
                    _ => self.version(key, id, time(row)),
                }
                if self.pairs.is_full() {
                    self.pairs.flush(&mut self.sides, ctx)?;
                }
            }
            if let Some(watermark) = segment.watermark {
                self.fire(watermark, ctx)?;
                self.pairs.watermark(watermark);
            }
        }
        self.sweep(ctx.now(), rows)?;
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.fire(watermark, ctx)?;
        self.finish(ctx)?;
        ctx.emit_watermark(watermark)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed("temporal join", VERSION, &self.schema());
        let (keys, kept) = self.parts();
        movable::snapshot(keys, &kept, section)?;
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed("temporal join", VERSION, &self.schema())?;
        let (keys, mut kept) = self.parts();
        movable::restore(keys, &mut kept, entries, ctx.now(), ctx)?;
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
        self.fire(reached, ctx)?;
        self.finish(ctx)
    }

    fn handles_marks(&self) -> bool {
        self.times.is_some()
    }

    fn needs_exact_watermarks(&self) -> bool {
        self.times.is_some()
    }
}

/// What is kept under a key: a timer, left rows and versions.
struct KeyRows<'a> {
    sides: &'a mut [SideRows; 2],
    timers: &'a mut KeyTimers,
}

impl Movable for KeyRows<'_> {
    fn writer<'a>(&'a self, _slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        Ok(Plain(|key: u32, out: &mut StateEncoder| {
            out.option(self.timers.get(key), StateEncoder::i64);
            self.sides.iter().for_each(|side| side.write(key, out));
        }))
    }

    fn reader(&mut self, _now: i64) -> impl ValueReader + '_ {
        PlainReader(|key: u32, input: &mut StateDecoder<'_>| {
            if let Some(due) = input.option(StateDecoder::i64)? {
                self.timers.set(key, due);
            }
            self.sides.iter_mut().try_for_each(|side| side.read(key, input))
        })
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for key in slots {
            self.sides.iter_mut().for_each(|side| side.leave(*key));
            self.timers.clear(*key);
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        self.sides.iter_mut().for_each(|side| *side = side.emptied());
        *self.timers = KeyTimers::default();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        slots.iter().filter_map(|key| Some((*key, self.timers.get(*key)?))).collect()
    }
}
