//! JSON_OBJECT, JSON_ARRAY, JSON and JSON_STRING.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use flott_types::{DataType, Family, TypeRoot};

use super::encode::Encoder;
use super::members::{Values, marked};
use super::object::compile_object;
use crate::{
    CallArgs, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "JSON",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_json,
        compile: |_, _, _| Err(misplaced()),
        doc: FunctionDoc {
            syntax: &["JSON(string)"],
            text: "A JSON text as what it stands for, within JSON_ARRAY or as a value of JSON_OBJECT only. \
                   A blank text is NULL; one that is not JSON fails.",
            examples: &[("JSON_ARRAY(JSON('{\"a\": 1}'), 2)", "[{\"a\":1},2]")],
        },
    },
    ScalarFunction {
        name: "JSON_OBJECT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_object,
        compile: compile_object,
        doc: FunctionDoc {
            syntax: &["JSON_OBJECT([[KEY] key VALUE value]… [{ NULL | ABSENT } ON NULL])"],
            text: "A JSON object of keys, which must not be NULL, and values, as text with its members \
                   sorted by key. Of equal keys the last counts. A value that is NULL is `null`, or left \
                   out with ABSENT ON NULL. Calls of JSON_OBJECT, JSON_ARRAY and JSON as values are put \
                   in as what they are, not as strings.",
            examples: &[
                ("JSON_OBJECT('b' VALUE 1, 'a' VALUE 'x')", "{\"a\":\"x\",\"b\":1}"),
                ("JSON_OBJECT('a' VALUE JSON_ARRAY(1, 2))", "{\"a\":[1,2]}"),
            ],
        },
    },
    ScalarFunction {
        name: "JSON_ARRAY",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_array,
        compile: compile_array,
        doc: FunctionDoc {
            syntax: &["JSON_ARRAY([value]… [{ NULL | ABSENT } ON NULL])"],
            text: "A JSON array of the values, as text. NULLs are left out, unless NULL ON NULL is given. \
                   Calls of JSON_OBJECT, JSON_ARRAY and JSON as values are put in as what they are, not as \
                   strings.",
            examples: &[("JSON_ARRAY(1, '2', TRUE)", "[1,\"2\",true]")],
        },
    },
    ScalarFunction {
        name: "JSON_STRING",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_string,
        compile: compile_string,
        doc: FunctionDoc {
            syntax: &["JSON_STRING(value)"],
            text: "A value as JSON text: numbers and truth values plain, arrays as arrays, maps, whose keys \
                   must be strings, and rows as objects with their members sorted by name, bytes in \
                   base64, timestamps in the form of ISO 8601. NULL for NULL.",
            examples: &[
                ("JSON_STRING('x\"y')", "\"x\\\"y\""),
                ("JSON_STRING(ARRAY[1, 2])", "[1,2]"),
            ],
        },
    },
];

fn misplaced() -> SignatureError {
    SignatureError::Other(
        "JSON() is only supported inside JSON_ARRAY() or as a value of JSON_OBJECT()\n\
         hint: write JSON_OBJECT('a' VALUE JSON('{\"key\": \"value\"}')), or use the text itself"
            .into(),
    )
}

fn resolve_json(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if arg.data_type.family() == Family::CharacterString => {
            Ok(Resolved::unchanged(args, DataType::string().with_nullable(arg.data_type.nullable)))
        }
        [arg] if arg.data_type.family() == Family::Null => {
            Ok(Resolved { parameters: vec![DataType::string()], returns: DataType::string() })
        }
        _ => Err(args.no_match(&["JSON(<CHARACTER_STRING>)"])),
    }
}

fn resolve_object(args: &CallArgs) -> Result<Resolved, SignatureError> {
    for (position, key) in args.args.iter().enumerate().step_by(2) {
        let reason = match key.data_type.family() {
            Family::CharacterString if !key.data_type.nullable => continue,
            Family::CharacterString | Family::Null => {
                "a key must not be NULL\nhint: COALESCE(key, 'name') makes it NOT NULL"
            }
            _ => "a key must be a character string",
        };
        return Err(SignatureError::Argument {
            name: args.name.clone(),
            position: position + 1,
            reason: reason.into(),
        });
    }
    Values::new(args, 1, 2)?;
    Ok(Resolved::unchanged(args, DataType::string().not_null()))
}

fn resolve_array(args: &CallArgs) -> Result<Resolved, SignatureError> {
    Values::new(args, 0, 1)?;
    Ok(Resolved::unchanged(args, DataType::string().not_null()))
}

fn resolve_string(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let [arg] = args.args.as_slice() else {
        return Err(args.no_match(&["JSON_STRING(<ANY>)"]));
    };
    if arg.data_type.root == TypeRoot::Null {
        return Ok(Resolved { parameters: vec![DataType::string()], returns: DataType::string() });
    }
    Encoder::new(&arg.data_type)?;
    Ok(Resolved::unchanged(args, DataType::string().with_nullable(arg.data_type.nullable)))
}

fn compile_array(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let values = Values::new(args, 0, 1)?;
    Ok(kernel(move |args, context| {
        texts(context, |out, row| {
            out.push('[');
            for member in &values.values {
                let before = out.len();
                if before > 1 {
                    out.push(',');
                }
                if !values.write(out, member, args, row)? {
                    out.truncate(before);
                }
            }
            out.push(']');
            Ok(true)
        })
    }))
}

fn compile_string(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if marked(args, 0).is_some() {
        return Ok(total_kernel(|args, context| args[0].clone().into_array(context.rows)));
    }
    let encoder = Encoder::new(args.data_type(0))?;
    Ok(kernel(move |args, context| {
        let (column, array) = (&args[0], args[0].array());
        texts(context, |out, row| {
            if column.is_null(row) {
                return Ok(false);
            }
            encoder.write(out, array, column.index(row)).map(|()| true)
        })
    }))
}

/// A text for each row; NULL where `write` says false.
pub(super) fn texts(
    context: &EvalContext,
    mut write: impl FnMut(&mut String, usize) -> Result<bool, EvalError>,
) -> Result<ArrayRef, EvalError> {
    let mut results = StringBuilder::new();
    let mut text = String::new();
    for row in 0..context.rows {
        text.clear();
        match write(&mut text, row)? {
            true => results.append_value(&text),
            false => results.append_null(),
        }
    }
    Ok(Arc::new(results.finish()))
}
