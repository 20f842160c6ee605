//! SPLIT_INDEX, SPLIT, STR_TO_MAP.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, StructArray};
use arrow::datatypes::DataType as Arrow;
use flott_types::{DataType, arrow_type};
use memchr::memmem;

use super::rows::{Integers, Shape, Texts, text_lists, texts};
use super::signature::{Kind, immutable, resolve, resolve_with_null};
use crate::hash_order;
use crate::read::Strings;
use crate::scalar::pattern::{Patterns, Regexp};
use crate::{Column, EvalContext, EvalError, FunctionDoc, ScalarFunction, kernel, total_kernel};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "SPLIT_INDEX",
        |args| {
            let forms: &[&[Kind]] = &[
                &[Kind::Text, Kind::Text, Kind::Integer],
                &[Kind::Text, Kind::Integer, Kind::Integer],
            ];
            let expected = [
                "SPLIT_INDEX(<CHARACTER>, <CHARACTER>, <INTEGER>)",
                "SPLIT_INDEX(<CHARACTER>, <INTEGER>, <INTEGER>)",
            ];
            resolve(args, forms, &expected, |_| DataType::string())
        },
        |args, _, _| {
            let code = args.data_type(1).root.is_integer();
            Ok(total_kernel(move |args, context| {
                if code { split_index_by_code(args, context) } else { split_index(args, context) }
            }))
        },
        FunctionDoc {
            syntax: &["SPLIT_INDEX(string, separator, index)"],
            text: "The part at the index, from 0, of the string cut at every separator; NULL if \
                   there is none, and for the empty string. The separator is a string, or the code \
                   of a character from 1 to 255; an empty one cuts at every white space.",
            examples: &[("SPLIT_INDEX('a,,c', ',', 2)", "c"), ("SPLIT_INDEX('a', ',', 1)", "NULL")],
        },
    ),
    immutable(
        "SPLIT",
        |args| {
            let form = "SPLIT(<CHARACTER>, <CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text, Kind::Text]], &[form], |args| {
                DataType::array(DataType::string()).with_nullable(args.any_nullable())
            })
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let (text, separator) = (Strings::new(&args[0]), Strings::new(&args[1]));
                text_lists(context.rows, |row, parts| {
                    let both = text.get(row).zip(separator.get(row));
                    Ok(both.map(|(text, separator)| {
                        split(text, separator, |part| parts.push(Some(part)));
                    }))
                })
            }))
        },
        FunctionDoc {
            syntax: &["SPLIT(string, separator)"],
            text: "The parts of the string cut at every separator, empty ones included. An empty \
                   separator cuts between all characters; the empty string has no parts.",
            examples: &[("SPLIT('a,,c', ',')", "[a, , c]"), ("SPLIT('abc', '')", "[a, b, c]")],
        },
    ),
    immutable(
        "STR_TO_MAP",
        |args| {
            let forms: &[&[Kind]] = &[&[Kind::Text], &[Kind::Text; 3]];
            let expected =
                ["STR_TO_MAP(<CHARACTER>)", "STR_TO_MAP(<CHARACTER>, <CHARACTER>, <CHARACTER>)"];
            resolve(args, forms, &expected, |_| {
                DataType::map(DataType::string(), DataType::string())
            })
        },
        |args, returns, _| {
            let separator = |position: usize, default| {
                let text = if args.len() > 1 { args.literal_str(position) } else { Some(default) };
                Patterns::new(text, |pattern| {
                    Regexp::new(pattern).map_err(|error| error.of("STR_TO_MAP"))
                })
            };
            let pairs = separator(1, ",")?;
            let keys = separator(2, "=")?;
            let layout = arrow_type(returns);
            Ok(kernel(move |args, context| str_to_map(args, context, &pairs, &keys, &layout)))
        },
        FunctionDoc {
            syntax: &["STR_TO_MAP(string[, pair_separator, key_value_separator])"],
            text: "The map of a text of pairs, cut by two separators that are regular expressions, \
                   `,` and `=` by default. A pair without second separator has a NULL value; of \
                   equal keys the last counts.",
            examples: &[("STR_TO_MAP('k1=v1,k2=v2')", "{k1=v1, k2=v2}")],
        },
    ),
];

