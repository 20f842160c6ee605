//! What keys in memory have on disk.

use std::collections::HashSet;

use crate::bits::BitSet;

/// Which slots have an entry on disk, and the keys whose entry must go.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Slots whose key has an entry on disk.
    held: BitSet,
    /// Of those, the ones whose entry is not what is in memory.
    outdated: BitSet,
    /// Keys that were removed, though they have an entry.
    dead: HashSet<Vec<u8>>,
}

impl Copies {
    /// A slot's key came back from disk.
    pub fn hold(&mut self, slot: u32) {
        self.held.insert(slot);
        self.outdated.remove(slot);
    }

    /// Whether the slot's entry on disk is what is in memory, but for changes since the last checkpoint.
    pub fn is_current(&self, slot: u32) -> bool {
        self.held.contains(slot) && !self.outdated.contains(slot)
    }

    /// A slot holds its key no longer; whether that has an entry on disk.
    #[inline]
    pub fn release(&mut self, slot: u32) -> bool {
        !self.held.is_empty() && {
            self.outdated.remove(slot);
            self.held.remove(slot)
        }
    }

    /// Notes that a key's entry must go.
    pub fn bury(&mut self, key: Vec<u8>) {
        self.dead.insert(key);
    }

    /// The keys whose entry must go.
    pub fn dead(&self) -> &HashSet<Vec<u8>> {
        &self.dead
    }

    /// Their entries are gone.
    pub fn forget_dead(&mut self) {
        self.dead.clear();
    }

    /// Notes the slots that changed, before the marks of change are cleared.
    pub fn changed(&mut self, slots: &BitSet) {
        if self.held.is_empty() {
            return;
        }
        for slot in slots.iter().filter(|slot| self.held.contains(*slot)) {
            self.outdated.insert(slot);
        }
    }

    /// Forgets all slots, whose keys have left memory.
    pub fn clear(&mut self) {
        (self.held, self.outdated) = Default::default();
    }

    /// The bytes this occupies.
    pub fn memory(&self) -> usize {
        let dead: usize = self.dead.iter().map(|key| key.capacity() + size_of::<Vec<u8>>()).sum();
        self.held.memory() + self.outdated.memory() + dead
    }
}
