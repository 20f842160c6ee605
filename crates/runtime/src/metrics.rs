//! Counters of operators and sources, written by their tasks and read from anywhere.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The live counters of one operator in one task.
#[derive(Debug)]
pub struct OperatorMetrics {
    rows_in: AtomicU64,
    rows_out: AtomicU64,
    late_rows: AtomicU64,
    state_bytes: AtomicU64,
    watermark: AtomicI64,
}

impl Default for OperatorMetrics {
    fn default() -> Self {
        Self {
            rows_in: AtomicU64::new(0),
            rows_out: AtomicU64::new(0),
            late_rows: AtomicU64::new(0),
            state_bytes: AtomicU64::new(0),
            watermark: AtomicI64::new(i64::MIN),
        }
    }
}

/// What the counters of an operator said at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorCounts {
    /// Rows that came in.
    pub rows_in: u64,
    /// Rows that went out.
    pub rows_out: u64,
    /// Rows that were dropped because they came late.
    pub late_rows: u64,
    /// Bytes of state.
    pub state_bytes: u64,
    /// The watermark reached, in milliseconds since the epoch; `None` before the first.
    pub watermark: Option<i64>,
}

impl OperatorMetrics {
    /// The counters now.
    pub fn counts(&self) -> OperatorCounts {
        let watermark = self.watermark.load(Ordering::Relaxed);
        OperatorCounts {
            rows_in: self.rows_in.load(Ordering::Relaxed),
            rows_out: self.rows_out.load(Ordering::Relaxed),
            late_rows: self.late_rows.load(Ordering::Relaxed),
            state_bytes: self.state_bytes.load(Ordering::Relaxed),
            watermark: (watermark != i64::MIN).then_some(watermark),
        }
    }

    pub(crate) fn count_in(&self, rows: usize) {
        self.rows_in.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_out(&self, rows: usize) {
        self.rows_out.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_late(&self, rows: usize) {
        self.late_rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn record_state(&self, bytes: usize) {
        self.state_bytes.store(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn record_watermark(&self, watermark: i64) {
        self.watermark.store(watermark, Ordering::Relaxed);
    }
}

/// The live counters of a source in one task.
#[derive(Debug, Default)]
pub(crate) struct SourceMetrics {
    bytes: AtomicU64,
    splits: Mutex<Vec<SplitProgress>>,
}

/// A split under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitProgress {
    /// The split.
    pub id: Arc<str>,
    /// The highest watermark seen in it, in milliseconds since the epoch; `None` before the first.
    pub watermark: Option<i64>,
}

impl SourceMetrics {
    pub fn count_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn begin_split(&self, id: &str) {
        self.lock().push(SplitProgress { id: id.into(), watermark: None });
    }

    pub fn end_split(&self, id: &str) {
        self.lock().retain(|split| &*split.id != id);
    }

    pub fn record_watermark(&self, id: &str, watermark: i64) {
        if let Some(split) = self.lock().iter_mut().find(|split| &*split.id == id) {
            split.watermark = Some(watermark);
        }
    }

    pub fn splits(&self) -> Vec<SplitProgress> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SplitProgress>> {
        self.splits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
