//! The physical plan: a graph of operators with their traits, ready to be run.
//!
//! Nodes stand in an arena in an order in which inputs come before their readers. A node that several
//! nodes read runs once. Expressions are confined to sources, calcs and join conditions; all
//! other operators work on columns.

mod aggregate;
mod over;
mod rank;

use std::sync::Arc;

use flott_functions::Expr;
use flott_sql::ast::Span;
use flott_types::{ChangelogMode, Schema, Value};

use crate::MiniBatch;
use crate::config::{Enforcement, KeyedShuffle};
pub use crate::logical::Correlate;
use crate::logical::{ChangelogFunction, ConflictStrategy, JoinKind, Scan, Sink, WindowKind};
use crate::traits::state::StateBound;

pub use aggregate::{
    AggregatePhase, ColumnAggregate, GroupAggregate, GroupedRows, LocalGroupAggregate,
    PartialLayout, SplitStep, ValueSet,
};
pub use over::{Operand, OverMode, OverWindow, RowOffset, WindowFunction};
pub use rank::{
    Deduplicate, Keep, OrderColumn, Rank, RankOrigin, RankStrategy, RowOrder, TemporalSort,
    WindowRank,
};

/// The number of a node in its plan.
pub type NodeId = usize;

/// A plan of one job.
pub struct PhysicalPlan {
    /// The operators, inputs before readers.
    pub nodes: Vec<PhysicalNode>,
    /// The sinks, in the order of their statements.
    pub sinks: Vec<NodeId>,
}

/// An operator of the plan.
pub struct PhysicalNode {
    /// What it does.
    pub op: PhysicalOp,
    /// What it reads.
    pub inputs: Vec<PhysicalInput>,
    /// The columns it gives.
    pub schema: Arc<Schema>,
    /// The kinds of rows it gives.
    pub changelog: ChangelogMode,
    /// Sets of columns by which no two rows of the result are equal.
    pub unique_keys: Vec<Vec<usize>>,
    /// What bounds its state.
    pub state: StateBound,
    /// How it gathers rows to give their net change; `None`: it gives every change at once.
    pub mini_batch: Option<MiniBatch>,
    /// The place in the statement's text that caused it.
    pub span: Option<Span>,
}

/// An input and how its rows are spread over parallel tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalInput {
    /// The node read.
    pub node: NodeId,
    /// How rows find their task.
    pub distribution: Distribution,
}

/// How rows find the task that works on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// They stay where they are.
    Any,
    /// Rows that agree in these columns meet in one task.
    Hash(Vec<usize>),
    /// All rows meet in one task.
    Single,
}

/// What an operator does.
pub enum PhysicalOp {
    /// Reads a table and makes its watermarks.
    Source(Scan),
    /// Gives constant rows.
    Values(Vec<Vec<Value>>),
    /// Filters, then computes columns.
    Calc(Calc),
    /// Finds a row pattern and gives a row for each match.
    Match(crate::matching::Match),
    /// Gives one row for each list of expressions and input row.
    Expand(Vec<Vec<Expr>>),
    /// Aggregates groups, with a changelog of every change.
    GroupAggregate(GroupAggregate),
    /// Aggregates the rows of a bundle before they are sent to the task of their key.
    LocalGroupAggregate(LocalGroupAggregate),
    /// Aggregates the groups of each window and gives them out when the window ends.
    WindowAggregate(WindowAggregate),
    /// Adds the windows of each row.
    WindowAssign(WindowOf),
    /// Joins each row with the rows that a table function gives for it.
    Correlate(Correlate),
    /// Top-N, with a changelog of every change.
    Rank(Rank),
    /// Keeps the first or the last row of each key.
    Deduplicate(Deduplicate),
    /// Top-N and deduplication by window, given out when the window ends.
    WindowRank(WindowRank),
    /// Gives rows in the order of time.
    TemporalSort(TemporalSort),
    /// Adds columns computed over the rows round each row.
    Over(OverWindow),
    /// Joins two inputs whose rows are kept.
    Join(RegularJoin),
    /// Joins two inputs within an interval of time.
    IntervalJoin(IntervalJoin),
    /// Joins the rows of equal windows when the windows end.
    WindowJoin(WindowJoin),
    /// Joins each left row with the version of a table that held at its time.
    TemporalJoin(TemporalJoin),
    /// Joins each row with what a table holds when the row arrives.
    LookupJoin(Box<LookupJoin>),
    /// Passes on the rows of all inputs.
    Union,
    /// Passes on the first rows.
    Limit {
        /// Rows left out at the beginning.
        offset: u64,
        /// Rows given at most.
        fetch: u64,
    },
    /// Gives out all rows in order at the end of the input; batch mode only.
    Sort(BatchSort),
    /// Keeps the last row of each key, and completes updates and deletions from it.
    ChangelogNormalize {
        /// The key.
        key: Vec<usize>,
        /// Whether −U rows are wanted.
        emit_update_before: bool,
    },
    /// Gives a sink one row a key, where rows of different keys of the query may share one.
    SinkMaterialize(SinkMaterialize),
    /// Turns rows with an operation code into a changelog, or a changelog into such rows.
    ChangelogFunction(ChangelogFunction),
    /// Drops −U rows.
    DropUpdateBefore,
    /// Writes a table, or hands rows to whoever runs the query.
    Sink(PhysicalSink),
}

