//! Casts of texts to numbers and truth values; a text that is none fails.

use std::sync::Arc;

use arrow::array::{Array, ArrowPrimitiveType, AsArray, BooleanBuilder, PrimitiveBuilder};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::{DataType, TypeRoot};

use super::conversion::{Conversion, Failures};
use super::parse::{
    Reason, parse_boolean, parse_decimal, parse_double, parse_float, parse_integer,
};
use crate::EvalError;

/// The conversion of a text to a type; `None` if there is none of this kind.
pub(super) fn from_text(to: &DataType) -> Option<Conversion> {
    use TypeRoot::*;
    fn integer<T: ArrowPrimitiveType>(to: &DataType, min: i64, max: i64) -> Conversion
    where
        T::Native: TryFrom<i64>,
    {
        each::<T>(to, move |text| {
            let value = parse_integer(text, min, max)?;
            T::Native::try_from(value).map_err(|_| "it is out of range")
        })
    }
    Some(match &to.root {
        Boolean => boolean(to),
        TinyInt => integer::<Int8Type>(to, i8::MIN.into(), i8::MAX.into()),
        SmallInt => integer::<Int16Type>(to, i16::MIN.into(), i16::MAX.into()),
        Int => integer::<Int32Type>(to, i32::MIN.into(), i32::MAX.into()),
        BigInt => integer::<Int64Type>(to, i64::MIN, i64::MAX),
        Float => each::<Float32Type>(to, parse_float),
        Double => each::<Float64Type>(to, parse_double),
        Decimal { precision, scale } => {
            let (precision, scale) = (*precision, *scale);
            each::<Decimal128Type>(to, move |text| parse_decimal(text, precision, scale))
        }
        _ => return None,
    })
}

fn each<T: ArrowPrimitiveType>(
    to: &DataType,
    parse: impl Fn(&str) -> Result<T::Native, Reason> + Send + Sync + 'static,
) -> Conversion {
    let to = to.clone();
    Conversion::fallible(move |array, failures| {
        let texts = array.as_string::<i32>();
        let mut values = PrimitiveBuilder::<T>::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            match text.map(&parse) {
                None => values.append_null(),
                Some(Ok(value)) => values.append_value(value),
                Some(Err(reason)) => {
                    values.append_null();
                    fail(failures, row, texts.value(row), &to, reason);
                }
            }
        }
        let values = values.finish().with_data_type(flott_types::arrow_type(&to));
        Ok(Arc::new(values))
    })
}

fn boolean(to: &DataType) -> Conversion {
    let to = to.clone();
    Conversion::fallible(move |array, failures| {
        let texts = array.as_string::<i32>();
        let mut values = BooleanBuilder::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            let Some(text) = text else {
                values.append_null();
                continue;
            };
            let value = parse_boolean(text);
            values.append_option(value);
            if value.is_none() {
                fail(failures, row, text, &to, "it is neither true nor false");
            }
        }
        Ok(Arc::new(values.finish()))
    })
}

/// Notes a text that cannot be cast.
pub(super) fn fail(
    failures: &mut Failures,
    row: usize,
    text: &str,
    to: &DataType,
    reason: impl Into<String>,
) {
    failures.add(row, || EvalError::Cast {
        text: text.to_string(),
        to: to.clone().with_nullable(true),
        reason: reason.into(),
    });
}
