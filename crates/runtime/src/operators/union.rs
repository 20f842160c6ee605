//! UNION ALL: the rows of all inputs as they come.

use flott_types::ChangelogBatch;

use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;

/// Passes on the rows of all inputs; the watermark is the lowest of theirs.
pub struct UnionOperator;

impl Operator for UnionOperator {
    fn name(&self) -> &str {
        "Union"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        ctx.emit(batch)
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
