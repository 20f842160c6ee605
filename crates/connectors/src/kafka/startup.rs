//! Where partitions are begun and where they end.

use std::collections::HashMap;

use flott_catalog::connector::{ConnectorError, OptionDef, Options};
use flott_kafka::client::OffsetAt;
use flott_kafka::config::OffsetReset;
use flott_kafka::{Client, TopicPartition};

use super::failure::failure;
use super::options::{
    BOUNDED_MILLIS, BOUNDED_MODE, BOUNDED_OFFSETS, GROUP_ID, STARTUP_MILLIS, STARTUP_MODE,
    STARTUP_OFFSETS,
};
use super::table::Topics;
use crate::common::invalid;

/// A place in every partition of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Places {
    Earliest,
    Latest,
    /// What the group has committed.
    Group,
    /// The first record of this time.
    Time(i64),
    /// The offset of each partition of the one topic.
    Offsets(HashMap<i32, i64>),
}

/// Where reading begins.
pub(super) fn start(options: &Options, topics: &Topics) -> Result<Places, ConnectorError> {
    let places =
        places(options, topics, &STARTUP_MODE, &STARTUP_OFFSETS, &STARTUP_MILLIS, "startup");
    places.map(|places| places.unwrap_or(Places::Group))
}

/// Where reading ends; `None` when it does not.
pub(super) fn end(options: &Options, topics: &Topics) -> Result<Option<Places>, ConnectorError> {
    places(options, topics, &BOUNDED_MODE, &BOUNDED_OFFSETS, &BOUNDED_MILLIS, "bounded")
}

fn places(
    options: &Options,
    topics: &Topics,
    mode: &OptionDef,
    offsets: &OptionDef,
    millis: &OptionDef,
    what: &str,
) -> Result<Option<Places>, ConnectorError> {
    let missing = |option: &OptionDef, mode: &str| {
        ConnectorError::new(format!(
            "'{}' is required in '{mode}' {what} mode but missing.",
            option.key
        ))
    };
    Ok(Some(match options.text(mode).unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "earliest-offset" => Places::Earliest,
        "latest-offset" => Places::Latest,
        "group-offsets" => Places::Group,
        "timestamp" => {
            Places::Time(options.int(millis)?.ok_or_else(|| missing(millis, "timestamp"))?)
        }
        "specific-offsets" => {
            let text =
                options.raw(offsets.key).ok_or_else(|| missing(offsets, "specific-offsets"))?;
            if !matches!(topics, Topics::Named(names) if names.len() == 1) {
                return Err(ConnectorError::new(
                    "Currently Kafka source only supports specific offset for single topic.",
                ));
            }
            Places::Offsets(specific(offsets, text)?)
        }
        _ => return Ok(None),
    }))
}

/// Reads `partition:0,offset:42;partition:1,offset:300`.
fn specific(option: &OptionDef, text: &str) -> Result<HashMap<i32, i64>, ConnectorError> {
    let pair = |part: &str| {
        let (partition, offset) = part.split_once(',')?;
        let partition = partition.trim().strip_prefix("partition:")?.trim().parse().ok()?;
        let offset: i64 = offset.trim().strip_prefix("offset:")?.trim().parse().ok()?;
        (offset >= 0).then_some((partition, offset))
    };
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let pairs: Option<HashMap<_, _>> = parts.map(pair).collect();
    pairs.filter(|pairs| !pairs.is_empty()).ok_or_else(|| {
        invalid(option.key, text, "the form 'partition:0,offset:42;partition:1,offset:300'")
    })
}

impl Places {
    /// The offset of the place in each partition. `starts` tells whether reading begins there.
    pub(super) fn find(
        &self,
        client: &mut Client,
        partitions: &[TopicPartition],
        starts: bool,
    ) -> Result<HashMap<TopicPartition, i64>, ConnectorError> {
        match self {
            Self::Earliest => at(client, partitions, OffsetAt::Beginning),
            Self::Latest => at(client, partitions, OffsetAt::End),
            Self::Time(time) => {
                let found = client.offsets(partitions, OffsetAt::Time(*time)).map_err(failure)?;
                let younger: Vec<_> = partitions
                    .iter()
                    .filter(|of| !matches!(found.get(of), Some(Some(_))))
                    .cloned()
                    .collect();
                let mut all = at(client, &younger, OffsetAt::End)?;
                all.extend(found.into_iter().filter_map(|(of, offset)| Some((of, offset?))));
                Ok(all)
            }
            Self::Offsets(offsets) => {
                let listed = |of: &&TopicPartition| offsets.contains_key(&of.partition);
                let rest: Vec<_> = partitions.iter().filter(|of| !listed(of)).cloned().collect();
                let mut all = committed_or(client, &rest, Some(OffsetAt::Beginning))?;
                all.extend(
                    partitions
                        .iter()
                        .filter_map(|of| Some((of.clone(), *offsets.get(&of.partition)?))),
                );
                Ok(all)
            }
            Self::Group => {
                let otherwise = match client.config().fetch.reset {
                    OffsetReset::Earliest => Some(OffsetAt::Beginning),
                    OffsetReset::Latest => Some(OffsetAt::End),
                    // A partition of which nothing is known is read to its end.
                    OffsetReset::None if !starts => Some(OffsetAt::End),
                    OffsetReset::None => None,
                };
                committed_or(client, partitions, otherwise)
            }
        }
    }
}

/// The offsets at a place.
pub(super) fn at(
    client: &mut Client,
    partitions: &[TopicPartition],
    place: OffsetAt,
) -> Result<HashMap<TopicPartition, i64>, ConnectorError> {
    if partitions.is_empty() {
        return Ok(HashMap::new());
    }
    let found = client.offsets(partitions, place).map_err(failure)?;
    Ok(found.into_iter().map(|(of, offset)| (of, offset.unwrap_or(0))).collect())
}

/// What the group has committed, and the offset at another place where that is nothing.
fn committed_or(
    client: &mut Client,
    partitions: &[TopicPartition],
    otherwise: Option<OffsetAt>,
) -> Result<HashMap<TopicPartition, i64>, ConnectorError> {
    if partitions.is_empty() {
        return Ok(HashMap::new());
    }
    let mut all = match client.config().group.clone() {
        Some(group) => client.committed(&group, partitions).map_err(failure)?,
        None => HashMap::new(),
    };
    let missing: Vec<_> = partitions.iter().filter(|of| !all.contains_key(*of)).cloned().collect();
    match (otherwise, missing.first()) {
        (None, Some(of)) => {
            let message = match &client.config().group {
                Some(group) => format!("the group '{group}' has committed no offset to begin with"),
                None => format!(
                    "'{}' = 'group-offsets' needs the option '{}'",
                    STARTUP_MODE.key, GROUP_ID.key
                ),
            };
            Err(ConnectorError::new(message).at(of.to_string()).hint(
                "set 'scan.startup.mode' to 'earliest-offset' or 'latest-offset', or \
                 'properties.auto.offset.reset' to 'earliest' or 'latest' for partitions without one",
            ))
        }
        (otherwise, _) => {
            all.extend(at(client, &missing, otherwise.unwrap_or(OffsetAt::Beginning))?);
            Ok(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specific_offsets_are_read_as_in_flink() {
        let of = |text| specific(&STARTUP_OFFSETS, text);
        let both = HashMap::from([(0, 42), (1, 300)]);
        assert_eq!(of("partition:0,offset:42;partition:1,offset:300").unwrap(), both);
        for wrong in ["", "0:42", "partition:0", "partition:x,offset:1", "partition:0,offset:-1"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
