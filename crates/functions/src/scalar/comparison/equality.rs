//! Equality of values of any type, row by row: for arrays, maps, rows and what they hold.
//!
//! Flink's rules differ by the kind of the parent. Elements of arrays are equal when both are NULL,
//! and so are fields of rows; a map with a NULL value equals no map. NaN equals itself within arrays
//! and maps, but not within rows.

use std::cmp::Ordering;

use arrow::array::{
    Array, ArrowPrimitiveType, AsArray, BinaryArray, ListArray, PrimitiveArray, StringArray,
};
use arrow::datatypes::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, i256,
};
use flott_types::{DataType, Family, TimestampUnit, TypeRoot, timestamp_unit};

use crate::EvalError;
use crate::decimal::{pow10, to_f64};

/// The equality of two types.
#[derive(Debug, Clone)]
pub(crate) struct Equality {
    left: DataType,
    right: DataType,
}

/// Whether the values at two places, neither of them NULL, are equal.
pub(crate) type RowsEqual<'a> = Box<dyn Fn(usize, usize) -> bool + 'a>;

impl Equality {
    /// The equality of values of `left` and of `right`; values of kinds that do not go together
    /// are never equal.
    pub fn new(left: &DataType, right: &DataType) -> Self {
        Self { left: left.clone(), right: right.clone() }
    }

    /// The equality of the rows of two arrays.
    pub fn rows<'a>(
        &self,
        left: &'a dyn Array,
        right: &'a dyn Array,
    ) -> Result<RowsEqual<'a>, EvalError> {
        equal(left, &self.left, right, &self.right, Nan::DiffersFromItself)
    }
}

/// What a NaN equals, which depends on where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Nan {
    DiffersFromItself,
    EqualsItself,
}

fn equal<'a>(
    left: &'a dyn Array,
    left_type: &DataType,
    right: &'a dyn Array,
    right_type: &DataType,
    nan: Nan,
) -> Result<RowsEqual<'a>, EvalError> {
    use TypeRoot::*;
    macro_rules! primitive {
        ($arrow:ty) => {
            primitives::<$arrow>(left, right, |a, b| a == b)
        };
    }
    Ok(match (&left_type.root, &right_type.root) {
        (Array(a), Array(b)) => {
            let (lists_a, lists_b) = (left.as_list::<i32>(), right.as_list::<i32>());
            let items = nullable(lists_a.values(), a, lists_b.values(), b, Nan::EqualsItself)?;
            Box::new(move |i, j| {
                let (a, b) = (range(lists_a, i), range(lists_b, j));
                a.len() == b.len() && a.zip(b).all(|(i, j)| items(i, j))
            })
        }
        (Map(ka, va), Map(kb, vb)) => maps(left, (ka, va), right, (kb, vb))?,
        (Multiset(a), Multiset(b)) => {
            let count = DataType::int();
            maps(left, (a, &count), right, (b, &count))?
        }
        (Row(_) | Structured { .. }, Row(_) | Structured { .. }) => {
            let fields = |ty: &DataType| ty.root.row_fields().unwrap_or_default().to_vec();
            let types = fields(left_type).into_iter().zip(fields(right_type));
            let columns = left.as_struct().columns().iter().zip(right.as_struct().columns());
            let equals = columns
                .zip(types)
                .map(|((a, b), (x, y))| nullable(a, &x.data_type, b, &y.data_type, nan))
                .collect::<Result<Vec<_>, _>>()?;
            Box::new(move |i, j| equals.iter().all(|equal| equal(i, j)))
        }
        (Boolean, Boolean) => {
            let (a, b) = (left.as_boolean(), right.as_boolean());
            Box::new(|i, j| a.value(i) == b.value(j))
        }
        (TinyInt, TinyInt) => primitive!(Int8Type),
        (SmallInt, SmallInt) => primitive!(Int16Type),
        (Int, Int) => primitive!(Int32Type),
        (BigInt, BigInt) => primitive!(Int64Type),
        (Date, Date) => primitive!(Date32Type),
        (Time(_), Time(_)) => primitive!(Time32MillisecondType),
        (IntervalYearMonth, IntervalYearMonth) => primitive!(IntervalYearMonthType),
        (IntervalDayTime, IntervalDayTime) => primitive!(DurationMillisecondType),
        (Timestamp(p), Timestamp(q)) | (TimestampLtz(p), TimestampLtz(q)) => {
            let (a, b) = (nanos(left, *p), nanos(right, *q));
            Box::new(move |i, j| a(i) == b(j))
        }
        _ => match (left_type.family(), right_type.family()) {
            (Family::Numeric, Family::Numeric) => {
                let (a, b) = (number(left, left_type)?, number(right, right_type)?);
                Box::new(move |i, j| a(i).equals(b(j), nan))
            }
            (Family::CharacterString, Family::CharacterString) => {
                let (a, b): (&StringArray, &StringArray) = (left.as_string(), right.as_string());
                Box::new(|i, j| a.value(i) == b.value(j))
            }
            (Family::BinaryString, Family::BinaryString) => bytes(left, right),
            (Family::Other, Family::Other) if left_type.same_root(right_type) => bytes(left, right),
            _ => Box::new(|_, _| false),
        },
    })
}

