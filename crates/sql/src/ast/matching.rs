//! MATCH_RECOGNIZE.

use super::{Expr, Ident, OrderItem, Span};

/// The clauses between the parentheses of MATCH_RECOGNIZE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatchRecognize {
    /// `PARTITION BY e, …`; empty if absent.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY e, …`; empty if absent.
    pub order_by: Vec<OrderItem>,
    /// `MEASURES e AS name, …`; empty if absent.
    pub measures: Vec<Measure>,
    /// `ONE ROW PER MATCH` or `ALL ROWS PER MATCH`, if said.
    pub rows_per_match: Option<RowsPerMatch>,
    /// `AFTER MATCH SKIP …`, if said.
    pub after_match: Option<AfterMatch>,
    /// `PATTERN (…)`
    pub pattern: Pattern,
    /// Whether `^` stands before the pattern.
    pub anchored_at_start: bool,
    /// Whether `$` stands behind the pattern.
    pub anchored_at_end: bool,
    /// `WITHIN interval`
    pub within: Option<Expr>,
    /// `SUBSET s = (a, b), …`; empty if absent.
    pub subsets: Vec<PatternSubset>,
    /// `DEFINE v AS e, …`
    pub definitions: Vec<PatternDefinition>,
    /// Where it stands, from MATCH_RECOGNIZE to the closing parenthesis.
    pub span: Span,
}

/// `[FINAL|RUNNING] e AS name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// Whether it is of the whole match or of the row, if said.
    pub semantics: Option<MeasureSemantics>,
    /// The value.
    pub expr: Expr,
    /// The column's name.
    pub name: Ident,
    /// Where it stands.
    pub span: Span,
}

/// Which rows a measure sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeasureSemantics {
    /// `RUNNING`
    Running,
    /// `FINAL`
    Final,
}

/// What a match gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsPerMatch {
    /// `ONE ROW PER MATCH`
    One,
    /// `ALL ROWS PER MATCH`
    All,
}

/// Where to look for the next match.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AfterMatch {
    /// Where.
    pub skip: SkipTo,
    /// Where it stands.
    pub span: Span,
}

/// The places to skip to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SkipTo {
    /// `SKIP TO NEXT ROW`
    NextRow,
    /// `SKIP PAST LAST ROW`
    PastLastRow,
    /// `SKIP TO FIRST v`
    First(Ident),
    /// `SKIP TO LAST v`, `SKIP TO v`
    Last(Ident),
}

/// A row pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of row patterns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternKind {
    /// A pattern variable.
    Variable(Ident),
    /// `p q …`: one after the other; two at least.
    Concatenation(Vec<Pattern>),
    /// `p | q | …`: one of them; two at least.
    Alternation(Vec<Pattern>),
    /// `(p)`
    Group(Box<Pattern>),
    /// `p*`, `p+?`, `p{2,3}`
    Quantified(Box<Pattern>, PatternQuantifier),
    /// `PERMUTE(p, …)`
    Permute(Vec<Pattern>),
    /// `{- p -}`
    Exclusion(Box<Pattern>),
}

/// How often a pattern may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PatternQuantifier {
    /// At least so often; `None` where it is left out, as in `{,3}`.
    pub min: Option<u32>,
    /// At most so often; `None` is without limit.
    pub max: Option<u32>,
    /// Whether `?` stands behind it: as few as possible.
    pub reluctant: bool,
    /// Where it stands.
    pub span: Span,
}

/// `s = (a, b)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PatternSubset {
    /// The union variable.
    pub name: Ident,
    /// What it stands for.
    pub variables: Vec<Ident>,
    /// Where it stands.
    pub span: Span,
}

/// `v AS condition`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PatternDefinition {
    /// The pattern variable.
    pub name: Ident,
    /// When a row may be mapped to it.
    pub condition: Expr,
    /// Where it stands.
    pub span: Span,
}
