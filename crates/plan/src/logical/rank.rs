//! Ranks of which only some are wanted: Top-N and deduplication.

use super::SortKey;

/// The rows whose rank lies in a range: `ROW_NUMBER() OVER (…)` or its kin below a filter on it.
///
/// The node gives the columns of its input and, if wanted, the rank behind them.
#[derive(Clone)]
pub struct Rank {
    /// How rows are counted.
    pub function: RankFunction,
    /// Columns: rows that agree in these are ranked among each other.
    pub partition: Vec<usize>,
    /// The order, over columns; ties go by arrival.
    pub order: Vec<SortKey>,
    /// The ranks wanted.
    pub range: RankRange,
    /// Whether the rank is given as a column.
    pub with_number: bool,
}

/// How rows are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RankFunction {
    /// Each row has a number of its own.
    RowNumber,
    /// Ties share the number of the first of them, and leave a gap behind.
    Rank,
    /// Ties share a number, without gaps.
    DenseRank,
}

impl RankFunction {
    /// The SQL name.
    pub fn name(self) -> &'static str {
        match self {
            Self::RowNumber => "ROW_NUMBER",
            Self::Rank => "RANK",
            Self::DenseRank => "DENSE_RANK",
        }
    }
}

/// Ranks from `start` to `end`, both included and counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankRange {
    /// The first rank.
    pub start: u64,
    /// The last rank.
    pub end: RankEnd,
}

/// The last rank of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RankEnd {
    /// The same for all partitions; 0 or less: there is none.
    Constant(i64),
    /// The value of a column less a constant: of a partition's first row, which is Flink's rule; of
    /// each row in batch mode.
    Column {
        /// The column, of an integer type.
        column: usize,
        /// What is subtracted from it.
        less: i64,
    },
    /// None: only batch mode can do so.
    Unbounded,
}

impl RankRange {
    /// The ranks 1 to `end`.
    pub fn first(end: u64) -> Self {
        Self { start: 1, end: RankEnd::Constant(i64::try_from(end).unwrap_or(i64::MAX)) }
    }

    /// Whether only one rank is wanted.
    pub fn is_one(self) -> bool {
        i64::try_from(self.start).is_ok_and(|start| self.end == RankEnd::Constant(start.max(1)))
    }

    /// Whether only rank 1 is wanted.
    pub fn is_top_1(self) -> bool {
        self.start <= 1 && self.end == RankEnd::Constant(1)
    }
}
