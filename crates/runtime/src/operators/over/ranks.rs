//! ROW_NUMBER, RANK and DENSE_RANK over rows that come in order.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use flott_state::{StateDecoder, StateEncoder, StateError};

use super::script::Script;

/// The functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    RowNumber,
    Rank,
    DenseRank,
}

/// How far each partition has counted.
#[derive(Default)]
pub(super) struct Ranks {
    counts: Vec<Count>,
}

/// The place of a partition's last row.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    rows: i64,
    rank: i64,
    dense: i64,
    time: i64,
}

/// The places of rows.
pub(super) struct Places(Vec<Count>);

impl Places {
    /// The results of a function.
    pub fn column(&self, place: Place) -> ArrayRef {
        let value = |count: &Count| match place {
            Place::RowNumber => count.rows,
            Place::Rank => count.rank,
            Place::DenseRank => count.dense,
        };
        Arc::new(Int64Array::from_iter_values(self.0.iter().map(value)))
    }
}

impl Ranks {
    /// Makes room for partitions `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, Count::default());
        }
    }

    /// Counts rows, which only come, and gives the place after each read.
    pub fn run(&mut self, script: &Script) -> Places {
        let mut after = Vec::with_capacity(script.len());
        for (group, time) in script.groups.iter().zip(&script.times) {
            let count = &mut self.counts[*group as usize];
            if count.rows == 0 || !script.peers || count.time != *time {
                count.rank = count.rows + 1;
                count.dense += 1;
                count.time = *time;
            }
            count.rows += 1;
            after.push(*count);
        }
        Places(script.reads.iter().map(|step| after[*step as usize]).collect())
    }

    /// Lets partitions count anew.
    pub fn reset(&mut self, groups: &[u32]) {
        groups.iter().for_each(|group| self.counts[*group as usize] = Count::default());
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.counts.capacity() * size_of::<Count>()
    }

    /// Writes the count of a partition.
    pub fn write(&self, group: u32, out: &mut StateEncoder) {
        let count = self.counts[group as usize];
        [count.rows, count.rank, count.dense, count.time].into_iter().for_each(|n| out.i64(n));
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(&mut self, group: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        self.counts[group as usize] = Count {
            rows: input.i64()?,
            rank: input.i64()?,
            dense: input.i64()?,
            time: input.i64()?,
        };
        Ok(())
    }
}
