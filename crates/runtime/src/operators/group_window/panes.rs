//! The aggregates of each key and slice of time.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use flott_plan::physical::{ColumnAggregate, WindowAggregate};
use flott_state::{KeySlots, StateReader, StateWriter};
use flott_types::{DataType, Schema};

use crate::Result;
use crate::context::OperatorContext;
use crate::operators::aggregation::{Aggregation, GroupReader, GroupWriter, GroupedRows};
use crate::operators::window::Slices;

/// The name and version of the state.
const SECTION: &str = "panes";
const VERSION: u16 = 2;

/// Aggregates by key and slice. A slot is a group.
pub(super) struct Panes {
    slices: Slices,
    calls: Vec<ColumnAggregate>,
    retracts: bool,
    /// The slot of each key and end of a slice.
    slots: KeySlots,
    /// The slots of each slice.
    by_end: BTreeMap<i64, Vec<u32>>,
    aggregation: Aggregation,
    /// By slot, how many rows it has.
    rows: Vec<i64>,
    /// The slot of each row found last.
    found: Vec<u32>,
    created: Vec<u32>,
}

impl Panes {
    /// No pane yet.
    pub fn new(spec: &WindowAggregate, input: &Schema, slices: Slices) -> Result<Self> {
        let key_type = |key: &usize| input.fields[*key].data_type.clone();
        let types: Vec<DataType> = spec.keys.iter().map(key_type).collect();
        Ok(Self {
            slices,
            calls: spec.calls.clone(),
            retracts: spec.input_retracts,
            slots: KeySlots::new(&with_end(types), None).owned_by(spec.keys.len()),
            by_end: BTreeMap::new(),
            aggregation: Aggregation::new(&spec.calls, spec.input_retracts, None)?,
            rows: Vec::new(),
            found: Vec::new(),
            created: Vec::new(),
        })
    }

    /// Whether each window is one pane.
    pub fn are_windows(&self) -> bool {
        self.slices.are_windows()
    }

    /// Finds or makes the panes of rows, given their keys and times.
    pub fn find(&mut self, keys: &[ArrayRef], times: &[i64]) -> Result<()> {
        let ends: Vec<i64> = times.iter().map(|time| self.slices.slice_end(*time)).collect();
        let keys = keys_and(keys, &ends);
        let encoded = self.slots.encoder().encode(&keys, ends.len())?;
        self.slots.write(&encoded, 0, &mut self.found, &mut self.created)?;
        let bound = self.slots.index().slot_bound() as usize;
        self.aggregation.resize(bound);
        self.rows.resize(bound, 0);
        for row in &self.created {
            let slot = self.found[*row as usize];
            self.by_end.entry(ends[*row as usize]).or_default().push(slot);
        }
        Ok(())
    }

    /// Takes in all rows found.
    pub fn add_all(&mut self, columns: &[ArrayRef], signs: Option<&[i8]>, now: i64) -> Result<()> {
        for (row, slot) in self.found.iter().enumerate() {
            self.rows[*slot as usize] += signs.map_or(1, |signs| i64::from(signs[row]));
        }
        self.aggregation.update(&GroupedRows { columns, groups: &self.found, signs, now })
    }

    /// Takes in one of the rows found.
    pub fn add_one(
        &mut self,
        row: usize,
        columns: &[ArrayRef],
        signs: Option<&[i8]>,
        now: i64,
    ) -> Result<()> {
        let columns: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
        let groups = [self.found[row]];
        let signs = signs.map(|signs| &signs[row..=row]);
        self.rows[groups[0] as usize] += signs.map_or(1, |signs| i64::from(signs[0]));
        self.aggregation.update(&GroupedRows { columns: &columns, groups: &groups, signs, now })
    }

    /// Takes in all rows found, and gives the results before and after each, in pairs, and the number
    /// of rows of its pane after each.
    pub fn add_with_results(
        &mut self,
        columns: &[ArrayRef],
        signs: Option<&[i8]>,
        now: i64,
    ) -> Result<(Vec<ArrayRef>, Vec<i64>)> {
        let mut counts = Vec::with_capacity(self.found.len());
        for (row, slot) in self.found.iter().enumerate() {
            let count = &mut self.rows[*slot as usize];
            *count += signs.map_or(1, |signs| i64::from(signs[row]));
            counts.push(*count);
        }
        let rows = GroupedRows { columns, groups: &self.found, signs, now };
        let mut changed = vec![true; self.found.len()];
        Ok((self.aggregation.update_with_changes(&rows, &mut changed)?, counts))
    }

