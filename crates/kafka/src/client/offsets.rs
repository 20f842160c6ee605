//! Offsets of partitions: by time, and those that a group has committed.

use std::collections::HashMap;

use super::Client;
use crate::protocol::{CoordinatorKind, ListOffsets, OffsetCommit, OffsetFetch, by_topic};
use crate::{ErrorCode, Result, TopicPartition};

/// A place in a partition that its offsets are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetAt {
    /// The first record that is there.
    Beginning,
    /// Behind the last record; with `read_committed`, the first of an open transaction.
    End,
    /// The first record of this time, in milliseconds since 1970, or later.
    Time(i64),
}

impl OffsetAt {
    fn time(self) -> i64 {
        match self {
            Self::Beginning => -2,
            Self::End => -1,
            Self::Time(time) => time.max(0),
        }
    }
}

impl Client {
    /// The offset at a place of each partition; `None` where no record is so young.
    pub fn offsets(
        &mut self,
        partitions: &[TopicPartition],
        at: OffsetAt,
    ) -> Result<HashMap<TopicPartition, Option<i64>>> {
        let mut found = HashMap::new();
        let within = self.config.api_timeout;
        self.retrying(
            "the brokers do not tell the offsets of their partitions",
            within,
            |client| {
                let missing: Vec<_> =
                    partitions.iter().filter(|of| !found.contains_key(*of)).cloned().collect();
                client.offsets_once(&missing, at, &mut found)
            },
        )?;
        Ok(found)
    }

    fn offsets_once(
        &mut self,
        partitions: &[TopicPartition],
        at: OffsetAt,
        found: &mut HashMap<TopicPartition, Option<i64>>,
    ) -> Result<()> {
        let mut by_leader: HashMap<String, Vec<TopicPartition>> = HashMap::new();
        for of in partitions {
            by_leader.entry(self.leader(of)?).or_default().push(of.clone());
        }
        for (leader, partitions) in by_leader {
            let asked = partitions.iter().map(|of| (of.topic.clone(), (of.partition, at.time())));
            let read_committed = self.config.fetch.read_committed;
            let request = ListOffsets { read_committed, topics: by_topic(asked) };
            for (topic, offsets) in self.call(&leader, &request)? {
                for (partition, code, offset) in offsets {
                    let of = TopicPartition::new(topic.as_str(), partition);
                    if code.is_retriable() {
                        self.forget_leader(&of);
                    }
                    code.check(|| of.to_string())?;
                    found.insert(of, (offset >= 0).then_some(offset));
                }
            }
        }
        Ok(())
    }

    /// What a group has committed of partitions; those of which it has not are left out.
    pub fn committed(
        &mut self,
        group: &str,
        partitions: &[TopicPartition],
    ) -> Result<HashMap<TopicPartition, i64>> {
        let within = self.config.api_timeout;
        self.retrying("the offsets of the group are not to be had", within, |client| {
            let asked = partitions.iter().map(|of| (of.topic.clone(), of.partition));
            let request = OffsetFetch { group, topics: by_topic(asked) };
            let kind = CoordinatorKind::Group;
            let (code, topics) =
                client.call_coordinator(kind, group, &request, |(code, _)| *code)?;
            code.check(|| format!("group '{group}'"))?;
            let mut found = HashMap::new();
            for (topic, offsets) in topics {
                for (partition, offset, code) in offsets {
                    code.check(|| format!("group '{group}', {topic}-{partition}"))?;
                    if offset >= 0 {
                        found.insert(TopicPartition::new(topic.as_str(), partition), offset);
                    }
                }
            }
            Ok(found)
        })
    }

    /// Commits offsets for a group, in one attempt.
    pub fn commit(&mut self, group: &str, offsets: &[(TopicPartition, i64)]) -> Result<()> {
        let asked = offsets.iter().map(|(of, offset)| (of.topic.clone(), (of.partition, *offset)));
        let request = OffsetCommit { group, topics: by_topic(asked) };
        let worst = |topics: &crate::protocol::PerPartition<(i32, ErrorCode)>| {
            let codes = topics.iter().flat_map(|(_, partitions)| partitions);
            codes.map(|(_, code)| *code).find(|code| *code != ErrorCode::NONE)
        };
        let response =
            self.call_coordinator(CoordinatorKind::Group, group, &request, |topics| {
                worst(topics).unwrap_or(ErrorCode::NONE)
            })?;
        worst(&response).unwrap_or(ErrorCode::NONE).check(|| format!("group '{group}'"))
    }
}
