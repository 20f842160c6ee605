//! POSITION, LOCATE, INSTR.

use arrow::array::{ArrayRef, Int32Array};
use flott_types::TypeRoot;
use memchr::memmem;

use super::code_points::{count, offset_from_end, offset_of};
use super::rows::{Integers, ints};
use super::signature::{Kind, immutable, resolve, strict};
use crate::read::Strings;
use crate::{Column, EvalContext, EvalError, FunctionDoc, ScalarFunction, kernel, total_kernel};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "POSITION",
        |args| {
            let expected =
                ["POSITION(<STRING> IN <STRING>)", "POSITION(<STRING> IN <STRING> FROM <INTEGER>)"];
            resolve(args, SEARCH, &expected, |args| strict(args, TypeRoot::Int))
        },
        |_, _, _| Ok(total_kernel(|args, context| Ok(first_position(args, context)))),
        FunctionDoc {
            syntax: &["POSITION(string1 IN string2 [FROM start])"],
            text: "The first place of string1 in string2, from the character `start` on; 0 if \
                   there is none. The first character is 1. The empty string is found at 1.",
            examples: &[("POSITION('b' IN 'abcabc')", "2"), ("POSITION('z' IN 'abc')", "0")],
        },
    ),
    immutable(
        "LOCATE",
        |args| {
            let expected =
                ["LOCATE(<CHARACTER>, <CHARACTER>)", "LOCATE(<CHARACTER>, <CHARACTER>, <INTEGER>)"];
            resolve(args, SEARCH, &expected, |args| strict(args, TypeRoot::Int))
        },
        |_, _, _| Ok(total_kernel(|args, context| Ok(first_position(args, context)))),
        FunctionDoc {
            syntax: &["LOCATE(string1, string2[, start])"],
            text: "The first place of string1 in string2, from the character `start` on; 0 if \
                   there is none. The first character is 1. The empty string is found at 1.",
            examples: &[("LOCATE('b', 'abcabc', 3)", "5")],
        },
    ),
    immutable(
        "INSTR",
        |args| {
            let forms: &[&[Kind]] = &[
                &[Kind::Text, Kind::Text],
                &[Kind::Text, Kind::Text, Kind::Integer],
                &[Kind::Text, Kind::Text, Kind::Integer, Kind::Integer],
            ];
            let expected = [
                "INSTR(<CHARACTER>, <CHARACTER>)",
                "INSTR(<CHARACTER>, <CHARACTER>, <INTEGER>)",
                "INSTR(<CHARACTER>, <CHARACTER>, <INTEGER>, <INTEGER>)",
            ];
            resolve(args, forms, &expected, |args| strict(args, TypeRoot::Int))
        },
        |_, _, _| Ok(kernel(instr)),
        FunctionDoc {
            syntax: &["INSTR(string1, string2[, start[, nth]])"],
            text: "The place of the `nth` appearance (1 by default) of string2 in string1 from the \
                   character `start` on (1 by default); appearances may overlap. A negative start \
                   searches backwards, from that many characters before the end. 0 if there is \
                   none or start is 0. Fails if `nth` is not positive.",
            examples: &[
                ("INSTR('abcabc', 'b', 1, 2)", "5"),
                ("INSTR('abcabc', 'b', -1)", "5"),
                ("INSTR('abcabc', 'z')", "0"),
            ],
        },
    ),
];

const SEARCH: &[&[Kind]] = &[&[Kind::Text, Kind::Text], &[Kind::Text, Kind::Text, Kind::Integer]];

/// The first place of the first argument in the second, from the place in the third on.
fn first_position(args: &[Column], context: &EvalContext) -> ArrayRef {
    let (needle, text) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let start = args.get(2).map(Integers::new);
    ints(context.rows, |row| {
        let (needle, text) = (needle.get(row)?, text.get(row)?);
        let start = match start {
            Some(start) => start.get(row)?,
            None => 1,
        };
        Some(find(text, needle, start, 1))
    })
}

