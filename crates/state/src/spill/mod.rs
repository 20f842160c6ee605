//! State beyond the memory budget: cold keys move to disk and come back when a row asks for them.
//!
//! A [`SpillSpace`] is a job's place on disk, scratch that is gone when the job ends. Every
//! [`KeySlots`](crate::KeySlots) can use it: before a batch is worked on, the keys it needs are
//! [loaded](crate::KeySlots::load), so that all else of an operator sees memory only; after it, when memory is short,
//! cold keys are [written](crate::KeySlots::write_to_disk) and [forgotten](crate::KeySlots::forget).
//!
//! An entry is the key group and the key in the form it has in memory, and under it a head, which says what checkpoints
//! hold of it, and the value as a snapshot has it. A key that came back keeps its entry, so that it need not be written
//! again unless it changes. What is in memory counts; entries of keys in memory are passed over.
//!
//! A key that something is to happen to at a time leaves a wake behind: the time and the key, in a store of their own
//! that is ordered by time. Memory holds only the first time, so that timers take none for keys on disk.

mod copies;
mod disk;
mod evictor;
mod file;
mod folder;
mod moves;
mod raw_keys;
mod space;
mod wakes;
mod walk;

pub use file::{SpillFile, SpillReader};
pub use space::SpillSpace;

pub(crate) use disk::Disk;
pub(crate) use walk::Times;
