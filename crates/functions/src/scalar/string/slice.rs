//! SUBSTRING, LEFT, RIGHT.

use super::code_points::{offset_from_end, offset_of};
use super::rows::{Integers, texts};
use super::signature::{Kind, immutable, resolve, varying};
use crate::read::Strings;
use crate::{CallArgs, FunctionDoc, Resolved, ScalarFunction, SignatureError, total_kernel};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        aliases: &["SUBSTR"],
        ..immutable(
            "SUBSTRING",
            |args| {
                let forms: &[&[Kind]] =
                    &[&[Kind::Text, Kind::Integer], &[Kind::Text, Kind::Integer, Kind::Integer]];
                part_of_text(
                    args,
                    forms,
                    &[
                        "SUBSTRING(<CHARACTER>, <INTEGER>)",
                        "SUBSTRING(<CHARACTER>, <INTEGER>, <INTEGER>)",
                    ],
                )
            },
            |_, _, _| {
                Ok(total_kernel(|args, context| {
                    let (text, start) = (Strings::new(&args[0]), Integers::new(&args[1]));
                    let length = args.get(2).map(Integers::new);
                    texts(context.rows, |row, out| {
                        let (text, start) = (text.get(row)?, start.get(row)?);
                        let length = match length {
                            Some(length) => length.get(row)?,
                            None => i64::MAX,
                        };
                        out.push_str(substring(text, start, length)?);
                        Some(())
                    })
                }))
            },
            FunctionDoc {
                syntax: &[
                    "SUBSTRING(string FROM start [FOR length])",
                    "SUBSTRING(string, start[, length])",
                    "SUBSTR(string, start[, length])",
                ],
                text: "The part of the string from the character `start` on, `length` characters \
                       or to the end. The first character is 1, which 0 stands for too; a negative \
                       start counts from the end, and gives the empty string when it lies before \
                       the first character. NULL if the length is negative.",
                examples: &[
                    ("SUBSTRING('abcdef' FROM 2 FOR 3)", "bcd"),
                    ("SUBSTRING('abcdef', -2)", "ef"),
                    ("SUBSTRING('abcdef', 2, -1)", "NULL"),
                ],
            },
        )
    },
    immutable(
        "LEFT",
        |args| {
            part_of_text(args, &[&[Kind::Text, Kind::Integer]], &["LEFT(<CHARACTER>, <INTEGER>)"])
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let (text, length) = (Strings::new(&args[0]), Integers::new(&args[1]));
                texts(context.rows, |row, out| {
                    let (text, length) = (text.get(row)?, length.get(row)?);
                    out.push_str(&text[..offset_of(text, clamp(length))]);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["LEFT(string, length)"],
            text: "The first characters of the string; the empty string if the length is not \
                   positive.",
            examples: &[("LEFT('abcdef', 2)", "ab"), ("LEFT('abcdef', -1)", "")],
        },
    ),
    immutable(
        "RIGHT",
        |args| {
            part_of_text(args, &[&[Kind::Text, Kind::Integer]], &["RIGHT(<CHARACTER>, <INTEGER>)"])
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let (text, length) = (Strings::new(&args[0]), Integers::new(&args[1]));
                texts(context.rows, |row, out| {
                    let (text, length) = (text.get(row)?, length.get(row)?);
                    out.push_str(&text[offset_from_end(text, clamp(length)).unwrap_or(0)..]);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["RIGHT(string, length)"],
            text: "The last characters of the string; the empty string if the length is not \
                   positive.",
            examples: &[("RIGHT('abcdef', 2)", "ef"), ("RIGHT('abcdef', 10)", "abcdef")],
        },
    ),
];

/// VARCHAR as long as the first argument, always nullable.
fn part_of_text(
    args: &CallArgs,
    forms: &[&[Kind]],
    expected: &[&'static str],
) -> Result<Resolved, SignatureError> {
    resolve(args, forms, expected, |args| varying(args.data_type(0)).nullable())
}

/// SQL's SUBSTRING in Flink's reading; `None` is NULL.
fn substring(text: &str, start: i64, length: i64) -> Option<&str> {
    let length = usize::try_from(length).ok()?;
    let from = if start < 0 {
        match offset_from_end(text, clamp(start.saturating_neg())) {
            Some(offset) => offset,
            None => return Some(""),
        }
    } else {
        offset_of(text, clamp(start.saturating_sub(1)))
    };
    let rest = &text[from..];
    Some(&rest[..offset_of(rest, length)])
}

/// A number of characters; negative ones are none.
fn clamp(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::substring;

    #[test]
    fn substring_counts_code_points_from_either_end() {
        for (text, start, length, wanted) in [
            ("abcdef", 2, 3, Some("bcd")),
            ("abcdef", 0, 2, Some("ab")),
            ("abcdef", -10, 5, Some("")),
            ("abcdef", 7, 1, Some("")),
            ("abcdef", -2, 1, Some("e")),
            ("abc", i64::MIN, 2, Some("")),
            ("abc", i64::MAX, i64::MAX, Some("")),
            ("a😀b", 2, 1, Some("😀")),
            ("a😀b", -2, 1, Some("😀")),
            ("", 1, -1, None),
            ("abc", 9, -1, None),
        ] {
            assert_eq!(substring(text, start, length), wanted, "{text} {start} {length}");
        }
    }
}
