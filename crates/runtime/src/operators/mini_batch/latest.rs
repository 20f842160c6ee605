//! The net change of rows that replace each other by their key.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use flott_state::KeyIndex;
use flott_types::{ChangelogBatch, DataType, RowKind, RowKinds};

use super::operator::Changelog;
use crate::Result;

/// The last row of each key, and whether there was one before.
pub(super) struct LatestRows {
    key: Vec<usize>,
    types: Vec<DataType>,
    schema: SchemaRef,
    index: KeyIndex,
    batches: Vec<ChangelogBatch>,
    bytes: usize,
    /// For each key whether it had a row before, and where its last one stands.
    keys: Vec<Latest>,
    slots: Vec<u32>,
    created: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Latest {
    was_there: bool,
    batch: usize,
    row: usize,
}

impl LatestRows {
    pub fn new(of: &Changelog, key: &[usize]) -> Self {
        let types: Vec<DataType> =
            key.iter().map(|column| of.schema.fields[*column].data_type.clone()).collect();
        Self {
            key: key.to_vec(),
            index: KeyIndex::new(&types),
            types,
            schema: of.schema.to_arrow(),
            batches: Vec::new(),
            bytes: 0,
            keys: Vec::new(),
            slots: Vec::new(),
            created: Vec::new(),
        }
    }

    /// Takes in rows.
    pub fn add(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let keys: Vec<ArrayRef> = self.key.iter().map(|key| batch.column(*key).clone()).collect();
        let encoded = self.index.encoder().encode(&keys, batch.len())?;
        self.index.lookup_or_insert(&encoded, &mut self.slots, &mut self.created)?;
        let mut created = self.created.iter().peekable();
        let at = self.batches.len();
        for (row, slot) in self.slots.iter().enumerate() {
            let last = Latest { was_there: false, batch: at, row };
            if created.next_if(|first| **first as usize == row).is_some() {
                let was_there = batch.kind(row) != RowKind::Insert;
                self.keys.push(Latest { was_there, ..last });
            } else {
                let known = &mut self.keys[*slot as usize];
                *known = Latest { was_there: known.was_there, ..last };
            }
        }
        self.bytes += batch.rows.get_array_memory_size();
        self.batches.push(batch.clone());
        Ok(())
    }

    /// The number of rows held.
    pub fn len(&self) -> usize {
        self.batches.iter().map(ChangelogBatch::len).sum()
    }

    /// The net change, in the order in which keys first came.
    pub fn take(&mut self) -> Result<ChangelogBatch> {
        let (mut places, mut kinds) = (Vec::new(), Vec::new());
        for latest in &self.keys {
            let is_there = self.batches[latest.batch].kind(latest.row).adds();
            let kind = match (latest.was_there, is_there) {
                (false, false) => continue,
                (false, true) => RowKind::Insert,
                (true, true) => RowKind::UpdateAfter,
                (true, false) => RowKind::Delete,
            };
            places.push((latest.batch, latest.row));
            kinds.push(kind as u8);
        }
        let column = |column: usize| {
            let parts: Vec<&dyn arrow::array::Array> =
                self.batches.iter().map(|batch| &**batch.column(column)).collect();
            interleave(&parts, &places)
        };
        let columns = (0..self.schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(kinds.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        self.index = KeyIndex::new(&self.types);
        self.batches.clear();
        self.keys.clear();
        self.bytes = 0;
        Ok(ChangelogBatch::new(rows, RowKinds::from(kinds)))
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.index.memory() + self.bytes + self.keys.capacity() * size_of::<Latest>()
    }
}
