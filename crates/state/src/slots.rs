//! What operators keep per key, when they keep their values in vectors indexed by slot.

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::bits::BitSet;
use crate::error::Result;
use crate::keys::{KeyBatch, KeyEncoder, KeyIndex, NO_SLOT};
use crate::rows::schema_text;
use crate::snapshot::{KeyedEntries, KeyedSection, StateDecoder, StateEncoder};
use crate::ttl::Ttl;

/// Keys encoded or decoded together when snapshots are written and read.
const CHUNK: usize = 4096;

/// Which slots changed since the last checkpoint, and when each was last written.
#[derive(Debug, Default)]
pub struct SlotMeta {
    ttl: Option<Ttl>,
    /// In milliseconds; empty without a TTL.
    last_write: Vec<i64>,
    dirty: BitSet,
    /// Where the next sweep goes on.
    cursor: u32,
}

impl SlotMeta {
    /// No slot written yet.
    pub fn new(ttl: Option<Ttl>) -> Self {
        Self { ttl, ..Self::default() }
    }

    /// The time after which idle state is dropped, if ever.
    pub fn ttl(&self) -> Option<Ttl> {
        self.ttl
    }

    /// Notes that a slot was written at `now`, in milliseconds.
    #[inline]
    pub fn written(&mut self, slot: u32, now: i64) {
        self.dirty.insert(slot);
        if self.ttl.is_some() {
            let at = slot as usize;
            if at >= self.last_write.len() {
                self.last_write.resize(at + 1, i64::MIN);
            }
            self.last_write[at] = now;
        }
    }

    /// Whether a slot's state was idle for so long that it counts as absent.
    #[inline]
    pub fn is_expired(&self, slot: u32, now: i64) -> bool {
        self.ttl.is_some_and(|ttl| {
            self.last_write.get(slot as usize).is_some_and(|written| ttl.is_expired(*written, now))
        })
    }

    /// When a slot was last written; `None` without a TTL.
    pub fn last_write(&self, slot: u32) -> Option<i64> {
        self.last_write.get(slot as usize).copied()
    }

    /// The slots written since [`Self::clear_dirty`].
    pub fn dirty(&self) -> &BitSet {
        &self.dirty
    }

    /// Forgets which slots were written, after a checkpoint.
    pub fn clear_dirty(&mut self) {
        self.dirty.clear();
    }

    /// The bytes this occupies.
    pub fn memory(&self) -> usize {
        self.last_write.capacity() * 8 + self.dirty.memory()
    }
}

/// A [`KeyIndex`] whose slots expire and remember whether they changed.
///
/// State that expired acts as absent from that moment, though its slot is taken back only by a later
/// [`Self::sweep`].
#[derive(Debug)]
pub struct KeySlots {
    index: KeyIndex,
    meta: SlotMeta,
    /// How many of a key's columns decide its key group, where not all of them do.
    owned_by: Option<usize>,
}

impl KeySlots {
    /// No key yet; keys are of these types.
    pub fn new(types: &[DataType], ttl: Option<Ttl>) -> Self {
        Self { index: KeyIndex::new(types), meta: SlotMeta::new(ttl), owned_by: None }
    }

    /// The first so many columns of a key decide its key group: those by which rows find their task, where
    /// an operator keeps more than one entry for each value of them.
    #[must_use]
    pub fn owned_by(mut self, columns: usize) -> Self {
        self.owned_by = Some(columns);
        self
    }

    /// An encoder whose batches these slots take.
    pub fn encoder(&self) -> &KeyEncoder {
        self.index.encoder()
    }

    /// The keys.
    pub fn index(&self) -> &KeyIndex {
        &self.index
    }

    /// Dirty marks and times of writing.
    pub fn meta(&self) -> &SlotMeta {
        &self.meta
    }

    /// The slot of each row's key, which counts as written at `now`.
    ///
    /// `slots` is cleared and then holds one slot a row. `fresh` is cleared and then holds, ascending,
    /// the rows before which their slot's state must be reset: its key is new or had expired.
    pub fn write(
        &mut self,
        batch: &KeyBatch,
        now: i64,
        slots: &mut Vec<u32>,
        fresh: &mut Vec<u32>,
    ) -> Result<()> {
        self.index.lookup_or_insert(batch, slots, fresh)?;
        if self.meta.ttl.is_none() {
            slots.iter().for_each(|slot| {
                self.meta.dirty.insert(*slot);
            });
            return Ok(());
        }
        let created = std::mem::take(fresh);
        let mut created = created.into_iter().peekable();
        for (row, slot) in slots.iter().enumerate() {
            if created.next_if_eq(&(row as u32)).is_some() || self.meta.is_expired(*slot, now) {
                fresh.push(row as u32);
            }
            self.meta.written(*slot, now);
        }
        Ok(())
    }

    /// The slot of one row's key, which counts as written at `now`, and whether its state must be reset.
    pub fn write_one(&mut self, batch: &KeyBatch, row: usize, now: i64) -> Result<(u32, bool)> {
        let (slot, new) = self.index.insert_one(batch, row)?;
        let fresh = new || self.meta.is_expired(slot, now);
        self.meta.written(slot, now);
        Ok((slot, fresh))
    }

    /// The slot of each row's key, [`NO_SLOT`] where the key is unknown or has expired. `slots` is cleared first.
    pub fn read(&self, batch: &KeyBatch, now: i64, slots: &mut Vec<u32>) -> Result<()> {
        self.index.lookup(batch, slots)?;
        if self.meta.ttl.is_some() {
            for slot in slots.iter_mut().filter(|slot| self.meta.is_expired(**slot, now)) {
                *slot = NO_SLOT;
            }
        }
        Ok(())
    }

