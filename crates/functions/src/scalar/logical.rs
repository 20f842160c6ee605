//! Three-valued logic beside AND and OR, which the evaluator knows itself.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute;
use flott_types::{DataType, Family, TypeRoot};

use crate::{
    CallArgs, Compile, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "NOT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            args.refuse_untyped_null()?;
            one_boolean(args, args.any_nullable())
        },
        compile: |_, _, _| {
            Ok(total_kernel(|args, context| {
                let array = args[0].clone().into_array(context.rows)?;
                Ok(Arc::new(compute::not(array.as_boolean())?))
            }))
        },
        doc: FunctionDoc {
            syntax: &["NOT boolean"],
            text: "TRUE if the condition is FALSE, FALSE if it is TRUE, UNKNOWN if it is UNKNOWN.",
            examples: &[("NOT TRUE", "FALSE")],
        },
    },
    truth_test(
        "IS TRUE",
        &["boolean IS TRUE"],
        "TRUE if the condition is TRUE.",
        &[("CAST(NULL AS BOOLEAN) IS TRUE", "FALSE")],
        |args, _, _| test(args, Some(true), false),
    ),
    truth_test(
        "IS NOT TRUE",
        &["boolean IS NOT TRUE"],
        "TRUE if the condition is FALSE or UNKNOWN.",
        &[("CAST(NULL AS BOOLEAN) IS NOT TRUE", "TRUE")],
        |args, _, _| test(args, Some(true), true),
    ),
    truth_test(
        "IS FALSE",
        &["boolean IS FALSE"],
        "TRUE if the condition is FALSE.",
        &[("CAST(NULL AS BOOLEAN) IS FALSE", "FALSE")],
        |args, _, _| test(args, Some(false), false),
    ),
    truth_test(
        "IS NOT FALSE",
        &["boolean IS NOT FALSE"],
        "TRUE if the condition is TRUE or UNKNOWN.",
        &[("CAST(NULL AS BOOLEAN) IS NOT FALSE", "TRUE")],
        |args, _, _| test(args, Some(false), true),
    ),
    truth_test(
        "IS UNKNOWN",
        &["boolean IS UNKNOWN"],
        "TRUE if the condition is UNKNOWN.",
        &[("CAST(NULL AS BOOLEAN) IS UNKNOWN", "TRUE")],
        |args, _, _| test(args, None, false),
    ),
    truth_test(
        "IS NOT UNKNOWN",
        &["boolean IS NOT UNKNOWN"],
        "TRUE if the condition is TRUE or FALSE.",
        &[("CAST(NULL AS BOOLEAN) IS NOT UNKNOWN", "FALSE")],
        |args, _, _| test(args, None, true),
    ),
];

const fn truth_test(
    name: &'static str,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [crate::Example],
    compile: Compile,
) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| one_boolean(args, false),
        compile,
        doc: FunctionDoc { syntax, text, examples },
    }
}

/// One BOOLEAN (or NULL) in, BOOLEAN out.
fn one_boolean(args: &CallArgs, nullable: bool) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if matches!(arg.data_type.family(), Family::Boolean | Family::Null) => Ok(Resolved {
            parameters: vec![DataType::boolean().with_nullable(arg.data_type.nullable)],
            returns: TypeRoot::Boolean.nullable().with_nullable(nullable),
        }),
        _ => Err(args.no_match(&["<BOOLEAN>"])),
    }
}

/// Whether the truth value is `wanted` (`None`: UNKNOWN), or is not, when `negated`.
fn test(
    _: &CallArgs,
    wanted: Option<bool>,
    negated: bool,
) -> Result<Box<dyn Kernel>, SignatureError> {
    Ok(total_kernel(move |args, context| {
        let array = args[0].clone().into_array(context.rows)?;
        let truth = array.as_boolean();
        let values = truth.values();
        let known = match (wanted, truth.nulls()) {
            (Some(true), None) => values.clone(),
            (Some(true), Some(nulls)) => values & nulls.inner(),
            (Some(false), None) => !values,
            (Some(false), Some(nulls)) => &!values & nulls.inner(),
            (None, None) => BooleanBuffer::new_unset(truth.len()),
            (None, Some(nulls)) => !nulls.inner(),
        };
        Ok(Arc::new(BooleanArray::new(if negated { !&known } else { known }, None)))
    }))
}
