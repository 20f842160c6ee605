//! `filesystem`: files of the local file system as a table.
//!
//! # Reading
//!
//! `path` is a file, a directory (read in depth; names that start with `.` or `_` are left out) or a
//! glob pattern. Compressed files are known by their extension. With `PARTITIONED BY`, a level of
//! directories `column=value` stands for each partition column. `source.monitor-interval` makes the
//! table unbounded: new files are read as they appear.
//!
//! Formats of whole files (`parquet`) say themselves which rows belong to a range of a file, and where to
//! go on after a failure.
//!
//! # Writing
//!
//! Writers put rows into hidden files beside the visible ones; a commit renames them, so that a
//! reader sees a file wholly or not at all and a commit may be repeated. Open files end at every
//! checkpoint, and before that when the rolling policy says so.

mod columns;
mod compression;
mod enumerator;
mod failure;
mod format;
mod input;
mod listing;
mod location;
mod options;
mod partition;
mod place;
mod pruning;
mod reader;
mod sink;
mod source;
mod split;
mod whole;

use flott_catalog::connector::ConnectorDef;

/// The connector `filesystem`.
pub(crate) static FILESYSTEM: ConnectorDef = ConnectorDef {
    name: "filesystem",
    help: "reads and writes files",
    options: &options::OPTIONS,
    uses_format: true,
    source: Some(source::source),
    sink: Some(sink::sink),
};