/// Filters, then computes columns.
pub struct Calc {
    /// Which rows pass.
    pub condition: Option<Expr>,
    /// The columns computed.
    pub projection: Vec<Expr>,
}

/// Aggregation by window.
pub struct WindowAggregate {
    /// Where the windows come from.
    pub window: WindowSource,
    /// The columns of the keys beside the window.
    pub keys: Vec<usize>,
    /// The aggregates.
    pub calls: Vec<ColumnAggregate>,
    /// The columns given before the aggregates.
    pub outputs: Vec<WindowOutput>,
    /// Whether input rows may be taken back.
    pub input_retracts: bool,
    /// That it is a group window, of GROUP BY, and not a window table function.
    pub group_window: Option<GroupWindow>,
}

/// What group windows have and window table functions have not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupWindow {
    /// When results are given beside the end of the window; `None`: never.
    pub emit: Option<EmitStrategy>,
}

/// `table.exec.emit.*`: when results are given beside the end of the window. They are updated then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmitStrategy {
    /// Before the end: milliseconds of processing time after a window's first row, and then again and
    /// again; 0: with every row.
    pub early: Option<u64>,
    /// The same after the end of event-time windows, which are kept for `allow_lateness`.
    pub late: Option<u64>,
    /// For how many milliseconds of event time windows are kept after their end.
    pub allow_lateness: u64,
}

/// Where the windows of a [`WindowAggregate`] come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowSource {
    /// The time column of the input is cut into windows.
    Assign(WindowOf),
    /// The input's columns `window_start` and `window_end` name each row's window.
    Attached {
        /// The column of the start.
        start: usize,
        /// The column of the end.
        end: usize,
        /// Whether windows end by event time.
        is_rowtime: bool,
        /// Whether the window's time is a TIMESTAMP_LTZ.
        is_ltz: bool,
    },
}

/// Windows over a time column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowOf {
    /// Which windows.
    pub kind: WindowKind,
    /// The time column.
    pub time_column: usize,
    /// Whether it is event time.
    pub is_rowtime: bool,
    /// Whether it is a TIMESTAMP_LTZ: windows then align to the session's zone.
    pub is_ltz: bool,
    /// Of SESSION: the columns by which sessions are told apart.
    pub partition: Vec<usize>,
}

/// A column that a [`WindowAggregate`] gives before its aggregates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOutput {
    /// The key at this position of `keys`.
    Key(usize),
    /// The start of the window.
    Start,
    /// Its end.
    End,
    /// Its end less one millisecond, a time attribute.
    Time,
}

/// A join whose inputs are kept.
pub struct RegularJoin {
    /// Which kind.
    pub kind: JoinKind,
    /// The key columns of the left input.
    pub left_keys: Vec<usize>,
    /// The key columns of the right input.
    pub right_keys: Vec<usize>,
    /// For each key, whether NULL equals NULL.
    pub null_safe: Vec<bool>,
    /// What else must be TRUE, over the columns of both inputs.
    pub residual: Option<Expr>,
    /// Unique keys of the left input.
    pub left_unique: Vec<Vec<usize>>,
    /// Unique keys of the right input.
    pub right_unique: Vec<Vec<usize>>,
    /// Whether rows of the left and the right input are never taken back.
    pub insert_only: [bool; 2],
    /// Rows of the left and the right input that are not touched for so many milliseconds are
    /// forgotten; 0: never.
    pub state_ttl: [u64; 2],
    /// Whether only final rows are wanted (batch mode).
    pub batch: bool,
}

/// A join whose rows meet only if `left.time BETWEEN right.time + lower AND right.time + upper`.
pub struct IntervalJoin {
    /// Which kind; neither SEMI nor ANTI.
    pub kind: JoinKind,
    /// The key columns of the left input.
    pub left_keys: Vec<usize>,
    /// The key columns of the right input.
    pub right_keys: Vec<usize>,
    /// For each key, whether NULL equals NULL.
    pub null_safe: Vec<bool>,
    /// What else must be TRUE, over the columns of both inputs.
    pub residual: Option<Expr>,
    /// The time column of the left input.
    pub left_time: usize,
    /// The time column of the right input.
    pub right_time: usize,
    /// Whether both are event time.
    pub is_rowtime: bool,
    /// In milliseconds.
    pub lower: i64,
    /// In milliseconds.
    pub upper: i64,
    /// `table.exec.interval-join.min-cleanup-interval` in milliseconds: rows are freed so much later
    /// than they could be, and more of them at once.
    pub min_cleanup_interval: u64,
}

