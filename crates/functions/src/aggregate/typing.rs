//! Type rules that several aggregates share.

use flott_types::{DataType, Family, TypeRoot};

use super::AggregateSpec;
use crate::{CallArgs, Resolved, SignatureError};

/// The type of the only argument, which is no untyped NULL.
pub fn one_argument<'a>(
    args: &'a CallArgs,
    forms: &[&'static str],
) -> Result<&'a DataType, SignatureError> {
    match args.args.as_slice() {
        [arg] if arg.data_type.root == TypeRoot::Null => Err(illegal_null()),
        [arg] => Ok(&arg.data_type),
        _ => Err(args.no_match(forms)),
    }
}

/// The type of the only argument, which is a number.
pub fn one_number(args: &CallArgs) -> Result<&DataType, SignatureError> {
    let ty = one_argument(args, &["<NUMERIC>"])?;
    if ty.family() == Family::Numeric { Ok(ty) } else { Err(args.no_match(&["<NUMERIC>"])) }
}

/// One argument of any type and a result of the same, NULL when there are no rows.
pub fn same_as_argument(args: &CallArgs, may_be_empty: bool) -> Result<Resolved, SignatureError> {
    let ty = one_argument(args, &["<ANY>"])?;
    let returns = ty.clone().with_nullable(ty.nullable || may_be_empty);
    Ok(Resolved::unchanged(args, returns))
}

/// Flink's type of an average: DECIMAL(38, 6 or more digits of fraction), else the number's own.
pub fn average_of_argument(
    args: &CallArgs,
    may_be_empty: bool,
) -> Result<Resolved, SignatureError> {
    let ty = one_number(args)?;
    let root = match &ty.root {
        TypeRoot::Decimal { scale, .. } => {
            TypeRoot::Decimal { precision: 38, scale: (*scale).max(6) }
        }
        root => root.clone(),
    };
    let returns = root.nullable().with_nullable(ty.nullable || may_be_empty);
    Ok(Resolved::unchanged(args, returns))
}

/// The error for an untyped NULL.
pub fn illegal_null() -> SignatureError {
    SignatureError::Other(
        "illegal use of NULL\nhint: give it a type, as in CAST(NULL AS INT)".into(),
    )
}

/// The error for a type that the function has no accumulator for.
pub fn unsupported(spec: &AggregateSpec, index: usize) -> SignatureError {
    SignatureError::Argument {
        name: spec.args.name.clone(),
        position: index + 1,
        reason: format!(
            "the aggregate function does not support type {}",
            spec.args.data_type(index).root
        ),
    }
}

/// Precision and scale of a DECIMAL.
pub fn decimal_of(ty: &DataType) -> Option<(u8, u8)> {
    match ty.root {
        TypeRoot::Decimal { precision, scale } => Some((precision, scale)),
        _ => None,
    }
}
