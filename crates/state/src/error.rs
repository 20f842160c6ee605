//! What can go wrong in keeping, writing and reading state.

use std::sync::Arc;

use arrow::error::ArrowError;

/// Why state could not be kept, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The job's state outgrew the memory it may use.
    #[error(
        "out of state memory: operator {operator} holds {}, all operators and {} of rows between tasks hold \
         {} of {} allowed{}\n\
         hint: raise taskmanager.memory.managed.size, bound the state with table.exec.state.ttl, \
         or group by fewer distinct keys",
        Bytes(*operator_bytes), Bytes(*in_flight), Bytes(*used), Bytes(*limit),
        if *spills { "" } else { "; it cannot move state to disk" }
    )]
    OverBudget {
        /// The operator whose state grew last.
        operator: Arc<str>,
        /// The bytes that operator holds.
        operator_bytes: u64,
        /// Whether that operator can move its state to disk.
        spills: bool,
        /// The bytes of rows on their way between tasks.
        in_flight: u64,
        /// The bytes all operators hold, and rows on their way.
        used: u64,
        /// The bytes they may hold together.
        limit: u64,
    },
    /// State could not be moved to disk, or not be read back.
    #[error(
        "cannot keep state on disk in {folder}: {problem}\n\
         hint: set io.tmp.dirs to a folder with free space, or raise taskmanager.memory.managed.size"
    )]
    Disk {
        /// The folder.
        folder: String,
        /// What went wrong.
        problem: String,
    },
    /// More keys or rows than 32 bits can number in one task.
    #[error("more than {limit} {what} in one task\nhint: raise the parallelism")]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u32,
    },
    /// A batch whose encoded rows exceed what 31 bits can address.
    #[error("rows of one batch exceed 2 GiB when encoded\nhint: use smaller batches")]
    BatchTooLarge,
    /// Columns that are not of the types a codec was built for.
    #[error("state of type {expected} was given a column of type {found}")]
    ColumnType {
        /// The type the state holds.
        expected: String,
        /// The type of the column.
        found: String,
    },
    /// A number of columns other than the one a codec was built for.
    #[error("state of {expected} columns was given {found}")]
    ColumnCount {
        /// How many columns the state holds.
        expected: usize,
        /// How many it was given.
        found: usize,
    },
    /// A key batch encoded for other key types than the index holds.
    #[error("keys encoded for other types than the state's")]
    KeyKind,
    /// Bytes that are no state snapshot.
    #[error("not a Flott state snapshot")]
    Foreign,
    /// A snapshot written by a later version.
    #[error(
        "state {section} has version {found}, this build reads up to {known}\n\
         hint: use the version of Flott that wrote the checkpoint, or a later one"
    )]
    Version {
        /// The section, or `snapshot` for the container.
        section: String,
        /// Its version.
        found: u16,
        /// The latest version known.
        known: u16,
    },
    /// A snapshot that ends early or contradicts itself.
    #[error(
        "state {section} is damaged at byte {offset}: {what}\nhint: restore from an earlier checkpoint"
    )]
    Damaged {
        /// The section, or `snapshot` for the container.
        section: String,
        /// Where in it.
        offset: usize,
        /// What was found wrong.
        what: &'static str,
    },
    /// A section the operator needs is not in the snapshot.
    #[error(
        "snapshot holds no state {section}\nhint: the query differs from the one that wrote the checkpoint"
    )]
    MissingSection {
        /// The section.
        section: String,
    },
    /// State of other types than the operator's.
    #[error(
        "state {section} holds {found}, the query needs {expected}\n\
         hint: the query differs from the one that wrote the checkpoint"
    )]
    Schema {
        /// The section.
        section: String,
        /// The types the operator keeps.
        expected: String,
        /// The types found.
        found: String,
    },
    /// State written for another number of key groups.
    #[error(
        "state {section} was written for a maximum parallelism of {found}, the job has {expected}\n\
         hint: set pipeline.max-parallelism to {found}"
    )]
    MaxParallelism {
        /// The section.
        section: String,
        /// The job's maximum parallelism.
        expected: u16,
        /// The snapshot's.
        found: u16,
    },
    /// An Arrow kernel refused.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// The crate's result.
pub type Result<T, E = StateError> = std::result::Result<T, E>;

/// A size as a person reads it.
struct Bytes(u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut size = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while size >= 1024.0 && unit + 1 < UNITS.len() {
            size /= 1024.0;
            unit += 1;
        }
        write!(f, "{size:.1} {}", UNITS[unit])
    }
}
