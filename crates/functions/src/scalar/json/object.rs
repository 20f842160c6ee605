//! How JSON_OBJECT is computed.

use std::ops::Range;

use flott_types::DataType;
use flott_types::text::{utf16_order, write_json_string};

use super::construct::texts;
use super::members::Values;
use crate::read::Strings;
use crate::{CallArgs, Column, EvalError, Kernel, SessionSettings, SignatureError, kernel};

/// The kernel of a call: keys that are all literal are put into their order here, once.
pub fn compile_object(
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
            write_json_string(&mut quoted, keys[same[0]]);
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
        write_json_string(out, key);
        out.push(':');
        out.push_str(&scratch[value.clone()]);
    }
    out.push('}');
    Ok(())
}
