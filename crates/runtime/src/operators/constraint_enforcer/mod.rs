//! What the columns of a sink do not allow, held before it: NULL in NOT NULL columns, and texts and bytes of
//! other lengths than declared (`table.exec.sink.*-enforcer`).

mod check;
mod fit;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_plan::{Enforcement, LengthEnforcer, NotNullEnforcer};
use flott_types::{ChangelogBatch, Schema};

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};
use check::Check;

/// Refuses, drops or changes rows that the columns of a sink do not allow.
pub struct ConstraintEnforcer {
    checks: Arc<[Check]>,
    drop_nulls: bool,
    lengths: LengthEnforcer,
}

/// What a value breaks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Violation {
    #[error(
        "Column '{column}' is NOT NULL, however, a null value is being written into it.\n\
         hint: set 'table.exec.sink.not-null-enforcer' = 'DROP' to leave such records out"
    )]
    Null { column: String },
    #[error(
        "Column '{column}' is {data_type}, however, a string of length {length} is being written into it.\n\
         hint: set 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD' to have it cut or padded"
    )]
    Length { column: String, data_type: String, length: usize },
}

impl ConstraintEnforcer {
    /// What must be enforced of a sink's columns; `None` when their types allow all values.
    pub fn new(schema: &Schema, enforcement: Enforcement) -> Option<Self> {
        let checks: Vec<Check> = schema
            .fields
            .iter()
            .enumerate()
            .filter_map(|(at, f)| Check::of(at, &f.name, &f.data_type, enforcement))
            .collect();
        (!checks.is_empty()).then(|| Self {
            checks: checks.into(),
            drop_nulls: enforcement.not_null == NotNullEnforcer::Drop,
            lengths: enforcement.length,
        })
    }

    /// The rows without NULLs where none may be, when such rows are dropped.
    fn without_nulls(&self, batch: &ChangelogBatch) -> Result<Option<BooleanArray>> {
        let mut bad: Vec<bool> = Vec::new();
        for check in self.checks.iter() {
            if let Some(column) = check.find_nulls(batch.column(check.at), &mut bad)
                && !self.drop_nulls
            {
                return Err(RuntimeError::operator(Violation::Null { column }));
            }
        }
        Ok(bad.contains(&true).then(|| {
            (0..batch.len()).map(|row| Some(!bad.get(row).copied().unwrap_or(false))).collect()
        }))
    }

    /// The batch with texts and bytes of the lengths that their types say.
    fn fitted(&self, batch: ChangelogBatch) -> Result<ChangelogBatch> {
        let mut columns = None;
        for check in self.checks.iter() {
            let column = batch.column(check.at);
            if let Some(fitted) = fit::fit(check, column)? {
                columns.get_or_insert_with(|| batch.rows.columns().to_vec())[check.at] = fitted;
            }
        }
        let Some(columns) = columns else { return Ok(batch) };
        let options = RecordBatchOptions::new().with_row_count(Some(batch.len()));
        let rows = RecordBatch::try_new_with_options(batch.rows.schema(), columns, &options)?;
        Ok(ChangelogBatch { rows, kinds: batch.kinds })
    }
}

impl Operator for ConstraintEnforcer {
    fn name(&self) -> &str {
        "ConstraintEnforcer"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        mut batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let mut marks = ctx.marks();
        if let Some(keep) = self.without_nulls(&batch)? {
            batch = batch.filter(&keep)?;
            marks = marks.filter(&keep);
        }
        match self.lengths {
            LengthEnforcer::Ignore => {}
            LengthEnforcer::TrimPad => batch = self.fitted(batch)?,
            LengthEnforcer::Error => {
                let wrong = |check: &Check| check.find_length(batch.column(check.at));
                if let Some(violation) = self.checks.iter().find_map(wrong) {
                    return Err(RuntimeError::operator(violation));
                }
            }
        }
        ctx.emit_marked(batch, marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
