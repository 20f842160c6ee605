//! Which kept row belongs to which unique key.

use arrow::array::ArrayRef;
use flott_state::{KeyBatch, KeySlots, NO_ROW};
use flott_types::{DataType, Schema};

use super::super::aggregation::pick;
use super::super::ranking::{KeptRows, SortedRows};
use crate::Result;

/// The kept row of each unique key.
pub(super) struct RowKeys {
    columns: Vec<usize>,
    slots: KeySlots,
    /// By the slot of the key.
    rows: Vec<u32>,
    /// By the number of the row.
    keys: Vec<u32>,
}

impl RowKeys {
    /// No row yet; `columns` of `schema` are the key.
    pub fn new(columns: &[usize], schema: &Schema) -> Self {
        let types: Vec<DataType> =
            columns.iter().map(|column| schema.fields[*column].data_type.clone()).collect();
        Self {
            columns: columns.to_vec(),
            slots: KeySlots::new(&types, None),
            rows: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Encodes the keys of a batch.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<KeyBatch> {
        Ok(self.slots.encoder().encode(&pick(columns, &self.columns), rows)?)
    }

    /// The kept row of a row's key.
    pub fn find(&self, keys: &KeyBatch, row: usize) -> Option<u32> {
        self.slots.read_one(keys, row, 0).map(|slot| self.rows[slot as usize])
    }

    /// Notes which row is kept of a row's key.
    pub fn set(&mut self, keys: &KeyBatch, row: usize, id: u32) -> Result<()> {
        let (slot, _) = self.slots.write_one(keys, row, 0)?;
        place(&mut self.rows, slot, id);
        place(&mut self.keys, id, slot);
        Ok(())
    }

    /// Notes that a row is not kept any more.
    pub fn forget(&mut self, id: u32) {
        self.slots.remove(self.keys[id as usize]);
    }

    /// The same without any row.
    pub fn emptied(&self) -> Self {
        Self {
            columns: self.columns.clone(),
            slots: KeySlots::new(self.slots.encoder().types(), None),
            rows: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Notes the keys of rows that were read from a snapshot or from disk.
    pub fn take_up(&mut self, kept: &SortedRows, ids: &[u32]) -> Result<()> {
        let keys = self.encode(&kept.gather(ids)?, ids.len())?;
        for (row, id) in ids.iter().enumerate() {
            self.set(&keys, row, *id)?;
        }
        Ok(())
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.slots.memory() + (self.rows.capacity() + self.keys.capacity()) * size_of::<u32>()
    }
}

fn place(list: &mut Vec<u32>, at: u32, value: u32) {
    let at = at as usize;
    if at >= list.len() {
        list.resize(at + 1, NO_ROW);
    }
    list[at] = value;
}
