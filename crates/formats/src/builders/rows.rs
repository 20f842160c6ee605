//! The rows that a decoder has gathered.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::ConnectorError;
use flott_types::{ChangelogBatch, RowKind, RowKinds, Schema};

use super::Column;

/// Rows under construction: whole ones, and at most one under way at the end of the columns.
#[derive(Debug)]
pub(crate) struct Rows {
    schema: SchemaRef,
    /// The columns; what they hold past the whole rows belongs to the row under way.
    pub(crate) columns: Vec<Column>,
    kinds: Vec<u8>,
    insert_only: bool,
    len: usize,
}

impl Rows {
    /// No rows yet, of these columns.
    pub(crate) fn new(schema: &Schema) -> Self {
        let columns = schema.fields.iter().map(|field| Column::new(&field.data_type)).collect();
        Self { schema: schema.to_arrow(), columns, kinds: Vec::new(), insert_only: true, len: 0 }
    }

    /// The number of whole rows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Ends a `+I` row; columns that it did not set are NULL.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        self.len += 1;
        for column in &mut self.columns {
            if column.len() < self.len {
                column.push_null();
            }
        }
        if !self.insert_only {
            self.kinds.push(RowKind::Insert as u8);
        }
    }

    /// Ends a `+I` row that has set all columns.
    #[inline]
    pub(crate) fn end_whole_row(&mut self) {
        self.len += 1;
        if !self.insert_only {
            self.kinds.push(RowKind::Insert as u8);
        }
    }

    /// Ends a row of any kind.
    pub(crate) fn end_row_as(&mut self, kind: RowKind) {
        if self.insert_only && kind != RowKind::Insert {
            self.insert_only = false;
            self.kinds.resize(self.len, RowKind::Insert as u8);
        }
        self.end_row();
        if let Some(last) = self.kinds.last_mut() {
            *last = kind as u8;
        }
    }

    /// Forgets the rows past `len` and the one under way.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(len));
        self.kinds.truncate(len);
        self.len = self.len.min(len);
    }

    /// The whole rows as a batch; `None` when there are none.
    pub(crate) fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.truncate(self.len);
        let len = std::mem::take(&mut self.len);
        if len == 0 {
            return Ok(None);
        }
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| ConnectorError::new(format!("decoded columns do not fit: {error}")))?;
        let kinds = std::mem::take(&mut self.kinds);
        Ok(Some(if std::mem::replace(&mut self.insert_only, true) {
            ChangelogBatch::inserts(rows)
        } else {
            ChangelogBatch::new(rows, RowKinds::from(kinds))
        }))
    }
}
