//! TRIM, LTRIM, RTRIM, BTRIM.

use flott_types::DataType;

use super::rows::texts;
use super::signature::{
    Kind, immutable, resolve, resolve_with_null, strict, strict_string, varying,
};
use crate::read::Strings;
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "TRIM",
        |args| {
            let expected = "TRIM([BOTH|LEADING|TRAILING] <STRING> FROM <STRING>)";
            resolve(args, &[&[Kind::Text, Kind::Text]], &[expected], |args| {
                strict(args, varying(args.data_type(1)))
            })
        },
        |args, _, _| {
            let (start, end) = match args.symbols.first().map(AsRef::as_ref) {
                Some("LEADING") => (true, false),
                Some("TRAILING") => (false, true),
                _ => (true, true),
            };
            Ok(trim_kernel(1, Some(0), start, end))
        },
        FunctionDoc {
            syntax: &["TRIM([BOTH | LEADING | TRAILING] [characters] FROM string)", "TRIM(string)"],
            text: "The string without the characters at its ends (BOTH is the default) that are in \
                   the set `characters`, blanks by default.",
            examples: &[
                ("TRIM('  ab c  ')", "ab c"),
                ("TRIM(LEADING 'xy' FROM 'xyyxabcx')", "abcx"),
            ],
        },
    ),
    immutable(
        "LTRIM",
        |args| one_side(args, &["LTRIM(<CHARACTER>)", "LTRIM(<CHARACTER>, <CHARACTER>)"]),
        |args, _, _| Ok(trim_kernel(0, characters(args), true, false)),
        FunctionDoc {
            syntax: &["LTRIM(string[, characters])"],
            text: "The string without the characters at its start that are in the set \
                   `characters`, blanks by default.",
            examples: &[("LTRIM('xyxab', 'yx')", "ab")],
        },
    ),
    immutable(
        "RTRIM",
        |args| one_side(args, &["RTRIM(<CHARACTER>)", "RTRIM(<CHARACTER>, <CHARACTER>)"]),
        |args, _, _| Ok(trim_kernel(0, characters(args), false, true)),
        FunctionDoc {
            syntax: &["RTRIM(string[, characters])"],
            text: "The string without the characters at its end that are in the set `characters`, \
                   blanks by default.",
            examples: &[("RTRIM('abxyx', 'xy')", "ab")],
        },
    ),
    immutable(
        "BTRIM",
        |args| {
            let forms: &[&[Kind]] = &[&[Kind::Text], &[Kind::Text, Kind::Text]];
            let expected = ["BTRIM(<CHARACTER>)", "BTRIM(<CHARACTER>, <CHARACTER>)"];
            resolve_with_null(args, forms, &expected, strict_string)
        },
        |args, _, _| Ok(trim_kernel(0, characters(args), true, true)),
        FunctionDoc {
            syntax: &["BTRIM(string[, characters])"],
            text: "The string without the characters at its ends that are in the set \
                   `characters`, blanks by default.",
            examples: &[("BTRIM('xxabxx', 'x')", "ab")],
        },
    ),
];

fn one_side(args: &CallArgs, expected: &[&'static str]) -> Result<Resolved, SignatureError> {
    let forms: &[&[Kind]] = &[&[Kind::Text], &[Kind::Text, Kind::Text]];
    resolve(args, forms, expected, |args| -> DataType { strict(args, varying(args.data_type(0))) })
}

/// The place of the set of characters, when it is given after the string.
fn characters(args: &CallArgs) -> Option<usize> {
    (args.len() > 1).then_some(1)
}

/// Trims the argument at `text` by the set of characters at `set`, or by blanks.
fn trim_kernel(text: usize, set: Option<usize>, start: bool, end: bool) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let text = Strings::new(&args[text]);
        let set = set.map(|set| Strings::new(&args[set]));
        texts(context.rows, |row, out| {
            let set = match set {
                Some(set) => set.get(row)?,
                None => " ",
            };
            out.push_str(trim(text.get(row)?, set, start, end));
            Some(())
        })
    })
}

fn trim<'a>(text: &'a str, set: &str, start: bool, end: bool) -> &'a str {
    let mut rest = text;
    if start {
        rest = rest.trim_start_matches(|c| set.contains(c));
    }
    if end {
        rest = rest.trim_end_matches(|c| set.contains(c));
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::trim;

    #[test]
    fn characters_are_a_set() {
        assert_eq!(trim("xyyxabcyxy", "xy", true, true), "abc");
        assert_eq!(trim("😀中a中", "中😀", true, false), "a中");
        assert_eq!(trim("aaa", "a", false, true), "");
        assert_eq!(trim("abc", "", true, true), "abc");
        assert_eq!(trim("\ttab\t", " ", true, true), "\ttab\t");
    }
}