    /// The results of windows, given their keys and bounds, and how many rows each has.
    pub fn results(
        &self,
        keys: &[ArrayRef],
        bounds: &[(i64, i64)],
    ) -> Result<(Vec<ArrayRef>, Vec<i64>)> {
        let (mut into, mut from) = (Vec::new(), Vec::new());
        let mut counts = vec![0; bounds.len()];
        // The panes of all windows, from the first to the last of each.
        let longest = bounds.iter().map(|(start, end)| self.slices.ends_in(*start, *end).count());
        for step in 0..longest.max().unwrap_or(0) {
            let end_of = |(start, end): &(i64, i64)| {
                self.slices.ends_in(*start, *end).nth(step).unwrap_or(*end)
            };
            let ends: Vec<i64> = bounds.iter().map(end_of).collect();
            let encoded = self.slots.encoder().encode(&keys_and(keys, &ends), ends.len())?;
            for (window, count) in counts.iter_mut().enumerate() {
                if let Some(slot) = self.slots.read_one(&encoded, window, 0) {
                    into.push(window as u32);
                    from.push(slot);
                    *count += self.rows[slot as usize];
                }
            }
        }
        if self.are_windows() && from.len() == bounds.len() {
            return Ok((self.aggregation.values(&from)?, counts));
        }
        let mut merged = Aggregation::new(&self.calls, self.retracts, None)?;
        merged.resize(bounds.len());
        merged.merge(&into, &self.aggregation, &from, 0)?;
        let windows: Vec<u32> = (0..bounds.len() as u32).collect();
        Ok((merged.values(&windows)?, counts))
    }

    /// Forgets the panes of slices.
    pub fn forget(&mut self, is_past: impl Fn(i64) -> bool) {
        while let Some(entry) = self.by_end.first_entry().filter(|entry| is_past(*entry.key())) {
            let slots = entry.remove();
            self.aggregation.reset(&slots);
            for slot in slots {
                self.rows[slot as usize] = 0;
                self.slots.remove(slot);
            }
        }
    }

    /// Writes the panes.
    pub fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let slots = self.slots.to_write(state);
        let mut writer = GroupWriter::new(&self.aggregation, &slots)?;
        let section = state.keyed(SECTION, VERSION, &self.state_schema());
        self.slots.snapshot(section, |slot, out| {
            out.i64(self.rows[slot as usize]);
            writer.write(out);
        })?;
        writer.finish()?;
        self.slots.handed_over(state);
        Ok(())
    }

    /// Takes up panes that were written.
    pub fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.state_schema())?;
        let mut reader = GroupReader::new(&self.aggregation, ctx.now());
        let Self { slots, aggregation, rows, .. } = self;
        slots.restore(ctx.task().max_parallelism, ctx.now(), entries, |slot, _, input| {
            if rows.len() <= slot as usize {
                rows.resize(slot as usize + 1, 0);
            }
            rows[slot as usize] = input.i64()?;
            reader.read(aggregation, slot, input)
        })?;
        reader.finish(aggregation)?;
        let slots: Vec<u32> = self.slots.index().slots().collect();
        for (slot, end) in slots.iter().zip(last_column(&self.slots, &slots)?) {
            self.by_end.entry(end).or_default().push(*slot);
        }
        Ok(())
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let lists = self.slots.len() * 4 + self.by_end.len() * 48;
        self.slots.memory() + self.aggregation.memory() + self.rows.capacity() * 8 + lists
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&self.aggregation.schema())
    }
}

/// Types of keys with that of an end behind them.
pub(super) fn with_end(mut types: Vec<DataType>) -> Vec<DataType> {
    types.push(DataType::bigint().not_null());
    types
}

/// Keys with ends behind them.
fn keys_and(keys: &[ArrayRef], ends: &[i64]) -> Vec<ArrayRef> {
    let mut all = keys.to_vec();
    all.push(Arc::new(Int64Array::from(ends.to_vec())));
    all
}

/// The ends that slots stand for.
pub(super) fn last_column(slots: &KeySlots, of: &[u32]) -> Result<Vec<i64>> {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    let columns = slots.key_columns(of)?;
    let last = columns.last().and_then(|column| column.as_primitive_opt::<Int64Type>().cloned());
    Ok(last.map_or_else(Vec::new, |ends| ends.values().to_vec()))
}
