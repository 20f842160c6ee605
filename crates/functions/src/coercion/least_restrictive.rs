//! The SQL validator's common type.

use flott_types::{DataType, Family, TypeRoot};

use super::{common_children, common_exact, common_string};

/// The type that all of `types` have in common (CASE, UNION, IN, VALUES, array elements, operands of
/// arithmetic), nullable when one of them is; `None` when there is none.
///
/// Calcite's `leastRestrictive` as Flink uses it, which looks at the types in order: the first of
/// FLOAT and DOUBLE stays. Of arrays, maps and rows that have no common type so, or that stand beside an untyped
/// NULL, the last one counts that the others can be assigned to.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    let is_untyped = |ty: &DataType| ty.root == TypeRoot::Null;
    let nullable = types.iter().any(|ty| ty.nullable || is_untyped(ty));
    let known: Vec<&DataType> = types.iter().filter(|ty| !is_untyped(ty)).collect();
    let Some((first, others)) = known.split_first() else { return types.first().cloned() };
    let folded =
        || others.iter().try_fold(first.root.clone(), |so_far, ty| common_root(&so_far, &ty.root));
    let root = if is_constructed(&first.root) {
        let folded = if known.len() == types.len() { folded() } else { None };
        folded.or_else(|| assignable_root(first, others))
    } else {
        folded()
    };
    Some(root?.nullable().with_nullable(nullable))
}

fn is_constructed(root: &TypeRoot) -> bool {
    matches!(root.family(), Family::Collection | Family::Row)
}

/// The last type that those before it can be assigned to, save that it goes with those before it the other way round.
fn assignable_root(first: &DataType, others: &[&DataType]) -> Option<TypeRoot> {
    others.iter().try_fold(first.root.clone(), |so_far, ty| {
        if assignable(&ty.root, &so_far) {
            Some(ty.root.clone())
        } else {
            assignable(&so_far, &ty.root).then_some(so_far)
        }
    })
}

/// Whether values of `from` can be assigned to `to`, by Calcite's `SqlTypeAssignmentRule`: precisions and lengths do not
/// count, nor do keys and values of maps.
fn assignable(to: &TypeRoot, from: &TypeRoot) -> bool {
    use TypeRoot::*;
    let is_decimal = |root: &TypeRoot| matches!(root, Decimal { .. });
    match (to, from) {
        (_, Null) => true,
        (Map(..), Map(..)) => true,
        (Array(a), Array(b)) | (Multiset(a), Multiset(b)) => assignable(&a.root, &b.root),
        (Row(a), Row(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|(a, b)| assignable(&a.data_type.root, &b.data_type.root))
        }
        (Varchar(_), Char(_)) | (Varbinary(_), Binary(_)) => true,
        (Double, _) if from.family() == Family::Numeric => true,
        (Float, _) if from.is_integer() || is_decimal(from) => true,
        (Decimal { .. }, _) if from.family() == Family::Numeric => true,
        (SmallInt, TinyInt) | (Int, TinyInt | SmallInt) | (BigInt, TinyInt | SmallInt | Int) => {
            true
        }
        _ => std::mem::discriminant(to) == std::mem::discriminant(from),
    }
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
