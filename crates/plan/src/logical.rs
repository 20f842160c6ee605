//! The logical plan: relational algebra plus the few nodes that streaming needs.

mod over;
mod rank;

use std::collections::HashMap;
use std::sync::Arc;

use flott_catalog::connector::{PushedPredicate, ScanColumn, SplitFilter, TableSink, TableSource};
use flott_catalog::{ObjectPath, Table};
use flott_functions::aggregate::AggregateFunction;
use flott_functions::table::TableFunction;
use flott_functions::{CallArgs, Expr};
pub use flott_sql::ast::ConflictStrategy;
use flott_sql::ast::Span;
use flott_types::{DataType, RowKind, Schema};

pub use over::{
    Frame, FrameBound, FrameUnit, OffsetFunction, Over, OverCall, OverFunction, RankingFunction,
};
pub use rank::{Rank, RankEnd, RankFunction, RankRange};

/// A shared plan; the same node may be the input of several.
pub type PlanRef = Arc<LogicalPlan>;

/// A node of the logical plan.
#[derive(Clone)]
pub struct LogicalPlan {
    /// What the node does.
    pub op: LogicalOp,
    /// What it reads.
    pub inputs: Vec<PlanRef>,
    /// The columns it gives.
    pub schema: Arc<Schema>,
    /// The place in the statement's text that caused it.
    pub span: Option<Span>,
}

/// What a node does.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // A plan has few nodes, and each is behind a pointer.
pub enum LogicalOp {
    /// Reads a table.
    Scan(Scan),
    /// Gives constant rows.
    Values(Vec<Vec<Expr>>),
    /// Computes columns.
    Project(Vec<Expr>),
    /// Keeps the rows for which a condition is TRUE.
    Filter(Expr),
    /// Finds a row pattern.
    Match(crate::matching::Match),
    /// Gives one row for each list of expressions and input row; grouping sets become this.
    Expand(Vec<Vec<Expr>>),
    /// Groups rows and aggregates each group.
    Aggregate(Aggregate),
    /// Adds window_start, window_end and window_time, a row for each window it falls into.
    Window(WindowAssignment),
    /// Adds columns computed over the rows round each row.
    Over(Over),
    /// Keeps the rows whose rank lies in a range.
    Rank(Rank),
    /// Joins two inputs.
    Join(Join),
    /// Joins each row with the rows that a table function gives for it.
    Correlate(Correlate),
    /// All rows of all inputs.
    Union,
    /// Orders rows and cuts them off.
    Sort(Sort),
    /// Keeps the last row of each key: turns upserts into a whole changelog.
    ChangelogNormalize(Vec<usize>),
    /// Turns rows with an operation code into a changelog, or a changelog into such rows.
    ChangelogFunction(ChangelogFunction),
    /// Writes a table.
    Sink(Sink),
}

/// FROM_CHANGELOG or TO_CHANGELOG.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ChangelogFunction {
    /// Each row's kind comes from a column, which is left out.
    From {
        /// The column.
        op: usize,
        /// What its values stand for.
        codes: Vec<(String, RowKind)>,
    },
    /// Each row's kind becomes the first column; rows of kinds without a code are left out.
    To {
        /// The codes by kind.
        codes: [Option<String>; 4],
    },
}

/// A table that is read.
#[derive(Clone)]
pub struct Scan {
    /// The table's path, for messages.
    pub path: ObjectPath,
    /// Its definition.
    pub table: Arc<Table>,
    /// What reads it.
    pub source: Arc<dyn TableSource>,
    /// What tells scans of one table with the same options apart from others.
    pub identity: String,
    /// The columns read, in order.
    pub columns: Vec<ScanColumn>,
    /// The watermark of a row, an expression over `columns`.
    pub watermark: Option<Expr>,
    /// `scan.watermark.idle-timeout`, in milliseconds.
    pub idle_timeout: Option<u64>,
    /// More rows than these are not needed.
    pub limit: Option<u64>,
    /// Conditions that the source decides for whole splits.
    pub filters: Vec<SplitFilter>,
    /// Conditions that the source hands on to what holds the rows.
    pub predicates: Vec<PushedPredicate>,
    /// Where bad records go: `fail`, `skip` or the dead-letter table's name.
    pub on_error: OnBadRecord,
}

