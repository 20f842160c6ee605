//! Going through all entries on disk: for snapshots, for final results, and for what has expired.

use super::disk::{Head, has_expired};
use crate::error::Result;
use crate::keys::{KeyBatch, NO_SLOT, key_group};
use crate::slots::KeySlots;
use crate::snapshot::{KeyedSection, SnapshotScope, StateDecoder, StateEncoder};

/// Entries read together.
const CHUNK: usize = 4096;

/// Whether the values of a section begin with the time of their last write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// They do.
    Written,
    /// They do not.
    LeftOut,
}

/// Entries from disk whose keys are not in memory.
struct Entries {
    keys: KeyBatch,
    /// The row of each in `keys`, its key and its value with its head.
    pairs: Vec<(usize, Vec<u8>, Vec<u8>)>,
    more: bool,
}

impl KeySlots {
    /// Brings up to `limit` keys back, in the order of their key groups, going on after `cursor`, which is empty at
    /// first; keys in memory are passed over. Whether there may be more.
    pub fn load_next(
        &mut self,
        cursor: &mut Vec<u8>,
        limit: usize,
        mut read: impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<bool> {
        self.disk.bury()?;
        let Some(entries) = self.entries_after(cursor, limit)? else { return Ok(false) };
        for (row, _, value) in &entries.pairs {
            let mut input = StateDecoder::new("on disk", value);
            let head = Head::read(&mut input)?;
            let slot = self.bring_back(&entries.keys, *row, &head)?;
            read(slot, &mut input)?;
            input.finish()?;
        }
        Ok(entries.more)
    }

    /// Looks at up to `limit` entries on disk, going on where the last call ended, and deletes those that expired.
    pub fn sweep_disk(&mut self, now: i64, limit: usize) -> Result<()> {
        let ttl = self.ttl_on_disk();
        if ttl.is_none() || !self.is_spilled() {
            return Ok(());
        }
        self.disk.bury()?;
        let mut cursor = std::mem::take(&mut self.disk.cursor);
        if let Some(entries) = self.entries_after(&mut cursor, limit)? {
            let mut expired = Vec::new();
            for (_, key, value) in &entries.pairs {
                let head = Head::read(&mut StateDecoder::new("on disk", value))?;
                if has_expired(ttl, &head, now) {
                    expired.push((&key[..], head));
                }
            }
            self.expire(&expired)?;
            if entries.more {
                self.disk.cursor = cursor;
            }
        }
        Ok(())
    }

    /// Writes what a snapshot holds of the keys that are on disk and not in memory.
    /// `suffix` is written to their ends.
    pub(crate) fn write_disk(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        times: Times,
    ) -> Result<()> {
        if !self.is_spilled() {
            return Ok(());
        }
        match section.state().scope() {
            // State that came about after the first checkpoint has all changed.
            SnapshotScope::Changes if self.disk.tracks_changes() => {
                self.write_changed(section, suffix, times)
            }
            SnapshotScope::Whole | SnapshotScope::Base | SnapshotScope::Changes => {
                let mut cursor = Vec::new();
                while let Some(entries) = self.entries_after(&mut cursor, CHUNK)? {
                    self.write_entries_of_disk(&entries, section, suffix, times)?;
                    if !entries.more {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// Says of the keys on disk that earlier snapshots hold that they are gone, but for those that are in `again`.
    pub(crate) fn write_disk_gone(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        again: Option<&Self>,
    ) -> Result<()> {
        let mut cursor = Vec::new();
        while let Some(entries) = self.entries_after(&mut cursor, CHUNK)? {
            let rows = self.encoder().codec_rows(&entries.keys)?;
            let mut gone = Vec::new();
            for (row, _, value) in &entries.pairs {
                let head = Head::read(&mut StateDecoder::new("on disk", value))?;
                if self.disk.is_published(&head) {
                    gone.push((rows.row(*row), entries.keys.hashes()[*row]));
                }
            }
            self.write_gone_unless(section, suffix, &gone, again)?;
            if !entries.more {
                break;
            }
        }
        Ok(())
    }

    /// Adds the keys of some key groups that are on disk and not in memory to other slots, which are of the same
    /// key columns; `read` takes the value of each for its slot there.
    pub fn copy_disk(
        &self,
        groups: std::ops::Range<u16>,
        to: &mut Self,
        mut read: impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = groups.start.to_be_bytes().to_vec();
        let is_inside = |key: &[u8]| {
            key.first_chunk().is_some_and(|group| u16::from_be_bytes(*group) < groups.end)
        };
        while let Some(entries) = self.entries_after(&mut cursor, CHUNK)? {
            for (row, key, value) in &entries.pairs {
                if !is_inside(key) {
                    return Ok(());
                }
                let mut input = StateDecoder::new("on disk", value);
                Head::read(&mut input)?;
                let (slot, _) = to.index.insert_one(&entries.keys, *row)?;
                read(slot, &mut input)?;
                input.finish()?;
            }
            if !entries.more || !is_inside(&cursor) {
                break;
            }
        }
        Ok(())
    }

    fn write_changed(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        times: Times,
    ) -> Result<()> {
        let (Some(changed), Some(store)) = (&self.disk.changed, &self.disk.store) else {
            return Ok(());
        };
        let mut cursor = Vec::new();
        loop {
            let mut keys: Vec<Vec<u8>> = Vec::new();
            let more = changed.read(&cursor, CHUNK, |key, _| keys.push(key.to_vec()))?;
            let Some(last) = keys.last() else { return Ok(()) };
            cursor.clone_from(last);
            cursor.push(0);
            let mut pairs = Vec::new();
            for key in keys {
                if let Some(value) = store.entry(&key)? {
                    let head = Head::read(&mut StateDecoder::new("on disk", &value))?;
                    if self.disk.is_changed(&head) {
                        pairs.push((key, value.to_vec()));
                    }
                }
            }
            let entries = self.not_in_memory(pairs, more)?;
            self.write_entries_of_disk(&entries, section, suffix, times)?;
            if !more {
                return Ok(());
            }
        }
    }

    fn write_entries_of_disk(
        &self,
        entries: &Entries,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        times: Times,
    ) -> Result<()> {
        let mut key = Vec::new();
        let rows = self.encoder().codec_rows(&entries.keys)?;
        let (ttl, now) = (self.ttl_on_disk(), section.state().now());
        let continued = section.state().scope() == SnapshotScope::Changes;
        for (row, _, value) in &entries.pairs {
            let mut input = StateDecoder::new("on disk", value);
            let head = Head::read(&mut input)?;
            let group = key_group(entries.keys.hashes()[*row], section.max_parallelism());
            key.clear();
            key.extend_from_slice(rows.row(*row));
            key.extend_from_slice(suffix);
            if !self.keeps_expired && has_expired(ttl, &head, now) {
                if continued && self.disk.is_published(&head) {
                    section.gone(group, &key);
                }
                continue;
            }
            section.entry(group, &key, |out| {
                if times == Times::Written {
                    out.option(head.written, StateEncoder::i64);
                }
                out.raw(input.rest());
            });
        }
        Ok(())
    }

    /// The next entries after `cursor`, which moves on.
    fn entries_after(&self, cursor: &mut Vec<u8>, limit: usize) -> Result<Option<Entries>> {
        let Some(store) = &self.disk.store else { return Ok(None) };
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let more =
            store.read(cursor, limit, |key, value| pairs.push((key.to_vec(), value.to_vec())))?;
        let Some((last, _)) = pairs.last() else { return Ok(None) };
        // The least key above the last one.
        cursor.clone_from(last);
        cursor.push(0);
        Ok(Some(self.not_in_memory(pairs, more)?))
    }

    /// Leaves entries out that do not count: those of keys in memory, and of keys that were removed.
    fn not_in_memory(&self, pairs: Vec<(Vec<u8>, Vec<u8>)>, more: bool) -> Result<Entries> {
        let keys: Vec<&[u8]> = pairs.iter().map(|(key, _)| key.as_slice()).collect();
        let keys = self.encoder().decode_raw(&keys)?;
        let mut found = Vec::new();
        self.index.lookup(&keys, &mut found)?;
        let pairs = pairs
            .into_iter()
            .zip(found)
            .enumerate()
            .filter(|(_, ((key, _), slot))| *slot == NO_SLOT && !self.disk.is_dead(key))
            .map(|(row, ((key, value), _))| (row, key, value))
            .collect();
        Ok(Entries { keys, pairs, more })
    }

    /// Marks keys as found that are on disk.
    pub(crate) fn find_on_disk(&self, keys: &KeyBatch, slots: &mut [u32]) -> Result<()> {
        if !self.is_spilled() {
            return Ok(());
        }
        let mut raw = Vec::new();
        for (row, slot) in slots.iter_mut().enumerate().filter(|(_, slot)| **slot == NO_SLOT) {
            raw.clear();
            keys.raw(row, self.disk.groups, &mut raw);
            if self.disk.holds(&raw)? {
                *slot = 0;
            }
        }
        Ok(())
    }
}
