//! IS [NOT] JSON.

use std::sync::Arc;

use arrow::array::BooleanArray;
use flott_types::{DataType, Family};

use super::text::{Cursor, Kind};
use crate::read::Strings;
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The tests.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry("IS JSON VALUE", |_, _, _| test(|_| true, false)),
    entry("IS JSON OBJECT", |_, _, _| test(is_object, false)),
    entry("IS JSON ARRAY", |_, _, _| test(is_array, false)),
    entry("IS JSON SCALAR", |_, _, _| test(is_scalar, false)),
    entry("IS NOT JSON VALUE", |_, _, _| test(|_| true, true)),
    entry("IS NOT JSON OBJECT", |_, _, _| test(is_object, true)),
    entry("IS NOT JSON ARRAY", |_, _, _| test(is_array, true)),
    entry("IS NOT JSON SCALAR", |_, _, _| test(is_scalar, true)),
];

const fn entry(name: &'static str, compile: crate::Compile) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile,
        doc: FunctionDoc {
            syntax: &["string IS [NOT] JSON [{ VALUE | SCALAR | ARRAY | OBJECT }]"],
            text: "Whether a text starts with a JSON value, or with one of the kind named. FALSE for NULL, \
                   and TRUE with NOT.",
            examples: &[("'[1]' IS JSON ARRAY", "TRUE"), ("'abc' IS JSON", "FALSE")],
        },
    }
}

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if arg.data_type.family() == Family::CharacterString => {
            Ok(Resolved::unchanged(args, DataType::boolean().not_null()))
        }
        _ => Err(args.no_match(&["<CHARACTER> IS JSON"])),
    }
}

fn is_object(kind: Kind) -> bool {
    kind == Kind::Object
}

fn is_array(kind: Kind) -> bool {
    kind == Kind::Array
}

fn is_scalar(kind: Kind) -> bool {
    !is_object(kind) && !is_array(kind)
}

fn test(wanted: fn(Kind) -> bool, negated: bool) -> Result<Box<dyn Kernel>, SignatureError> {
    Ok(total_kernel(move |args, context| {
        let texts = Strings::new(&args[0]);
        let is_json = |row| texts.get(row).and_then(kind).is_some_and(wanted);
        let results: Vec<bool> = (0..context.rows).map(|row| is_json(row) != negated).collect();
        Ok(Arc::new(BooleanArray::from(results)))
    }))
}

/// The kind of the value a text starts with; `None` if there is none.
pub fn kind(text: &str) -> Option<Kind> {
    let mut cursor = Cursor::new(text);
    let kind = cursor.kind().ok()?;
    cursor.skip().ok()?;
    Some(kind)
}
