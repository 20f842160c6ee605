//! What an evaluation knows beside its rows.

use jiff::tz::TimeZone;

use crate::RecordTimes;

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
    /// Processing time.
    pub now: Now<'a>,
    /// The watermarks, for CURRENT_WATERMARK.
    pub watermarks: Watermarks<'a>,
    /// Which rows of the batch these are, where only some are evaluated.
    pub selection: Option<&'a [u32]>,
}

/// Processing time as an evaluation sees it.
#[derive(Debug, Clone, Copy)]
pub enum Now<'a> {
    /// The same for all rows, in milliseconds since the epoch.
    At(i64),
    /// Each row has its own.
    Records(&'a RecordTimes),
}

impl<'a> EvalContext<'a> {
    /// A context of `rows` rows without watermarks, all at processing time `now` in nanoseconds since
    /// the epoch.
    pub fn new(rows: usize, now: i128) -> Self {
        let now = Now::At(now.div_euclid(1_000_000) as i64);
        Self { rows, now, watermarks: Watermarks::default(), selection: None }
    }

    /// A context of the records of `times` without watermarks.
    pub fn of_records(times: &'a RecordTimes) -> Self {
        let (rows, now) = (times.rows(), Now::Records(times));
        Self { rows, now, watermarks: Watermarks::default(), selection: None }
    }

    /// The processing time of the first row, in milliseconds since the epoch.
    pub fn millis(&self) -> i64 {
        match self.now {
            Now::At(millis) => millis,
            Now::Records(times) => {
                times.readings().get(self.row(0)).copied().unwrap_or_else(|| times.read())
            }
        }
    }

    /// The place in its batch of a row that is evaluated.
    pub fn row(&self, row: usize) -> usize {
        self.selection.map_or(row, |rows| rows[row] as usize)
    }

    /// The same context for another number of rows, of which it is not said which they are.
    pub(crate) fn with_rows(self, rows: usize) -> EvalContext<'a> {
        Self { rows, ..self }
    }
}
