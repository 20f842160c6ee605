//! ORDER BY over a bounded input: all rows are kept until its end (batch mode).

use arrow::compute::{SortColumn, SortOptions, concat_batches, lexsort_to_indices};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flott_state::{StateReader, StateWriter};
use flott_types::ChangelogBatch;

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Sorts an insert-only input and gives a part of it at the end.
pub struct SortOperator {
    keys: Vec<(usize, SortOptions)>,
    offset: u64,
    fetch: Option<u64>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    bytes: usize,
}

impl SortOperator {
    /// Sorts by some columns, then leaves out `offset` rows and gives at most `fetch`.
    pub fn new(
        keys: Vec<(usize, SortOptions)>,
        offset: u64,
        fetch: Option<u64>,
        schema: SchemaRef,
    ) -> Self {
        Self { keys, offset, fetch, schema, batches: Vec::new(), bytes: 0 }
    }
}

impl Operator for SortOperator {
    fn name(&self) -> &str {
        "Sort"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        _ctx: &mut OperatorContext,
    ) -> Result<()> {
        self.bytes += batch.memory();
        self.batches.push(batch.rows);
        Ok(())
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        let all = concat_batches(&self.schema, &std::mem::take(&mut self.batches))?;
        self.bytes = 0;
        let columns: Vec<SortColumn> = self
            .keys
            .iter()
            .map(|(column, options)| SortColumn {
                values: all.column(*column).clone(),
                options: Some(*options),
            })
            .collect();
        let end = self.fetch.map(|fetch| self.offset.saturating_add(fetch));
        let limit = end.and_then(|end| usize::try_from(end).ok());
        let order = lexsort_to_indices(&columns, limit)?;
        let from = usize::try_from(self.offset).unwrap_or(usize::MAX).min(order.len());
        let order = order.slice(from, order.len() - from);
        let sorted = ChangelogBatch::inserts(all).take(&order)?;
        ctx.emit(sorted)
    }

    fn snapshot(&mut self, _state: &mut StateWriter) -> Result<()> {
        Err(RuntimeError::internal("Sort", "a batch job took a checkpoint"))
    }

    fn can_snapshot(&self) -> bool {
        false
    }

    fn restore(&mut self, _state: &StateReader<'_>, _ctx: &OperatorContext) -> Result<()> {
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
