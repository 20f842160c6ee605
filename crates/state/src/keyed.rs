//! Values of any Rust type by key.

use std::ops::{Deref, DerefMut};

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::error::Result;
use crate::keys::{KeyBatch, KeyEncoder};
use crate::size::StateSize;
use crate::slots::KeySlots;
use crate::snapshot::{KeyedEntries, KeyedSection, StateDecoder, StateEncoder, StateWriter};
use crate::ttl::Ttl;

/// A value per key.
#[derive(Debug)]
pub struct KeyedState<V> {
    slots: KeySlots,
    values: Vec<Option<V>>,
    /// What the values occupy beside themselves.
    heap: usize,
}

impl<V: StateSize> KeyedState<V> {
    /// No key yet; keys are of these types.
    pub fn new(types: &[DataType], ttl: Option<Ttl>) -> Self {
        Self { slots: KeySlots::new(types, ttl), values: Vec::new(), heap: 0 }
    }

    /// An encoder whose batches this state takes.
    pub fn encoder(&self) -> &KeyEncoder {
        self.slots.encoder()
    }

    /// The keys.
    pub fn slots(&self) -> &KeySlots {
        &self.slots
    }

    /// The value of a row's key, to be written at `now`; `init` makes it when the key is new or had expired.
    pub fn entry(
        &mut self,
        batch: &KeyBatch,
        row: usize,
        now: i64,
        init: impl FnOnce() -> V,
    ) -> Result<ValueMut<'_, V>> {
        let (slot, fresh) = self.slots.write_one(batch, row, now)?;
        let place = place(&mut self.values, slot);
        if fresh && let Some(old) = place.take() {
            self.heap -= old.heap_size();
        }
        let absent = place.is_none();
        let value = place.get_or_insert_with(init);
        let before = if absent { 0 } else { value.heap_size() };
        Ok(ValueMut { slot, value, before, heap: &mut self.heap })
    }

    /// The value of a row's key, unless the key is unknown or has expired.
    pub fn value(&self, batch: &KeyBatch, row: usize, now: i64) -> Option<&V> {
        self.slots.read_one(batch, row, now).and_then(|slot| self.value_at(slot))
    }

    /// The value of a row's key, to be written at `now`, unless the key is unknown or has expired.
    pub fn value_mut(&mut self, batch: &KeyBatch, row: usize, now: i64) -> Option<ValueMut<'_, V>> {
        let slot = self.slots.read_one(batch, row, now)?;
        self.value_at_mut(slot, now)
    }

    /// The value of a slot, if it holds one.
    pub fn value_at(&self, slot: u32) -> Option<&V> {
        self.values.get(slot as usize)?.as_ref()
    }

    /// The value of a slot, to be written at `now`, if it holds one.
    pub fn value_at_mut(&mut self, slot: u32, now: i64) -> Option<ValueMut<'_, V>> {
        let value = self.values.get_mut(slot as usize)?.as_mut()?;
        self.slots.written(slot, now);
        let before = value.heap_size();
        Some(ValueMut { slot, value, before, heap: &mut self.heap })
    }

    /// Takes out a slot's key and value.
    pub fn remove(&mut self, slot: u32) -> Option<V> {
        self.slots.remove(slot);
        let value = self.values.get_mut(slot as usize)?.take()?;
        self.heap -= value.heap_size();
        Some(value)
    }

    /// Looks at up to `limit` slots, going on where the last call ended, and takes out those that expired;
    /// `dropped` is handed each slot and value.
    pub fn sweep(&mut self, now: i64, limit: usize, mut dropped: impl FnMut(u32, V)) {
        let mut expired = Vec::new();
        self.slots.sweep(now, limit, &mut expired);
        for slot in expired {
            if let Some(value) = self.remove(slot) {
                dropped(slot, value);
            }
        }
    }

    /// Slots and values, expired ones not yet swept included.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        (0u32..).zip(&self.values).filter_map(|(slot, value)| Some((slot, value.as_ref()?)))
    }

    /// The keys of slots as columns.
    pub fn key_columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.slots.key_columns(slots)
    }

    /// The number of keys, expired ones not yet swept included.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes note of a snapshot. See [`KeySlots::handed_over`].
    pub fn handed_over(&mut self, state: &StateWriter) {
        self.slots.handed_over(state);
    }

    /// The bytes keys and values occupy.
    pub fn memory(&self) -> usize {
        self.slots.memory() + self.values.capacity() * size_of::<Option<V>>() + self.heap
    }

    /// Writes keys and, by `write`, their values. See [`KeySlots::snapshot`].
    pub fn snapshot(
        &self,
        section: KeyedSection<'_>,
        mut write: impl FnMut(&V, &mut StateEncoder),
    ) -> Result<()> {
        self.slots.snapshot(section, |slot, out| {
            if let Some(value) = self.value_at(slot) {
                write(value, out);
            }
        })
    }

    /// Adds the keys of a snapshot and, by `read`, their values. See [`KeySlots::restore`].
    pub fn restore(
        &mut self,
        max_parallelism: u16,
        now: i64,
        entries: KeyedEntries<'_>,
        mut read: impl FnMut(u16, &mut StateDecoder<'_>) -> Result<V>,
    ) -> Result<()> {
        let (values, heap) = (&mut self.values, &mut self.heap);
        self.slots.restore(max_parallelism, now, entries, |slot, version, input| {
            let value = read(version, input)?;
            *heap += value.heap_size();
            *place(values, slot) = Some(value);
            Ok(())
        })
    }
}

/// The place of a slot's value.
fn place<V>(values: &mut Vec<Option<V>>, slot: u32) -> &mut Option<V> {
    let at = slot as usize;
    if at >= values.len() {
        values.resize_with(at + 1, || None);
    }
    &mut values[at]
}

/// A value being written; its size is accounted when this is dropped.
#[derive(Debug)]
pub struct ValueMut<'a, V: StateSize> {
    slot: u32,
    value: &'a mut V,
    before: usize,
    heap: &'a mut usize,
}

impl<V: StateSize> ValueMut<'_, V> {
    /// The slot the value lies in.
    pub fn slot(&self) -> u32 {
        self.slot
    }
}

impl<V: StateSize> Deref for ValueMut<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        self.value
    }
}

impl<V: StateSize> DerefMut for ValueMut<'_, V> {
    fn deref_mut(&mut self) -> &mut V {
        self.value
    }
}

impl<V: StateSize> Drop for ValueMut<'_, V> {
    fn drop(&mut self) {
        *self.heap = (*self.heap + self.value.heap_size()).saturating_sub(self.before);
    }
}
