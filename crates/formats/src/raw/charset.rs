//! Encodings of text by the names that Java knows.

use encoding_rs::Encoding;
use flott_catalog::connector::{ConnectorError, Options};

use super::CHARSET;
use crate::error::FormatError;

/// An encoding of text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Charset {
    Utf8,
    Ascii,
    /// ISO-8859-1 as Java has it: a byte is a character of that number.
    Latin1,
    /// Big-endian unless a byte order mark says otherwise; written with one.
    Utf16,
    Utf16Be,
    Utf16Le,
    Other(&'static Encoding),
}

impl Charset {
    /// The encoding that the option names.
    pub(super) fn of(options: &Options) -> Result<Self, ConnectorError> {
        let name = options.text(&CHARSET).unwrap_or("UTF-8");
        Ok(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => Self::Utf8,
            "US-ASCII" | "ASCII" => Self::Ascii,
            "ISO-8859-1" | "ISO8859-1" | "ISO8859_1" | "LATIN1" => Self::Latin1,
            "UTF-16" | "UTF16" => Self::Utf16,
            "UTF-16BE" => Self::Utf16Be,
            "UTF-16LE" => Self::Utf16Le,
            _ => match Encoding::for_label(name.as_bytes()) {
                Some(encoding) => Self::Other(encoding),
                None => {
                    return Err(FormatError::Option {
                        option: "raw.charset".into(),
                        value: name.into(),
                        wanted: "the name of a charset, such as UTF-8, ISO-8859-1 or GBK".into(),
                    }
                    .into());
                }
            },
        })
    }

    /// Appends what `bytes` stand for, in UTF-8; what they cannot stand for is U+FFFD.
    pub(super) fn decode(self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut push = |c: char| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        match self {
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(_) => out.extend_from_slice(bytes),
                Err(_) => out.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes()),
            },
            Self::Ascii => bytes.iter().for_each(|byte| {
                push(if byte.is_ascii() { char::from(*byte) } else { char::REPLACEMENT_CHARACTER });
            }),
            Self::Latin1 => bytes.iter().for_each(|byte| push(char::from(*byte))),
            Self::Utf16 => match bytes {
                [0xFF, 0xFE, rest @ ..] => Self::Utf16Le.decode(rest, out),
                [0xFE, 0xFF, rest @ ..] => Self::Utf16Be.decode(rest, out),
                rest => Self::Utf16Be.decode(rest, out),
            },
            Self::Utf16Be | Self::Utf16Le => {
                let units = bytes.chunks(2).map(|pair| match (self, pair) {
                    (Self::Utf16Be, [a, b]) => u16::from_be_bytes([*a, *b]),
                    (_, [a, b]) => u16::from_le_bytes([*a, *b]),
                    // Half a unit stands for nothing.
                    _ => 0xFFFD,
                });
                char::decode_utf16(units)
                    .for_each(|c| push(c.unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
            Self::Other(encoding) => {
                let (text, _) = encoding.decode_without_bom_handling(bytes);
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Appends a text in this encoding; characters that it lacks become `?`.
    pub(super) fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Utf8 => out.extend_from_slice(text.as_bytes()),
            Self::Ascii => {
                out.extend(text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }))
            }
            Self::Latin1 => out.extend(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?'))),
            Self::Utf16 => {
                out.extend_from_slice(&[0xFE, 0xFF]);
                Self::Utf16Be.encode(text, out);
            }
            Self::Utf16Be => {
                text.encode_utf16().for_each(|u| out.extend_from_slice(&u.to_be_bytes()))
            }
            Self::Utf16Le => {
                text.encode_utf16().for_each(|u| out.extend_from_slice(&u.to_le_bytes()))
            }
            Self::Other(encoding) => {
                for c in text.chars() {
                    let mut buffer = [0; 4];
                    match encoding.encode(c.encode_utf8(&mut buffer)) {
                        (bytes, _, false) => out.extend_from_slice(&bytes),
                        (_, _, true) => out.push(b'?'),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(name: &str) -> Result<Charset, ConnectorError> {
        Charset::of(&Options::new([("charset".to_string(), name.to_string())]))
    }

    #[test]
    fn text_goes_both_ways() {
        for name in ["UTF-8", "utf8", "UTF-16", "UTF-16LE", "UTF-16BE", "GBK", "windows-1252"] {
            let charset = charset(name).unwrap();
            let mut bytes = Vec::new();
            charset.encode("aé", &mut bytes);
            let mut back = Vec::new();
            charset.decode(&bytes, &mut back);
            assert_eq!(back, "aé".as_bytes(), "{name}");
        }
        assert!(charset("klingon").is_err());
    }

    #[test]
    fn what_cannot_be_is_replaced() {
        let decode = |name: &str, bytes: &[u8]| {
            let mut out = Vec::new();
            charset(name).unwrap().decode(bytes, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(decode("UTF-8", b"a\xFFb"), "a\u{FFFD}b");
        assert_eq!(decode("US-ASCII", b"a\xE9"), "a\u{FFFD}");
        assert_eq!(decode("ISO-8859-1", b"a\xE9\x80"), "aé\u{80}");
        assert_eq!(decode("UTF-16", b"\xFF\xFEa\0"), "a");
        let mut out = Vec::new();
        charset("ISO-8859-1").unwrap().encode("é€", &mut out);
        assert_eq!(out, b"\xE9?");
    }
}
