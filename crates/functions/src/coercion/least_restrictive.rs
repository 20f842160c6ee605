//! The SQL validator's common type.

use flott_types::{DataType, Family, TypeRoot};

use super::{common_children, common_exact, common_string};

/// The type that all of `types` have in common (CASE, UNION, IN, VALUES, array elements, operands of
/// arithmetic), nullable when one of them is; `None` when there is none.
///
/// Calcite's `leastRestrictive` as Flink uses it, which looks at the types in order: the first of
/// FLOAT and DOUBLE stays.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    let nullable = types.iter().any(|ty| ty.nullable || ty.root == TypeRoot::Null);
    let mut known = types.iter().filter(|ty| ty.root != TypeRoot::Null);
    let Some(first) = known.next() else { return types.first().cloned() };
    let root = known.try_fold(first.root.clone(), |so_far, ty| common_root(&so_far, &ty.root))?;
    Some(root.nullable().with_nullable(nullable))
}

fn common_root(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    use TypeRoot::*;
    if left == right {
        return Some(left.clone());
    }
    match (left.family(), right.family()) {
        (Family::Numeric, Family::Numeric) => common_number(left, right),
        (Family::CharacterString, Family::CharacterString)
        | (Family::BinaryString, Family::BinaryString) => common_string(left, right),
        (Family::Collection, Family::Collection) | (Family::Row, Family::Row) => {
            common_children(left, right, common_type)
        }
        (Family::Time, Family::Time) | (Family::Timestamp, Family::Timestamp) => {
            Some(match (left, right) {
                (Time(a), Time(b)) => Time(*a.max(b)),
                // Of equal precision the first kind stays, else the last one does.
                (Timestamp(a) | TimestampLtz(a), Timestamp(b) | TimestampLtz(b)) if a == b => {
                    left.clone()
                }
                (Timestamp(a) | TimestampLtz(a), Timestamp(b)) => Timestamp(*a.max(b)),
                (Timestamp(a) | TimestampLtz(a), TimestampLtz(b)) => TimestampLtz(*a.max(b)),
                _ => return None,
            })
        }
        _ => None,
    }
}

fn common_number(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    let is_decimal = |root: &TypeRoot| matches!(root, TypeRoot::Decimal { .. });
    match (left.is_approximate(), right.is_approximate()) {
        (false, false) => common_exact(left, right),
        (true, true) => Some(left.clone()),
        _ if is_decimal(left) || is_decimal(right) => Some(TypeRoot::Double),
        (true, false) => Some(left.clone()),
        (false, true) => Some(right.clone()),
    }
}
