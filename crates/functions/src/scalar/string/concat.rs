//! `||`, CONCAT, CONCAT_WS, ELT.

use arrow::array::ArrayRef;
use flott_types::{DataType, Family, TypeRoot, Value};

use super::rows::{Integers, byte_strings, texts};
use super::signature::{Kind, MAX_LENGTH, immutable, resolve, strict, strict_string, text_length};
use crate::read::{Bytes, Strings};
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Resolved, ScalarFunction,
    SignatureError, kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "||",
        |args| {
            let forms: &[&[Kind]] = &[&[Kind::Text, Kind::Text]];
            resolve(args, forms, &["<STRING> || <STRING>"], |args| {
                let (left, right) = (args.data_type(0), args.data_type(1));
                let length = text_length(left).saturating_add(text_length(right)).min(MAX_LENGTH);
                let fixed = [left, right].iter().all(|ty| matches!(ty.root, TypeRoot::Char(_)));
                strict(args, if fixed { TypeRoot::Char(length) } else { TypeRoot::Varchar(length) })
            })
        },
        |_, _, _| Ok(kernel(concat)),
        FunctionDoc {
            syntax: &["string1 || string2"],
            text: "The strings one after the other; NULL if one is NULL.",
            examples: &[("'foo' || 'bar'", "foobar")],
        },
    ),
    immutable(
        "CONCAT",
        |args| all_text(args, "CONCAT(<CHARACTER>...)"),
        |_, _, _| Ok(kernel(concat)),
        FunctionDoc {
            syntax: &["CONCAT(string1, string2, ...)"],
            text: "The strings one after the other; NULL if one is NULL.",
            examples: &[
                ("CONCAT('a', 'b', 'c')", "abc"),
                ("CONCAT('a', CAST(NULL AS STRING))", "NULL"),
            ],
        },
    ),
    immutable(
        "CONCAT_WS",
        |args| all_text(args, "CONCAT_WS(<CHARACTER>, <CHARACTER>...)"),
        |_, _, _| Ok(kernel(concat_with_separator)),
        FunctionDoc {
            syntax: &["CONCAT_WS(separator, string1, string2, ...)"],
            text: "The strings that are not NULL with the separator between them; NULL if the \
                   separator is NULL.",
            examples: &[("CONCAT_WS('-', 'a', CAST(NULL AS STRING), 'c')", "a-c")],
        },
    ),
    immutable(
        "ELT",
        resolve_elt,
        |_, returns, _| {
            let bytes = returns.family() == Family::BinaryString;
            Ok(kernel(
                move |args, context| {
                    if bytes { choose_bytes(args, context) } else { choose_text(args, context) }
                },
            ))
        },
        FunctionDoc {
            syntax: &["ELT(index, expr1, expr2, ...)"],
            text: "The expression at the index, from 1; NULL if there is none. The expressions are \
                   strings, or all byte strings.",
            examples: &[("ELT(2, 'scala', 'java')", "java"), ("ELT(3, 'a', 'b')", "NULL")],
        },
    ),
];

/// One or more strings in, STRING out.
fn all_text(args: &CallArgs, form: &'static str) -> Result<Resolved, SignatureError> {
    let text = |ty: &DataType| ty.family() == Family::CharacterString;
    if args.is_empty() || !args.args.iter().all(|arg| text(&arg.data_type)) {
        return Err(args.no_match(&[form]));
    }
    Ok(Resolved::unchanged(args, strict_string(args)))
}

fn concat(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let parts: Vec<Strings> = args.iter().map(Strings::new).collect();
    texts(context.rows, |row, out| {
        for part in &parts {
            out.push_str(part.get(row)?);
        }
        Some(())
    })
}

fn concat_with_separator(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let separator = Strings::new(&args[0]);
    let parts: Vec<Strings> = args[1..].iter().map(Strings::new).collect();
    texts(context.rows, |row, out| {
        let separator = separator.get(row)?;
        for (i, part) in parts.iter().filter_map(|part| part.get(row)).enumerate() {
            if i > 0 {
                out.push_str(separator);
            }
            out.push_str(part);
        }
        Some(())
    })
}

fn resolve_elt(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let expected =
        ["ELT(<INTEGER>, <CHARACTER>, <CHARACTER>...)", "ELT(<INTEGER>, <BINARY>, <BINARY>...)"];
    let types = args.types();
    let [index, items @ ..] = types.as_slice() else { return Err(args.no_match(&expected)) };
    let family = items
        .iter()
        .map(DataType::family)
        .find(|family| *family != Family::Null)
        .unwrap_or(Family::CharacterString);
    let one_family = items.iter().all(|ty| [family, Family::Null].contains(&ty.family()));
    let strings = [Family::CharacterString, Family::BinaryString].contains(&family);
    if !index.root.is_integer() || items.is_empty() || !one_family || !strings {
        return Err(args.no_match(&expected));
    }
    if let Some(index @ ..0) = args.literal(0).and_then(Value::as_int) {
        return Err(SignatureError::Argument {
            name: args.name.clone(),
            position: 1,
            reason: format!("the index counts from 1 and cannot be {index}"),
        });
    }
    let returns = item_type(items, family).nullable();
    let parameters = types
        .iter()
        .map(|ty| if ty.root == TypeRoot::Null { returns.clone() } else { ty.clone() })
        .collect();
    Ok(Resolved { parameters, returns })
}

/// The type of all items if they agree, else the varying type of the longest.
fn item_type(items: &[DataType], family: Family) -> TypeRoot {
    if items.iter().all(|ty| ty.root == items[0].root) {
        return items[0].root.clone();
    }
    let length = |ty: &DataType| match ty.root {
        TypeRoot::Char(n) | TypeRoot::Varchar(n) => n,
        TypeRoot::Binary(n) | TypeRoot::Varbinary(n) => n,
        _ => 1,
    };
    let longest = items.iter().map(length).max().unwrap_or(1);
    match family {
        Family::BinaryString => TypeRoot::Varbinary(longest),
        _ => TypeRoot::Varchar(longest),
    }
}

fn choose_text(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let index = Integers::new(&args[0]);
    let items: Vec<Strings> = args[1..].iter().map(Strings::new).collect();
    texts(context.rows, |row, out| {
        out.push_str(item(&items, index.get(row)?)?.get(row)?);
        Some(())
    })
}

fn choose_bytes(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let index = Integers::new(&args[0]);
    let items: Vec<Bytes> = args[1..].iter().map(Bytes::new).collect();
    byte_strings(context.rows, |row, out| {
        let chosen = index.get(row).and_then(|index| item(&items, index)?.get(row));
        Ok(chosen.map(|bytes| out.extend_from_slice(bytes)))
    })
}

/// The item at an index from 1.
fn item<T>(items: &[T], index: i64) -> Option<&T> {
    items.get(usize::try_from(index.checked_sub(1)?).ok()?)
}
