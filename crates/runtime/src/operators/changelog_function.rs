//! FROM_CHANGELOG and TO_CHANGELOG: the kind of a row as a column, and back.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, StringBuilder};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_types::{ChangelogBatch, RowKind, RowKinds};

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Takes each row's kind from a column, which is then left out.
pub struct FromChangelog {
    op: usize,
    codes: Vec<(String, RowKind)>,
    schema: SchemaRef,
}

/// A row that does not say what it does.
#[derive(Debug, thiserror::Error)]
enum BadCode {
    #[error(
        "Received invalid op code '{code}'. Defined op codes are: [{known}].\nhint: map it by op_mapping"
    )]
    Unknown { code: String, known: String },
    #[error("Received NULL op code. Every changelog row must carry an operation code.")]
    Null,
}

impl FromChangelog {
    /// The codes are those of the column `op`; `schema` is that of the rows without it.
    pub fn new(op: usize, codes: Vec<(String, RowKind)>, schema: SchemaRef) -> Self {
        Self { op, codes, schema }
    }

    fn kind(&self, code: &str) -> Result<RowKind> {
        let found = self.codes.iter().find(|(known, _)| known == code);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let known: Vec<&str> = self.codes.iter().map(|(code, _)| code.as_str()).collect();
            RuntimeError::operator(BadCode::Unknown { code: code.into(), known: known.join(", ") })
        })
    }
}

impl Operator for FromChangelog {
    fn name(&self) -> &str {
        "FromChangelog"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx.marks();
        let codes = batch.column(self.op).as_string::<i32>();
        let kinds = codes
            .iter()
            .map(|code| self.kind(code.ok_or_else(|| RuntimeError::operator(BadCode::Null))?))
            .collect::<Result<RowKinds>>()?;
        let mut columns = batch.rows.columns().to_vec();
        columns.remove(self.op);
        let rows = record_batch(&self.schema, columns, batch.len())?;
        ctx.emit_marked(ChangelogBatch::new(rows, kinds), marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// Puts a code for each row's kind before its columns; all rows become `+I`, and those of kinds without a
/// code are left out.
pub struct ToChangelog {
    codes: [Option<String>; 4],
    schema: SchemaRef,
}

impl ToChangelog {
    /// The codes by kind; `schema` is that of the rows with the code.
    pub fn new(codes: [Option<String>; 4], schema: SchemaRef) -> Self {
        Self { codes, schema }
    }
}

impl Operator for ToChangelog {
    fn name(&self) -> &str {
        "ToChangelog"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        mut batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let mut marks = ctx.marks();
        let code =
            |batch: &ChangelogBatch, row: usize| self.codes[batch.kind(row) as usize].as_deref();
        if (0..batch.len()).any(|row| code(&batch, row).is_none()) {
            let keep: BooleanArray =
                (0..batch.len()).map(|row| Some(code(&batch, row).is_some())).collect();
            batch = batch.filter(&keep)?;
            marks = marks.filter(&keep);
        }
        let mut ops = StringBuilder::with_capacity(batch.len(), batch.len() * 12);
        (0..batch.len()).for_each(|row| ops.append_option(code(&batch, row)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(ops.finish())];
        columns.extend(batch.rows.columns().iter().cloned());
        let rows = record_batch(&self.schema, columns, batch.len())?;
        ctx.emit_marked(ChangelogBatch::inserts(rows), marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

fn record_batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
