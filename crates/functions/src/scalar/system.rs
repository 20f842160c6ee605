//! TYPEOF and what the session knows.

use std::sync::Arc;

use arrow::array::StringArray;
use flott_types::{DataType, TypeRoot, Value};

use super::string::signature::{immutable, resolve};
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "TYPEOF",
        resolve_typeof,
        |args, _, _| {
            let ty = args.data_type(0);
            let serializable = args.literal(1) == Some(&Value::Boolean(true));
            Ok(constant(if serializable { ty.to_string() } else { ty.summary() }))
        },
        FunctionDoc {
            syntax: &["TYPEOF(expr[, force_serializable])"],
            text: "The type of the expression as text; with TRUE, which must be literal, in the \
                   form that can be read back, with `VARCHAR(2147483647)` for STRING.",
            examples: &[
                ("TYPEOF(CAST('a' AS STRING))", "STRING NOT NULL"),
                ("TYPEOF(1)", "INT NOT NULL"),
            ],
        },
    ),
    ScalarFunction {
        // The same for the whole statement, but not for the next.
        volatility: Volatility::Temporal,
        ..immutable(
            "CURRENT_DATABASE",
            |args| {
                resolve(args, &[&[]], &["CURRENT_DATABASE()"], |_| DataType::string().not_null())
            },
            |_, _, settings| Ok(constant(settings.current_database.clone())),
            FunctionDoc {
                syntax: &["CURRENT_DATABASE()"],
                text: "The current database of the session.",
                examples: &[("CURRENT_DATABASE()", "default_database")],
            },
        )
    },
];

fn resolve_typeof(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let fits = match args.args.as_slice() {
        [_] => true,
        [_, flag] => {
            flag.data_type.root == TypeRoot::Boolean
                && matches!(flag.literal, Some(Value::Boolean(_)))
        }
        _ => false,
    };
    if !fits {
        return Err(args.no_match(&["TYPEOF(<ANY>)", "TYPEOF(<ANY>, <BOOLEAN literal>)"]));
    }
    Ok(Resolved::unchanged(args, DataType::string()))
}

/// The same text for all rows.
fn constant(text: String) -> Box<dyn Kernel> {
    total_kernel(move |_, context| {
        Ok(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&text, context.rows))))
    })
}
