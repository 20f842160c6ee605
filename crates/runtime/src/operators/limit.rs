//! LIMIT and OFFSET without an order: the first rows that come.

use flott_state::{StateReader, StateWriter};
use flott_types::ChangelogBatch;

use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;

/// Passes on rows `offset..offset + fetch` of an insert-only input.
pub struct LimitOperator {
    offset: u64,
    end: u64,
    seen: u64,
}

impl LimitOperator {
    /// Leaves out `offset` rows, then gives at most `fetch`.
    pub fn new(offset: u64, fetch: u64) -> Self {
        Self { offset, end: offset.saturating_add(fetch), seen: 0 }
    }
}

impl Operator for LimitOperator {
    fn name(&self) -> &str {
        "Limit"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let rows = batch.len() as u64;
        let first = self.offset.clamp(self.seen, self.seen + rows) - self.seen;
        let last = self.end.clamp(self.seen, self.seen + rows) - self.seen;
        self.seen += rows;
        if first < last {
            ctx.emit(batch.slice(first as usize, (last - first) as usize))?;
        }
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        state.operator("limit", 1, |out| out.u64(self.seen));
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, _ctx: &OperatorContext) -> Result<()> {
        for (_, mut value) in state.operator("limit", 1)? {
            self.seen = self.seen.max(value.u64()?);
        }
        Ok(())
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
