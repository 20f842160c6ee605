//! The options of the connector.

use flott_catalog::connector::{LOOKUP_OPTIONS, OptionDef, OptionKind};

use crate::bad_records;
use crate::common::{CHANGELOG_MODE, COMMON, FORMAT, SINK_PARALLELISM, concat};

pub(super) const PATH: OptionDef =
    OptionDef::new("path", OptionKind::Text, "a directory, or to read also a file or a pattern")
        .required();
pub(super) const PARTITION_DEFAULT_NAME: OptionDef = OptionDef::new(
    "partition.default-name",
    OptionKind::Text,
    "the partition of rows whose partition column is NULL or empty",
)
.default("__DEFAULT_PARTITION__");
pub(super) const MONITOR_INTERVAL: OptionDef = OptionDef::new(
    "source.monitor-interval",
    OptionKind::Duration,
    "how often to look for new files; without it, those found at the start are read",
);
pub(super) const PATH_PATTERN: OptionDef = OptionDef::new(
    "source.path.regex-pattern",
    OptionKind::Text,
    "only files whose whole path matches this regular expression are read",
);
const REPORT_STATISTICS: OptionDef = OptionDef::new(
    "source.report-statistics",
    OptionKind::Enum(&["NONE", "ALL"]),
    "whether the planner is told of the size of the files",
)
.default("ALL");
pub(super) const ROLL_FILE_SIZE: OptionDef = OptionDef::new(
    "sink.rolling-policy.file-size",
    OptionKind::MemorySize,
    "a file greater than this gets no more rows",
)
.default("128 mb");
pub(super) const ROLL_INTERVAL: OptionDef = OptionDef::new(
    "sink.rolling-policy.rollover-interval",
    OptionKind::Duration,
    "a file open for so long gets no more rows",
)
.default("30 min");
pub(super) const ROLL_INACTIVITY: OptionDef = OptionDef::new(
    "sink.rolling-policy.inactivity-interval",
    OptionKind::Duration,
    "a file without new rows for so long gets no more",
)
.default("30 min");
pub(super) const ROLL_CHECK: OptionDef = OptionDef::new(
    "sink.rolling-policy.check-interval",
    OptionKind::Duration,
    "how often the ages of open files are looked at",
)
.default("1 min");
const SHUFFLE_BY_PARTITION: OptionDef = OptionDef::new(
    "sink.shuffle-by-partition.enable",
    OptionKind::Bool,
    "accepted without effect: each writer writes files of its own for the partitions of its rows",
)
.default("false");
pub(super) const COMMIT_TRIGGER: OptionDef = OptionDef::new(
    "sink.partition-commit.trigger",
    OptionKind::Enum(&["process-time", "partition-time"]),
    "when a partition is complete: so long after its first row, or when the watermark has passed \
     the time in its name",
)
.default("process-time");
pub(super) const COMMIT_DELAY: OptionDef = OptionDef::new(
    "sink.partition-commit.delay",
    OptionKind::Duration,
    "how long after the trigger a partition is committed",
)
.default("0 s");
pub(super) const COMMIT_ZONE: OptionDef = OptionDef::new(
    "sink.partition-commit.watermark-time-zone",
    OptionKind::Text,
    "the time zone of the times in partition names; the session's when the watermark is on a \
     TIMESTAMP_LTZ column",
)
.default("UTC");
pub(super) const COMMIT_POLICY: OptionDef = OptionDef::new(
    "sink.partition-commit.policy.kind",
    OptionKind::Text,
    "what marks a complete partition: success-file puts an empty file into it",
);
pub(super) const SUCCESS_FILE_NAME: OptionDef = OptionDef::new(
    "sink.partition-commit.success-file.name",
    OptionKind::Text,
    "the name of that file",
)
.default("_SUCCESS");
pub(super) const TIME_EXTRACTOR_KIND: OptionDef = OptionDef::new(
    "partition.time-extractor.kind",
    OptionKind::Enum(&["default"]),
    "how the time of a partition is read from its name",
)
.default("default");
pub(super) const TIMESTAMP_PATTERN: OptionDef = OptionDef::new(
    "partition.time-extractor.timestamp-pattern",
    OptionKind::Text,
    "the time of a partition, made of its columns: '$dt $hour:00:00'; the first column when absent",
);
pub(super) const TIMESTAMP_FORMATTER: OptionDef = OptionDef::new(
    "partition.time-extractor.timestamp-formatter",
    OptionKind::Text,
    "how that time is written: 'yyyyMMdd HH:mm:ss'; 'yyyy-MM-dd[ HH:mm:ss]' when absent",
);
pub(super) const AUTO_COMPACTION: OptionDef = OptionDef::new(
    "auto-compaction",
    OptionKind::Bool,
    "whether the files of a checkpoint are merged before they become visible; in streaming mode",
)
.default("false");
pub(super) const COMPACTION_FILE_SIZE: OptionDef = OptionDef::new(
    "compaction.file-size",
    OptionKind::MemorySize,
    "how great merged files become; the size at which files roll when absent",
);

const OWN: &[OptionDef] = &[
    PATH,
    FORMAT,
    CHANGELOG_MODE,
    PARTITION_DEFAULT_NAME,
    MONITOR_INTERVAL,
    PATH_PATTERN,
    REPORT_STATISTICS,
    ROLL_FILE_SIZE,
    ROLL_INTERVAL,
    ROLL_INACTIVITY,
    ROLL_CHECK,
    SHUFFLE_BY_PARTITION,
    COMMIT_TRIGGER,
    COMMIT_DELAY,
    COMMIT_ZONE,
    COMMIT_POLICY,
    SUCCESS_FILE_NAME,
    TIME_EXTRACTOR_KIND,
    TIMESTAMP_PATTERN,
    TIMESTAMP_FORMATTER,
    AUTO_COMPACTION,
    COMPACTION_FILE_SIZE,
    OptionDef::new(
        "compaction.parallelism",
        OptionKind::Int,
        "accepted for Flink's sake; merging is done by the committer",
    ),
    SINK_PARALLELISM,
];

/// All options, formats' aside.
pub(super) static OPTIONS: [OptionDef;
    COMMON.len() + OWN.len() + LOOKUP_OPTIONS.len() + bad_records::OPTIONS.len()] =
    concat(&[COMMON, OWN, LOOKUP_OPTIONS, bad_records::OPTIONS]);
