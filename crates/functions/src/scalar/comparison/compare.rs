//! Comparing columns.

use arrow::array::{ArrowPrimitiveType, BooleanArray, Datum, Scalar};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp;
use arrow::datatypes::{
    ArrowNativeTypeOp, Date32Type, Decimal128Type, DurationMillisecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, i256,
};
use flott_types::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

use super::equality::Equality;
use crate::decimal::pow10;
use crate::loops::{compare, nulls_of_both};
use crate::{Column, EvalError, SignatureError};

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scalar) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Compares two columns of types that a [`super::Pairing`] gave.
pub(in crate::scalar) struct Comparer {
    comparison: Comparison,
    layout: Layout,
}

/// What the values are compared as.
enum Layout {
    Null,
    Boolean,
    Int8,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Date,
    Time,
    Millis,
    Micros,
    Nanos,
    Months,
    Duration,
    /// Digits of equal or different scales.
    Decimal(u8, u8),
    Text,
    Bytes,
    Nested(Equality),
}

impl Comparer {
    /// A comparer for two types; nested ones only for equality.
    pub fn new(
        comparison: Comparison,
        left: &DataType,
        right: &DataType,
    ) -> Result<Self, SignatureError> {
        use TypeRoot::*;
        let layout = match (&left.root, &right.root) {
            (Null, _) | (_, Null) => Layout::Null,
            (Boolean, Boolean) => Layout::Boolean,
            (TinyInt, TinyInt) => Layout::Int8,
            (SmallInt, SmallInt) => Layout::Int16,
            (Int, Int) => Layout::Int32,
            (BigInt, BigInt) => Layout::Int64,
            (Float, Float) => Layout::Float32,
            (Double, Double) => Layout::Float64,
            (Decimal { scale: a, .. }, Decimal { scale: b, .. }) => Layout::Decimal(*a, *b),
            (Char(_) | Varchar(_), Char(_) | Varchar(_)) => Layout::Text,
            (Binary(_) | Varbinary(_), Binary(_) | Varbinary(_)) => Layout::Bytes,
            (Date, Date) => Layout::Date,
            (Time(_), Time(_)) => Layout::Time,
            (Timestamp(p) | TimestampLtz(p), Timestamp(_) | TimestampLtz(_)) => {
                match timestamp_unit(*p) {
                    TimestampUnit::Millis => Layout::Millis,
                    TimestampUnit::Micros => Layout::Micros,
                    TimestampUnit::Nanos => Layout::Nanos,
                }
            }
            (IntervalYearMonth, IntervalYearMonth) => Layout::Months,
            (IntervalDayTime, IntervalDayTime) => Layout::Duration,
            _ => Layout::Nested(Equality::new(left, right)),
        };
        Ok(Self { comparison, layout })
    }

