//! The options of the connector.

use flott_catalog::connector::{LOOKUP_OPTIONS, OLD_LOOKUP_OPTIONS, OptionDef, OptionKind};

use crate::common::{COMMON, SCAN_PARALLELISM, SINK_PARALLELISM, concat};

pub(super) const URL: OptionDef = OptionDef::new(
    "url",
    OptionKind::Text,
    "the database: jdbc:postgresql://host:port/db, jdbc:mysql://…, jdbc:mariadb://… or \
     jdbc:sqlite:path",
)
.required();
pub(super) const TABLE_NAME: OptionDef = OptionDef::new(
    "table-name",
    OptionKind::Text,
    "the table in the database, with its schema where that is not the default one",
)
.required();
pub(super) const DRIVER: OptionDef = OptionDef::new(
    "driver",
    OptionKind::Text,
    "the class of a JDBC driver; none is loaded, but it must be one for the database of 'url'",
);
const COMPATIBLE_MODE: OptionDef = OptionDef::new(
    "compatible-mode",
    OptionKind::Enum(&["mysql", "postgresql"]),
    "accepted for Flink's sake; the database is known by its url",
);
pub(super) const USERNAME: OptionDef =
    OptionDef::new("username", OptionKind::Text, "the user; needs 'password', too");
pub(super) const PASSWORD: OptionDef =
    OptionDef::new("password", OptionKind::Text, "the user's password");
pub(super) const RETRY_TIMEOUT: OptionDef = OptionDef::new(
    "connection.max-retry-timeout",
    OptionKind::Duration,
    "how long a connection may take to be made, from 1 s",
)
.default("60 s");
pub(super) const PARTITION_COLUMN: OptionDef = OptionDef::new(
    "scan.partition.column",
    OptionKind::Text,
    "a column of numbers by whose ranges the table is read side by side",
);
pub(super) const PARTITION_NUMBER: OptionDef =
    OptionDef::new("scan.partition.num", OptionKind::Int, "the number of ranges");
pub(super) const PARTITION_LOWER: OptionDef = OptionDef::new(
    "scan.partition.lower-bound",
    OptionKind::Int,
    "where the first range begins; rows below are not read",
);
pub(super) const PARTITION_UPPER: OptionDef = OptionDef::new(
    "scan.partition.upper-bound",
    OptionKind::Int,
    "where the last range ends; rows above are not read",
);
pub(super) const FETCH_SIZE: OptionDef = OptionDef::new(
    "scan.fetch-size",
    OptionKind::Int,
    "how many rows are fetched at a time; 0: as many as a batch has",
)
.default("0");
const AUTO_COMMIT: OptionDef = OptionDef::new(
    "scan.auto-commit",
    OptionKind::Bool,
    "accepted for Flink's sake; rows are fetched part by part with either value",
)
.default("true");
pub(super) const FILTER_POLICY: OptionDef = OptionDef::new(
    "filter.handling.policy",
    OptionKind::Enum(&["always", "never"]),
    "whether the database evaluates conditions that it has words for",
)
.default("always");
pub(super) const LOOKUP_RETRIES: OptionDef = OptionDef::new(
    "lookup.max-retries",
    OptionKind::Int,
    "how often a lookup that failed is tried again",
)
.default("3");
pub(super) const BUFFER_ROWS: OptionDef = OptionDef::new(
    "sink.buffer-flush.max-rows",
    OptionKind::Int,
    "rows are written when so many have gathered; 0: their number does not matter",
)
.default("100");
pub(super) const BUFFER_INTERVAL: OptionDef = OptionDef::new(
    "sink.buffer-flush.interval",
    OptionKind::Duration,
    "rows are written when they waited so long, and when no more come; 0: time does not matter",
)
.default("1 s");
pub(super) const SINK_RETRIES: OptionDef = OptionDef::new(
    "sink.max-retries",
    OptionKind::Int,
    "how often a write that failed is tried again",
)
.default("3");

const OWN: &[OptionDef] = &[
    URL,
    TABLE_NAME,
    DRIVER,
    COMPATIBLE_MODE,
    USERNAME,
    PASSWORD,
    RETRY_TIMEOUT,
    PARTITION_COLUMN,
    PARTITION_NUMBER,
    PARTITION_LOWER,
    PARTITION_UPPER,
    FETCH_SIZE,
    AUTO_COMMIT,
    FILTER_POLICY,
    SCAN_PARALLELISM,
    LOOKUP_RETRIES,
    BUFFER_ROWS,
    BUFFER_INTERVAL,
    SINK_RETRIES,
    SINK_PARALLELISM,
];

/// All options.
pub(super) static OPTIONS: [OptionDef;
    COMMON.len() + OWN.len() + LOOKUP_OPTIONS.len() + OLD_LOOKUP_OPTIONS.len()] =
    concat(&[COMMON, OWN, LOOKUP_OPTIONS, OLD_LOOKUP_OPTIONS]);
