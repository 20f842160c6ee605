//! The keys of slots, in the form in which batches bring them.

use arrow::array::{ArrayRef, NullBufferBuilder};
use arrow::buffer::NullBuffer;

use super::batch::{KeyBatch, Keys};
use super::encoder::KeyEncoder;
use super::hash::{NULL_HASH, hash_bytes, hash_int};
use super::table::NO_SLOT;
use crate::bits::BitSet;
use crate::error::{Result, StateError};
use crate::slab::{ByteRef, ByteSlab};

/// One key a slot.
#[derive(Debug)]
pub(crate) struct KeyStore {
    encoder: KeyEncoder,
    pub(super) keys: StoredKeys,
    /// Slots of NULL; only forms that do not hold NULL themselves use it.
    nulls: BitSet,
}

#[derive(Debug)]
pub(super) enum StoredKeys {
    Unit,
    Ints(Vec<i64>),
    Strings(StringStore),
    Rows(StringStore),
}

#[derive(Debug, Default)]
pub(super) struct StringStore {
    places: Vec<ByteRef>,
    slab: ByteSlab,
}

impl StringStore {
    #[inline]
    pub fn get(&self, slot: u32) -> &[u8] {
        self.slab.bytes(self.places[slot as usize])
    }

    pub fn set(&mut self, slot: u32, key: &[u8]) -> Result<()> {
        let place = self
            .slab
            .insert(key)
            .ok_or(StateError::Full { what: "bytes of keys, in units of 8,", limit: u32::MAX })?;
        put(&mut self.places, slot, place);
        Ok(())
    }
}

impl KeyStore {
    pub fn new(encoder: KeyEncoder) -> Self {
        let keys = match encoder.empty() {
            Keys::Unit => StoredKeys::Unit,
            Keys::Ints(_) => StoredKeys::Ints(Vec::new()),
            Keys::Strings(_) => StoredKeys::Strings(StringStore::default()),
            Keys::Rows(_) => StoredKeys::Rows(StringStore::default()),
        };
        Self { encoder, keys, nulls: BitSet::new() }
    }

    pub fn encoder(&self) -> &KeyEncoder {
        &self.encoder
    }

    /// Whether a batch has the form of these keys.
    pub fn accepts(&self, batch: &KeyBatch) -> Result<()> {
        match (&self.keys, &batch.keys) {
            (StoredKeys::Unit, Keys::Unit)
            | (StoredKeys::Ints(_), Keys::Ints(_))
            | (StoredKeys::Strings(_), Keys::Strings(_))
            | (StoredKeys::Rows(_), Keys::Rows(_)) => Ok(()),
            _ => Err(StateError::KeyKind),
        }
    }

    /// Whether the slot's key is that of the batch's row, given that the lower 32 bits of their hashes
    /// are equal, by which NULL differs from 0 and from the empty string.
    #[inline]
    pub fn is_key(&self, slot: u32, batch: &KeyBatch, row: usize) -> bool {
        match (&self.keys, &batch.keys) {
            (StoredKeys::Unit, Keys::Unit) => true,
            (StoredKeys::Ints(stored), Keys::Ints(ints)) => stored[slot as usize] == ints[row],
            (StoredKeys::Strings(stored), Keys::Strings(rows))
            | (StoredKeys::Rows(stored), Keys::Rows(rows)) => stored.get(slot) == rows.row(row),
            _ => false,
        }
    }

    /// Keeps the key of the batch's row under `slot`, which holds none.
    pub fn set(&mut self, slot: u32, batch: &KeyBatch, row: usize) -> Result<()> {
        if batch.is_bare_null(row) {
            self.nulls.insert(slot);
        }
        match (&mut self.keys, &batch.keys) {
            (StoredKeys::Unit, Keys::Unit) => Ok(()),
            (StoredKeys::Ints(stored), Keys::Ints(ints)) => {
                put(stored, slot, ints[row]);
                Ok(())
            }
            (StoredKeys::Strings(stored), Keys::Strings(rows))
            | (StoredKeys::Rows(stored), Keys::Rows(rows)) => stored.set(slot, rows.row(row)),
            _ => Err(StateError::KeyKind),
        }
    }

    /// Forgets the key of `slot`, which holds one.
    pub fn remove(&mut self, slot: u32) {
        self.nulls.remove(slot);
        if let StoredKeys::Strings(stored) | StoredKeys::Rows(stored) = &mut self.keys {
            stored.slab.remove(std::mem::take(&mut stored.places[slot as usize]));
        }
    }