fn split_index(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let (text, separator) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let index = Integers::new(&args[2]);
    texts(context.rows, |row, out| {
        let (text, separator) = (text.get(row)?, separator.get(row)?);
        let index = usize::try_from(index.get(row)?).ok()?;
        if text.is_empty() {
            return None;
        }
        out.push_str(match separator.as_bytes() {
            [] => text.split(is_java_whitespace).nth(index)?,
            [byte] => nth_part_by_byte(text, *byte, index)?,
            _ => nth_part(text, separator, index)?,
        });
        Some(())
    })
}

fn split_index_by_code(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let (text, code) = (Strings::new(&args[0]), Integers::new(&args[1]));
    let index = Integers::new(&args[2]);
    texts(context.rows, |row, out| {
        let text = text.get(row)?;
        let code = u8::try_from(code.get(row)?).ok().filter(|code| *code > 0)?;
        let index = usize::try_from(index.get(row)?).ok()?;
        if text.is_empty() {
            return None;
        }
        out.push_str(if code.is_ascii() {
            nth_part_by_byte(text, code, index)?
        } else {
            text.split(char::from(code)).nth(index)?
        });
        Some(())
    })
}

/// The part at an index between separators of one ASCII byte.
fn nth_part_by_byte(text: &str, separator: u8, index: usize) -> Option<&str> {
    let mut ends = memchr::memchr_iter(separator, text.as_bytes());
    let start = match index.checked_sub(1) {
        None => 0,
        Some(before) => ends.nth(before)? + 1,
    };
    Some(&text[start..ends.next().unwrap_or(text.len())])
}

/// The part at an index between separators, which are not empty.
fn nth_part<'a>(text: &'a str, separator: &str, index: usize) -> Option<&'a str> {
    let mut ends = memmem::find_iter(text.as_bytes(), separator.as_bytes());
    let start = match index.checked_sub(1) {
        None => 0,
        Some(before) => ends.nth(before)? + separator.len(),
    };
    Some(&text[start..ends.next().unwrap_or(text.len())])
}

/// Gives the parts of SPLIT.
fn split(text: &str, separator: &str, mut part: impl FnMut(&str)) {
    if text.is_empty() {
        return;
    }
    if separator.is_empty() {
        let mut buffer = [0; 4];
        text.chars().for_each(|c| part(c.encode_utf8(&mut buffer)));
        return;
    }
    let mut start = 0;
    for found in memmem::find_iter(text.as_bytes(), separator.as_bytes()) {
        part(&text[start..found]);
        start = found + separator.len();
    }
    part(&text[start..]);
}

/// Java's `Character.isWhitespace`: Unicode's separators but for no-break spaces, and some controls.
fn is_java_whitespace(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1c'..='\x20' => true,
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}' => false,
        _ => c.is_whitespace(),
    }
}

fn str_to_map(
    args: &[Column],
    context: &EvalContext,
    pair_separators: &Patterns<Regexp>,
    key_separators: &Patterns<Regexp>,
    layout: &Arrow,
) -> Result<ArrayRef, EvalError> {
    let text = Strings::new(&args[0]);
    let [pair_texts, key_texts] = [1, 2].map(|i| args.get(i).map(Strings::new));
    let (mut pair_separators, mut key_separators) =
        (pair_separators.lookup(), key_separators.lookup());
    let (mut keys, mut values) = (Texts::default(), Texts::default());
    let mut shape = Shape::new(context.rows);
    for row in 0..context.rows {
        let (Some(text), Some(pair_text), Some(key_text)) =
            (text.get(row), get_or_empty(pair_texts, row), get_or_empty(key_texts, row))
        else {
            shape.push(keys.len(), false)?;
            continue;
        };
        let pair_separator = pair_separators.of(pair_text)?;
        let key_separator = key_separators.of(key_text)?;
        let (pairs, parts) = pairs_of(text, pair_separator, key_separator)?;
        let hashes: Vec<i32> = pairs.iter().map(|(key, _)| hash_order::of_string(key)).collect();
        for place in hash_order::order(&hashes, parts) {
            let (key, value) = pairs[place];
            keys.push(Some(key));
            values.push(value);
        }
        shape.push(keys.len(), true)?;
    }
    let (Arrow::List(item), (offsets, nulls)) = (layout, shape.finish()) else {
        return Err(EvalError::Internal(format!("STR_TO_MAP into a column of {layout}")));
    };
    let Arrow::Struct(fields) = item.data_type() else {
        return Err(EvalError::Internal(format!("STR_TO_MAP with entries of {layout}")));
    };
    let entries =
        StructArray::try_new(fields.clone(), vec![keys.finish()?, values.finish()?], None)?;
    Ok(Arc::new(ListArray::try_new(item.clone(), offsets, Arc::new(entries), nulls)?))
}