/// A join of rows of one window, given out when the window ends.
pub struct WindowJoin {
    /// Which kind.
    pub kind: JoinKind,
    /// The key columns of the left input.
    pub left_keys: Vec<usize>,
    /// The key columns of the right input.
    pub right_keys: Vec<usize>,
    /// For each key, whether NULL equals NULL.
    pub null_safe: Vec<bool>,
    /// What else must be TRUE, over the columns of both inputs.
    pub residual: Option<Expr>,
    /// The columns of the window's bounds in the left input.
    pub left_window: (usize, usize),
    /// Those in the right input.
    pub right_window: (usize, usize),
    /// Whether the windows' time is a TIMESTAMP_LTZ.
    pub is_ltz: bool,
}

/// `FOR SYSTEM_TIME AS OF`, answered from the changes of the right input.
pub struct TemporalJoin {
    /// INNER or LEFT.
    pub kind: JoinKind,
    /// The key columns of the left input.
    pub left_keys: Vec<usize>,
    /// The key columns of the right input.
    pub right_keys: Vec<usize>,
    /// For each key, whether NULL equals NULL.
    pub null_safe: Vec<bool>,
    /// What else must be TRUE, over the columns of both inputs.
    pub residual: Option<Expr>,
    /// The time columns of the left and the right input; `None`: the latest version counts, in
    /// processing time.
    pub times: Option<(usize, usize)>,
    /// Whether −U rows of the right input are passed over: the +U that follows replaces them.
    pub ignore_update_before: bool,
    /// Keys idle for so many milliseconds are forgotten; 0: never.
    pub state_ttl: u64,
}

/// `FOR SYSTEM_TIME AS OF` processing time, answered by the table's connector.
pub struct LookupJoin {
    /// INNER or LEFT.
    pub kind: JoinKind,
    /// The table that is looked up, with the columns read of it.
    pub table: Scan,
    /// What the key is made of.
    pub keys: Vec<LookupKey>,
    /// The columns of the table that the join gives, over what is read.
    pub projection: Vec<Expr>,
    /// Which rows of the table count, over what is read.
    pub condition: Option<Expr>,
    /// What else must be TRUE, over the columns of the input and the projection.
    pub residual: Option<Expr>,
    /// Tries again where a key has no rows: how often, and the pause in milliseconds.
    pub retry: Option<(u32, u64)>,
}

/// A column of a lookup's key.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupKey {
    /// Its position in what is read of the table.
    pub column: usize,
    /// What it is compared with.
    pub value: LookupValue,
}

/// What a column of a lookup's key is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum LookupValue {
    /// A column of the input.
    Column(usize),
    /// A constant of the column's type.
    Constant(Expr),
}

/// Sorting a bounded input.
pub struct BatchSort {
    /// The columns, each with whether large values and NULLs come first.
    pub keys: Vec<(usize, bool, bool)>,
    /// Rows left out at the beginning.
    pub offset: u64,
    /// Rows given at most.
    pub fetch: Option<u64>,
}

/// A sink and what is enforced before it.
pub struct PhysicalSink {
    /// What is written.
    pub sink: Sink,
    /// What becomes of values that the columns' types do not allow.
    pub enforcement: Enforcement,
    /// Whether rows meet by their primary key before the sink.
    pub keyed_shuffle: KeyedShuffle,
}

/// Which of several rows that share a sink's primary key is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkMaterialize {
    /// The sink's primary key.
    pub key: Vec<usize>,
    /// By which columns the query tells its rows apart; empty: by all of them.
    pub upsert_key: Vec<usize>,
    /// What happens when rows share a key.
    pub conflict: ConflictStrategy,
    /// Whether the upsert key is part of the primary key: then no two rows share one.
    pub fits: bool,
}

impl SinkMaterialize {
    /// The word of the ON CONFLICT clause.
    pub fn strategy(&self) -> &'static str {
        match self.conflict {
            ConflictStrategy::Deduplicate => "DEDUPLICATE",
            ConflictStrategy::Error => "ERROR",
            ConflictStrategy::Nothing => "NOTHING",
        }
    }
}

impl PhysicalOp {
    /// The table that the operator reads: as a source, or to look rows up.
    pub fn scan(&self) -> Option<&Scan> {
        match self {
            Self::Source(scan) => Some(scan),
            Self::LookupJoin(join) => Some(&join.table),
            _ => None,
        }
    }
}

impl PhysicalPlan {
    /// A node.
    pub fn node(&self, id: NodeId) -> &PhysicalNode {
        &self.nodes[id]
    }
}
