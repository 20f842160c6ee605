//! Filter, then project: no state, and watermarks keep their place between the rows.

use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::filter_record_batch;
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
    condition: Option<Evaluator>,
    projection: Vec<Evaluator>,
    /// The input columns that the projection reads: only they are filtered.
    reads: Vec<bool>,
    schema: SchemaRef,
    /// Whether an expression asks for CURRENT_WATERMARK.
    reads_watermark: bool,
}

impl CalcOperator {
    /// An operator that gives columns of `schema`; `reads` are the input columns that the
    /// projection looks at.
    pub fn new(
        condition: Option<Evaluator>,
        projection: Vec<Evaluator>,
        reads: Vec<bool>,
        schema: SchemaRef,
        reads_watermark: bool,
    ) -> Self {
        Self { condition, projection, reads, schema, reads_watermark }
    }

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
        let columns = batch.rows.columns();
        let Some(condition) = &self.condition else {
            return Ok((self.project(columns, batch.kinds.clone(), &context)?, None));
        };
        let keep = condition.evaluate_filter(columns, &context).map_err(RuntimeError::operator)?;
        match keep.true_count() {
            0 => Ok((
                ChangelogBatch::inserts(RecordBatch::new_empty(self.schema.clone())),
                Some(keep),
            )),
            all if all == rows => Ok((self.project(columns, batch.kinds.clone(), &context)?, None)),
            _ => {
                let (filtered, kinds) = self.filtered(batch, &keep)?;
                let (initial, rises) = self.watermarks(&marks.filter(&keep), ctx);
                let times = times.filter(&keep);
                let context = EvalContext {
                    watermarks: Watermarks { initial, marks: &rises },
                    ..EvalContext::of_records(&times)
                };
                Ok((self.project(&filtered, kinds, &context)?, Some(keep)))
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
    fn filtered(
        &self,
        batch: &ChangelogBatch,
        keep: &BooleanArray,
    ) -> Result<(Vec<ArrayRef>, Option<RowKinds>)> {
        let read: Vec<usize> = (0..self.reads.len()).filter(|column| self.reads[*column]).collect();
        let rows = filter_record_batch(&batch.rows.project(&read)?, keep)?;
        let mut columns = batch.rows.columns().to_vec();
        for (position, column) in read.iter().zip(rows.columns()) {
            columns[*position] = column.clone();
        }
        let kinds = batch.kinds.as_ref().map(|kinds| {
            (0..keep.len()).filter(|row| keep.value(*row)).map(|row| kinds.get(row)).collect()
        });
        Ok((columns, kinds))
    }

    fn project(
        &self,
        columns: &[ArrayRef],
        kinds: Option<RowKinds>,
        context: &EvalContext,
    ) -> Result<ChangelogBatch> {
        let arrays = self
            .projection
            .iter()
            .map(|expr| expr.evaluate(columns, context))
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
