//! STARTSWITH, ENDSWITH.

use flott_types::TypeRoot;

use super::rows::{TextOrBytes, truths};
use super::signature::{Kind, immutable, resolve_with_null, strict};
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "STARTSWITH",
        |args| resolve_affix(args, STARTSWITH),
        |_, _, _| Ok(affix_kernel(<[u8]>::starts_with)),
        FunctionDoc {
            syntax: &["STARTSWITH(expr, start)"],
            text: "Whether `expr` starts with `start`, both strings or both byte strings. Every \
                   string starts with the empty one.",
            examples: &[("STARTSWITH('abcdef', 'abc')", "TRUE"), ("STARTSWITH('abc', '')", "TRUE")],
        },
    ),
    immutable(
        "ENDSWITH",
        |args| resolve_affix(args, ENDSWITH),
        |_, _, _| Ok(affix_kernel(<[u8]>::ends_with)),
        FunctionDoc {
            syntax: &["ENDSWITH(expr, end)"],
            text: "Whether `expr` ends with `end`, both strings or both byte strings. Every string \
                   ends with the empty one.",
            examples: &[("ENDSWITH('abcdef', 'def')", "TRUE")],
        },
    ),
];

const STARTSWITH: &[&str] =
    &["STARTSWITH(<CHARACTER>, <CHARACTER>)", "STARTSWITH(<BINARY>, <BINARY>)"];
const ENDSWITH: &[&str] = &["ENDSWITH(<CHARACTER>, <CHARACTER>)", "ENDSWITH(<BINARY>, <BINARY>)"];

fn resolve_affix(args: &CallArgs, expected: &[&'static str]) -> Result<Resolved, SignatureError> {
    let forms: &[&[Kind]] = &[&[Kind::Text, Kind::Text], &[Kind::Bytes, Kind::Bytes]];
    resolve_with_null(args, forms, expected, |args| strict(args, TypeRoot::Boolean))
}

fn affix_kernel(holds: fn(&[u8], &[u8]) -> bool) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let (text, affix) = (TextOrBytes::new(&args[0]), TextOrBytes::new(&args[1]));
        Ok(truths(
            args,
            context.rows,
            |row| matches!((text.get(row), affix.get(row)), (Some(text), Some(affix)) if holds(text, affix)),
        ))
    })
}
