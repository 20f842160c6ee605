//! When each record of a batch is processed.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use arrow::array::BooleanArray;

/// The processing times of the records of a batch, in milliseconds since the epoch.
///
/// A batch is computed column by column, but Flink's rule is by record: all calls of CURRENT_TIMESTAMP and its kin
/// on one record give the same moment, and the next record has its own. So the clock is read once a record, when
/// the first expression asks; a batch of which none asks costs nothing.
pub struct RecordTimes {
    clock: Rc<dyn Fn() -> i64>,
    rows: usize,
    readings: OnceCell<Vec<i64>>,
}

impl RecordTimes {
    /// The times of `rows` records by `clock`, which tells milliseconds since the epoch.
    pub fn new(rows: usize, clock: impl Fn() -> i64 + 'static) -> Self {
        Self { clock: Rc::new(clock), rows, readings: OnceCell::new() }
    }

    /// The number of records.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The time of each record: the same at every call.
    pub fn readings(&self) -> &[i64] {
        self.readings.get_or_init(|| (0..self.rows).map(|_| self.read()).collect())
    }

    /// What the clock shows now: another time at every call.
    pub fn read(&self) -> i64 {
        (self.clock)()
    }

    /// The records that are kept, each with the time that it had, if any was read.
    pub fn filter(&self, keep: &BooleanArray) -> Self {
        let kept = |all: &Vec<i64>| -> Vec<i64> {
            keep.values().set_indices().map(|row| all[row]).collect()
        };
        let readings = self.readings.get().map(kept);
        Self {
            clock: Rc::clone(&self.clock),
            rows: keep.values().count_set_bits(),
            readings: readings.map_or_else(OnceCell::new, OnceCell::from),
        }
    }

    /// Other records by the same clock.
    pub fn anew(&self, rows: usize) -> Self {
        Self { clock: Rc::clone(&self.clock), rows, readings: OnceCell::new() }
    }
}

impl fmt::Debug for RecordTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordTimes")
            .field("rows", &self.rows)
            .field("readings", &self.readings.get())
            .finish_non_exhaustive()
    }
}
