//! Snapshots: state as bytes, in named sections, keyed state by key group.
//!
//! The layout is in `docs/state-format.md`. A snapshot is a run of sections and nothing else, so snapshots
//! put one after the other are a snapshot.

mod decoder;
mod encoder;
mod parts;
mod reader;
mod writer;

pub use decoder::StateDecoder;
pub use encoder::StateEncoder;
pub use parts::snapshot_parts;
pub use reader::{Entry, KeyedEntries, StateReader};
pub use writer::{KeyedSection, StateWriter};

/// What a section starts with.
const MAGIC: [u8; 4] = *b"FLST";
/// The version of the container's layout.
const FORMAT_VERSION: u16 = 1;
/// A section of entries by key group, holding every key.
const KEYED: u8 = 0;
/// A section of one value that belongs to the task, not to a key.
const OPERATOR: u8 = 1;
/// Magic, format version, kind, reserved byte and header length.
const PREFIX: usize = 12;
