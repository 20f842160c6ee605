//! What keys in memory have on disk.

use crate::bits::BitSet;

/// Which slots have an entry on disk, and the keys whose entry must go.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// Slots whose key has an entry on disk.
    held: BitSet,
    /// Of those, the ones whose entry is not what is in memory.
    outdated: BitSet,
    /// Slots that changed after the last checkpoint but not since they came back.
    pending: BitSet,
    /// Keys that were removed, though they have an entry.
    dead: Vec<Vec<u8>>,
    /// The key groups that keys on disk are told apart by; 0 as long as nothing is on disk.
    pub groups: u16,
}

impl Copies {
    /// A slot's key came back from disk; whether it had changed after the last checkpoint.
    pub fn hold(&mut self, slot: u32, changed: bool) {
        self.held.insert(slot);
        self.outdated.remove(slot);
        if changed {
            self.pending.insert(slot);
        }
    }

    /// Whether the slot had changed after the last checkpoint when it came back.
    pub fn is_pending(&self, slot: u32) -> bool {
        self.pending.contains(slot)
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
            self.pending.remove(slot);
            self.held.remove(slot)
        }
    }

    /// Notes that a key's entry must go.
    pub fn bury(&mut self, key: Vec<u8>) {
        self.dead.push(key);
    }

    /// The keys whose entry must go; forgets them.
    pub fn take_dead(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.dead)
    }

    /// Notes the slots that changed, before a checkpoint clears the marks of change.
    pub fn changed(&mut self, slots: &BitSet) {
        self.pending.clear();
        if !self.held.is_empty() {
            let changed: Vec<u32> = slots.iter().filter(|slot| self.held.contains(*slot)).collect();
            changed.into_iter().for_each(|slot| {
                self.outdated.insert(slot);
            });
        }
    }

    /// Forgets all slots, whose keys have left memory.
    pub fn clear(&mut self) {
        (self.held, self.outdated, self.pending) = Default::default();
    }

    /// The bytes this occupies.
    pub fn memory(&self) -> usize {
        let dead: usize = self.dead.iter().map(|key| key.capacity() + size_of::<Vec<u8>>()).sum();
        self.held.memory() + self.outdated.memory() + self.pending.memory() + dead
    }
}
