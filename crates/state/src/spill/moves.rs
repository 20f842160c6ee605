//! Keys on their way to disk and back.

use super::disk::{Head, has_expired};
use super::raw_keys::RawKeys;
use super::space::{LONGEST_KEY, SpillSpace};
use crate::error::Result;
use crate::keys::{KeyBatch, KeyIndex, NO_SLOT};
use crate::slots::{KeySlots, SlotMeta};
use crate::snapshot::{StateDecoder, StateEncoder};
use crate::ttl::Ttl;

/// Entries written together.
const CHUNK: usize = 4096;

impl KeySlots {
    /// The same, for an operator whose state under a key expires though the key does not: what is on disk
    /// does so after `ttl`, by the time with which it was [written](Self::write_timed).
    pub fn expiring_on_disk(mut self, ttl: Option<Ttl>) -> Self {
        self.disk.ttl = ttl;
        self
    }

    /// Whether keys may be on disk, so that a batch's keys must be [loaded](Self::load).
    #[inline]
    pub fn is_spilled(&self) -> bool {
        self.disk.is_active()
    }

    /// Notes that rows met the keys of these slots, which so stay longer.
    #[inline]
    pub fn meet(&mut self, slots: &[u32]) {
        if self.disk.is_active() {
            self.disk.evictor.meet(slots);
        }
    }

