//! JSON_OBJECT, JSON_ARRAY, JSON and JSON_STRING.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringBuilder};
use flott_types::{DataType, Family, TypeRoot};

use super::encode::Encoder;
use super::text::{Node, utf16_order, write_quoted};
use crate::read::Strings;
use crate::{
    CallArgs, Column, EvalContext, EvalError, Expr, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility, kernel,
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
            examples: &[],
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

/// Before the position, from 0, of an argument that is the result of JSON_OBJECT or JSON_ARRAY.
const CONSTRUCTED: &str = "JSON ";

/// Before the position, from 0, of an argument that is a text to read as JSON.
const UNREAD: &str = "JSON TEXT ";

/// Notes in the symbols of a call which arguments of JSON_OBJECT and JSON_ARRAY are JSON already; a call
/// of JSON is replaced by its argument. It is noted while binding, as constant arguments are folded later.
pub(crate) fn mark_json(
    function: &str,
    args: Vec<Expr>,
    mut symbols: Vec<Arc<str>>,
) -> (Vec<Expr>, Vec<Arc<str>>) {
    if !matches!(function, "JSON_OBJECT" | "JSON_ARRAY") {
        return (args, symbols);
    }
    let mut mark = |(position, arg): (usize, Expr)| {
        if function == "JSON_OBJECT" && position % 2 == 0 {
            return arg;
        }
        match arg {
            Expr::Call { function, mut args, .. } if function.name == "JSON" && args.len() == 1 => {
                symbols.push(format!("{UNREAD}{position}").into());
                args.remove(0)
            }
            Expr::Call { function, .. }
                if matches!(function.name, "JSON_OBJECT" | "JSON_ARRAY") =>
            {
                symbols.push(format!("{CONSTRUCTED}{position}").into());
                arg
            }
            other => other,
        }
    };
    let args = args.into_iter().enumerate().map(&mut mark).collect();
    (args, symbols)
}

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

/// The values of a call and how they are written.
struct Values {
    values: Vec<Member>,
    keeps_nulls: bool,
}

struct Member {
    argument: usize,
    form: Form,
}

enum Form {
    /// A value of SQL.
    Value(Encoder),
    /// A text that JSON_OBJECT or JSON_ARRAY made.
    Json,
    /// A text to read as JSON.
    Text,
}

impl Values {
    /// The values that start at an argument, every `step` arguments.
    fn new(args: &CallArgs, start: usize, step: usize) -> Result<Self, SignatureError> {
        let keeps_nulls = args.symbols.first().is_none_or(|symbol| symbol.as_ref() == "NULL");
        let marked = |argument: usize| {
            args.symbols.iter().find_map(|symbol| {
                let is = |prefix| {
                    symbol.strip_prefix(prefix)?.parse::<usize>().ok().filter(|at| *at == argument)
                };
                is(UNREAD).map(|_| Form::Text).or_else(|| is(CONSTRUCTED).map(|_| Form::Json))
            })
        };
        let member = |argument: usize| {
            let form = match marked(argument) {
                Some(form) => form,
                None => Form::Value(Encoder::new(args.data_type(argument))?),
            };
            Ok(Member { argument, form })
        };
        let values: Result<_, SignatureError> =
            (start..args.len()).step_by(step).map(member).collect();
        Ok(Self { values: values?, keeps_nulls })
    }

    /// Writes the value of a row; false, and nothing, if it is one to leave out.
    fn write(
        &self,
        out: &mut String,
        member: &Member,
        args: &[Column],
        row: usize,
    ) -> Result<bool, EvalError> {
        let column = &args[member.argument];
        let array = column.array();
        let at = column.index(row);
        let is_null = array.is_null(at)
            || match member.form {
                Form::Text => trimmed(Strings::new(column).get(row)).is_empty(),
                _ => false,
            };
        if is_null {
            if self.keeps_nulls {
                out.push_str("null");
            }
            return Ok(self.keeps_nulls);
        }
        match &member.form {
            Form::Value(encoder) => encoder.write(out, array, at)?,
            Form::Json => out.push_str(Strings::new(column).get(row).unwrap_or("null")),
            Form::Text => {
                let text = trimmed(Strings::new(column).get(row));
                match Node::parse(text) {
                    Ok(node) => node.write(out),
                    Err(malformed) => {
                        return Err(EvalError::Argument {
                            function: "JSON",
                            reason: format!("malformed JSON: {}", malformed.describe(text)),
                        });
                    }
                }
            }
        }
        Ok(true)
    }
}

/// A text without white space and control characters round it, as Java's `trim` has it.
fn trimmed(text: Option<&str>) -> &str {
    text.unwrap_or("").trim_matches(|c| c <= ' ')
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

fn compile_object(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let values = Values::new(args, 1, 2)?;
    let keys: Option<Vec<&str>> =
        (0..values.values.len()).map(|entry| args.literal_str(entry * 2)).collect();
    match keys {
        Some(keys) => {
            let keys = sorted_keys(&keys);
            Ok(kernel(move |args, context| {
                texts(context, |out, row| {
                    write_with_literal_keys(out, &keys, &values, args, row).map(|()| true)
                })
            }))
        }
        None => Ok(kernel(move |args, context| {
            let mut members = Vec::new();
            let mut scratch = String::new();
            texts(context, |out, row| {
                members.clear();
                scratch.clear();
                write_with_keys(out, &mut members, &mut scratch, &values, args, row).map(|()| true)
            })
        })),
    }
}

/// Distinct keys in order, in quotes and with a colon, each with its entries from the last to the first.
fn sorted_keys(keys: &[&str]) -> Vec<(String, Vec<usize>)> {
    let mut entries: Vec<usize> = (0..keys.len()).collect();
    entries.sort_by(|a, b| utf16_order(keys[*a], keys[*b]));
    entries
        .chunk_by(|a, b| keys[*a] == keys[*b])
        .map(|same| {
            let mut quoted = String::new();
            write_quoted(&mut quoted, keys[same[0]]);
            quoted.push(':');
            (quoted, same.iter().rev().copied().collect())
        })
        .collect()
}

fn write_with_literal_keys(
    out: &mut String,
    keys: &[(String, Vec<usize>)],
    values: &Values,
    args: &[Column],
    row: usize,
) -> Result<(), EvalError> {
    out.push('{');
    for (key, entries) in keys {
        let before = out.len();
        if before > 1 {
            out.push(',');
        }
        out.push_str(key);
        let mut written = false;
        for entry in entries {
            written = values.write(out, &values.values[*entry], args, row)?;
            if written {
                break;
            }
        }
        if !written {
            out.truncate(before);
        }
    }
    out.push('}');
    Ok(())
}

/// Writes an object whose keys are known now only; `members` and `scratch` hold it until it is sorted.
fn write_with_keys(
    out: &mut String,
    members: &mut Vec<(Range<usize>, Range<usize>)>,
    scratch: &mut String,
    values: &Values,
    args: &[Column],
    row: usize,
) -> Result<(), EvalError> {
    for (entry, member) in values.values.iter().enumerate() {
        let start = scratch.len();
        let key = Strings::new(&args[entry * 2]).get(row).ok_or_else(|| EvalError::Argument {
            function: "JSON_OBJECT",
            reason: "a key is NULL".into(),
        })?;
        scratch.push_str(key);
        let behind_key = scratch.len();
        if values.write(scratch, member, args, row)? {
            members.push((start..behind_key, behind_key..scratch.len()));
        }
    }
    members.sort_by(|(a, _), (b, _)| utf16_order(&scratch[a.clone()], &scratch[b.clone()]));
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        let key = &scratch[key.clone()];
        if members.get(i + 1).is_some_and(|(next, _)| scratch[next.clone()] == *key) {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        write_quoted(out, key);
        out.push(':');
        out.push_str(&scratch[value.clone()]);
    }
    out.push('}');
    Ok(())
}

fn compile_string(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
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
fn texts(
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
