//! The formats whose schemas a schema registry keeps: `avro-confluent` and `debezium-avro-confluent`.
//!
//! A message is a zero, the number of the writer's schema in four bytes, and an Avro record. Schemas of
//! writers are asked for once each; what is written is registered under a subject before the first row.

mod client;
mod confluent;
mod debezium;
mod framing;
mod options;
mod tls;

use flott_catalog::connector::FormatDef;
use flott_types::ChangelogMode;

/// The format `avro-confluent`.
pub(crate) static AVRO_CONFLUENT: FormatDef = FormatDef {
    name: "avro-confluent",
    help: "Avro records whose schemas are kept by a Confluent Schema Registry",
    options: options::OPTIONS,
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(confluent::decoder),
    encoder: Some(confluent::encoder),
};

/// The format `debezium-avro-confluent`.
pub(crate) static DEBEZIUM_AVRO: FormatDef = FormatDef {
    name: "debezium-avro-confluent",
    help: "changes as Debezium writes them, in Avro, with schemas in a Confluent Schema Registry",
    options: options::OPTIONS,
    decodes: ChangelogMode::ALL,
    encodes: ChangelogMode::ALL,
    metadata: &[],
    decoder: Some(debezium::decoder),
    encoder: Some(debezium::encoder),
};
