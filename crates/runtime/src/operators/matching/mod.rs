//! MATCH_RECOGNIZE.

mod automaton;
mod buffer;
mod conditions;
mod matcher;
mod measures;
#[cfg(test)]
mod model;
mod queue;
mod running;
mod skip_error;
mod state;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_functions::SessionSettings;
use flott_plan::matching::Match;
use flott_state::{
    KeyBatch, KeySlots, SortColumn, SortKeyEncoder, StateReader, StateWriter, TimerQueue,
};
use flott_types::{ChangelogBatch, DataType, Schema};

use super::aggregation::pick;
use super::movable;
use super::window::instants;
use crate::Result;
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::marks::{Mark, Marks};
use crate::operator::Operator;
use matcher::{Found, KeyMatches, Matcher};
use measures::Measures;

/// Finds a row pattern among the rows of each key and gives a row for each match.
///
/// By event time rows wait until the watermark has reached them, and are taken in the order of their
/// times; a row that is not after the watermark is late, dropped and counted. By processing time rows
/// are taken as they come, or a millisecond later when further columns decide between rows of one
/// time. Batch mode takes rows that are sorted by key and time, at the end of the input.
pub struct MatchOperator {
    partition: Vec<usize>,
    time_column: usize,
    mode: Mode,
    /// Decides between rows of one time.
    ties: Option<Ties>,
    keys: KeySlots,
    /// By slot.
    matches: Vec<KeyMatches>,
    matcher: Matcher,
    timers: TimerQueue<u32>,
    measures: Measures,
    found: Vec<Found>,
    marks: Vec<Mark>,
    /// What a snapshot says of the pattern.
    text: String,
    /// Bytes of `matches`' own.
    queues: usize,
    state_bytes: usize,
}

/// When rows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    EventTime,
    ProcessingTime,
    Batch,
}

/// The keys of ORDER BY behind time.
struct Ties {
    columns: Vec<usize>,
    encoder: SortKeyEncoder,
}

/// Rows as they came, with what is known of each.
struct Arrived {
    keys: KeyBatch,
    rows: Vec<u32>,
    bits: Vec<(u64, u64)>,
}

impl MatchOperator {
    /// An operator over rows of `input` that gives columns of `schema`.
    pub fn new(
        pattern: &Match,
        input: &Schema,
        schema: SchemaRef,
        settings: &SessionSettings,
    ) -> Result<Self> {
        let types: Vec<DataType> = input.fields.iter().map(|f| f.data_type.clone()).collect();
        let key_types: Vec<DataType> =
            pattern.partition.iter().map(|column| types[*column].clone()).collect();
        let mode = match (settings.batch, pattern.is_rowtime) {
            (true, _) => Mode::Batch,
            (false, true) => Mode::EventTime,
            (false, false) => Mode::ProcessingTime,
        };
        Ok(Self {
            partition: pattern.partition.clone(),
            time_column: pattern.order[0].column,
            mode,
            ties: Ties::new(pattern, &types)?,
            keys: KeySlots::new(&key_types, None),
            matches: Vec::new(),
            matcher: Matcher::new(pattern, &types, settings)?,
            timers: TimerQueue::new(),
            measures: Measures::new(pattern, schema, settings)?,
            found: Vec::new(),
            marks: Vec::new(),
            text: pattern.search_digest(),
            queues: 0,
            state_bytes: 0,
        })
    }

    fn arrive(&mut self, batch: &ChangelogBatch, ctx: &OperatorContext) -> Result<Arrived> {
        let columns = batch.rows.columns();
        let key = pick(columns, &self.partition);
        let keys = self.keys.encoder().encode(&key, batch.len())?;
        let (known, mut kept) = self.parts();
        movable::load(known, &mut kept, &keys, ctx.now())?;
        let rows = self.matcher.buffer.rows_mut().push_batch(columns, batch.len())?;
        let bits = self.matcher.bits(columns, &ctx.record_times(batch.len()));
        Ok(Arrived { keys, rows, bits })
    }

    /// Puts a row among those that wait under its key; gives the key's slot and the row's event.
    fn event(&mut self, arrived: &Arrived, row: usize, time: i64) -> Result<(u32, u32)> {
        let (slot, fresh) = self.keys.write_one(&arrived.keys, row, 0)?;
        self.keys.meet(&[slot]);
        if slot as usize >= self.matches.len() {
            self.matches.resize_with(slot as usize + 1, KeyMatches::default);
        }
        if fresh {
            self.matches[slot as usize] = KeyMatches::new(self.matcher.start());
            self.queues += self.matches[slot as usize].memory();
        }
        let event = self.matcher.buffer.add_event(arrived.rows[row], 0, time, arrived.bits[row]);
        Ok((slot, event))
    }

