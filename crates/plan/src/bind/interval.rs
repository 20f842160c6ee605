//! What an interval that is written out does to the precision of a timestamp.

use flott_functions::Expr;
use flott_sql::ast::{self, BinaryOp, ExprKind, Literal, TypeKind};
use flott_types::TypeRoot;

use crate::Result;

/// Gives the timestamp of `t + interval` and `t - interval` as many digits as the interval says that its seconds have:
/// `TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1.5' SECOND(1, 1)` is a TIMESTAMP(1). Where it does not say, Flink
/// keeps those of the timestamp.
pub fn widen_timestamp(op: BinaryOp, sides: [&ast::Expr; 2], args: [Expr; 2]) -> Result<Vec<Expr>> {
    let [left, right] = args;
    if !matches!(op, BinaryOp::Add | BinaryOp::Subtract) {
        return Ok(vec![left, right]);
    }
    let (of_left, of_right) = (fraction_digits(sides[0]), fraction_digits(sides[1]));
    Ok(vec![widened(left, of_right)?, widened(right, of_left)?])
}

fn widened(expr: Expr, digits: Option<u32>) -> Result<Expr> {
    let ty = expr.data_type();
    let digits = digits.and_then(|digits| u8::try_from(digits).ok());
    match (&ty.root, digits) {
        (TypeRoot::Timestamp(precision), Some(digits)) if *precision < digits && digits <= 9 => {
            Ok(expr.cast_to(&TypeRoot::Timestamp(digits).nullable())?)
        }
        _ => Ok(expr),
    }
}

/// The digits of a fraction of seconds that a literal or CAST asks for.
fn fraction_digits(expr: &ast::Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Literal(Literal::Interval(interval)) => interval.qualifier.fraction_precision,
        ExprKind::Cast { target, .. } => match &target.kind {
            TypeKind::Interval(qualifier) => qualifier.fraction_precision,
            _ => None,
        },
        _ => None,
    }
}
