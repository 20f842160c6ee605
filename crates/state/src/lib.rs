//! State of operators: keys and what is kept under them, timers, rows, snapshots, memory.
//!
//! Every stateful operator keeps its state here, so that TTL, the memory budget, snapshots and
//! rescaling are written once. A batch's keys are encoded and hashed once, by [`KeyEncoder`];
//! [`KeySlots`] turn them into small numbers, slots, under which an operator keeps its values in vectors of
//! its own, or [`KeyedState`] keeps one value a key. This crate reads no clock: time is handed in. Snapshots are
//! blocks of bytes; the only I/O is that of state which has no room in memory, see `docs/memory.md`.
//!
//! ```
//! use std::sync::Arc;
//! use arrow::array::{ArrayRef, Int64Array};
//! use flott_state::{KeyGroupRange, KeySlots, StateReader, StateWriter};
//! use flott_types::DataType;
//!
//! # fn main() -> flott_state::Result<()> {
//! // COUNT(*) GROUP BY a BIGINT.
//! let mut groups = KeySlots::new(&[DataType::bigint()], None);
//! let mut counts: Vec<i64> = Vec::new();
//! let (mut slots, mut fresh) = (Vec::new(), Vec::new());
//!
//! let column: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 7]));
//! let keys = groups.encoder().encode(&[column], 3)?;
//! groups.write(&keys, 0, &mut slots, &mut fresh)?;
//! counts.resize(groups.index().slot_bound() as usize, 0);
//! fresh.iter().for_each(|row| counts[slots[*row as usize] as usize] = 0);
//! slots.iter().for_each(|slot| counts[*slot as usize] += 1);
//! assert_eq!(counts, [2, 1]);
//!
//! // Snapshot and restore, each key group by itself.
//! let mut writer = StateWriter::new(128);
//! let section = writer.keyed("groups", 1, &groups.schema("COUNT(*)"));
//! groups.snapshot(section, |slot, out| out.i64(counts[slot as usize]))?;
//! let snapshot = writer.finish();
//!
//! let mut reader = StateReader::new(128, KeyGroupRange::all(128));
//! reader.add(&snapshot)?;
//! let mut restored = KeySlots::new(&[DataType::bigint()], None);
//! let entries = reader.keyed("groups", 1, &restored.schema("COUNT(*)"))?;
//! let mut counts: Vec<i64> = Vec::new();
//! restored.restore(128, 0, entries, |slot, _version, value| {
//!     counts.resize(slot as usize + 1, 0);
//!     counts[slot as usize] = value.i64()?;
//!     Ok(())
//! })?;
//! assert_eq!(counts.iter().sum::<i64>(), 3);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod bits;
mod budget;
mod counted;
mod error;
mod keyed;
mod keys;
mod lists;
mod ordered;
mod published;
mod row_store;
mod rows;
mod size;
mod slab;
mod slot_snapshot;
mod slots;
mod snapshot;
mod spill;
mod timers;
mod ttl;

pub use bits::BitSet;
pub use budget::{MemoryAccount, MemoryBudget};
pub use counted::{CountChange, CountedSets};
pub use error::{Result, StateError};
pub use keyed::{KeyedState, ValueMut};
pub use keys::{
    DEFAULT_MAX_PARALLELISM, KeyBatch, KeyEncoder, KeyGroupRange, KeyIndex, NO_SLOT, key_group,
    key_group_owner,
};
pub use lists::SlotLists;
pub use ordered::{OrderedMultiset, SortColumn, SortKeyEncoder};
pub use row_store::{NO_ROW, RowStore};
pub use rows::{EncodedRows, RowCodec};
pub use size::StateSize;
pub use slots::{KeySlots, SlotMeta};
pub use snapshot::{
    Block, Entry, Group, KeyedEntries, KeyedSection, Section, SectionKind, Snapshot, SnapshotScope,
    StateDecoder, StateEncoder, StateReader, StateWriter, merge_from,
};
pub use spill::{SpillFile, SpillReader, SpillSpace};
pub use timers::TimerQueue;
pub use ttl::Ttl;
