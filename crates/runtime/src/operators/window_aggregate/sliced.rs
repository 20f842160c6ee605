//! TUMBLE, HOP and CUMULATE, and windows that the input names: partial aggregates by slice, merged when
//! a window fires.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use flott_plan::physical::{WindowAggregate, WindowSource};
use flott_state::{KeySlots, StateReader, StateWriter};
use flott_types::Schema;

use super::fired::Fired;
use super::pane::{Pane, PaneSpec};
use super::{TimedRows, Windows};
use crate::context::{OperatorContext, TaskInfo};
use crate::late::LateRows;
use crate::operators::window::{Slices, WallClock, instants};
use crate::{Result, RuntimeError};

/// The name and version of the state.
const SECTION: &str = "slices";
const VERSION: u16 = 2;
/// The version whose entries hold the times of their slice.
const WITH_TIMES: u16 = 1;
/// The name and version of the times of slices.
const TIMES_SECTION: &str = "slice times";
const TIMES_VERSION: u16 = 1;
/// What tells the keys of a slice from those of others: its end behind the key.
const SUFFIX: usize = size_of::<i64>();

/// A window of which keys are on disk is given in about so many parts.
const PARTS: u16 = 16;

/// Slices by their ends.
pub(super) struct Sliced {
    cut: Cut,
    clock: WallClock,
    spec: PaneSpec,
    slices: BTreeMap<i64, Slice>,
    /// The ends of the windows to fire next: every slice is in one of them.
    due: BTreeSet<i64>,
    /// Whether the slices of a window are merged from the first to the last.
    in_order: bool,
    memory: usize,
    /// How often rows came.
    uses: u64,
    /// The key groups of the task, and how many there are in all.
    owned: Range<u16>,
    max_parallelism: u16,
    /// Of the window that is given in parts the next key group.
    given: u16,
    /// Slices that are over and that the last snapshot holds: their ends and keys.
    over: Vec<(i64, KeySlots)>,
}

/// How rows find their slice.
enum Cut {
    /// By their time.
    Slices(Slices),
    /// The time is the window's end already; its start is in a column.
    Attached { start: usize },
}

struct Slice {
    pane: Pane,
    /// The start of the window that the input named.
    start: i64,
    /// The bytes it was last accounted for.
    memory: usize,
    /// When rows of it came last.
    used: u64,
}

impl Slice {
    fn account(&mut self, all: &mut usize) {
        let memory = self.pane.memory();
        *all = *all + memory - self.memory;
        self.memory = memory;
    }
}

impl Cut {
    fn slice_end(&self, time: i64) -> i64 {
        match self {
            Self::Slices(slices) => slices.slice_end(time),
            Self::Attached { .. } => time,
        }
    }

    fn first_window(&self, slice_end: i64) -> Option<i64> {
        match self {
            Self::Slices(slices) => slices.first_window(slice_end),
            Self::Attached { .. } => Some(slice_end),
        }
    }

    fn next_window(&self, slice_end: i64, window_end: i64) -> Option<i64> {
        match self {
            Self::Slices(slices) => slices.next_window(slice_end, window_end),
            Self::Attached { .. } => None,
        }
    }
}

impl Sliced {
    /// The slices of an operator; `None` for SESSION, which has none.
    pub fn new(
        spec: &WindowAggregate,
        input: &Schema,
        clock: &WallClock,
        task: &TaskInfo,
    ) -> Result<Option<Self>> {
        let (first, last) = task.key_groups.bounds();
        let cut = match &spec.window {
            WindowSource::Attached { start, .. } => Cut::Attached { start: *start },
            WindowSource::Assign(window) => match Slices::of(window.kind) {
                Some(slices) => Cut::Slices(slices),
                None => return Ok(None),
            },
        };
        Ok(Some(Self {
            cut,
            clock: clock.clone(),
            spec: PaneSpec::new(spec, input),
            slices: BTreeMap::new(),
            due: BTreeSet::new(),
            in_order: spec.group_window.is_some(),
            memory: 0,
            uses: 0,
            owned: first..last.saturating_add(1),
            max_parallelism: task.max_parallelism,
            given: 0,
            over: Vec::new(),
        }))
    }

    /// When a window fires.
    fn firing(&self, window_end: i64) -> i64 {
        self.clock.firing(window_end.saturating_sub(1))
    }

    /// The first window of a slice that has not fired, `None` when all have.
    fn open_window(&self, slice_end: i64, watermark: i64) -> Option<i64> {
        let mut window = self.cut.first_window(slice_end)?;
        while self.firing(window) <= watermark {
            window = self.cut.next_window(slice_end, window)?;
        }
        Some(window)
    }

