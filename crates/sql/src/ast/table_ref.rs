//! What stands in FROM.

use super::{Expr, FunctionCall, Hint, Ident, MatchRecognize, ObjectName, Query, Span, Text};

/// A table in FROM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableRef {
    /// What it is.
    pub kind: TableRefKind,
    /// `[AS] name [(column, …)]`
    pub alias: Option<TableAlias>,
    /// Where it stands, alias included.
    pub span: Span,
}

/// `[AS] name [(column, …)]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableAlias {
    /// The name.
    pub name: Ident,
    /// Names of the columns; empty if absent.
    pub columns: Vec<Ident>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of tables in FROM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableRefKind {
    /// `t [/*+ hints */]`
    Table {
        /// The table's, view's or common table expression's name.
        name: ObjectName,
        /// Hints behind the name.
        hints: Vec<Hint>,
    },
    /// `[LATERAL] (query)`; `(VALUES …)` too.
    Subquery {
        /// Whether LATERAL is there.
        lateral: bool,
        /// The query.
        query: Box<Query>,
    },
    /// `[LATERAL] TABLE(f(…))`, or a window table function without the wrapper: `TUMBLE(…)`.
    Function {
        /// Whether LATERAL is there.
        lateral: bool,
        /// The call.
        call: Box<FunctionCall>,
    },
    /// `[LATERAL] UNNEST(e, …) [WITH ORDINALITY]`
    Unnest {
        /// The collections; one at least.
        collections: Vec<Expr>,
        /// Whether a column with the position is added.
        with_ordinality: bool,
    },
    /// `left JOIN right`
    Join(Box<Join>),
    /// `input FOR SYSTEM_TIME AS OF period`; an alias of the whole is on the outer node.
    Snapshot {
        /// The versioned table.
        input: Box<TableRef>,
        /// The time of the version.
        period: Box<Expr>,
    },
    /// `input TABLESAMPLE {BERNOULLI|SYSTEM} (percentage) [REPEATABLE (seed)]`; the alias is on the
    /// inner node.
    Sample {
        /// The table sampled.
        input: Box<TableRef>,
        /// Row by row (BERNOULLI) or in blocks (SYSTEM).
        is_bernoulli: bool,
        /// How much of it, in percent; a number as written.
        percentage: Text,
        /// The seed, if given; a number as written.
        seed: Option<Text>,
    },
    /// `input MATCH_RECOGNIZE (…)`; an alias of the whole is on the outer node.
    MatchRecognize {
        /// The table matched on.
        input: Box<TableRef>,
        /// The pattern and its clauses.
        clause: Box<MatchRecognize>,
    },
}

/// A join.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// What stands left.
    pub left: TableRef,
    /// What stands right.
    pub right: TableRef,
    /// Which kind.
    pub kind: JoinKind,
    /// Whether NATURAL is there.
    pub natural: bool,
    /// ON or USING.
    pub condition: Option<JoinCondition>,
}

/// The kinds of joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// `JOIN`, `INNER JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
    /// `,`
    Comma,
}

/// The condition of a join.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JoinCondition {
    /// `ON e`
    On(Expr),
    /// `USING (column, …)`
    Using(Vec<Ident>),
}
