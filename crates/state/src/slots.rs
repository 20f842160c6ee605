//! What operators keep per key, when they keep their values in vectors indexed by slot.

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::bits::BitSet;
use crate::error::Result;
use crate::keys::{KeyBatch, KeyEncoder, KeyIndex, NO_SLOT};
use crate::published::Published;
use crate::rows::schema_text;
use crate::spill::Disk;
use crate::ttl::Ttl;

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

    /// The slots written since the last snapshot on which the next of changes builds.
    pub fn dirty(&self) -> &BitSet {
        &self.dirty
    }

    /// Forgets which slots were written, after a checkpoint.
    pub fn clear_dirty(&mut self) {
        self.dirty.clear();
    }

    /// Forgets that a slot was written.
    pub(crate) fn clear(&mut self, slot: u32) {
        self.dirty.remove(slot);
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
    pub(crate) index: KeyIndex,
    pub(crate) meta: SlotMeta,
    /// What the last snapshot holds, and what the next must say is gone.
    pub(crate) published: Published,
    /// Whether state that expired may still be wanted.
    pub(crate) keeps_expired: bool,
    /// The keys that are on disk.
    pub(crate) disk: Disk,
    /// How many of a key's columns decide its key group, where not all of them do.
    pub(crate) owned_by: Option<usize>,
}

impl KeySlots {
    /// No key yet; keys are of these types.
    pub fn new(types: &[DataType], ttl: Option<Ttl>) -> Self {
        Self {
            index: KeyIndex::new(types),
            meta: SlotMeta::new(ttl),
            published: Published::default(),
            keeps_expired: false,
            disk: Disk::default(),
            owned_by: None,
        }
    }

    /// The same, for an operator that keeps more under a key than what expires: what expired is not
    /// left out of snapshots, nor when they are read.
    pub fn keeping_expired(self) -> Self {
        Self { keeps_expired: true, ..self }
    }

    /// The first so many columns of a key decide its key group: those by which rows find their task, where
    /// an operator keeps more than one entry for each value of them. Such keys are not moved to disk.
    #[must_use]
    pub fn owned_by(self, columns: usize) -> Self {
        Self { owned_by: Some(columns), ..self }
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

    /// The slot of each row's key, of which only those that are new, or had expired, count as written at
    /// `now`. `slots` and `fresh` are as in [`Self::write`].
    pub fn find_or_write(
        &mut self,
        batch: &KeyBatch,
        now: i64,
        slots: &mut Vec<u32>,
        fresh: &mut Vec<u32>,
    ) -> Result<()> {
        if self.meta.ttl.is_none() {
            self.index.lookup_or_insert(batch, slots, fresh)?;
            fresh.iter().for_each(|row| {
                self.meta.dirty.insert(slots[*row as usize]);
            });
            return Ok(());
        }
        slots.clear();
        fresh.clear();
        for row in 0..batch.len() {
            slots.push(match self.read_one(batch, row, now) {
                Some(slot) => slot,
                None => {
                    fresh.push(row as u32);
                    self.write_one(batch, row, now)?.0
                }
            });
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

    /// The slot of a key as snapshots hold it, and whether it is new; it counts as written at `now`.
    ///
    /// Fails when the bytes are no key.
    pub fn write_row(&mut self, key: &[u8], now: i64) -> Result<(u32, bool)> {
        let batch = self.encoder().encode_rows(&[key])?;
        self.write_one(&batch, 0, now)
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

    /// Notes that a slot's state changed though nobody wrote to it, so that its TTL is not renewed.
    #[inline]
    pub fn changed(&mut self, slot: u32) {
        self.meta.dirty.insert(slot);
    }

    /// Forgets a slot's key; whether there was one.
    ///
    /// Its number may go to the next new key, so a batch's slots must be used up before.
    pub fn remove(&mut self, slot: u32) -> bool {
        self.meta.dirty.remove(slot);
        self.published.remove(slot, &self.index);
        self.disk.removed(slot, &self.index);
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

    /// Forgets which slots were written: a snapshot holds them.
    pub(crate) fn clear_dirty(&mut self) {
        self.disk.handed_over(&self.meta.dirty);
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
        let disk = self.disk.memory();
        self.index.memory() + self.meta.memory() + self.published.memory() + disk
    }

    /// What a snapshot's header says of these keys; `value` describes what is kept under them.
    pub fn schema(&self, value: &str) -> String {
        format!("[{}] {value}", schema_text(self.encoder().types()))
    }

    /// Appends a slot's key as an encoded row of the key columns, as snapshots hold it.
    pub fn write_key(&self, slot: u32, out: &mut Vec<u8>) {
        self.index.write_row(slot, out);
    }
}
