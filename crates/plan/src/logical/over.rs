//! OVER windows: functions over the rows round each row.

use flott_functions::Expr;
use flott_types::{DataType, Value};

use super::{AggregateCall, SortKey};

/// Functions over one window. The node gives the columns of its input and, behind them, one a call.
///
/// A SELECT with several windows becomes a stack of these nodes.
#[derive(Clone)]
pub struct Over {
    /// Rows that agree in these see only each other.
    pub partition: Vec<Expr>,
    /// The order within a partition.
    pub order: Vec<SortKey>,
    /// Which rows round the current one count.
    pub frame: Frame,
    /// The functions.
    pub calls: Vec<OverCall>,
}

impl Over {
    /// All expressions over the input: partition, order, then those of the calls.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|key| &key.expr);
        self.partition.iter().chain(order).chain(self.calls.iter().flat_map(OverCall::exprs))
    }

    /// All expressions, to be rewritten.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        let calls = self.calls.iter_mut().flat_map(OverCall::exprs_mut);
        self.partition.iter_mut().chain(order).chain(calls)
    }
}

/// The rows round the current one that a function sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// What the bounds count.
    pub unit: FrameUnit,
    /// The first row.
    pub start: FrameBound,
    /// The last row.
    pub end: FrameBound,
}

impl Frame {
    /// From the first row of the partition to the current one.
    pub fn running(unit: FrameUnit) -> Self {
        Self { unit, start: FrameBound::UnboundedPreceding, end: FrameBound::CurrentRow }
    }

    /// The whole partition.
    pub fn partition() -> Self {
        Self {
            unit: FrameUnit::Range,
            start: FrameBound::UnboundedPreceding,
            end: FrameBound::UnboundedFollowing,
        }
    }
}

/// What the bounds of a frame count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Distances of the sort key; rows of equal keys are in or out together.
    Range,
}

/// A bound of a frame. An offset is a whole number of rows, or a distance that the sort key can be
/// moved by: an interval for times, a number for numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    /// The first row of the partition.
    UnboundedPreceding,
    /// So far before the current row.
    Preceding(Value),
    /// The current row; with RANGE its peers, too.
    CurrentRow,
    /// So far behind the current row.
    Following(Value),
    /// The last row of the partition.
    UnboundedFollowing,
}

/// One function over a window.
#[derive(Clone)]
pub struct OverCall {
    /// The function and its arguments.
    pub function: OverFunction,
    /// The type of the result.
    pub data_type: DataType,
}

/// What can stand before OVER.
#[derive(Clone)]
pub enum OverFunction {
    /// The place of a row in its partition.
    Ranking(RankingFunction),
    /// A value of another row: LAG, LEAD.
    Offset(Box<OffsetFunction>),
    /// An aggregate of the rows of the frame.
    Aggregate(AggregateCall),
}

/// Functions that look only at the order.
#[derive(Debug, Clone, PartialEq)]
pub enum RankingFunction {
    /// `ROW_NUMBER()`
    RowNumber,
    /// `RANK()`
    Rank,
    /// `DENSE_RANK()`
    DenseRank,
    /// `NTILE(buckets)`
    Ntile(Expr),
    /// `PERCENT_RANK()`
    PercentRank,
    /// `CUME_DIST()`
    CumeDist,
}

impl RankingFunction {
    /// The SQL name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RowNumber => "ROW_NUMBER",
            Self::Rank => "RANK",
            Self::DenseRank => "DENSE_RANK",
            Self::Ntile(_) => "NTILE",
            Self::PercentRank => "PERCENT_RANK",
            Self::CumeDist => "CUME_DIST",
        }
    }
}

/// `LAG(value[, offset[, default]])` or `LEAD(…)`.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetFunction {
    /// Whether the row lies ahead: LEAD.
    pub is_lead: bool,
    /// What is taken from the other row.
    pub value: Expr,
    /// How many rows away it is; 1 where nothing is said.
    pub offset: Option<Expr>,
    /// What stands in where there is no such row; NULL where nothing is said.
    pub default: Option<Expr>,
}

impl OffsetFunction {
    /// The SQL name.
    pub fn name(&self) -> &'static str {
        if self.is_lead { "LEAD" } else { "LAG" }
    }
}

impl OverCall {
    /// The SQL name of the function.
    pub fn name(&self) -> &'static str {
        match &self.function {
            OverFunction::Ranking(function) => function.name(),
            OverFunction::Offset(function) => function.name(),
            OverFunction::Aggregate(call) => call.function.name,
        }
    }

    /// The arguments, then the filter.
    pub fn exprs(&self) -> Vec<&Expr> {
        match &self.function {
            OverFunction::Ranking(RankingFunction::Ntile(buckets)) => vec![buckets],
            OverFunction::Ranking(_) => Vec::new(),
            OverFunction::Offset(function) => [&function.value]
                .into_iter()
                .chain(&function.offset)
                .chain(&function.default)
                .collect(),
            OverFunction::Aggregate(call) => call.args.iter().chain(&call.filter).collect(),
        }
    }

    /// The arguments and the filter, to be rewritten.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.function {
            OverFunction::Ranking(RankingFunction::Ntile(buckets)) => vec![buckets],
            OverFunction::Ranking(_) => Vec::new(),
            OverFunction::Offset(function) => {
                let OffsetFunction { value, offset, default, .. } = &mut **function;
                [value].into_iter().chain(offset).chain(default).collect()
            }
            OverFunction::Aggregate(call) => call.args.iter_mut().chain(&mut call.filter).collect(),
        }
    }

    /// Whether two calls give the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.data_type == other.data_type
            && match (&self.function, &other.function) {
                (OverFunction::Ranking(ours), OverFunction::Ranking(theirs)) => ours == theirs,
                (OverFunction::Offset(ours), OverFunction::Offset(theirs)) => ours == theirs,
                (OverFunction::Aggregate(ours), OverFunction::Aggregate(theirs)) => {
                    ours.digest() == theirs.digest()
                }
                _ => false,
            }
    }
}
