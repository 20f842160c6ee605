//! REPLACE, TRANSLATE, OVERLAY, REVERSE.

use flott_types::{DataType, TypeRoot};
use memchr::memmem;

use super::code_points::offset_of;
use super::rows::{Integers, texts};
use super::signature::{Kind, MAX_LENGTH, immutable, resolve, strict, strict_string, text_length};
use crate::read::Strings;
use crate::{FunctionDoc, ScalarFunction, kernel, total_kernel};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "REPLACE",
        |args| {
            let expected = "REPLACE(<CHARACTER>, <CHARACTER>, <CHARACTER>)";
            resolve(args, &[&[Kind::Text; 3]], &[expected], strict_string)
        },
        |_, _, _| {
            Ok(kernel(|args, context| {
                let [text, search, replacement] = [0, 1, 2].map(|i| Strings::new(&args[i]));
                texts(context.rows, |row, out| {
                    replace(text.get(row)?, search.get(row)?, replacement.get(row)?, out);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["REPLACE(string, search, replacement)"],
            text: "The string with every appearance of `search`, from the left and without \
                   overlap, replaced. An empty `search` appears around every character.",
            examples: &[
                ("REPLACE('hello world', 'world', 'flow')", "hello flow"),
                ("REPLACE('ababab', 'abab', 'z')", "zab"),
            ],
        },
    ),
    immutable(
        "TRANSLATE",
        |args| {
            let expected = "TRANSLATE(<CHARACTER>, <CHARACTER>, <CHARACTER>)";
            resolve(args, &[&[Kind::Text; 3]], &[expected], |args| {
                DataType::string().with_nullable(args.data_type(0).nullable)
            })
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let [text, from, to] = [0, 1, 2].map(|i| Strings::new(&args[i]));
                let mut table = Translation::default();
                texts(context.rows, |row, out| {
                    let text = text.get(row)?;
                    match from.get(row) {
                        None => out.push_str(text),
                        Some(from) => {
                            table.set(from, to.get(row).unwrap_or_default());
                            table.translate(text, out);
                        }
                    }
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["TRANSLATE(string, from, to)"],
            text: "The string with every character of `from` replaced by the one at the same place \
                   in `to`, or dropped if `to` is shorter; the first appearance in `from` counts. \
                   NULL as `from` changes nothing, NULL as `to` is the empty string.",
            examples: &[("TRANSLATE('hello', 'el', 'i')", "hio")],
        },
    ),
    immutable(
        "OVERLAY",
        |args| {
            let forms: &[&[Kind]] = &[
                &[Kind::Text, Kind::Text, Kind::Integer],
                &[Kind::Text, Kind::Text, Kind::Integer, Kind::Integer],
            ];
            let expected = [
                "OVERLAY(<STRING> PLACING <STRING> FROM <INTEGER>)",
                "OVERLAY(<STRING> PLACING <STRING> FROM <INTEGER> FOR <INTEGER>)",
            ];
            resolve(args, forms, &expected, |args| {
                let length = text_length(args.data_type(0))
                    .saturating_add(text_length(args.data_type(1)))
                    .min(MAX_LENGTH);
                strict(args, TypeRoot::Varchar(length))
            })
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let [text, placed] = [0, 1].map(|i| Strings::new(&args[i]));
                let start = Integers::new(&args[2]);
                let length = args.get(3).map(Integers::new);
                texts(context.rows, |row, out| {
                    let (text, placed) = (text.get(row)?, placed.get(row)?);
                    let length = match length {
                        Some(length) => length.get(row)?,
                        None => placed.chars().count() as i64,
                    };
                    overlay(text, placed, start.get(row)?, length, out);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["OVERLAY(string1 PLACING string2 FROM start [FOR length])"],
            text: "string1 with `length` characters (as many as string2 has by default) from the \
                   character `start` on replaced by string2. A start outside of string1 changes \
                   nothing; a length that is not positive, or reaches the last character, replaces \
                   all the rest.",
            examples: &[
                ("OVERLAY('abcdef' PLACING 'XY' FROM 3 FOR 1)", "abXYdef"),
                ("OVERLAY('abcdef' PLACING 'XY' FROM 3 FOR -1)", "abXY"),
            ],
        },
    ),
    immutable(
        "REVERSE",
        |args| resolve(args, &[&[Kind::Text]], &["REVERSE(<CHARACTER>)"], |_| DataType::string()),
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let text = Strings::new(&args[0]);
                texts(context.rows, |row, out| {
                    out.extend(text.get(row)?.chars().rev());
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["REVERSE(string)"],
            text: "The characters of the string from the last to the first.",
            examples: &[("REVERSE('abc')", "cba")],
        },
    ),
];

fn replace(text: &str, search: &str, replacement: &str, out: &mut String) {
    if search.is_empty() {
        out.push_str(replacement);
        for c in text.chars() {
            out.push(c);
            out.push_str(replacement);
        }
        return;
    }
    let mut rest = 0;
    for found in memmem::find_iter(text.as_bytes(), search.as_bytes()) {
        out.push_str(&text[rest..found]);
        out.push_str(replacement);
        rest = found + search.len();
    }
    out.push_str(&text[rest..]);
}

/// The last pair of `from` and `to`, worked out once while it stays the same.
#[derive(Default)]
struct Translation {
    from: String,
    to: String,
    /// For each character of `from` what it becomes; nothing when it is dropped.
    pairs: Vec<(char, Option<char>)>,
}

impl Translation {
    fn set(&mut self, from: &str, to: &str) {
        if self.from == from && self.to == to {
            return;
        }
        self.from.replace_range(.., from);
        self.to.replace_range(.., to);
        let mut to = to.chars();
        self.pairs.clear();
        self.pairs.extend(from.chars().map(|c| (c, to.next())));
    }

    fn translate(&self, text: &str, out: &mut String) {
        out.extend(text.chars().filter_map(
            |c| match self.pairs.iter().find(|(from, _)| *from == c) {
                Some((_, to)) => *to,
                None => Some(c),
            },
        ));
    }
}

/// Appends `text` with `length` characters from `start` on replaced by `placed`.
fn overlay(text: &str, placed: &str, start: i64, length: i64, out: &mut String) {
    let from = usize::try_from(start).ok().and_then(|start| start.checked_sub(1));
    let Some(from) = from.map(|n| offset_of(text, n)).filter(|offset| *offset < text.len()) else {
        out.push_str(text);
        return;
    };
    out.push_str(&text[..from]);
    out.push_str(placed);
    if length > 0 {
        let rest = &text[from..];
        out.push_str(&rest[offset_of(rest, usize::try_from(length).unwrap_or(usize::MAX))..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn an_empty_search_stands_around_every_character() {
        assert_eq!(written(|out| replace("abc", "", "x", out)), "xaxbxcx");
        assert_eq!(written(|out| replace("中文中", "中", "国", out)), "国文国");
    }

    #[test]
    fn overlay_outside_of_the_text_changes_nothing() {
        for (text, placed, start, length, wanted) in [
            ("abcdef", "XY", 3, 2, "abXYef"),
            ("abcdef", "XY", 3, 0, "abXY"),
            ("abcdef", "XY", 3, 10, "abXY"),
            ("abcdef", "XY", 7, 2, "abcdef"),
            ("abcdef", "XY", 0, 2, "abcdef"),
            ("abcdef", "", 3, 2, "abef"),
            ("", "XY", 1, 2, ""),
            ("中文字符", "x", 2, 2, "中x符"),
            ("abcdef", "XYZ", 2, i64::MAX, "aXYZ"),
        ] {
            let result = written(|out| overlay(text, placed, start, length, out));
            assert_eq!(result, wanted, "{text} {placed} {start} {length}");
        }
    }

    #[test]
    fn translation_takes_the_first_of_equal_characters() {
        let mut table = Translation::default();
        for (from, to, text, wanted) in
            [("el", "i", "hello", "hio"), ("ll", "xy", "hello", "hexxo"), ("", "xyz", "a", "a")]
        {
            table.set(from, to);
            assert_eq!(written(|out| table.translate(text, out)), wanted);
        }
    }
}