    fn wait(&mut self, slot: u32, time: i64, event: u32) {
        let key = &mut self.matches[slot as usize];
        self.queues -= key.memory();
        let is_first = key.wait(time, event);
        self.queues += key.memory();
        if is_first && self.mode != Mode::Batch {
            self.register(slot, time);
        }
    }

    fn register(&mut self, slot: u32, time: i64) {
        // In processing time the millisecond has to be over.
        let time = if self.mode == Mode::ProcessingTime { time.saturating_add(1) } else { time };
        if self.timers.register(time, slot) {
            self.matches[slot as usize].timers += 1;
        }
    }

    fn event_time(&mut self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<()> {
        let arrived = self.arrive(batch, ctx)?;
        let (times, nulls) = instants(batch.column(self.time_column))?;
        let mut watermark = ctx.watermark();
        let mut late = LateRows::new();
        let marks = ctx.marks();
        for segment in marks.segments(batch.len()) {
            for row in segment.rows {
                let time = times[row];
                let is_late = time <= watermark || nulls.as_ref().is_some_and(|n| n.is_null(row));
                if is_late && self.mode == Mode::EventTime {
                    late.push(row, watermark);
                    self.matcher.buffer.rows_mut().remove(arrived.rows[row]);
                    continue;
                }
                let (slot, event) = self.event(&arrived, row, time)?;
                self.wait(slot, time, event);
            }
            if let Some(mark) = segment.watermark {
                watermark = watermark.max(mark);
                self.reach(watermark, ctx.now())?;
                self.marks.push(Mark { row: self.found.len() as u32, watermark: mark });
            }
        }
        ctx.drop_late(0, batch, late)
    }

    fn processing_time(&mut self, batch: &ChangelogBatch, ctx: &OperatorContext) -> Result<()> {
        let now = ctx.now();
        let arrived = self.arrive(batch, ctx)?;
        for row in 0..batch.len() {
            let (slot, event) = self.event(&arrived, row, now)?;
            if self.ties.is_some() {
                self.wait(slot, now, event);
            } else {
                self.with_key(slot, |this, key| {
                    this.matcher.advance_time(key, now, &mut this.found)?;
                    this.take(slot, key, event, now)
                })?;
            }
        }
        Ok(())
    }

    /// Calls the keys whose timers are due.
    fn reach(&mut self, time: i64, now: i64) -> Result<()> {
        if self.mode == Mode::Batch {
            return Ok(());
        }
        while let Some((_, slot)) = self.timers.pop_due(time) {
            let until = if self.mode == Mode::EventTime { time } else { i64::MAX };
            self.with_key(slot, |this, key| {
                key.timers -= 1;
                this.take_waiting(slot, key, until, now)?;
                this.matcher.advance_time(key, time.min(until), &mut this.found)
            })?;
        }
        Ok(())
    }

    /// Takes the rows of a key up to a time.
    fn take_waiting(
        &mut self,
        slot: u32,
        key: &mut KeyMatches,
        until: i64,
        now: i64,
    ) -> Result<()> {
        while let Some((time, _)) = first_of(key, |time| time <= until) {
            self.matcher.advance_time(key, time, &mut self.found)?;
            if let Some(ties) = &self.ties {
                ties.sort(&mut key.pending, time, &self.matcher)?;
            }
            while let Some((_, event)) = first_of(key, |other| other == time) {
                key.pending.pop_front();
                self.take(slot, key, event, now)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, slot: u32, key: &mut KeyMatches, event: u32, now: i64) -> Result<()> {
        let time = self.matcher.buffer.event(event).time;
        self.matcher.process(key, event, i128::from(now) * 1_000_000, &mut self.found)?;
        if let Some(within) = self.matcher.within()
            && key.begun
            && self.mode != Mode::Batch
        {
            let over = time.saturating_add(within);
            let over =
                if self.mode == Mode::ProcessingTime { over.saturating_add(1) } else { over };
            if self.timers.register(over, slot) {
                key.timers += 1;
            }
        }
        Ok(())
    }

    /// Works on a key, and forgets it when nothing is left of it.
    fn with_key(
        &mut self,
        slot: u32,
        work: impl FnOnce(&mut Self, &mut KeyMatches) -> Result<()>,
    ) -> Result<()> {
        let mut key = std::mem::take(&mut self.matches[slot as usize]);
        self.queues -= key.memory();
        let worked = work(self, &mut key);
        key.begun = false;
        if key.is_idle() {
            self.keys.remove(slot);
        } else {
            self.queues += key.memory();
            self.matches[slot as usize] = key;
            self.keys.changed(slot);
        }
        worked
    }

    /// Gives out what was found.
    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let marks: Marks = self.marks.drain(..).collect();
        if !self.found.is_empty() {
            let times = ctx.record_times(self.found.len());
            let rows = self.measures.rows(&self.found, &self.matcher.buffer, &times)?;
            for found in self.found.drain(..) {
                self.matcher.release(found.node);
            }
            ctx.emit_marked(rows, marks)?;
        }
        self.call_again(ctx);
        self.account();
        Ok(())
    }

    /// Asks to be called at the next timer of processing time.
    fn call_again(&self, ctx: &mut OperatorContext) {
        if self.mode == Mode::ProcessingTime {
            let next = self.timers.next_time().into_iter().chain(self.keys.next_due()).min();
            next.into_iter().for_each(|time| ctx.register_timer(time));
        }
    }

    fn account(&mut self) {
        self.state_bytes = self.keys.memory()
            + self.matches.capacity() * size_of::<KeyMatches>()
            + self.queues
            + self.matcher.memory()
            + self.timers.memory();
    }
}

/// The first row that waits, if its time is one of these.
fn first_of(key: &KeyMatches, is_due: impl Fn(i64) -> bool) -> Option<(i64, u32)> {
    key.pending.front().copied().filter(|(time, _)| is_due(*time))
}

impl Ties {
    fn new(pattern: &Match, types: &[DataType]) -> Result<Option<Self>> {
        let keys = &pattern.order[1..];
        if keys.is_empty() {
            return Ok(None);
        }
        let columns: Vec<SortColumn> = keys
            .iter()
            .map(|key| SortColumn {
                data_type: types[key.column].clone(),
                descending: key.descending,
                nulls_first: key.nulls_first,
            })
            .collect();
        let encoder = SortKeyEncoder::new(&columns)?;
        Ok(Some(Self { columns: keys.iter().map(|key| key.column).collect(), encoder }))
    }

    /// Sorts the rows of the first time that wait; what is equal stays in its order.
    fn sort(&self, pending: &mut VecDeque<(i64, u32)>, time: i64, matcher: &Matcher) -> Result<()> {
        let tied = pending.iter().take_while(|(other, _)| *other == time).count();
        if tied < 2 {
            return Ok(());
        }
        let events: Vec<u32> = pending.iter().take(tied).map(|(_, event)| *event).collect();
        let rows: Vec<u32> = events.iter().map(|event| matcher.buffer.row_of(*event)).collect();
        let columns: Vec<ArrayRef> = pick(&matcher.buffer.rows().gather(&rows)?, &self.columns);
        let keys = self.encoder.encode(&columns)?;
        let mut order: Vec<usize> = (0..tied).collect();
        order.sort_by(|a, b| keys.row(*a).cmp(keys.row(*b)));
        for (place, from) in order.into_iter().enumerate() {
            pending[place].1 = events[from];
        }
        Ok(())
    }
}

impl Operator for MatchOperator {
    fn name(&self) -> &str {
        "Match"
    }

    fn open(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.call_again(ctx);
        Ok(())
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        match self.mode {
            Mode::ProcessingTime => self.processing_time(&batch, ctx)?,
            Mode::EventTime | Mode::Batch => self.event_time(&batch, ctx)?,
        }
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.mode == Mode::EventTime {
            self.reach(watermark, ctx.now())?;
            self.finish(ctx)?;
        }
        ctx.emit_watermark(watermark)
    }

    fn on_timer(&mut self, time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.reach(time, ctx.now())?;
        self.finish(ctx)
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        if self.mode == Mode::Batch {
            let slots: Vec<u32> = self.keys.index().slots().collect();
            for slot in slots {
                self.with_key(slot, |this, key| {
                    this.take_waiting(slot, key, i64::MAX, ctx.now())?;
                    this.matcher.advance_time(key, i64::MAX, &mut this.found)
                })?;
            }
            self.finish(ctx)?;
        }
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        self.write_state(state)
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        self.read_state(state, ctx)?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        // In batch mode keys are taken in the order in which they came.
        !self.partition.is_empty() && self.mode != Mode::Batch
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
        self.reach(reached, ctx.now())?;
        self.finish(ctx)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        self.mode == Mode::EventTime
    }
}
