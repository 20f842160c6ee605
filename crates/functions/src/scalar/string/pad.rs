//! LPAD, RPAD, REPEAT.

use std::char::DecodeUtf16Error;

use super::rows::{Integers, MAX_VALUE, too_long, try_texts};
use super::signature::{Kind, immutable, resolve, strict_string};
use crate::read::Strings;
use crate::{
    CallArgs, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "LPAD",
        |args| resolve_pad(args, "LPAD(<CHARACTER>, <INTEGER>, <CHARACTER>)"),
        |_, _, _| Ok(pad_kernel("LPAD", true)),
        FunctionDoc {
            syntax: &["LPAD(string, length, pad)"],
            text: "The string brought to the length, in UTF-16 units, by `pad` repeated before it, \
                   or by leaving out its end. NULL if the length is negative or `pad` is empty.",
            examples: &[("LPAD('hi', 5, 'xy')", "xyxhi"), ("LPAD('hi', 1, '??')", "h")],
        },
    ),
    immutable(
        "RPAD",
        |args| resolve_pad(args, "RPAD(<CHARACTER>, <INTEGER>, <CHARACTER>)"),
        |_, _, _| Ok(pad_kernel("RPAD", false)),
        FunctionDoc {
            syntax: &["RPAD(string, length, pad)"],
            text: "The string brought to the length, in UTF-16 units, by `pad` repeated after it, \
                   or by leaving out its end. NULL if the length is negative or `pad` is empty.",
            examples: &[("RPAD('hi', 5, 'xy')", "hixyx")],
        },
    ),
    immutable(
        "REPEAT",
        |args| {
            let forms: &[&[Kind]] = &[&[Kind::Text, Kind::Integer]];
            resolve(args, forms, &["REPEAT(<CHARACTER>, <INTEGER>)"], strict_string)
        },
        |_, _, _| {
            Ok(kernel(|args, context| {
                let (text, count) = (Strings::new(&args[0]), Integers::new(&args[1]));
                try_texts(context.rows, |row, out| {
                    let (Some(text), Some(count)) = (text.get(row), count.get(row)) else {
                        return Ok(None);
                    };
                    let count = usize::try_from(count).unwrap_or(0);
                    if text.len().saturating_mul(count) > MAX_VALUE {
                        return Err(too_long("REPEAT"));
                    }
                    out.extend(std::iter::repeat_n(text, count));
                    Ok(Some(()))
                })
            }))
        },
        FunctionDoc {
            syntax: &["REPEAT(string, count)"],
            text: "The string repeated; the empty string if the count is not positive.",
            examples: &[("REPEAT('ab', 3)", "ababab"), ("REPEAT('ab', 0)", "")],
        },
    ),
];

fn resolve_pad(args: &CallArgs, form: &'static str) -> Result<Resolved, SignatureError> {
    resolve(args, &[&[Kind::Text, Kind::Integer, Kind::Text]], &[form], strict_string)
}

fn pad_kernel(function: &'static str, before: bool) -> Box<dyn Kernel> {
    kernel(move |args, context| {
        let (text, pad) = (Strings::new(&args[0]), Strings::new(&args[2]));
        let length = Integers::new(&args[1]);
        try_texts(context.rows, |row, out| {
            let (Some(text), Some(length), Some(pad)) =
                (text.get(row), length.get(row), pad.get(row))
            else {
                return Ok(None);
            };
            let Ok(length) = usize::try_from(length) else { return Ok(None) };
            if pad.is_empty() {
                return Ok(None);
            }
            write_padded(out, text, length, pad, before, function)?;
            Ok(Some(()))
        })
    })
}

/// Appends `text` brought to `length` UTF-16 units.
fn write_padded(
    out: &mut String,
    text: &str,
    length: usize,
    pad: &str,
    before: bool,
    function: &'static str,
) -> Result<(), EvalError> {
    if length > MAX_VALUE {
        return Err(too_long(function));
    }
    if !text.is_ascii() || !pad.is_ascii() {
        write_padded_units(out, text, length, pad, before);
        return Ok(());
    }
    let missing = length.saturating_sub(text.len());
    if !before {
        out.push_str(&text[..text.len().min(length)]);
    }
    let end = out.len() + missing;
    out.extend(std::iter::repeat_n(pad, missing / pad.len()));
    out.push_str(&pad[..end - out.len()]);
    if before {
        out.push_str(&text[..text.len().min(length)]);
    }
    Ok(())
}

/// The same in UTF-16; a character cut in half becomes `?`, as Java writes it.
fn write_padded_units(out: &mut String, text: &str, length: usize, pad: &str, before: bool) {
    let kept = text.encode_utf16().take(length);
    let padding = pad.encode_utf16().cycle().take(length - kept.clone().count());
    let or_half = |unit: Result<char, DecodeUtf16Error>| unit.unwrap_or('?');
    if before {
        out.extend(char::decode_utf16(padding.chain(kept)).map(or_half));
    } else {
        out.extend(char::decode_utf16(kept.chain(padding)).map(or_half));
    }
}

#[cfg(test)]
mod tests {
    use super::write_padded;

    #[test]
    fn padding_counts_utf16_units() {
        for (text, length, pad, left, right) in [
            ("hi", 5, "xy", "xyxhi", "hixyx"),
            ("hi", 1, "x", "h", "h"),
            ("hi", 0, "x", "", ""),
            ("", 3, "ab", "aba", "aba"),
            ("中", 3, "😀", "😀中", "中😀"),
            ("😀", 1, "x", "?", "?"),
            ("hi", 3, "😀", "?hi", "hi?"),
            ("h😀", 2, "x", "h?", "h?"),
        ] {
            for (before, wanted) in [(true, left), (false, right)] {
                let mut out = String::from("|");
                write_padded(&mut out, text, length, pad, before, "LPAD").expect("short");
                assert_eq!(&out[1..], wanted, "{text} {length} {pad}");
            }
        }
        assert!(write_padded(&mut String::new(), "a", 1 << 40, "b", true, "LPAD").is_err());
    }
}