    /// The result for each row, NULL where either value is.
    pub fn compare(
        &self,
        left: &Column,
        right: &Column,
        rows: usize,
    ) -> Result<BooleanArray, EvalError> {
        let Some(nulls) = nulls_of_both(left, right, rows) else {
            return Ok(BooleanArray::new_null(rows));
        };
        let values = match &self.layout {
            Layout::Null => return Ok(BooleanArray::new_null(rows)),
            Layout::Boolean | Layout::Text | Layout::Bytes => self.with_arrow(left, right, rows)?,
            Layout::Int8 => self.primitives::<Int8Type>(left, right, rows),
            Layout::Int16 => self.primitives::<Int16Type>(left, right, rows),
            Layout::Int32 => self.primitives::<Int32Type>(left, right, rows),
            Layout::Int64 => self.primitives::<Int64Type>(left, right, rows),
            Layout::Float32 => self.floats::<Float32Type>(left, right, rows),
            Layout::Float64 => self.floats::<Float64Type>(left, right, rows),
            Layout::Date => self.primitives::<Date32Type>(left, right, rows),
            Layout::Time => self.primitives::<Time32MillisecondType>(left, right, rows),
            Layout::Millis => self.primitives::<TimestampMillisecondType>(left, right, rows),
            Layout::Micros => self.primitives::<TimestampMicrosecondType>(left, right, rows),
            Layout::Nanos => self.primitives::<Decimal128Type>(left, right, rows),
            Layout::Months => self.primitives::<IntervalYearMonthType>(left, right, rows),
            Layout::Duration => self.primitives::<DurationMillisecondType>(left, right, rows),
            Layout::Decimal(a, b) if a == b => self.primitives::<Decimal128Type>(left, right, rows),
            Layout::Decimal(a, b) => self.decimals(left, right, (*a, *b), rows),
            Layout::Nested(equality) => {
                let equals = equality.rows(left.array(), right.array())?;
                let wanted = self.comparison == Comparison::Equal;
                BooleanBuffer::collect_bool(rows, |row| {
                    let (a, b) = (left.index(row), right.index(row));
                    nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) && equals(a, b) == wanted
                })
            }
        };
        Ok(BooleanArray::new(values, nulls))
    }

    fn primitives<T: ArrowPrimitiveType>(
        &self,
        left: &Column,
        right: &Column,
        rows: usize,
    ) -> BooleanBuffer
    where
        T::Native: ArrowNativeTypeOp,
    {
        match self.comparison {
            Comparison::Equal => compare::<T>(left, right, rows, |a, b| a.is_eq(b)),
            Comparison::NotEqual => compare::<T>(left, right, rows, |a, b| a.is_ne(b)),
            Comparison::Less => compare::<T>(left, right, rows, |a, b| a.is_lt(b)),
            Comparison::LessOrEqual => compare::<T>(left, right, rows, |a, b| a.is_le(b)),
            Comparison::Greater => compare::<T>(left, right, rows, |a, b| a.is_gt(b)),
            Comparison::GreaterOrEqual => compare::<T>(left, right, rows, |a, b| a.is_ge(b)),
        }
    }

    /// By IEEE 754, as Java's operators: NaN equals nothing, and -0.0 is 0.0.
    fn floats<T: ArrowPrimitiveType>(
        &self,
        left: &Column,
        right: &Column,
        rows: usize,
    ) -> BooleanBuffer
    where
        T::Native: PartialOrd,
    {
        match self.comparison {
            Comparison::Equal => compare::<T>(left, right, rows, |a, b| a == b),
            Comparison::NotEqual => compare::<T>(left, right, rows, |a, b| a != b),
            Comparison::Less => compare::<T>(left, right, rows, |a, b| a < b),
            Comparison::LessOrEqual => compare::<T>(left, right, rows, |a, b| a <= b),
            Comparison::Greater => compare::<T>(left, right, rows, |a, b| a > b),
            Comparison::GreaterOrEqual => compare::<T>(left, right, rows, |a, b| a >= b),
        }
    }

    /// Exactly, by bringing the smaller scale to the larger one.
    fn decimals(
        &self,
        left: &Column,
        right: &Column,
        (left_scale, right_scale): (u8, u8),
        rows: usize,
    ) -> BooleanBuffer {
        let common = left_scale.max(right_scale);
        let (up_left, up_right) = (pow10(common - left_scale), pow10(common - right_scale));
        let comparison = self.comparison;
        compare::<Decimal128Type>(left, right, rows, |a, b| {
            let order = match (a.checked_mul(up_left), b.checked_mul(up_right)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => {
                    let a = i256::from_i128(a).wrapping_mul(i256::from_i128(up_left));
                    a.cmp(&i256::from_i128(b).wrapping_mul(i256::from_i128(up_right)))
                }
            };
            comparison.holds(order)
        })
    }

    fn with_arrow(
        &self,
        left: &Column,
        right: &Column,
        rows: usize,
    ) -> Result<BooleanBuffer, EvalError> {
        let scalar =
            |column: &Column| column.is_constant().then(|| Scalar::new(column.array().clone()));
        let (left_scalar, right_scalar) = (scalar(left), scalar(right));
        let a: &dyn Datum = match &left_scalar {
            Some(scalar) => scalar,
            None => left.array(),
        };
        let b: &dyn Datum = match &right_scalar {
            Some(scalar) => scalar,
            None => right.array(),
        };
        let result = match self.comparison {
            Comparison::Equal => cmp::eq(a, b),
            Comparison::NotEqual => cmp::neq(a, b),
            Comparison::Less => cmp::lt(a, b),
            Comparison::LessOrEqual => cmp::lt_eq(a, b),
            Comparison::Greater => cmp::gt(a, b),
            Comparison::GreaterOrEqual => cmp::gt_eq(a, b),
        }?;
        if result.len() == rows {
            return Ok(result.values().clone());
        }
        // Two constants were compared.
        let value = result.value(0);
        Ok(BooleanBuffer::collect_bool(rows, |_| value))
    }
}

impl Comparison {
    fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
