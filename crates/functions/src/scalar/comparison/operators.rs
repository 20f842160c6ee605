//! The operators `=`, `<>`, `<`, `<=`, `>`, `>=`.

use std::sync::Arc;

use arrow::array::{Array, BooleanArray};
use flott_types::{DataType, TypeRoot, Value};

use super::pairing::nullable;
use super::{Comparer, Comparison, Pairing};
use crate::{
    CallArgs, Column, Example, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, cast, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    operator(
        "=",
        resolve_equality,
        |args, _, settings| equality(args, Comparison::Equal, settings),
        &["a = b"],
        "Whether two values are equal. NaN equals nothing; arrays and rows are equal when what \
         they hold is, NULL then being equal to NULL.",
        &[("1 = 1.0", "TRUE"), ("'a' = 'a '", "FALSE")],
    ),
    operator(
        "<>",
        resolve_equality,
        |args, _, settings| equality(args, Comparison::NotEqual, settings),
        &["a <> b"],
        "Whether two values differ.",
        &[("1 <> 2", "TRUE")],
    ),
    operator(
        "<",
        resolve_order,
        |args, _, _| order(args, Comparison::Less),
        &["a < b"],
        "Whether a value comes before another. Texts are ordered by their code points; a text \
         beside a number or a date is read as one.",
        &[("1 < 2.5", "TRUE"), ("'B' < 'a'", "TRUE")],
    ),
    operator(
        "<=",
        resolve_order,
        |args, _, _| order(args, Comparison::LessOrEqual),
        &["a <= b"],
        "Whether a value comes before another or is equal.",
        &[("2 <= 2", "TRUE")],
    ),
    operator(
        ">",
        resolve_order,
        |args, _, _| order(args, Comparison::Greater),
        &["a > b"],
        "Whether a value comes after another.",
        &[("2 > 1", "TRUE")],
    ),
    operator(
        ">=",
        resolve_order,
        |args, _, _| order(args, Comparison::GreaterOrEqual),
        &["a >= b"],
        "Whether a value comes after another or is equal.",
        &[("2 >= 2", "TRUE")],
    ),
];

type Compiled = Result<Box<dyn Kernel>, SignatureError>;

const fn operator(
    name: &'static str,
    resolve: fn(&CallArgs) -> Result<Resolved, SignatureError>,
    compile: fn(&CallArgs, &DataType, &SessionSettings) -> Compiled,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [Example],
) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile,
        doc: FunctionDoc { syntax, text, examples },
    }
}

fn resolve_equality(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let returns = DataType::boolean().with_nullable(nullable(args));
    Ok(match Pairing::of_equality(args)? {
        Pairing::As(left, right) => Resolved { parameters: vec![left, right], returns },
        Pairing::Lenient(point) if has_constant_text(args) => {
            constant_text_is(args, &point)?;
            Resolved { parameters: vec![point.clone(), point], returns }
        }
        Pairing::Lenient(_) | Pairing::NeverEqual => Resolved::unchanged(args, returns),
    })
}

fn resolve_order(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let returns = DataType::boolean().with_nullable(nullable(args));
    match Pairing::of_order(args)? {
        Pairing::As(left, right) => Ok(Resolved { parameters: vec![left, right], returns }),
        _ => Err(args.no_match(&["<COMPARABLE_TYPE>, <COMPARABLE_TYPE>"])),
    }
}

/// Whether a text among the arguments is a constant, to be cast while planning and only once. Beside a
/// constant NULL it need not be cast.
fn has_constant_text(args: &CallArgs) -> bool {
    let is_null = |arg: &crate::Arg| arg.literal == Some(Value::Null);
    !args.args.iter().any(is_null) && (0..args.len()).any(|i| args.literal_str(i).is_some())
}

