//! The keys of one state that are on disk.

use super::copies::Copies;
use super::evictor::Evictor;
use super::space::{SpillSpace, SpillStore};
use super::wakes::Wakes;
use crate::bits::BitSet;
use crate::error::Result;
use crate::keys::KeyIndex;
use crate::snapshot::{StateDecoder, StateEncoder};
use crate::ttl::Ttl;

/// What of a state is on disk, and which of its keys are next to go there.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// The entries, once there is one.
    pub(super) store: Option<SpillStore>,
    /// The keys whose entries changed since the last checkpoint.
    pub(super) changed: Option<SpillStore>,
    pub(super) copies: Copies,
    /// When keys on disk are wanted, whether a row asks for them or not.
    pub(super) wakes: Wakes,
    pub(super) evictor: Evictor,
    /// When entries expire whose keys do not.
    pub(super) ttl: Option<Ttl>,
    /// The key groups by which entries are ordered.
    pub(super) groups: u16,
    /// How many checkpoints were taken, on each of which the next builds.
    epoch: u64,
    /// Where the search for expired entries goes on.
    pub(super) cursor: Vec<u8>,
}

/// What precedes a value on disk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// The epoch in which it was written.
    pub epoch: u64,
    /// Whether some checkpoint held the key then.
    pub is_published: bool,
    /// Whether the value had changed since the last checkpoint.
    pub is_changed: bool,
    /// When the state was last written, where that is known.
    pub written: Option<i64>,
}

impl Head {
    pub fn write(self, out: &mut StateEncoder) {
        out.u64(self.epoch << 2 | u64::from(self.is_published) << 1 | u64::from(self.is_changed));
        out.option(self.written, StateEncoder::i64);
    }

    pub fn read(input: &mut StateDecoder<'_>) -> Result<Self> {
        let word = input.u64()?;
        Ok(Self {
            epoch: word >> 2,
            is_published: word & 2 != 0,
            is_changed: word & 1 != 0,
            written: input.option(StateDecoder::i64)?,
        })
    }
}

impl Disk {
    /// Whether keys may be on disk.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.store.is_some()
    }

    /// Makes a store, unless there is one.
    pub(super) fn open(&mut self, space: &SpillSpace, groups: u16) -> Result<()> {
        if self.store.is_none() {
            self.store = Some(space.store()?);
            self.groups = groups;
        }
        Ok(())
    }

    /// A slot loses its key.
    #[inline]
    pub fn removed(&mut self, slot: u32, index: &KeyIndex) {
        if self.copies.release(slot) {
            let mut key = Vec::new();
            index.raw(slot, self.groups, &mut key);
            self.copies.bury(key);
        }
    }

    /// A checkpoint holds all changes, of which these are the slots.
    pub fn handed_over(&mut self, changed: &BitSet) {
        self.copies.changed(changed);
        self.changed = None;
        self.epoch += 1;
    }

    /// Whether checkpoints build on each other, so that it matters what changed.
    pub fn tracks_changes(&self) -> bool {
        self.epoch > 0
    }

    /// The head of an entry that is about to be written.
    pub(super) fn head(&self, is_published: bool, is_changed: bool, written: Option<i64>) -> Head {
        let is_changed = is_changed && self.tracks_changes();
        Head { epoch: self.epoch, is_published, is_changed, written }
    }

    /// Whether a checkpoint holds the key of an entry: each holds all that was on disk.
    pub(super) fn is_published(&self, head: &Head) -> bool {
        head.is_published || head.epoch < self.epoch
    }

    /// Whether an entry changed since the last checkpoint.
    pub(super) fn is_changed(&self, head: &Head) -> bool {
        head.is_changed && head.epoch == self.epoch
    }

    /// Deletes the entries of keys that were removed since they came back.
    pub(super) fn bury(&mut self) -> Result<()> {
        let dead = self.copies.dead();
        if let (Some(store), false) = (&self.store, dead.is_empty()) {
            store.change(std::iter::empty(), dead.iter().map(Vec::as_slice))?;
        }
        self.copies.forget_dead();
        Ok(())
    }

    /// Whether an entry is that of a removed key.
    pub(super) fn is_dead(&self, key: &[u8]) -> bool {
        self.copies.dead().contains(key)
    }

    /// Whether a key has an entry that counts.
    pub(super) fn holds(&self, key: &[u8]) -> Result<bool> {
        match &self.store {
            Some(store) if !self.is_dead(key) => Ok(store.entry(key)?.is_some()),
            _ => Ok(false),
        }
    }

    /// The bytes this occupies in memory.
    pub fn memory(&self) -> usize {
        self.copies.memory() + self.evictor.memory() + self.cursor.capacity()
    }
}

/// Whether state last written at a time has expired, where that is known.
pub(super) fn has_expired(ttl: Option<Ttl>, head: &Head, now: i64) -> bool {
    match (ttl, head.written) {
        (Some(ttl), Some(written)) => ttl.is_expired(written, now),
        _ => false,
    }
}
