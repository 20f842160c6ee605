//! Keys and their values into snapshots and back.

use crate::error::Result;
use crate::keys::{KeyEncoder, NO_SLOT, key_group};
use crate::slots::KeySlots;
use crate::snapshot::{
    KeyedEntries, KeyedSection, SnapshotScope, StateDecoder, StateEncoder, StateWriter,
};
use crate::spill::Times;

/// Keys decoded together when snapshots are read.
const CHUNK: usize = 4096;

impl KeySlots {
    /// The slots that a snapshot writes, ascending: all, or those that changed; what has expired is left
    /// out.
    pub fn to_write(&self, state: &StateWriter) -> Vec<u32> {
        let is_wanted = |slot: &u32| !self.is_left_out(*slot, state.now());
        match state.scope() {
            SnapshotScope::Whole | SnapshotScope::Base => {
                self.index.slots().filter(is_wanted).collect()
            }
            SnapshotScope::Changes => {
                let changed = self.meta.dirty().iter().filter(|slot| self.index.contains(*slot));
                changed.filter(is_wanted).collect()
            }
        }
    }

    /// Writes the keys of [`Self::to_write`], in that order, each with its time of writing and the value
    /// that `write` gives for its slot; and which keys are gone, if that must be told.
    ///
    /// When the whole snapshot is written, it must be [taken note of](Self::handed_over).
    pub fn snapshot(
        &self,
        section: KeyedSection<'_>,
        mut write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        let write = |slot: u32, out: &mut StateEncoder| {
            out.option(self.meta.last_write(slot), StateEncoder::i64);
            write(slot, out);
        };
        self.snapshot_all(section, Times::Written, write)
    }

    /// [`Self::snapshot`] without the times of writing.
    pub fn snapshot_untimed(
        &self,
        section: KeyedSection<'_>,
        write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        self.snapshot_all(section, Times::LeftOut, write)
    }

    fn snapshot_all(
        &self,
        section: KeyedSection<'_>,
        times: Times,
        write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        let mut section = section.continued();
        self.write_disk(&mut section, &[], times)?;
        self.write_memory(&mut section, &[], write)?;
        section.finish();
        Ok(())
    }

    /// Writes what [`Self::snapshot_untimed`] does into a section that others write to as well; what is
    /// written to the keys' ends, `suffix`, tells these keys from others'. The section must be
    /// [continued](KeyedSection::continued).
    pub fn write_entries(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        self.write_disk(section, suffix, Times::LeftOut)?;
        self.write_memory(section, suffix, write)
    }

    fn write_memory(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        mut write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        let groups = section.max_parallelism();
        let mut key = Vec::new();
        for slot in self.to_write(section.state()) {
            key.clear();
            self.index.write_row(slot, &mut key);
            let group = self.group_of(slot, &key, groups)?;
            key.extend_from_slice(suffix);
            section.entry(group, &key, |out| write(slot, out));
        }
        if section.state().scope() == SnapshotScope::Changes {
            self.write_removed(section, suffix)?;
            self.write_expired(section, suffix)?;
        }
        Ok(())
    }

