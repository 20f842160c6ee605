//! Making one batch of several small ones.

use arrow::compute::concat_batches;
use flott_types::{ChangelogBatch, RowKind, RowKinds};

use crate::Result;
use crate::element::MarkedBatch;
use crate::marks::{Mark, Marks};

/// From this size on a batch is worth sending by itself; copying it to save a call does not pay.
pub(crate) const WORTH_SENDING: usize = 2048;

/// Small batches that wait to become one, and the watermarks between them.
#[derive(Debug, Default)]
pub(crate) struct Coalescer {
    batches: Vec<ChangelogBatch>,
    rows: usize,
    marks: Vec<Mark>,
}

impl Coalescer {
    /// The number of rows that wait.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether no row waits.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether `rows` rows more still make one batch.
    pub fn fits(&self, rows: usize) -> bool {
        self.rows + rows <= ChangelogBatch::MAX_ROWS
    }

    pub fn push(&mut self, rows: MarkedBatch) {
        let offset = self.rows as u32;
        let marks = rows.marks.as_slice().iter();
        self.marks.extend(marks.map(|mark| Mark { row: mark.row + offset, ..*mark }));
        self.rows += rows.batch.len();
        self.batches.push(rows.batch);
    }

    /// A watermark that follows the rows pushed so far.
    pub fn push_watermark(&mut self, watermark: i64) {
        self.marks.push(Mark { row: self.rows as u32, watermark });
    }

    /// All that was pushed as one batch; `None` when no rows were.
    pub fn take(&mut self) -> Result<Option<MarkedBatch>> {
        let rows = std::mem::take(&mut self.rows);
        let marks =
            if self.marks.is_empty() { Marks::NONE } else { self.marks.drain(..).collect() };
        if self.batches.len() <= 1 {
            return Ok(self.batches.pop().map(|batch| MarkedBatch { batch, marks }));
        }
        let schema = self.batches[0].rows.schema();
        let columns = concat_batches(&schema, self.batches.iter().map(|batch| &batch.rows))?;
        let batch = if self.batches.iter().all(|batch| batch.kinds.is_none()) {
            ChangelogBatch::inserts(columns)
        } else {
            let mut kinds = Vec::with_capacity(rows);
            for batch in &self.batches {
                match &batch.kinds {
                    Some(some) => kinds.extend_from_slice(some.as_bytes()),
                    None => kinds.resize(kinds.len() + batch.len(), RowKind::Insert as u8),
                }
            }
            ChangelogBatch::new(columns, RowKinds::from(kinds))
        };
        self.batches.clear();
        Ok(Some(MarkedBatch { batch, marks }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::datatypes::{DataType, Field, Schema};
    use arrow::record_batch::RecordBatch;

    use super::*;

    fn batch(values: Vec<i64>) -> ChangelogBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("v", DataType::Int64, true)]));
        let values: ArrayRef = Arc::new(Int64Array::from(values));
        ChangelogBatch::inserts(RecordBatch::try_new(schema, vec![values]).unwrap())
    }

    #[test]
    fn rows_kinds_and_watermarks_keep_their_places() {
        let mut coalescer = Coalescer::default();
        coalescer.push(batch(vec![1, 2]).into());
        coalescer.push_watermark(10);
        let deleted =
            ChangelogBatch::new(batch(vec![3]).rows, [RowKind::Delete].into_iter().collect());
        let marks = [Mark { row: 1, watermark: 20 }].into_iter().collect();
        coalescer.push(MarkedBatch { batch: deleted, marks });
        coalescer.push_watermark(15);
        let rows = coalescer.take().unwrap().unwrap();
        assert_eq!(rows.batch.len(), 3);
        let kinds: Vec<_> = rows.batch.kinds.iter().flat_map(|kinds| kinds.iter()).collect();
        assert_eq!(kinds, [RowKind::Insert, RowKind::Insert, RowKind::Delete]);
        let expected = [Mark { row: 2, watermark: 10 }, Mark { row: 3, watermark: 20 }];
        assert_eq!(rows.marks.as_slice(), expected);
        assert!(coalescer.take().unwrap().is_none());
    }
}
