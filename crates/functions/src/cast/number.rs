//! Casts among numbers, booleans and intervals.
//!
//! Integers wrap, floats saturate towards integers, and a DECIMAL that has no room for a number gives
//! NULL: none of these casts fails.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Decimal128Array, PrimitiveArray,
};
use arrow::datatypes::{
    Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, IntervalYearMonthType,
};
use flott_types::TypeRoot;

use super::conversion::Conversion;
use crate::decimal;

/// The conversion between two roots of these kinds; `None` if there is none.
pub(super) fn between_numbers(from: &TypeRoot, to: &TypeRoot) -> Option<Conversion> {
    use TypeRoot::*;
    match from {
        Boolean => from_boolean(to),
        TinyInt => from_primitive::<Int8Type>(to),
        SmallInt => from_primitive::<Int16Type>(to),
        Int => from_primitive::<Int32Type>(to),
        BigInt => from_primitive::<Int64Type>(to),
        Float => from_primitive::<Float32Type>(to),
        Double => from_primitive::<Float64Type>(to),
        Decimal { precision, scale } => from_decimal(*precision, *scale, to),
        IntervalYearMonth => from_primitive::<IntervalYearMonthType>(to),
        IntervalDayTime => from_primitive::<DurationMillisecondType>(to),
        _ => None,
    }
}

/// A number as Java converts it.
pub(crate) trait Number: Copy {
    /// Low 32 bits, or saturated.
    fn to_i32(self) -> i32;
    /// Low 64 bits, or saturated.
    fn to_i64(self) -> i64;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn is_zero(self) -> bool;
    fn to_decimal(self, precision: u8, scale: u8) -> Option<i128>;
}

macro_rules! integer_number {
    ($($native:ty),*) => {$(
        impl Number for $native {
            #[inline]
            fn to_i32(self) -> i32 {
                self as i32
            }
            #[inline]
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
            #[inline]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn is_zero(self) -> bool {
                self == 0
            }
            #[inline]
            fn to_decimal(self, precision: u8, scale: u8) -> Option<i128> {
                decimal::rescale(i128::from(self), 0, scale, precision)
            }
        }
    )*};
}

integer_number!(i8, i16, i32, i64);

