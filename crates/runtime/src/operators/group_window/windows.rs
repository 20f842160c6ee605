//! The windows of keys: what each gave last, and when it gives again.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use flott_plan::physical::{EmitStrategy, WindowAggregate};
use flott_state::{
    EncodedRows, KeySlots, NO_ROW, RowStore, StateDecoder, StateEncoder, StateReader, StateWriter,
    TimerQueue,
};
use flott_types::{DataType, RowKind, Schema};

use super::changes::Changes;
use super::panes::{last_column, with_end};
use crate::Result;
use crate::context::OperatorContext;

/// The name and version of the state.
const SECTION: &str = "windows";
const VERSION: u16 = 2;

/// Where a window is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its end is to come.
    Early,
    /// It gave its result at its end.
    Ended,
    /// It began after its end, with a row that came late.
    Late,
}

/// Windows by key and end.
pub(super) struct Windows {
    strategy: EmitStrategy,
    slots: KeySlots,
    /// By slot.
    windows: Vec<Window>,
    /// The results given last.
    given: RowStore,
    /// The slots of windows in their early phase, by end.
    ending: BTreeMap<i64, Vec<u32>>,
    /// All slots, by end.
    by_end: BTreeMap<i64, Vec<u32>>,
    /// When windows give results again, in processing time.
    timers: TimerQueue<u32>,
    created: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Window {
    start: i64,
    end: i64,
    phase: Phase,
    /// The result given last, [`NO_ROW`] before the first.
    given: u32,
    /// When it gives its result again.
    timer: Option<i64>,
}

impl Windows {
    /// No window yet.
    pub fn new(spec: &WindowAggregate, input: &Schema, strategy: EmitStrategy) -> Self {
        let key_type = |key: &usize| input.fields[*key].data_type.clone();
        let types: Vec<DataType> = spec.keys.iter().map(key_type).collect();
        let results: Vec<DataType> = spec.calls.iter().map(|call| call.data_type.clone()).collect();
        Self {
            strategy,
            slots: KeySlots::new(&with_end(types), None).owned_by(spec.keys.len()),
            windows: Vec::new(),
            given: RowStore::new(&results),
            ending: BTreeMap::new(),
            by_end: BTreeMap::new(),
            timers: TimerQueue::new(),
            created: Vec::new(),
        }
    }

    /// Finds or makes windows, given their keys with their ends, and their bounds.
    pub fn find(
        &mut self,
        keys: &[ArrayRef],
        bounds: &[(i64, i64)],
        slots: &mut Vec<u32>,
    ) -> Result<()> {
        let encoded = self.slots.encoder().encode(keys, bounds.len())?;
        self.slots.write(&encoded, 0, slots, &mut self.created)?;
        for row in std::mem::take(&mut self.created) {
            let (start, end) = bounds[row as usize];
            let window = Window { start, end, phase: Phase::Late, given: NO_ROW, timer: None };
            self.put(slots[row as usize], window);
        }
        Ok(())
    }

    fn put(&mut self, slot: u32, window: Window) {
        let at = slot as usize;
        self.by_end.entry(window.end).or_default().push(slot);
        if at >= self.windows.len() {
            self.windows.resize(at + 1, window.clone());
        }
        self.windows[at] = window;
    }

    /// Takes note of a row of a window; whether the window gives its result with it. `is_over` says
    /// whether its end is past.
    pub fn on_row(&mut self, slot: u32, is_over: bool, now: i64) -> bool {
        let delays = self.late_delay().is_some();
        let window = &mut self.windows[slot as usize];
        match window.phase {
            Phase::Late if !is_over => {
                window.phase = Phase::Early;
                self.ending.entry(window.end).or_default().push(slot);
                self.wait(slot, self.strategy.early, now)
            }
            Phase::Early => self.wait(slot, self.strategy.early, now),
            // Without a delay every late row gives a result.
            Phase::Ended if delays => self.wait(slot, self.strategy.late, now),
            Phase::Ended | Phase::Late => true,
        }
    }

    fn late_delay(&self) -> Option<u64> {
        self.strategy.late.filter(|delay| *delay > 0)
    }

    /// Gives the result after a delay, or at once without one.
    fn wait(&mut self, slot: u32, delay: Option<u64>, now: i64) -> bool {
        match delay {
            None => false,
            Some(0) => true,
            Some(delay) => {
                if self.windows[slot as usize].timer.is_none() {
                    self.set_timer(slot, Some(later(now, delay)));
                }
                false
            }
        }
    }

    fn set_timer(&mut self, slot: u32, time: Option<i64>) {
        let window = &mut self.windows[slot as usize];
        if let Some(old) = std::mem::replace(&mut window.timer, time) {
            self.timers.delete(old, &slot);
        }
        if let Some(time) = time {
            self.timers.register(time, slot);
        }
    }

    /// The windows whose delay is over at an instant of processing time; each waits anew.
    pub fn take_due(&mut self, now: i64) -> Vec<u32> {
        let mut due = Vec::new();
        while let Some((time, slot)) = self.timers.pop_due(now) {
            self.slots.changed(slot);
            self.windows[slot as usize].timer = None;
            let delay = match self.windows[slot as usize].phase {
                Phase::Ended if self.late_delay().is_some() => self.strategy.late,
                _ => self.strategy.early,
            };
            if let Some(delay) = delay.filter(|delay| *delay > 0) {
                self.set_timer(slot, Some(later(time.max(now), delay)));
            }
            due.push(slot);
        }
        due
    }

