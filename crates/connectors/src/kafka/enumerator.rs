//! Finding partitions, at the start and later on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{ConnectorError, Discovery, SplitEnumerator};
use flott_kafka::{Client, ErrorCode, TopicPartition};

use super::failure::failure;
use super::split::PartitionSplit;
use super::startup::Places;
use super::table::{Table, Topics};
use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// How long brokers may take to answer at the start, unless `default.api.timeout.ms` is shorter.
const PATIENCE: Duration = Duration::from_secs(15);

/// Gives partitions out as splits.
pub(super) struct PartitionEnumerator {
    table: Arc<Table>,
    start: Places,
    end: Option<Places>,
    /// How often to look again; `None` for never.
    interval: Option<Duration>,
    client: Client,
    /// What was given out.
    known: BTreeSet<TopicPartition>,
    /// Whether the partitions that are there at the start were found: later ones are read from their
    /// beginning.
    started: bool,
}

impl PartitionEnumerator {
    /// `state` is what an earlier enumerator's snapshot gave.
    pub(super) fn new(
        table: Arc<Table>,
        start: Places,
        end: Option<Places>,
        interval: Option<Duration>,
        state: Option<&[u8]>,
    ) -> Result<Self, ConnectorError> {
        let (mut known, mut started) = (BTreeSet::new(), false);
        if let Some(state) = state {
            let mut unpack = Unpack::new(state, VERSION, "list of Kafka partitions")?;
            started = unpack.flag()?;
            let of = |unpack: &mut Unpack<'_>| {
                Ok(TopicPartition::new(unpack.text()?, unpack.number()? as i32))
            };
            known.extend(unpack.list(of)?);
        }
        let interval = interval.filter(|_| end.is_none());
        let client = Client::new(table.config.clone());
        Ok(Self { table, start, end, interval, client, known, started })
    }

    /// The partitions that there are.
    fn partitions(&mut self) -> Result<Vec<TopicPartition>, ConnectorError> {
        let names = match &self.table.topics {
            Topics::Named(names) => {
                Some(names.iter().map(|name| name.to_string()).collect::<Vec<_>>())
            }
            Topics::Matching(_) => None,
        };
        let within = PATIENCE.min(self.table.config.api_timeout);
        let topics = self.client.topics(names.as_deref(), false, within).map_err(failure)?;
        let mut partitions = Vec::new();
        for topic in topics {
            match (&self.table.topics, topic.error) {
                (Topics::Matching(pattern), _)
                    if topic.internal || !pattern.is_match(&topic.name).unwrap_or(false) => {}
                (Topics::Matching(_), Some(_)) => {}
                (Topics::Named(_), Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)) => {
                    return Err(ConnectorError::new(format!(
                        "the topic '{}' does not exist",
                        topic.name
                    ))
                    .at(self.table.context.identifier.clone())
                    .hint("create the topic, or check its name in the option 'topic'"));
                }
                (Topics::Named(_), Some(code)) => {
                    let what = format!("topic '{}'", topic.name);
                    return Err(failure(flott_kafka::KafkaError::Broker {
                        what,
                        code,
                        detail: None,
                    }));
                }
                (_, None) => {
                    let name: Arc<str> = topic.name.into();
                    let of = |partition| TopicPartition::new(name.clone(), partition);
                    partitions.extend(topic.partitions.into_iter().map(of));
                }
            }
        }
        Ok(partitions)
    }

    fn find_new(&mut self) -> Result<Vec<PartitionSplit>, ConnectorError> {
        let mut new = self.partitions()?;
        new.retain(|of| !self.known.contains(of));
        if new.is_empty() && self.known.is_empty() {
            tracing::warn!(table = %self.table.context.identifier, "no partition to read yet");
        }
        let start = if self.started { &Places::Earliest } else { &self.start };
        let starts = start.find(&mut self.client, &new, true)?;
        let ends = match &self.end {
            Some(end) => Some(end.find(&mut self.client, &new, false)?),
            None => None,
        };
        let split = |of: TopicPartition| {
            let offset = starts.get(&of).copied().unwrap_or(0);
            let end = ends.as_ref().map(|ends| ends.get(&of).copied().unwrap_or(0));
            PartitionSplit { of, offset, end }
        };
        Ok(new.into_iter().map(split).collect())
    }
}

impl SplitEnumerator for PartitionEnumerator {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        if self.started && self.interval.is_none() {
            return Ok(Discovery::default());
        }
        let again_after = self.interval;
        let found = match self.find_new() {
            Ok(found) => found,
            // What is read already goes on.
            Err(error) if self.started && error.transient => {
                tracing::warn!(%error, "cannot look for new Kafka partitions; trying again later");
                return Ok(Discovery { again_after, ..Discovery::default() });
            }
            Err(error) => return Err(error),
        };
        self.started = true;
        self.known.extend(found.iter().map(|split| split.of.clone()));
        Ok(Discovery {
            // As in Flink, so that the partitions of a topic are spread evenly.
            tasks: found
                .iter()
                .map(|split| first_task(&split.of.topic) + split.of.partition as usize)
                .collect(),
            splits: found.iter().map(PartitionSplit::pack).collect(),
            again_after,
        })
    }

    fn snapshot(&self) -> Vec<u8> {
        Pack::new(VERSION)
            .number(u64::from(self.started))
            .list(self.known.iter(), |pack, of| pack.text(&of.topic).number(of.partition as u64))
            .finish()
    }
}

/// The task that reads the first partition of a topic, when there are enough.
fn first_task(topic: &str) -> usize {
    let hash = topic
        .encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    (hash.wrapping_mul(31) & i32::MAX) as usize
}
