//! Which tables are read: regular expressions, as in Flink CDC.

use fancy_regex::Regex;
use flott_catalog::connector::ConnectorError;

use crate::common::invalid;

/// An expression that must match the whole name.
#[derive(Debug, Clone)]
pub(super) struct NamePattern(Regex);

impl NamePattern {
    /// The pattern of an option's value.
    pub(super) fn new(key: &str, pattern: &str) -> Result<Self, ConnectorError> {
        Regex::new(&format!(r"\A(?:{pattern})\z")).map(Self).map_err(|error| {
            invalid(key, pattern, &format!("a name or a regular expression ({error})"))
        })
    }

    /// Whether it is the whole of `name`.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name).unwrap_or(false)
    }
}