/// What becomes of records that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnBadRecord {
    /// The job ends.
    Fail,
    /// They are counted and logged.
    Skip,
    /// They are written to a table.
    DeadLetter(ObjectPath),
}

/// `GROUP BY`.
#[derive(Clone)]
pub struct Aggregate {
    /// The keys.
    pub groups: Vec<Expr>,
    /// The aggregates.
    pub calls: Vec<AggregateCall>,
    /// STATE_TTL: how long idle groups are kept, in milliseconds; 0: for ever.
    pub state_ttl: Option<u64>,
}

impl Aggregate {
    /// An aggregation of which no hint says anything.
    pub fn new(groups: Vec<Expr>, calls: Vec<AggregateCall>) -> Self {
        Self { groups, calls, state_ttl: None }
    }
}

/// One aggregate of a GROUP BY.
#[derive(Clone)]
pub struct AggregateCall {
    /// The function.
    pub function: &'static AggregateFunction,
    /// Its arguments, in the types its rule asked for.
    pub args: Vec<Expr>,
    /// Words of special syntax.
    pub symbols: Vec<Arc<str>>,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// Which rows count.
    pub filter: Option<Expr>,
    /// The type of the result.
    pub data_type: DataType,
}

impl AggregateCall {
    /// A text that two calls share only if they are the same.
    pub fn digest(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("{}(", self.function.name);
        if self.distinct {
            text.push_str("DISTINCT ");
        }
        for (i, arg) in self.args.iter().enumerate() {
            let _ = write!(text, "{}{arg}", if i > 0 { ", " } else { "" });
        }
        for symbol in &self.symbols {
            let _ = write!(text, ", FLAG({symbol})");
        }
        text.push(')');
        if let Some(filter) = &self.filter {
            let _ = write!(text, " FILTER {filter}");
        }
        text
    }
}

/// A window table function over its input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WindowAssignment {
    /// Which windows.
    pub kind: WindowKind,
    /// The time column of the input.
    pub time_column: usize,
    /// Whether it is event time.
    pub is_rowtime: bool,
    /// Whether the column is a TIMESTAMP_LTZ, so that windows align to the session's zone.
    pub is_ltz: bool,
    /// Of SESSION: the columns by which sessions are told apart.
    pub partition: Vec<usize>,
    /// Whether it is a group window, of GROUP BY, and not a window table function.
    pub is_group_window: bool,
}

/// The windows of a window table function; all lengths in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The fields are the arguments of the SQL functions.
pub enum WindowKind {
    /// `TUMBLE(size[, offset])`
    Tumble { size: i64, offset: i64 },
    /// `HOP(slide, size[, offset])`
    Hop { slide: i64, size: i64, offset: i64 },
    /// `CUMULATE(step, size[, offset])`
    Cumulate { step: i64, size: i64, offset: i64 },
    /// `SESSION(gap)`
    Session { gap: i64 },
}

/// A join.
#[derive(Clone)]
pub struct Join {
    /// Which kind.
    pub kind: JoinKind,
    /// Pairs of expressions over the left and the right input that must be equal.
    pub equal: Vec<EquiPair>,
    /// What else must be TRUE, over the columns of both.
    pub residual: Option<Expr>,
    /// `FOR SYSTEM_TIME AS OF`: each left row meets the rows that the right table had then.
    pub as_of: Option<AsOf>,
    /// What hints say of it.
    pub hints: JoinHints,
}

impl Join {
    /// A join of two tables as they are, without hints.
    pub fn new(kind: JoinKind, equal: Vec<EquiPair>, residual: Option<Expr>) -> Self {
        Self { kind, equal, residual, as_of: None, hints: JoinHints::default() }
    }
}

