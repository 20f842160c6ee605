//! A row for each list of expressions: grouping sets.

use arrow::array::{Array, ArrayRef};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flott_functions::{EvalContext, Evaluator};
use flott_types::ChangelogBatch;

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Gives for each input row one row a list of expressions, in order.
pub struct ExpandOperator {
    rows: Vec<Vec<Evaluator>>,
    schema: SchemaRef,
}

impl ExpandOperator {
    /// An operator that gives columns of `schema`.
    pub fn new(rows: Vec<Vec<Evaluator>>, schema: SchemaRef) -> Self {
        Self { rows, schema }
    }
}

impl Operator for ExpandOperator {
    fn name(&self) -> &str {
        "Expand"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let times = ctx.record_times(batch.len());
        let context = EvalContext::of_records(&times);
        let lists = self.rows.len();
        let places: Vec<(usize, usize)> =
            (0..batch.len()).flat_map(|row| (0..lists).map(move |list| (list, row))).collect();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for column in 0..self.schema.fields().len() {
            let arrays = self
                .rows
                .iter()
                .map(|row| row[column].evaluate(batch.rows.columns(), &context))
                .collect::<Result<Vec<_>, _>>()
                .map_err(RuntimeError::operator)?;
            let views: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
            columns.push(interleave(&views, &places)?);
        }
        let rows = RecordBatch::try_new(self.schema.clone(), columns)?;
        let marks = ctx.marks().remap(|row| row * lists);
        let out = match &batch.kinds {
            None => ChangelogBatch::inserts(rows),
            Some(kinds) => {
                let kinds = places.iter().map(|(_, row)| kinds.get(*row)).collect();
                ChangelogBatch::new(rows, kinds)
            }
        };
        ctx.emit_marked(out, marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
