//! REGEXP, REGEXP_EXTRACT and the others of their name.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array};
use flott_types::{DataType, TypeRoot};

use super::patterns::Lookup;
use super::{PatternError, Patterns, Regexp};
use crate::read::Strings;
use crate::scalar::string::rows::{Integers, text_lists, try_texts};
use crate::scalar::string::signature::{
    Kind, immutable, resolve, resolve_with_null, strict, strict_string,
};
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, ScalarFunction, SignatureError, kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "REGEXP",
        |args| {
            let form = "REGEXP(<CHARACTER>, <CHARACTER>)";
            resolve(args, &[&[Kind::Text; 2]], &[form], |args| strict(args, TypeRoot::Boolean))
        },
        |args, _, _| {
            // The empty pattern, which matches everywhere, finds nothing here.
            let patterns = Patterns::new(args.literal_str(1), |pattern| match pattern {
                "" => Ok(None),
                _ => valid_regexp(pattern),
            })?;
            Ok(kernel(move |args, context| {
                let results = each_row(args, context, &patterns, |regexp, text| match regexp {
                    Some(regexp) => regexp.is_match(text).map(Some),
                    None => Ok(Some(false)),
                });
                Ok(Arc::new(results.collect::<Result<BooleanArray, EvalError>>()?))
            }))
        },
        FunctionDoc {
            syntax: &["REGEXP(string, regex)"],
            text: "Whether the regular expression, in Java's syntax, matches somewhere in the \
                   string; FALSE if it is empty or invalid.",
            examples: &[("REGEXP('hello world', 'w.*d$')", "TRUE"), ("REGEXP('a', '(')", "FALSE")],
        },
    ),
    immutable(
        "REGEXP_EXTRACT",
        |args| {
            let expected = [
                "REGEXP_EXTRACT(<CHARACTER>, <CHARACTER>)",
                "REGEXP_EXTRACT(<CHARACTER>, <CHARACTER>, <INTEGER>)",
            ];
            resolve(args, GROUP, &expected, |_| DataType::string())
        },
        |args, _, _| {
            let patterns = patterns(args)?;
            Ok(kernel(move |args, context| {
                let group = args.get(2).map(Integers::new);
                extract(args, context, &patterns, |row| match group {
                    Some(group) => group.get(row),
                    None => Some(0),
                })
            }))
        },
        FunctionDoc {
            syntax: &["REGEXP_EXTRACT(string, regex[, group])"],
            text: "What the group, 0 and thus the whole by default, of the first match of the \
                   regular expression matched; NULL if there is no match, no such group or the \
                   expression is invalid.",
            examples: &[("REGEXP_EXTRACT('order-1234', '([a-z]+)-(\\d+)', 2)", "1234")],
        },
    ),
    immutable(
        "REGEXP_SUBSTR",
        |args| {
            let form = "REGEXP_SUBSTR(<CHARACTER>, <CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text; 2]], &[form], |_| DataType::string())
        },
        |args, _, _| {
            let patterns = patterns(args)?;
            Ok(kernel(move |args, context| extract(args, context, &patterns, |_| Some(0))))
        },
        FunctionDoc {
            syntax: &["REGEXP_SUBSTR(string, regex)"],
            text: "The first match of the regular expression; NULL if there is none or the \
                   expression is invalid.",
            examples: &[("REGEXP_SUBSTR('hello world', 'l+')", "ll")],
        },
    ),
    immutable(
        "REGEXP_EXTRACT_ALL",
        |args| {
            let expected = [
                "REGEXP_EXTRACT_ALL(<CHARACTER>, <CHARACTER>)",
                "REGEXP_EXTRACT_ALL(<CHARACTER>, <CHARACTER>, <INTEGER>)",
            ];
            resolve_with_null(args, GROUP, &expected, |_| DataType::array(DataType::string()))
        },
        |args, _, _| {
            let patterns = patterns(args)?;
            Ok(kernel(move |args, context| extract_all(args, context, &patterns)))
        },
        FunctionDoc {
            syntax: &["REGEXP_EXTRACT_ALL(string, regex[, group])"],
            text: "What the group, 1 by default, of every match of the regular expression matched; \
                   NULL if there is no such group or the expression is invalid.",
            examples: &[("REGEXP_EXTRACT_ALL('a1b22', '([a-z])(\\d+)', 2)", "[1, 22]")],
        },
    ),
    immutable(
        "REGEXP_COUNT",
        |args| {
            let form = "REGEXP_COUNT(<CHARACTER>, <CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text; 2]], &[form], |_| DataType::int())
        },
        |args, _, _| {
            let patterns = patterns(args)?;
            Ok(kernel(move |args, context| {
                let results = each_row(args, context, &patterns, |regexp, text| {
                    let Some(regexp) = regexp else { return Ok(None) };
                    let mut count = 0;
                    regexp.find_all(text, 0, |_| count += 1)?;
                    Ok(Some(count))
                });
                Ok(Arc::new(results.collect::<Result<Int32Array, EvalError>>()?))
            }))
        },
        FunctionDoc {
            syntax: &["REGEXP_COUNT(string, regex)"],
            text: "How many matches, without overlap, the regular expression has in the string; \
                   NULL if it is invalid.",
            examples: &[("REGEXP_COUNT('banana', 'an')", "2")],
        },
    ),
    immutable(
        "REGEXP_INSTR",
        |args| {
            let form = "REGEXP_INSTR(<CHARACTER>, <CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text; 2]], &[form], |_| DataType::int())
        },
        |args, _, _| {
            let patterns = patterns(args)?;
            Ok(kernel(move |args, context| {
                let results = each_row(args, context, &patterns, |regexp, text| {
                    let Some(regexp) = regexp else { return Ok(None) };
                    let found = regexp.find(text)?;
                    let units = |text: &str| text.encode_utf16().count() as i32;
                    Ok(Some(found.map_or(0, |found| units(&text[..found.start]) + 1)))
                });
                Ok(Arc::new(results.collect::<Result<Int32Array, EvalError>>()?))
            }))
        },
        FunctionDoc {
            syntax: &["REGEXP_INSTR(string, regex)"],
            text: "The place of the first match of the regular expression, from 1 and counted in \
                   UTF-16 units; 0 if there is none, NULL if the expression is invalid.",
            examples: &[("REGEXP_INSTR('hello world', 'w.r')", "7")],
        },
    ),
    immutable(
        "REGEXP_REPLACE",
        |args| {
            let form = "REGEXP_REPLACE(<CHARACTER>, <CHARACTER>, <CHARACTER>)";
            resolve(args, &[&[Kind::Text; 3]], &[form], strict_string)
        },
        |args, _, _| {
            let patterns = patterns(args)?;
            Ok(kernel(move |args, context| replace(args, context, &patterns)))
        },
        FunctionDoc {
            syntax: &["REGEXP_REPLACE(string, regex, replacement)"],
            text: "The string with every match of the regular expression replaced; the replacement \
                   stands for itself, `$1` is no group. NULL if the expression is invalid.",
            examples: &[("REGEXP_REPLACE('a1b22c', '\\d+', '-')", "a-b-c")],
        },
    ),
];

