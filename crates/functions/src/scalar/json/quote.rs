//! JSON_QUOTE and JSON_UNQUOTE.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::StringBuilder;
use flott_types::{DataType, Family, TypeRoot};

use super::is_json::kind;
use crate::read::Strings;
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "JSON_QUOTE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |_, _, _| Ok(text_kernel(quote)),
        doc: FunctionDoc {
            syntax: &["JSON_QUOTE(string)"],
            text: "A text as a JSON string: in double quotes, with quotes, backslashes, slashes and white \
                   space other than blanks escaped, and characters beyond ASCII as `\\u` sequences. NULL \
                   for NULL.",
            examples: &[("JSON_QUOTE('a\"b')", "\"a\\\"b\""), ("JSON_QUOTE('é')", "\"\\u00e9\"")],
        },
    },
    ScalarFunction {
        name: "JSON_UNQUOTE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |_, _, _| Ok(text_kernel(unquote)),
        doc: FunctionDoc {
            syntax: &["JSON_UNQUOTE(string)"],
            text: "The text of a JSON string, without its quotes and with its escape sequences replaced; a \
                   text that is no JSON string in quotes stays as it is. NULL for NULL.",
            examples: &[("JSON_UNQUOTE('\"\\u0041b\"')", "Ab"), ("JSON_UNQUOTE('plain')", "plain")],
        },
    },
];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if arg.data_type.family() == Family::CharacterString => {
            Ok(Resolved::unchanged(args, DataType::string().with_nullable(arg.data_type.nullable)))
        }
        [arg] if arg.data_type.root == TypeRoot::Null => {
            Ok(Resolved { parameters: vec![DataType::string()], returns: DataType::string() })
        }
        _ => Err(args.no_match(&["<CHARACTER_STRING>"])),
    }
}

fn text_kernel(write: fn(&mut String, &str)) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let texts = Strings::new(&args[0]);
        let mut results = StringBuilder::new();
        let mut result = String::new();
        for row in 0..context.rows {
            result.clear();
            results.append_option(texts.get(row).map(|text| {
                write(&mut result, text);
                result.as_str()
            }));
        }
        Ok(Arc::new(results.finish()))
    })
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{7f}' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// Whether a text is a JSON string is tested as IS JSON does: by the first string in it. So quotes within
/// it need no backslash.
fn unquote(out: &mut String, text: &str) {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner.filter(|_| kind(text).is_some()).and_then(unescape) {
        Some(unescaped) => out.push_str(&unescaped),
        None => out.push_str(text),
    }
}

/// Replaces escape sequences; `None` if there is one that JSON has not.
fn unescape(text: &str) -> Option<String> {
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let mut buffer = [0; 2];
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.as_str().chars().next() {
                Some('u') => {
                    let digits = chars.as_str().get(1..5)?;
                    units.push(u16::from_str_radix(digits, 16).ok()?);
                    chars = chars.as_str().get(5..)?.chars();
                    continue;
                }
                escaped => {
                    chars.next();
                    match escaped {
                        Some('"' | '\\' | '/') => escaped?,
                        Some('b') => '\u{8}',
                        Some('f') => '\u{c}',
                        Some('n') => '\n',
                        Some('r') => '\r',
                        Some('t') => '\t',
                        // The backslash before the last quote.
                        None => '\\',
                        Some(_) => return None,
                    }
                }
            },
            other => other,
        };
        units.extend_from_slice(c.encode_utf16(&mut buffer));
    }
    Some(char::decode_utf16(units).map(|c| c.unwrap_or('?')).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        for (text, quoted) in [
            ("", r#""""#),
            ("a\"\\/\u{8}\u{c}\n\r\t", r#""a\"\\\/\b\f\n\r\t""#),
            ("\u{1}\u{7f}", "\"\u{1}\u{7f}\""),
            ("é😀", r#""\u00e9\ud83d\ude00""#),
        ] {
            let mut out = String::new();
            quote(&mut out, text);
            assert_eq!(out, quoted);
        }
    }

    #[test]
    fn only_strings_are_unquoted() {
        for (text, unquoted) in [
            (r#""a\tb\/\u00e9\ud83d\ude00""#, "a\tb/é😀"),
            (r#""\ud83d\u0041\ude00""#, "?A?"),
            (r#""a"b""#, "a\"b"),
            ("\"a\"\nb\"", "a\"\nb"),
            (r#""a"\""#, "a\"\\"),
            (r#""""#, ""),
            (r#"""#, r#"""#),
            (r#""a"\q""#, r#""a"\q""#),
            (r#""a\q""#, r#""a\q""#),
            (r#""\u12""#, r#""\u12""#),
            ("\"a\nb\"", "\"a\nb\""),
            (r#"[1, 2]"#, r#"[1, 2]"#),
            (r#" "a" "#, r#" "a" "#),
        ] {
            let mut out = String::new();
            unquote(&mut out, text);
            assert_eq!(out, unquoted);
        }
    }
}
