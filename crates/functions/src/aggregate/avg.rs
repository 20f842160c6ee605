//! AVG.

use std::marker::PhantomData;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::{DataType, TypeRoot};

use super::cells::{Cells, Fold, Native, column, nullable_column};
use super::layout::state_numbers;
use super::sum::{OVERFLOWN, add_decimals};
use super::typing::{average_of_argument, decimal_of, unsupported};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::decimal::divide;
use crate::{EvalError, FunctionDoc, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "AVG",
    aliases: &[],
    resolve: average_of_argument,
    create,
    order_sensitive: false,
    doc: FunctionDoc {
        syntax: &["AVG([ALL | DISTINCT] number)"],
        text: "The arithmetic mean of the values that are not NULL; NULL if there are none. Of \
               integers it is an integer, cut towards zero; of DECIMAL it has at least six \
               digits of fraction.",
        examples: &[("AVG(a) FROM (VALUES (1), (2)) AS t(a)", "1")],
    },
}];

fn create(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let returns = &spec.returns;
    macro_rules! average {
        ($t:ty) => {
            Cells::boxed(Average::<$t>(PhantomData), returns)
        };
    }
    Ok(match &returns.root {
        TypeRoot::TinyInt => average!(Int8Type),
        TypeRoot::SmallInt => average!(Int16Type),
        TypeRoot::Int => average!(Int32Type),
        TypeRoot::BigInt => average!(Int64Type),
        TypeRoot::Float => average!(Float32Type),
        TypeRoot::Double => average!(Float64Type),
        _ => match (decimal_of(spec.args.data_type(0)), decimal_of(returns)) {
            (Some((_, scale)), Some(result)) => {
                Cells::boxed(DecimalAverage { scale, result }, returns)
            }
            _ => return Err(unsupported(spec, 0)),
        },
    })
}

/// A sum and how many values are in it.
#[derive(Clone, Copy)]
struct Mean<S> {
    sum: S,
    count: i64,
}

/// A number with the type in which Flink sums it up: BIGINT, which wraps round, or DOUBLE.
trait Averaged: Copy {
    /// The Arrow type of sums.
    type Sum: ArrowPrimitiveType;

    /// The sum of no numbers.
    const ZERO: Native<Self::Sum>;

    fn widen(self) -> Native<Self::Sum>;
    fn plus(sum: Native<Self::Sum>, value: Native<Self::Sum>) -> Native<Self::Sum>;
    fn minus(sum: Native<Self::Sum>, value: Native<Self::Sum>) -> Native<Self::Sum>;
    fn quotient(sum: Native<Self::Sum>, count: i64) -> Self;
}

macro_rules! averaged_integer {
    ($($native:ty),*) => {$(
        impl Averaged for $native {
            type Sum = Int64Type;
            const ZERO: i64 = 0;

            fn widen(self) -> i64 {
                self.into()
            }

            fn plus(sum: i64, value: i64) -> i64 {
                sum.wrapping_add(value)
            }

            fn minus(sum: i64, value: i64) -> i64 {
                sum.wrapping_sub(value)
            }

            fn quotient(sum: i64, count: i64) -> Self {
                sum.wrapping_div(count) as Self
            }
        }
    )*};
}

macro_rules! averaged_float {
    ($($native:ty),*) => {$(
        impl Averaged for $native {
            type Sum = Float64Type;
            const ZERO: f64 = 0.0;

            fn widen(self) -> f64 {
                self.into()
            }

            fn plus(sum: f64, value: f64) -> f64 {
                sum + value
            }

            fn minus(sum: f64, value: f64) -> f64 {
                sum - value
            }

            fn quotient(sum: f64, count: i64) -> Self {
                (sum / count as f64) as Self
            }
        }
    )*};
}

averaged_integer!(i8, i16, i32, i64);
averaged_float!(f32, f64);

/// AVG of integers and floating-point numbers.
struct Average<T>(PhantomData<fn() -> T>);

/// The type of an [`Average`]'s sum.
type SumOf<T> = <Native<T> as Averaged>::Sum;

