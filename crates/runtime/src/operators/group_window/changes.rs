//! The rows that windows give, on their way out.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_plan::physical::{ColumnAggregate, WindowOutput};
use flott_state::{EncodedRows, RowCodec};
use flott_types::{ChangelogBatch, DataType, RowKind, RowKinds};

use super::windows::Windows;
use crate::Result;
use crate::operators::window::{WallClock, timestamps};

/// Collects changes of windows; results are rows of bytes until they go out.
pub(super) struct Changes {
    outputs: Arc<[WindowOutput]>,
    clock: WallClock,
    schema: SchemaRef,
    codec: RowCodec,
    /// The windows, by slot.
    slots: Vec<u32>,
    kinds: Vec<u8>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Changes {
    /// No change yet; `outputs` come before the results of `calls`.
    pub fn new(
        outputs: &[WindowOutput],
        calls: &[ColumnAggregate],
        clock: WallClock,
        schema: SchemaRef,
    ) -> Self {
        let types: Vec<DataType> = calls.iter().map(|call| call.data_type.clone()).collect();
        Self {
            outputs: outputs.into(),
            clock,
            schema,
            codec: RowCodec::new(&types),
            slots: Vec::new(),
            kinds: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Results as rows of bytes, which are equal where the results are.
    pub fn encode(&self, results: &[ArrayRef], rows: usize) -> Result<EncodedRows> {
        Ok(self.codec.encode(results, rows)?)
    }

    /// Adds a change of a window, which must be there until [`Self::take`].
    pub fn push(&mut self, slot: u32, kind: RowKind, result: &[u8]) {
        self.slots.push(slot);
        self.kinds.push(kind as u8);
        self.bytes.extend_from_slice(result);
        self.ends.push(self.bytes.len());
    }

    /// Takes out all changes, `None` when there are none.
    pub fn take(&mut self, windows: &Windows) -> Result<Option<ChangelogBatch>> {
        if self.slots.is_empty() {
            return Ok(None);
        }
        let mut start = 0;
        let mut rows = Vec::with_capacity(self.ends.len());
        for end in &self.ends {
            rows.push(&self.bytes[start..*end]);
            start = *end;
        }
        let results = self.codec.decode(&rows)?;
        let keys = windows.key_columns(&self.slots)?;
        let bounds = || self.slots.iter().map(|slot| windows.bounds(*slot));
        let column = |output: &WindowOutput| match output {
            WindowOutput::Key(key) => keys[*key].clone(),
            WindowOutput::Start => timestamps(bounds().map(|(start, _)| start).collect()),
            WindowOutput::End => timestamps(bounds().map(|(_, end)| end).collect()),
            WindowOutput::Time => {
                timestamps(bounds().map(|(_, end)| self.clock.instant(end - 1)).collect())
            }
        };
        let columns = self.outputs.iter().map(column).chain(results).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.slots.len()));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        let kinds = std::mem::take(&mut self.kinds);
        self.slots.clear();
        self.bytes.clear();
        self.ends.clear();
        Ok(Some(ChangelogBatch::new(batch, RowKinds::from(kinds))))
    }
}
