//! Rows that come late: dropped and counted, and written to a table where the session names one.
//!
//! An operator gathers the rows that it drops in [`LateRows`] and hands them to its context. Where the job has
//! a table for them, the node of each such operator has an edge of its own to the table's sink, so that late
//! rows are part of checkpoints as all others are: written exactly once.

mod columns;
mod table;

use std::sync::Arc;

use flott_types::ChangelogBatch;

use crate::element::MarkedBatch;
use crate::marks::Marks;
use crate::outputs::Output;
use crate::{Result, TaskInfo};

pub use columns::{LateRowWriter, LateTime};
pub use table::LateTable;

/// Makes what turns the late rows of each input of an operator into rows of the table, for one task.
pub type LateFactory = Arc<dyn Fn(&TaskInfo) -> Result<Vec<LateRowWriter>> + Send + Sync>;

/// Rows of a batch that came late, each with the watermark it came behind. Costs nothing while there are none.
#[derive(Debug, Default)]
pub struct LateRows {
    rows: Vec<u32>,
    watermarks: Vec<i64>,
}

impl LateRows {
    /// No row yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row, in order, with the watermark in force before it; `i64::MIN` stands for none.
    #[cold]
    pub fn push(&mut self, row: usize, watermark: i64) {
        self.rows.push(row as u32);
        self.watermarks.push(watermark);
    }

    /// Whether no row came late.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows came late.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

/// The way of an operator's late rows to the table.
pub(crate) struct LateOutput {
    writers: Vec<LateRowWriter>,
    /// What leads to the table's sink.
    pub output: Output,
}

impl LateOutput {
    /// Rows of input `n` are turned by writer `n` and go to `output`.
    pub fn new(writers: Vec<LateRowWriter>, output: Output) -> Self {
        Self { writers, output }
    }

    /// Writes rows that came late; `now` is processing time in milliseconds.
    pub fn write(
        &mut self,
        input: usize,
        batch: &ChangelogBatch,
        late: &LateRows,
        now: i64,
    ) -> Result<()> {
        let Some(writer) = self.writers.get_mut(input) else { return Ok(()) };
        let batch = writer.rows(batch, late, now)?;
        self.output.stage.batch(self.output.input, MarkedBatch { batch, marks: Marks::NONE })
    }
}
