//! The operators `+ - * / %` and unary minus.

use flott_types::{DataType, Family, TypeRoot};

use super::{interval, kernels};
use crate::coercion::common_type;
use crate::coercion::decimal::{self, DecimalType};
use crate::{CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "+",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            interval::resolve_sum(args, false)
                .or_else(|| resolve_numbers(args, decimal::sum))
                .ok_or_else(|| args.no_match(PLUS_FORMS))
        },
        compile: |args, returns, _| sum(args, returns, false),
        doc: FunctionDoc {
            syntax: &["a + b"],
            text: "The sum of two numbers or of two intervals, or a date, time or timestamp \
                   later by an interval. Integers wrap on overflow, a DECIMAL that does not fit \
                   its precision is NULL. Months are added to the end of a shorter month.",
            examples: &[
                ("1 + 2", "3"),
                ("2147483647 + 1", "-2147483648"),
                ("1.5 + 2.25", "3.75"),
                ("DATE '2024-01-31' + INTERVAL '1' MONTH", "2024-02-29"),
            ],
        },
    },
    ScalarFunction {
        name: "-",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            interval::resolve_sum(args, true)
                .or_else(|| resolve_numbers(args, decimal::sum))
                .ok_or_else(|| args.no_match(MINUS_FORMS))
        },
        compile: |args, returns, _| sum(args, returns, true),
        doc: FunctionDoc {
            syntax: &["a - b"],
            text: "The difference of two numbers or of two intervals, or a date, time or \
                   timestamp earlier by an interval. Integers wrap on overflow, a DECIMAL that \
                   does not fit its precision is NULL.",
            examples: &[
                ("5 - 7", "-2"),
                ("TIMESTAMP '2024-03-01 00:00:00' - INTERVAL '1' DAY", "2024-02-29 00:00:00"),
            ],
        },
    },
    ScalarFunction {
        name: "*",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            interval::resolve_product(args)
                .or_else(|| resolve_numbers(args, decimal::product))
                .ok_or_else(|| {
                    args.no_match(&["<NUMERIC> * <NUMERIC>", "<DATETIME_INTERVAL> * <NUMERIC>"])
                })
        },
        compile: |args, returns, _| {
            if returns.family() == Family::Interval {
                return interval::compile_product(args, returns);
            }
            kernels::multiply(args, &returns.root)
        },
        doc: FunctionDoc {
            syntax: &["a * b"],
            text: "The product of two numbers, or an interval that many times. Integers wrap on \
                   overflow, a DECIMAL that does not fit its precision is NULL.",
            examples: &[
                ("6 * 7", "42"),
                ("1.1 * 2.22", "2.442"),
                ("INTERVAL '5' MONTH * 2", "+0-10"),
            ],
        },
    },
    ScalarFunction {
        name: "/",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            resolve_numbers(args, decimal::quotient)
                .ok_or_else(|| args.no_match(&["<NUMERIC> / <NUMERIC>"]))
        },
        compile: |args, returns, _| kernels::divide(args, &returns.root),
        doc: FunctionDoc {
            syntax: &["a / b"],
            text: "The quotient of two numbers. Between integers it is an integer, cut towards \
                   zero. Exact numbers cannot be divided by zero; DOUBLE and FLOAT then give \
                   Infinity or NaN.",
            examples: &[
                ("7 / 2", "3"),
                ("22.0 / 7", "3.142857142857"),
                ("1 / 3e0", "0.3333333333333333"),
            ],
        },
    },
    ScalarFunction {
        name: "%",
        aliases: &["MOD"],
        volatility: Volatility::Immutable,
        resolve: resolve_remainder,
        compile: |args, returns, _| kernels::remainder(args, &returns.root),
        doc: FunctionDoc {
            syntax: &["a % b", "MOD(a, b)"],
            text: "The remainder of a division of exact numbers, with the sign of the first. It \
                   has the type of the second, if both are whole numbers.",
            examples: &[("7 % 3", "1"), ("-7 % 3", "-1"), ("MOD(7.25, 2)", "1.25")],
        },
    },
    ScalarFunction {
        name: "NEGATE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.args.as_slice() {
            [arg] if matches!(arg.data_type.family(), Family::Numeric | Family::Interval) => {
                Ok(Resolved::unchanged(args, arg.data_type.clone()))
            }
            _ => Err(args.no_match(&["-<NUMERIC>", "-<DATETIME_INTERVAL>"])),
        },
        compile: |_, returns, _| kernels::negate(&returns.root),
        doc: FunctionDoc {
            syntax: &["-a"],
            text: "The number or interval with its sign changed. The smallest integer stays.",
            examples: &[("-(5)", "-5"), ("-INTERVAL '2' DAY", "-2 00:00:00.000")],
        },
    },
    ScalarFunction {
        name: "MINUS_DATE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: interval::resolve_difference,
        compile: |args, returns, _| interval::compile_difference(args, returns),
        doc: FunctionDoc {
            syntax: &["(a - b) unit"],
            text: "The interval between two dates, times or timestamps of the same type. For \
                   YEAR and MONTH it counts whole months.",
            examples: &[("(DATE '2024-03-01' - DATE '2024-02-01') DAY", "+29 00:00:00.000")],
        },
    },
];

