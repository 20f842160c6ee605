//! Values of JSON_OBJECT and JSON_ARRAY, and which of them are JSON already.

use std::sync::Arc;

use arrow::array::Array;

use super::encode::Encoder;
use super::text::Node;
use crate::read::Strings;
use crate::{CallArgs, Column, EvalError, Expr, SignatureError};

/// Before the position, from 0, of an argument that is the result of JSON_OBJECT or JSON_ARRAY.
const CONSTRUCTED: &str = "JSON ";

/// Before the position, from 0, of an argument that is a text to read as JSON.
const UNREAD: &str = "JSON TEXT ";

/// Notes in the symbols of a call which arguments of JSON_OBJECT, JSON_ARRAY and JSON_STRING are JSON
/// already; of the former two, a call of JSON is replaced by its argument. It is noted while binding, as
/// constant arguments are folded later.
pub(crate) fn mark_json(
    function: &str,
    args: Vec<Expr>,
    mut symbols: Vec<Arc<str>>,
) -> (Vec<Expr>, Vec<Arc<str>>) {
    if !matches!(function, "JSON_OBJECT" | "JSON_ARRAY" | "JSON_STRING") {
        return (args, symbols);
    }
    let mut mark = |(position, arg): (usize, Expr)| {
        if function == "JSON_OBJECT" && position % 2 == 0 {
            return arg;
        }
        match arg {
            Expr::Call { function: inner, mut args, .. }
                if inner.name == "JSON" && args.len() == 1 && function != "JSON_STRING" =>
            {
                symbols.push(format!("{UNREAD}{position}").into());
                args.remove(0)
            }
            Expr::Call { function: inner, .. }
                if matches!(inner.name, "JSON_OBJECT" | "JSON_ARRAY") =>
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

/// The values of a call and how they are written.
pub struct Values {
    pub values: Vec<Member>,
    keeps_nulls: bool,
}

/// A value of a call.
pub struct Member {
    argument: usize,
    form: Form,
}

/// How a value is written.
pub enum Form {
    /// A value of SQL.
    Value(Encoder),
    /// A text that JSON_OBJECT or JSON_ARRAY made.
    Json,
    /// A text to read as JSON.
    Text,
}

/// The form of an argument that [`mark_json`] made a note of.
pub fn marked(args: &CallArgs, argument: usize) -> Option<Form> {
    args.symbols.iter().find_map(|symbol| {
        let is = |prefix| {
            symbol.strip_prefix(prefix)?.parse::<usize>().ok().filter(|at| *at == argument)
        };
        is(UNREAD).map(|_| Form::Text).or_else(|| is(CONSTRUCTED).map(|_| Form::Json))
    })
}

impl Values {
    /// The values that start at an argument, every `step` arguments.
    pub fn new(args: &CallArgs, start: usize, step: usize) -> Result<Self, SignatureError> {
        let keeps_nulls = args.symbols.first().is_none_or(|symbol| symbol.as_ref() == "NULL");
        let member = |argument: usize| {
            let form = match marked(args, argument) {
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
    pub fn write(
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
