//! When a partition is complete.

use flott_catalog::connector::{ConnectorError, TableContext};

use super::super::options::{COMMIT_DELAY, COMMIT_POLICY, COMMIT_TRIGGER, SUCCESS_FILE_NAME};
use super::partition_time::PartitionTime;
use crate::common::invalid;

/// When to mark a partition, and the name of the mark.
pub(super) struct PartitionCommit {
    trigger: Trigger,
    delay_millis: u64,
    mark: String,
}

enum Trigger {
    /// So long after the partition's first row.
    ProcessTime,
    /// When the watermark has passed the time in the partition's name.
    PartitionTime(PartitionTime),
}

impl PartitionCommit {
    /// What the options say; `None` when partitions are not marked.
    pub(super) fn of(context: &TableContext) -> Result<Option<Self>, ConnectorError> {
        let options = &context.options;
        let time = PartitionTime::of(context)?;
        let delay = options.duration(&COMMIT_DELAY)?.unwrap_or_default();
        let by_time = options
            .text(&COMMIT_TRIGGER)
            .is_some_and(|text| text.trim().eq_ignore_ascii_case("partition-time"));
        COMMIT_TRIGGER
            .check(COMMIT_TRIGGER.key, options.text(&COMMIT_TRIGGER).unwrap_or_default())?;
        let Some(policies) = options.raw(COMMIT_POLICY.key) else { return Ok(None) };
        let mut marks = false;
        for policy in policies.split(',') {
            match policy.trim().to_ascii_lowercase().as_str() {
                "success-file" => marks = true,
                // There is no metastore to tell; in batch mode Flink does not mind either.
                "metastore" if context.batch => {}
                "metastore" => {
                    return Err(ConnectorError::new(
                        "a table of files has no metastore for the partition commit policy",
                    )
                    .hint(format!("set '{}' = 'success-file'", COMMIT_POLICY.key)));
                }
                "custom" => {
                    return Err(ConnectorError::new(
                        "the partition commit policy 'custom' needs a Java class and is not supported",
                    )
                    .hint(format!("set '{}' = 'success-file'", COMMIT_POLICY.key)));
                }
                _ => return Err(invalid(COMMIT_POLICY.key, policy, "success-file")),
            }
        }
        Ok(marks.then(|| Self {
            trigger: if by_time { Trigger::PartitionTime(time) } else { Trigger::ProcessTime },
            delay_millis: delay.as_millis() as u64,
            mark: options.text(&SUCCESS_FILE_NAME).unwrap_or_default().into(),
        }))
    }

    /// The name of the file that marks a partition.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Whether the partition at `directory`, whose first row came at `since`, gets no more rows as far
    /// as can be told.
    pub(super) fn is_complete(
        &self,
        directory: &str,
        since: u64,
        now: u64,
        watermark: i64,
    ) -> Result<bool, ConnectorError> {
        match &self.trigger {
            Trigger::ProcessTime => {
                Ok(self.delay_millis == 0 || now > since.saturating_add(self.delay_millis))
            }
            Trigger::PartitionTime(time) => {
                let due = time.millis(directory)?.saturating_add_unsigned(self.delay_millis);
                Ok(watermark > due)
            }
        }
    }
}
