//! Expressions.

use super::{
    FunctionCall, Ident, IntervalQualifier, JsonFunction, Literal, Query, Span, TimeUnit, TypeName,
};

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands; parentheses round it are included.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// A name with its qualifiers: `catalog.database.table.column.field`, `column`.
    Identifier(Vec<Ident>),
    /// `*` as a select item.
    Star,
    /// `t.*`, `t.row.*`; the names before the star.
    QualifiedStar(Vec<Ident>),
    /// `+e`, `-e`, `NOT e`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// What it is applied to.
        operand: Box<Expr>,
    },
    /// `left op right` for arithmetic, concatenation, comparison and OVERLAPS.
    Binary {
        /// What stands left of the operator.
        left: Box<Expr>,
        /// The operator.
        op: BinaryOp,
        /// What stands right of it.
        right: Box<Expr>,
    },
    /// `a AND b AND c`, `a OR b`: a whole chain of one operator; at least two operands, none of
    /// which, but for parentheses on the right, is a chain of the same operator.
    Logical {
        /// AND or OR.
        op: LogicalOp,
        /// The operands in order.
        operands: Vec<Expr>,
    },
    /// `e IS [NOT] NULL`, `… TRUE`, `… JSON ARRAY`
    Is {
        /// What is tested.
        operand: Box<Expr>,
        /// For what.
        test: IsTest,
        /// Whether NOT is there.
        negated: bool,
    },
    /// `left IS [NOT] DISTINCT FROM right`
    IsDistinctFrom {
        /// What stands left.
        left: Box<Expr>,
        /// What stands right.
        right: Box<Expr>,
        /// Whether NOT is there.
        negated: bool,
    },
    /// `e [NOT] BETWEEN [SYMMETRIC] low AND high`
    Between {
        /// What is tested.
        operand: Box<Expr>,
        /// The bound written first.
        low: Box<Expr>,
        /// The bound written second.
        high: Box<Expr>,
        /// Whether the bounds may be in either order.
        symmetric: bool,
        /// Whether NOT is there.
        negated: bool,
    },
    /// `e [NOT] LIKE p [ESCAPE c]`, `e [NOT] SIMILAR TO p [ESCAPE c]`
    Like {
        /// LIKE or SIMILAR TO.
        kind: LikeKind,
        /// What is tested.
        operand: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<Box<Expr>>,
        /// Whether NOT is there.
        negated: bool,
    },
    /// `e [NOT] IN (a, b, …)`
    InList {
        /// What is looked for.
        operand: Box<Expr>,
        /// Where; at least one.
        list: Vec<Expr>,
        /// Whether NOT is there.
        negated: bool,
    },
    /// `e [NOT] IN (SELECT …)`
    InQuery {
        /// What is looked for; a row for several columns.
        operand: Box<Expr>,
        /// Where.
        query: Box<Query>,
        /// Whether NOT is there.
        negated: bool,
    },
    /// `EXISTS (SELECT …)`
    Exists(Box<Query>),
    /// `(SELECT …)` as a value.
    Subquery(Box<Query>),
    /// `e = ANY (…)`, `e < ALL (…)`; SOME is ANY.
    Quantified {
        /// What is compared.
        operand: Box<Expr>,
        /// The comparison.
        op: BinaryOp,
        /// ANY or ALL.
        quantifier: Quantifier,
        /// With what.
        target: QuantifiedTarget,
    },
    /// `CASE … END`
    Case {
        /// The value after CASE in the simple form.
        operand: Option<Box<Expr>>,
        /// At least one WHEN.
        branches: Vec<CaseBranch>,
        /// What stands after ELSE; absent for ELSE NULL too.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(e AS t)`, `TRY_CAST(e AS t)`
    Cast {
        /// What is cast.
        operand: Box<Expr>,
        /// To which type.
        target: Box<TypeName>,
        /// Whether failures give NULL.
        is_try: bool,
    },
    /// `f(a, b)` and all that can stand behind it. SUBSTRING, POSITION and OVERLAY with their
    /// keyword syntax, and functions without parentheses such as CURRENT_DATE, are ordinary calls
    /// with positional arguments here.
    Function(Box<FunctionCall>),
    /// `EXTRACT(unit FROM e)`
    Extract {
        /// Which field.
        unit: TimeUnit,
        /// Of what.
        operand: Box<Expr>,
    },
    /// `FLOOR(e TO unit)`, `CEIL(e TO unit)`; without TO they are ordinary calls.
    RoundTo {
        /// Down or up.
        direction: RoundDirection,
        /// What is rounded.
        operand: Box<Expr>,
        /// To which unit.
        unit: TimeUnit,
    },
    /// `TIMESTAMPADD(unit, count, e)`
    TimestampAdd {
        /// The unit counted in.
        unit: TimeUnit,
        /// How many.
        count: Box<Expr>,
        /// Added to what.
        operand: Box<Expr>,
    },
    /// `TIMESTAMPDIFF(unit, start, end)`
    TimestampDiff {
        /// The unit counted in.
        unit: TimeUnit,
        /// The point counted from.
        start: Box<Expr>,
        /// The point counted to.
        end: Box<Expr>,
    },
    /// `TRIM([BOTH|LEADING|TRAILING] [chars] FROM e)`, `TRIM(e)`
    Trim {
        /// Which side; BOTH where nothing is said.
        side: TrimSide,
        /// What is trimmed off; a blank where nothing is said.
        characters: Box<Expr>,
        /// From what.
        operand: Box<Expr>,
    },
    /// A JSON function with its clauses.
    Json(Box<JsonFunction>),
    /// `ROW(a, b)`, `(a, b)`
    Row {
        /// The fields; one at least.
        fields: Vec<Expr>,
    },
    /// `ARRAY[a, b]`
    Array(Vec<Expr>),
    /// `ARRAY(SELECT …)`
    ArrayQuery(Box<Query>),
    /// `MAP[k, v, …]`; keys and values in turn as written, an odd number included.
    Map(Vec<Expr>),
    /// `MAP(SELECT …)`
    MapQuery(Box<Query>),
    /// `MULTISET[a, b]`
    Multiset(Vec<Expr>),
    /// `MULTISET(SELECT …)`
    MultisetQuery(Box<Query>),
    /// `e[i]`
    Element {
        /// Array, map or variant.
        operand: Box<Expr>,
        /// Position or key.
        index: Box<Expr>,
    },
    /// `(e).f`, `a[1].f`, `f(x).g`; a plain `a.b` is an identifier.
    Field {
        /// The row.
        operand: Box<Expr>,
        /// The field's name.
        name: Ident,
    },
    /// `(left - right) qualifier`: the time between two points, in the given fields.
    Difference {
        /// The later point.
        left: Box<Expr>,
        /// The earlier point.
        right: Box<Expr>,
        /// The fields.
        qualifier: IntervalQualifier,
    },
    /// `INTERVAL e unit` with an expression in place of the literal text.
    IntervalOf {
        /// How many.
        operand: Box<Expr>,
        /// Of which unit.
        qualifier: IntervalQualifier,
    },
    /// `DESCRIPTOR(c, …)`
    Descriptor(Vec<Ident>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `NOT`
    Not,
}

/// Operators with two operands, but for AND and OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `||`
    Concat,
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
    /// `OVERLAPS`
    Overlaps,
}

