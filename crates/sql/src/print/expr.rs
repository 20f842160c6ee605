//! Expressions.
//!
//! Parentheses stand where precedence needs them, by Calcite's rule: each operator has a left and
//! a right power; an operand is bracketed if its neighbour on the left pulls harder than its own
//! left power, or its neighbour on the right at least as hard as its own right power.

use super::{Joined, Maybe, comma, flag};
use crate::ast::{
    BinaryOp, CaseBranch, Expr, ExprKind, IsTest, LikeKind, LogicalOp, QuantifiedTarget,
    Quantifier, RoundDirection, TrimSide, UnaryOp,
};
use std::fmt::{self, Display, Formatter};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Operand { expr: self, left: 0, right: 0 }.fmt(f)
    }
}

/// An expression between neighbours that pull at it.
struct Operand<'a> {
    expr: &'a Expr,
    left: u8,
    right: u8,
}

/// The left and right power of what is no operator.
const PRIMARY: (u8, u8) = (u8::MAX, u8::MAX);

fn left_associative(precedence: u8) -> (u8, u8) {
    (2 * precedence, 2 * precedence + 1)
}

fn right_associative(precedence: u8) -> (u8, u8) {
    (2 * precedence + 1, 2 * precedence)
}

/// The left and right power of the operator of `kind`.
fn powers(kind: &ExprKind) -> (u8, u8) {
    match kind {
        ExprKind::Logical { op: LogicalOp::Or, .. } => left_associative(22),
        ExprKind::Logical { op: LogicalOp::And, .. } => left_associative(24),
        ExprKind::Unary { op: UnaryOp::Not, .. } => left_associative(26),
        ExprKind::Is { .. } => right_associative(28),
        ExprKind::IsDistinctFrom { .. } => left_associative(30),
        ExprKind::Binary { op, .. } => left_associative(match op {
            BinaryOp::Add | BinaryOp::Subtract => 40,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::Concat => 60,
            _ => 30,
        }),
        ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::InQuery { .. }
        | ExprKind::Quantified { .. } => left_associative(32),
        ExprKind::Like { .. } => right_associative(32),
        ExprKind::Unary { .. } => left_associative(80),
        _ => PRIMARY,
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let own = powers(&self.expr.kind);
        if self.left > own.0 || (self.right != 0 && own.1 <= self.right) {
            return write!(f, "({})", self.expr);
        }
        self.kind(f, own)
    }
}

