//! `jdbc`: tables of PostgreSQL, MySQL, MariaDB and SQLite.
//!
//! The name and the options are those of Flink's connector; no JDBC driver takes part. What differs
//! between databases is a [`dialect::Dialect`], one file each; the rest is written once.
//!
//! # Reading
//!
//! A scan is one query, or one for each range of `scan.partition.column`; each is a split. A position
//! is the number of rows read, and with a primary key the key read last: the query of a job that goes
//! on asks for what comes behind it. A thread of the reader's own runs the query, so that the
//! database and the job work at the same time.
//!
//! # Writing
//!
//! Rows gather in a buffer, by key if there is one, and go out in statements of many rows and one
//! transaction. All of it is written before a checkpoint completes: a job that goes on repeats what
//! came after it, which changes nothing where rows have keys.

mod address;
mod catalog;
mod cell;
mod connection;
mod dialect;
mod lookup;
mod mysql;
mod options;
mod postgres;
mod predicate;
mod reader;
mod scan;
mod sink;
mod source;
mod split;
mod sqlite;
mod statement;
mod table;
mod text;
mod worker;
mod writer;

use flott_catalog::CatalogDef;
use flott_catalog::connector::ConnectorDef;

/// The connector `jdbc`.
pub(crate) static JDBC: ConnectorDef = ConnectorDef {
    name: "jdbc",
    help: "reads, looks up and writes tables of PostgreSQL, MySQL, MariaDB and SQLite",
    options: &options::OPTIONS,
    uses_format: false,
    source: Some(source::source),
    sink: Some(sink::sink),
};

/// The catalog `jdbc`.
pub(crate) static JDBC_CATALOG: CatalogDef = CatalogDef {
    name: "jdbc",
    help: "the databases of a server of PostgreSQL, MySQL or MariaDB with their tables",
    options: &catalog::OPTIONS,
    open: catalog::open,
};
