//! Which keys leave memory, and when.

use crate::bits::BitSet;
use crate::keys::KeyIndex;

/// Of the keys that may stay, so many leave at once beyond what is needed: one part in this.
const PART: usize = 16;
/// Room that is kept for the keys of the next batch.
const NEXT_BATCH: usize = 8192;

/// Keeps the keys of a state to as many as its memory allows.
///
/// Vectors grow by doubling, so a state may only grow while twice its size fits. From then on the number
/// of keys is fixed: new ones take the places of cold ones, which a clock hand finds; a key that was met since
/// the hand last came by gets a second chance. Memory that grows nevertheless, or a share that shrinks,
/// makes all keys leave at once, which gives everything back; after that fewer are kept.
#[derive(Debug, Default)]
pub(super) struct Evictor {
    /// How many keys may stay, once that is fixed.
    most: Option<usize>,
    /// The room for which it was.
    room: usize,
    hand: u32,
    /// Slots that were met since the hand came by.
    met: BitSet,
}

impl Evictor {
    /// Notes that rows met the keys of these slots.
    pub fn meet(&mut self, slots: &[u32]) {
        slots.iter().filter(|slot| **slot != u32::MAX).for_each(|slot| {
            self.met.insert(*slot);
        });
    }

    /// The slots that leave: of a state that holds `held` bytes and may hold `room`. Those that `keep` names
    /// stay in any case.
    pub fn victims(
        &mut self,
        index: &KeyIndex,
        held: usize,
        room: usize,
        keep: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        if held > room {
            let share = index.len() as u128 * room as u128 * 3 / 4 / held.max(1) as u128;
            (self.most, self.room) = (Some(share as usize), room);
            self.met.clear();
            return index.slots().filter(|slot| !keep(*slot)).collect();
        }
        if room / 2 > self.room {
            self.most = None;
        }
        if self.most.is_none() && held > room / 2 {
            (self.most, self.room) = (Some(index.capacity()), room);
        }
        match self.most {
            Some(most) => self.down_to(index, most - NEXT_BATCH.min(most / 2), most / PART, keep),
            None => Vec::new(),
        }
    }

    /// The slots that leave so that `most` keys stay, and `beyond` more if any has to leave.
    pub fn down_to(
        &mut self,
        index: &KeyIndex,
        most: usize,
        beyond: usize,
        keep: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let bound = index.slot_bound();
        if index.len() <= most {
            return Vec::new();
        }
        let count = (index.len() - most + beyond).min(index.len());
        let mut victims = Vec::with_capacity(count);
        // After two rounds nobody has a chance left.
        for _ in 0..u64::from(bound) * 2 {
            if victims.len() == count {
                break;
            }
            self.hand = if self.hand < bound { self.hand } else { 0 };
            let slot = self.hand;
            self.hand += 1;
            if index.contains(slot) && !self.met.remove(slot) && !keep(slot) {
                victims.push(slot);
            }
        }
        // The second round may have come by the first victims again.
        victims.sort_unstable();
        victims.dedup();
        victims
    }

    /// The bytes this occupies.
    pub fn memory(&self) -> usize {
        self.met.memory()
    }
}