impl Number for f64 {
    #[inline]
    fn to_i32(self) -> i32 {
        self as i32
    }
    #[inline]
    fn to_i64(self) -> i64 {
        self as i64
    }
    #[inline]
    fn to_f32(self) -> f32 {
        self as f32
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    #[inline]
    fn to_decimal(self, precision: u8, scale: u8) -> Option<i128> {
        decimal::from_f64(self, precision, scale)
    }
}

impl Number for f32 {
    #[inline]
    fn to_i32(self) -> i32 {
        self as i32
    }
    #[inline]
    fn to_i64(self) -> i64 {
        self as i64
    }
    #[inline]
    fn to_f32(self) -> f32 {
        self
    }
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    #[inline]
    fn to_decimal(self, precision: u8, scale: u8) -> Option<i128> {
        decimal::from_f64(f64::from(self), precision, scale)
    }
}

fn from_primitive<T>(to: &TypeRoot) -> Option<Conversion>
where
    T: ArrowPrimitiveType,
    T::Native: Number,
{
    use TypeRoot::*;
    Some(match to {
        Boolean => Conversion::total(|array| {
            let values = array.as_primitive::<T>();
            Ok(Arc::new(BooleanArray::from_unary(values, |value| !value.is_zero())))
        }),
        // Java narrows to 32 bits first: a float saturates there and then wraps.
        TinyInt => each::<T, Int8Type>(|value| value.to_i32() as i8),
        SmallInt => each::<T, Int16Type>(|value| value.to_i32() as i16),
        Int => each::<T, Int32Type>(Number::to_i32),
        BigInt => each::<T, Int64Type>(Number::to_i64),
        Float => each::<T, Float32Type>(Number::to_f32),
        Double => each::<T, Float64Type>(Number::to_f64),
        IntervalYearMonth => each::<T, IntervalYearMonthType>(Number::to_i32),
        IntervalDayTime => each::<T, DurationMillisecondType>(Number::to_i64),
        Decimal { precision, scale } => {
            let (precision, scale) = (*precision, *scale);
            Conversion::total(move |array| {
                let values = array.as_primitive::<T>();
                let digits: Decimal128Array =
                    values.unary_opt(|value| value.to_decimal(precision, scale));
                decimal_array(digits, precision, scale)
            })
        }
        _ => return None,
    })
}

fn each<T, R>(convert: fn(T::Native) -> R::Native) -> Conversion
where
    T: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
{
    Conversion::total(move |array| {
        let values: PrimitiveArray<R> = array.as_primitive::<T>().unary(convert);
        Ok(Arc::new(values))
    })
}

fn from_boolean(to: &TypeRoot) -> Option<Conversion> {
    use TypeRoot::*;
    fn each<R: ArrowPrimitiveType>(no: R::Native, yes: R::Native) -> Conversion {
        Conversion::total(move |array| {
            let truth = array.as_boolean();
            let values = truth.values().iter().map(|value| if value { yes } else { no });
            let values = PrimitiveArray::<R>::from_iter_values(values);
            let (_, values, _) = values.into_parts();
            Ok(Arc::new(PrimitiveArray::<R>::new(values, truth.nulls().cloned())))
        })
    }
    Some(match to {
        TinyInt => each::<Int8Type>(0, 1),
        SmallInt => each::<Int16Type>(0, 1),
        Int => each::<Int32Type>(0, 1),
        BigInt => each::<Int64Type>(0, 1),
        Float => each::<Float32Type>(0.0, 1.0),
        Double => each::<Float64Type>(0.0, 1.0),
        Decimal { precision, scale } => {
            let (precision, scale) = (*precision, *scale);
            let yes = decimal::rescale(1, 0, scale, precision);
            Conversion::total(move |array| {
                let truth = array.as_boolean();
                let digits: Decimal128Array = truth
                    .iter()
                    .map(|value| value.and_then(|value| if value { yes } else { Some(0) }))
                    .collect();
                decimal_array(digits, precision, scale)
            })
        }
        _ => return None,
    })
}

fn from_decimal(precision: u8, scale: u8, to: &TypeRoot) -> Option<Conversion> {
    use TypeRoot::*;
    let whole = move |digits: i128| decimal::truncate(digits, scale, 0) as i64;
    let double = move |digits: i128| decimal::to_f64(digits, precision, scale);
    fn each<R: ArrowPrimitiveType>(
        convert: impl Fn(i128) -> R::Native + Send + Sync + 'static,
    ) -> Conversion {
        Conversion::total(move |array| {
            let values: PrimitiveArray<R> = array.as_primitive::<Decimal128Type>().unary(&convert);
            Ok(Arc::new(values))
        })
    }
    Some(match to {
        Boolean => Conversion::total(|array| {
            let values = array.as_primitive::<Decimal128Type>();
            Ok(Arc::new(BooleanArray::from_unary(values, |digits| digits != 0)))
        }),
        TinyInt => each::<Int8Type>(move |digits| whole(digits) as i8),
        SmallInt => each::<Int16Type>(move |digits| whole(digits) as i16),
        Int => each::<Int32Type>(move |digits| whole(digits) as i32),
        BigInt => each::<Int64Type>(whole),
        Float => each::<Float32Type>(move |digits| double(digits) as f32),
        Double => each::<Float64Type>(double),
        Decimal { precision: to_precision, scale: to_scale } => {
            let (to_precision, to_scale) = (*to_precision, *to_scale);
            let widens = to_scale >= scale && to_precision - to_scale >= precision - scale;
            Conversion::total(move |array| {
                let values = array.as_primitive::<Decimal128Type>();
                let digits: Decimal128Array = if widens {
                    let factor = decimal::pow10(to_scale - scale);
                    values.unary(|digits| digits.wrapping_mul(factor))
                } else {
                    values
                        .unary_opt(|digits| decimal::rescale(digits, scale, to_scale, to_precision))
                };
                decimal_array(digits, to_precision, to_scale)
            })
        }
        _ => return None,
    })
}

fn decimal_array(
    digits: Decimal128Array,
    precision: u8,
    scale: u8,
) -> Result<ArrayRef, crate::EvalError> {
    Ok(Arc::new(digits.with_precision_and_scale(precision, scale as i8)?))
}
