//! `application/x-www-form-urlencoded`, as Java's `URLEncoder` and `URLDecoder` have it.

use crate::scalar::string::lossy_utf8;

/// Appends the text encoded.
pub fn encode(text: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}

/// Appends the text decoded; `None` if it is no encoding.
pub fn decode(text: &str, out: &mut String) -> Option<()> {
    let mut rest = text;
    let mut bytes = Vec::new();
    loop {
        let plain = rest.find(['%', '+']).unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
        if rest.is_empty() {
            return Some(());
        }
        if let Some(behind) = rest.strip_prefix('+') {
            out.push(' ');
            rest = behind;
            continue;
        }
        bytes.clear();
        while let Some(behind) = rest.strip_prefix('%') {
            bytes.push(byte(behind.as_bytes().get(..2)?)?);
            // Both are ASCII, so that this is the end of a character.
            rest = &behind[2..];
        }
        lossy_utf8(&bytes, out);
    }
}

/// Two digits, or a plus sign and one, which Java takes as well.
fn byte(digits: &[u8]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    match digits {
        [b'+', low] => digit(*low),
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_a_few_bytes_are_encoded() {
        let mut out = String::new();
        encode("a b&c=d/é*~!'()-_.", &mut out);
        assert_eq!(out, "a+b%26c%3Dd%2F%C3%A9*%7E%21%27%28%29-_.");
    }

    #[test]
    fn decoding_replaces_bad_utf8_and_refuses_bad_digits() {
        for (text, wanted) in [
            ("a+b%26c%3Dd", Some("a b&c=d")),
            ("%E4%B8%AD", Some("中")),
            ("é+", Some("é ")),
            ("%ff", Some("\u{fffd}")),
            ("%e4%b8", Some("\u{fffd}")),
            ("%2541", Some("%41")),
            ("%+1", Some("\x01")),
            ("%zz", None),
            ("a%", None),
            ("%41%2", None),
            ("%-1", None),
            ("% 1", None),
            ("%é", None),
            ("", Some("")),
        ] {
            let mut out = String::new();
            let result = decode(text, &mut out).map(|()| out.as_str());
            assert_eq!(result, wanted, "{text}");
        }
    }
}