    /// The slot of one row's key, unless it is unknown or has expired.
    pub fn read_one(&self, batch: &KeyBatch, row: usize, now: i64) -> Option<u32> {
        self.index.lookup_one(batch, row).filter(|slot| !self.meta.is_expired(*slot, now))
    }

    /// Notes that a slot's state was written at `now`, in milliseconds.
    pub fn written(&mut self, slot: u32, now: i64) {
        self.meta.written(slot, now);
    }

    /// Forgets a slot's key; whether there was one.
    ///
    /// Its number may go to the next new key, so a batch's slots must be used up before.
    pub fn remove(&mut self, slot: u32) -> bool {
        self.meta.dirty.remove(slot);
        self.index.remove(slot)
    }

    /// Looks at up to `limit` slots, going on where the last call ended, and appends those that expired to
    /// `expired`. The caller drops their state and then [`Self::remove`]s them.
    pub fn sweep(&mut self, now: i64, limit: usize, expired: &mut Vec<u32>) {
        let bound = self.index.slot_bound();
        if self.meta.ttl.is_none() || bound == 0 {
            return;
        }
        for _ in 0..limit.min(bound as usize) {
            if self.meta.cursor >= bound {
                self.meta.cursor = 0;
            }
            let slot = self.meta.cursor;
            if self.index.contains(slot) && self.meta.is_expired(slot, now) {
                expired.push(slot);
            }
            self.meta.cursor += 1;
        }
    }

    /// The keys of slots as columns: each slot holds a key or is [`NO_SLOT`], which gives NULLs.
    pub fn key_columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.index.key_columns(slots)
    }

    /// Forgets which slots were written, after a checkpoint.
    pub fn clear_dirty(&mut self) {
        self.meta.clear_dirty();
    }

    /// The number of keys, expired ones not yet swept included.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The bytes the keys and marks occupy.
    pub fn memory(&self) -> usize {
        self.index.memory() + self.meta.memory()
    }

    /// What a snapshot's header says of these keys; `value` describes what is kept under them.
    pub fn schema(&self, value: &str) -> String {
        format!("[{}] {value}", schema_text(self.encoder().types()))
    }

    /// Writes every key with its time of writing and the value that `write` gives for its slot.
    pub fn snapshot(
        &self,
        mut section: KeyedSection<'_>,
        mut write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        let groups = section.max_parallelism();
        let slots: Vec<u32> = self.index.slots().collect();
        for chunk in slots.chunks(CHUNK) {
            let columns = self.index.key_columns(chunk)?;
            let keys = self.encoder().codec().encode(&columns, chunk.len())?;
            let owners = self.owner_groups(&columns, chunk.len(), groups)?;
            for (row, (slot, key)) in chunk.iter().zip(keys.iter()).enumerate() {
                let own = || self.index.key_group(*slot, groups);
                let group = owners.as_ref().map_or_else(own, |owners| owners[row]);
                section.entry(group, key, |out| {
                    out.option(self.meta.last_write(*slot), StateEncoder::i64);
                    write(*slot, out);
                });
            }
        }
        section.finish();
        Ok(())
    }

    /// Adds the keys of a snapshot; `read` takes each value for its slot. `now` is the time of writing of
    /// keys from a snapshot that was written without a TTL.
    pub fn restore(
        &mut self,
        max_parallelism: u16,
        now: i64,
        mut entries: KeyedEntries<'_>,
        mut read: impl FnMut(u32, u16, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let chunk = entries.by_ref().take(CHUNK).collect::<Result<Vec<_>>>()?;
            if chunk.is_empty() {
                return Ok(());
            }
            let rows: Vec<_> = chunk.iter().map(|entry| entry.key).collect();
            let columns = self.encoder().codec().decode(&rows)?;
            let keys = self.encoder().encode(&columns, rows.len())?;
            let groups = keys.key_groups(max_parallelism);
            let owners = self.owner_groups(&columns, rows.len(), max_parallelism)?;
            for (row, (mut entry, group)) in chunk.into_iter().zip(groups).enumerate() {
                let owner = owners.as_ref().map_or(group, |owners| owners[row]);
                // Sections of a first version went by the whole key.
                if owner != entry.key_group && group != entry.key_group {
                    return Err(entry.value.damaged("key in the wrong key group"));
                }
                let (slot, new) = self.index.insert_one(&keys, row)?;
                if !new {
                    return Err(entry.value.damaged("key written twice"));
                }
                let written = entry.value.option(StateDecoder::i64)?;
                self.meta.written(slot, written.unwrap_or(now));
                read(slot, entry.version, &mut entry.value)?;
                entry.value.finish()?;
            }
        }
    }

    /// The key groups by the first columns of keys, where those decide.
    fn owner_groups(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        max_parallelism: u16,
    ) -> Result<Option<Vec<u16>>> {
        let Some(count) = self.owned_by else { return Ok(None) };
        let encoder = KeyEncoder::new(&self.encoder().types()[..count]);
        let keys = encoder.encode(&columns[..count], rows)?;
        Ok(Some(keys.key_groups(max_parallelism).collect()))
    }

    /// A slot's key as a snapshot writes it, for state that refers to keys of another section.
    pub fn key_bytes(&self, slot: u32) -> Result<Vec<u8>> {
        let columns = self.index.key_columns(&[slot])?;
        Ok(self.encoder().codec().encode(&columns, 1)?.row(0).to_vec())
    }

    /// The slot of a key that [`Self::key_bytes`] gave, if the key is known.
    pub fn find_key_bytes(&self, key: &[u8]) -> Result<Option<u32>> {
        let columns = self.encoder().codec().decode(&[key])?;
        Ok(self.index.lookup_one(&self.encoder().encode(&columns, 1)?, 0))
    }
}