    /// Makes room for so many more keys.
    pub fn reserve(&mut self, keys: usize) {
        match &mut self.keys {
            StoredKeys::Unit => {}
            StoredKeys::Ints(stored) => stored.reserve(keys),
            StoredKeys::Strings(stored) | StoredKeys::Rows(stored) => stored.places.reserve(keys),
        }
    }

    /// Appends the slot's key as an encoded row of the key columns.
    pub fn write_row(&self, slot: u32, out: &mut Vec<u8>) {
        let is_null = self.nulls.contains(slot);
        match &self.keys {
            StoredKeys::Unit => {}
            StoredKeys::Ints(stored) => {
                let width = self.encoder.int_width();
                out.push(is_null.into());
                out.extend_from_slice(&stored[slot as usize].to_le_bytes()[..width]);
            }
            StoredKeys::Strings(stored) => {
                let key = stored.get(slot);
                out.push(is_null.into());
                out.extend_from_slice(&(key.len() as u32).to_le_bytes());
                out.extend_from_slice(key);
            }
            StoredKeys::Rows(stored) => out.extend_from_slice(stored.get(slot)),
        }
    }

    /// The hash of the slot's key, as [`KeyBatch::hashes`] gave it.
    pub fn hash(&self, slot: u32) -> u64 {
        if self.nulls.contains(slot) {
            return NULL_HASH;
        }
        match &self.keys {
            StoredKeys::Unit => NULL_HASH,
            StoredKeys::Ints(stored) => hash_int(stored[slot as usize]),
            StoredKeys::Strings(stored) | StoredKeys::Rows(stored) => hash_bytes(stored.get(slot)),
        }
    }

    /// Whether the slot's key is NULL in a form that does not hold NULL itself.
    pub fn is_null(&self, slot: u32) -> bool {
        self.nulls.contains(slot)
    }

    /// How many slots there is room for before memory must grow.
    pub fn capacity(&self) -> usize {
        match &self.keys {
            StoredKeys::Unit => 1,
            StoredKeys::Ints(stored) => stored.capacity(),
            StoredKeys::Strings(stored) | StoredKeys::Rows(stored) => stored.places.capacity(),
        }
    }

    /// The keys of slots as columns; NULLs for [`NO_SLOT`].
    pub fn columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        match &self.keys {
            StoredKeys::Unit => Ok(Vec::new()),
            StoredKeys::Ints(stored) => {
                let value = |slot: &u32| if *slot == NO_SLOT { 0 } else { stored[*slot as usize] };
                let values = slots.iter().map(value).collect();
                Ok(vec![self.encoder.int_column(values, self.null_buffer(slots))?])
            }
            StoredKeys::Strings(stored) => {
                let mut offsets = Vec::with_capacity(slots.len() + 1);
                let mut data = Vec::new();
                offsets.push(0);
                for slot in slots {
                    if *slot != NO_SLOT {
                        data.extend_from_slice(stored.get(*slot));
                    }
                    offsets.push(i32::try_from(data.len()).map_err(|_| StateError::BatchTooLarge)?);
                }
                Ok(vec![self.encoder.string_column(offsets, data, self.null_buffer(slots))?])
            }
            StoredKeys::Rows(stored) => {
                let null = self.encoder.codec().null_row();
                let row = |slot: &u32| {
                    if *slot == NO_SLOT { null.as_slice() } else { stored.get(*slot) }
                };
                self.encoder.codec().decode(&slots.iter().map(row).collect::<Vec<_>>())
            }
        }
    }

    /// The bytes the keys occupy.
    pub fn memory(&self) -> usize {
        let keys = match &self.keys {
            StoredKeys::Unit => 0,
            StoredKeys::Ints(stored) => stored.capacity() * 8,
            StoredKeys::Strings(stored) | StoredKeys::Rows(stored) => {
                stored.places.capacity() * size_of::<ByteRef>() + stored.slab.memory()
            }
        };
        keys + self.nulls.memory()
    }

    fn null_buffer(&self, slots: &[u32]) -> Option<NullBuffer> {
        let mut nulls = NullBufferBuilder::new(slots.len());
        if self.nulls.is_empty() {
            slots.iter().for_each(|slot| nulls.append(*slot != NO_SLOT));
        } else {
            let held = |slot: &u32| *slot != NO_SLOT && !self.nulls.contains(*slot);
            slots.iter().for_each(|slot| nulls.append(held(slot)));
        }
        nulls.finish()
    }
}

/// Sets item `slot` of a vector that slots fill one after the other.
#[inline]
fn put<T: Clone + Default>(items: &mut Vec<T>, slot: u32, item: T) {
    let at = slot as usize;
    if at == items.len() {
        items.push(item);
    } else {
        if at > items.len() {
            items.resize(at + 1, T::default());
        }
        items[at] = item;
    }
}
