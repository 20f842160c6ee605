//! Evaluation of the arithmetic operators on numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowNativeTypeOp, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType,
};
use flott_types::TypeRoot;

use super::Compiled;
use crate::decimal;
use crate::loops::{binary, try_binary};
use crate::{
    CallArgs, Column, EvalError, Kernel, SessionSettings, SignatureError, kernel, total_kernel,
};

/// Calls a generic function with the Arrow type of a number's root.
macro_rules! with_primitive {
    ($root:expr, $function:ident ($($arg:expr),*)) => {
        match $root {
            TypeRoot::TinyInt => $function::<Int8Type>($($arg),*),
            TypeRoot::SmallInt => $function::<Int16Type>($($arg),*),
            TypeRoot::Int => $function::<Int32Type>($($arg),*),
            TypeRoot::BigInt => $function::<Int64Type>($($arg),*),
            TypeRoot::Float => $function::<Float32Type>($($arg),*),
            TypeRoot::Double => $function::<Float64Type>($($arg),*),
            TypeRoot::IntervalYearMonth => $function::<IntervalYearMonthType>($($arg),*),
            TypeRoot::IntervalDayTime => $function::<DurationMillisecondType>($($arg),*),
            root => Err(not_a_number(root)),
        }
    };
}

/// Sum or difference of two arguments of the result's type, or of two DECIMALs.
pub(super) fn add(args: &CallArgs, returns: &TypeRoot, subtract: bool) -> Compiled {
    if let TypeRoot::Decimal { precision, scale } = returns {
        let (to, (left, right)) = ((*precision, *scale), scales(args)?);
        return Ok(decimals(to, move |a, b| Ok(decimal::add((a, left), (b, right), subtract, to))));
    }
    fn sum<T: ArrowPrimitiveType>(subtract: bool) -> Compiled
    where
        T::Native: Arithmetic,
    {
        Ok(if subtract {
            operator::<T>(Arithmetic::minus)
        } else {
            operator::<T>(Arithmetic::plus)
        })
    }
    with_primitive!(returns, sum(subtract))
}

/// Product of two arguments of the result's type, or of two DECIMALs.
pub(super) fn multiply(args: &CallArgs, returns: &TypeRoot) -> Compiled {
    if let TypeRoot::Decimal { precision, scale } = returns {
        let (to, (left, right)) = ((*precision, *scale), scales(args)?);
        return Ok(decimals(to, move |a, b| Ok(decimal::multiply(a, b, left + right, to))));
    }
    fn product<T: ArrowPrimitiveType>() -> Compiled
    where
        T::Native: Arithmetic,
    {
        Ok(operator::<T>(Arithmetic::times))
    }
    with_primitive!(returns, product())
}

/// Quotient of two arguments of the result's type, or of two DECIMALs.
pub(super) fn divide(args: &CallArgs, returns: &TypeRoot) -> Compiled {
    match returns {
        TypeRoot::Decimal { precision, scale } => {
            let (to, (left, right)) = ((*precision, *scale), scales(args)?);
            Ok(fallible_decimals(to, move |a, b| match b {
                0 => Err(EvalError::DivisionByZero),
                _ => Ok(decimal::divide((a, left), (b, right), to)),
            }))
        }
        TypeRoot::Float => Ok(operator::<Float32Type>(|a, b| canonical_f32(a / b))),
        TypeRoot::Double => Ok(operator::<Float64Type>(|a, b| canonical(a / b))),
        TypeRoot::TinyInt => integers::<Int8Type>(i8::wrapping_div),
        TypeRoot::SmallInt => integers::<Int16Type>(i16::wrapping_div),
        TypeRoot::Int => integers::<Int32Type>(i32::wrapping_div),
        TypeRoot::BigInt => integers::<Int64Type>(i64::wrapping_div),
        root => Err(not_a_number(root)),
    }
}

/// Remainder of two integers of the same type, or of two DECIMALs, brought to the result's type.
pub(super) fn remainder(args: &CallArgs, returns: &TypeRoot) -> Compiled {
    let compute = match (&args.data_type(0).root, returns) {
        (TypeRoot::Decimal { .. }, TypeRoot::Decimal { precision, scale }) => {
            return decimal_remainder(args, (*precision, *scale));
        }
        (TypeRoot::Decimal { .. }, _) => decimal_remainder(args, (decimal::MAX_PRECISION, 0))?,
        (TypeRoot::TinyInt, _) => integers::<Int8Type>(i8::wrapping_rem)?,
        (TypeRoot::SmallInt, _) => integers::<Int16Type>(i16::wrapping_rem)?,
        (TypeRoot::Int, _) => integers::<Int32Type>(i32::wrapping_rem)?,
        (TypeRoot::BigInt, _) => integers::<Int64Type>(i64::wrapping_rem)?,
        (root, _) => return Err(not_a_number(root)),
    };
    let wide = match &args.data_type(0).root {
        TypeRoot::Decimal { .. } => {
            TypeRoot::Decimal { precision: decimal::MAX_PRECISION, scale: 0 }
        }
        root => root.clone(),
    };
    if wide == *returns {
        return Ok(compute);
    }
    let to = returns.clone().nullable();
    let narrow = crate::cast::compile(&wide.nullable(), &to, false, &SessionSettings::default())?;
    Ok(kernel(move |args, context| {
        let rest = compute.evaluate(args, context)?;
        narrow.evaluate(&[Column::rows(rest)], context)
    }))
}

