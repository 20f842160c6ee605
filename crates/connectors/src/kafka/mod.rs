//! `kafka` and `upsert-kafka`: topics of Apache Kafka as tables.
//!
//! # Reading
//!
//! Each partition is a split with a watermark of its own. Where a partition is begun and, in bounded
//! scans, ended is found once, when it is discovered, and is part of every checkpoint from then on; what
//! the group has committed is never read again after that.
//!
//! # Writing
//!
//! With `sink.delivery-guarantee` = `exactly-once` rows go into transactions. At a checkpoint a writer
//! flushes, hands `(transactional id, producer, epoch)` over to be committed, and goes on under another
//! id; the commit is one request that any process can send. A process that dies between a checkpoint
//! and its commit therefore loses nothing: the next one commits. See `ids` for how ids are used again.

mod committer;
mod enumerator;
mod failure;
mod group;
mod ids;
mod metadata;
mod options;
mod part;
mod reader;
mod rows;
mod sink;
mod source;
mod split;
mod startup;
mod table;
mod upsert;
mod writer;

use flott_catalog::connector::ConnectorDef;

/// The connector `kafka`.
pub(crate) static KAFKA: ConnectorDef = ConnectorDef {
    name: "kafka",
    help: "reads and writes topics of Apache Kafka",
    options: &options::KAFKA_OPTIONS,
    uses_format: true,
    source: Some(source::kafka),
    sink: Some(sink::kafka),
};

/// The connector `upsert-kafka`.
pub(crate) static UPSERT_KAFKA: ConnectorDef = ConnectorDef {
    name: "upsert-kafka",
    help: "reads and writes topics of Apache Kafka that hold the newest row of each key; formats by \
           'key.format' and 'value.format'",
    options: &options::UPSERT_OPTIONS,
    uses_format: false,
    source: Some(upsert::source),
    sink: Some(upsert::sink),
};
