//! NOT NULL, held before a sink (`table.exec.sink.not-null-enforcer`).

use arrow::array::{Array, BooleanArray};
use flott_types::ChangelogBatch;

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Refuses, or drops, rows with a NULL in a NOT NULL column.
pub struct ConstraintEnforcer {
    columns: Vec<(usize, String)>,
    drop: bool,
}

/// A NULL on its way into a NOT NULL column.
#[derive(Debug, thiserror::Error)]
#[error(
    "Column '{column}' is NOT NULL, however, a null value is being written into it.\n\
     hint: set 'table.exec.sink.not-null-enforcer' = 'DROP' to leave such records out"
)]
struct NullInColumn {
    column: String,
}

impl ConstraintEnforcer {
    /// Watches some columns, given with their names; `drop` leaves offending rows out instead of
    /// ending the job.
    pub fn new(columns: Vec<(usize, String)>, drop: bool) -> Self {
        Self { columns, drop }
    }
}

impl Operator for ConstraintEnforcer {
    fn name(&self) -> &str {
        "ConstraintEnforcer"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx.marks();
        let offending: Vec<&(usize, String)> =
            self.columns.iter().filter(|(i, _)| batch.column(*i).null_count() > 0).collect();
        let Some((_, column)) = offending.first() else { return ctx.emit_marked(batch, marks) };
        if !self.drop {
            return Err(RuntimeError::operator(NullInColumn { column: column.clone() }));
        }
        let keep: BooleanArray = (0..batch.len())
            .map(|row| Some(offending.iter().all(|(i, _)| batch.column(*i).is_valid(row))))
            .collect();
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
