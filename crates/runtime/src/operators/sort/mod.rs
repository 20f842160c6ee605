//! ORDER BY over a bounded input: all rows are kept until its end (batch mode), in memory or, when that is
//! short, in sorted runs on disk.

mod runs;
#[cfg(test)]
mod tests;

use arrow::compute::{SortColumn, SortOptions, concat_batches, lexsort_to_indices};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_state::{StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema};

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};
use runs::Runs;

/// Sorting takes so many times the memory of the rows.
const SORTING: usize = 3;

/// Sorts an insert-only input and gives a part of it at the end.
pub struct SortOperator {
    keys: Vec<(usize, SortOptions)>,
    offset: u64,
    fetch: Option<u64>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    bytes: usize,
    /// `None` where rows cannot be sorted as bytes.
    runs: Option<Runs>,
    room: usize,
}

impl SortOperator {
    /// Sorts by some columns, then leaves out `offset` rows and gives at most `fetch`.
    pub fn new(
        keys: Vec<(usize, SortOptions)>,
        offset: u64,
        fetch: Option<u64>,
        schema: &Schema,
    ) -> Self {
        Self {
            runs: Runs::new(schema, &keys).ok(),
            keys,
            offset,
            fetch,
            schema: schema.to_arrow(),
            batches: Vec::new(),
            bytes: 0,
            room: usize::MAX,
        }
    }

    /// The rows of which the rest is not needed.
    fn end(&self) -> Option<u64> {
        self.fetch.map(|fetch| self.offset.saturating_add(fetch))
    }

    fn write_run(&mut self, ctx: &OperatorContext) -> Result<()> {
        let end = self.end();
        let (Some(space), Some(runs)) = (ctx.task().memory.space(), &mut self.runs) else {
            return Ok(());
        };
        let batches = std::mem::take(&mut self.batches);
        self.bytes = 0;
        runs.push(&batches, end, space)
    }

    /// Gives the rows of all runs.
    fn merge_runs(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.write_run(ctx)?;
        let Some(runs) = &mut self.runs else { return Ok(()) };
        let mut merged = runs.merge(self.room / 4)?;
        merged.skip(self.offset)?;
        let mut left = self.fetch.unwrap_or(u64::MAX);
        loop {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(ChangelogBatch::MAX_ROWS);
            let (columns, rows) = merged.next(most)?;
            if rows == 0 {
                return Ok(());
            }
            left -= rows as u64;
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
            ctx.emit(ChangelogBatch::inserts(batch))?;
        }
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
        if self.runs.as_ref().is_some_and(|runs| !runs.is_empty()) {
            return self.merge_runs(ctx);
        }
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
        let limit = self.end().and_then(|end| usize::try_from(end).ok());
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

    fn spills(&self) -> bool {
        self.runs.is_some()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        self.room = room;
        let crowded = ctx.task().memory.space().is_some_and(|space| space.is_crowded());
        if !self.batches.is_empty() && (crowded || self.bytes > room / SORTING) {
            self.write_run(ctx)?;
        }
        Ok(())
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