/// The moment at which a join looks at its right table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsOf {
    /// The column of the left input that names the moment.
    pub time: usize,
    /// Whether that is event time.
    pub is_rowtime: bool,
    /// The column of the right input that tells since when a row holds; `None` when the right
    /// table is looked up, or its latest rows count.
    pub version: Option<usize>,
    /// The key of the right input, where it is a history read through a temporal table function.
    pub function_key: Option<usize>,
}

/// What hints say of a join.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct JoinHints {
    /// STATE_TTL: how long rows of the left and the right input are kept, in milliseconds; 0: for
    /// ever.
    pub state_ttl: [Option<u64>; 2],
    /// LOOKUP: how a lookup is tried again.
    pub lookup: Option<LookupHint>,
}

/// The retry options of a LOOKUP hint. Other options only choose between ways to the same rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LookupHint {
    /// `'retry-predicate' = 'lookup_miss'`: how often, and with which pause in milliseconds, a key
    /// without rows is looked up again.
    pub retry: Option<(u32, u64)>,
}

/// `left = right`, or `left IS NOT DISTINCT FROM right`.
#[derive(Clone)]
pub struct EquiPair {
    /// Over the left input.
    pub left: Expr,
    /// Over the right input.
    pub right: Expr,
    /// Whether NULL equals NULL.
    pub null_safe: bool,
}

/// The kinds of joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs that match.
    Inner,
    /// And left rows without match.
    Left,
    /// And right rows without match.
    Right,
    /// And both.
    Full,
    /// Left rows with a match, once.
    Semi,
    /// Left rows without a match.
    Anti,
}

impl JoinKind {
    /// The name EXPLAIN prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inner => "InnerJoin",
            Self::Left => "LeftOuterJoin",
            Self::Right => "RightOuterJoin",
            Self::Full => "FullOuterJoin",
            Self::Semi => "LeftSemiJoin",
            Self::Anti => "LeftAntiJoin",
        }
    }

    /// Whether left rows come out without a match, padded with NULLs.
    pub fn keeps_left(self) -> bool {
        matches!(self, Self::Left | Self::Full)
    }

    /// Whether right rows come out without a match, padded with NULLs.
    pub fn keeps_right(self) -> bool {
        matches!(self, Self::Right | Self::Full)
    }
}

/// A table function called for each row: `CROSS JOIN UNNEST(…)`, `LATERAL TABLE(f(…))`.
#[derive(Clone)]
pub struct Correlate {
    /// Inner, or left: rows for which the function gives none come out once, padded with NULLs.
    pub kind: JoinKind,
    /// The function.
    pub function: &'static TableFunction,
    /// Its arguments, over the input, in the types that its rule asked for.
    pub args: Vec<Expr>,
    /// Words of special syntax.
    pub symbols: Vec<Arc<str>>,
    /// Of a left one: which of the function's rows count, over the function's columns.
    pub condition: Option<Expr>,
    /// The columns of the input that the node gives, first.
    pub passed: Vec<usize>,
    /// The columns of the function that the node gives, behind them.
    pub given: Vec<usize>,
}

impl Correlate {
    /// The call as type rules and kernels see it.
    pub fn call_args(&self) -> CallArgs {
        crate::bind::table_call(self.function.name, &self.args, &self.symbols)
    }
}

/// `ORDER BY … LIMIT`.
#[derive(Clone)]
pub struct Sort {
    /// The order; empty for a bare LIMIT.
    pub keys: Vec<SortKey>,
    /// Rows left out at the beginning.
    pub offset: u64,
    /// Rows given at most.
    pub fetch: Option<u64>,
}

/// One key of an order.
#[derive(Clone, PartialEq)]
pub struct SortKey {
    /// By what.
    pub expr: Expr,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether NULLs come first; by default they are the smallest.
    pub nulls_first: bool,
}

