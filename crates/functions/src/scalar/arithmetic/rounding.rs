//! ROUND, TRUNCATE, CEIL and FLOOR of numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::{DataType, Family, TypeRoot, Value};

use super::Compiled;
use super::kernels::{spread, unary};
use crate::coercion::decimal as types;
use crate::loops::{binary, try_binary};
use crate::scalar::temporal;
use crate::{
    CallArgs, Column, FunctionDoc, Resolved, ScalarFunction, SessionSettings, SignatureError,
    Volatility, decimal, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ROUND",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_places,
        compile: |args, returns, _| places(args, returns, Rounding::HalfUp),
        doc: FunctionDoc {
            syntax: &["ROUND(x)", "ROUND(x, n)"],
            text: "The number rounded half up to n digits after the point, none by default; \
                   before it, if n is negative.",
            examples: &[
                ("ROUND(2.5)", "3"),
                ("ROUND(-1.25, 1)", "-1.3"),
                ("ROUND(125, -1)", "130"),
                ("ROUND(2.675e0, 2)", "2.68"),
            ],
        },
    },
    ScalarFunction {
        name: "TRUNCATE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_places,
        compile: |args, returns, _| places(args, returns, Rounding::Down),
        doc: FunctionDoc {
            syntax: &["TRUNCATE(x)", "TRUNCATE(x, n)"],
            text: "The number cut to n digits after the point, none by default; before it, if n \
                   is negative.",
            examples: &[("TRUNCATE(-3.99)", "-3"), ("TRUNCATE(123.456, 2)", "123.45")],
        },
    },
    ScalarFunction {
        name: "CEIL",
        aliases: &["CEILING"],
        volatility: Volatility::Immutable,
        resolve: |args| resolve_whole(args, true),
        compile: |args, returns, settings| whole(args, returns, settings, true),
        doc: FunctionDoc {
            syntax: &["CEIL(x)", "CEIL(point TO unit)"],
            text: "The smallest whole number not below x, or the first point of a unit of time \
                   not before a date, time or timestamp.",
            examples: &[("CEIL(2.1)", "3"), ("CEIL(-2.5e0)", "-2.0")],
        },
    },
    ScalarFunction {
        name: "FLOOR",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| resolve_whole(args, false),
        compile: |args, returns, settings| whole(args, returns, settings, false),
        doc: FunctionDoc {
            syntax: &["FLOOR(x)", "FLOOR(point TO unit)"],
            text: "The largest whole number not above x, or the first point of the unit of time \
                   in which a date, time or timestamp is.",
            examples: &[("FLOOR(2.9)", "2"), ("FLOOR(-2.5e0)", "-3.0")],
        },
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rounding {
    HalfUp,
    Down,
}

/// A number and, optionally, how many places. The scale of a DECIMAL follows the places where they
/// are constant.
fn resolve_places(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let refused = || args.no_match(&["<NUMERIC>", "<NUMERIC>, <INTEGER>"]);
    let [number, rest @ ..] = args.args.as_slice() else { return Err(refused()) };
    let number = &number.data_type;
    let places_fit = match rest {
        [] => true,
        [places] => places.data_type.root.is_integer() && places.data_type.root != TypeRoot::BigInt,
        _ => false,
    };
    if number.family() != Family::Numeric || !places_fit {
        return Err(refused());
    }
    let root = match (&number.root, constant_places(args)) {
        (TypeRoot::Decimal { precision, scale }, Some(places)) => {
            let (precision, scale) = types::rounded((*precision, *scale), places);
            TypeRoot::Decimal { precision, scale }
        }
        (root, _) => root.clone(),
    };
    let mut parameters = vec![number.clone()];
    parameters.extend(rest.iter().map(|_| DataType::int()));
    Ok(Resolved { parameters, returns: root.nullable().with_nullable(args.any_nullable()) })
}

fn constant_places(args: &CallArgs) -> Option<i64> {
    if args.len() == 1 { Some(0) } else { args.literal(1).and_then(Value::as_int) }
}

fn places(args: &CallArgs, returns: &DataType, rounding: Rounding) -> Compiled {
    let count = args.len();
    let evaluate: fn(&[Column], usize, Rounding) -> ArrayRef = match &returns.root {
        TypeRoot::TinyInt => |args, rows, rounding| {
            each::<Int8Type>(args, rows, |x, n| to_place(x.into(), n, rounding) as i8)
        },
        TypeRoot::SmallInt => |args, rows, rounding| {
            each::<Int16Type>(args, rows, |x, n| to_place(x.into(), n, rounding) as i16)
        },
        TypeRoot::Int => |args, rows, rounding| {
            each::<Int32Type>(args, rows, |x, n| to_place(x.into(), n, rounding) as i32)
        },
        TypeRoot::BigInt => |args, rows, rounding| {
            each::<Int64Type>(args, rows, |x, n| to_place(x.into(), n, rounding) as i64)
        },
        TypeRoot::Float => |args, rows, rounding| {
            each::<Float32Type>(args, rows, |x, n| round_double(x.into(), n, rounding) as f32)
        },
        TypeRoot::Double => |args, rows, rounding| {
            each::<Float64Type>(args, rows, |x, n| round_double(x, n, rounding))
        },
        TypeRoot::Decimal { precision, scale } => {
            return decimal_places(args, (*precision, *scale), rounding);
        }
        root => return Err(SignatureError::Other(format!("{root} cannot be rounded"))),
    };
    Ok(total_kernel(move |args, context| Ok(evaluate(&args[..count], context.rows, rounding))))
}

fn each<T: ArrowPrimitiveType>(
    args: &[Column],
    rows: usize,
    round: impl Fn(T::Native, i32) -> T::Native,
) -> ArrayRef {
    let none = Column::constant(Arc::new(arrow::array::Int32Array::from(vec![0])));
    let places = args.get(1).unwrap_or(&none);
    Arc::new(binary::<T, Int32Type, T>(&args[0], places, rows, round))
}

/// A whole number with zeros in the last `-places` digits.
fn to_place(number: i128, places: i32, rounding: Rounding) -> i128 {
    match u8::try_from(places.saturating_neg()) {
        Err(_) if places > 0 => number,
        Err(_) => 0,
        Ok(zeros) if zeros > decimal::MAX_PRECISION => 0,
        Ok(zeros) => {
            let unit = decimal::pow10(zeros);
            match rounding {
                Rounding::HalfUp => decimal::divide_half_up(number, unit) * unit,
                Rounding::Down => number / unit * unit,
            }
        }
    }
}

/// Rounds the digits that Java prints of the number, not its binary value: 2.675 to 2.68.
fn round_double(number: f64, places: i32, rounding: Rounding) -> f64 {
    let Some((digits, exponent)) = decimal::shortest_digits(number) else { return number };
    let excess = i64::from(-exponent) - i64::from(places);
    match excess {
        ..=0 => number,
        1..=38 => {
            let unit = decimal::pow10(excess as u8);
            let kept = match rounding {
                Rounding::HalfUp => decimal::divide_half_up(digits, unit),
                Rounding::Down => digits / unit,
            };
            decimal::parse_f64(kept, -places)
        }
        _ => 0.0,
    }
}

fn decimal_places(args: &CallArgs, (precision, scale): (u8, u8), rounding: Rounding) -> Compiled {
    let from = match args.data_type(0).root {
        TypeRoot::Decimal { scale, .. } => scale,
        _ => scale,
    };
    let constant = args.len() == 1;
    Ok(total_kernel(move |args, context| {
        type D = Decimal128Type;
        let none = Column::constant(Arc::new(arrow::array::Int32Array::from(vec![0])));
        let places = if constant { &none } else { &args[1] };
        let round = |digits: i128, places: i32| {
            let zeros = i64::from(from) - i64::from(places);
            let rounded = to_place(digits, -(zeros.clamp(-1000, 1000) as i32), rounding);
            decimal::rescale(rounded, from, scale, precision)
        };
        let digits = try_binary::<D, Int32Type, D>(&args[0], places, context.rows, |digits, n| {
            Ok(round(digits, n))
        })?;
        Ok(Arc::new(digits.with_precision_and_scale(precision, scale as i8)?))
    }))
}

fn resolve_whole(args: &CallArgs, up: bool) -> Result<Resolved, SignatureError> {
    if !args.symbols.is_empty() {
        return temporal::rounding::resolve(args, up);
    }
    let [number] = args.args.as_slice() else { return Err(args.no_match(&["<NUMERIC>"])) };
    let number = &number.data_type;
    let root = match &number.root {
        TypeRoot::Decimal { precision, .. } => {
            TypeRoot::Decimal { precision: *precision, scale: 0 }
        }
        root if root.family() == Family::Numeric => root.clone(),
        _ => return Err(args.no_match(&["<NUMERIC>", "<DATETIME> TO <TIME_UNIT>"])),
    };
    Ok(Resolved::unchanged(args, root.nullable().with_nullable(number.nullable)))
}

fn whole(args: &CallArgs, returns: &DataType, settings: &SessionSettings, up: bool) -> Compiled {
    if !args.symbols.is_empty() {
        return temporal::rounding::compile(args, returns, settings, up);
    }
    let from = args.data_type(0).root.clone();
    Ok(total_kernel(move |args, context| {
        let column = &args[0];
        let array: ArrayRef = match from {
            TypeRoot::Float => {
                Arc::new(unary::<Float32Type>(column, |x| if up { x.ceil() } else { x.floor() }))
            }
            TypeRoot::Double => {
                Arc::new(unary::<Float64Type>(column, |x| if up { x.ceil() } else { x.floor() }))
            }
            TypeRoot::Decimal { precision, scale } => {
                let unit = decimal::pow10(scale);
                let digits = unary::<Decimal128Type>(column, |digits| {
                    let floor = digits.div_euclid(unit);
                    floor + i128::from(up && digits.rem_euclid(unit) != 0)
                });
                Arc::new(digits.with_precision_and_scale(precision, 0)?)
            }
            // Integers are whole already.
            _ => column.array().clone(),
        };
        spread(column, array, context.rows)
    }))
}