impl BinaryOp {
    /// The operator as written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Concat => "||",
            Self::Eq => "=",
            Self::NotEq => "<>",
            Self::Lt => "<",
            Self::LtEq => "<=",
            Self::Gt => ">",
            Self::GtEq => ">=",
            Self::Overlaps => "OVERLAPS",
        }
    }

    /// Whether it is one of `= <> < <= > >=`.
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::NotEq | Self::Lt | Self::LtEq | Self::Gt | Self::GtEq)
    }
}

/// AND and OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicalOp {
    /// `AND`
    And,
    /// `OR`
    Or,
}

/// What stands after IS [NOT].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IsTest {
    /// `NULL`
    Null,
    /// `TRUE`
    True,
    /// `FALSE`
    False,
    /// `UNKNOWN`
    Unknown,
    /// `JSON`, `JSON VALUE`
    JsonValue,
    /// `JSON OBJECT`
    JsonObject,
    /// `JSON ARRAY`
    JsonArray,
    /// `JSON SCALAR`
    JsonScalar,
}

/// The two kinds of pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LikeKind {
    /// `LIKE`
    Like,
    /// `SIMILAR TO`
    SimilarTo,
}

/// How many of the compared values must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `ANY`, `SOME`
    Any,
    /// `ALL`
    All,
}

/// What a quantified comparison compares with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuantifiedTarget {
    /// `(a, b, …)`
    List(Vec<Expr>),
    /// `(SELECT …)`
    Query(Box<Query>),
}

/// `WHEN condition THEN result`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CaseBranch {
    /// One condition; several in the simple form `WHEN 1, 2 THEN`.
    pub conditions: Vec<Expr>,
    /// The result.
    pub result: Expr,
    /// Where it stands.
    pub span: Span,
}

/// Rounding down or up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundDirection {
    /// `FLOOR`
    Floor,
    /// `CEIL`
    Ceil,
}

/// Which side TRIM trims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrimSide {
    /// `BOTH`
    Both,
    /// `LEADING`
    Leading,
    /// `TRAILING`
    Trailing,
}
