//! What the last snapshot holds, as far as the next one must say that it is gone.

use crate::bits::BitSet;
use crate::keys::KeyIndex;

/// The keys that the snapshots handed over so far hold, and those of them that were removed since.
///
/// Nothing is remembered before the first snapshot on which others build.
#[derive(Debug, Default)]
pub(crate) struct Published {
    /// The slots whose key some snapshot may hold.
    slots: BitSet,
    /// Keys that were removed, as encoded rows, one after the other.
    gone: Vec<u8>,
    /// Where each of them ends, and its hash.
    ends: Vec<(usize, u64)>,
}

impl Published {
    /// A slot loses its key.
    #[inline]
    pub fn remove(&mut self, slot: u32, index: &KeyIndex) {
        if self.slots.remove(slot) {
            index.write_row(slot, &mut self.gone);
            self.ends.push((self.gone.len(), index.hash(slot)));
        }
    }

    /// A slot's key leaves for the disk.
    pub fn move_out(&mut self, slot: u32) {
        self.slots.remove(slot);
    }

    /// A key that some snapshot may hold came back from disk.
    pub fn hold(&mut self, slot: u32) {
        self.slots.insert(slot);
    }

    /// A key on disk that some snapshot may hold is gone.
    pub fn removed(&mut self, row: &[u8], hash: u64) {
        self.gone.extend_from_slice(row);
        self.ends.push((self.gone.len(), hash));
    }

    /// Whether some snapshot may hold the slot's key.
    pub fn contains(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }

    /// Whether no snapshot holds any of the keys.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.ends.is_empty()
    }

    /// The keys that were removed, and their hashes.
    pub fn gone(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, hash))| (&self.gone[start..*end], *hash))
    }

    /// A snapshot holds all keys.
    pub fn all(&mut self, live: &BitSet) {
        self.slots = live.clone();
        self.forget_gone();
    }

    /// A snapshot holds these slots' keys too, and says what is gone.
    pub fn add(&mut self, changed: &BitSet) {
        changed.iter().for_each(|slot| {
            self.slots.insert(slot);
        });
        self.forget_gone();
    }

    fn forget_gone(&mut self) {
        self.gone = Vec::new();
        self.ends = Vec::new();
    }

    /// The bytes this occupies.
    pub fn memory(&self) -> usize {
        let ends = self.ends.capacity() * size_of::<(usize, u64)>();
        self.slots.memory() + self.gone.capacity() + ends
    }
}
