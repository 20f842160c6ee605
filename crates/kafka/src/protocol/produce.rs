//! Writing records.

use super::{ByTopic, In, Out, PerPartition, Request, read_topics, write_topics};
use crate::{ErrorCode, Result};

/// Appends a batch to each of some partitions.
pub(crate) struct Produce<'a> {
    pub(crate) transactional_id: Option<&'a str>,
    /// −1: by all replicas in sync, 1: by the leader, 0: no answer.
    pub(crate) acks: i16,
    pub(crate) timeout_millis: i32,
    /// Partition and encoded batch.
    pub(crate) topics: ByTopic<(i32, &'a [u8])>,
}

/// How a batch fared.
#[derive(Debug)]
pub(crate) struct Produced {
    pub(crate) partition: i32,
    pub(crate) error: ErrorCode,
    /// The offset of the batch's first record; negative when the broker does not say.
    pub(crate) base_offset: i64,
    pub(crate) detail: Option<String>,
}

impl Request for Produce<'_> {
    const KEY: i16 = 0;
    const VERSION: i16 = 8;
    const NAME: &'static str = "Produce";
    type Response = PerPartition<Produced>;

    fn write(&self, out: &mut Out) {
        out.optional_text(self.transactional_id).i16(self.acks).i32(self.timeout_millis);
        write_topics(out, &self.topics, |out, (partition, batch)| {
            out.i32(*partition).bytes(batch);
        });
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        read_topics(response, |partition| {
            let number = partition.i32()?;
            let error = ErrorCode(partition.i16()?);
            let base_offset = partition.i64()?;
            // The time of appending and the partition's first offset.
            for _ in 0..2 {
                partition.i64()?;
            }
            let of_records =
                partition.array(|record| Ok((record.i32()?, record.optional_text()?)))?;
            let detail = partition.optional_text()?;
            let detail = detail.or_else(|| of_records.into_iter().find_map(|(_, text)| text));
            Ok(Produced { partition: number, error, base_offset, detail })
        })
    }
}
