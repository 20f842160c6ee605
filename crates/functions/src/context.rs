//! What an evaluation knows beside its rows.

use jiff::tz::TimeZone;

/// Settings of the session that expressions are compiled under.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    /// `table.local-time-zone`
    pub zone: TimeZone,
    /// When the statement began, in nanoseconds since the epoch; what CURRENT_TIMESTAMP gives in
    /// batch mode.
    pub query_start: i128,
    /// Whether the statement runs in batch mode.
    pub batch: bool,
    /// `table.exec.legacy-bytes-to-string-cast`: invalid UTF-8 is replaced instead of refused.
    pub legacy_bytes_to_string: bool,
    /// The current catalog and database, which functions of these names give.
    pub current_catalog: String,
    /// The current database.
    pub current_database: String,
}

impl Default for SessionSettings {
    /// UTC, streaming, at the epoch.
    fn default() -> Self {
        Self {
            zone: TimeZone::UTC,
            query_start: 0,
            batch: false,
            legacy_bytes_to_string: false,
            current_catalog: "default_catalog".into(),
            current_database: "default_database".into(),
        }
    }
}

/// The watermark before each row of a batch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Watermarks<'a> {
    /// The watermark before the first row; `None` before any.
    pub initial: Option<i64>,
    /// Rows after which it rose, in order, each with the new watermark: it holds from the next row on.
    pub marks: &'a [(u32, i64)],
}

/// What kernels are told at evaluation.
#[derive(Debug, Clone, Copy)]
pub struct EvalContext<'a> {
    /// How many rows there are; every result has as many.
    pub rows: usize,
    /// The processing time of the batch, in nanoseconds since the epoch.
    pub now: i128,
    /// The watermarks, for CURRENT_WATERMARK.
    pub watermarks: Watermarks<'a>,
}

impl<'a> EvalContext<'a> {
    /// A context of `rows` rows at processing time `now` without watermarks.
    pub fn new(rows: usize, now: i128) -> Self {
        Self { rows, now, watermarks: Watermarks::default() }
    }

    /// The same context for another number of rows.
    pub fn with_rows(self, rows: usize) -> EvalContext<'a> {
        Self { rows, ..self }
    }
}