const PLUS_FORMS: &[&str] = &[
    "<NUMERIC> + <NUMERIC>",
    "<DATETIME_INTERVAL> + <DATETIME_INTERVAL>",
    "<DATETIME> + <DATETIME_INTERVAL>",
    "<DATETIME_INTERVAL> + <DATETIME>",
];

const MINUS_FORMS: &[&str] = &[
    "<NUMERIC> - <NUMERIC>",
    "<DATETIME_INTERVAL> - <DATETIME_INTERVAL>",
    "<DATETIME> - <DATETIME_INTERVAL>",
];

fn sum(
    args: &CallArgs,
    returns: &DataType,
    subtract: bool,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if args.types().iter().any(|ty| ty.family() == Family::Interval) {
        return interval::compile_sum(args, returns, subtract);
    }
    kernels::add(args, &returns.root, subtract)
}

/// The type of a result of two exact numbers.
type ExactRule = fn(DecimalType, DecimalType) -> DecimalType;

/// Two numbers: by `exact` when one is a DECIMAL and the other exact too, else of their common
/// type.
fn resolve_numbers(args: &CallArgs, exact: ExactRule) -> Option<Resolved> {
    let [left, right] = args.args.as_slice() else { return None };
    let (left, right) = (&left.data_type, &right.data_type);
    if left.family() != Family::Numeric || right.family() != Family::Numeric {
        return None;
    }
    if let Some(resolved) = resolve_decimals(left, right, exact) {
        return Some(resolved);
    }
    let common = common_type(&[left.clone(), right.clone()])?;
    Some(Resolved { parameters: vec![common.clone(), common.clone()], returns: common })
}

fn resolve_decimals(left: &DataType, right: &DataType, exact: ExactRule) -> Option<Resolved> {
    let is_decimal = |ty: &DataType| matches!(ty.root, TypeRoot::Decimal { .. });
    if !is_decimal(left) && !is_decimal(right) {
        return None;
    }
    let (p, q) = (left.root.as_decimal()?, right.root.as_decimal()?);
    let (precision, scale) = exact(p, q);
    let nullable = left.nullable || right.nullable;
    Some(Resolved {
        parameters: vec![DataType::decimal(p.0, p.1), DataType::decimal(q.0, q.1)],
        returns: DataType::decimal(precision, scale).with_nullable(nullable),
    })
}

fn resolve_remainder(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let refused = || args.no_match(&["<EXACT_NUMERIC> % <EXACT_NUMERIC>"]);
    let [left, right] = args.args.as_slice() else { return Err(refused()) };
    let (left, right) = (&left.data_type, &right.data_type);
    if !left.root.is_exact_numeric() || !right.root.is_exact_numeric() {
        return Err(refused());
    }
    if let Some(mut resolved) = resolve_decimals(left, right, decimal::modulo) {
        // Between whole numbers the remainder has the type of the divisor.
        let is_whole = |ty: &DataType| ty.root.as_decimal().is_some_and(|(_, scale)| scale == 0);
        if is_whole(left) && is_whole(right) {
            resolved.returns.root = right.root.clone();
        }
        return Ok(resolved);
    }
    let common = common_type(&[left.clone(), right.clone()]).ok_or_else(refused)?;
    let returns = right.clone().with_nullable(common.nullable);
    Ok(Resolved { parameters: vec![common.clone(), common], returns })
}
