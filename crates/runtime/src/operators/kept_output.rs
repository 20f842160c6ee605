//! The rows to give for a batch: some of its own, some that were kept before.

use arrow::array::{Array, UInt32Array};
use arrow::compute::{interleave, take_arrays};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_state::RowStore;
use flott_types::{ChangelogBatch, RowKind};

use crate::Result;

/// Where a row lies: `NEW` with its place in the batch, or `OLD` with its place in `old`.
type Place = (usize, usize);
const NEW: usize = 0;
const OLD: usize = 1;

/// Rows to give, in order.
#[derive(Default)]
pub(crate) struct Output {
    kinds: Vec<u8>,
    places: Vec<Place>,
    /// Kept rows that are given.
    old: Vec<u32>,
    /// Kept rows of no more use once the output is made.
    retired: Vec<u32>,
}

impl Output {
    /// Gives a row of the batch.
    pub fn push_new(&mut self, kind: RowKind, row: usize) {
        self.kinds.push(kind as u8);
        self.places.push((NEW, row));
    }

    /// Gives a row that is kept.
    pub fn push_old(&mut self, kind: RowKind, id: u32) {
        self.kinds.push(kind as u8);
        self.places.push((OLD, self.old.len()));
        self.old.push(id);
    }

    /// Keeps a row until [`Self::forget_retired`].
    pub fn retire(&mut self, id: u32) {
        self.retired.push(id);
    }

    /// The rows as a batch of `schema`; forgets them. `None` when there is none.
    pub fn finish(
        &mut self,
        new: &RecordBatch,
        kept: &RowStore,
        schema: &SchemaRef,
    ) -> Result<Option<ChangelogBatch>> {
        if self.kinds.is_empty() {
            return Ok(None);
        }
        let rows = self.kinds.len();
        let columns = if self.old.is_empty() && rows == new.num_rows() {
            new.columns().to_vec()
        } else if self.old.is_empty() {
            let chosen: UInt32Array = self.places.iter().map(|(_, row)| *row as u32).collect();
            take_arrays(new.columns(), &chosen, None)?
        } else {
            let old = kept.gather(&self.old)?;
            let both = new.columns().iter().zip(&old);
            both.map(|(new, old)| interleave(&[&**new as &dyn Array, &**old], &self.places))
                .collect::<Result<_, _>>()?
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let rows = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        self.places.clear();
        self.old.clear();
        Ok(Some(ChangelogBatch::new(rows, std::mem::take(&mut self.kinds).into())))
    }

    /// Removes the rows that were replaced or deleted.
    pub fn forget_retired(&mut self, kept: &mut RowStore) {
        self.retired.drain(..).for_each(|id| kept.remove(id));
    }
}
