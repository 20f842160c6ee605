//! The rows of a join under construction: places of rows on both sides, made into columns at once.

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_state::NO_SLOT;
use flott_types::{ChangelogBatch, RowKind};

use super::side::Side;
use crate::Result;

/// Rows to give, in order.
#[derive(Default)]
pub(super) struct Output {
    kinds: Vec<u8>,
    /// Rows of the input batch, `NO_SLOT` for NULLs.
    input: Vec<u32>,
    /// Kept rows of the other side, `NO_SLOT` for NULLs.
    kept: Vec<u32>,
}

impl Output {
    /// Adds a row: one of the input beside a kept one, `None` where NULLs stand.
    pub fn push(&mut self, kind: RowKind, input: Option<u32>, kept: Option<u32>) {
        self.kinds.push(kind as u8);
        self.input.push(input.unwrap_or(NO_SLOT));
        self.kept.push(kept.unwrap_or(NO_SLOT));
    }

    /// Adds a row so many times: once for each of equal kept rows.
    pub fn push_times(&mut self, times: u32, kind: RowKind, input: Option<u32>, kept: u32) {
        (0..times).for_each(|_| self.push(kind, input, Some(kept)));
    }

    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The rows as a batch of `schema`; forgets them. `input` are the columns of the batch at hand,
    /// `other` the side of the kept rows.
    pub fn finish(
        &mut self,
        input: &[ArrayRef],
        other: &Side,
        input_is_left: bool,
        one_sided: bool,
        schema: &SchemaRef,
    ) -> Result<Option<ChangelogBatch>> {
        if self.kinds.is_empty() {
            return Ok(None);
        }
        let from_input = |output: &Self| -> Result<Vec<ArrayRef>> {
            let places: UInt32Array =
                output.input.iter().map(|row| (*row != NO_SLOT).then_some(*row)).collect();
            Ok(input.iter().map(|c| take(c, &places, None)).collect::<Result<_, _>>()?)
        };
        // Of semi and anti joins only the left row is given, from whichever side it stands on.
        let columns: Vec<ArrayRef> = match (one_sided, input_is_left) {
            (true, true) => from_input(self)?,
            (true, false) => other.columns(&self.kept)?,
            (false, true) => {
                let mut columns = from_input(self)?;
                columns.extend(other.columns(&self.kept)?);
                columns
            }
            (false, false) => {
                let mut columns = other.columns(&self.kept)?;
                columns.extend(from_input(self)?);
                columns
            }
        };
        let rows = self.kinds.len();
        debug_assert!(columns.iter().all(|column| column.len() == rows));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        self.input.clear();
        self.kept.clear();
        let kinds = std::mem::take(&mut self.kinds).into();
        Ok(Some(ChangelogBatch::new(batch, kinds)))
    }
}
