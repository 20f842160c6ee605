//! Distinct keys numbered densely.

use arrow::array::ArrayRef;
use flott_types::DataType;

use super::batch::{KeyBatch, Keys};
use super::encoder::KeyEncoder;
use super::group::key_group;
use super::store::{KeyStore, StoredKeys};
use super::table::SlotTable;
use crate::bits::BitSet;
use crate::error::{Result, StateError};
use crate::rows::EncodedRows;

pub use super::table::NO_SLOT;

/// Gives each distinct key a slot: a small number under which to keep what belongs to the key.
///
/// A removed key's slot goes to a later key. Slots are dense, so vectors indexed by slot waste nothing.
#[derive(Debug)]
pub struct KeyIndex {
    table: SlotTable,
    store: KeyStore,
    live: BitSet,
    /// Slots below the bound that hold no key.
    free: Vec<u32>,
    bound: u32,
}

impl KeyIndex {
    /// An empty index of keys of these types, which are also the [`KeyEncoder`]'s.
    pub fn new(types: &[DataType]) -> Self {
        Self {
            table: SlotTable::default(),
            store: KeyStore::new(KeyEncoder::new(types)),
            live: BitSet::new(),
            free: Vec::new(),
            bound: 0,
        }
    }

    /// An encoder whose batches this index takes.
    pub fn encoder(&self) -> &KeyEncoder {
        self.store.encoder()
    }

    /// The slot of each row's key; keys not seen before get one.
    ///
    /// `slots` is cleared and then holds one slot a row. `created` is cleared and then holds the rows
    /// that brought a key first, ascending.
    pub fn lookup_or_insert(
        &mut self,
        batch: &KeyBatch,
        slots: &mut Vec<u32>,
        created: &mut Vec<u32>,
    ) -> Result<()> {
        self.store.accepts(batch)?;
        slots.clear();
        created.clear();
        slots.reserve(batch.len());
        match &batch.keys {
            Keys::Ints(ints) => self.insert_ints(batch, ints, slots, created),
            Keys::Strings(rows) | Keys::Rows(rows) => self.insert_rows(batch, rows, slots, created),
            Keys::Unit if batch.is_empty() => Ok(()),
            Keys::Unit => {
                let (slot, new) = self.insert_one(batch, 0)?;
                slots.resize(batch.len(), slot);
                created.extend(new.then_some(0));
                Ok(())
            }
        }
    }

    /// The slot of each row's key, [`NO_SLOT`] for an unknown key. `slots` is cleared first.
    pub fn lookup(&self, batch: &KeyBatch, slots: &mut Vec<u32>) -> Result<()> {
        slots.clear();
        let hashes = batch.hashes.iter();
        match (&self.store.keys, &batch.keys) {
            (StoredKeys::Ints(stored), Keys::Ints(ints)) => {
                let find = |(hash, value): (&u64, &i64)| {
                    self.table.find(*hash, |slot| stored[slot as usize] == *value)
                };
                slots.extend(hashes.zip(ints).map(|row| find(row).unwrap_or(NO_SLOT)));
            }
            (StoredKeys::Strings(stored), Keys::Strings(rows))
            | (StoredKeys::Rows(stored), Keys::Rows(rows)) => {
                let find = |(hash, key): (&u64, &[u8])| {
                    self.table.find(*hash, |slot| stored.get(slot) == key)
                };
                slots.extend(hashes.zip(rows.iter()).map(|row| find(row).unwrap_or(NO_SLOT)));
            }
            _ => {
                self.store.accepts(batch)?;
                slots.resize(batch.len(), if self.is_empty() { NO_SLOT } else { 0 });
            }
        }
        Ok(())
    }

    /// The slot of one row's key, if the key is known.
    #[inline]
    pub fn lookup_one(&self, batch: &KeyBatch, row: usize) -> Option<u32> {
        self.table.find(batch.hashes[row], |slot| self.store.is_key(slot, batch, row))
    }

    /// The slot of one row's key, and whether the key is new.
    pub fn insert_one(&mut self, batch: &KeyBatch, row: usize) -> Result<(u32, bool)> {
        let new = self.next_slot()?;
        let is_key = |slot| self.store.is_key(slot, batch, row);
        let slot = self.table.find_or_insert(batch.hashes[row], new, is_key);
        if slot != new {
            return Ok((slot, false));
        }
        self.store.set(slot, batch, row)?;
        self.occupy(slot);
        Ok((slot, true))
    }

