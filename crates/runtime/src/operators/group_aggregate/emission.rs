//! The rows that changes of groups give.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use flott_types::{ChangelogBatch, RowKind, RowKinds};

use super::lives::Step;
use crate::Result;

/// Rows to come out of a batch, picked from the results before and after each of its rows.
///
/// Results stand in pairs: that before row `r` at `2r`, that after it at `2r + 1`.
pub(super) struct Emission {
    emit_update_before: bool,
    repeats: bool,
    /// The number of rows in.
    rows: usize,
    results: Vec<ArrayRef>,
    /// Which results come out, and as what.
    picked: Vec<u32>,
    kinds: Vec<u8>,
    /// How many rows came out of the first rows in, if that is asked for.
    counts: Option<Vec<u32>>,
}

impl Emission {
    /// Nothing to come out yet of `rows` rows. With `repeats` unchanged results come out too, with
    /// `counted` it is noted which rows came out of which.
    pub fn new(rows: usize, emit_update_before: bool, repeats: bool, counted: bool) -> Self {
        Self {
            emit_update_before,
            repeats,
            rows,
            results: Vec::new(),
            picked: Vec::with_capacity(2 * rows),
            kinds: Vec::with_capacity(2 * rows),
            counts: counted.then(Vec::new),
        }
    }

    /// Whether results that did not change come out.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// The results, in pairs.
    pub fn set_results(&mut self, results: Vec<ArrayRef>) {
        self.results = results;
    }

    /// Rows that were added; `first` are those that began a group.
    pub fn inserted(&mut self, first: &[u32], changed: &[bool]) {
        let mut first = first.iter().peekable();
        for (row, changed) in changed.iter().enumerate().take(self.rows) {
            if first.next_if(|first| **first as usize == row).is_some() {
                self.begin(row);
            } else if *changed {
                self.change(row);
            }
            self.count();
        }
    }

    /// Rows that did what `steps` say.
    pub fn stepped(&mut self, steps: &[Step], changed: &[bool]) {
        for (row, step) in steps.iter().enumerate() {
            match step {
                Step::Begin => self.begin(row),
                Step::Change if changed[row] => self.change(row),
                Step::End => self.push(2 * row, RowKind::Delete),
                Step::Pass | Step::Change => {}
            }
            self.count();
        }
    }

    /// How many rows came out of the first `row` rows in.
    pub fn rows_after(&self, row: usize) -> usize {
        let counts = self.counts.as_deref().unwrap_or_default();
        row.checked_sub(1).and_then(|last| counts.get(last)).map_or(0, |count| *count as usize)
    }

    /// The rows that come out: keys, then results.
    pub fn finish(self, keys: &[ArrayRef], schema: &SchemaRef) -> Result<ChangelogBatch> {
        let mut columns = Vec::with_capacity(keys.len() + self.results.len());
        let rows = UInt32Array::from_iter_values(self.picked.iter().map(|pick| pick / 2));
        for key in keys {
            columns.push(take(key, &rows, None)?);
        }
        if self.picked.len() == 2 * self.rows {
            columns.extend(self.results);
        } else {
            let picked = UInt32Array::from(self.picked);
            for result in &self.results {
                columns.push(take(result, &picked, None)?);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.kinds.len()));
        let rows = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        Ok(ChangelogBatch::new(rows, RowKinds::from(self.kinds)))
    }

    #[inline]
    fn begin(&mut self, row: usize) {
        self.push(2 * row + 1, RowKind::Insert);
    }

    #[inline]
    fn change(&mut self, row: usize) {
        if self.emit_update_before {
            self.push(2 * row, RowKind::UpdateBefore);
        }
        self.push(2 * row + 1, RowKind::UpdateAfter);
    }

    #[inline]
    fn push(&mut self, pick: usize, kind: RowKind) {
        self.picked.push(pick as u32);
        self.kinds.push(kind as u8);
    }

    #[inline]
    fn count(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.push(self.picked.len() as u32);
        }
    }
}
