//! State beyond the memory budget: cold keys move to disk and come back when a row asks for them.
//!
//! A [`SpillSpace`] is a job's place on disk, scratch that is gone when the job ends. Each keyed state that
//! spills has [`SpilledKeys`] beside its [`KeySlots`](crate::KeySlots): before a batch is worked on, the
//! keys it needs are [loaded](SpilledKeys::load), so that all else of an operator sees memory only; after
//! it, when memory is short, cold keys are [written](SpilledKeys::write) and leave.
//!
//! A key that came back keeps its entry on disk, so that it need not be written again unless it changes. What
//! is in memory counts; entries on disk of keys in memory are passed over.

mod copies;
mod evictor;
mod file;
mod keys;
mod space;

pub use file::{SpillFile, SpillReader};
pub use keys::{SpilledKeys, Times};
pub use space::SpillSpace;

pub(crate) use copies::Copies;