    /// The windows whose end is past, those of each end together.
    pub fn take_ending(&mut self, is_over: impl Fn(i64) -> bool) -> Vec<Vec<u32>> {
        let mut ended = Vec::new();
        while let Some(entry) = self.ending.first_entry().filter(|entry| is_over(*entry.key())) {
            ended.push(entry.remove());
        }
        for slot in ended.iter().flatten() {
            self.slots.changed(*slot);
            self.windows[*slot as usize].phase = Phase::Ended;
            // The delay of late rows begins with the first of them, unless both are the same.
            if self.late_delay().is_some() && self.strategy.late != self.strategy.early {
                self.set_timer(*slot, None);
            }
        }
        ended
    }

    /// Gives a window's result, a row of `results` or `None` when it has no rows, if it differs from the
    /// one given last.
    pub fn give(
        &mut self,
        slot: u32,
        results: &EncodedRows,
        row: Option<usize>,
        out: &mut Changes,
    ) -> Result<()> {
        self.slots.changed(slot);
        let window = &mut self.windows[slot as usize];
        match (window.given, row) {
            (NO_ROW, None) => {}
            (NO_ROW, Some(row)) => {
                out.push(slot, RowKind::Insert, results.row(row));
                window.given = self.given.insert(results, row)?;
            }
            (old, Some(row)) if self.given.is_row(old, results, row) => {}
            (old, Some(row)) => {
                out.push(slot, RowKind::UpdateBefore, self.given.bytes(old));
                out.push(slot, RowKind::UpdateAfter, results.row(row));
                self.given.replace(old, results, row)?;
            }
            (old, None) => {
                out.push(slot, RowKind::Delete, self.given.bytes(old));
                self.given.remove(old);
                window.given = NO_ROW;
            }
        }
        Ok(())
    }

    /// Forgets the windows of ends that are past.
    pub fn forget(&mut self, is_past: impl Fn(i64) -> bool) {
        while let Some(entry) = self.by_end.first_entry().filter(|entry| is_past(*entry.key())) {
            for slot in entry.remove() {
                self.set_timer(slot, None);
                let given = std::mem::replace(&mut self.windows[slot as usize].given, NO_ROW);
                if given != NO_ROW {
                    self.given.remove(given);
                }
                self.slots.remove(slot);
            }
        }
    }

    /// The start and end of a window.
    pub fn bounds(&self, slot: u32) -> (i64, i64) {
        let window = &self.windows[slot as usize];
        (window.start, window.end)
    }

    /// The keys of windows.
    pub fn key_columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut columns = self.slots.key_columns(slots)?;
        columns.pop();
        Ok(columns)
    }

    /// When the next delay is over, in processing time.
    pub fn next_timer(&self) -> Option<i64> {
        self.timers.next_time()
    }

    /// The end of the window that ends next.
    pub fn next_ending(&self) -> Option<i64> {
        self.ending.first_key_value().map(|(end, _)| *end)
    }

    /// Writes the windows.
    pub fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION, VERSION, &self.slots.schema("window"));
        self.slots.snapshot(section, |slot, out| {
            let window = &self.windows[slot as usize];
            out.u8(window.phase as u8);
            out.option(window.timer, StateEncoder::i64);
            let given = [window.given];
            let given = if window.given == NO_ROW { &[] } else { given.as_slice() };
            self.given.write_rows(given, out);
        })?;
        self.slots.handed_over(state);
        Ok(())
    }

    /// Takes up windows that were written; `start_of` gives the start of a window by its end.
    pub fn restore(
        &mut self,
        state: &StateReader<'_>,
        ctx: &OperatorContext,
        start_of: impl Fn(i64) -> i64,
    ) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.slots.schema("window"))?;
        let (mut read, mut results) = (Vec::new(), Vec::new());
        let given = &mut self.given;
        self.slots.restore(ctx.task().max_parallelism, ctx.now(), entries, |slot, _, input| {
            let phase = match input.u8()? {
                0 => Phase::Early,
                1 => Phase::Ended,
                2 => Phase::Late,
                _ => return Err(input.damaged("phase of a window")),
            };
            let timer = input.option(StateDecoder::i64)?;
            results.clear();
            given.read_rows(input, &mut results)?;
            read.push((slot, phase, timer, results.first().copied().unwrap_or(NO_ROW)));
            Ok(())
        })?;
        let slots: Vec<u32> = read.iter().map(|(slot, ..)| *slot).collect();
        let ends = last_column(&self.slots, &slots)?;
        for ((slot, phase, timer, given), end) in read.into_iter().zip(ends) {
            self.put(slot, Window { start: start_of(end), end, phase, given, timer: None });
            self.set_timer(slot, timer);
            if phase == Phase::Early {
                self.ending.entry(end).or_default().push(slot);
            }
        }
        Ok(())
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let lists = (self.by_end.len() + self.ending.len()) * 48 + self.slots.len() * 8;
        let windows = self.windows.capacity() * size_of::<Window>();
        self.slots.memory() + windows + self.given.memory() + self.timers.memory() + lists
    }
}

fn later(now: i64, delay: u64) -> i64 {
    now.saturating_add(i64::try_from(delay).unwrap_or(i64::MAX))
}
