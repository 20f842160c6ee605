//! Queries.

use super::{Expr, Ident, ObjectName, Span, TableRef, Text, WindowSpec};

/// A query with all that may stand round its body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// `WITH …`
    pub with: Option<With>,
    /// SELECT, VALUES, a set operation, or a query in parentheses.
    pub body: QueryBody,
    /// `ORDER BY e, …`; empty if absent.
    pub order_by: Vec<OrderItem>,
    /// `OFFSET n [ROWS]`
    pub offset: Option<Expr>,
    /// `LIMIT n` or `FETCH {FIRST|NEXT} n {ROW|ROWS} ONLY`; absent for LIMIT ALL.
    pub fetch: Option<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// `WITH [RECURSIVE] cte, …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct With {
    /// Whether RECURSIVE is there.
    pub recursive: bool,
    /// The common table expressions; one at least.
    pub ctes: Vec<Cte>,
    /// Where it stands.
    pub span: Span,
}

/// `name [(column, …)] AS (query)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cte {
    /// The name.
    pub name: Ident,
    /// Names of the columns; empty if absent.
    pub columns: Vec<Ident>,
    /// The query.
    pub query: Query,
    /// Where it stands.
    pub span: Span,
}

/// The body of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryBody {
    /// What it is.
    pub kind: QueryBodyKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of query bodies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QueryBodyKind {
    /// `SELECT …`
    Select(Box<Select>),
    /// `left {UNION|INTERSECT|EXCEPT} [ALL] right`
    SetOperation {
        /// What stands left.
        left: Box<QueryBody>,
        /// The operator.
        op: SetOp,
        /// Whether duplicates stay.
        all: bool,
        /// What stands right.
        right: Box<QueryBody>,
    },
    /// `VALUES (…), …`; a row of one value may stand without parentheses.
    Values(Vec<ValuesRow>),
    /// `TABLE t`
    Table(ObjectName),
    /// `(query)` as an operand of a set operation, or with a WITH, ORDER BY or LIMIT of its own.
    Nested(Box<Query>),
}

/// The set operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetOp {
    /// `UNION`
    Union,
    /// `INTERSECT`
    Intersect,
    /// `EXCEPT`
    Except,
}

/// A row of VALUES.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValuesRow {
    /// The values; one at least.
    pub values: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// One SELECT.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Select {
    /// Hints behind SELECT.
    pub hints: Vec<Hint>,
    /// `ALL` or `DISTINCT`.
    pub quantifier: Option<SetQuantifier>,
    /// What is selected; one at least.
    pub items: Vec<SelectItem>,
    /// `FROM …`; a comma list is a join of kind comma.
    pub from: Option<TableRef>,
    /// `WHERE …`
    pub where_clause: Option<Expr>,
    /// `GROUP BY …`
    pub group_by: Option<GroupBy>,
    /// `HAVING …`
    pub having: Option<Expr>,
    /// `WINDOW w AS (…), …`; empty if absent.
    pub windows: Vec<NamedWindow>,
    /// `QUALIFY …`
    pub qualify: Option<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// `ALL` or `DISTINCT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetQuantifier {
    /// `ALL`
    All,
    /// `DISTINCT`
    Distinct,
}

/// `e [[AS] alias]`; stars are expressions here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SelectItem {
    /// What is selected.
    pub expr: Expr,
    /// The name given to it.
    pub alias: Option<Ident>,
    /// Where it stands.
    pub span: Span,
}

/// `GROUP BY [DISTINCT|ALL] element, …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupBy {
    /// Whether equal grouping sets count once.
    pub quantifier: Option<SetQuantifier>,
    /// The elements; one at least.
    pub elements: Vec<GroupingElement>,
    /// Where it stands.
    pub span: Span,
}

/// An element of GROUP BY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupingElement {
    /// What it is.
    pub kind: GroupingElementKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of grouping elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupingElementKind {
    /// One expression.
    Expr(Expr),
    /// `(a, b)`, or `()` for the whole table.
    Set(Vec<Expr>),
    /// `GROUPING SETS (element, …)`
    GroupingSets(Vec<GroupingElement>),
    /// `CUBE (element, …)`; the elements are expressions or sets.
    Cube(Vec<GroupingElement>),
    /// `ROLLUP (element, …)`; the elements are expressions or sets.
    Rollup(Vec<GroupingElement>),
}

/// `w AS (…)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedWindow {
    /// The name.
    pub name: Ident,
    /// The window.
    pub spec: WindowSpec,
    /// Where it stands.
    pub span: Span,
}

/// `e [ASC|DESC] [NULLS {FIRST|LAST}]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderItem {
    /// What is ordered by.
    pub expr: Expr,
    /// Whether DESC is there.
    pub descending: bool,
    /// Where NULLs go, if said.
    pub nulls: Option<NullsOrder>,
    /// Where it stands.
    pub span: Span,
}

/// Where NULLs go in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NullsOrder {
    /// `NULLS FIRST`
    First,
    /// `NULLS LAST`
    Last,
}

/// One hint of `/*+ … */`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// The hint's name as written.
    pub name: Ident,
    /// What it is given; empty without parentheses.
    pub args: Vec<HintArg>,
    /// Where it stands.
    pub span: Span,
}

/// An argument of a hint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HintArg {
    /// `t`, `catalog.database.t`
    Name(ObjectName),
    /// A number as written.
    Number(Text),
    /// `'text'`
    Text(Text),
    /// `'key' = 'value'`, `key = 'value'`
    KeyValue {
        /// The key.
        key: Text,
        /// The value.
        value: Text,
    },
}
