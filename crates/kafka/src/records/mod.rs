//! Record batches: what partitions hold and what travels, in the format of Kafka 0.11 and newer.

mod batch;
mod compression;
mod read;
mod varint;

pub(crate) use batch::{BatchBuilder, ProducerState};
pub use compression::Compression;
pub(crate) use read::last_offset;
pub use read::{Record, RecordCursor, TimestampType};

/// A header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// Its name; several headers may have one.
    pub key: &'a str,
    /// Its value, if it has one.
    pub value: Option<&'a [u8]>,
}
