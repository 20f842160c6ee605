//! Flott: streaming SQL with Apache Flink's dialect and answers, as a library.
//!
//! A [`TableEnvironment`] is a session: it executes statements, keeps catalogs and options, and gives
//! the rows of queries as the changelog they arrive in.
//!
//! ```
//! use flott::{Outcome, TableEnvironment};
//!
//! # fn main() -> Result<(), flott::Error> {
//! let mut session = TableEnvironment::new();
//! let Outcome::Query(result) = session.execute("SELECT 1 + 1 AS two")? else { unreachable!() };
//! let rows = result.collect()?;
//! assert_eq!(rows[0].to_string(), "+I[2]");
//! # Ok(())
//! # }
//! ```

mod config;
#[cfg(test)]
mod crash_tests;
mod environment;
mod error;
mod job;
mod json;
mod result;
mod statement;

pub use config::{SessionConfig, options};
pub use environment::{Outcome, TableEnvironment};
pub use error::Error;
pub use flott_plan::explain::explain;
pub use flott_runtime::{
    Checkpoint, JobHandle, JobMetrics, JobStatus, OperatorReport, RestoreEffects,
};
pub use flott_sql::ast::StatementKind;
pub use flott_sql::{ScriptStatement, split_script};
pub use flott_types::{
    ChangelogBatch, ChangelogMode, DataType, Field, RowKind, Schema, TimeAttribute, Value,
};
pub use json::{json_value, value_text};
pub use result::{QueryResult, ResultRow, Table};

/// The zone in which nothing depends on the session.
pub fn utc() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::UTC
}