    /// The slice of each row, `None` where it is late or has no time; and which are late.
    fn targets(&mut self, rows: &TimedRows) -> (Vec<Option<i64>>, LateRows) {
        let mut late = LateRows::new();
        let mut targets = Vec::with_capacity(rows.times.len());
        // Rows that follow each other mostly fall into one slice.
        let mut last = None;
        for (row, (time, watermark)) in rows.times.iter().zip(rows.watermarks).enumerate() {
            let Some(time) = time else {
                targets.push(None);
                continue;
            };
            let slice = self.cut.slice_end(*time);
            let open = match last {
                Some((known, before, open)) if known == slice && before == *watermark => open,
                _ => {
                    let window = self.open_window(slice, *watermark);
                    self.due.extend(window);
                    window.is_some()
                }
            };
            last = Some((slice, *watermark, open));
            // Between the windows of a HOP that leaves gaps nothing is late.
            if !open && self.cut.first_window(slice).is_some() {
                late.push(row, *watermark);
            }
            targets.push(open.then_some(slice));
        }
        (targets, late)
    }

    fn add_to(
        &mut self,
        slice: i64,
        columns: &[ArrayRef],
        signs: Option<&[i8]>,
        count: usize,
        now: i64,
    ) -> Result<()> {
        let start = match self.cut {
            Cut::Attached { start } => instants(&columns[start])?.0.first().copied().unwrap_or(0),
            Cut::Slices(_) => 0,
        };
        let slice = match self.slices.entry(slice) {
            Entry::Occupied(slice) => slice.into_mut(),
            Entry::Vacant(free) => {
                free.insert(Slice { pane: Pane::new(&self.spec)?, start, memory: 0, used: 0 })
            }
        };
        slice.pane.add(&self.spec, columns, signs, count, now)?;
        self.uses += 1;
        slice.used = self.uses;
        slice.account(&mut self.memory);
        Ok(())
    }

    fn fire_window(&mut self, window: i64, out: &mut Fired) -> Result<()> {
        if self.is_spilled(window) {
            self.give_part(window, self.owned.clone(), out)?;
            self.leave(&self.ends(window), window);
            return Ok(());
        }
        let Cut::Slices(slices) = self.cut else {
            if let Some(slice) = self.slices.get(&window) {
                emit(&slice.pane, slice.start, window, out)?;
                self.remove(window);
            }
            return Ok(());
        };
        let start = slices.window_start(window);
        let ends = self.ends(window);
        let Some((first, others)) = ends.split_first() else { return Ok(()) };
        if slices.accumulates() {
            self.accumulate(*first, others)?;
        }
        if others.is_empty() || slices.accumulates() {
            if let Some(all) = self.slices.get(first) {
                emit(&all.pane, start, window, out)?;
            }
        } else {
            let mut in_order = ends.clone();
            if !self.merges_in_order() {
                in_order.reverse();
            }
            let mut merged = Pane::new(&self.spec)?;
            for slice in in_order.iter().filter_map(|end| self.slices.get(end)) {
                merged.merge(&slice.pane, 0)?;
            }
            emit(&merged, start, window, out)?;
        }
        self.leave(&ends, window);
        Ok(())
    }

    /// The slices of a window.
    fn ends(&self, window: i64) -> Vec<i64> {
        let start = match &self.cut {
            Cut::Slices(slices) => slices.window_start(window),
            Cut::Attached { .. } => window.saturating_sub(1),
        };
        let inside = (Bound::Excluded(start), Bound::Included(window));
        self.slices.range(inside).map(|(end, _)| *end).collect()
    }

    /// Drops slices of a window that was given, but for those of a later one.
    fn leave(&mut self, ends: &[i64], window: i64) {
        for end in ends {
            match self.cut.next_window(*end, window) {
                Some(next) if self.slices.contains_key(end) => {
                    self.due.insert(next);
                }
                _ => self.remove(*end),
            }
        }
    }

    /// Gives the rows of some key groups of a window, of which keys are on disk.
    fn give_part(&mut self, window: i64, groups: Range<u16>, out: &mut Fired) -> Result<()> {
        let mut ends = self.ends(window);
        let start = match (&self.cut, ends.first().and_then(|end| self.slices.get(end))) {
            (Cut::Slices(slices), _) => slices.window_start(window),
            (Cut::Attached { .. }, slice) => slice.map_or(window, |slice| slice.start),
        };
        if !self.merges_in_order() {
            ends.reverse();
        }
        let mut merged = Pane::new(&self.spec)?;
        for slice in ends.iter().filter_map(|end| self.slices.get(end)) {
            merged.merge_groups(&slice.pane, groups.clone(), self.max_parallelism, &self.spec)?;
        }
        emit(&merged, start, window, out)
    }