fn decimal_remainder(args: &CallArgs, to: (u8, u8)) -> Compiled {
    let (left, right) = scales(args)?;
    Ok(fallible_decimals(to, move |a, b| match b {
        0 => Err(EvalError::DivisionByZero),
        _ => decimal::remainder((a, left), (b, right), to).map_err(|_| EvalError::Argument {
            function: "%",
            reason: "the quotient has more than 38 digits".into(),
        }),
    }))
}

/// The number with its sign changed.
pub(super) fn negate(root: &TypeRoot) -> Compiled {
    if let TypeRoot::Decimal { precision, scale } = root {
        let (precision, scale) = (*precision, *scale as i8);
        return Ok(total_kernel(move |args, context| {
            let digits = unary::<Decimal128Type>(&args[0], |digits| -digits);
            let digits = digits.with_precision_and_scale(precision, scale)?;
            spread(&args[0], Arc::new(digits), context.rows)
        }));
    }
    fn negative<T: ArrowPrimitiveType>() -> Compiled
    where
        T::Native: Arithmetic,
    {
        Ok(total_kernel(|args, context| {
            let values = unary::<T>(&args[0], Arithmetic::negated);
            spread(&args[0], Arc::new(values), context.rows)
        }))
    }
    with_primitive!(root, negative())
}

/// Java's operators: integers wrap.
trait Arithmetic: Copy {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn negated(self) -> Self;
}

macro_rules! integer_arithmetic {
    ($($native:ty),*) => {$(
        impl Arithmetic for $native {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}

integer_arithmetic!(i8, i16, i32, i64);

macro_rules! float_arithmetic {
    ($native:ty, $canonical:path) => {
        impl Arithmetic for $native {
            fn plus(self, other: Self) -> Self {
                $canonical(self + other)
            }
            fn minus(self, other: Self) -> Self {
                $canonical(self - other)
            }
            fn times(self, other: Self) -> Self {
                $canonical(self * other)
            }
            fn negated(self) -> Self {
                $canonical(-self)
            }
        }
    };
}

float_arithmetic!(f32, canonical_f32);
float_arithmetic!(f64, canonical);

/// The number with all NaNs made one, as Java sees them: the sign and payload that a processor
/// gives to a NaN must not be told apart when values are grouped or ordered.
pub(super) fn canonical(number: f64) -> f64 {
    if number.is_nan() { f64::NAN } else { number }
}

fn canonical_f32(number: f32) -> f32 {
    if number.is_nan() { f32::NAN } else { number }
}

/// `op` on two columns of one type.
fn operator<T: ArrowPrimitiveType>(
    op: impl Fn(T::Native, T::Native) -> T::Native + Copy + Send + Sync + 'static,
) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        Ok(typed(binary::<T, T, T>(&args[0], &args[1], context.rows, op)))
    })
}

/// `op` on every value of a column, constant or not.
pub(super) fn unary<T: ArrowPrimitiveType>(
    column: &Column,
    op: impl Fn(T::Native) -> T::Native,
) -> PrimitiveArray<T> {
    column.array().as_primitive::<T>().unary(op)
}

/// What was computed of a column's array, for every row.
pub(super) fn spread(of: &Column, array: ArrayRef, rows: usize) -> Result<ArrayRef, EvalError> {
    let column = if of.is_constant() { Column::constant(array) } else { Column::rows(array) };
    column.into_array(rows)
}

fn integers<T: ArrowPrimitiveType>(op: fn(T::Native, T::Native) -> T::Native) -> Compiled
where
    T::Native: ArrowNativeTypeOp,
{
    Ok(kernel(move |args, context| {
        let rows = context.rows;
        let divisors = args[1].array().as_primitive::<T>();
        let zero = T::Native::ZERO;
        // Slots of NULLs may hold a zero that counts for nothing.
        if divisors.values().iter().all(|divisor| *divisor != zero) {
            return Ok(typed(binary::<T, T, T>(&args[0], &args[1], rows, op)));
        }
        Ok(typed(try_binary::<T, T, T>(&args[0], &args[1], rows, |a, b| {
            if b == zero { Err(EvalError::DivisionByZero) } else { Ok(Some(op(a, b))) }
        })?))
    }))
}

fn decimals(
    (precision, scale): (u8, u8),
    op: impl Fn(i128, i128) -> Result<Option<i128>, EvalError> + Send + Sync + 'static,
) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let digits = try_binary::<Decimal128Type, Decimal128Type, Decimal128Type>(
            &args[0],
            &args[1],
            context.rows,
            &op,
        )?;
        Ok(typed(digits.with_precision_and_scale(precision, scale as i8)?))
    })
}

fn fallible_decimals(
    to: (u8, u8),
    op: impl Fn(i128, i128) -> Result<Option<i128>, EvalError> + Send + Sync + 'static,
) -> Box<dyn Kernel> {
    let compute = decimals(to, op);
    kernel(move |args, context| compute.evaluate(args, context))
}

fn typed<T: ArrowPrimitiveType>(array: PrimitiveArray<T>) -> ArrayRef {
    Arc::new(array)
}

/// The scales of two DECIMAL arguments.
fn scales(args: &CallArgs) -> Result<(u8, u8), SignatureError> {
    let scale = |index: usize| match &args.data_type(index).root {
        TypeRoot::Decimal { scale, .. } => Ok(*scale),
        root => Err(not_a_number(root)),
    };
    Ok((scale(0)?, scale(1)?))
}

fn not_a_number(root: &TypeRoot) -> SignatureError {
    SignatureError::Other(format!("no arithmetic on {root}"))
}
