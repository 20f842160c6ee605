//! Offsets: by time, and those that a group has committed.

use super::{ByTopic, In, Out, PerPartition, Request, read_topics, write_topics};
use crate::{ErrorCode, Result};

/// Asks for the first offset at or after a time; −1 stands for the end and −2 for the beginning.
pub(crate) struct ListOffsets {
    pub(crate) read_committed: bool,
    /// Partition and time.
    pub(crate) topics: ByTopic<(i32, i64)>,
}

impl Request for ListOffsets {
    const KEY: i16 = 2;
    const VERSION: i16 = 4;
    const NAME: &'static str = "ListOffsets";
    /// Partition, error, offset: −1 where no record is so young.
    type Response = PerPartition<(i32, ErrorCode, i64)>;

    fn write(&self, out: &mut Out) {
        out.i32(-1).i8(i8::from(self.read_committed));
        write_topics(out, &self.topics, |out, (partition, time)| {
            out.i32(*partition).i32(-1).i64(*time);
        });
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        read_topics(response, |partition| {
            let number = partition.i32()?;
            let error = ErrorCode(partition.i16()?);
            partition.i64()?;
            let offset = partition.i64()?;
            partition.i32()?;
            Ok((number, error, offset))
        })
    }
}

/// Asks what a group has committed.
pub(crate) struct OffsetFetch<'a> {
    pub(crate) group: &'a str,
    pub(crate) topics: ByTopic<i32>,
}

impl Request for OffsetFetch<'_> {
    const KEY: i16 = 9;
    const VERSION: i16 = 3;
    const NAME: &'static str = "OffsetFetch";
    /// The group's error, and of each partition the offset, −1 where there is none, and its error.
    type Response = (ErrorCode, PerPartition<(i32, i64, ErrorCode)>);

    fn write(&self, out: &mut Out) {
        out.text(self.group);
        write_topics(out, &self.topics, |out, partition| {
            out.i32(*partition);
        });
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        let topics = read_topics(response, |partition| {
            let number = partition.i32()?;
            let offset = partition.i64()?;
            partition.optional_text()?;
            Ok((number, offset, ErrorCode(partition.i16()?)))
        })?;
        Ok((ErrorCode(response.i16()?), topics))
    }
}

/// Commits offsets for a group that has no members.
pub(crate) struct OffsetCommit<'a> {
    pub(crate) group: &'a str,
    /// Partition and offset.
    pub(crate) topics: ByTopic<(i32, i64)>,
}

impl Request for OffsetCommit<'_> {
    const KEY: i16 = 8;
    const VERSION: i16 = 5;
    const NAME: &'static str = "OffsetCommit";
    type Response = PerPartition<(i32, ErrorCode)>;

    fn write(&self, out: &mut Out) {
        out.text(self.group).i32(-1).text("");
        write_topics(out, &self.topics, |out, (partition, offset)| {
            out.i32(*partition).i64(*offset).optional_text(None);
        });
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        read_topics(response, |partition| Ok((partition.i32()?, ErrorCode(partition.i16()?))))
    }
}
