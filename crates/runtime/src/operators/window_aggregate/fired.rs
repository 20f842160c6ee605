//! The rows of windows that fired, on their way out.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use flott_plan::physical::WindowOutput;
use flott_types::ChangelogBatch;

use crate::Result;
use crate::marks::{Mark, Marks};
use crate::operators::window::{WallClock, timestamps};

/// Collects rows of windows, and the watermarks that fired them.
pub(super) struct Fired {
    outputs: Arc<[WindowOutput]>,
    clock: WallClock,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: usize,
    marks: Vec<Mark>,
}

impl Fired {
    /// No window yet; `outputs` come before the results.
    pub fn new(outputs: &[WindowOutput], clock: WallClock, schema: SchemaRef) -> Self {
        Self {
            outputs: outputs.into(),
            clock,
            schema,
            batches: Vec::new(),
            rows: 0,
            marks: Vec::new(),
        }
    }

    /// Adds rows: the start and end of each one's window, its keys, and its results.
    pub fn push(
        &mut self,
        bounds: &[(i64, i64)],
        keys: &[ArrayRef],
        results: Vec<ArrayRef>,
    ) -> Result<()> {
        if bounds.is_empty() {
            return Ok(());
        }
        let column = |output: &WindowOutput| match output {
            WindowOutput::Key(key) => keys[*key].clone(),
            WindowOutput::Start => timestamps(bounds.iter().map(|(start, _)| *start).collect()),
            WindowOutput::End => timestamps(bounds.iter().map(|(_, end)| *end).collect()),
            WindowOutput::Time => {
                timestamps(bounds.iter().map(|(_, end)| self.clock.instant(*end - 1)).collect())
            }
        };
        let columns = self.outputs.iter().map(column).chain(results).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(bounds.len()));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        self.batches.push(batch);
        self.rows += bounds.len();
        Ok(())
    }

    /// Notes that a watermark stands here.
    pub fn mark(&mut self, watermark: i64) {
        self.marks.push(Mark { row: self.rows as u32, watermark });
    }

    /// Takes out everything, `None` when there is nothing.
    pub fn take(&mut self) -> Result<Option<(ChangelogBatch, Marks)>> {
        let marks: Marks = self.marks.drain(..).collect();
        self.rows = 0;
        let mut batches = std::mem::take(&mut self.batches);
        let batch = match batches.len() {
            0 => return Ok(None),
            1 => batches.swap_remove(0),
            _ => concat_batches(&self.schema, &batches)?,
        };
        Ok(Some((ChangelogBatch::inserts(batch), marks)))
    }
}
