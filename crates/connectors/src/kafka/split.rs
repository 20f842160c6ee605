//! A partition that is read.

use flott_catalog::connector::{ConnectorError, Split};
use flott_kafka::TopicPartition;

use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// A partition, where to go on and where to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartitionSplit {
    pub(super) of: TopicPartition,
    pub(super) offset: i64,
    /// Records from this offset on are not read.
    pub(super) end: Option<i64>,
}

impl PartitionSplit {
    pub(super) fn pack(&self) -> Split {
        let position = Pack::new(VERSION)
            .text(&self.of.topic)
            .number(self.of.partition as u64)
            .number(self.offset as u64)
            .optional_number(self.end.map(|end| end as u64))
            .finish();
        Split { id: self.of.to_string(), position }
    }

    pub(super) fn unpack(split: &Split) -> Result<Self, ConnectorError> {
        let mut unpack = Unpack::new(&split.position, VERSION, "position in a Kafka partition")?;
        Ok(Self {
            of: TopicPartition::new(unpack.text()?, unpack.number()? as i32),
            offset: unpack.number()? as i64,
            end: unpack.optional_number()?.map(|end| end as i64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_survive_their_encoding() {
        for end in [None, Some(9)] {
            let split = PartitionSplit { of: TopicPartition::new("a-b", 3), offset: 7, end };
            assert_eq!(split.pack().id, "a-b-3");
            assert_eq!(PartitionSplit::unpack(&split.pack()).unwrap(), split);
        }
    }
}
