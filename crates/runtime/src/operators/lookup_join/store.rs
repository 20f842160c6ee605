//! Rows of a table that is looked up, by key.

use arrow::array::{Array, ArrayRef};
use flott_state::{KeyBatch, KeySlots, NO_SLOT, RowStore, SlotLists, StateError};
use flott_types::{ChangelogBatch, DataType};

/// What is known of some keys: the rows of each, of which there may be none.
pub(super) struct Store {
    key_columns: Vec<usize>,
    types: Vec<DataType>,
    keys: KeySlots,
    rows: RowStore,
    lists: SlotLists,
    /// By key: when it was looked up, and asked for last.
    times: Vec<Times>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub written: i64,
    pub accessed: i64,
}

impl Store {
    /// Knows nothing; rows are of these types, with the key at these positions.
    pub fn new(types: &[DataType], key_columns: &[usize]) -> Self {
        let keys: Vec<DataType> = key_columns.iter().map(|key| types[*key].clone()).collect();
        Self {
            key_columns: key_columns.to_vec(),
            types: types.to_vec(),
            keys: KeySlots::new(&keys, None),
            rows: RowStore::new(types),
            lists: SlotLists::new(),
            times: Vec::new(),
        }
    }

    /// The same, knowing nothing again.
    pub fn emptied(&self) -> Self {
        Self::new(&self.types, &self.key_columns)
    }

    /// Encodes keys to ask for.
    pub fn encode(&self, keys: &[ArrayRef], rows: usize) -> Result<KeyBatch, StateError> {
        self.keys.encoder().encode(keys, rows)
    }

    /// The slot of each key, `NO_SLOT` where nothing is known of it.
    pub fn find(&self, keys: &KeyBatch) -> Result<Vec<u32>, StateError> {
        let mut slots = Vec::new();
        self.keys.index().lookup(keys, &mut slots)?;
        Ok(slots)
    }

    /// Makes a key known, without rows.
    pub fn know(&mut self, keys: &KeyBatch, row: usize, now: i64) -> Result<u32, StateError> {
        let (slot, _) = self.keys.write_one(keys, row, now)?;
        if slot as usize >= self.times.len() {
            self.times.resize(slot as usize + 1, Times::default());
        }
        self.times[slot as usize] = Times { written: now, accessed: now };
        Ok(slot)
    }

    pub fn times(&mut self, slot: u32) -> &mut Times {
        &mut self.times[slot as usize]
    }

    /// Takes up changes of the table; rows whose key holds NULL can never be found.
    pub fn apply(&mut self, batch: &ChangelogBatch, now: i64) -> Result<(), StateError> {
        let columns = batch.rows.columns();
        let keys: Vec<ArrayRef> = self.key_columns.iter().map(|k| columns[*k].clone()).collect();
        let encoded_keys = self.encode(&keys, batch.len())?;
        let encoded = self.rows.encode(columns, batch.len())?;
        for row in 0..batch.len() {
            if keys.iter().any(|key| key.is_null(row)) {
                continue;
            }
            if batch.kind(row).adds() {
                let slot = self.know(&encoded_keys, row, now)?;
                let id = self.rows.insert(&encoded, row)?;
                self.lists.push(slot, id);
            } else if let Some(slot) = self.keys.read_one(&encoded_keys, row, now) {
                let same = self.lists.iter(slot).find(|id| self.rows.is_row(*id, &encoded, row));
                if let Some(id) = same {
                    self.lists.remove(slot, id);
                    self.rows.remove(id);
                }
            }
        }
        Ok(())
    }

    /// The rows of a key.
    pub fn rows_of(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        self.lists.iter(slot)
    }

    pub fn is_missing(&self, slot: u32) -> bool {
        slot == NO_SLOT || self.lists.first(slot).is_none()
    }

    /// Rows as columns.
    pub fn columns(&self, ids: &[u32]) -> Result<Vec<ArrayRef>, StateError> {
        self.rows.gather(ids)
    }

    /// Forgets a key with its rows.
    pub fn forget(&mut self, slot: u32) {
        while let Some(id) = self.lists.first(slot) {
            self.lists.remove(slot, id);
            self.rows.remove(id);
        }
        self.keys.remove(slot);
    }

    /// The keys that are known, with the time of the last access.
    pub fn known(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.keys.index().slots().map(|slot| (self.times[slot as usize].accessed, slot))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn memory(&self) -> usize {
        self.keys.memory()
            + self.rows.memory()
            + self.lists.memory()
            + self.times.capacity() * size_of::<Times>()
    }
}
