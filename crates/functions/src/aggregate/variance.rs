//! Variance and standard deviation.

use std::marker::PhantomData;

use arrow::array::{ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::{DataType, TypeRoot};

use super::cells::{Cells, Fold, Native, column};
use super::layout::state_numbers;
use super::typing::{average_of_argument, decimal_of, unsupported};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::decimal::{from_f64, to_f64};
use crate::{EvalError, FunctionDoc, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[
    statistic(
        ("STDDEV_POP", &[]),
        |spec| create(spec, Statistic { sample: false, root: true }),
        &["STDDEV_POP([ALL | DISTINCT] number)"],
        "The standard deviation of the values that are not NULL, taken as all there are; NULL if there \
         are none. Of integers it is an integer, cut towards zero.",
        &[("STDDEV_POP(a) FROM (VALUES (1e0), (3e0)) AS t(a)", "1.0")],
    ),
    statistic(
        ("STDDEV_SAMP", &["STDDEV"]),
        |spec| create(spec, Statistic { sample: true, root: true }),
        &["STDDEV_SAMP([ALL | DISTINCT] number)", "STDDEV([ALL | DISTINCT] number)"],
        "The standard deviation of the values that are not NULL, taken as a sample; NULL if there are \
         fewer than two. Of integers it is an integer, cut towards zero.",
        &[("STDDEV_SAMP(a) FROM (VALUES (1e0), (3e0)) AS t(a)", "1.4142135623730951")],
    ),
    statistic(
        ("VAR_POP", &[]),
        |spec| create(spec, Statistic { sample: false, root: false }),
        &["VAR_POP([ALL | DISTINCT] number)"],
        "The variance of the values that are not NULL, taken as all there are; NULL if there are none. Of \
         integers it is an integer, cut towards zero.",
        &[("VAR_POP(a) FROM (VALUES (1e0), (3e0)) AS t(a)", "1.0")],
    ),
    statistic(
        ("VAR_SAMP", &["VARIANCE"]),
        |spec| create(spec, Statistic { sample: true, root: false }),
        &["VAR_SAMP([ALL | DISTINCT] number)", "VARIANCE([ALL | DISTINCT] number)"],
        "The variance of the values that are not NULL, taken as a sample; NULL if there are fewer than \
         two. Of integers it is an integer, cut towards zero.",
        &[("VAR_SAMP(a) FROM (VALUES (1e0), (3e0)) AS t(a)", "2.0")],
    ),
];

const fn statistic(
    (name, aliases): (&'static str, &'static [&'static str]),
    create: fn(&AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError>,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [crate::Example],
) -> AggregateFunction {
    AggregateFunction {
        name,
        aliases,
        resolve: average_of_argument,
        create,
        order_sensitive: false,
        doc: FunctionDoc { syntax, text, examples },
    }
}

/// Which of the four it is.
#[derive(Clone, Copy)]
pub(super) struct Statistic {
    /// Divided by one less than the number of values.
    pub sample: bool,
    /// The standard deviation instead of the variance.
    pub root: bool,
}

pub(super) fn create(
    spec: &AggregateSpec,
    statistic: Statistic,
) -> Result<Box<dyn Accumulator>, SignatureError> {
    let returns = &spec.returns;
    let argument = decimal_of(spec.args.data_type(0)).unwrap_or_default();
    let result = decimal_of(returns).unwrap_or_default();
    macro_rules! spread {
        ($t:ty) => {
            Cells::boxed(Spread::<$t> { statistic, argument, result, number: PhantomData }, returns)
        };
    }
    Ok(match &spec.args.data_type(0).root {
        TypeRoot::TinyInt => spread!(Int8Type),
        TypeRoot::SmallInt => spread!(Int16Type),
        TypeRoot::Int => spread!(Int32Type),
        TypeRoot::BigInt => spread!(Int64Type),
        TypeRoot::Float => spread!(Float32Type),
        TypeRoot::Double => spread!(Float64Type),
        TypeRoot::Decimal { .. } => spread!(Decimal128Type),
        _ => return Err(unsupported(spec, 0)),
    })
}

/// Welford's moments: they stay exact where sums of squares lose everything.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: i64,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

/// A number that can be measured as DOUBLE, and a DOUBLE as such a number, by Java's casts.
trait Measured: Copy {
    fn measure(self, decimal: (u8, u8)) -> f64;
    fn of(value: f64, decimal: (u8, u8)) -> Option<Self>;
}

macro_rules! measured {
    ($($native:ty: |$value:ident| $cast:expr),* $(,)?) => {$(
        impl Measured for $native {
            fn measure(self, _: (u8, u8)) -> f64 {
                self as f64
            }

            fn of($value: f64, _: (u8, u8)) -> Option<Self> {
                Some($cast)
            }
        }
    )*};
}

measured! {
    i8: |value| value as i32 as i8,
    i16: |value| value as i32 as i16,
    i32: |value| value as i32,
    i64: |value| value as i64,
    f32: |value| value as f32,
    f64: |value| value,
}

impl Measured for i128 {
    fn measure(self, (precision, scale): (u8, u8)) -> f64 {
        to_f64(self, precision, scale)
    }

    fn of(value: f64, (precision, scale): (u8, u8)) -> Option<Self> {
        from_f64(value, precision, scale)
    }
}

/// Variance or standard deviation of numbers.
struct Spread<T> {
    statistic: Statistic,
    /// Precision and scale of a DECIMAL argument.
    argument: (u8, u8),
    /// Precision and scale of a DECIMAL result.
    result: (u8, u8),
    number: PhantomData<fn() -> T>,
}

impl<T: ArrowPrimitiveType> Fold for Spread<T>
where
    Native<T>: Measured,
{
    type Arg = T;
    type Result = T;
    type Cell = Moments;

    /// Flink's aggregate gives the moments and the count, of which a projection behind it makes the result: the count
    /// changes with every value.
    const EVERY_VALUE: bool = true;

    fn empty(&self) -> Moments {
        Moments::default()
    }

    #[inline(always)]
    fn add(&self, cell: &mut Moments, value: Native<T>) {
        let value = value.measure(self.argument);
        cell.count += 1;
        let distance = value - cell.mean;
        cell.mean += distance / cell.count as f64;
        cell.squares += distance * (value - cell.mean);
    }

    #[inline(always)]
    fn subtract(&self, cell: &mut Moments, value: Native<T>) {
        let value = value.measure(self.argument);
        cell.count -= 1;
        if cell.count == 0 {
            *cell = Moments::default();
            return;
        }
        let distance = value - cell.mean;
        cell.mean -= distance / cell.count as f64;
        cell.squares -= distance * (value - cell.mean);
    }

    fn merge(&self, cell: &mut Moments, other: &Moments) {
        if other.count == 0 {
            return;
        }
        if cell.count == 0 {
            *cell = *other;
            return;
        }
        let count = cell.count + other.count;
        if count == 0 {
            *cell = Moments::default();
            return;
        }
        let distance = other.mean - cell.mean;
        let (left, right) = (cell.count as f64, other.count as f64);
        cell.squares += other.squares + distance * distance * left * right / count as f64;
        cell.mean += distance * right / count as f64;
        cell.count = count;
    }

    #[inline(always)]
    fn value(&self, cell: &Moments) -> Option<Native<T>> {
        let divisor = cell.count - i64::from(self.statistic.sample);
        if divisor <= 0 {
            return None;
        }
        // Taking back leaves rounding errors, which must not make a variance negative.
        let squares = if cell.squares < 0.0 { 0.0 } else { cell.squares };
        let variance = squares / divisor as f64;
        let value = if self.statistic.root { variance.sqrt() } else { variance };
        Native::<T>::of(value, self.result)
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataType::bigint(), DataType::double(), DataType::double()]
    }

    fn write(&self, cells: &[Moments]) -> Result<Vec<ArrayRef>, EvalError> {
        let double = DataType::double();
        Ok(vec![
            column::<Int64Type>(cells.iter().map(|cell| cell.count), &DataType::bigint())?,
            column::<Float64Type>(cells.iter().map(|cell| cell.mean), &double)?,
            column::<Float64Type>(cells.iter().map(|cell| cell.squares), &double)?,
        ])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Moments>, EvalError> {
        let counts = state_numbers::<Int64Type>(state, 0)?;
        let means = state_numbers::<Float64Type>(state, 1)?;
        let squares = state_numbers::<Float64Type>(state, 2)?;
        let cells = counts.values().iter().zip(means.values()).zip(squares.values());
        let cell = |((count, mean), squares): ((&i64, &f64), &f64)| Moments {
            count: *count,
            mean: *mean,
            squares: *squares,
        };
        Ok(cells.map(cell).collect())
    }
}
