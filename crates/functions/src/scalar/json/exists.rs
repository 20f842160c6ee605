//! JSON_EXISTS.

use std::sync::Arc;

use arrow::array::BooleanBuilder;
use flott_types::{DataType, Family, TypeRoot};

use super::lookup::{Lookups, literal_lookup};
use crate::read::Strings;
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings, SignatureError,
    Volatility, kernel,
};

/// JSON_EXISTS
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "JSON_EXISTS",
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve,
    compile,
    doc: FunctionDoc {
        syntax: &["JSON_EXISTS(json, path [{ TRUE | FALSE | UNKNOWN | ERROR } ON ERROR])"],
        text: "Whether a path leads to a value other than null in a JSON text. A path is strict unless it \
               starts with `lax`: where it leads nowhere, and where the text is not JSON, the ON ERROR \
               clause decides, which is FALSE if absent. A lax path gives FALSE there. NULL for NULL.",
        examples: &[
            ("JSON_EXISTS('{\"a\": [1]}', '$.a[0]')", "TRUE"),
            ("JSON_EXISTS('{\"a\": [1]}', '$.b' UNKNOWN ON ERROR)", "NULL"),
        ],
    },
}];

/// Flink's code generator knows paths of type CHAR only.
fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let fits = match args.args.as_slice() {
        [json, path] => {
            json.data_type.family() == Family::CharacterString
                && matches!(path.data_type.root, TypeRoot::Char(_))
        }
        _ => false,
    };
    match fits {
        true => Ok(Resolved::unchanged(args, DataType::boolean())),
        false => Err(args.no_match(&["JSON_EXISTS(<CHARACTER_STRING>, <CHAR>)"])),
    }
}

/// What ON ERROR says.
#[derive(Clone, Copy)]
enum OnError {
    Give(Option<bool>),
    Fail,
}

fn compile(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let on_error = match args.symbols.first().map(AsRef::as_ref) {
        Some("TRUE") => OnError::Give(Some(true)),
        Some("UNKNOWN") => OnError::Give(None),
        Some("ERROR") => OnError::Fail,
        _ => OnError::Give(Some(false)),
    };
    let literal = literal_lookup(args);
    Ok(kernel(move |args, context| {
        let (json, paths) = (Strings::new(&args[0]), Strings::new(&args[1]));
        let mut results = BooleanBuilder::with_capacity(context.rows);
        Lookups::new(literal.as_ref(), paths).for_each(context.rows, |row, lookup| {
            let result = match (json.get(row), lookup) {
                (Some(text), Some(lookup)) => match (lookup.find(text), on_error) {
                    (Ok(found), _) => Some(found.is_some()),
                    (Err(_), OnError::Give(result)) => result,
                    (Err(failure), OnError::Fail) => {
                        return Err(failure.error("JSON_EXISTS", text));
                    }
                },
                _ => None,
            };
            results.append_option(result);
            Ok(())
        })?;
        Ok(Arc::new(results.finish()))
    }))
}
