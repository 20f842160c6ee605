//! Which casts exist, Flink's `LogicalTypeCasts`.

use flott_types::{DataType, Family, TypeRoot};

use crate::SignatureError;

/// Checks that a cast exists. Nullability is not looked at: CAST keeps that of its operand.
pub fn check(from: &DataType, to: &DataType) -> Result<(), SignatureError> {
    // Flink 2.3 casts nothing to these, not even values of the same type.
    let opaque = matches!(to.root, TypeRoot::Variant | TypeRoot::Bitmap | TypeRoot::Descriptor);
    if !opaque && explicit(from, to) {
        return Ok(());
    }
    Err(SignatureError::Cast { from: from.clone(), to: to.clone() })
}

/// Whether a constant NULL of one type can be cast to another between which [`check`] finds no cast: Flink's
/// validator lets these pass, and there is no value that could not be cast.
pub fn takes_null(from: &DataType, to: &DataType) -> bool {
    use Family::*;
    match (from.family(), to.family()) {
        (CharacterString, Interval) => true,
        (CharacterString, Collection) => matches!(to.root, TypeRoot::Array(_)),
        (BinaryString, Date | Time | Timestamp) => true,
        (Other, BinaryString) => from.root == TypeRoot::Bitmap && to.root == DataType::bytes().root,
        (Numeric, Timestamp) | (Timestamp, Numeric) => true,
        (Numeric, Interval) => from.root.is_exact_numeric(),
        _ => false,
    }
}

/// Whether `CAST` takes a value of one type to another.
pub(crate) fn explicit(from: &DataType, to: &DataType) -> bool {
    use Family::*;
    if from.root == to.root {
        return true;
    }
    match (from.family(), to.family()) {
        (Null, _) => true,
        (Other, CharacterString) => matches!(from.root, TypeRoot::Bitmap | TypeRoot::Raw(_)),
        (_, CharacterString) => true,
        (Other, BinaryString) => matches!(from.root, TypeRoot::Raw(_)),
        (CharacterString | BinaryString, BinaryString) => true,
        (Boolean | Numeric | CharacterString, Boolean | Numeric) => true,
        (Numeric, Interval) => from.root.is_integer(),
        (CharacterString | Timestamp, Date | Time | Timestamp) => true,
        (Date | Time, Timestamp) | (Time, Time) => true,
        (Collection | Row, Collection | Row) => children_of_same_kind(from, to)
            .is_some_and(|mut pairs| pairs.all(|(a, b)| explicit(a, b))),
        _ => false,
    }
}

/// Whether a value of one type is one of the other without being cast by the user: for widening,
/// for arguments, and for a query's columns written to a sink.
pub(crate) fn implicit(from: &DataType, to: &DataType) -> bool {
    use TypeRoot::*;
    if from.root == Null {
        return to.nullable;
    }
    if from.nullable && !to.nullable {
        return false;
    }
    if from.root == to.root {
        return true;
    }
    match (&from.root, &to.root) {
        (Char(_), Char(_)) | (Char(_) | Varchar(_), Varchar(_)) => true,
        (Binary(_), Binary(_)) | (Binary(_) | Varbinary(_), Varbinary(_)) => true,
        (TinyInt, SmallInt | Int | BigInt) | (SmallInt, Int | BigInt) | (Int, BigInt) => true,
        (TinyInt | SmallInt | Int | BigInt | Decimal { .. }, Float) => true,
        (_, Decimal { .. } | Double) => from.family() == Family::Numeric,
        (Time(_), Time(_)) => true,
        (Timestamp(_), Date | Time(_)) => true,
        (Timestamp(_) | TimestampLtz(_), Timestamp(_) | TimestampLtz(_)) => true,
        // A structured type is its class.
        (Structured { .. }, _) | (_, Structured { .. }) => false,
        _ => children_of_same_kind(from, to)
            .is_some_and(|mut pairs| pairs.all(|(a, b)| implicit(a, b))),
    }
}

/// The children of two constructed types of the same kind, in pairs.
fn children_of_same_kind<'a>(
    from: &'a DataType,
    to: &'a DataType,
) -> Option<impl Iterator<Item = (&'a DataType, &'a DataType)>> {
    use TypeRoot::*;
    let pairs: Vec<_> = match (&from.root, &to.root) {
        (Array(a), Array(b)) | (Multiset(a), Multiset(b)) => vec![(&**a, &**b)],
        (Map(ka, va), Map(kb, vb)) => vec![(&**ka, &**kb), (&**va, &**vb)],
        _ => match (from.root.row_fields(), to.root.row_fields()) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                a.iter().zip(b).map(|(x, y)| (&x.data_type, &y.data_type)).collect()
            }
            _ => return None,
        },
    };
    Some(pairs.into_iter())
}
