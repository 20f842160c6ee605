//! Snapshots: the state of an operator in one task, in named sections, keyed state by key group.
//!
//! The layout is in `docs/state-format.md`. A snapshot is whole, or it holds what changed since the
//! one before; put behind that one ([`Snapshot::followed_by`]) it is whole again. What is read later
//! takes the place of what is read before.

mod block;
mod chain;
mod decoder;
mod encoder;
mod entries;
mod reader;
mod scratch;
mod version1;
mod writer;

pub use block::Block;
pub use chain::{Group, Section, SectionKind, Snapshot, merge_from};
pub use decoder::StateDecoder;
pub use encoder::StateEncoder;
pub use entries::{Entry, KeyedEntries};
pub use reader::StateReader;
pub use writer::{KeyedSection, SnapshotScope, StateWriter};
