//! Requests and responses, each in the one version that this client speaks.

mod cluster;
mod fetch;
mod offsets;
mod produce;
mod security;
mod transactions;
mod wire;

pub(crate) use cluster::*;
pub(crate) use fetch::*;
pub(crate) use offsets::*;
pub(crate) use produce::*;
pub(crate) use security::*;
pub(crate) use transactions::*;
pub(crate) use wire::{In, Out};

use std::sync::Arc;

use crate::Result;

/// A request, and how its response is read.
pub(crate) trait Request {
    /// The number of the API.
    const KEY: i16;
    /// The version that is spoken.
    const VERSION: i16;
    /// Whether the version is a flexible one, whose headers end in tagged fields.
    const FLEXIBLE: bool = false;
    /// The name in messages.
    const NAME: &'static str;
    /// The response.
    type Response;

    /// Writes the body.
    fn write(&self, out: &mut Out);

    /// Reads the body of the response.
    fn read(response: &mut In<'_>) -> Result<Self::Response>;
}

/// A request that is answered by a whole list of topics, each with its partitions.
pub(crate) type PerPartition<T> = Vec<(String, Vec<T>)>;

/// What is asked of partitions, by topic.
pub(crate) type ByTopic<T> = Vec<(Arc<str>, Vec<T>)>;

/// Writes partitions, of which those of one topic follow each other, below their topics.
pub(crate) fn write_topics<T>(
    out: &mut Out,
    topics: &[(Arc<str>, Vec<T>)],
    mut each: impl FnMut(&mut Out, &T),
) {
    out.array(topics, |out, (topic, partitions)| {
        out.text(topic).array(partitions, &mut each);
    });
}

/// Reads the partitions of topics.
pub(crate) fn read_topics<T>(
    response: &mut In<'_>,
    mut each: impl FnMut(&mut In<'_>) -> Result<T>,
) -> Result<PerPartition<T>> {
    response.array(|topic| {
        let name = topic.text()?;
        let partitions = topic.array(&mut each)?;
        Ok((name, partitions))
    })
}

/// Partitions put together by topic, in the order in which the topics come first.
pub(crate) fn by_topic<T>(partitions: impl IntoIterator<Item = (Arc<str>, T)>) -> ByTopic<T> {
    let mut topics: ByTopic<T> = Vec::new();
    for (topic, item) in partitions {
        match topics.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, items)) => items.push(item),
            None => topics.push((topic, vec![item])),
        }
    }
    topics
}