/// Checks that constant texts among the arguments can be cast to the type.
fn constant_text_is(args: &CallArgs, ty: &DataType) -> Result<(), SignatureError> {
    for (index, arg) in args.args.iter().enumerate() {
        let Some(text) = arg.literal.as_ref().and_then(Value::as_str) else { continue };
        let is_one = match ty.root {
            TypeRoot::Date => cast::parse_date(text).is_some(),
            TypeRoot::Time(_) => cast::parse_time(text).is_some(),
            _ => cast::parse_timestamp(text).is_some(),
        };
        if !is_one {
            return Err(SignatureError::Argument {
                name: args.name.clone(),
                position: index + 1,
                reason: format!("'{text}' is no {}", ty.root),
            });
        }
    }
    Ok(())
}

fn order(args: &CallArgs, comparison: Comparison) -> Compiled {
    let comparer = Comparer::new(comparison, args.data_type(0), args.data_type(1))?;
    Ok(total_kernel(move |args, context| {
        Ok(Arc::new(comparer.compare(&args[0], &args[1], context.rows)?))
    }))
}

fn equality(args: &CallArgs, comparison: Comparison, settings: &SessionSettings) -> Compiled {
    let equal = equals(args, comparison, settings)?;
    Ok(total_kernel(move |args, context| Ok(Arc::new(equal(&args[0], &args[1], context)?))))
}

/// `=` or `<>` of two columns.
pub(in crate::scalar) type Equals = Box<
    dyn Fn(&Column, &Column, &crate::EvalContext) -> Result<BooleanArray, crate::EvalError>
        + Send
        + Sync,
>;

/// Makes `=` or `<>` for two arguments, which are cast as their pairing asks.
pub(in crate::scalar) fn equals(
    args: &CallArgs,
    comparison: Comparison,
    settings: &SessionSettings,
) -> Result<Equals, SignatureError> {
    let types = [args.data_type(0).clone(), args.data_type(1).clone()];
    match Pairing::of_equality(args)? {
        Pairing::As(left, right) => {
            let comparer = Comparer::new(comparison, &left, &right)?;
            let left = converter(&types[0], &left, false, settings)?;
            let right = converter(&types[1], &right, false, settings)?;
            Ok(Box::new(move |a, b, context| {
                comparer.compare(&left(a, context)?, &right(b, context)?, context.rows)
            }))
        }
        Pairing::Lenient(point) => {
            let comparer = Comparer::new(comparison, &point, &point)?;
            let left = converter(&types[0], &point, true, settings)?;
            let right = converter(&types[1], &point, true, settings)?;
            Ok(Box::new(move |a, b, context| {
                let result =
                    comparer.compare(&left(a, context)?, &right(b, context)?, context.rows)?;
                Ok(false_for_unreadable(&result, a, b))
            }))
        }
        Pairing::NeverEqual => Ok(Box::new(move |a, b, context| {
            let differ = comparison == Comparison::NotEqual;
            let result = |row| (!a.is_null(row) && !b.is_null(row)).then_some(differ);
            Ok((0..context.rows).map(result).collect())
        })),
    }
}

/// NULL stays only where an argument is NULL; where a text could not be read the result is FALSE.
fn false_for_unreadable(result: &BooleanArray, left: &Column, right: &Column) -> BooleanArray {
    if result.null_count() == 0 {
        return result.clone();
    }
    (0..result.len())
        .map(|row| match result.is_valid(row) {
            true => Some(result.value(row)),
            false if left.is_null(row) || right.is_null(row) => None,
            false => Some(false),
        })
        .collect()
}

type Converter =
    Box<dyn Fn(&Column, &crate::EvalContext) -> Result<Column, crate::EvalError> + Send + Sync>;

fn converter(
    from: &DataType,
    to: &DataType,
    lenient: bool,
    settings: &SessionSettings,
) -> Result<Converter, SignatureError> {
    if from.same_root(to) {
        return Ok(Box::new(|column, _| Ok(column.clone())));
    }
    let kernel = cast::compile(from, to, lenient, settings)?;
    Ok(Box::new(move |column, context| {
        let rows = if column.is_constant() { 1 } else { context.rows };
        let array = kernel.evaluate(std::slice::from_ref(column), &context.with_rows(rows))?;
        Ok(if column.is_constant() { Column::constant(array) } else { Column::rows(array) })
    }))
}