impl<'a> Operand<'a> {
    /// The operand before the operator.
    fn first(&self, expr: &'a Expr, own: (u8, u8)) -> Operand<'a> {
        Operand { expr, left: self.left, right: own.0 }
    }

    /// The operand behind the operator.
    fn last(&self, expr: &'a Expr, own: (u8, u8)) -> Operand<'a> {
        Operand { expr, left: own.1, right: self.right }
    }

    fn kind(&self, f: &mut Formatter<'_>, own: (u8, u8)) -> fmt::Result {
        match &self.expr.kind {
            ExprKind::Unary { op, operand } => self.unary(f, *op, operand, own),
            ExprKind::Binary { left, op: BinaryOp::Overlaps, right } => {
                period(f, left)?;
                f.write_str(" OVERLAPS ")?;
                period(f, right)
            }
            ExprKind::Binary { left, op, right } => {
                self.first(left, own).fmt(f)?;
                infix(f, op.symbol())?;
                self.last(right, own).fmt(f)
            }
            ExprKind::Logical { op, operands } => self.logical(f, *op, operands, own),
            ExprKind::Is { operand, test, negated } => {
                self.first(operand, own).fmt(f)?;
                f.write_str(if *negated { " IS NOT " } else { " IS " })?;
                f.write_str(test_name(*test))
            }
            ExprKind::IsDistinctFrom { left, right, negated } => {
                self.first(left, own).fmt(f)?;
                infix(f, if *negated { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" })?;
                self.last(right, own).fmt(f)
            }
            ExprKind::Between { operand, low, high, symmetric, negated } => {
                Operand { expr: operand, left: own.0, right: own.0 }.fmt(f)?;
                infix(f, if *negated { "NOT BETWEEN" } else { "BETWEEN" })?;
                f.write_str(if *symmetric { "SYMMETRIC " } else { "ASYMMETRIC " })?;
                if shows_and(low) {
                    write!(f, "({low})")?
                } else {
                    low.fmt(f)?
                }
                infix(f, "AND")?;
                Operand { expr: high, left: own.0, right: own.1 }.fmt(f)
            }
            ExprKind::Like { kind, operand, pattern, escape, negated } => {
                let part = |expr| Operand { expr, left: own.0, right: own.1 };
                part(operand).fmt(f)?;
                f.write_str(if *negated { " NOT" } else { "" })?;
                infix(
                    f,
                    match kind {
                        LikeKind::Like => "LIKE",
                        LikeKind::SimilarTo => "SIMILAR TO",
                    },
                )?;
                part(pattern).fmt(f)?;
                escape.iter().try_for_each(|escape| write!(f, " ESCAPE {}", part(escape)))
            }
            ExprKind::InList { operand, list, negated } => {
                self.first(operand, own).fmt(f)?;
                infix(f, if *negated { "NOT IN" } else { "IN" })?;
                write!(f, "({})", comma(list))
            }
            ExprKind::InQuery { operand, query, negated } => {
                self.first(operand, own).fmt(f)?;
                infix(f, if *negated { "NOT IN" } else { "IN" })?;
                write!(f, "({query})")
            }
            ExprKind::Quantified { operand, op, quantifier, target } => {
                self.first(operand, own).fmt(f)?;
                infix(f, op.symbol())?;
                f.write_str(match quantifier {
                    Quantifier::Any => "SOME ",
                    Quantifier::All => "ALL ",
                })?;
                write!(f, "({target})")
            }
            ExprKind::Element { operand, index } => {
                let bare =
                    matches!(operand.kind, ExprKind::Identifier(_)) || is_accessible(operand);
                accessed(f, operand, bare)?;
                write!(f, "[{index}]")
            }
            ExprKind::Field { operand, name } => {
                accessed(f, operand, is_accessible(operand))?;
                write!(f, ".{name}")
            }
            _ => self.primary(f),
        }
    }

    fn unary(
        &self,
        f: &mut Formatter<'_>,
        op: UnaryOp,
        operand: &'a Expr,
        own: (u8, u8),
    ) -> fmt::Result {
        f.write_str(match (op, &operand.kind) {
            (UnaryOp::Not, _) => "NOT ",
            (UnaryOp::Plus, _) => "+ ",
            (UnaryOp::Minus, ExprKind::Literal(_)) => "-",
            (UnaryOp::Minus, _) => "- ",
        })?;
        self.last(operand, own).fmt(f)
    }

    fn logical(
        &self,
        f: &mut Formatter<'_>,
        op: LogicalOp,
        operands: &[Expr],
        own: (u8, u8),
    ) -> fmt::Result {
        let name = match op {
            LogicalOp::And => " AND ",
            LogicalOp::Or => " OR ",
        };
        for (at, expr) in operands.iter().enumerate() {
            let left = if at == 0 { self.left } else { own.1 };
            let right = if at + 1 == operands.len() { self.right } else { own.0 };
            f.write_str(flag(at > 0, name))?;
            Operand { expr, left, right }.fmt(f)?;
        }
        Ok(())
    }

    fn primary(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.expr.kind {
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Identifier(parts) => Joined(parts, ".").fmt(f),
            ExprKind::Star => f.write_str("*"),
            ExprKind::QualifiedStar(parts) => write!(f, "{}.*", Joined(parts, ".")),
            ExprKind::Exists(query) => write!(f, "EXISTS ({query})"),
            ExprKind::Subquery(query) => write!(f, "({query})"),
            ExprKind::Case { operand, branches, otherwise } => {
                let operand = Maybe(" ", operand.as_ref(), "");
                write!(f, "CASE{operand} {} ELSE ", Joined(branches, " "))?;
                match otherwise {
                    Some(otherwise) => otherwise.fmt(f)?,
                    None => f.write_str("NULL")?,
                }
                f.write_str(" END")
            }
            ExprKind::Cast { operand, target, is_try } => {
                write!(f, "{}CAST({operand} AS {target})", flag(*is_try, "TRY_"))
            }
            ExprKind::Function(call) => call.fmt(f),
            ExprKind::Extract { unit, operand } => write!(f, "EXTRACT({unit} FROM {operand})"),
            ExprKind::RoundTo { direction, operand, unit } => {
                let name = match direction {
                    RoundDirection::Floor => "FLOOR",
                    RoundDirection::Ceil => "CEIL",
                };
                write!(f, "{name}({operand} TO {unit})")
            }
            ExprKind::TimestampAdd { unit, count, operand } => {
                write!(f, "TIMESTAMPADD({unit}, {count}, {operand})")
            }
            ExprKind::TimestampDiff { unit, start, end } => {
                write!(f, "TIMESTAMPDIFF({unit}, {start}, {end})")
            }
            ExprKind::Trim { side, characters, operand } => {
                let side = match side {
                    TrimSide::Both => "BOTH",
                    TrimSide::Leading => "LEADING",
                    TrimSide::Trailing => "TRAILING",
                };
                write!(f, "TRIM({side} {characters} FROM {operand})")
            }
            ExprKind::Json(function) => function.fmt(f),
            ExprKind::Row { fields } => write!(f, "ROW({})", comma(fields)),
            ExprKind::Array(elements) => write!(f, "ARRAY[{}]", comma(elements)),
            ExprKind::ArrayQuery(query) => write!(f, "ARRAY ({query})"),
            ExprKind::Map(entries) => write!(f, "MAP[{}]", comma(entries)),
            ExprKind::MapQuery(query) => write!(f, "MAP ({query})"),
            ExprKind::Multiset(elements) => write!(f, "MULTISET[{}]", comma(elements)),
            ExprKind::MultisetQuery(query) => write!(f, "MULTISET ({query})"),
            ExprKind::Difference { left, right, qualifier } => {
                let power = left_associative(40);
                let left = Operand { expr: left, left: 0, right: power.0 };
                let right = Operand { expr: right, left: power.1, right: 0 };
                write!(f, "({left} - {right}) {qualifier}")
            }
            ExprKind::IntervalOf { operand, qualifier } => match &operand.kind {
                ExprKind::Literal(_) | ExprKind::Identifier(_) | ExprKind::Unary { .. } => {
                    write!(f, "(INTERVAL {operand} {qualifier})")
                }
                _ => write!(f, "(INTERVAL ({operand}) {qualifier})"),
            },
            ExprKind::Descriptor(columns) => write!(f, "DESCRIPTOR({})", comma(columns)),
            // All others are operators.
            _ => Ok(()),
        }
    }
}

/// An operator between blanks.
fn infix(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    f.write_str(" ")?;
    f.write_str(name)?;
    f.write_str(" ")
}

/// A side of OVERLAPS: a pair is a period.
fn period(f: &mut Formatter<'_>, side: &Expr) -> fmt::Result {
    match &side.kind {
        ExprKind::Row { fields } => write!(f, "PERIOD ({})", comma(fields)),
        _ if powers(&side.kind) == PRIMARY => side.fmt(f),
        _ => write!(f, "({side})"),
    }
}

/// The operand of an access, bracketed if it is not `bare`.
fn accessed(f: &mut Formatter<'_>, operand: &Expr, bare: bool) -> fmt::Result {
    if bare { operand.fmt(f) } else { write!(f, "({operand})") }
}

/// Whether an access may follow without parentheses; behind a name it would be a part of the name.
fn is_accessible(operand: &Expr) -> bool {
    powers(&operand.kind) == PRIMARY
        && !matches!(
            operand.kind,
            ExprKind::Identifier(_) | ExprKind::Literal(_) | ExprKind::Difference { .. }
        )
}

/// Whether `expr` shows an AND that is not in parentheses.
fn shows_and(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Logical { op: LogicalOp::And, .. } | ExprKind::Between { .. } => true,
        ExprKind::Logical { operands, .. } => operands.iter().any(shows_and),
        ExprKind::Unary { operand, .. }
        | ExprKind::Is { operand, .. }
        | ExprKind::InList { operand, .. }
        | ExprKind::InQuery { operand, .. }
        | ExprKind::Quantified { operand, .. } => shows_and(operand),
        ExprKind::Binary { left, right, .. } | ExprKind::IsDistinctFrom { left, right, .. } => {
            shows_and(left) || shows_and(right)
        }
        ExprKind::Like { operand, pattern, .. } => shows_and(operand) || shows_and(pattern),
        _ => false,
    }
}

const fn test_name(test: IsTest) -> &'static str {
    match test {
        IsTest::Null => "NULL",
        IsTest::True => "TRUE",
        IsTest::False => "FALSE",
        IsTest::Unknown => "UNKNOWN",
        IsTest::JsonValue => "JSON VALUE",
        IsTest::JsonObject => "JSON OBJECT",
        IsTest::JsonArray => "JSON ARRAY",
        IsTest::JsonScalar => "JSON SCALAR",
    }
}

impl Display for QuantifiedTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(list) => comma(list).fmt(f),
            Self::Query(query) => query.fmt(f),
        }
    }
}

impl Display for CaseBranch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "WHEN {} THEN {}", comma(&self.conditions), self.result)
    }
}
