//! The rows to give for a batch, with their ranks.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow::compute::{interleave, take_arrays};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_types::{ChangelogBatch, RowKind};

use super::KeptRows;
use crate::Result;

/// A row to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::operators) enum Given {
    /// A row of the batch at hand.
    New(usize),
    /// A row that is kept.
    Kept(u32),
}

/// Where a row lies: in the batch or among the kept ones, and at which place.
type Place = (usize, usize);
const NEW: usize = 0;
const KEPT: usize = 1;

/// Rows to give, in order, and kept rows of no more use once they are given.
pub(in crate::operators) struct Changes {
    emit_update_before: bool,
    with_number: bool,
    is_silent: bool,
    kinds: Vec<u8>,
    places: Vec<Place>,
    ranks: Vec<i64>,
    kept: Vec<u32>,
    retired: Vec<u32>,
}

impl Changes {
    /// Nothing to give yet; `with_number` adds the rank as a column.
    pub fn new(emit_update_before: bool, with_number: bool) -> Self {
        Self {
            emit_update_before,
            with_number,
            is_silent: false,
            kinds: Vec::new(),
            places: Vec::new(),
            ranks: Vec::new(),
            kept: Vec::new(),
            retired: Vec::new(),
        }
    }

    /// Nothing is ever given; rows are only retired.
    pub fn silent() -> Self {
        Self { is_silent: true, ..Self::new(false, false) }
    }

    /// Gives a row of a rank; −U only if somebody wants it.
    pub fn push(&mut self, kind: RowKind, row: Given, rank: u64) {
        if self.is_silent || (kind == RowKind::UpdateBefore && !self.emit_update_before) {
            return;
        }
        self.kinds.push(kind as u8);
        if self.with_number {
            self.ranks.push(i64::try_from(rank).unwrap_or(i64::MAX));
        }
        let place = match row {
            Given::New(row) => (NEW, row),
            Given::Kept(id) => (KEPT, self.kept_place(id)),
        };
        self.places.push(place);
    }

    /// The place of a kept row; one that moves by a rank is given twice in close succession.
    fn kept_place(&mut self, id: u32) -> usize {
        let known = self.kept.iter().rev().take(3).position(|known| *known == id);
        if let Some(back) = known {
            return self.kept.len() - 1 - back;
        }
        self.kept.push(id);
        self.kept.len() - 1
    }

    /// Keeps a row until what refers to it is given.
    pub fn retire(&mut self, id: u32) {
        self.retired.push(id);
    }

    /// The number of rows to give.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The rows as a batch of `schema`, `None` when there is none; then retired rows are forgotten.
    pub fn finish(
        &mut self,
        new: &[ArrayRef],
        kept: &mut impl KeptRows,
        schema: &SchemaRef,
    ) -> Result<Option<ChangelogBatch>> {
        let batch = if self.kinds.is_empty() {
            None
        } else {
            let mut columns = self.columns(new, kept)?;
            if self.with_number {
                columns.push(Arc::new(Int64Array::from(std::mem::take(&mut self.ranks))));
            }
            let options = RecordBatchOptions::new().with_row_count(Some(self.kinds.len()));
            let rows = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
            Some(ChangelogBatch::new(rows, std::mem::take(&mut self.kinds).into()))
        };
        self.places.clear();
        self.kept.clear();
        self.retired.drain(..).for_each(|id| kept.remove(id));
        Ok(batch)
    }

    fn columns(&self, new: &[ArrayRef], kept: &impl KeptRows) -> Result<Vec<ArrayRef>> {
        if self.kept.is_empty() {
            let chosen: UInt32Array = self.places.iter().map(|(_, row)| *row as u32).collect();
            return Ok(take_arrays(new, &chosen, None)?);
        }
        let kept = kept.gather(&self.kept)?;
        if self.places.iter().all(|(from, _)| *from == KEPT) {
            let chosen: UInt32Array = self.places.iter().map(|(_, at)| *at as u32).collect();
            return Ok(take_arrays(&kept, &chosen, None)?);
        }
        let both = new.iter().zip(&kept);
        let columns =
            both.map(|(new, kept)| interleave(&[&**new as &dyn Array, &**kept], &self.places));
        Ok(columns.collect::<Result<_, _>>()?)
    }
}
