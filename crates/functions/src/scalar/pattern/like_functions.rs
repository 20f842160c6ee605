//! LIKE and SIMILAR TO.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use flott_types::TypeRoot;

use super::like::{Like, LikeError, escape_char};
use super::similar::{SimilarError, to_java};
use super::{Patterns, Regexp};
use crate::read::Strings;
use crate::scalar::string::rows::truths;
use crate::scalar::string::signature::{Kind, immutable, resolve, strict};
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SignatureError, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "LIKE",
        |args| resolve_pattern(args, "LIKE(<STRING>, <STRING>[, <STRING>])"),
        |args, _, _| match literal_like(args)? {
            Some(like) => Ok(total_kernel(move |args, context| {
                let text = Strings::new(&args[0]);
                let holds = |row| text.get(row).is_some_and(|text| like.matches(text));
                Ok(truths(args, context.rows, holds))
            })),
            None => pattern_kernel(args, compile_like, |like, text| Ok(like.matches(text))),
        },
        FunctionDoc {
            syntax: &["string [NOT] LIKE pattern [ESCAPE character]"],
            text: "Whether the whole string fits the pattern, in which `%` stands for any \
                   characters and `_` for one that does not end a line. An escape character before \
                   `%`, `_` or itself takes their meaning away; without ESCAPE there is none. Fails \
                   if it stands before anything else.",
            examples: &[("'hello' LIKE 'h%o'", "TRUE"), ("'100%' LIKE '100!%' ESCAPE '!'", "TRUE")],
        },
    ),
    immutable(
        "SIMILAR TO",
        |args| resolve_pattern(args, "SIMILAR TO(<STRING>, <STRING>[, <STRING>])"),
        |args, _, _| pattern_kernel(args, compile_similar, Regexp::is_match),
        FunctionDoc {
            syntax: &["string [NOT] SIMILAR TO pattern [ESCAPE character]"],
            text: "Whether the whole string fits the regular expression, in which `%` stands for \
                   any characters and `_` for one; `[[:ALPHA:]]`, UPPER, LOWER, DIGIT, SPACE, \
                   WHITESPACE and ALNUM are classes. Fails if the expression is invalid.",
            examples: &[("'hello' SIMILAR TO '(hello|world)'", "TRUE")],
        },
    ),
];

fn resolve_pattern(args: &CallArgs, form: &'static str) -> Result<Resolved, SignatureError> {
    let forms: &[&[Kind]] = &[&[Kind::Text; 2], &[Kind::Text; 3]];
    resolve(args, forms, &[form], |args| strict(args, TypeRoot::Boolean))
}

/// The pattern of a call whose pattern and escape are both literal.
fn literal_like(args: &CallArgs) -> Result<Option<Like>, SignatureError> {
    let escape = if args.len() > 2 { args.literal_str(2) } else { Some("") };
    let Some((pattern, escape)) = args.literal_str(1).zip(escape) else { return Ok(None) };
    compile_like(pattern, Some(escape))
        .map(Some)
        .map_err(|error| SignatureError::Other(error.to_string()))
}

/// Compiles a pattern with the text of its ESCAPE clause, if there is one.
type Compile<T> = fn(&str, Option<&str>) -> Result<T, EvalError>;

fn compile_like(pattern: &str, escape: Option<&str>) -> Result<Like, EvalError> {
    escape_char(escape.unwrap_or_default())
        .and_then(|escape| Like::new(pattern, escape))
        .map_err(|error| EvalError::Argument { function: "LIKE", reason: error.to_string() })
}

fn compile_similar(pattern: &str, escape: Option<&str>) -> Result<Regexp, EvalError> {
    let java = match escape {
        // LIKE takes the empty escape for none, SIMILAR TO does not.
        Some("") => Err(SimilarError::Escape(LikeError::Character(String::new()))),
        Some(escape) => {
            escape_char(escape).map_err(Into::into).and_then(|escape| to_java(pattern, escape))
        }
        None => to_java(pattern, None),
    };
    let function = "SIMILAR TO";
    let java = java.map_err(|error| EvalError::Argument { function, reason: error.to_string() })?;
    Regexp::whole(&java).map_err(|error| error.of(function))
}

/// A kernel for patterns that are compiled once when literal, else as they come.
fn pattern_kernel<T: Send + Sync + 'static>(
    args: &CallArgs,
    compile: Compile<T>,
    matches: fn(&T, &str) -> Result<bool, EvalError>,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if args.len() > 2 && args.literal_str(2).is_none() {
        return Ok(kernel(move |args, context| varying_escape(args, context, compile, matches)));
    }
    let escape = args.literal_str(2).map(str::to_owned);
    let patterns =
        Patterns::new(args.literal_str(1), move |pattern| compile(pattern, escape.as_deref()))?;
    Ok(kernel(move |args, context| {
        let (text, pattern) = (Strings::new(&args[0]), Strings::new(&args[1]));
        let mut lookup = patterns.lookup();
        let results = (0..context.rows).map(|row| {
            let Some((text, pattern)) = text.get(row).zip(pattern.get(row)) else {
                return Ok(None);
            };
            matches(lookup.of(pattern)?, text).map(Some)
        });
        Ok(Arc::new(results.collect::<Result<BooleanArray, EvalError>>()?))
    }))
}

/// The rare case of an escape that is data: compiles for every row.
fn varying_escape<T>(
    args: &[Column],
    context: &EvalContext,
    compile: Compile<T>,
    matches: fn(&T, &str) -> Result<bool, EvalError>,
) -> Result<ArrayRef, EvalError> {
    let [text, pattern, escape] = [0, 1, 2].map(|i| Strings::new(&args[i]));
    let results = (0..context.rows).map(|row| {
        let pattern = pattern.get(row).zip(escape.get(row));
        let Some((text, (pattern, escape))) = text.get(row).zip(pattern) else { return Ok(None) };
        matches(&compile(pattern, Some(escape))?, text).map(Some)
    });
    Ok(Arc::new(results.collect::<Result<BooleanArray, EvalError>>()?))
}