    /// Whether slices of a window are merged from the first to the last. Flink begins with the latest, but for
    /// group windows and CUMULATE, which shows in what keeps its rows in order.
    fn merges_in_order(&self) -> bool {
        let accumulates = matches!(&self.cut, Cut::Slices(slices) if slices.accumulates());
        self.in_order || accumulates
    }

    /// Whether some slice of a window has keys on disk.
    fn is_spilled(&self, window: i64) -> bool {
        self.ends(window).iter().any(|end| self.slices[end].pane.is_spilled())
    }

    /// Merges slices into the first, for good.
    fn accumulate(&mut self, first: i64, others: &[i64]) -> Result<()> {
        for end in others {
            let Some(other) = self.take(*end) else { continue };
            if let Some(slice) = self.slices.get_mut(&first) {
                slice.pane.merge(&other.pane, 0)?;
                slice.account(&mut self.memory);
            }
            self.forget(*end, other);
        }
        Ok(())
    }

    fn take(&mut self, end: i64) -> Option<Slice> {
        let slice = self.slices.remove(&end)?;
        self.memory -= slice.memory;
        Some(slice)
    }

    /// Remembers of a slice what the next snapshot must say.
    fn forget(&mut self, end: i64, slice: Slice) {
        if slice.pane.keys().is_published() {
            let keys = slice.pane.into_keys();
            self.memory += keys.memory();
            self.over.push((end, keys));
        }
    }

    fn remove(&mut self, end: i64) {
        if let Some(slice) = self.take(end) {
            self.forget(end, slice);
        }
    }

    /// The window in which a slice fires next.
    fn due_window(&self, slice_end: i64) -> i64 {
        let mut window = self.cut.first_window(slice_end);
        while let Some(end) = window {
            if self.due.contains(&end) {
                return end;
            }
            window = self.cut.next_window(slice_end, end);
        }
        slice_end
    }

    fn schema(&self) -> Result<String> {
        Ok(Pane::new(&self.spec)?.schema())
    }
}

/// Gives the rows of a window.
fn emit(pane: &Pane, start: i64, end: i64, out: &mut Fired) -> Result<()> {
    let (rows, keys, results) = pane.results()?;
    out.push(&vec![(start, end); rows], &keys, results)
}

impl Windows for Sliced {
    fn add(&mut self, rows: &TimedRows) -> Result<LateRows> {
        let (targets, late) = self.targets(rows);
        let count = targets.len();
        if let Some(Some(slice)) = targets.first()
            && targets.iter().all(|target| *target == Some(*slice))
        {
            self.add_to(*slice, rows.columns, rows.signs, count, rows.now)?;
            return Ok(late);
        }
        let mut by_slice: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (row, slice) in (0u32..).zip(targets) {
            if let Some(slice) = slice {
                by_slice.entry(slice).or_default().push(row);
            }
        }
        for (slice, picked) in by_slice {
            let signs: Option<Vec<i8>> =
                rows.signs.map(|signs| picked.iter().map(|row| signs[*row as usize]).collect());
            let indices = UInt32Array::from(picked);
            let columns: Vec<ArrayRef> = rows
                .columns
                .iter()
                .map(|column| take(column, &indices, None))
                .collect::<Result<_, _>>()?;
            let count = indices.values().len();
            self.add_to(slice, &columns, signs.as_deref(), count, rows.now)?;
        }
        Ok(late)
    }

    fn next_firing(&self) -> Option<i64> {
        self.due.first().map(|window| self.firing(*window))
    }

    fn first_firing(&self, time: i64) -> i64 {
        let slice = self.cut.slice_end(time);
        self.cut.first_window(slice).map_or(i64::MAX, |window| self.firing(window))
    }