    /// The slots whose keys are to leave a state that holds `held` bytes and may hold `room`, those aside that
    /// `keep` names. They must be [written](Self::write_to_disk) and [forgotten](Self::forget).
    pub fn victims(
        &mut self,
        held: usize,
        room: usize,
        space: &SpillSpace,
        keep: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>> {
        self.disk.bury()?;
        if self.encoder().types().is_empty() {
            return Ok(Vec::new());
        }
        let index = &self.index;
        let stays = |slot: u32| keep(slot) || index.key_length(slot) > LONGEST_KEY;
        Ok(match space.keys() {
            Some(most) => self.disk.evictor.down_to(index, most, 0, stays),
            None => self.disk.evictor.victims(index, held, room, stays),
        })
    }

    /// Writes to disk, as [`Self::write_to_disk`] does, what is to leave a state that holds `held` bytes and may
    /// hold `room`, and gives the slots. Their values must be dropped and the keys [forgotten](Self::forget).
    pub fn move_out(
        &mut self,
        (held, room): (usize, usize),
        space: &SpillSpace,
        max_parallelism: u16,
        write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<Vec<u32>> {
        let leaving = self.victims(held, room, space, |_| false)?;
        if !leaving.is_empty() {
            self.write_to_disk(&self.not_on_disk(&leaving), space, max_parallelism, write)?;
        }
        Ok(leaving)
    }

    /// Of some slots those whose entry on disk is not what is in memory.
    pub fn not_on_disk(&self, slots: &[u32]) -> Vec<u32> {
        let differs =
            |slot: &u32| self.meta.dirty().contains(*slot) || !self.disk.copies.is_current(*slot);
        slots.iter().copied().filter(differs).collect()
    }

    /// Writes the keys of slots to disk, and by `write` the value of each, in the order of `slots`. Their values
    /// may then be dropped and the keys [forgotten](Self::forget).
    pub fn write_to_disk(
        &mut self,
        slots: &[u32],
        space: &SpillSpace,
        max_parallelism: u16,
        write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        self.write_timed(slots, space, max_parallelism, |meta, slot| meta.last_write(slot), write)
    }

    /// [`Self::write_to_disk`] with the time at which each was last written.
    pub fn write_timed(
        &mut self,
        slots: &[u32],
        space: &SpillSpace,
        max_parallelism: u16,
        mut time: impl FnMut(&SlotMeta, u32) -> Option<i64>,
        mut write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        self.disk.open(space, max_parallelism)?;
        self.disk.bury()?;
        let (mut keys, mut values) = (RawKeys::default(), RawKeys::default());
        let mut changed: Vec<Vec<u8>> = Vec::new();
        let mut value = StateEncoder::new();
        for chunk in slots.chunks(CHUNK) {
            keys.clear();
            values.clear();
            changed.clear();
            for slot in chunk {
                keys.push(*slot, |out| self.index.raw(*slot, max_parallelism, out));
                let is_published = self.published.contains(*slot);
                let is_changed = self.meta.dirty().contains(*slot);
                let head = self.disk.head(is_published, is_changed, time(&self.meta, *slot));
                if head.is_changed {
                    changed.push(keys.last().to_vec());
                }
                value.clear();
                head.write(&mut value);
                write(*slot, &mut value);
                values.push(*slot, |out| out.extend_from_slice(value.written()));
            }
            if let Some(store) = &self.disk.store {
                store.change(keys.iter().zip(values.iter()), std::iter::empty())?;
            }
            self.note_changed(&changed, space)?;
        }
        Ok(())
    }

    /// Notes the keys of entries that the next checkpoint of changes must hold.
    fn note_changed(&mut self, keys: &[Vec<u8>], space: &SpillSpace) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        if self.disk.changed.is_none() {
            self.disk.changed = Some(space.store()?);
        }
        match &self.disk.changed {
            Some(changed) => {
                changed.change(keys.iter().map(|key| (&key[..], &[][..])), std::iter::empty())
            }
            None => Ok(()),
        }
    }

    /// Forgets the keys of slots whose entries on disk are what is in memory.
    pub fn forget(&mut self, slots: &[u32]) {
        for slot in slots {
            self.disk.copies.release(*slot);
            self.published.move_out(*slot);
            self.meta.clear(*slot);
            self.index.remove(*slot);
        }
    }

    /// Gives the memory back of a state whose keys have all left for the disk.
    pub fn give_back(&mut self) {
        if self.index.is_empty() {
            let types = self.encoder().types().to_vec();
            self.index = KeyIndex::new(&types);
            self.meta = SlotMeta::new(self.meta.ttl());
            self.disk.copies.clear();
        }
    }

    /// Brings the keys of a batch back that are on disk; `read` takes the value of each for its slot. State that
    /// expired is deleted instead.
    pub fn load(
        &mut self,
        keys: &KeyBatch,
        now: i64,
        mut read: impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<()> {
        self.disk.bury()?;
        let Some(store) = &self.disk.store else { return Ok(()) };
        let mut found = Vec::new();
        self.index.lookup(keys, &mut found)?;
        let mut missing = RawKeys::default();
        for (row, _) in (0u32..).zip(&found).filter(|(_, slot)| **slot == NO_SLOT) {
            missing.push(row, |out| keys.raw(row as usize, self.disk.groups, out));
        }
        let mut returned = Vec::new();
        for (key, row) in missing.distinct() {
            if key.len() > LONGEST_KEY {
                continue;
            }
            if let Some(entry) = store.entry(key)? {
                returned.push((key, row, entry));
            }
        }
        let ttl = self.ttl_on_disk();
        let mut expired = Vec::new();
        for (key, row, entry) in returned {
            let mut input = StateDecoder::new("on disk", &entry);
            let head = Head::read(&mut input)?;
            if has_expired(ttl, &head, now) {
                expired.push((key, head));
                continue;
            }
            let slot = self.bring_back(keys, row as usize, &head)?;
            read(slot, &mut input)?;
            input.finish()?;
        }
        self.expire(&expired)
    }

    /// When state on disk expires, if ever.
    pub(super) fn ttl_on_disk(&self) -> Option<Ttl> {
        self.meta.ttl().or(self.disk.ttl)
    }

    /// Deletes entries that expired.
    pub(super) fn expire(&mut self, entries: &[(&[u8], Head)]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        if let Some(store) = &self.disk.store {
            store.change(std::iter::empty(), entries.iter().map(|(key, _)| *key))?;
        }
        let published: Vec<&[u8]> = entries
            .iter()
            .filter(|(_, head)| self.disk.is_published(head))
            .map(|(key, _)| *key)
            .collect();
        let keys = self.encoder().decode_raw(&published)?;
        let rows = self.encoder().codec_rows(&keys)?;
        for (row, hash) in rows.iter().zip(keys.hashes()) {
            self.published.removed(row, *hash);
        }
        Ok(())
    }

    /// Takes up a key from disk that is not in memory.
    pub(super) fn bring_back(&mut self, keys: &KeyBatch, row: usize, head: &Head) -> Result<u32> {
        let (slot, _) = self.index.insert_one(keys, row)?;
        self.meta.written(slot, head.written.unwrap_or(i64::MIN));
        if !self.disk.is_changed(head) {
            self.meta.clear(slot);
        }
        if self.disk.is_published(head) {
            self.published.hold(slot);
        }
        self.disk.copies.hold(slot);
        Ok(slot)
    }
}
