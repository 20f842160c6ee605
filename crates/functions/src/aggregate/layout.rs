//! Fixed-width columns as plain numbers, so that one accumulator serves all types of a width.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, make_array};
use arrow::datatypes::{DataType as Arrow, Decimal128Type, IntervalUnit, TimeUnit};
use flott_types::{DataType, arrow_type};

use crate::EvalError;

/// The number that a type of fixed width is kept as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Physical {
    /// TINYINT
    I8,
    /// SMALLINT
    I16,
    /// INT, DATE, TIME, interval of months.
    I32,
    /// BIGINT, timestamps up to microseconds, interval of milliseconds.
    I64,
    /// DECIMAL, timestamps in nanoseconds.
    I128,
    /// FLOAT
    F32,
    /// DOUBLE
    F64,
}

impl Physical {
    /// The number of a type, `None` for BOOLEAN and types of varying width.
    pub fn of(ty: &DataType) -> Option<Self> {
        Some(match arrow_type(ty) {
            Arrow::Int8 => Self::I8,
            Arrow::Int16 => Self::I16,
            Arrow::Int32
            | Arrow::Date32
            | Arrow::Time32(TimeUnit::Millisecond)
            | Arrow::Interval(IntervalUnit::YearMonth) => Self::I32,
            Arrow::Int64 | Arrow::Timestamp(..) | Arrow::Duration(_) => Self::I64,
            Arrow::Decimal128(..) => Self::I128,
            Arrow::Float32 => Self::F32,
            Arrow::Float64 => Self::F64,
            _ => return None,
        })
    }
}

/// Evaluates `$body` with `$t` as the Arrow type of a [`Physical`].
macro_rules! with_physical {
    ($physical:expr, $t:ident => $body:expr) => {{
        use arrow::datatypes as at;
        match $physical {
            $crate::aggregate::layout::Physical::I8 => {
                type $t = at::Int8Type;
                $body
            }
            $crate::aggregate::layout::Physical::I16 => {
                type $t = at::Int16Type;
                $body
            }
            $crate::aggregate::layout::Physical::I32 => {
                type $t = at::Int32Type;
                $body
            }
            $crate::aggregate::layout::Physical::I64 => {
                type $t = at::Int64Type;
                $body
            }
            $crate::aggregate::layout::Physical::I128 => {
                type $t = at::Decimal128Type;
                $body
            }
            $crate::aggregate::layout::Physical::F32 => {
                type $t = at::Float32Type;
                $body
            }
            $crate::aggregate::layout::Physical::F64 => {
                type $t = at::Float64Type;
                $body
            }
        }
    }};
}
pub(super) use with_physical;

/// A column as plain numbers.
pub fn numbers<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<PrimitiveArray<T>, EvalError> {
    if let Some(array) = column.as_primitive_opt::<T>() {
        return Ok(array.clone());
    }
    let data = column.to_data();
    let width = data.data_type().primitive_width();
    if width != T::DATA_TYPE.primitive_width() {
        return Err(EvalError::Internal(format!(
            "an aggregate over {} was given {}",
            T::DATA_TYPE,
            column.data_type()
        )));
    }
    Ok(PrimitiveArray::from(data.into_builder().data_type(T::DATA_TYPE).build()?))
}

/// Plain numbers as a column of a type.
pub fn typed<T: ArrowPrimitiveType>(
    array: PrimitiveArray<T>,
    ty: &DataType,
) -> Result<ArrayRef, EvalError> {
    let wanted = arrow_type(ty);
    if *array.data_type() == wanted {
        return Ok(std::sync::Arc::new(array));
    }
    if T::DATA_TYPE == Decimal128Type::DATA_TYPE {
        return Ok(std::sync::Arc::new(array.with_data_type(wanted)));
    }
    Ok(make_array(array.into_data().into_builder().data_type(wanted).build()?))
}

/// Column `index` of a state as plain numbers.
pub fn state_numbers<T: ArrowPrimitiveType>(
    state: &[ArrayRef],
    index: usize,
) -> Result<PrimitiveArray<T>, EvalError> {
    numbers(state_column(state, index)?)
}

/// Column `index` of a state.
pub fn state_column(state: &[ArrayRef], index: usize) -> Result<&ArrayRef, EvalError> {
    state
        .get(index)
        .ok_or_else(|| EvalError::Internal("an aggregate's state has too few columns".into()))
}
