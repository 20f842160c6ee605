//! Connectors: what a table's rows are read from and written to, one module each, and what becomes of
//! records that cannot be decoded.
//!
//! A connector is a [`ConnectorDef`]: its options as data and two functions that check a table's
//! options at planning time and make a source or a sink of it. [`all`] lists them for the registry.
//! Connectors know types, options and formats (which they find through the registry); they never see
//! a plan, and what they run is the traits of `flott_catalog::connector`.
//!
//! ```
//! let names: Vec<_> = flott_connectors::all().iter().map(|def| def.name).collect();
//! assert_eq!(names, ["blackhole", "datagen", "filesystem", "jdbc", "kafka", "nexmark", "postgres-cdc", "print", "upsert-kafka"]);
//! ```
//!
//! | connector | reads | writes |
//! |---|---|---|
//! | `filesystem` | files and directories, bounded or watched | part files, exactly once |
//! | `jdbc` | tables of databases, by scans and by key | the same, by key or adding rows |
//! | `datagen` | generated rows | |
//! | `nexmark` | the events of the Nexmark benchmark | |
//! | `kafka` | partitions of topics, side by side | records, in transactions if wanted |
//! | `upsert-kafka` | the newest row of each key of a topic | the same |
//! | `postgres-cdc` | tables of PostgreSQL: a snapshot, then the log | |
//! | `print` | | lines on standard output or error |
//! | `blackhole` | | nothing |

pub mod bad_records;
mod blackhole;
mod cdc;
mod common;
mod datagen;
mod filesystem;
mod format;
mod jdbc;
mod kafka;
pub mod nexmark;
mod pack;
mod print;

use flott_catalog::CatalogDef;
use flott_catalog::connector::ConnectorDef;

/// All connectors of this crate, by name.
pub fn all() -> Vec<&'static ConnectorDef> {
    vec![
        &blackhole::BLACKHOLE,
        &datagen::DATAGEN,
        &filesystem::FILESYSTEM,
        &jdbc::JDBC,
        &kafka::KAFKA,
        &nexmark::NEXMARK,
        &cdc::POSTGRES_CDC,
        &print::PRINT,
        &kafka::UPSERT_KAFKA,
    ]
}

/// All types of catalogs that are kept elsewhere, by name.
pub fn catalogs() -> Vec<&'static CatalogDef> {
    vec![&jdbc::JDBC_CATALOG]
}
