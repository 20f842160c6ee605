//! A client of Apache Kafka, in Rust alone and without an asynchronous runtime.
//!
//! It has what a stream processor needs of Kafka, and shows more of the protocol than a general
//! client does: positions behind control records, the ends of partitions as readers with
//! `read_committed` see them, and transactions that one process prepares and another commits.
//!
//! | module | what it does |
//! |---|---|
//! | [`config`] | the Java client's properties, translated |
//! | [`Client`] | metadata, offsets, transactions: one request at a time, routed to the right broker and tried again |
//! | [`Consumer`] | reads partitions side by side, one thread a broker |
//! | [`Producer`] | writes idempotently or in transactions, one thread |
//! | `protocol`, `records`, `connection` | messages, record batches, sockets |
//!
//! Each request is sent in one fixed version, which brokers from Kafka 2.4 to 4.x know; listing
//! transactions needs 3.0.

pub mod client;
pub mod config;
mod connection;
pub mod consumer;
mod error;
mod partitioner;
pub mod producer;
mod protocol;
mod records;

pub use client::Client;
pub use config::ClientConfig;
pub use consumer::Consumer;
pub use error::{ErrorCode, KafkaError};
pub use producer::Producer;
pub use records::{Header, Record, RecordCursor, TimestampType};

/// A result of this crate.
pub type Result<T, E = KafkaError> = std::result::Result<T, E>;

/// A partition of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The topic.
    pub topic: std::sync::Arc<str>,
    /// The partition's number, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// Partition `partition` of `topic`.
    pub fn new(topic: impl Into<std::sync::Arc<str>>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl std::fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}
