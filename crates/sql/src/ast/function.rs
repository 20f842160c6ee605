//! Function calls and the windows they run over.

use std::hash::{Hash, Hasher};

use super::{Expr, Ident, ObjectName, OrderItem, Query, SetQuantifier, Span};

/// A call: `name([DISTINCT] args) [IGNORE NULLS] [WITHIN GROUP (…)] [FILTER (…)] [OVER …]`.
///
/// Calls are equal whatever the case of the function's name, since Flink ignores it.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// The function's name as written; the parser's own (CURRENT_DATE, SUBSTRING …) in capitals.
    pub name: ObjectName,
    /// `DISTINCT` or `ALL` before the arguments.
    pub quantifier: Option<SetQuantifier>,
    /// The arguments.
    pub args: Vec<FunctionArg>,
    /// `RESPECT NULLS` or `IGNORE NULLS`.
    pub null_treatment: Option<NullTreatment>,
    /// `WITHIN GROUP (ORDER BY …)`, or an ORDER BY inside the parentheses; empty if absent.
    pub within_group: Vec<OrderItem>,
    /// `FILTER (WHERE …)`
    pub filter: Option<Box<Expr>>,
    /// `OVER …`
    pub over: Option<Window>,
    /// Where it stands.
    pub span: Span,
}

impl FunctionCall {
    /// A call with positional arguments and nothing else.
    pub fn new(name: ObjectName, args: Vec<Expr>, span: Span) -> Self {
        Self {
            name,
            quantifier: None,
            args: args.into_iter().map(FunctionArg::positional).collect(),
            null_treatment: None,
            within_group: Vec::new(),
            filter: None,
            over: None,
            span,
        }
    }
}

impl PartialEq for FunctionCall {
    fn eq(&self, other: &Self) -> bool {
        let same_name = |(ours, theirs): (&Ident, &Ident)| ours.eq_ignore_case(&theirs.value);
        self.name.parts.len() == other.name.parts.len()
            && self.name.parts.iter().zip(&other.name.parts).all(same_name)
            && self.quantifier == other.quantifier
            && self.args == other.args
            && self.null_treatment == other.null_treatment
            && self.within_group == other.within_group
            && self.filter == other.filter
            && self.over == other.over
    }
}

impl Eq for FunctionCall {}

impl Hash for FunctionCall {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for part in &self.name.parts {
            part.value.to_ascii_lowercase().hash(state);
        }
        self.args.hash(state);
        self.over.hash(state);
    }
}

/// One argument: `value` or `name => value`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionArg {
    /// The parameter's name where it is given.
    pub name: Option<Ident>,
    /// What is passed.
    pub value: FunctionArgValue,
    /// Where it stands.
    pub span: Span,
}

impl FunctionArg {
    /// An expression passed by position.
    pub fn positional(expr: Expr) -> Self {
        Self { name: None, span: expr.span, value: FunctionArgValue::Expr(expr) }
    }

    /// The expression of an argument passed by position.
    pub fn as_positional(&self) -> Option<&Expr> {
        match (&self.name, &self.value) {
            (None, FunctionArgValue::Expr(expr)) => Some(expr),
            _ => None,
        }
    }
}

/// What an argument can be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FunctionArgValue {
    /// An expression, `DESCRIPTOR(c)` included.
    Expr(Expr),
    /// `*`
    Star,
    /// `DEFAULT`
    Default,
    /// A query without parentheses of its own: `f(SELECT …)`.
    Query(Box<Query>),
    /// `TABLE t [PARTITION BY …] [ORDER BY …]`, `(query) PARTITION BY …`
    Table(Box<TableArg>),
    /// `MODEL m`
    Model(ObjectName),
}

/// A table passed to a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableArg {
    /// The table.
    pub input: TableArgInput,
    /// `PARTITION BY e, …`; empty if absent.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY e, …`; empty if absent.
    pub order_by: Vec<OrderItem>,
    /// Where it stands.
    pub span: Span,
}

/// What a table argument can be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableArgInput {
    /// `TABLE t`
    Table(ObjectName),
    /// `(query)`, where PARTITION BY or ORDER BY follows.
    Query(Box<Query>),
}

/// What to do with NULLs before an aggregate sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NullTreatment {
    /// `RESPECT NULLS`
    Respect,
    /// `IGNORE NULLS`
    Ignore,
}

/// What stands behind OVER.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// `OVER w`
    Named(Ident),
    /// `OVER (…)`
    Spec(Box<WindowSpec>),
}

/// `([base] [PARTITION BY …] [ORDER BY …] [frame])`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowSpec {
    /// A named window that this one refines.
    pub base: Option<Ident>,
    /// `PARTITION BY e, …`; empty if absent.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY e, …`; empty if absent.
    pub order_by: Vec<OrderItem>,
    /// `ROWS …`, `RANGE …`
    pub frame: Option<WindowFrame>,
    /// Where it stands, parentheses included.
    pub span: Span,
}

/// `{ROWS|RANGE} {start | BETWEEN start AND end}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowFrame {
    /// What bounds count.
    pub units: FrameUnits,
    /// The first row.
    pub start: FrameBound,
    /// The last row; CURRENT ROW where only the start is given.
    pub end: Option<FrameBound>,
    /// Where it stands.
    pub span: Span,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameUnits {
    /// `ROWS`
    Rows,
    /// `RANGE`
    Range,
}

/// A bound of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FrameBound {
    /// `UNBOUNDED PRECEDING`
    UnboundedPreceding,
    /// `e PRECEDING`
    Preceding(Box<Expr>),
    /// `CURRENT ROW`
    CurrentRow,
    /// `e FOLLOWING`
    Following(Box<Expr>),
    /// `UNBOUNDED FOLLOWING`
    UnboundedFollowing,
}
