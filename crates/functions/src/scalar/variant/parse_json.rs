//! PARSE_JSON and TRY_PARSE_JSON.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder};
use flott_types::{DataType, Family, TypeRoot};

use super::parse::{Refused, parse_variant};
use crate::read::{Booleans, Strings};
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Resolved, ScalarFunction,
    SignatureError, Volatility, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "PARSE_JSON",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.args.first().map(|arg| &arg.data_type.root) {
            Some(TypeRoot::Null) => {
                let mut parameters = args.types();
                parameters[0] = DataType::string();
                resolve(args, args.any_nullable())
                    .map(|resolved| Resolved { parameters, ..resolved })
            }
            _ => resolve(args, args.any_nullable()),
        },
        compile: |_, _, _| Ok(kernel(|args, context| parse(args, context, Fail::Error))),
        doc: FunctionDoc {
            syntax: &["PARSE_JSON(string [, allow_duplicate_keys])"],
            text: "A JSON text as a VARIANT. A text that is not JSON fails, and so do two members of the \
                   same name in an object, unless duplicate keys are allowed: the last one counts then. \
                   NULL for NULL.",
            examples: &[
                (
                    "JSON_STRING(PARSE_JSON('{\"b\": [1, 2.50], \"a\": null}'))",
                    "{\"a\":null,\"b\":[1,2.5]}",
                ),
                ("JSON_STRING(PARSE_JSON('{\"a\": 1, \"a\": 2}', TRUE)['a'])", "2"),
            ],
        },
    },
    ScalarFunction {
        name: "TRY_PARSE_JSON",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| resolve_text(args).and_then(|()| resolve(args, true)),
        compile: |_, _, _| Ok(total_kernel(|args, context| parse(args, context, Fail::Null))),
        doc: FunctionDoc {
            syntax: &["TRY_PARSE_JSON(string [, allow_duplicate_keys])"],
            text: "A JSON text as a VARIANT, and NULL for a text that PARSE_JSON fails for.",
            examples: &[("TRY_PARSE_JSON('bad')", "NULL")],
        },
    },
];

const FORMS: &[&str] = &["<CHARACTER_STRING>", "<CHARACTER_STRING>, <BOOLEAN>"];

fn resolve(args: &CallArgs, nullable: bool) -> Result<Resolved, SignatureError> {
    let fits = match args.args.as_slice() {
        [text] => is_text(&text.data_type),
        [text, duplicates] => {
            is_text(&text.data_type) && duplicates.data_type.root == TypeRoot::Boolean
        }
        _ => false,
    };
    match fits {
        true => Ok(Resolved::unchanged(args, TypeRoot::Variant.nullable().with_nullable(nullable))),
        false => Err(args.no_match(FORMS)),
    }
}

fn is_text(ty: &DataType) -> bool {
    matches!(ty.family(), Family::CharacterString | Family::Null)
}

/// TRY_PARSE_JSON refuses an untyped NULL.
fn resolve_text(args: &CallArgs) -> Result<(), SignatureError> {
    match args.args.first() {
        Some(text) if text.data_type.root == TypeRoot::Null => Err(args.no_match(FORMS)),
        _ => Ok(()),
    }
}

/// What becomes of a text that is no variant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fail {
    Error,
    Null,
}

fn parse(args: &[Column], context: &EvalContext, fail: Fail) -> Result<ArrayRef, EvalError> {
    let texts = Strings::new(&args[0]);
    let duplicates = args.get(1).map(Booleans::new);
    let mut results = BinaryBuilder::new();
    let mut bytes = Vec::new();
    for row in 0..context.rows {
        let Some(text) = texts.get(row) else {
            results.append_null();
            continue;
        };
        let duplicates = match &duplicates {
            None => Some(false),
            Some(column) => column.get(row),
        };
        bytes.clear();
        let outcome = match duplicates {
            Some(duplicates) => {
                parse_variant(&mut bytes, text, duplicates).map_err(|refused| reason(refused, text))
            }
            None => Err("whether duplicate keys are allowed is NULL".into()),
        };
        match outcome {
            Ok(()) => results.append_value(&bytes),
            Err(_) if fail == Fail::Null => results.append_null(),
            Err(reason) => {
                return Err(EvalError::Argument { function: "PARSE_JSON", reason });
            }
        }
    }
    Ok(Arc::new(results.finish()))
}

fn reason(refused: Refused, text: &str) -> String {
    match refused {
        Refused::Malformed(malformed) => format!(
            "malformed JSON: {}\nhint: TRY_PARSE_JSON gives NULL instead",
            malformed.describe(text)
        ),
        Refused::Duplicate => "an object has two members of the same name\n\
                               hint: PARSE_JSON(text, TRUE) takes the last of them"
            .into(),
    }
}
