//! IS NULL and IS DISTINCT FROM, which never give NULL.

use std::sync::Arc;

use arrow::array::{Array, BooleanArray};
use arrow::buffer::BooleanBuffer;
use flott_types::DataType;

use super::Comparison;
use super::operators::equals;
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "IS NULL",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: any_one,
        compile: |_, _, _| Ok(null_test(true)),
        doc: FunctionDoc {
            syntax: &["value IS NULL"],
            text: "Whether the value is NULL. A row whose fields are all NULL is not.",
            examples: &[("CAST(NULL AS INT) IS NULL", "TRUE")],
        },
    },
    ScalarFunction {
        name: "IS NOT NULL",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: any_one,
        compile: |_, _, _| Ok(null_test(false)),
        doc: FunctionDoc {
            syntax: &["value IS NOT NULL"],
            text: "Whether the value is not NULL.",
            examples: &[("1 IS NOT NULL", "TRUE")],
        },
    },
    ScalarFunction {
        name: "IS DISTINCT FROM",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_distinct,
        compile: |args, _, settings| distinct(args, true, settings),
        doc: FunctionDoc {
            syntax: &["a IS DISTINCT FROM b"],
            text: "Whether two values differ, NULL being a value like others.",
            examples: &[("1 IS DISTINCT FROM CAST(NULL AS INT)", "TRUE")],
        },
    },
    ScalarFunction {
        name: "IS NOT DISTINCT FROM",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_distinct,
        compile: |args, _, settings| distinct(args, false, settings),
        doc: FunctionDoc {
            syntax: &["a IS NOT DISTINCT FROM b"],
            text: "Whether two values are equal, NULL being a value like others.",
            examples: &[("1 IS NOT DISTINCT FROM 1", "TRUE")],
        },
    },
];

fn any_one(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.len() {
        1 => Ok(Resolved::unchanged(args, DataType::boolean().not_null())),
        _ => Err(args.no_match(&["<ANY>"])),
    }
}

fn null_test(wanted: bool) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let nulls = args[0].array().logical_nulls();
        let values = match (&nulls, args[0].is_constant()) {
            (None, _) => BooleanBuffer::collect_bool(context.rows, |_| !wanted),
            (Some(nulls), true) => {
                let is_null = nulls.is_null(0);
                BooleanBuffer::collect_bool(context.rows, |_| is_null == wanted)
            }
            (Some(nulls), false) if wanted => !nulls.inner(),
            (Some(nulls), false) => nulls.inner().clone(),
        };
        Ok(Arc::new(BooleanArray::new(values, None)))
    })
}

fn resolve_distinct(args: &CallArgs) -> Result<Resolved, SignatureError> {
    super::Pairing::of_equality(args)?;
    Ok(Resolved::unchanged(args, DataType::boolean().not_null()))
}

fn distinct(
    args: &CallArgs,
    wanted: bool,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let comparison = if wanted { Comparison::NotEqual } else { Comparison::Equal };
    let compare = equals(args, comparison, settings)?;
    Ok(total_kernel(move |args, context| {
        let (a, b) = (&args[0], &args[1]);
        let result = compare(a, b, context)?;
        Ok(Arc::new(fill_nulls(&result, a, b, wanted)?))
    }))
}

/// The result where it is NULL: one NULL is distinct from another value, two are not.
fn fill_nulls(
    result: &BooleanArray,
    left: &Column,
    right: &Column,
    wanted: bool,
) -> Result<BooleanArray, EvalError> {
    let Some(nulls) = result.nulls() else { return Ok(result.clone()) };
    let (left_nulls, right_nulls) = (left.array().logical_nulls(), right.array().logical_nulls());
    let is_null = |nulls: &Option<arrow::buffer::NullBuffer>, index: usize| {
        nulls.as_ref().is_some_and(|nulls| nulls.is_null(index))
    };
    let values = BooleanBuffer::collect_bool(result.len(), |row| {
        if nulls.is_valid(row) {
            return result.value(row);
        }
        let differ =
            is_null(&left_nulls, left.index(row)) != is_null(&right_nulls, right.index(row));
        differ == wanted
    });
    Ok(BooleanArray::new(values, None))
}
