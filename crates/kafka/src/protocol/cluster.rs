//! What a cluster consists of: versions, brokers, topics, coordinators.

use super::{In, Out, Request};
use crate::{ErrorCode, Result};

/// Asks which versions of each request the broker knows.
pub(crate) struct ApiVersions;

impl Request for ApiVersions {
    const KEY: i16 = 18;
    const VERSION: i16 = 0;
    const NAME: &'static str = "ApiVersions";
    /// Key, lowest and highest version.
    type Response = Vec<(i16, i16, i16)>;

    fn write(&self, _: &mut Out) {}

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        ErrorCode(response.i16()?).check(|| "the broker does not tell its versions".into())?;
        response.array(|api| Ok((api.i16()?, api.i16()?, api.i16()?)))
    }
}

/// Asks for brokers and topics; for all topics without a list.
pub(crate) struct Metadata<'a> {
    pub(crate) topics: Option<&'a [String]>,
    pub(crate) create: bool,
}

/// The brokers and topics of a cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClusterMetadata {
    pub(crate) brokers: Vec<Broker>,
    pub(crate) topics: Vec<TopicMetadata>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broker {
    pub(crate) id: i32,
    pub(crate) address: String,
}

#[derive(Debug, Clone)]
pub(crate) struct TopicMetadata {
    pub(crate) name: String,
    pub(crate) error: ErrorCode,
    pub(crate) internal: bool,
    pub(crate) partitions: Vec<PartitionMetadata>,
}

#[derive(Debug, Clone)]
pub(crate) struct PartitionMetadata {
    pub(crate) partition: i32,
    pub(crate) leader: i32,
}

impl Request for Metadata<'_> {
    const KEY: i16 = 3;
    const VERSION: i16 = 7;
    const NAME: &'static str = "Metadata";
    type Response = ClusterMetadata;

    fn write(&self, out: &mut Out) {
        match self.topics {
            None => out.i32(-1),
            Some(topics) => out.array(topics, |out, topic| {
                out.text(topic);
            }),
        }
        .bool(self.create);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        let brokers = response.array(|broker| {
            let id = broker.i32()?;
            let address = format!("{}:{}", broker.text()?, broker.i32()?);
            broker.optional_text()?;
            Ok(Broker { id, address })
        })?;
        response.optional_text()?;
        response.i32()?;
        let topics = response.array(|topic| {
            Ok(TopicMetadata {
                error: ErrorCode(topic.i16()?),
                name: topic.text()?,
                internal: topic.bool()?,
                partitions: topic.array(|partition| {
                    partition.i16()?;
                    let number = partition.i32()?;
                    let leader = partition.i32()?;
                    partition.i32()?;
                    for _ in 0..3 {
                        partition.array(In::i32)?;
                    }
                    Ok(PartitionMetadata { partition: number, leader })
                })?,
            })
        })?;
        Ok(ClusterMetadata { brokers, topics })
    }
}

/// Asks which broker looks after a group or a transactional id.
pub(crate) struct FindCoordinator<'a> {
    pub(crate) key: &'a str,
    pub(crate) kind: CoordinatorKind,
}

/// What a coordinator looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CoordinatorKind {
    Group = 0,
    Transaction = 1,
}

impl Request for FindCoordinator<'_> {
    const KEY: i16 = 10;
    const VERSION: i16 = 1;
    const NAME: &'static str = "FindCoordinator";
    type Response = (ErrorCode, Broker);

    fn write(&self, out: &mut Out) {
        out.text(self.key).i8(self.kind as i8);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        let error = ErrorCode(response.i16()?);
        response.optional_text()?;
        let id = response.i32()?;
        let address = format!("{}:{}", response.text()?, response.i32()?);
        Ok((error, Broker { id, address }))
    }
}

/// Makes a topic.
pub(crate) struct CreateTopic<'a> {
    pub(crate) name: &'a str,
    pub(crate) partitions: i32,
    pub(crate) settings: &'a [(&'a str, &'a str)],
}

impl Request for CreateTopic<'_> {
    const KEY: i16 = 19;
    const VERSION: i16 = 4;
    const NAME: &'static str = "CreateTopics";
    type Response = (ErrorCode, Option<String>);

    fn write(&self, out: &mut Out) {
        out.array([self.name], |out, name| {
            // As many replicas as the broker makes by default.
            out.text(name).i32(self.partitions).i16(-1).i32(0);
            out.array(self.settings, |out, (key, value)| {
                out.text(key).text(value);
            });
        });
        out.i32(30_000).bool(false);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        let topics = response.array(|topic| {
            topic.text()?;
            Ok((ErrorCode(topic.i16()?), topic.optional_text()?))
        })?;
        Ok(topics.into_iter().next().unwrap_or((ErrorCode::NONE, None)))
    }
}
