//! UPPER, LOWER, INITCAP.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use flott_types::DataType;

use super::rows::texts;
use super::signature::{Kind, immutable, resolve};
use crate::read::Strings;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Resolved, ScalarFunction,
    SignatureError, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "UPPER",
        |args| same_text(args, "UPPER(<CHARACTER>)"),
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                change_case(args, context, <[u8]>::make_ascii_uppercase, |text, out| {
                    out.push_str(&text.to_uppercase());
                })
            }))
        },
        FunctionDoc {
            syntax: &["UPPER(string)"],
            text: "The string in upper case by Unicode's rules, whatever the locale.",
            examples: &[("UPPER('flow é')", "FLOW É")],
        },
    ),
    immutable(
        "LOWER",
        |args| same_text(args, "LOWER(<CHARACTER>)"),
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                change_case(args, context, <[u8]>::make_ascii_lowercase, |text, out| {
                    out.push_str(&text.to_lowercase());
                })
            }))
        },
        FunctionDoc {
            syntax: &["LOWER(string)"],
            text: "The string in lower case by Unicode's rules, whatever the locale.",
            examples: &[("LOWER('Flow É')", "flow é")],
        },
    ),
    immutable(
        "INITCAP",
        |args| same_text(args, "INITCAP(<CHARACTER>)"),
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let text = Strings::new(&args[0]);
                texts(context.rows, |row, out| {
                    capitalise(text.get(row)?, out);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["INITCAP(string)"],
            text: "The string with the first letter of every word in upper case and the others in \
                   lower case. A word is a run of the letters A to Z and the digits; all other \
                   characters stay as they are.",
            examples: &[("INITCAP('hello woRLD-2nd')", "Hello World-2nd")],
        },
    ),
];

/// One string in, a string of the same type out.
fn same_text(args: &CallArgs, form: &'static str) -> Result<Resolved, SignatureError> {
    resolve(args, &[&[Kind::Text]], &[form], |args| {
        DataType::new(args.data_type(0).root.clone()).with_nullable(args.any_nullable())
    })
}

/// Maps whole batches that are ASCII in place, others string by string.
fn change_case(
    args: &[Column],
    context: &EvalContext,
    ascii: fn(&mut [u8]),
    unicode: fn(&str, &mut String),
) -> Result<ArrayRef, EvalError> {
    let array = args[0].array().as_string::<i32>();
    let values = array.values();
    let whole = array.value_offsets().first() == Some(&0)
        && array.value_offsets().last().is_some_and(|end| *end as usize == values.len());
    if array.len() == context.rows && whole && values.is_ascii() {
        let mut bytes = values.to_vec();
        ascii(&mut bytes);
        let nulls = array.nulls().cloned();
        let mapped = StringArray::try_new(array.offsets().clone(), bytes.into(), nulls)?;
        return Ok(Arc::new(mapped));
    }
    let text = Strings::new(&args[0]);
    texts(context.rows, |row, out| {
        unicode(text.get(row)?, out);
        Some(())
    })
}

/// Appends the text with its words capitalised; only ASCII letters and digits make words.
fn capitalise(text: &str, out: &mut String) {
    let mut inside = false;
    out.extend(text.chars().map(|c| {
        let first = !inside;
        inside = c.is_ascii_alphanumeric();
        if first { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    }));
}

#[cfg(test)]
mod tests {
    use super::capitalise;

    #[test]
    fn words_are_runs_of_ascii_letters_and_digits() {
        for (text, wanted) in [
            ("HELLO wORLD foo-bar foo_bar", "Hello World Foo-Bar Foo_Bar"),
            ("o'neil mc1donald 2nd", "O'Neil Mc1donald 2nd"),
            ("éa ça", "éA çA"),
            ("中文 abc", "中文 Abc"),
        ] {
            let mut out = String::new();
            capitalise(text, &mut out);
            assert_eq!(out, wanted);
        }
    }
}
