//! JSON text written anew the way Jackson prints the tree that it has read: without white space,
//! numbers and escapes in their canonical form, of repeated keys the last value.

use super::lexer::{Lexer, Number, RawString, SyntaxError};
use crate::text::{self, write_scientific};

/// Appends the value at the lexer in canonical form and goes past it. With `decimals` numbers with
/// fraction or exponent are decimals, else DOUBLE.
pub(super) fn write_value(
    lexer: &mut Lexer<'_>,
    out: &mut Vec<u8>,
    decimals: bool,
) -> Result<(), SyntaxError> {
    // The whole is sound and not too deep for the recursion below.
    let end = {
        let mut whole = *lexer;
        whole.skip_value()?;
        whole.at
    };
    write_checked(lexer, out, decimals)?;
    lexer.at = end;
    Ok(())
}

fn write_checked(
    lexer: &mut Lexer<'_>,
    out: &mut Vec<u8>,
    decimals: bool,
) -> Result<(), SyntaxError> {
    match lexer.peek() {
        b'{' => write_object(lexer, out, decimals),
        b'[' => {
            out.push(b'[');
            lexer.at += 1;
            let mut first = true;
            while !lexer.eat(b']') {
                if !std::mem::take(&mut first) {
                    lexer.eat(b',');
                    out.push(b',');
                }
                write_checked(lexer, out, decimals)?;
            }
            out.push(b']');
            Ok(())
        }
        b'"' => {
            let string = lexer.string()?;
            write_string(out, string);
            Ok(())
        }
        b'-' | b'0'..=b'9' => {
            let number = lexer.number()?;
            let start = out.len();
            write_number(out, number, decimals);
            // Jackson quotes what is no number in JSON.
            if matches!(out[start..], [b'I', ..] | [b'-', b'I', ..]) {
                out.insert(start, b'"');
                out.push(b'"');
            }
            Ok(())
        }
        _ => {
            out.extend_from_slice(lexer.skip_value()?);
            Ok(())
        }
    }
}

fn write_object(
    lexer: &mut Lexer<'_>,
    out: &mut Vec<u8>,
    decimals: bool,
) -> Result<(), SyntaxError> {
    // Keys in the order in which they first appear, each with where its last value starts.
    let mut entries: Vec<(Vec<u8>, usize)> = Vec::new();
    lexer.at += 1;
    while !lexer.eat(b'}') {
        lexer.eat(b',');
        lexer.peek();
        let mut key = Vec::new();
        lexer.string()?.unescape(&mut key);
        lexer.colon()?;
        let value = lexer.at;
        lexer.skip_value()?;
        match entries.iter_mut().find(|(other, _)| *other == key) {
            Some((_, last)) => *last = value,
            None => entries.push((key, value)),
        }
    }
    out.push(b'{');
    for (i, (key, value)) in entries.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_text(out, key);
        out.push(b':');
        write_checked(&mut Lexer { bytes: lexer.bytes, at: *value }, out, decimals)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a number as Java prints what it read.
pub(super) fn write_number(out: &mut Vec<u8>, number: Number<'_>, decimals: bool) {
    if number.whole {
        let text = if number.text == b"-0" { b"0" } else { number.text };
        out.extend_from_slice(text);
    } else if decimals {
        write_big_decimal(out, number.text);
    } else if let Ok(value) = text::parse_double(number.text) {
        text::write_double(out, value);
    }
}

/// Appends a decimal of any size without its trailing zeros, as `BigDecimal.toString` prints it.
fn write_big_decimal(out: &mut Vec<u8>, number: &[u8]) {
    let (mantissa, exponent) = match number.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (&number[..at], text::parse_integer(&number[at + 1..]).unwrap_or(0)),
        None => (number, 0),
    };
    let point = mantissa.iter().position(|b| *b == b'.').unwrap_or(mantissa.len());
    let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let fraction = (mantissa.len() - point).saturating_sub(1) as i64;
    let start = digits.iter().position(|digit| *digit != b'0');
    let (Some(start), Some(end)) = (start, digits.iter().rposition(|digit| *digit != b'0')) else {
        out.push(b'0');
        return;
    };
    let scale = fraction - exponent - (digits.len() - 1 - end) as i64;
    if mantissa.starts_with(b"-") {
        out.push(b'-');
    }
    let scale = scale.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    write_scientific(out, &digits[start..=end], scale);
}

fn write_string(out: &mut Vec<u8>, string: RawString<'_>) {
    if string.escaped {
        let mut text = Vec::with_capacity(string.raw.len());
        string.unescape(&mut text);
        write_text(out, &text);
    } else {
        write_text(out, string.raw);
    }
}

/// Appends a string in quotes, escaped as Jackson does it.
pub(super) fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut start = 0;
    for (at, byte) in text.iter().enumerate() {
        let short = match byte {
            b'"' | b'\\' => *byte,
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            12 => b'f',
            b'\r' => b'r',
            0..b' ' => b'u',
            _ => continue,
        };
        out.extend_from_slice(&text[start..at]);
        start = at + 1;
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let hex = b"0123456789ABCDEF";
            let digits = [b'0', b'0', hex[usize::from(byte >> 4)], hex[usize::from(byte & 15)]];
            out.extend_from_slice(&digits);
        }
    }
    out.extend_from_slice(&text[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_print_compactly() {
        for (text, decimals, printed) in [
            (
                r#" { "a" : 1.50 , "b":[ 1e7, -0 ,true, null ] } "#,
                false,
                r#"{"a":1.5,"b":[1.0E7,0,true,null]}"#,
            ),
            (
                r#"{"a":1.50,"b":1e7,"c":0.0,"d":-12e-9}"#,
                true,
                r#"{"a":1.5,"b":1E+7,"c":0,"d":-1.2E-8}"#,
            ),
            (
                r#"{"a":1,"b":2,"a":{"c":"x\u0001\/é\n"}}"#,
                false,
                "{\"a\":{\"c\":\"x\\u0001/é\\n\"},\"b\":2}",
            ),
            (r#"[[],{},"",1e999]"#, false, r#"[[],{},"","Infinity"]"#),
        ] {
            let mut out = Vec::new();
            write_value(&mut Lexer::new(text.as_bytes()), &mut out, decimals).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), printed);
        }
    }
}
