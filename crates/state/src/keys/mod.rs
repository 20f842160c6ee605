//! Keys: encoding a batch's key columns, hashing them, and numbering the distinct ones.
//!
//! [`KeyEncoder`] reads the key columns of a batch once and gives a [`KeyBatch`]: a form of the key
//! and a hash for each row. [`KeyIndex`] gives each distinct key a dense number, its slot, under
//! which operators keep what belongs to the key.

mod batch;
mod bytes;
mod encoder;
mod group;
mod hash;
mod index;
mod raw;
mod store;
mod table;

pub use batch::KeyBatch;
pub use encoder::KeyEncoder;
pub use group::{DEFAULT_MAX_PARALLELISM, KeyGroupRange, key_group, key_group_owner};
pub use index::{KeyIndex, NO_SLOT};

pub(crate) use store::KeyStore;
pub(crate) use table::SlotTable;