/// The text of a row; empty for an argument that was left out.
fn get_or_empty<'a>(texts: Option<Strings<'a>>, row: usize) -> Option<&'a str> {
    match texts {
        Some(texts) => texts.get(row),
        None => Some(""),
    }
}

/// A key and its value.
type Entry<'a> = (&'a str, Option<&'a str>);

/// The entries of a text, of equal keys the last, and of how many parts they are.
fn pairs_of<'a>(
    text: &'a str,
    pair_separator: &Regexp,
    key_separator: &Regexp,
) -> Result<(Vec<Entry<'a>>, usize), EvalError> {
    let mut pairs: Vec<Entry> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    if text.is_empty() {
        return Ok((pairs, 0));
    }
    let parts = pair_separator.split(text)?;
    let count = parts.len();
    for pair in parts {
        let (key, value) = match key_separator.split_once(pair)? {
            Some((key, value)) => (key, Some(value)),
            None => (pair, None),
        };
        let place = *places.entry(key).or_insert(pairs.len());
        match pairs.get_mut(place) {
            Some(entry) => entry.1 = value,
            None => pairs.push((key, value)),
        }
    }
    Ok((pairs, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_zero() {
        for (text, separator, index, wanted) in [
            ("a,b,c", ",", 2, Some("c")),
            (",a,", ",", 0, Some("")),
            (",a,", ",", 2, Some("")),
            (",a,", ",", 3, None),
            ("abc", ",", 0, Some("abc")),
        ] {
            assert_eq!(nth_part_by_byte(text, separator.as_bytes()[0], index), wanted, "{text}");
        }
        for (text, separator, index, wanted) in [
            ("a||b||c", "||", 1, Some("b")),
            ("aaa", "aa", 0, Some("")),
            ("aaa", "aa", 1, Some("a")),
            ("aaaa", "aa", 2, Some("")),
        ] {
            assert_eq!(nth_part(text, separator, index), wanted, "{text}");
        }
    }

    #[test]
    fn split_keeps_empty_parts() {
        for (text, separator, wanted) in [
            ("a,,c", ",", &["a", "", "c"][..]),
            ("aaa", "aa", &["", "a"]),
            ("", "", &[]),
            ("中😀", "", &["中", "😀"]),
        ] {
            let mut parts = Vec::new();
            split(text, separator, |part| parts.push(part.to_owned()));
            assert_eq!(parts, wanted, "{text}");
        }
    }

    #[test]
    fn pairs_are_cut_as_java_splits() {
        let regexp = |pattern| Regexp::new(pattern).expect("a valid pattern");
        for (text, pair, key, wanted) in [
            ("a,b=1", ",", "=", &[("a", None), ("b", Some("1"))][..]),
            (",a=1", ",", "=", &[("", None), ("a", Some("1"))]),
            ("a=1,,", ",", "=", &[("a", Some("1"))]),
            ("a=1,a=2", ",", "=", &[("a", Some("2"))]),
            ("a=1", ",", "", &[("a", Some("=1"))]),
            ("a=1", "", "=", &[("a", None), ("", Some("")), ("1", None)]),
            ("k$|", "|", "$", &[("k", Some("")), ("$", Some("")), ("|", Some(""))]),
            ("a.b=c", ".", "=", &[]),
            ("a=1b=2", "[0-9]", "=", &[("a", Some("")), ("b", Some(""))]),
        ] {
            let (pairs, _) = pairs_of(text, &regexp(pair), &regexp(key)).expect("no limits hit");
            assert_eq!(pairs, wanted, "{text}");
        }
    }
}