/// Equality in which NULL equals NULL.
fn nullable<'a>(
    left: &'a dyn Array,
    left_type: &DataType,
    right: &'a dyn Array,
    right_type: &DataType,
    nan: Nan,
) -> Result<RowsEqual<'a>, EvalError> {
    let equal = equal(left, left_type, right, right_type, nan)?;
    Ok(Box::new(move |i, j| match (left.is_null(i), right.is_null(j)) {
        (true, true) => true,
        (false, false) => equal(i, j),
        _ => false,
    }))
}

/// Maps are equal when each entry of one is one of the other; the order does not count.
fn maps<'a>(
    left: &'a dyn Array,
    (left_key, left_value): (&DataType, &DataType),
    right: &'a dyn Array,
    (right_key, right_value): (&DataType, &DataType),
) -> Result<RowsEqual<'a>, EvalError> {
    let (lists_a, lists_b) = (left.as_list::<i32>(), right.as_list::<i32>());
    let (a, b) = (lists_a.values().as_struct().columns(), lists_b.values().as_struct().columns());
    let keys = nullable(&a[0], left_key, &b[0], right_key, Nan::EqualsItself)?;
    let values = equal(&a[1], left_value, &b[1], right_value, Nan::EqualsItself)?;
    Ok(Box::new(move |i, j| {
        let (left, right) = (range(lists_a, i), range(lists_b, j));
        left.len() == right.len()
            && left.into_iter().all(|i| {
                right
                    .clone()
                    .find(|j| keys(i, *j))
                    .is_some_and(|j| a[1].is_valid(i) && b[1].is_valid(j) && values(i, j))
            })
    }))
}

fn range(lists: &ListArray, row: usize) -> std::ops::Range<usize> {
    let offsets = lists.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

fn primitives<'a, T: ArrowPrimitiveType>(
    left: &'a dyn Array,
    right: &'a dyn Array,
    equal: impl Fn(T::Native, T::Native) -> bool + 'a,
) -> RowsEqual<'a> {
    let (a, b): (&PrimitiveArray<T>, &PrimitiveArray<T>) =
        (left.as_primitive(), right.as_primitive());
    Box::new(move |i, j| equal(a.value(i), b.value(j)))
}

fn bytes<'a>(left: &'a dyn Array, right: &'a dyn Array) -> RowsEqual<'a> {
    let (a, b): (&BinaryArray, &BinaryArray) = (left.as_binary(), right.as_binary());
    Box::new(|i, j| a.value(i) == b.value(j))
}

fn nanos<'a>(array: &'a dyn Array, precision: u8) -> Box<dyn Fn(usize) -> i128 + 'a> {
    match timestamp_unit(precision) {
        TimestampUnit::Millis => {
            let steps = array.as_primitive::<TimestampMillisecondType>();
            Box::new(|row| i128::from(steps.value(row)) * 1_000_000)
        }
        TimestampUnit::Micros => {
            let steps = array.as_primitive::<TimestampMicrosecondType>();
            Box::new(|row| i128::from(steps.value(row)) * 1000)
        }
        TimestampUnit::Nanos => {
            let steps = array.as_primitive::<Decimal128Type>();
            Box::new(|row| steps.value(row))
        }
    }
}

/// A number of any type.
#[derive(Debug, Clone, Copy)]
enum Number {
    Exact(i128, u8, u8),
    Approximate(f64),
}

impl Number {
    fn equals(self, other: Self, nan: Nan) -> bool {
        match (self, other) {
            (Self::Exact(a, _, s), Self::Exact(b, _, t)) => {
                let common = s.max(t);
                let scaled = |digits: i128, scale: u8| {
                    i256::from_i128(digits).wrapping_mul(i256::from_i128(pow10(common - scale)))
                };
                scaled(a, s) == scaled(b, t)
            }
            (a, b) => {
                let (a, b) = (a.to_f64(), b.to_f64());
                a == b || (nan == Nan::EqualsItself && a.total_cmp(&b) == Ordering::Equal)
            }
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Exact(digits, precision, scale) => to_f64(digits, precision, scale),
            Self::Approximate(value) => value,
        }
    }
}

fn number<'a>(
    array: &'a dyn Array,
    ty: &DataType,
) -> Result<Box<dyn Fn(usize) -> Number + 'a>, EvalError> {
    fn integer<'a, T: ArrowPrimitiveType>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> Number + 'a>
    where
        T::Native: Into<i128>,
    {
        let values = array.as_primitive::<T>();
        Box::new(|row| Number::Exact(values.value(row).into(), 19, 0))
    }
    fn float<'a, T: ArrowPrimitiveType>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> Number + 'a>
    where
        T::Native: Into<f64>,
    {
        let values = array.as_primitive::<T>();
        Box::new(|row| Number::Approximate(values.value(row).into()))
    }
    Ok(match &ty.root {
        TypeRoot::TinyInt => integer::<Int8Type>(array),
        TypeRoot::SmallInt => integer::<Int16Type>(array),
        TypeRoot::Int => integer::<Int32Type>(array),
        TypeRoot::BigInt => integer::<Int64Type>(array),
        TypeRoot::Float => float::<Float32Type>(array),
        TypeRoot::Double => float::<Float64Type>(array),
        TypeRoot::Decimal { precision, scale } => {
            let (precision, scale) = (*precision, *scale);
            let values = array.as_primitive::<Decimal128Type>();
            Box::new(move |row| Number::Exact(values.value(row), precision, scale))
        }
        root => return Err(EvalError::Internal(format!("{root} is no number"))),
    })
}