    fn fire(&mut self, until: i64, out: &mut Fired) -> Result<()> {
        while let Some(window) = self.due.first().copied()
            && self.firing(window) <= until
        {
            self.due.pop_first();
            self.fire_window(window, out)?;
        }
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let mut section = state.keyed(SECTION, VERSION, &self.schema()?).continued();
        for (end, slice) in &self.slices {
            slice.pane.write(&mut section, &end.to_le_bytes())?;
        }
        for (end, keys) in &self.over {
            let again = self.slices.get(end).map(|slice| slice.pane.keys());
            keys.write_all_gone(&mut section, &end.to_le_bytes(), again)?;
        }
        section.finish();
        state.operator(TIMES_SECTION, TIMES_VERSION, |out| {
            out.list(self.slices.iter(), |out, (end, slice)| {
                out.i64(*end);
                out.i64(slice.start);
                out.i64(self.due_window(*end));
            });
        });
        if state.is_handed_over() {
            for (_, keys) in self.over.drain(..) {
                self.memory -= keys.memory();
            }
        }
        self.slices.values_mut().for_each(|slice| slice.pane.handed_over(state));
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let mut times: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        if state.contains(TIMES_SECTION) {
            for (_, mut value) in state.operator(TIMES_SECTION, TIMES_VERSION)? {
                let read = value.list(|input| Ok((input.i64()?, (input.i64()?, input.i64()?))))?;
                value.finish()?;
                for (end, of_slice) in read {
                    let known = times.entry(end).or_insert(of_slice);
                    *known = (*known).min(of_slice);
                }
            }
        }
        let mut readers = BTreeMap::new();
        for entry in state.keyed(SECTION, VERSION, &self.schema()?)? {
            let mut entry = entry?;
            let (key, end, (start, due)) = if entry.version == WITH_TIMES {
                (entry.key, entry.value.i64()?, (entry.value.i64()?, entry.value.i64()?))
            } else {
                let Some((key, end)) = entry.key.split_last_chunk::<SUFFIX>() else {
                    return Err(entry.value.damaged("key without the end of its slice").into());
                };
                let end = i64::from_le_bytes(*end);
                let Some(times) = times.get(&end) else {
                    return Err(entry.value.damaged("slice without times").into());
                };
                (key, end, *times)
            };
            if !self.slices.contains_key(&end) {
                let pane = Pane::new(&self.spec)?;
                readers.insert(end, pane.reader(ctx.now()));
                self.slices.insert(end, Slice { pane, start, memory: 0, used: 0 });
            }
            self.due.insert(due);
            let (Some(slice), Some(reader)) = (self.slices.get_mut(&end), readers.get_mut(&end))
            else {
                return Err(RuntimeError::internal("", "a slice without reader"));
            };
            slice.pane.read(reader, key, &mut entry.value)?;
            entry.value.finish()?;
        }
        for (end, reader) in readers {
            if let Some(slice) = self.slices.get_mut(&end) {
                slice.pane.finish(reader)?;
                slice.memory = slice.pane.memory();
                self.memory += slice.memory;
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.memory
    }

    fn spills(&self) -> bool {
        !self.spec.keys.is_empty()
    }

    /// Slices that no rows come to any more leave first, as a whole.
    fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let crowded = ctx.task().memory.space().is_some_and(|space| space.is_crowded());
        if !crowded && self.memory <= room / 2 {
            return Ok(());
        }
        let mut ends: Vec<(u64, i64)> = self.slices.iter().map(|(end, s)| (s.used, *end)).collect();
        ends.sort_unstable();
        let hottest = ends.pop();
        for (_, end) in ends {
            if let Some(slice) = self.slices.get_mut(&end)
                && (crowded || self.memory > room / 2)
            {
                slice.pane.make_way(0, ctx)?;
                slice.account(&mut self.memory);
            }
        }
        if let Some(slice) = hottest.and_then(|(_, end)| self.slices.get_mut(&end)) {
            let others = self.memory - slice.memory;
            slice.pane.make_way(room.saturating_sub(others), ctx)?;
            slice.account(&mut self.memory);
        }
        Ok(())
    }

    fn next_due(&self) -> Option<i64> {
        let first = self.due.first()?;
        let is_spilled = self.slices.values().any(|slice| slice.pane.is_spilled());
        is_spilled.then(|| self.firing(*first))
    }

    /// Gives the first window: as a whole if it is in memory, else some key groups.
    fn wake(&mut self, until: i64, out: &mut Fired, _ctx: &OperatorContext) -> Result<()> {
        let Some(window) = self.due.first().copied() else { return Ok(()) };
        if self.firing(window) > until {
            return Ok(());
        }
        if !self.is_spilled(window) {
            self.due.pop_first();
            return self.fire_window(window, out);
        }
        let from = self.given.max(self.owned.start);
        let part = (self.owned.len() as u16 / PARTS).max(1);
        let to = from.saturating_add(part).min(self.owned.end);
        self.give_part(window, from..to, out)?;
        self.given = to;
        if to == self.owned.end {
            self.given = 0;
            self.due.pop_first();
            self.leave(&self.ends(window), window);
        }
        Ok(())
    }
}
