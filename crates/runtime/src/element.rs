//! What flows between operators.

use flott_types::ChangelogBatch;

use crate::checkpoint::Barrier;
use crate::marks::Marks;

/// One element of a stream.
#[derive(Debug, Clone)]
pub enum StreamElement {
    /// Rows, and the watermarks that stand between them.
    Batch(MarkedBatch),
    /// No row after it should have a time at or before this one, in milliseconds since the epoch.
    Watermark(i64),
    /// Nothing is to be expected for a while; the sender's watermark holds nobody back.
    Idle,
    /// The sender is back after [`StreamElement::Idle`].
    Active,
    /// What was sent before belongs to a checkpoint, what comes after does not.
    Barrier(Barrier),
    /// Nothing follows.
    End(EndOfInput),
}

/// Rows with the watermarks that stand between them.
#[derive(Debug, Clone)]
pub struct MarkedBatch {
    /// The rows.
    pub batch: ChangelogBatch,
    /// Watermarks between the rows.
    pub marks: Marks,
}

impl From<ChangelogBatch> for MarkedBatch {
    fn from(batch: ChangelogBatch) -> Self {
        Self { batch, marks: Marks::NONE }
    }
}

impl MarkedBatch {
    /// `len` rows from `offset` with the marks that belong to them, without copying rows.
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        Self { batch: self.batch.slice(offset, len), marks: self.marks.slice(offset, len) }
    }
}

/// Why an input ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndOfInput {
    /// Everything was read: final results are due.
    Drained,
    /// The job is being stopped: what was read is processed, but it was not everything, so no final
    /// results are given.
    Stopped,
}
