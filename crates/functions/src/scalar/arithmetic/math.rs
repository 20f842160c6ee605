//! Functions of DOUBLE.

use std::sync::Arc;

use arrow::datatypes::Float64Type;
use flott_types::{DataType, Family};

use super::kernels::{canonical, spread, unary};
use crate::loops::binary;
use crate::{
    CallArgs, Compile, Example, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError,
    Volatility, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    of_one(
        "ACOS",
        |_, _, _| Ok(one(f64::acos)),
        &["ACOS(x)"],
        "The arc cosine in radians; NaN outside of -1 to 1.",
        &[("ACOS(1)", "0.0")],
    ),
    of_one(
        "ASIN",
        |_, _, _| Ok(one(f64::asin)),
        &["ASIN(x)"],
        "The arc sine in radians; NaN outside of -1 to 1.",
        &[("ASIN(0)", "0.0")],
    ),
    of_one(
        "ATAN",
        |_, _, _| Ok(one(f64::atan)),
        &["ATAN(x)"],
        "The arc tangent in radians.",
        &[("ATAN(0)", "0.0")],
    ),
    ScalarFunction {
        name: "ATAN2",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| doubles(args, 2, &["ATAN2(<NUMERIC>, <NUMERIC>)"]),
        compile: |_, _, _| Ok(two(f64::atan2)),
        doc: FunctionDoc {
            syntax: &["ATAN2(y, x)"],
            text: "The angle in radians of the point (x, y), from -π to π.",
            examples: &[("ATAN2(1, 1)", "0.7853981633974483")],
        },
    },
    of_one(
        "COS",
        |_, _, _| Ok(one(f64::cos)),
        &["COS(x)"],
        "The cosine of an angle in radians.",
        &[("COS(0)", "1.0")],
    ),
    of_one(
        "COSH",
        |_, _, _| Ok(one(f64::cosh)),
        &["COSH(x)"],
        "The hyperbolic cosine.",
        &[("COSH(0)", "1.0")],
    ),
    of_one(
        "COT",
        |_, _, _| Ok(one(|x| 1.0 / x.tan())),
        &["COT(x)"],
        "The cotangent of an angle in radians; Infinity at 0.",
        &[("COT(0)", "Infinity")],
    ),
    of_one(
        "DEGREES",
        |_, _, _| Ok(one(|x| x * RADIANS_TO_DEGREES)),
        &["DEGREES(x)"],
        "An angle in radians as degrees.",
        &[("DEGREES(3.141592653589793e0)", "180.0")],
    ),
    constant(
        "E",
        |_, _, _| Ok(always(std::f64::consts::E)),
        &["E()"],
        "Euler's number.",
        &[("E()", "2.718281828459045")],
    ),
    of_one(
        "EXP",
        |_, _, _| Ok(one(f64::exp)),
        &["EXP(x)"],
        "Euler's number to the power of x.",
        &[("EXP(0)", "1.0")],
    ),
    of_one(
        "LN",
        |_, _, _| Ok(one(f64::ln)),
        &["LN(x)"],
        "The natural logarithm: -Infinity at 0, NaN below.",
        &[("LN(1)", "0.0")],
    ),
    ScalarFunction {
        name: "LOG",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            doubles(args, args.len().clamp(1, 2), &["LOG(<NUMERIC>)", "LOG(<NUMERIC>, <NUMERIC>)"])
        },
        compile: |args, _, _| match args.len() {
            1 => Ok(one(f64::ln)),
            _ => Ok(two(|base, x| x.ln() / base.ln())),
        },
        doc: FunctionDoc {
            syntax: &["LOG(x)", "LOG(base, x)"],
            text: "The logarithm to a base, or the natural one: -Infinity at 0, NaN below.",
            examples: &[("LOG(1)", "0.0"), ("LOG(2, 8)", "3.0")],
        },
    },
    of_one(
        "LOG10",
        |_, _, _| Ok(one(f64::log10)),
        &["LOG10(x)"],
        "The logarithm to base 10: -Infinity at 0, NaN below.",
        &[("LOG10(1000)", "3.0")],
    ),
    of_one(
        "LOG2",
        |_, _, _| Ok(one(|x| x.ln() / std::f64::consts::LN_2)),
        &["LOG2(x)"],
        "The logarithm to base 2: -Infinity at 0, NaN below.",
        &[("LOG2(8)", "3.0")],
    ),
    constant(
        "PI",
        |_, _, _| Ok(always(std::f64::consts::PI)),
        &["PI()", "PI"],
        "The ratio of a circle's \
        circumference to its diameter.",
        &[("PI()", "3.141592653589793")],
    ),
    ScalarFunction {
        name: "POWER",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| doubles(args, 2, &["POWER(<NUMERIC>, <NUMERIC>)"]),
        compile: |_, _, _| Ok(two(power)),
        doc: FunctionDoc {
            syntax: &["POWER(x, y)"],
            text: "x to the power of y; NaN where that is no real number.",
            examples: &[("POWER(2, 10)", "1024.0")],
        },
    },
    of_one(
        "RADIANS",
        |_, _, _| Ok(one(|x| x * DEGREES_TO_RADIANS)),
        &["RADIANS(x)"],
        "An angle in degrees as radians.",
        &[("RADIANS(180)", "3.141592653589793")],
    ),
    of_one(
        "SIN",
        |_, _, _| Ok(one(f64::sin)),
        &["SIN(x)"],
        "The sine of an angle in radians.",
        &[("SIN(0)", "0.0")],
    ),
    of_one(
        "SINH",
        |_, _, _| Ok(one(f64::sinh)),
        &["SINH(x)"],
        "The hyperbolic sine.",
        &[("SINH(0)", "0.0")],
    ),
    of_one(
        "SQRT",
        |_, _, _| Ok(one(square_root)),
        &["SQRT(x)"],
        "The square root; NaN below 0.",
        &[("SQRT(2)", "1.4142135623730951")],
    ),
    of_one(
        "TAN",
        |_, _, _| Ok(one(f64::tan)),
        &["TAN(x)"],
        "The tangent of an angle in radians.",
        &[("TAN(0)", "0.0")],
    ),
    of_one(
        "TANH",
        |_, _, _| Ok(one(f64::tanh)),
        &["TANH(x)"],
        "The hyperbolic tangent.",
        &[("TANH(0)", "0.0")],
    ),
];

