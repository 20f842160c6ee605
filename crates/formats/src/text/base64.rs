//! Base64 as Jackson reads and writes it: the MIME alphabet, padded, without line feeds.

use crate::builders::Fault;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the bytes that `text` stands for. White space may stand before each group of four.
pub(crate) fn decode_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut rest = text;
    loop {
        while let [first, tail @ ..] = rest
            && *first <= b' '
        {
            rest = tail;
        }
        let (group, tail) = match rest {
            [] => return Ok(()),
            [a, b, c, d, tail @ ..] => ([*a, *b, *c, *d], tail),
            _ => return Err(Fault::Form),
        };
        rest = tail;
        let high = value(group[0])? << 18 | value(group[1])? << 12;
        match (group[2], group[3]) {
            (b'=', b'=') => out.push((high >> 16) as u8),
            (c, b'=') => {
                let bits = high | value(c)? << 6;
                out.extend_from_slice(&[(bits >> 16) as u8, (bits >> 8) as u8]);
            }
            (c, d) => {
                let bits = high | value(c)? << 6 | value(d)?;
                out.extend_from_slice(&[(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            }
        }
    }
}

fn value(byte: u8) -> Result<u32, Fault> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return Err(Fault::Form),
    };
    Ok(value.into())
}

/// Appends the text that stands for `bytes`.
pub(crate) fn write_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for digit in 0..4 {
            out.push(if digit <= group.len() {
                ALPHABET[(bits >> (18 - 6 * digit) & 63) as usize]
            } else {
                b'='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways() {
        for (bytes, text) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd", "YWJjZA==")]
        {
            let mut out = Vec::new();
            write_base64(&mut out, bytes.as_bytes());
            assert_eq!(out, text.as_bytes());
            out.clear();
            decode_base64(text.as_bytes(), &mut out).unwrap();
            assert_eq!(out, bytes.as_bytes());
        }
    }

    #[test]
    fn broken_base64_is_refused() {
        for text in ["Y", "YQ", "YQ=", "YWJ", "Y=Q=", "YW-j", "Y Q=="] {
            assert!(decode_base64(text.as_bytes(), &mut Vec::new()).is_err(), "{text}");
        }
        assert!(decode_base64(b" YWJj\nYQ== ", &mut Vec::new()).is_ok());
    }
}