fn instr(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let (text, needle) = (Strings::new(&args[0]), Strings::new(&args[1]));
    let start = args.get(2).map(Integers::new);
    let nth = args.get(3).map(Integers::new);
    let mut results = Int32Array::builder(context.rows);
    for row in 0..context.rows {
        let start = start.map_or(Some(1), |start| start.get(row));
        let nth = nth.map_or(Some(1), |nth| nth.get(row));
        let (Some(text), Some(needle), Some(start), Some(nth)) =
            (text.get(row), needle.get(row), start, nth)
        else {
            results.append_null();
            continue;
        };
        if nth <= 0 {
            let reason = format!("the number of the appearance must be positive, not {nth}");
            return Err(EvalError::Argument { function: "INSTR", reason });
        }
        results.append_value(match start {
            0 => 0,
            1.. => find(text, needle, start, nth),
            _ => find_backwards(text, needle, start.unsigned_abs(), nth),
        });
    }
    Ok(std::sync::Arc::new(results.finish()))
}

/// The place, from 1, of the `nth` appearance of `needle` from the character `start` on; 0 if there
/// is none.
fn find(text: &str, needle: &str, start: i64, nth: i64) -> i32 {
    if needle.is_empty() {
        return 1;
    }
    let mut at = offset_of(text, usize::try_from(start.saturating_sub(1)).unwrap_or(0));
    for _ in 1..nth {
        match memmem::find(&text.as_bytes()[at..], needle.as_bytes()) {
            Some(found) => at = after_first(text, at + found),
            None => return 0,
        }
    }
    match memmem::find(&text.as_bytes()[at..], needle.as_bytes()) {
        Some(found) => place(text, at + found),
        None => 0,
    }
}

/// As [`find`], backwards from the `from_end`th character from the end.
fn find_backwards(text: &str, needle: &str, from_end: u64, nth: i64) -> i32 {
    if needle.is_empty() {
        return count(text) as i32 + 1;
    }
    // An appearance must end at this offset or before.
    let skipped = usize::try_from(from_end - 1).unwrap_or(usize::MAX);
    let Some(mut end) = offset_from_end(text, skipped) else { return 0 };
    for _ in 1..nth {
        match memmem::rfind(&text.as_bytes()[..end], needle.as_bytes()) {
            Some(found) => end = before_last(text, found + needle.len()),
            None => return 0,
        }
    }
    match memmem::rfind(&text.as_bytes()[..end], needle.as_bytes()) {
        Some(found) => place(text, found),
        None => 0,
    }
}

/// The character at a byte offset, from 1.
fn place(text: &str, offset: usize) -> i32 {
    count(&text[..offset]) as i32 + 1
}

/// The offset behind the character at `offset`.
fn after_first(text: &str, offset: usize) -> usize {
    offset + text[offset..].chars().next().map_or(0, char::len_utf8)
}

/// The offset of the character that ends at `end`.
fn before_last(text: &str, end: usize) -> usize {
    end - text[..end].chars().next_back().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::{find, find_backwards};

    #[test]
    fn appearances_are_counted_forwards() {
        for (text, needle, start, nth, wanted) in [
            ("abcabc", "b", 1, 1, 2),
            ("abcabc", "b", 3, 1, 5),
            ("abcabc", "b", 1, 2, 5),
            ("abcabc", "b", 1, 3, 0),
            ("abcabc", "b", 100, 1, 0),
            ("abcabc", "", 3, 1, 1),
            ("aaaa", "aa", 1, 3, 3),
            ("a😀b😀", "😀", 3, 1, 4),
            ("", "a", -5, 1, 0),
        ] {
            assert_eq!(find(text, needle, start, nth), wanted, "{text} {needle} {start} {nth}");
        }
    }

    #[test]
    fn appearances_are_counted_backwards() {
        for (text, needle, from_end, nth, wanted) in [
            ("abcabc", "b", 1, 1, 5),
            ("abcabc", "b", 1, 2, 2),
            ("abcabc", "b", 2, 1, 5),
            ("abcabc", "b", 5, 1, 2),
            ("abcabc", "b", 6, 1, 0),
            ("abcabc", "b", 7, 1, 0),
            ("abcabc", "bc", 2, 1, 2),
            ("aaaa", "aa", 1, 2, 2),
            ("abcabc", "", 1, 1, 7),
            ("a😀b😀", "😀", 1, 1, 4),
        ] {
            let found = find_backwards(text, needle, from_end, nth);
            assert_eq!(found, wanted, "{text} {needle} {from_end} {nth}");
        }
    }
}