/// Java's factors, so that the last digit agrees.
const RADIANS_TO_DEGREES: f64 = 180.0 / std::f64::consts::PI;
const DEGREES_TO_RADIANS: f64 = std::f64::consts::PI / 180.0;

const fn of_one(
    name: &'static str,
    compile: Compile,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [Example],
) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| doubles(args, 1, &["<NUMERIC>"]),
        compile,
        doc: FunctionDoc { syntax, text, examples },
    }
}

const fn constant(
    name: &'static str,
    compile: Compile,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [Example],
) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.is_empty() {
            true => Ok(Resolved::unchanged(args, DataType::double().not_null())),
            false => Err(args.no_match(&["()"])),
        },
        compile,
        doc: FunctionDoc { syntax, text, examples },
    }
}

/// So many numbers, computed as DOUBLE.
fn doubles(
    args: &CallArgs,
    count: usize,
    forms: &[&'static str],
) -> Result<Resolved, SignatureError> {
    let numeric = args.args.iter().all(|arg| arg.data_type.family() == Family::Numeric);
    if args.len() != count || !numeric {
        return Err(args.no_match(forms));
    }
    Ok(Resolved {
        parameters: vec![DataType::double(); count],
        returns: DataType::double().with_nullable(args.any_nullable()),
    })
}

fn one(op: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let values = unary::<Float64Type>(&args[0], |x| canonical(op(x)));
        spread(&args[0], Arc::new(values), context.rows)
    })
}

fn two(op: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        type D = Float64Type;
        let op = |a, b| canonical(op(a, b));
        Ok(Arc::new(binary::<D, D, D>(&args[0], &args[1], context.rows, op)))
    })
}

fn always(value: f64) -> Box<dyn Kernel> {
    total_kernel(move |_, context| {
        Ok(Arc::new(arrow::array::Float64Array::from_value(value, context.rows)))
    })
}

/// C's `pow` gives 1 for a base of 1 and NaN or Infinity as exponent, Java's NaN.
fn power(base: f64, exponent: f64) -> f64 {
    if base.abs() == 1.0 && !exponent.is_finite() { f64::NAN } else { base.powf(exponent) }
}
/// The square root as `Math.pow(x, 0.5)` has it, which Flink calls.
fn square_root(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        f64::INFINITY
    } else {
        // Adding zero takes the sign of -0.0 away.
        (x + 0.0).sqrt()
    }
}
