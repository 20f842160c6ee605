//! Skipping bad records, which are counted and logged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flott_catalog::connector::{BadRecord, BadRecordHandler, ConnectorError};

/// The least time between two lines in the log.
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// Skips bad records. The first is logged at once, later ones at most once a second with the
/// number skipped so far, and the total in the end.
pub struct SkipBadRecords {
    table: String,
    skipped: AtomicU64,
    logged: Mutex<Logged>,
}

#[derive(Default)]
struct Logged {
    at: Option<Instant>,
    count: u64,
}

impl SkipBadRecords {
    /// A handler for the records of `table`, which the log names.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), skipped: AtomicU64::new(0), logged: Mutex::default() }
    }

    /// How many records were skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }
}

impl BadRecordHandler for SkipBadRecords {
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError> {
        let skipped = self.skipped.fetch_add(1, Ordering::Relaxed) + 1;
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            *logged = Logged { at: Some(Instant::now()), count: skipped };
            let BadRecord { place, error, .. } = record;
            tracing::warn!(table = %self.table, skipped, %place, error = %error.message, "bad record skipped");
        }
        Ok(())
    }
}

impl Drop for SkipBadRecords {
    fn drop(&mut self) {
        let skipped = *self.skipped.get_mut();
        let logged = self.logged.get_mut().unwrap_or_else(PoisonError::into_inner);
        if skipped > logged.count {
            tracing::warn!(table = %self.table, skipped, "bad records skipped in all");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skipped_record_counts() {
        let handler = SkipBadRecords::new("t");
        for i in 0..5 {
            let place = format!("f:{i}");
            handler
                .handle(BadRecord { raw: b"x", place, error: ConnectorError::new("bad") })
                .unwrap();
        }
        assert_eq!(handler.skipped(), 5);
    }
}