const GROUP: &[&[Kind]] = &[&[Kind::Text, Kind::Text], &[Kind::Text, Kind::Text, Kind::Integer]];

/// The expressions of a call's second argument; `None` for those Java does not take.
fn patterns(args: &CallArgs) -> Result<Patterns<Option<Regexp>>, SignatureError> {
    Patterns::new(args.literal_str(1), valid_regexp)
}

fn valid_regexp(pattern: &str) -> Result<Option<Regexp>, EvalError> {
    match Regexp::new(pattern) {
        Ok(regexp) => Ok(Some(regexp)),
        Err(PatternError::Invalid(_)) => Ok(None),
        Err(error) => Err(error.of("regular expression")),
    }
}

/// The results of a function of a text and an expression, which is `None` if it is invalid; NULL if one
/// of them is.
fn each_row<'a, T: 'a>(
    args: &'a [Column],
    context: &EvalContext,
    patterns: &'a Patterns<Option<Regexp>>,
    mut of_row: impl FnMut(Option<&Regexp>, &str) -> Result<Option<T>, EvalError> + 'a,
) -> impl Iterator<Item = Result<Option<T>, EvalError>> + 'a {
    let (text, pattern) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let mut lookup = patterns.lookup();
    (0..context.rows).map(move |row| {
        let Some((text, pattern)) = text.get(row).zip(pattern.get(row)) else { return Ok(None) };
        of_row(lookup.of(pattern)?.as_ref(), text)
    })
}

