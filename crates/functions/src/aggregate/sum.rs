//! SUM.

use std::marker::PhantomData;

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::{DataType, TypeRoot};

use super::cells::{Cells, Fold, Native, column, nullable_column};
use super::layout::state_numbers;
use super::typing::{decimal_of, one_number, unsupported};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::decimal::{MAX_PRECISION, fits};
use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "SUM",
        aliases: &[],
        resolve: |args, may_be_empty| {
            let nullable = one_number(args)?.nullable || may_be_empty;
            sum_type(args, nullable)
        },
        create: |spec| create(spec, false),
        order_sensitive: false,
        doc: FunctionDoc {
            syntax: &["SUM([ALL | DISTINCT] number)"],
            text: "The sum of the values that are not NULL; NULL if there are none. Integers \
                   keep their type and wrap round on overflow; a DECIMAL has 38 digits, and is \
                   NULL when it needs more.",
            examples: &[("SUM(a) FROM (VALUES (1), (2)) AS t(a)", "3")],
        },
    },
    AggregateFunction {
        name: "$SUM0",
        aliases: &[],
        resolve: |args, _| sum_type(args, one_number(args)?.nullable),
        create: |spec| create(spec, true),
        order_sensitive: false,
        doc: FunctionDoc {
            syntax: &[],
            text: "SUM that is 0 where there are no values; plans use it.",
            examples: &[],
        },
    },
];

fn sum_type(args: &CallArgs, nullable: bool) -> Result<Resolved, SignatureError> {
    let root = match one_number(args)?.root.clone() {
        TypeRoot::Decimal { scale, .. } => TypeRoot::Decimal { precision: MAX_PRECISION, scale },
        root => root,
    };
    Ok(Resolved::unchanged(args, root.nullable().with_nullable(nullable)))
}

fn create(
    spec: &AggregateSpec,
    zero_if_empty: bool,
) -> Result<Box<dyn Accumulator>, SignatureError> {
    let returns = &spec.returns;
    macro_rules! sum {
        ($t:ty) => {
            Cells::boxed(
                Sum::<$t> { zero_if_empty, data_type: returns.clone(), number: PhantomData },
                returns,
            )
        };
    }
    Ok(match &returns.root {
        TypeRoot::TinyInt => sum!(Int8Type),
        TypeRoot::SmallInt => sum!(Int16Type),
        TypeRoot::Int => sum!(Int32Type),
        TypeRoot::BigInt => sum!(Int64Type),
        TypeRoot::Float => sum!(Float32Type),
        TypeRoot::Double => sum!(Float64Type),
        _ if decimal_of(returns).is_some() => {
            Cells::boxed(DecimalSum { zero_if_empty, data_type: returns.clone() }, returns)
        }
        _ => return Err(unsupported(spec, 0)),
    })
}

/// A sum and how many values are in it.
#[derive(Clone, Copy)]
struct Total<N> {
    sum: N,
    count: i64,
}

/// SUM of integers, which wrap round, and of floating-point numbers.
struct Sum<T> {
    zero_if_empty: bool,
    data_type: DataType,
    number: PhantomData<fn() -> T>,
}

impl<T: ArrowPrimitiveType> Fold for Sum<T>
where
    Native<T>: ArrowNativeTypeOp + Send,
{
    type Arg = T;
    type Result = T;
    type Cell = Total<Native<T>>;

    fn empty(&self) -> Self::Cell {
        // −0.0 is the neutral element of addition: 0.0 would turn a sum of −0.0 into 0.0.
        Total { sum: Native::<T>::ZERO.neg_wrapping(), count: 0 }
    }

    #[inline(always)]
    fn add(&self, cell: &mut Self::Cell, value: Native<T>) {
        cell.sum = cell.sum.add_wrapping(value);
        cell.count += 1;
    }

    #[inline(always)]
    fn subtract(&self, cell: &mut Self::Cell, value: Native<T>) {
        cell.sum = cell.sum.sub_wrapping(value);
        cell.count -= 1;
    }

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        cell.sum = cell.sum.add_wrapping(other.sum);
        cell.count += other.count;
    }

    #[inline(always)]
    fn value(&self, cell: &Self::Cell) -> Option<Native<T>> {
        if cell.count != 0 {
            Some(cell.sum)
        } else {
            self.zero_if_empty.then_some(Native::<T>::ZERO)
        }
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone().with_nullable(true), DataType::bigint()]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        Ok(vec![
            column::<T>(cells.iter().map(|cell| cell.sum), &self.data_type)?,
            column::<Int64Type>(cells.iter().map(|cell| cell.count), &DataType::bigint())?,
        ])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let sums = state_numbers::<T>(state, 0)?;
        let counts = state_numbers::<Int64Type>(state, 1)?;
        let cells = sums.values().iter().zip(counts.values());
        Ok(cells.map(|(sum, count)| Total { sum: *sum, count: *count }).collect())
    }
}

/// What a decimal sum is once it needed more digits than there are.
pub const OVERFLOWN: i128 = i128::MIN;

/// The sum of two decimals of one scale; [`OVERFLOWN`] when it needs more than 38 digits.
#[inline(always)]
pub fn add_decimals(left: i128, right: i128) -> i128 {
    left.checked_add(right).filter(|sum| fits(*sum, MAX_PRECISION)).unwrap_or(OVERFLOWN)
}

/// SUM of decimals.
///
/// Flink's sum is NULL after an overflow, and begins anew with the next value.
struct DecimalSum {
    zero_if_empty: bool,
    data_type: DataType,
}

impl DecimalSum {
    #[inline(always)]
    fn plus(&self, sum: i128, value: i128) -> i128 {
        if sum == OVERFLOWN { value } else { add_decimals(sum, value) }
    }
}

impl Fold for DecimalSum {
    type Arg = Decimal128Type;
    type Result = Decimal128Type;
    type Cell = Total<i128>;

    fn empty(&self) -> Self::Cell {
        Total { sum: 0, count: 0 }
    }

    #[inline(always)]
    fn add(&self, cell: &mut Self::Cell, value: i128) {
        cell.sum = self.plus(cell.sum, value);
        cell.count += 1;
    }

    #[inline(always)]
    fn subtract(&self, cell: &mut Self::Cell, value: i128) {
        cell.sum = self.plus(cell.sum, -value);
        cell.count -= 1;
    }

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        cell.sum = if other.sum == OVERFLOWN && other.count != 0 {
            OVERFLOWN
        } else {
            self.plus(cell.sum, other.sum)
        };
        cell.count += other.count;
    }

    #[inline(always)]
    fn value(&self, cell: &Self::Cell) -> Option<i128> {
        if cell.count != 0 {
            (cell.sum != OVERFLOWN).then_some(cell.sum)
        } else {
            self.zero_if_empty.then_some(0)
        }
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone().with_nullable(true), DataType::bigint()]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        let sums = cells.iter().map(|cell| (cell.sum != OVERFLOWN).then_some(cell.sum));
        Ok(vec![
            nullable_column::<Decimal128Type>(sums, &self.data_type)?,
            column::<Int64Type>(cells.iter().map(|cell| cell.count), &DataType::bigint())?,
        ])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let sums = state_numbers::<Decimal128Type>(state, 0)?;
        let counts = state_numbers::<Int64Type>(state, 1)?;
        let cells = (0..sums.len()).zip(counts.values()).map(|(row, count)| {
            let sum = if sums.is_null(row) { OVERFLOWN } else { sums.value(row) };
            Total { sum, count: *count }
        });
        Ok(cells.collect())
    }
}
