//! ENCODE, DECODE, TO_BASE64, FROM_BASE64.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flott_types::TypeRoot;

use super::charset::{Charset, decode_utf8};
use super::rows::{TextOrBytes, byte_strings, texts, try_texts};
use super::signature::{Kind, MAX_LENGTH, immutable, resolve, strict, strict_string};
use crate::read::{Bytes, Strings};
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, ScalarFunction, SignatureError, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "ENCODE",
        |args| {
            let form = "ENCODE(<CHARACTER>, <CHARACTER>)";
            resolve(args, &[&[Kind::Text; 2]], &[form], |args| {
                strict(args, TypeRoot::Varbinary(MAX_LENGTH))
            })
        },
        |args, _, _| {
            let charset = literal_charset(args)?;
            Ok(kernel(move |args, context| {
                let text = Strings::new(&args[0]);
                byte_strings(context.rows, |row, out| {
                    let Some(charset) = charset_of(charset, &args[1], row, "ENCODE")? else {
                        return Ok(None);
                    };
                    Ok(text.get(row).map(|text| charset.encode(text, out)))
                })
            }))
        },
        FunctionDoc {
            syntax: &["ENCODE(string, charset)"],
            text: "The bytes of the string in a character set: US-ASCII, ISO-8859-1, UTF-8, \
                   UTF-16BE, UTF-16LE, UTF-16 or another by its IANA name. A character that the set \
                   lacks becomes `?`. Fails if the set is unknown.",
            examples: &[("HEX(DECODE(ENCODE('é', 'UTF-8'), 'ISO-8859-1'))", "C383C2A9")],
        },
    ),
    immutable(
        "DECODE",
        |args| {
            let form = "DECODE(<BINARY>, <CHARACTER>)";
            resolve(args, &[&[Kind::Bytes, Kind::Text]], &[form], strict_string)
        },
        |args, _, _| {
            let charset = literal_charset(args)?;
            Ok(kernel(move |args, context| {
                let bytes = Bytes::new(&args[0]);
                try_texts(context.rows, |row, out| {
                    let Some(charset) = charset_of(charset, &args[1], row, "DECODE")? else {
                        return Ok(None);
                    };
                    Ok(bytes.get(row).map(|bytes| charset.decode(bytes, out)))
                })
            }))
        },
        FunctionDoc {
            syntax: &["DECODE(bytes, charset)"],
            text: "The string of bytes in a character set, see ENCODE. What is malformed becomes \
                   U+FFFD. Fails if the set is unknown.",
            examples: &[("DECODE(X'E4B8AD', 'UTF-8')", "中")],
        },
    ),
    immutable(
        "TO_BASE64",
        |args| resolve(args, &[&[Kind::TextOrBytes]], &["TO_BASE64(<STRING>)"], strict_string),
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let value = TextOrBytes::new(&args[0]);
                texts(context.rows, |row, out| {
                    BASE64.encode_string(value.get(row)?, out);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["TO_BASE64(string)"],
            text: "The Base64 form of the string's UTF-8 bytes, or of a byte string.",
            examples: &[("TO_BASE64('hello')", "aGVsbG8=")],
        },
    ),
    immutable(
        "FROM_BASE64",
        |args| resolve(args, &[&[Kind::TextOrBytes]], &["FROM_BASE64(<STRING>)"], strict_string),
        |_, _, _| {
            Ok(kernel(|args, context| {
                let value = TextOrBytes::new(&args[0]);
                let mut bytes = Vec::new();
                try_texts(context.rows, |row, out| {
                    let Some(value) = value.get(row) else { return Ok(None) };
                    bytes.clear();
                    from_base64(value, &mut bytes)?;
                    lossy_utf8(&bytes, out);
                    Ok(Some(()))
                })
            }))
        },
        FunctionDoc {
            syntax: &["FROM_BASE64(string)"],
            text: "The string whose Base64 form is given; padding may be left out. Fails if it is \
                   not Base64.",
            examples: &[("FROM_BASE64('aGVsbG8=')", "hello")],
        },
    ),
];

/// The character set of a literal second argument, which must exist; `None` if it is not literal.
fn literal_charset(args: &CallArgs) -> Result<Option<Charset>, SignatureError> {
    let Some(name) = args.literal_str(1) else { return Ok(None) };
    match Charset::named(name) {
        Some(charset) => Ok(Some(charset)),
        None => Err(SignatureError::Argument {
            name: args.name.clone(),
            position: 2,
            reason: format!("unknown character set '{name}'\n{CHARSET_HINT}"),
        }),
    }
}

/// The character set of a row; `None` for NULL.
fn charset_of(
    literal: Option<Charset>,
    names: &Column,
    row: usize,
    function: &'static str,
) -> Result<Option<Charset>, EvalError> {
    if literal.is_some() {
        return Ok(literal);
    }
    let Some(name) = Strings::new(names).get(row) else { return Ok(None) };
    match Charset::named(name) {
        Some(charset) => Ok(Some(charset)),
        None => {
            let reason = format!("unknown character set '{name}'\n{CHARSET_HINT}");
            Err(EvalError::Argument { function, reason })
        }
    }
}

const CHARSET_HINT: &str =
    "hint: use US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16 or another IANA name";

/// Java's basic Base64: padding may be missing, and bits behind the last byte are not looked at.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn from_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), EvalError> {
    let fail = |reason: String| EvalError::Argument { function: "FROM_BASE64", reason };
    // Java wants all of the padding or none of it.
    if text.contains(&b'=') && !text.len().is_multiple_of(4) {
        return Err(fail(format!(
            "'{}' is padded to no multiple of 4 characters",
            String::from_utf8_lossy(text)
        )));
    }
    BASE64.decode_vec(text, out).map_err(|error| {
        let error = error.to_string();
        fail(format!("'{}' is not Base64: {error}", String::from_utf8_lossy(text)))
    })
}

/// Appends bytes as UTF-8, with `U+FFFD` for what is malformed.
pub fn lossy_utf8(bytes: &[u8], out: &mut String) {
    decode_utf8(bytes, out);
}

/// Appends two digits for each byte.
pub fn write_hex(bytes: &[u8], digits: &[u8; 16], out: &mut String) {
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(digits[usize::from(byte >> 4)]));
        out.push(char::from(digits[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_lenient_as_java() {
        let decode = |text: &str| {
            let mut out = Vec::new();
            from_base64(text.as_bytes(), &mut out).ok().map(|()| out)
        };
        for (text, wanted) in [
            ("aGVsbG8=", "hello"),
            ("aGVsbG8", "hello"),
            ("aGVsbG9=", "hello"),
            ("aG", "h"),
            ("aG==", "h"),
            ("", ""),
        ] {
            assert_eq!(decode(text).as_deref(), Some(wanted.as_bytes()), "{text}");
        }
        for text in [
            "a",
            "=",
            "aG=",
            "aG=V",
            "aGVs=",
            "aGVs====",
            "aGVsbG8==",
            "aGV=aGV=",
            "aG==x",
            "!!!",
            "aGVs bG8=",
            "_w==",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
