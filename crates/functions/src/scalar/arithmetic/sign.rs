//! ABS and SIGN.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::{Family, TypeRoot};

use super::kernels::{spread, unary};
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError,
    Volatility, decimal, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ABS",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: one_number,
        compile: |args, _, _| Ok(compile(args, absolute)),
        doc: FunctionDoc {
            syntax: &["ABS(x)"],
            text: "The number without its sign. The smallest integer stays.",
            examples: &[("ABS(-1.5)", "1.5")],
        },
    },
    ScalarFunction {
        name: "SIGN",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: one_number,
        compile: |args, _, _| Ok(compile(args, sign)),
        doc: FunctionDoc {
            syntax: &["SIGN(x)"],
            text: "-1, 0 or 1, in the type of the number.",
            examples: &[("SIGN(-1.5)", "-1.0"), ("SIGN(7)", "1")],
        },
    },
];

fn one_number(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if arg.data_type.family() == Family::Numeric => {
            Ok(Resolved::unchanged(args, arg.data_type.clone()))
        }
        _ => Err(args.no_match(&["<NUMERIC>"])),
    }
}

type Evaluate = fn(&Column, &TypeRoot) -> Result<ArrayRef, EvalError>;

fn compile(args: &CallArgs, evaluate: Evaluate) -> Box<dyn Kernel> {
    let root = args.data_type(0).root.clone();
    total_kernel(move |args, context| spread(&args[0], evaluate(&args[0], &root)?, context.rows))
}

fn absolute(column: &Column, root: &TypeRoot) -> Result<ArrayRef, EvalError> {
    Ok(match root {
        TypeRoot::TinyInt => Arc::new(unary::<Int8Type>(column, i8::wrapping_abs)),
        TypeRoot::SmallInt => Arc::new(unary::<Int16Type>(column, i16::wrapping_abs)),
        TypeRoot::Int => Arc::new(unary::<Int32Type>(column, i32::wrapping_abs)),
        TypeRoot::BigInt => Arc::new(unary::<Int64Type>(column, i64::wrapping_abs)),
        TypeRoot::Float => Arc::new(unary::<Float32Type>(column, f32::abs)),
        TypeRoot::Double => Arc::new(unary::<Float64Type>(column, f64::abs)),
        TypeRoot::Decimal { precision, scale } => {
            let digits = unary::<Decimal128Type>(column, i128::wrapping_abs);
            Arc::new(digits.with_precision_and_scale(*precision, *scale as i8)?)
        }
        root => return Err(not_a_number(root)),
    })
}

fn sign(column: &Column, root: &TypeRoot) -> Result<ArrayRef, EvalError> {
    // Java's signum leaves zeros and NaN as they are.
    fn of_double(x: f64) -> f64 {
        if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            x
        }
    }
    Ok(match root {
        TypeRoot::TinyInt => Arc::new(unary::<Int8Type>(column, i8::signum)),
        TypeRoot::SmallInt => Arc::new(unary::<Int16Type>(column, i16::signum)),
        TypeRoot::Int => Arc::new(unary::<Int32Type>(column, i32::signum)),
        TypeRoot::BigInt => Arc::new(unary::<Int64Type>(column, i64::signum)),
        TypeRoot::Float => Arc::new(unary::<Float32Type>(column, |x| of_double(x.into()) as f32)),
        TypeRoot::Double => Arc::new(unary::<Float64Type>(column, of_double)),
        TypeRoot::Decimal { precision, scale } => {
            let one = decimal::pow10(*scale);
            // As in Flink the one is there also where the type has no room for it.
            let digits = unary::<Decimal128Type>(column, |digits| digits.signum() * one);
            Arc::new(digits.with_precision_and_scale(*precision, *scale as i8)?)
        }
        root => return Err(not_a_number(root)),
    })
}

fn not_a_number(root: &TypeRoot) -> EvalError {
    EvalError::Internal(format!("{root} is no number"))
}