/// A table that is written.
#[derive(Clone)]
pub struct Sink {
    /// The table's path; the name of a collected result.
    pub path: ObjectPath,
    /// What is written to.
    pub target: SinkTarget,
    /// Positions of the primary key in the written columns; empty without one.
    pub primary_key: Vec<usize>,
    /// Values of static partitions.
    pub static_partitions: Vec<(String, String)>,
    /// Whether what the table holds is replaced.
    pub overwrite: bool,
    /// `ON CONFLICT DO …`
    pub on_conflict: Option<ConflictStrategy>,
}

/// Where rows go.
#[derive(Clone)]
pub enum SinkTarget {
    /// To a table's connector.
    Table(Arc<dyn TableSink>),
    /// To whoever runs the query.
    Collect,
}

impl LogicalPlan {
    /// A node.
    pub fn new(op: LogicalOp, inputs: Vec<PlanRef>, schema: Schema) -> PlanRef {
        Arc::new(Self { op, inputs, schema: Arc::new(schema), span: None })
    }

    /// A node that stands for a place in the text.
    pub fn spanned(op: LogicalOp, inputs: Vec<PlanRef>, schema: Schema, span: Span) -> PlanRef {
        Arc::new(Self { op, inputs, schema: Arc::new(schema), span: Some(span) })
    }

    /// The only input.
    ///
    /// Panics on nodes that have none; callers match on the kind of node first.
    pub fn input(&self) -> &PlanRef {
        &self.inputs[0]
    }

    /// The same node over other inputs.
    pub fn with_inputs(&self, inputs: Vec<PlanRef>) -> PlanRef {
        Arc::new(Self { inputs, ..self.clone() })
    }

    /// A projection that renames and reorders nothing is left out.
    pub fn project(input: PlanRef, exprs: Vec<Expr>, schema: Schema) -> PlanRef {
        let identity = exprs.len() == input.schema.len()
            && exprs
                .iter()
                .enumerate()
                .all(|(i, e)| matches!(e, Expr::Column { index, .. } if *index == i))
            && schema == *input.schema;
        if identity { input } else { Self::new(LogicalOp::Project(exprs), vec![input], schema) }
    }

    /// Rewrites every node of some plans from the leaves up: each once, however many nodes read it, so that
    /// what is shared stays shared.
    pub fn transform(
        roots: &[PlanRef],
        rewrite: &mut impl FnMut(PlanRef) -> PlanRef,
    ) -> Vec<PlanRef> {
        let mut done = HashMap::new();
        roots.iter().map(|root| transform_once(root, rewrite, &mut done)).collect()
    }
}

fn transform_once(
    plan: &PlanRef,
    rewrite: &mut impl FnMut(PlanRef) -> PlanRef,
    done: &mut HashMap<*const LogicalPlan, PlanRef>,
) -> PlanRef {
    if let Some(known) = done.get(&Arc::as_ptr(plan)) {
        return known.clone();
    }
    let inputs: Vec<PlanRef> =
        plan.inputs.iter().map(|input| transform_once(input, rewrite, done)).collect();
    let unchanged = inputs.iter().zip(&plan.inputs).all(|(a, b)| Arc::ptr_eq(a, b));
    let rewritten = rewrite(if unchanged { plan.clone() } else { plan.with_inputs(inputs) });
    done.insert(Arc::as_ptr(plan), rewritten.clone());
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_node_is_rewritten_once_and_stays_shared() {
        let mut plan = LogicalPlan::new(LogicalOp::Union, Vec::new(), Schema::default());
        for _ in 0..40 {
            plan = LogicalPlan::new(
                LogicalOp::Union,
                vec![plan.clone(), plan.clone()],
                Schema::default(),
            );
        }
        let mut visited = 0;
        let roots = LogicalPlan::transform(&[plan.clone(), plan], &mut |plan| {
            visited += 1;
            LogicalPlan::new(plan.op.clone(), plan.inputs.clone(), Schema::default())
        });
        assert_eq!(visited, 41);
        assert!(Arc::ptr_eq(&roots[0], &roots[1]));
        assert!(Arc::ptr_eq(&roots[0].inputs[0], &roots[0].inputs[1]));
    }
}
