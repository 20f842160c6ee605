//! CAST and TRY_CAST as they are written.

use flott_functions::{CastMode, Expr, SignatureError};
use flott_sql::ast::{self, TimeUnit, TypeKind};
use flott_types::{Family, TypeRoot, Value};

use super::types::{interval_root, resolve_type};
use crate::Result;

/// A written CAST: kept even where the types agree but for nullability.
pub fn cast(input: Expr, target: &ast::TypeName, lenient: bool) -> Result<Expr> {
    let target_type = resolve_type(target)?;
    let from = input.data_type();
    if from.root == TypeRoot::Null {
        return Ok(Expr::null(target_type));
    }
    if let TypeKind::Interval(qualifier) = &target.kind
        && from.family() == Family::Numeric
    {
        if qualifier.end.is_some() {
            return Err(SignatureError::Cast { from, to: target_type }.into());
        }
        if !lenient
            && let Some(amount) = interval_of_constant(&input, qualifier.start, &target_type.root)
        {
            return Ok(Expr::literal(amount, target_type.not_null()));
        }
    }
    if let Err(error) = flott_functions::cast::check(&from, &target_type) {
        return match input {
            Expr::Literal { value: Value::Null, .. }
                if !lenient && flott_functions::cast::takes_null(&from, &target_type) =>
            {
                Ok(Expr::null(target_type))
            }
            _ => Err(error.into()),
        };
    }
    let mode = if lenient { CastMode::Try } else { CastMode::Strict };
    let nullable = from.nullable || lenient;
    // A cast to the same type does nothing, but a time attribute does not survive it.
    if from.root == target_type.root && !lenient && !matches!(input, Expr::Column { .. }) {
        return Ok(input);
    }
    let data_type = target_type.with_nullable(nullable);
    Ok(Expr::Cast { input: Box::new(input), mode, data_type })
}

/// A number that is written out counts units of the interval: `CAST(1.5 AS INTERVAL DAY)` is 36
/// hours. Numbers that are not counts months or milliseconds, whatever the unit.
fn interval_of_constant(number: &Expr, unit: TimeUnit, root: &TypeRoot) -> Option<Value> {
    let (digits, scale) = match number {
        Expr::Literal { value: Value::Int(value), data_type } if data_type.root.is_integer() => {
            (i128::from(*value), 0)
        }
        Expr::Literal { value: Value::Decimal(digits), data_type } => match data_type.root {
            TypeRoot::Decimal { scale, .. } => (*digits, u32::from(scale)),
            _ => return None,
        },
        _ => return None,
    };
    let amount = digits.checked_mul(i128::from(unit_size(unit)))? / 10i128.checked_pow(scale)?;
    Some(match root {
        TypeRoot::IntervalYearMonth => Value::Months(amount as i32),
        _ => Value::Millis(amount as i64),
    })
}

/// The interval of one unit.
pub fn interval_unit(qualifier: &ast::IntervalQualifier) -> Expr {
    let (root, size) = (interval_root(qualifier), unit_size(qualifier.start));
    let value = match root {
        TypeRoot::IntervalYearMonth => Value::Months(size as i32),
        _ => Value::Millis(size),
    };
    Expr::literal(value, root.not_null())
}

/// Months or milliseconds of one unit.
fn unit_size(unit: TimeUnit) -> i64 {
    use TimeUnit::*;
    match unit {
        Year => 12,
        Quarter => 3,
        Week => 7 * 86_400_000,
        Day => 86_400_000,
        Hour => 3_600_000,
        Minute => 60_000,
        Second => 1_000,
        _ => 1,
    }
}
