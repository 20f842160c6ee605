//! `postgres-cdc`: PostgreSQL by logical replication with the plugin `pgoutput`.

mod begin;
mod changes;
mod connection;
mod failure;
mod key_order;
mod lsn;
mod messages;
mod options;
mod position;
mod reader;
mod replication;
mod snapshot;
mod source;
mod table;
mod tables;
mod types;

use flott_catalog::connector::ConnectorDef;

/// The connector `postgres-cdc`.
pub(crate) static POSTGRES_CDC: ConnectorDef = ConnectorDef {
    name: "postgres-cdc",
    help: "reads tables of PostgreSQL as they change: a snapshot, then the write-ahead log",
    options: &options::OPTIONS,
    uses_format: false,
    source: Some(source::source),
    sink: None,
};