/// The text and the expression of a row; `None` if the result is NULL.
fn row_of<'t, 'l>(
    text: Strings<'t>,
    pattern: Strings<'_>,
    lookup: &'l mut Lookup<'_, Option<Regexp>>,
    row: usize,
) -> Result<Option<(&'t str, &'l Regexp)>, EvalError> {
    let Some((text, pattern)) = text.get(row).zip(pattern.get(row)) else { return Ok(None) };
    Ok(lookup.of(pattern)?.as_ref().map(|regexp| (text, regexp)))
}

/// A group of the first match.
fn extract(
    args: &[Column],
    context: &EvalContext,
    patterns: &Patterns<Option<Regexp>>,
    group_of: impl Fn(usize) -> Option<i64>,
) -> Result<ArrayRef, EvalError> {
    let (texts, regexps) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let mut lookup = patterns.lookup();
    try_texts(context.rows, |row, out| {
        let Some((text, regexp)) = row_of(texts, regexps, &mut lookup, row)? else {
            return Ok(None);
        };
        let Some(group) = group_of(row).and_then(|group| existing(group, regexp)) else {
            return Ok(None);
        };
        let found = regexp.group_at(text, 0, group)?.and_then(|found| found.group);
        Ok(found.map(|range| out.push_str(&text[range])))
    })
}

/// A group's number, if the expression has it.
fn existing(group: i64, regexp: &Regexp) -> Option<usize> {
    usize::try_from(group).ok().filter(|group| *group <= regexp.groups())
}

fn extract_all(
    args: &[Column],
    context: &EvalContext,
    patterns: &Patterns<Option<Regexp>>,
) -> Result<ArrayRef, EvalError> {
    let (texts, regexps) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let groups = args.get(2).map(Integers::new);
    let mut lookup = patterns.lookup();
    text_lists(context.rows, |row, matches| {
        let group = groups.map_or(Some(1), |groups| groups.get(row));
        let Some(((text, regexp), group)) = row_of(texts, regexps, &mut lookup, row)?.zip(group)
        else {
            return Ok(None);
        };
        let Some(group) = existing(group, regexp) else { return Ok(None) };
        regexp
            .find_all(text, group, |found| matches.push(found.group.map(|range| &text[range])))?;
        Ok(Some(()))
    })
}

fn replace(
    args: &[Column],
    context: &EvalContext,
    patterns: &Patterns<Option<Regexp>>,
) -> Result<ArrayRef, EvalError> {
    let (texts, regexps) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let replacements = Strings::new(&args[2]);
    let mut lookup = patterns.lookup();
    try_texts(context.rows, |row, out| {
        let found = row_of(texts, regexps, &mut lookup, row)?.zip(replacements.get(row));
        let Some(((text, regexp), replacement)) = found else { return Ok(None) };
        let mut rest = 0;
        regexp.find_all(text, 0, |found| {
            out.push_str(&text[rest..found.whole.start]);
            out.push_str(replacement);
            rest = found.whole.end;
        })?;
        out.push_str(&text[rest..]);
        Ok(Some(()))
    })
}