    /// Forgets the key of `slot`; whether there was one.
    pub fn remove(&mut self, slot: u32) -> bool {
        if !self.live.remove(slot) {
            return false;
        }
        self.table.remove(self.store.hash(slot), slot);
        self.store.remove(slot);
        self.free.push(slot);
        true
    }

    /// Whether `slot` holds a key.
    pub fn contains(&self, slot: u32) -> bool {
        self.live.contains(slot)
    }

    /// The slots that hold a key, ascending.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.live.iter()
    }

    /// The keys of slots as columns: each slot holds a key or is [`NO_SLOT`], which gives NULLs.
    pub fn key_columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.store.columns(slots)
    }

    /// The key group of a slot's key.
    pub fn key_group(&self, slot: u32, max_parallelism: u16) -> u16 {
        key_group(self.store.hash(slot), max_parallelism)
    }

    /// The hash of a slot's key, as [`KeyBatch::hashes`] gave it.
    pub(crate) fn hash(&self, slot: u32) -> u64 {
        self.store.hash(slot)
    }

    /// Appends a slot's key as an encoded row of the key columns.
    pub(crate) fn write_row(&self, slot: u32, out: &mut Vec<u8>) {
        self.store.write_row(slot, out);
    }

    /// The slots that hold a key, as a set.
    pub(crate) fn live(&self) -> &BitSet {
        &self.live
    }

    /// Makes room for so many more keys.
    pub(crate) fn reserve(&mut self, keys: usize) {
        self.table.reserve(keys);
        self.store.reserve(keys.saturating_sub(self.free.len()));
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// All slots are below this.
    pub fn slot_bound(&self) -> u32 {
        self.bound
    }

    /// How many slots there is room for before memory must grow.
    pub fn capacity(&self) -> usize {
        self.store.capacity().max(self.bound as usize)
    }

    /// The bytes of a slot's key.
    pub(crate) fn key_length(&self, slot: u32) -> usize {
        match &self.store.keys {
            StoredKeys::Unit => 0,
            StoredKeys::Ints(_) => 8,
            StoredKeys::Strings(stored) | StoredKeys::Rows(stored) => stored.get(slot).len(),
        }
    }

    pub(super) fn store(&self) -> &KeyStore {
        &self.store
    }

    /// The bytes the index occupies.
    pub fn memory(&self) -> usize {
        let bookkeeping = self.live.memory() + self.free.capacity() * 4;
        self.table.memory() + self.store.memory() + bookkeeping
    }

    fn insert_ints(
        &mut self,
        batch: &KeyBatch,
        ints: &[i64],
        slots: &mut Vec<u32>,
        created: &mut Vec<u32>,
    ) -> Result<()> {
        let mut new = self.next_slot()?;
        for (row, (value, hash)) in ints.iter().zip(&batch.hashes).enumerate() {
            let StoredKeys::Ints(stored) = &self.store.keys else {
                return Err(StateError::KeyKind);
            };
            let is_key = |slot: u32| stored[slot as usize] == *value;
            let slot = self.table.find_or_insert(*hash, new, is_key);
            slots.push(slot);
            if slot == new {
                created.push(row as u32);
                self.store.set(slot, batch, row)?;
                self.occupy(slot);
                new = self.next_slot()?;
            }
        }
        Ok(())
    }

    fn insert_rows(
        &mut self,
        batch: &KeyBatch,
        rows: &EncodedRows,
        slots: &mut Vec<u32>,
        created: &mut Vec<u32>,
    ) -> Result<()> {
        let mut new = self.next_slot()?;
        for (row, (key, hash)) in rows.iter().zip(&batch.hashes).enumerate() {
            let (StoredKeys::Strings(stored) | StoredKeys::Rows(stored)) = &self.store.keys else {
                return Err(StateError::KeyKind);
            };
            let slot = self.table.find_or_insert(*hash, new, |slot| stored.get(slot) == key);
            slots.push(slot);
            if slot == new {
                created.push(row as u32);
                self.store.set(slot, batch, row)?;
                self.occupy(slot);
                new = self.next_slot()?;
            }
        }
        Ok(())
    }

    /// The slot that the next new key gets.
    #[inline]
    fn next_slot(&self) -> Result<u32> {
        match self.free.last() {
            Some(slot) => Ok(*slot),
            None if self.bound < NO_SLOT => Ok(self.bound),
            None => Err(StateError::Full { what: "keys", limit: NO_SLOT }),
        }
    }

    /// Makes [`Self::next_slot`] hold a key.
    fn occupy(&mut self, slot: u32) {
        if self.free.pop().is_none() {
            self.bound += 1;
        }
        self.live.insert(slot);
    }
}
