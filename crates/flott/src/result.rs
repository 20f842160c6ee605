//! The rows of a query.

use std::fmt;
use std::sync::Arc;

use flott_runtime::{EndOfInput, JobHandle, Results};
use flott_types::text::write_value;
use flott_types::{ChangelogBatch, ChangelogMode, RowKind, Schema, Value};
use jiff::tz::TimeZone;

use crate::Error;

/// A small table that a statement gives at once: SHOW, DESCRIBE, EXPLAIN.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its columns.
    pub schema: Schema,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

/// A query that runs; dropping it ends the job.
pub struct QueryResult {
    pub(crate) schema: Arc<Schema>,
    pub(crate) changelog: ChangelogMode,
    pub(crate) zone: TimeZone,
    pub(crate) results: Results,
    pub(crate) job: JobHandle,
}

/// A row of a query's changelog.
#[derive(Debug, Clone)]
pub struct ResultRow {
    /// What it does to the result.
    pub kind: RowKind,
    /// Its values.
    pub values: Vec<Value>,
    schema: Arc<Schema>,
    zone: TimeZone,
}

impl QueryResult {
    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The kinds of rows that may come.
    pub fn changelog_mode(&self) -> ChangelogMode {
        self.changelog
    }

    /// The zone in which TIMESTAMP_LTZ values are shown.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The job behind the query.
    pub fn job(&self) -> &JobHandle {
        &self.job
    }

    /// The next rows, waiting for them; `None` when the query has ended. A failed job is an
    /// error, after the rows it gave before.
    pub fn next_batch(&self) -> Result<Option<ChangelogBatch>, Error> {
        match self.results.next() {
            Some(batch) => Ok(Some(batch)),
            None => {
                let _: EndOfInput = self.job.wait()?;
                Ok(None)
            }
        }
    }

    /// The next rows within `timeout`: `Ok(None)` when the query has ended, an empty list when
    /// nothing came.
    pub fn next_batch_within(
        &self,
        timeout: std::time::Duration,
    ) -> Result<Option<Option<ChangelogBatch>>, Error> {
        match self.results.next_within(timeout) {
            flott_runtime::NextResult::Batch(batch) => Ok(Some(Some(batch))),
            flott_runtime::NextResult::Pending => Ok(Some(None)),
            flott_runtime::NextResult::End => {
                self.job.wait()?;
                Ok(None)
            }
        }
    }

    /// All rows to the end of the query.
    pub fn collect(self) -> Result<Vec<ResultRow>, Error> {
        let mut rows = Vec::new();
        while let Some(batch) = self.next_batch()? {
            rows.extend(self.rows(&batch));
        }
        Ok(rows)
    }

    /// The rows of a batch that this query gave.
    pub fn rows(&self, batch: &ChangelogBatch) -> Vec<ResultRow> {
        (0..batch.len())
            .map(|row| ResultRow {
                kind: batch.kind(row),
                values: self
                    .schema
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(i, field)| Value::from_array(batch.column(i), row, &field.data_type))
                    .collect(),
                schema: self.schema.clone(),
                zone: self.zone.clone(),
            })
            .collect()
    }
}

impl fmt::Display for ResultRow {
    /// As Flink prints rows: `+I[Mary, 1]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (i, (value, field)) in self.values.iter().zip(&self.schema.fields).enumerate() {
            if i > 0 {
                text.push_str(", ");
            }
            if value.is_null() {
                text.push_str("null");
            } else {
                write_value(&mut text, value, &field.data_type, &self.zone);
            }
        }
        write!(f, "{}[{text}]", self.kind)
    }
}
