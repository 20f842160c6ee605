//! An open-addressing table from hashes to slots.

/// No slot: what an empty bucket holds, and what a lookup gives for an unknown key.
pub const NO_SLOT: u32 = u32::MAX;

const SMALLEST: usize = 16;

/// Slots by the hash of their key; the keys lie elsewhere.
///
/// Probing is linear over buckets of eight bytes, so that most probes touch one cache line. A
/// bucket keeps the hash's lower 32 bits: they place it, they tell most other keys apart without a look
/// at the key, and the table grows without reading keys. Removal shifts back what follows; there are no tombstones.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlotTable {
    /// A power of two of them, or none.
    buckets: Vec<Bucket>,
    len: usize,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tag: u32,
    slot: u32,
}

const EMPTY: Bucket = Bucket { tag: 0, slot: NO_SLOT };

impl SlotTable {
    /// The slot among those of this hash that is the key's.
    #[inline]
    pub fn find(&self, hash: u64, mut is_key: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = hash as u32;
        let mask = self.buckets.len().wrapping_sub(1);
        let mut at = tag as usize & mask;
        while let Some(bucket) = self.buckets.get(at) {
            if bucket.slot == NO_SLOT {
                return None;
            }
            if bucket.tag == tag && is_key(bucket.slot) {
                return Some(bucket.slot);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// The key's slot, which is `new` when the key was not there before.
    #[inline]
    pub fn find_or_insert(
        &mut self,
        hash: u64,
        new: u32,
        mut is_key: impl FnMut(u32) -> bool,
    ) -> u32 {
        if self.buckets.is_empty() {
            self.buckets = vec![EMPTY; SMALLEST];
        }
        let tag = hash as u32;
        let mask = self.buckets.len() - 1;
        let mut at = tag as usize & mask;
        loop {
            let bucket = &mut self.buckets[at];
            if bucket.slot == NO_SLOT {
                *bucket = Bucket { tag, slot: new };
                self.len += 1;
                if self.len * 5 > self.buckets.len() * 4 {
                    self.resize(self.buckets.len() * 2);
                }
                return new;
            }
            if bucket.tag == tag && is_key(bucket.slot) {
                return bucket.slot;
            }
            at = (at + 1) & mask;
        }
    }

    /// Makes room for so many more slots, so that the table need not grow for them.
    pub fn reserve(&mut self, slots: usize) {
        let wanted = (self.len.saturating_add(slots)).saturating_mul(5) / 4 + 1;
        let size = wanted.next_power_of_two().max(SMALLEST);
        if size > self.buckets.len() {
            self.resize(size);
        }
    }

    /// Takes out a slot whose key has this hash.
    pub fn remove(&mut self, hash: u64, slot: u32) {
        if self.buckets.is_empty() {
            return;
        }
        let mask = self.buckets.len() - 1;
        let mut hole = hash as u32 as usize & mask;
        while self.buckets[hole].slot != slot {
            if self.buckets[hole].slot == NO_SLOT {
                return;
            }
            hole = (hole + 1) & mask;
        }
        let mut next = (hole + 1) & mask;
        while self.buckets[next].slot != NO_SLOT {
            let home = self.buckets[next].tag as usize & mask;
            // It may move back unless its home lies between the hole and itself.
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.buckets[hole] = self.buckets[next];
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.buckets[hole] = EMPTY;
        self.len -= 1;
        if self.buckets.len() > SMALLEST && self.len * 8 < self.buckets.len() {
            self.resize(self.buckets.len() / 2);
        }
    }

    /// The bytes the table occupies.
    pub fn memory(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    #[cold]
    fn resize(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.buckets, vec![EMPTY; size]);
        let mask = size - 1;
        for bucket in old.into_iter().filter(|bucket| bucket.slot != NO_SLOT) {
            let mut at = bucket.tag as usize & mask;
            while self.buckets[at].slot != NO_SLOT {
                at = (at + 1) & mask;
            }
            self.buckets[at] = bucket;
        }
    }
}