    /// Says which keys of earlier snapshots were removed and are not there again.
    fn write_removed(&self, section: &mut KeyedSection<'_>, suffix: &[u8]) -> Result<()> {
        let now = section.state().now();
        let gone: Vec<(&[u8], u64)> = self.published.gone().collect();
        for chunk in gone.chunks(CHUNK) {
            write_absent(self, section, suffix, chunk, |rows, slots| {
                let keys = self.encoder().encode_rows(rows)?;
                self.index.lookup(&keys, slots)?;
                let in_memory = slots.clone();
                self.find_on_disk(&keys, slots)?;
                for (slot, of) in slots.iter_mut().zip(in_memory) {
                    if self.is_left_out(of, now) {
                        *slot = NO_SLOT;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Says which keys of earlier snapshots have expired after they changed.
    fn write_expired(&self, section: &mut KeyedSection<'_>, suffix: &[u8]) -> Result<()> {
        if self.meta.ttl().is_none() {
            return Ok(());
        }
        let (groups, now) = (section.max_parallelism(), section.state().now());
        let mut key = Vec::new();
        for slot in self.meta.dirty().iter().filter(|slot| self.published.contains(*slot)) {
            if self.index.contains(slot) && self.is_left_out(slot, now) {
                key.clear();
                self.index.write_row(slot, &mut key);
                let group = self.group_of(slot, &key, groups)?;
                key.extend_from_slice(suffix);
                section.gone(group, &key);
            }
        }
        Ok(())
    }

    /// The key group of a slot, whose key is given as an encoded row.
    fn group_of(&self, slot: u32, key: &[u8], max_parallelism: u16) -> Result<u16> {
        let owners = self.owner_groups(&[key], max_parallelism)?;
        let owner = owners.and_then(|owners| owners.first().copied());
        Ok(owner.unwrap_or_else(|| self.index.key_group(slot, max_parallelism)))
    }

    /// The key groups of keys that are encoded rows, where their first columns decide.
    fn owner_groups(&self, rows: &[&[u8]], max_parallelism: u16) -> Result<Option<Vec<u16>>> {
        let Some(count) = self.owned_by else { return Ok(None) };
        let columns = self.encoder().codec().decode(rows)?;
        let encoder = KeyEncoder::new(&self.encoder().types()[..count]);
        let keys = encoder.encode(&columns[..count], rows.len())?;
        Ok(Some(keys.key_groups(max_parallelism).collect()))
    }

    /// Says that all keys of earlier snapshots are gone, but for those that are in `again`: these slots are
    /// used no more.
    pub fn write_all_gone(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        again: Option<&Self>,
    ) -> Result<()> {
        if section.state().scope() != SnapshotScope::Changes {
            return Ok(());
        }
        self.write_disk_gone(section, suffix, again)?;
        let slots: Vec<u32> = self.index.slots().filter(|s| self.published.contains(*s)).collect();
        let mut keys: Vec<Vec<u8>> = Vec::with_capacity(slots.len());
        for slot in &slots {
            let mut key = Vec::new();
            self.index.write_row(*slot, &mut key);
            keys.push(key);
        }
        let live = keys.iter().zip(&slots).map(|(key, slot)| (&key[..], self.index.hash(*slot)));
        let gone: Vec<(&[u8], u64)> = live.chain(self.published.gone()).collect();
        for chunk in gone.chunks(CHUNK) {
            self.write_gone_unless(section, suffix, chunk, again)?;
        }
        Ok(())
    }

    /// Says that keys are gone, each with its hash, but for those that are in `again`.
    pub(crate) fn write_gone_unless(
        &self,
        section: &mut KeyedSection<'_>,
        suffix: &[u8],
        keys: &[(&[u8], u64)],
        again: Option<&Self>,
    ) -> Result<()> {
        write_absent(self, section, suffix, keys, |rows, slots| match again {
            Some(again) => {
                let keys = self.encoder().encode_rows(rows)?;
                again.index.lookup(&keys, slots)?;
                again.find_on_disk(&keys, slots)
            }
            None => {
                slots.resize(rows.len(), NO_SLOT);
                Ok(())
            }
        })
    }

    /// Whether some snapshot may hold one of these keys.
    pub fn is_published(&self) -> bool {
        !self.published.is_empty() || (self.disk.is_active() && self.disk.tracks_changes())
    }

    /// Whether a slot's state is left out of snapshots because it has expired.
    fn is_left_out(&self, slot: u32, now: i64) -> bool {
        !self.keeps_expired && slot != NO_SLOT && self.meta.is_expired(slot, now)
    }

    /// Takes note that a snapshot was written. If the next of changes builds on it, nothing counts as
    /// changed any more; other snapshots leave everything as it is.
    pub fn handed_over(&mut self, state: &StateWriter) {
        if !state.is_handed_over() {
            return;
        }
        match state.scope() {
            SnapshotScope::Changes => self.published.add(self.meta.dirty()),
            SnapshotScope::Whole | SnapshotScope::Base => self.published.all(self.index.live()),
        }
        self.clear_dirty();
    }

    /// Adds the keys of a snapshot but for those that have expired at `now`; `read` takes each value for
    /// its slot. `now` is also the time of writing of keys from a snapshot that was written without a TTL.
    pub fn restore(
        &mut self,
        max_parallelism: u16,
        now: i64,
        mut entries: KeyedEntries<'_>,
        mut read: impl FnMut(u32, u16, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<()> {
        self.index.reserve(entries.remaining());
        let (mut chunk, mut slots, mut new) = (Vec::with_capacity(CHUNK), Vec::new(), Vec::new());
        let mut is_more = true;
        while is_more {
            chunk.clear();
            while chunk.len() < CHUNK {
                let Some(entry) = entries.next() else {
                    is_more = false;
                    break;
                };
                let mut entry = entry?;
                let written = entry.value.option(StateDecoder::i64)?.unwrap_or(now);
                let has_expired = self.meta.ttl().is_some_and(|ttl| ttl.is_expired(written, now));
                if !has_expired || self.keeps_expired {
                    chunk.push((entry, written));
                }
            }
            let rows: Vec<_> = chunk.iter().map(|(entry, _)| entry.key).collect();
            let keys = self.encoder().encode_rows(&rows)?;
            let groups = keys.key_groups(max_parallelism);
            let owners = self.owner_groups(&rows, max_parallelism)?;
            self.index.lookup_or_insert(&keys, &mut slots, &mut new)?;
            let mut new = new.iter().peekable();
            for (row, ((mut entry, written), group)) in chunk.drain(..).zip(groups).enumerate() {
                let owner = owners.as_ref().map_or(group, |owners| owners[row]);
                // Sections of a first version went by the whole key.
                if owner != entry.key_group && group != entry.key_group {
                    return Err(entry.value.damaged("key in the wrong key group"));
                }
                if new.next_if_eq(&&(row as u32)).is_none() {
                    return Err(entry.value.damaged("key written twice"));
                }
                let slot = slots[row];
                self.meta.written(slot, written);
                read(slot, entry.version, &mut entry.value)?;
                entry.value.finish()?;
            }
        }
        Ok(())
    }
}

/// Says of keys, each with its hash, that they are gone, if `find` gives no slot for them.
fn write_absent(
    of: &KeySlots,
    section: &mut KeyedSection<'_>,
    suffix: &[u8],
    keys: &[(&[u8], u64)],
    find: impl FnOnce(&[&[u8]], &mut Vec<u32>) -> Result<()>,
) -> Result<()> {
    let groups = section.max_parallelism();
    let rows: Vec<&[u8]> = keys.iter().map(|(key, _)| *key).collect();
    let mut slots = Vec::new();
    find(&rows, &mut slots)?;
    let mut gone = Vec::new();
    let owners = of.owner_groups(&rows, groups)?;
    for (at, (key, hash)) in keys.iter().enumerate().filter(|(at, _)| slots[*at] == NO_SLOT) {
        gone.clear();
        gone.extend_from_slice(key);
        gone.extend_from_slice(suffix);
        let own = || key_group(*hash, groups);
        section.gone(owners.as_ref().map_or_else(own, |owners| owners[at]), &gone);
    }
    Ok(())
}
