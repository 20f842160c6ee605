//! The keys of one state that are on disk.

use crate::error::Result;
use crate::keys::{KeyBatch, NO_SLOT};
use crate::slots::KeySlots;
use crate::snapshot::{KeyedSection, StateDecoder, StateEncoder};
use crate::ttl::Ttl;

use super::evictor::Evictor;
use super::space::{LONGEST_KEY, SpillSpace, SpillStore};

/// Entries read or written together.
const CHUNK: usize = 4096;

/// What of a state is on disk, and which of its keys are next to go there.
///
/// An entry is the checkpoint in whose time it last changed, if it was written changed, the time of its last
/// write, and the value as a snapshot has it.
#[derive(Debug, Default)]
pub struct SpilledKeys {
    store: Option<SpillStore>,
    evictor: Evictor,
    /// Where the search for expired entries goes on.
    cursor: Vec<u8>,
    found: Vec<u32>,
    raw: RawKeys,
}

/// Keys as bytes, one after the other.
#[derive(Debug, Default)]
struct RawKeys {
    bytes: Vec<u8>,
    /// For each key where it ends, and the row it is of.
    ends: Vec<(usize, u32)>,
}

/// Whether the value of an entry has the time of its last write before it, in the snapshot too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// It has: [`KeySlots::snapshot`] writes the time of each key.
    Kept,
    /// It has none: the operator writes its snapshot itself.
    Dropped,
}

impl SpilledKeys {
    /// Nothing on disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether keys may be on disk, so that a batch's keys must be [loaded](Self::load).
    #[inline]
    pub fn is_active(&self) -> bool {
        self.store.is_some()
    }

    /// The slots whose keys are to leave a state that holds `held` bytes and may hold `room`, those aside that
    /// `keep` names. They must be [written](Self::write) and [forgotten](Self::forget).
    pub fn victims(
        &mut self,
        slots: &KeySlots,
        held: usize,
        room: usize,
        space: &SpillSpace,
        keep: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        if slots.encoder().types().is_empty() {
            return Vec::new();
        }
        let mut victims = match space.keys() {
            Some(most) => self.evictor.down_to(slots, most, 0, keep),
            None => self.evictor.victims(slots, held, room, keep),
        };
        victims.retain(|slot| slots.index().key_length(*slot) <= LONGEST_KEY);
        victims
    }

    /// Of some slots those whose entry on disk is not what is in memory.
    pub fn changed(&self, slots: &KeySlots, of: &[u32]) -> Vec<u32> {
        of.iter().copied().filter(|slot| !slots.is_on_disk(*slot)).collect()
    }

    /// Writes the keys of slots to disk, and by `write` the value of each. Their values may then be dropped and
    /// the keys [forgotten](Self::forget).
    pub fn write(
        &mut self,
        slots: &mut KeySlots,
        of: &[u32],
        space: &SpillSpace,
        max_parallelism: u16,
        mut write: impl FnMut(u32, &mut StateEncoder),
    ) -> Result<()> {
        self.open(slots, space, max_parallelism)?;
        let Some(store) = &self.store else { return Ok(()) };
        let mut keys = RawKeys::default();
        let mut values = RawKeys::default();
        let mut value = StateEncoder::new();
        for chunk in of.chunks(CHUNK) {
            keys.clear();
            values.clear();
            for slot in chunk {
                slots.index().raw(*slot, max_parallelism, &mut keys.bytes);
                keys.end(*slot);
                value.clear();
                value.u64(slots.changed_since(*slot));
                value.option(slots.meta().last_write(*slot), StateEncoder::i64);
                write(*slot, &mut value);
                values.bytes.extend_from_slice(value.written());
                values.end(*slot);
            }
            store.change(keys.iter().zip(values.iter()), std::iter::empty())?;
        }
        Ok(())
    }

    /// Forgets the keys of slots whose entries on disk are current, as [`Self::write`] made them.
    pub fn forget(&mut self, slots: &mut KeySlots, of: &[u32]) {
        of.iter().for_each(|slot| slots.evict(*slot));
    }

