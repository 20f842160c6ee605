//! What two types are compared as.

use flott_types::{DataType, Family, TypeRoot};

use crate::cast::explicit;
use crate::coercion::common_type;
use crate::{CallArgs, SignatureError};

/// How values of two types meet in a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::scalar) enum Pairing {
    /// Both are cast to these types, which [`super::Comparer`] then compares.
    As(DataType, DataType),
    /// A text meets a date, time or timestamp of this type in an equality: a text that is none of
    /// the type equals nothing, and differs from nothing either.
    Lenient(DataType),
    /// A text meets a truth value or an interval in an equality: they are never equal.
    NeverEqual,
}

impl Pairing {
    /// The pairing of two types in `=`, `<>` and IS DISTINCT FROM.
    pub fn of_equality(args: &CallArgs) -> Result<Self, SignatureError> {
        use Family::*;
        let [left, right] = pair(args)?;
        let pairing = match (left.family(), right.family()) {
            (Numeric, CharacterString) | (CharacterString, Numeric) => {
                return Err(SignatureError::Other(format!(
                    "implicit type conversion between {} and {} is not supported\n\
                     hint: cast one of them",
                    left.root, right.root
                )));
            }
            (Boolean | Interval, CharacterString) | (CharacterString, Boolean | Interval) => {
                Some(Self::NeverEqual)
            }
            (Date | Time | Timestamp, CharacterString) => Some(Self::Lenient(left.clone())),
            (CharacterString, Date | Time | Timestamp) => Some(Self::Lenient(right.clone())),
            // A map is cast to the type of the one behind it.
            (Collection, Collection)
                if matches!(left.root, TypeRoot::Map(..)) && same_shape(left, right) =>
            {
                Some(Self::As(right.clone().with_nullable(left.nullable), right.clone()))
            }
            (Collection, Collection) | (Row, Row) if same_shape(left, right) => {
                Some(Self::As(left.clone(), right.clone()))
            }
            (Null, Row) | (Other, Null) => None,
            (Other, Other) if left.same_root(right) => Some(Self::As(left.clone(), right.clone())),
            _ => ordered(left, right),
        };
        pairing.ok_or_else(|| no_match(args))
    }

    /// The pairing of two types in `<`, `<=`, `>` and `>=`.
    pub fn of_order(args: &CallArgs) -> Result<Self, SignatureError> {
        use Family::*;
        let [left, right] = pair(args)?;
        let as_of = |ty: &DataType| Some(Self::As(ty.clone(), ty.clone()));
        let pairing = match (left.family(), right.family()) {
            (Numeric | Boolean | Date | Time | Timestamp, CharacterString) => as_of(&read_as(left)),
            (CharacterString, Numeric | Boolean | Date | Time | Timestamp) => {
                as_of(&read_as(right))
            }
            (Null, Row) => None,
            _ => ordered(left, right),
        };
        pairing.ok_or_else(|| no_match(args))
    }
}

/// Whether a comparison of these arguments may give NULL: also when a field of a row may be.
pub(super) fn nullable(args: &CallArgs) -> bool {
    fn may_be_null(ty: &DataType) -> bool {
        let fields = ty.root.row_fields().unwrap_or_default();
        ty.nullable || fields.iter().any(|field| may_be_null(&field.data_type))
    }
    args.args.iter().any(|arg| may_be_null(&arg.data_type))
}

fn pair(args: &CallArgs) -> Result<[&DataType; 2], SignatureError> {
    match args.args.as_slice() {
        [left, right] => Ok([&left.data_type, &right.data_type]),
        _ => Err(no_match(args)),
    }
}

fn no_match(args: &CallArgs) -> SignatureError {
    args.no_match(&["<COMPARABLE_TYPE>, <COMPARABLE_TYPE>"])
}

/// The type a text is read as to be ordered among values of `ty`.
fn read_as(ty: &DataType) -> DataType {
    match ty.root {
        TypeRoot::Decimal { .. } => DataType::decimal(38, 19),
        _ => ty.clone(),
    }
}

/// Types with an order of their own.
fn ordered(left: &DataType, right: &DataType) -> Option<Pairing> {
    use Family::*;
    let both = |ty: DataType| Some(Pairing::As(ty.clone(), ty));
    match (left.family(), right.family()) {
        (Null, _) => both(right.clone()),
        (_, Null) => both(left.clone()),
        (Numeric, Numeric) => numbers(left, right),
        (CharacterString, CharacterString) | (BinaryString, BinaryString) => {
            Some(Pairing::As(left.clone(), right.clone()))
        }
        (Boolean, Boolean) | (Date, Date) => both(left.clone()),
        (Interval, Interval) if left.same_root(right) => both(left.clone()),
        (Time, Time) => both(common_type(&[left.clone(), right.clone()])?),
        // On the clocks of the session's time zone, if only one of them is an instant.
        (Timestamp, Timestamp) => match (&left.root, &right.root) {
            (TypeRoot::Timestamp(p), TypeRoot::TimestampLtz(q))
            | (TypeRoot::TimestampLtz(p), TypeRoot::Timestamp(q)) => {
                both(DataType::timestamp(*p.max(q)))
            }
            _ => both(common_type(&[left.clone(), right.clone()])?),
        },
        _ => None,
    }
}

/// Exact numbers are compared exactly, whatever their scales; else the validator's common type
/// decides, which is FLOAT where FLOAT comes before DOUBLE.
fn numbers(left: &DataType, right: &DataType) -> Option<Pairing> {
    let is_decimal = |ty: &DataType| matches!(ty.root, TypeRoot::Decimal { .. });
    if (is_decimal(left) || is_decimal(right))
        && let (Some((p1, s1)), Some((p2, s2))) = (left.root.as_decimal(), right.root.as_decimal())
    {
        return Some(Pairing::As(DataType::decimal(p1, s1), DataType::decimal(p2, s2)));
    }
    let common = common_type(&[left.clone(), right.clone()])?;
    Some(Pairing::As(common.clone(), common))
}

/// Whether two types are of one kind, and what they hold can meet in a comparison.
fn same_shape(left: &DataType, right: &DataType) -> bool {
    use TypeRoot::*;
    match (&left.root, &right.root) {
        // Arrays of what cannot be compared are never equal.
        (Array(_), Array(_)) | (Multiset(_), Multiset(_)) => true,
        (Map(ka, va), Map(kb, vb)) => explicit(ka, kb) && explicit(va, vb),
        (Structured { class: a, .. }, Structured { class: b, .. }) => a == b,
        _ => match (left.root.row_fields(), right.root.row_fields()) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                a.iter().zip(b).all(|(a, b)| fields_meet(&a.data_type, &b.data_type))
            }
            _ => false,
        },
    }
}

/// Whether fields of two types may stand in rows that are compared: constructed ones only with
/// their like.
fn fields_meet(left: &DataType, right: &DataType) -> bool {
    let is_constructed = |ty: &DataType| matches!(ty.family(), Family::Collection | Family::Row);
    match is_constructed(left) || is_constructed(right) {
        true => same_shape(left, right),
        false => true,
    }
}
