//! The time that a partition's name tells.

use flott_catalog::connector::{ConnectorError, TableContext};
use jiff::tz::{Offset, TimeZone};

use super::super::options::{COMMIT_ZONE, TIMESTAMP_FORMATTER, TIMESTAMP_PATTERN};
use super::super::partition::parse_directory;
use super::time_format::{TimeFormat, parse_lenient};
use crate::common::invalid;

/// Reads the time of a partition: `dt=2024-01-02/hour=3` by the pattern `$dt $hour:00:00`.
pub(super) struct PartitionTime {
    pattern: Option<String>,
    format: Option<TimeFormat>,
    zone: TimeZone,
}

impl PartitionTime {
    pub(super) fn of(context: &TableContext) -> Result<Self, ConnectorError> {
        let options = &context.options;
        let zone_name = options.text(&COMMIT_ZONE).unwrap_or_default();
        let zone = zone(zone_name).ok_or_else(|| {
            invalid(
                COMMIT_ZONE.key,
                zone_name,
                "a time zone such as 'America/Los_Angeles', 'GMT+03:00' or 'UTC'",
            )
        })?;
        let format = options.raw(TIMESTAMP_FORMATTER.key).map(|text| {
            TimeFormat::parse(text)
                .map_err(|wanted| invalid(TIMESTAMP_FORMATTER.key, text, &wanted))
        });
        Ok(Self {
            pattern: options.raw(TIMESTAMP_PATTERN.key).map(Into::into),
            format: format.transpose()?,
            zone,
        })
    }

    /// The time of the partition at `directory`, in milliseconds since the epoch.
    pub(super) fn millis(&self, directory: &str) -> Result<i64, ConnectorError> {
        let mut values: Vec<_> = directory.split('/').filter_map(parse_directory).collect();
        let text = match &self.pattern {
            None => values.first().map(|(_, value)| value.clone()).unwrap_or_default(),
            Some(pattern) => {
                // The longest name first, so that `$dt` does not hit the start of `$dt_hour`.
                values.sort_by_key(|(column, _)| std::cmp::Reverse(column.len()));
                values.iter().fold(pattern.clone(), |text, (column, value)| {
                    text.replace(&format!("${column}"), value)
                })
            }
        };
        let time = match &self.format {
            Some(format) => format.read(&text),
            None => parse_lenient(&text),
        };
        time.and_then(|time| self.zone.to_timestamp(time).ok())
            .map(|instant| instant.as_millisecond())
            .ok_or_else(|| {
                ConnectorError::new(format!("cannot read a time from '{text}'"))
                    .at(format!("partition {directory}"))
                    .hint(format!(
                        "set '{}' and '{}' to the form of the partition's columns, or \
                         'sink.partition-commit.trigger' = 'process-time'",
                        TIMESTAMP_PATTERN.key, TIMESTAMP_FORMATTER.key
                    ))
            })
    }
}

/// A zone by its name in the database, or an offset such as `GMT+03:00`.
fn zone(name: &str) -> Option<TimeZone> {
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let Some(offset) = name.strip_prefix("GMT").filter(|offset| !offset.is_empty()) else {
        return TimeZone::get(name).ok();
    };
    let (sign, clock) = match offset.split_at_checked(1)? {
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let (hours, minutes) = clock.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let in_range = (0..=18).contains(&hours) && (0..60).contains(&minutes);
    let seconds = sign * (hours * 3600 + minutes * 60);
    in_range.then(|| Offset::from_seconds(seconds).ok())?.map(TimeZone::fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(
        pattern: Option<&str>,
        format: Option<&str>,
        zone_name: &str,
        path: &str,
    ) -> Option<i64> {
        let time = PartitionTime {
            pattern: pattern.map(Into::into),
            format: format.map(|text| TimeFormat::parse(text).unwrap()),
            zone: zone(zone_name).unwrap(),
        };
        time.millis(path).ok()
    }

    #[test]
    fn the_time_comes_from_the_name() {
        let hour = 3_600_000;
        for (pattern, format, zone_name, path, expected) in [
            (None, None, "UTC", "dt=1970-01-02", Some(24 * hour)),
            (None, None, "UTC", "dt=1970-1-2 3%3A0%3A0", Some(27 * hour)),
            (Some("$dt $hour:00:00"), None, "UTC", "dt=1970-01-01/hour=5", Some(5 * hour)),
            (Some("$y$yy"), Some("yyyyMMdd"), "UTC", "y=1970/yy=0102", Some(24 * hour)),
            (None, Some("yyyyMMdd HH"), "GMT+02:00", "dt=19700101 03", Some(hour)),
            (None, None, "UTC", "dt=yesterday", None),
            (None, None, "UTC", "", None),
        ] {
            assert_eq!(millis(pattern, format, zone_name, path), expected, "{path}");
        }
    }

    #[test]
    fn zones_are_names_or_offsets() {
        assert!(zone("UTC").is_some() && zone("GMT-08:30").is_some());
        assert!(zone("Nowhere/Zone").is_none() && zone("GMT+99:00").is_none());
    }
}