    /// Notes that rows met the keys of these slots, which so stay longer.
    #[inline]
    pub fn meet(&mut self, slots: &[u32]) {
        if self.is_active() {
            self.evictor.meet(slots);
        }
    }

    /// Brings the keys of a batch back that are on disk; `read` takes the value of each for its slot. State
    /// that expired by `ttl` at `now` is deleted instead.
    pub fn load(
        &mut self,
        slots: &mut KeySlots,
        keys: &KeyBatch,
        ttl: Option<Ttl>,
        now: i64,
        mut read: impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<()> {
        self.bury(slots)?;
        let Some(store) = &self.store else { return Ok(()) };
        slots.index().lookup(keys, &mut self.found)?;
        self.raw.clear();
        for (row, _) in (0u32..).zip(&self.found).filter(|(_, slot)| **slot == NO_SLOT) {
            keys.raw(row as usize, slots.copies.groups, &mut self.raw.bytes);
            self.raw.end(row);
        }
        let mut expired: Vec<Vec<u8>> = Vec::new();
        for (key, row) in self.raw.distinct() {
            let Some(entry) = (key.len() <= LONGEST_KEY).then(|| store.entry(key)).transpose()?
            else {
                continue;
            };
            let Some(entry) = entry else { continue };
            let mut input = StateDecoder::new("on disk", &entry);
            let changed = input.u64()?;
            let written = input.option(StateDecoder::i64)?;
            if has_expired(ttl, written, now) {
                expired.push(key.to_vec());
                continue;
            }
            let slot = slots.bring_back(keys, row as usize, written, changed)?;
            read(slot, &mut input)?;
            input.finish()?;
        }
        store.change(std::iter::empty(), expired.iter().map(Vec::as_slice))
    }

    /// Brings up to `limit` keys back, in the order of their key groups, going on after `cursor`, which is
    /// empty at first; keys in memory are passed over. Whether there may be more.
    pub fn load_next(
        &mut self,
        slots: &mut KeySlots,
        cursor: &mut Vec<u8>,
        limit: usize,
        mut read: impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<bool> {
        self.bury(slots)?;
        let Some(entries) = self.next(slots, cursor, limit)? else { return Ok(false) };
        for (row, (_, value)) in entries.unknown() {
            let mut input = StateDecoder::new("on disk", value);
            let changed = input.u64()?;
            let written = input.option(StateDecoder::i64)?;
            let slot = slots.bring_back(&entries.keys, row, written, changed)?;
            read(slot, &mut input)?;
            input.finish()?;
        }
        Ok(entries.more)
    }

    /// Writes the entries of all keys that are on disk and not in memory into a section of a snapshot, to
    /// which the keys in memory are still to be added.
    pub fn snapshot(
        &mut self,
        slots: &mut KeySlots,
        section: &mut KeyedSection<'_>,
        times: Times,
    ) -> Result<()> {
        self.bury(slots)?;
        let mut cursor = Vec::new();
        while let Some(entries) = self.next(slots, &mut cursor, CHUNK)? {
            let rows = slots.encoder().codec_rows(&entries.keys)?;
            let groups: Vec<u16> = entries.keys.key_groups(section.max_parallelism()).collect();
            for (row, (_, value)) in entries.unknown() {
                let mut input = StateDecoder::new("on disk", value);
                input.u64()?;
                if times == Times::Dropped {
                    input.option(StateDecoder::i64)?;
                }
                let rest = &value[value.len() - input.remaining()..];
                section.entry(groups[row], rows.row(row), |out| out.raw(rest));
            }
            if !entries.more {
                break;
            }
        }
        Ok(())
    }

    /// Looks at up to `limit` entries, going on where the last call ended, and deletes those that expired by
    /// `ttl` at `now`.
    pub fn sweep(
        &mut self,
        slots: &KeySlots,
        ttl: Option<Ttl>,
        now: i64,
        limit: usize,
    ) -> Result<()> {
        if ttl.is_none() || !self.is_active() {
            return Ok(());
        }
        let mut cursor = std::mem::take(&mut self.cursor);
        if let Some(entries) = self.next(slots, &mut cursor, limit)? {
            let mut expired = Vec::new();
            for (_, (key, value)) in entries.unknown() {
                let mut input = StateDecoder::new("on disk", value);
                input.u64()?;
                if has_expired(ttl, input.option(StateDecoder::i64)?, now) {
                    expired.push(key);
                }
            }
            if !entries.more {
                cursor.clear();
            }
            if let Some(store) = &self.store {
                store.change(std::iter::empty(), expired.into_iter())?;
            }
        }
        self.cursor = cursor;
        Ok(())
    }

    /// The bytes this occupies in memory.
    pub fn memory(&self) -> usize {
        let raw = self.raw.bytes.capacity() + self.raw.ends.capacity() * 16;
        self.evictor.memory() + self.found.capacity() * 4 + raw + self.cursor.capacity()
    }

    fn open(&mut self, slots: &mut KeySlots, space: &SpillSpace, groups: u16) -> Result<()> {
        if self.store.is_none() {
            self.store = Some(space.store()?);
            slots.copies.groups = groups;
        }
        self.bury(slots)
    }

    /// Deletes the entries of keys that were removed since they came back.
    fn bury(&self, slots: &mut KeySlots) -> Result<()> {
        let dead = slots.copies.take_dead();
        match &self.store {
            Some(store) if !dead.is_empty() => {
                store.change(std::iter::empty(), dead.iter().map(Vec::as_slice))
            }
            _ => Ok(()),
        }
    }

    /// The next entries after `cursor`, which moves on.
    fn next(
        &self,
        slots: &KeySlots,
        cursor: &mut Vec<u8>,
        limit: usize,
    ) -> Result<Option<Entries>> {
        let Some(store) = &self.store else { return Ok(None) };
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let more =
            store.read(cursor, limit, |key, value| pairs.push((key.to_vec(), value.to_vec())))?;
        let Some((last, _)) = pairs.last() else { return Ok(None) };
        // The least key above the last one.
        cursor.clone_from(last);
        cursor.push(0);
        let keys: Vec<&[u8]> = pairs.iter().map(|(key, _)| key.as_slice()).collect();
        let keys = slots.encoder().from_raw(&keys)?;
        let mut found = Vec::new();
        slots.index().lookup(&keys, &mut found)?;
        Ok(Some(Entries { pairs, keys, found, more }))
    }
}

/// Entries from disk.
struct Entries {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    keys: KeyBatch,
    /// The slot of each key that is in memory.
    found: Vec<u32>,
    more: bool,
}

impl Entries {
    /// Those whose key is not in memory: the row of each in `keys`, its key and its value.
    fn unknown(&self) -> impl Iterator<Item = (usize, (&[u8], &[u8]))> {
        let entries = self.pairs.iter().zip(&self.found).enumerate();
        entries
            .filter(|(_, (_, slot))| **slot == NO_SLOT)
            .map(|(row, ((key, value), _))| (row, (key.as_slice(), value.as_slice())))
    }
}

impl RawKeys {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Ends a key.
    fn end(&mut self, row: u32) {
        self.ends.push((self.bytes.len(), row));
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, _))| &self.bytes[start..*end])
    }

    /// The keys in order, each once, with a row that has it.
    fn distinct(&self) -> Vec<(&[u8], u32)> {
        let rows = self.ends.iter().map(|(_, row)| *row);
        let mut keys: Vec<(&[u8], u32)> = self.iter().zip(rows).collect();
        keys.sort_unstable();
        keys.dedup_by_key(|(key, _)| *key);
        keys
    }
}

fn has_expired(ttl: Option<Ttl>, written: Option<i64>, now: i64) -> bool {
    match (ttl, written) {
        (Some(ttl), Some(written)) => ttl.is_expired(written, now),
        _ => false,
    }
}
