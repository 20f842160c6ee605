//! What a table's options say, checked.

use std::sync::Arc;

use fancy_regex::Regex;
use flott_catalog::connector::{ConnectorDef, ConnectorError, Options, TableContext};
use flott_kafka::ClientConfig;

use super::failure::failure;
use super::options::{TOPIC, TOPIC_PATTERN};
use super::part::{Part, option_prefixes, parts};
use crate::bad_records::BadRecordPolicy;
use crate::common::invalid;

/// A table of records in topics.
pub(super) struct Table {
    pub(super) context: TableContext,
    pub(super) config: Arc<ClientConfig>,
    pub(super) topics: Topics,
    pub(super) key: Option<Part>,
    pub(super) value: Part,
    /// Whether a record is the newest row of its key, and one without a value deletes it.
    pub(super) upsert: bool,
}

/// The topics of a table.
#[derive(Clone)]
pub(super) enum Topics {
    /// These.
    Named(Vec<Arc<str>>),
    /// All whose names match.
    Matching(Regex),
}

impl Table {
    /// Reads and checks the options that reading and writing share.
    pub(super) fn of(
        context: &TableContext,
        def: &ConnectorDef,
        upsert: bool,
    ) -> Result<Self, ConnectorError> {
        let (key, value) = parts(context, upsert)?;
        let prefixes = option_prefixes(&key, &value);
        let of_format = |key: &str| prefixes.iter().any(|prefix| key.starts_with(&**prefix));
        let own = context.options.iter().filter(|(key, _)| !of_format(key));
        Options::new(own.map(|(key, value)| (key.into(), value.into())))
            .validate(&format!("connector '{}'", def.name), def.options)?;
        BadRecordPolicy::of(&context.options)?;
        let properties = context.options.with_prefix_removed("properties.");
        let config = ClientConfig::of(properties.iter()).map_err(failure)?;
        Ok(Self {
            topics: topics(&context.options)?,
            config: Arc::new(config),
            context: context.clone(),
            key,
            value,
            upsert,
        })
    }
}

fn topics(options: &Options) -> Result<Topics, ConnectorError> {
    match (options.raw(TOPIC.key), options.raw(TOPIC_PATTERN.key)) {
        (Some(list), None) => {
            let names: Vec<Arc<str>> = list
                .split(';')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(Arc::from)
                .collect();
            if names.is_empty() {
                return Err(invalid(TOPIC.key, list, "the name of a topic"));
            }
            Ok(Topics::Named(names))
        }
        (None, Some(pattern)) => {
            Regex::new(&format!(r"\A(?:{pattern})\z")).map(Topics::Matching).map_err(|error| {
                invalid(TOPIC_PATTERN.key, pattern, &format!("a regular expression ({error})"))
            })
        }
        (Some(_), Some(_)) => Err(ConnectorError::new(
            "Option 'topic' and 'topic-pattern' shouldn't be set together.",
        )),
        (None, None) => Err(ConnectorError::new("Either 'topic' or 'topic-pattern' must be set.")),
    }
}
