//! Filter, then project: no state, and watermarks keep their place between the rows.

use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::FilterBuilder;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_functions::{EvalContext, Evaluator, Watermarks};
use flott_types::{ChangelogBatch, RowKinds};

use crate::context::OperatorContext;
use crate::marks::Marks;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Keeps the rows for which a condition is TRUE and computes columns from them.
pub struct CalcOperator {
    /// Columns behind those of the input, which the other expressions share.
    pub before: Vec<Evaluator>,
    /// Which rows are kept; `None`: all.
    pub condition: Option<Evaluator>,
    /// Further such columns, computed from the rows that are kept.
    pub after: Vec<Evaluator>,
    /// The columns that are given.
    pub projection: Vec<Evaluator>,
    /// Which columns of the input and `before` are read once the rows are filtered.
    pub reads: Vec<bool>,
    /// The schema of the result.
    pub schema: SchemaRef,
    /// Whether an expression asks for CURRENT_WATERMARK.
    pub reads_watermark: bool,
}

impl CalcOperator {
    fn evaluate(
        &self,
        batch: &ChangelogBatch,
        marks: &Marks,
        ctx: &OperatorContext,
    ) -> Result<(ChangelogBatch, Option<BooleanArray>)> {
        let rows = batch.len();
        let (initial, rises) = self.watermarks(marks, ctx);
        let times = ctx.record_times(rows);
        let context = EvalContext {
            watermarks: Watermarks { initial, marks: &rises },
            ..EvalContext::of_records(&times)
        };
        let columns = extended(batch.rows.columns().to_vec(), &self.before, &context)?;
        let Some(condition) = &self.condition else {
            return Ok((self.project(columns, batch.kinds.clone(), &context)?, None));
        };
        let keep = condition.evaluate_filter(&columns, &context).map_err(RuntimeError::operator)?;
        match keep.true_count() {
            0 => Ok((
                ChangelogBatch::inserts(RecordBatch::new_empty(self.schema.clone())),
                Some(keep),
            )),
            all if all == rows => Ok((self.project(columns, batch.kinds.clone(), &context)?, None)),
            _ => {
                let filtered = self.filtered(columns, &keep)?;
                let kinds = batch.kinds.as_ref().map(|kinds| filter_kinds(kinds, &keep));
                let (initial, rises) = self.watermarks(&marks.filter(&keep), ctx);
                let times = times.filter(&keep);
                let context = EvalContext {
                    watermarks: Watermarks { initial, marks: &rises },
                    ..EvalContext::of_records(&times)
                };
                Ok((self.project(filtered, kinds, &context)?, Some(keep)))
            }
        }
    }

    /// The watermark before the first row, and the rows after which it rose; empty where no
    /// expression asks.
    fn watermarks(&self, marks: &Marks, ctx: &OperatorContext) -> (Option<i64>, Vec<(u32, i64)>) {
        let mut initial = (ctx.watermark() != i64::MIN).then(|| ctx.watermark());
        let mut rises = Vec::new();
        if self.reads_watermark {
            for mark in marks.as_slice() {
                match mark.row.checked_sub(1) {
                    None => initial = Some(mark.watermark),
                    Some(row) => rises.push((row, mark.watermark)),
                }
            }
        }
        (initial, rises)
    }

    /// The columns that are read, filtered; the others are left as they are and never looked at.
    fn filtered(&self, mut columns: Vec<ArrayRef>, keep: &BooleanArray) -> Result<Vec<ArrayRef>> {
        let predicate = FilterBuilder::new(keep).optimize().build();
        for (column, _) in columns.iter_mut().zip(&self.reads).filter(|(_, read)| **read) {
            *column = predicate.filter(column)?;
        }
        Ok(columns)
    }

    fn project(
        &self,
        columns: Vec<ArrayRef>,
        kinds: Option<RowKinds>,
        context: &EvalContext,
    ) -> Result<ChangelogBatch> {
        let columns = extended(columns, &self.after, context)?;
        let arrays = self
            .projection
            .iter()
            .map(|expr| expr.evaluate(&columns, context))
            .collect::<Result<Vec<_>, _>>()
            .map_err(RuntimeError::operator)?;
        let options = RecordBatchOptions::new().with_row_count(Some(context.rows));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?;
        Ok(match kinds {
            None => ChangelogBatch::inserts(rows),
            Some(kinds) => ChangelogBatch::new(rows, kinds),
        })
    }
}

/// The columns with those that are computed from them behind.
fn extended(
    mut columns: Vec<ArrayRef>,
    more: &[Evaluator],
    context: &EvalContext,
) -> Result<Vec<ArrayRef>> {
    for expr in more {
        let column = expr.evaluate(&columns, context).map_err(RuntimeError::operator)?;
        columns.push(column);
    }
    Ok(columns)
}

fn filter_kinds(kinds: &RowKinds, keep: &BooleanArray) -> RowKinds {
    (0..keep.len()).filter(|row| keep.value(*row)).map(|row| kinds.get(row)).collect()
}

impl Operator for CalcOperator {
    fn name(&self) -> &str {
        "Calc"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx.marks();
        let (out, keep) = self.evaluate(&batch, &marks, ctx)?;
        let marks = keep.map_or_else(|| marks.clone(), |keep| marks.filter(&keep));
        ctx.emit_marked(out, marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        self.reads_watermark
    }
}
