//! Variance and standard deviation of integers and decimals in OVER and MATCH_RECOGNIZE.
//!
//! There Flink does not aggregate moments but writes the formula of textbooks over sums, `(Σx² - (Σx)² / n) / n`, in the
//! arithmetic of the result's type: integers are cut and decimals rounded at every step, so that results differ
//! from those of GROUP BY. Sums do not wrap round here as Flink's do. DOUBLE and FLOAT keep the moments, which
//! lose nothing where the formula does.

use std::marker::PhantomData;

use arrow::array::{ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::{Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, i256};
use flott_types::{DataType, TypeRoot};

use super::cells::{Cells, Fold, Native, column, nullable_column};
use super::layout::state_numbers;
use super::typing::{average_of_argument, decimal_of};
use super::variance::{Statistic, create};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::coercion::decimal::{DecimalType, product, quotient, sum};
use crate::decimal::{add, divide, from_f64, multiply, pow10, rescale, to_f64};
use crate::{EvalError, FunctionDoc, SignatureError};

/// The functions of this file, under the names of those of GROUP BY.
static FUNCTIONS: [AggregateFunction; 4] = [
    statistic("STDDEV_POP", |spec| over(spec, Statistic { sample: false, root: true })),
    statistic("STDDEV_SAMP", |spec| over(spec, Statistic { sample: true, root: true })),
    statistic("VAR_POP", |spec| over(spec, Statistic { sample: false, root: false })),
    statistic("VAR_SAMP", |spec| over(spec, Statistic { sample: true, root: false })),
];

/// The function as OVER and MATCH_RECOGNIZE compute it.
pub fn in_windows_of_rows(function: &'static AggregateFunction) -> &'static AggregateFunction {
    FUNCTIONS.iter().find(|known| known.name == function.name).unwrap_or(function)
}

const fn statistic(
    name: &'static str,
    create: fn(&AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError>,
) -> AggregateFunction {
    AggregateFunction {
        name,
        aliases: &[],
        resolve: average_of_argument,
        create,
        order_sensitive: false,
        doc: FunctionDoc { syntax: &[], text: "", examples: &[] },
    }
}

fn over(
    spec: &AggregateSpec,
    statistic: Statistic,
) -> Result<Box<dyn Accumulator>, SignatureError> {
    let returns = &spec.returns;
    macro_rules! whole {
        ($t:ty) => {
            Cells::boxed(Whole::<$t> { statistic, number: PhantomData }, returns)
        };
    }
    let argument = spec.args.data_type(0);
    Ok(match (&argument.root, decimal_of(argument), decimal_of(returns)) {
        (TypeRoot::TinyInt, ..) => whole!(Int8Type),
        (TypeRoot::SmallInt, ..) => whole!(Int16Type),
        (TypeRoot::Int, ..) => whole!(Int32Type),
        (TypeRoot::BigInt, ..) => whole!(Int64Type),
        (_, Some(argument), Some(result)) => {
            Cells::boxed(Exact::new(statistic, argument, result), returns)
        }
        _ => create(spec, statistic)?,
    })
}

/// The number of values, their sum and the sum of their squares.
#[derive(Clone, Copy, PartialEq)]
struct Sums<S> {
    count: i64,
    sum: i128,
    squares: S,
}

/// Of integers.
struct Whole<T> {
    statistic: Statistic,
    number: PhantomData<fn() -> T>,
}

/// An integer of any width, and a DOUBLE cut to one.
trait Integer: Copy {
    fn widen(self) -> i128;
    fn cut(value: f64) -> Self;
}

macro_rules! integer {
    ($($native:ty),*) => {$(
        impl Integer for $native {
            fn widen(self) -> i128 {
                i128::from(self)
            }

            fn cut(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}

integer!(i8, i16, i32, i64);

impl<T: ArrowPrimitiveType> Fold for Whole<T>
where
    Native<T>: Integer,
{
    type Arg = T;
    type Result = T;
    type Cell = Sums<i256>;

    fn empty(&self) -> Self::Cell {
        Sums { count: 0, sum: 0, squares: i256::ZERO }
    }

    fn add(&self, cell: &mut Self::Cell, value: Native<T>) {
        let value = value.widen();
        cell.count += 1;
        cell.sum += value;
        cell.squares = cell.squares.wrapping_add(i256::from_i128(value * value));
    }

    fn subtract(&self, cell: &mut Self::Cell, value: Native<T>) {
        let value = value.widen();
        cell.count -= 1;
        cell.sum -= value;
        cell.squares = cell.squares.wrapping_sub(i256::from_i128(value * value));
    }

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        cell.count += other.count;
        cell.sum += other.sum;
        cell.squares = cell.squares.wrapping_add(other.squares);
    }

    fn value(&self, cell: &Self::Cell) -> Option<Native<T>> {
        let divisor = cell.count - i64::from(self.statistic.sample);
        if divisor <= 0 {
            return None;
        }
        let wide = |number: i64| i256::from_i128(i128::from(number));
        let sum = i256::from_i128(cell.sum);
        let mean = sum.wrapping_mul(sum).wrapping_div(wide(cell.count));
        let variance = cell.squares.wrapping_sub(mean).wrapping_div(wide(divisor));
        let variance = variance.to_i128()? as f64;
        Some(Native::<T>::cut(if self.statistic.root { variance.sqrt() } else { variance }))
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataType::bigint(); 7]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        (0..7)
            .map(|at| {
                column::<Int64Type>(cells.iter().map(|cell| limbs(cell)[at]), &DataType::bigint())
            })
            .collect()
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let columns = (0..7)
            .map(|at| state_numbers::<Int64Type>(state, at))
            .collect::<Result<Vec<_>, _>>()?;
        let rows = columns.first().map_or(0, |column| column.len());
        Ok((0..rows)
            .map(|row| of_limbs(std::array::from_fn(|at| columns[at].value(row))))
            .collect())
    }
}

/// A cell in pieces of 64 bits, the lowest first: count, two of the sum, four of the squares.
fn limbs(cell: &Sums<i256>) -> [i64; 7] {
    let (low, high) = cell.squares.to_parts();
    let halves = |number: i128| [number as i64, (number >> 64) as i64];
    let ([s0, s1], [q0, q1], [q2, q3]) = (halves(cell.sum), halves(low as i128), halves(high));
    [cell.count, s0, s1, q0, q1, q2, q3]
}

fn of_limbs([count, s0, s1, q0, q1, q2, q3]: [i64; 7]) -> Sums<i256> {
    let whole = |low: i64, high: i64| i128::from(high) << 64 | i128::from(low as u64);
    Sums {
        count,
        sum: whole(s0, s1),
        squares: i256::from_parts(whole(q0, q1) as u128, whole(q2, q3)),
    }
}

/// Of decimals. The result of every step has the type that SQL's arithmetic gives it, and is then cast to the
/// result's type.
struct Exact {
    statistic: Statistic,
    /// The scale of the argument.
    scale: u8,
    /// Of the result.
    result: DecimalType,
    /// A power of ten: one as the result's type writes it.
    one: i128,
}

/// The type that a count has among decimals.
const COUNT: DecimalType = (20, 0);

impl Exact {
    fn new(statistic: Statistic, argument: DecimalType, result: DecimalType) -> Self {
        Self { statistic, scale: argument.1, result, one: pow10(result.1) }
    }

    fn cast(&self, digits: i128, from: DecimalType) -> Option<i128> {
        rescale(digits, from.1, self.result.1, self.result.0)
    }

    fn square(&self, value: i128) -> Option<i128> {
        let ty = product(self.result, self.result);
        self.cast(multiply(value, value, 2 * self.result.1, ty)?, ty)
    }

    fn ratio(&self, value: i128, (by, ty): (i128, DecimalType)) -> Option<i128> {
        let of = quotient(self.result, ty);
        self.cast(divide((value, self.result.1), (by, ty.1), of)?, of)
    }

    fn difference(&self, left: i128, right: i128) -> Option<i128> {
        let (ty, scale) = (sum(self.result, self.result), self.result.1);
        self.cast(add((left, scale), (right, scale), true, ty)?, ty)
    }

    /// Adds a value as often as `sign` says; `None`, once a sum has overflown.
    fn take(&self, cell: &mut Option<Sums<i128>>, value: i128, sign: i64) {
        *cell = cell.and_then(|cell| {
            let value = self.cast(value, (38, self.scale))?;
            let square = self.square(value)?;
            let signed = i128::from(sign);
            Some(Sums {
                count: cell.count + sign,
                sum: cell.sum.checked_add(signed * value)?,
                squares: cell.squares.checked_add(signed * square)?,
            })
        });
    }
}

impl Fold for Exact {
    type Arg = Decimal128Type;
    type Result = Decimal128Type;
    type Cell = Option<Sums<i128>>;

    fn empty(&self) -> Self::Cell {
        Some(Sums { count: 0, sum: 0, squares: 0 })
    }

    fn add(&self, cell: &mut Self::Cell, value: i128) {
        self.take(cell, value, 1);
    }

    fn subtract(&self, cell: &mut Self::Cell, value: i128) {
        self.take(cell, value, -1);
    }

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        *cell = cell.zip(*other).and_then(|(cell, other)| {
            Some(Sums {
                count: cell.count + other.count,
                sum: cell.sum.checked_add(other.sum)?,
                squares: cell.squares.checked_add(other.squares)?,
            })
        });
    }

    fn value(&self, cell: &Self::Cell) -> Option<i128> {
        let cell = (*cell)?;
        let divisor = cell.count - i64::from(self.statistic.sample);
        if divisor <= 0 {
            return None;
        }
        let count = (i128::from(cell.count).checked_mul(self.one)?, self.result);
        let mean = self.ratio(self.square(cell.sum)?, count)?;
        let difference = self.difference(cell.squares, mean)?;
        let divisor = if self.statistic.sample { (i128::from(divisor), COUNT) } else { count };
        let variance = self.ratio(difference, divisor)?;
        if self.statistic.root {
            let (precision, scale) = self.result;
            return from_f64(to_f64(variance, precision, scale).sqrt(), precision, scale);
        }
        Some(variance)
    }

    fn state_types(&self) -> Vec<DataType> {
        let decimal = |scale| DataType::decimal(38, scale);
        vec![DataType::bigint(), decimal(self.result.1), decimal(self.result.1)]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        let counts = cells.iter().map(|cell| cell.map_or(0, |cell| cell.count));
        let sums = cells.iter().map(|cell| cell.map(|cell| cell.sum));
        let squares = cells.iter().map(|cell| cell.map(|cell| cell.squares));
        let types = self.state_types();
        Ok(vec![
            column::<Int64Type>(counts, &types[0])?,
            nullable_column::<Decimal128Type>(sums, &types[1])?,
            nullable_column::<Decimal128Type>(squares, &types[2])?,
        ])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let counts = state_numbers::<Int64Type>(state, 0)?;
        let sums = state_numbers::<Decimal128Type>(state, 1)?;
        let squares = state_numbers::<Decimal128Type>(state, 2)?;
        let cells = sums.iter().zip(squares.iter()).zip(counts.values());
        let cell = |((sum, squares), count): ((Option<i128>, Option<i128>), &i64)| {
            Some(Sums { count: *count, sum: sum?, squares: squares? })
        };
        Ok(cells.map(cell).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_written_and_read() {
        let sum = -(1i128 << 100) + 7;
        let cell = Sums { count: 3, sum, squares: i256::from_parts(u128::MAX - 5, -9) };
        assert!(of_limbs(limbs(&cell)) == cell);
    }
}
