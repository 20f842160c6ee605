//! Which types go together: the common type of several, and what is cast without being asked.
//!
//! Flink has two rules for a common type. The SQL validator's is order-dependent and keeps FLOAT
//! beside DOUBLE; CASE, IN, UNION, VALUES, the collection constructors and arithmetic follow it. The one
//! for arguments of functions (COALESCE, IFNULL, GREATEST, ARRAY_CONCAT …) generalises further.

mod argument;
pub mod decimal;
mod least_restrictive;

use flott_types::{DataType, RowField, TypeRoot};

pub use argument::common_argument_type;
pub use least_restrictive::common_type;

/// Whether a query's column, or an argument, of type `from` is cast silently where `to` is wanted,
/// Flink's `supportsImplicitCast`: without loss of information, and never NULL to NOT NULL.
pub fn implicit_cast_allowed(from: &DataType, to: &DataType) -> bool {
    crate::cast::implicit(from, to)
}

/// The common type of constructed types of one kind, child by child.
fn common_children(
    left: &TypeRoot,
    right: &TypeRoot,
    common: fn(&[DataType]) -> Option<DataType>,
) -> Option<TypeRoot> {
    use TypeRoot::*;
    let pair = |a: &DataType, b: &DataType| common(&[a.clone(), b.clone()]);
    Some(match (left, right) {
        (Array(a), Array(b)) => Array(pair(a, b)?.into()),
        (Multiset(a), Multiset(b)) => Multiset(pair(a, b)?.into()),
        (Map(ka, va), Map(kb, vb)) => Map(pair(ka, kb)?.into(), pair(va, vb)?.into()),
        (Row(a), Row(b)) if a.len() == b.len() => {
            let fields = a.iter().zip(b.iter()).map(|(x, y)| {
                let data_type = pair(&x.data_type, &y.data_type)?;
                Some(RowField { data_type, ..x.clone() })
            });
            Row(fields.collect::<Option<Vec<_>>>()?.into())
        }
        _ => return None,
    })
}

/// The common type of two strings or two byte strings: of fixed length only if both are and have
/// the same.
fn common_string(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    use TypeRoot::*;
    Some(match (left, right) {
        (Char(a), Char(b)) if a == b => Char(*a),
        (Char(a) | Varchar(a), Char(b) | Varchar(b)) => Varchar(*a.max(b)),
        (Binary(a), Binary(b)) if a == b => Binary(*a),
        (Binary(a) | Varbinary(a), Binary(b) | Varbinary(b)) => Varbinary(*a.max(b)),
        _ => return None,
    })
}

/// The common type of two exact numbers.
fn common_exact(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    let ((p1, s1), (p2, s2)) = (left.as_decimal()?, right.as_decimal()?);
    if left.is_integer() && right.is_integer() {
        return Some(if p2 > p1 { right.clone() } else { left.clone() });
    }
    let (precision, scale) = decimal::common((p1, s1), (p2, s2));
    Some(TypeRoot::Decimal { precision, scale })
}
