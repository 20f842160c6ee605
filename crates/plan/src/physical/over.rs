//! OVER windows.

use flott_types::{DataType, Value};

use super::ColumnAggregate;
use crate::logical::Frame;

/// Functions over the rows round each row: gives the columns of the input, then one a function.
#[derive(Clone)]
pub struct OverWindow {
    /// Rows that agree in these columns see only each other.
    pub partition: Vec<usize>,
    /// The order within a partition: columns, each with whether large values and NULLs come first.
    pub order: Vec<(usize, bool, bool)>,
    /// Which rows count. Offsets of RANGE are in the unit of the sort key: milliseconds for times.
    pub frame: Frame,
    /// The functions.
    pub functions: Vec<WindowFunction>,
    /// How results come about.
    pub mode: OverMode,
    /// Partitions without a row for so many milliseconds are forgotten; 0: never.
    pub state_ttl: u64,
}

/// How the results of an [`OverWindow`] come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverMode {
    /// In the order of event time; a row comes out when the watermark has passed it.
    Rowtime,
    /// In the order of arrival.
    Proctime,
    /// In the order of any column: later rows change the results of earlier ones.
    Updating,
    /// At the end of the input.
    Batch,
}

/// A function of an [`OverWindow`].
#[derive(Clone)]
pub enum WindowFunction {
    /// `ROW_NUMBER()`
    RowNumber,
    /// `RANK()`
    Rank,
    /// `DENSE_RANK()`
    DenseRank,
    /// `PERCENT_RANK()`
    PercentRank,
    /// `CUME_DIST()`
    CumeDist,
    /// `NTILE(buckets)`
    Ntile(Operand),
    /// `LAG(value, offset, default)` or `LEAD(…)`.
    Offset(RowOffset),
    /// An aggregate of the frame.
    Aggregate(ColumnAggregate),
}

/// `LAG` or `LEAD`.
#[derive(Debug, Clone, PartialEq)]
pub struct RowOffset {
    /// Whether the row lies ahead.
    pub is_lead: bool,
    /// The column of the value.
    pub value: usize,
    /// How many rows away it is.
    pub offset: Operand,
    /// What stands in where there is no such row.
    pub default: Operand,
    /// The type of the result.
    pub data_type: DataType,
}

/// An argument: one value for all rows, or one a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A constant.
    Constant(Value),
    /// A column of the input.
    Column(usize),
}

impl WindowFunction {
    /// The SQL name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RowNumber => "ROW_NUMBER",
            Self::Rank => "RANK",
            Self::DenseRank => "DENSE_RANK",
            Self::PercentRank => "PERCENT_RANK",
            Self::CumeDist => "CUME_DIST",
            Self::Ntile(_) => "NTILE",
            Self::Offset(RowOffset { is_lead: true, .. }) => "LEAD",
            Self::Offset(_) => "LAG",
            Self::Aggregate(call) => call.function.name,
        }
    }
}
