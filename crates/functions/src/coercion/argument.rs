//! The common type of a function's arguments.

use flott_types::{DataType, Family, TypeRoot};

use super::{common_children, common_exact, common_string};
use crate::cast::implicit;

/// The type that the arguments of a function have in common (COALESCE, IFNULL, GREATEST, LEAST,
/// arguments of collections), nullable when one of them is; `None` when there is none.
///
/// Flink's `LogicalTypeMerging.findCommonType`, and that every argument is cast to it implicitly.
pub fn common_argument_type(types: &[DataType]) -> Option<DataType> {
    let nullable = types.iter().any(|ty| ty.nullable || ty.root == TypeRoot::Null);
    let known = || types.iter().filter(|ty| ty.root != TypeRoot::Null).map(|ty| &ty.root);
    let first = known().next()?.clone();
    let root = known()
        .try_fold(first.clone(), |so_far, root| merged(&so_far, root))
        .or_else(|| known().try_fold(first, castable))?;
    let common = root.nullable();
    let is_common = |ty: &DataType| implicit(&ty.clone().with_nullable(true), &common);
    types.iter().all(is_common).then(|| common.clone().with_nullable(nullable))
}

fn merged(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    use TypeRoot::*;
    if left == right {
        return Some(left.clone());
    }
    match (left.family(), right.family()) {
        (Family::Numeric, Family::Numeric) => {
            match (left.is_approximate(), right.is_approximate()) {
                (false, false) => common_exact(left, right),
                (true, true) => Some(Double),
                (true, false) if matches!(right, Decimal { .. }) => Some(Double),
                (true, false) => Some(left.clone()),
                (false, true) => Some(right.clone()),
            }
        }
        (Family::CharacterString, Family::CharacterString)
        | (Family::BinaryString, Family::BinaryString) => common_string(left, right),
        (Family::Collection, Family::Collection) | (Family::Row, Family::Row) => {
            common_children(left, right, common_argument_type)
        }
        (Family::Time, Family::Time) | (Family::Timestamp, Family::Timestamp) => {
            Some(match (left, right) {
                (Time(a), Time(b)) => Time(*a.max(b)),
                (Timestamp(a), Timestamp(b)) => Timestamp(*a.max(b)),
                (Timestamp(a) | TimestampLtz(a), Timestamp(b) | TimestampLtz(b)) => {
                    TimestampLtz(*a.max(b))
                }
                _ => return None,
            })
        }
        _ => None,
    }
}

/// The one of two types that the other is cast to implicitly: DATE of DATE and TIMESTAMP.
fn castable(left: TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    let (from, to) = (left.clone().nullable(), right.clone().nullable());
    if implicit(&from, &to) { Some(right.clone()) } else { implicit(&to, &from).then_some(left) }
}
