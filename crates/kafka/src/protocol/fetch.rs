//! Reading records.

use super::{ByTopic, In, Out, PerPartition, Request, read_topics, write_topics};
use crate::{ErrorCode, Result};

/// Asks for records of partitions, each from an offset.
pub(crate) struct Fetch {
    pub(crate) max_wait_millis: i32,
    pub(crate) min_bytes: i32,
    pub(crate) max_bytes: i32,
    pub(crate) read_committed: bool,
    pub(crate) topics: ByTopic<FetchFrom>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FetchFrom {
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) max_bytes: i32,
}

/// What came of a partition.
#[derive(Debug)]
pub(crate) struct FetchedPartition {
    pub(crate) partition: i32,
    pub(crate) error: ErrorCode,
    /// Aborted transactions among the records: producer and first offset.
    pub(crate) aborted: Vec<(i64, i64)>,
    /// Record batches, of which the last may be cut off.
    pub(crate) records: Vec<u8>,
}

impl Request for Fetch {
    const KEY: i16 = 1;
    const VERSION: i16 = 10;
    const NAME: &'static str = "Fetch";
    type Response = (ErrorCode, PerPartition<FetchedPartition>);

    fn write(&self, out: &mut Out) {
        out.i32(-1).i32(self.max_wait_millis).i32(self.min_bytes).i32(self.max_bytes);
        // Without a session: each request names all partitions.
        out.i8(i8::from(self.read_committed)).i32(0).i32(-1);
        write_topics(out, &self.topics, |out, from| {
            out.i32(from.partition).i32(-1).i64(from.offset).i64(-1).i32(from.max_bytes);
        });
        out.i32(0);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        let error = ErrorCode(response.i16()?);
        response.i32()?;
        let topics = read_topics(response, |partition| {
            let number = partition.i32()?;
            let error = ErrorCode(partition.i16()?);
            // High watermark, last stable offset, first offset.
            for _ in 0..3 {
                partition.i64()?;
            }
            let aborted = partition.array(|txn| Ok((txn.i64()?, txn.i64()?)))?;
            let records = partition.bytes()?.to_vec();
            Ok(FetchedPartition { partition: number, error, aborted, records })
        })?;
        Ok((error, topics))
    }
}
