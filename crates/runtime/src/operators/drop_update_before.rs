//! Drops −U rows before a sink that finds rows by their key.

use arrow::array::BooleanArray;
use flott_types::{ChangelogBatch, RowKind};

use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;

/// Passes on all rows but −U.
pub struct DropUpdateBefore;

impl Operator for DropUpdateBefore {
    fn name(&self) -> &str {
        "DropUpdateBefore"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx.marks();
        let Some(kinds) = &batch.kinds else { return ctx.emit_marked(batch, marks) };
        let keep: BooleanArray =
            kinds.iter().map(|kind| Some(kind != RowKind::UpdateBefore)).collect();
        let kept = batch.filter(&keep)?;
        ctx.emit_marked(kept, marks.filter(&keep))
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
