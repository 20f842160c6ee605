//! Keys on disk to which something is to happen at a time.

use super::disk::{Head, has_expired};
use super::raw_keys::RawKeys;
use super::space::{LONGEST_KEY, SpillSpace, SpillStore};
use crate::error::Result;
use crate::keys::NO_SLOT;
use crate::slots::KeySlots;
use crate::snapshot::StateDecoder;

/// Wakes written together.
const CHUNK: usize = 4096;
/// The bytes of the time before the key.
const TIME: usize = size_of::<i64>();

/// For each time the keys that are wanted then.
///
/// A wake stays when its key comes back before its time: then it finds the key in memory, or with another time, and
/// does no harm.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    store: Option<SpillStore>,
    /// No wake is earlier than this.
    first: Option<i64>,
}

impl Wakes {
    fn add(&mut self, wakes: &RawKeys, first: i64, space: &SpillSpace) -> Result<()> {
        if self.store.is_none() {
            self.store = Some(space.store()?);
        }
        if let Some(store) = &self.store {
            store.change(wakes.iter().map(|wake| (wake, &[][..])), std::iter::empty())?;
        }
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        Ok(())
    }

    /// Takes the first `limit` wakes.
    fn take(&mut self, limit: usize) -> Result<Vec<Vec<u8>>> {
        let (Some(store), Some(first)) = (&self.store, self.first) else { return Ok(Vec::new()) };
        let mut wakes = Vec::with_capacity(limit + 1);
        // One more than asked for tells when the next is due. Nothing before the first is looked at again: what
        // was deleted there may still be on disk.
        store.read(&time_bytes(first), limit + 1, |wake, _| wakes.push(wake.to_vec()))?;
        self.first = wakes.get(limit).map(|wake| time_of(wake));
        wakes.truncate(limit);
        store.change(std::iter::empty(), wakes.iter().map(Vec::as_slice))?;
        Ok(wakes)
    }
}

/// A time as bytes that are in its order.
fn time_bytes(time: i64) -> [u8; TIME] {
    ((time as u64) ^ (1 << 63)).to_be_bytes()
}

fn time_of(wake: &[u8]) -> i64 {
    let time = wake.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    (time ^ (1 << 63)) as i64
}

impl KeySlots {
    /// Notes of slots whose keys leave when each is wanted again, whether a row asks for it or not. Then
    /// [`Self::load_due`] brings it back.
    pub fn wake_at(
        &mut self,
        dues: &[(u32, i64)],
        space: &SpillSpace,
        max_parallelism: u16,
    ) -> Result<()> {
        let mut wakes = RawKeys::default();
        for chunk in dues.chunks(CHUNK) {
            wakes.clear();
            for (slot, time) in chunk {
                wakes.push(*slot, |out| {
                    out.extend_from_slice(&time_bytes(*time));
                    self.index.raw(*slot, max_parallelism, out);
                });
            }
            if let Some(first) = chunk.iter().map(|(_, time)| *time).min() {
                self.disk.wakes.add(&wakes, first, space)?;
            }
        }
        Ok(())
    }

    /// A time before which no key on disk is wanted.
    #[inline]
    pub fn next_due(&self) -> Option<i64> {
        self.disk.wakes.first
    }

    /// Brings back keys on disk that are wanted up to `until`, in the order of their times; `read` takes the value of
    /// each for its slot. Gives the time up to which nothing is on disk that is due, but for more keys of just
    /// that time: `until` when all are in memory.
    ///
    /// Not all come back at once, so that those that need not stay can leave in between:
    /// [`Self::next_due`] tells whether there are more. Some that are due soon come along.
    pub fn load_due(
        &mut self,
        until: i64,
        now: i64,
        space: &SpillSpace,
        mut read: impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<i64> {
        self.disk.bury()?;
        while self.next_due().is_some_and(|due| due <= until) {
            let wakes = self.disk.wakes.take(space.keys_at_once())?;
            let loaded = self.load_raw(&wakes, now, &mut read)?;
            // Wakes of keys that are not on disk any more bring nothing back.
            if let Some(last) = wakes.last().filter(|_| loaded > 0)
                && self.next_due().is_some_and(|due| due <= until)
            {
                return Ok(time_of(last));
            }
        }
        Ok(until)
    }

    /// Brings the keys of wakes back that are on disk; how many.
    fn load_raw(
        &mut self,
        wakes: &[Vec<u8>],
        now: i64,
        read: &mut impl FnMut(u32, &mut StateDecoder<'_>) -> Result<()>,
    ) -> Result<usize> {
        let Some(store) = &self.disk.store else { return Ok(0) };
        let mut raw: Vec<&[u8]> = wakes.iter().filter_map(|wake| wake.get(TIME..)).collect();
        raw.retain(|key| key.len() <= LONGEST_KEY);
        let keys = self.encoder().decode_raw(&raw)?;
        let mut found = Vec::new();
        self.index.lookup(&keys, &mut found)?;
        let mut returned = Vec::new();
        for (row, key) in raw.iter().enumerate().filter(|(row, _)| found[*row] == NO_SLOT) {
            if let Some(entry) = store.entry(key)? {
                returned.push((*key, row, entry));
            }
        }
        let ttl = self.ttl_on_disk();
        let mut loaded = 0;
        let mut expired = Vec::new();
        for (key, row, entry) in returned {
            // A key may have several wakes.
            if self.index.lookup_one(&keys, row).is_some() {
                continue;
            }
            let mut input = StateDecoder::new("on disk", &entry);
            let head = Head::read(&mut input)?;
            if has_expired(ttl, &head, now) {
                expired.push((key, head));
                continue;
            }
            loaded += 1;
            let slot = self.bring_back(&keys, row, &head)?;
            self.disk.evictor.meet(&[slot]);
            read(slot, &mut input)?;
            input.finish()?;
        }
        self.expire(&expired)?;
        Ok(loaded)
    }
}