impl<T: ArrowPrimitiveType> Average<T>
where
    Native<T>: Averaged,
{
    fn sum_type() -> DataType {
        if SumOf::<T>::DATA_TYPE == Int64Type::DATA_TYPE {
            DataType::bigint()
        } else {
            DataType::double()
        }
    }
}

impl<T: ArrowPrimitiveType> Fold for Average<T>
where
    Native<T>: Averaged,
{
    type Arg = T;
    type Result = T;
    type Cell = Mean<Native<SumOf<T>>>;

    fn empty(&self) -> Self::Cell {
        Mean { sum: Native::<T>::ZERO, count: 0 }
    }

    #[inline(always)]
    fn add(&self, cell: &mut Self::Cell, value: Native<T>) {
        cell.sum = Native::<T>::plus(cell.sum, value.widen());
        cell.count += 1;
    }

    #[inline(always)]
    fn subtract(&self, cell: &mut Self::Cell, value: Native<T>) {
        cell.sum = Native::<T>::minus(cell.sum, value.widen());
        cell.count -= 1;
    }

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        cell.sum = Native::<T>::plus(cell.sum, other.sum);
        cell.count += other.count;
    }

    #[inline(always)]
    fn value(&self, cell: &Self::Cell) -> Option<Native<T>> {
        (cell.count != 0).then(|| Native::<T>::quotient(cell.sum, cell.count))
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![Self::sum_type(), DataType::bigint()]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        Ok(vec![
            column::<SumOf<T>>(cells.iter().map(|cell| cell.sum), &Self::sum_type())?,
            column::<Int64Type>(cells.iter().map(|cell| cell.count), &DataType::bigint())?,
        ])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let sums = state_numbers::<SumOf<T>>(state, 0)?;
        let counts = state_numbers::<Int64Type>(state, 1)?;
        let cells = sums.values().iter().zip(counts.values());
        Ok(cells.map(|(sum, count)| Mean { sum: *sum, count: *count }).collect())
    }
}

/// AVG of decimals. Unlike SUM's, Flink's sum stays NULL once it has overflown.
struct DecimalAverage {
    /// Of the argument.
    scale: u8,
    /// Precision and scale of the result.
    result: (u8, u8),
}

impl DecimalAverage {
    #[inline(always)]
    fn plus(sum: i128, value: i128) -> i128 {
        if sum == OVERFLOWN || value == OVERFLOWN { OVERFLOWN } else { add_decimals(sum, value) }
    }

    fn sum_type(&self) -> DataType {
        DataType::decimal(38, self.scale)
    }
}

impl Fold for DecimalAverage {
    type Arg = Decimal128Type;
    type Result = Decimal128Type;
    type Cell = Mean<i128>;

    fn empty(&self) -> Self::Cell {
        Mean { sum: 0, count: 0 }
    }

    #[inline(always)]
    fn add(&self, cell: &mut Self::Cell, value: i128) {
        cell.sum = Self::plus(cell.sum, value);
        cell.count += 1;
    }

    #[inline(always)]
    fn subtract(&self, cell: &mut Self::Cell, value: i128) {
        cell.sum = Self::plus(cell.sum, -value);
        cell.count -= 1;
    }

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        cell.sum = Self::plus(cell.sum, other.sum);
        cell.count += other.count;
    }

    #[inline(always)]
    fn value(&self, cell: &Self::Cell) -> Option<i128> {
        if cell.count == 0 || cell.sum == OVERFLOWN {
            return None;
        }
        divide((cell.sum, self.scale), (i128::from(cell.count), 0), self.result)
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.sum_type(), DataType::bigint()]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        let sums = cells.iter().map(|cell| (cell.sum != OVERFLOWN).then_some(cell.sum));
        Ok(vec![
            nullable_column::<Decimal128Type>(sums, &self.sum_type())?,
            column::<Int64Type>(cells.iter().map(|cell| cell.count), &DataType::bigint())?,
        ])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let sums = state_numbers::<Decimal128Type>(state, 0)?;
        let counts = state_numbers::<Int64Type>(state, 1)?;
        let cells = (0..sums.len()).zip(counts.values()).map(|(row, count)| {
            let sum = if sums.is_null(row) { OVERFLOWN } else { sums.value(row) };
            Mean { sum, count: *count }
        });
        Ok(cells.collect())
    }
}
