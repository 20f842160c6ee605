//! The options of both connectors.

use flott_catalog::connector::{OptionDef, OptionKind};

use crate::bad_records;
use crate::common::{COMMON, FORMAT, SCAN_PARALLELISM, SINK_PARALLELISM, concat};

pub(super) const TOPIC: OptionDef = OptionDef::new(
    "topic",
    OptionKind::Text,
    "the topic; to read from several, a list with semicolons",
);
pub(super) const TOPIC_PATTERN: OptionDef = OptionDef::new(
    "topic-pattern",
    OptionKind::Text,
    "a regular expression: all topics whose whole name matches it are read",
);
pub(super) const SERVERS: OptionDef = OptionDef::new(
    "properties.bootstrap.servers",
    OptionKind::Text,
    "brokers to ask for the others, host:port with commas",
)
.required();
pub(super) const GROUP_ID: OptionDef = OptionDef::new(
    "properties.group.id",
    OptionKind::Text,
    "the consumer group that offsets are committed for",
);
const PROPERTIES: OptionDef = OptionDef::new(
    "properties.*",
    OptionKind::Text,
    "any property of Kafka's Java clients; docs/kafka.md tells which have a meaning here",
);
pub(super) const VALUE_FORMAT: OptionDef = OptionDef::new(
    "value.format",
    OptionKind::Text,
    "the format of the records' values; another name for 'format'",
);
pub(super) const KEY_FORMAT: OptionDef =
    OptionDef::new("key.format", OptionKind::Text, "the format of the records' keys");
pub(super) const KEY_FIELDS: OptionDef = OptionDef::new(
    "key.fields",
    OptionKind::Text,
    "the columns that are in the key, a list with semicolons",
);
pub(super) const KEY_PREFIX: OptionDef = OptionDef::new(
    "key.fields-prefix",
    OptionKind::Text,
    "what the names of the key's columns begin with in the table but not in the key",
);
pub(super) const VALUE_INCLUDE: OptionDef = OptionDef::new(
    "value.fields-include",
    OptionKind::Enum(&["ALL", "EXCEPT_KEY"]),
    "whether the columns of the key are in the value, too",
)
.default("ALL");
pub(super) const STARTUP_MODE: OptionDef = OptionDef::new(
    "scan.startup.mode",
    OptionKind::Enum(&[
        "earliest-offset",
        "latest-offset",
        "group-offsets",
        "timestamp",
        "specific-offsets",
    ]),
    "where reading begins",
)
.default("group-offsets");
pub(super) const STARTUP_OFFSETS: OptionDef = OptionDef::new(
    "scan.startup.specific-offsets",
    OptionKind::Text,
    "where partitions are begun: 'partition:0,offset:42;partition:1,offset:300'",
);
pub(super) const STARTUP_MILLIS: OptionDef = OptionDef::new(
    "scan.startup.timestamp-millis",
    OptionKind::Int,
    "reading begins with the first record of this time, in milliseconds since 1970",
);
pub(super) const BOUNDED_MODE: OptionDef = OptionDef::new(
    "scan.bounded.mode",
    OptionKind::Enum(&[
        "unbounded",
        "latest-offset",
        "group-offsets",
        "timestamp",
        "specific-offsets",
    ]),
    "where reading ends",
)
.default("unbounded");
pub(super) const BOUNDED_OFFSETS: OptionDef = OptionDef::new(
    "scan.bounded.specific-offsets",
    OptionKind::Text,
    "where partitions end: 'partition:0,offset:42;partition:1,offset:300'",
);
pub(super) const BOUNDED_MILLIS: OptionDef = OptionDef::new(
    "scan.bounded.timestamp-millis",
    OptionKind::Int,
    "reading ends before the first record of this time, in milliseconds since 1970",
);
pub(super) const DISCOVERY: OptionDef = OptionDef::new(
    "scan.topic-partition-discovery.interval",
    OptionKind::Duration,
    "how often to look for new topics and partitions; 0 for never",
)
.default("5 min");
pub(super) const PARTITIONER: OptionDef = OptionDef::new(
    "sink.partitioner",
    OptionKind::Enum(&["default", "fixed", "round-robin"]),
    "which partition a row goes to: by its key as Kafka does it, each task's rows to one partition, \
     or in turns",
)
.default("default");
pub(super) const GUARANTEE: OptionDef = OptionDef::new(
    "sink.delivery-guarantee",
    OptionKind::Enum(&["none", "at-least-once", "exactly-once"]),
    "what holds after a failure; exactly-once writes in transactions",
)
.default("at-least-once");
const SEMANTIC: OptionDef = OptionDef::new(
    "sink.semantic",
    OptionKind::Enum(&["none", "at-least-once", "exactly-once"]),
    "the old name of 'sink.delivery-guarantee'",
);
pub(super) const ID_PREFIX: OptionDef = OptionDef::new(
    "sink.transactional-id-prefix",
    OptionKind::Text,
    "what the transactional ids of the table begin with; required for exactly-once, and no other job \
     may use it",
);
const NAMING: OptionDef = OptionDef::new(
    "sink.transaction-naming-strategy",
    OptionKind::Enum(&["INCREMENTING", "POOLING"]),
    "accepted for Flink's sake; transactional ids are always used again, as with POOLING",
)
.default("INCREMENTING");
pub(super) const BUFFER_ROWS: OptionDef = OptionDef::new(
    "sink.buffer-flush.max-rows",
    OptionKind::Int,
    "so many keys gather, of each only the last change, before they are sent; 0 for none",
)
.default("0");
pub(super) const BUFFER_INTERVAL: OptionDef = OptionDef::new(
    "sink.buffer-flush.interval",
    OptionKind::Duration,
    "how long they gather at most; both options or neither must be above 0",
)
.default("0");

const SHARED: &[OptionDef] = &[
    TOPIC,
    TOPIC_PATTERN,
    SERVERS,
    GROUP_ID,
    PROPERTIES,
    KEY_FORMAT,
    KEY_PREFIX,
    VALUE_FORMAT,
    VALUE_INCLUDE,
    BOUNDED_MODE,
    BOUNDED_OFFSETS,
    BOUNDED_MILLIS,
    DISCOVERY,
    SCAN_PARALLELISM,
    GUARANTEE,
    ID_PREFIX,
    NAMING,
    SINK_PARALLELISM,
];

const OF_KAFKA: &[OptionDef] = &[
    FORMAT_OPTION,
    KEY_FIELDS,
    STARTUP_MODE,
    STARTUP_OFFSETS,
    STARTUP_MILLIS,
    PARTITIONER,
    SEMANTIC,
];

/// Either name of the format will do.
const FORMAT_OPTION: OptionDef = OptionDef { required: false, ..FORMAT };

const OF_UPSERT: &[OptionDef] = &[BUFFER_ROWS, BUFFER_INTERVAL];

/// All options of `kafka`, formats' aside.
pub(super) static KAFKA_OPTIONS: [OptionDef;
    COMMON.len() + SHARED.len() + OF_KAFKA.len() + bad_records::OPTIONS.len()] =
    concat(&[COMMON, SHARED, OF_KAFKA, bad_records::OPTIONS]);

/// All options of `upsert-kafka`, formats' aside.
pub(super) static UPSERT_OPTIONS: [OptionDef;
    COMMON.len() + SHARED.len() + OF_UPSERT.len() + bad_records::OPTIONS.len()] =
    concat(&[COMMON, SHARED, OF_UPSERT, bad_records::OPTIONS]);
