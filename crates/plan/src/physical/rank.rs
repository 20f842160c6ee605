//! The physical forms of Top-N, deduplication and ORDER BY in streaming.

use crate::logical::{RankEnd, RankFunction, RankRange};
use crate::traits::state::StateBound;

/// A column of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrderColumn {
    /// The column.
    pub column: usize,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// An order of rows; rows that are equal in it go by their arrival.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RowOrder {
    /// The columns, the most significant first. Processing time is none of them: that is the order of arrival.
    pub columns: Vec<OrderColumn>,
    /// Whether of equal rows the one that came last comes first.
    pub newest_first: bool,
}

/// Top-N: the rows of each partition whose rank lies in a range, with a changelog of every change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// Why there is a rank, for EXPLAIN.
    pub origin: RankOrigin,
    /// How rows are counted.
    pub function: RankFunction,
    /// The columns of the partition.
    pub partition: Vec<usize>,
    /// The order within it.
    pub order: RowOrder,
    /// The ranks wanted.
    pub range: RankRange,
    /// What the input's changes allow.
    pub strategy: RankStrategy,
    /// Whether the rank is given as the last column.
    pub with_number: bool,
    /// Whether −U rows are wanted.
    pub emit_update_before: bool,
    /// Whether only the final rows are wanted, at the end of the input (batch mode).
    pub final_only: bool,
    /// Idle partitions are forgotten after so many milliseconds; 0: never.
    pub state_ttl: u64,
}

impl Rank {
    /// What bounds its state; `partition` names the partition's columns.
    pub(crate) fn state_bound(&self, bounded: bool, partition: &str) -> StateBound {
        if self.final_only {
            return StateBound::BoundedInput;
        }
        let keeps_all = self.strategy == RankStrategy::Retract;
        let is_fixed = matches!(self.range.end, RankEnd::Constant(_))
            && self.function == RankFunction::RowNumber;
        if self.partition.is_empty() && !keeps_all && is_fixed {
            return StateBound::Constant;
        }
        StateBound::keyed(self.state_ttl, bounded, || {
            match (keeps_all, self.partition.is_empty()) {
                (true, _) => "all rows of its input, which may be taken back".to_string(),
                (false, true) => "the first rows".to_string(),
                (false, false) => format!("the first rows of each ({partition})"),
            }
        })
    }

    /// What Flink would refuse in it.
    pub(crate) fn not_in_flink(&self) -> Option<String> {
        let is_refused = self.function != RankFunction::RowNumber && !self.final_only;
        is_refused.then(|| format!("{}() in streaming", self.function.name()))
    }
}

/// What a [`Rank`] was written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankOrigin {
    /// A filter on a rank.
    Rank,
    /// `ORDER BY … LIMIT`.
    SortLimit,
    /// `LIMIT` over rows that may be taken back.
    Limit,
}

/// How a Top-N keeps its rows, Flink's `RankProcessStrategy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankStrategy {
    /// Rows are never taken back: only those within the range are kept.
    AppendFast,
    /// A row, found by its unique key, only ever moves up: only those within the range are kept.
    UpdateFast {
        /// The unique key, which holds the partition's columns.
        key: Vec<usize>,
    },
    /// Rows may be taken back: all of them are kept.
    Retract,
}

/// Keeps the first or the last row of each key by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deduplicate {
    /// The columns of the key.
    pub key: Vec<usize>,
    /// The column of event time; `None`: by processing time, which is the order of arrival.
    pub rowtime: Option<usize>,
    /// Which row is kept.
    pub keep: Keep,
    /// Whether −U rows are wanted.
    pub emit_update_before: bool,
    /// Idle keys are forgotten after so many milliseconds; 0: never.
    pub state_ttl: u64,
}

/// Which of the rows of a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The earliest; of several the one that came first.
    First,
    /// The latest; of several the one that came last.
    Last,
}

impl Keep {
    /// The name that EXPLAIN prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "FirstRow",
            Self::Last => "LastRow",
        }
    }
}

/// ORDER BY time: rows in order as time passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporalSort {
    /// The column of event time; `None`: by processing time.
    pub rowtime: Option<usize>,
    /// The order of rows of the same time.
    pub order: Vec<OrderColumn>,
}

/// Top-N and deduplication by window: given out when the window ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowRank {
    /// How rows are counted.
    pub function: RankFunction,
    /// The columns of the partition, those of the window's bounds among them.
    pub partition: Vec<usize>,
    /// The column of the window's start.
    pub window_start: usize,
    /// The column of its end.
    pub window_end: usize,
    /// Whether the window's time is a TIMESTAMP_LTZ, so that its bounds are those of the session's zone.
    pub is_ltz: bool,
    /// The order within a partition.
    pub order: RowOrder,
    /// The ranks wanted.
    pub range: RankRange,
    /// Whether the rank is given as the last column.
    pub with_number: bool,
    /// Of a deduplication, which row is kept.
    pub keep: Option<Keep>,
    /// Whether input rows may be taken back.
    pub input_retracts: bool,
}

impl WindowRank {
    /// What Flink would refuse in it.
    pub(crate) fn not_in_flink(&self) -> Option<String> {
        if self.input_retracts {
            return Some("a window Top-N over rows that may be taken back".to_string());
        }
        let is_refused = self.function != RankFunction::RowNumber;
        is_refused.then(|| format!("{}() by window", self.function.name()))
    }
}
