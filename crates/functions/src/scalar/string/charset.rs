//! Character sets by Java's names, and their conversion from and to strings as Java does it.

use encoding_rs::Encoding;

/// A character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// `UTF-8`
    Utf8,
    /// `US-ASCII`
    Ascii,
    /// `ISO-8859-1`
    Latin1,
    /// `UTF-16BE`, `UTF-16LE`, `UTF-16`.
    Utf16(ByteOrder),
    /// Any other that the Encoding Standard knows.
    Other(&'static Encoding),
}

/// The order of the bytes of a UTF-16 unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// High byte first.
    Big,
    /// Low byte first.
    Little,
    /// As a mark at the start says; high byte first without one, and a mark is written.
    Marked,
}

impl Charset {
    /// The character set of a name or alias, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => Self::Utf8,
            "US-ASCII" | "ASCII" | "ASCII7" | "ISO646-US" | "646" | "CP367" | "IBM367" => {
                Self::Ascii
            }
            "ISO-8859-1" | "ISO8859-1" | "ISO8859_1" | "ISO_8859-1" | "ISO_8859_1" | "8859_1"
            | "LATIN1" | "L1" | "CP819" | "IBM819" | "819" => Self::Latin1,
            "UTF-16" | "UTF_16" | "UTF16" | "UNICODE" | "UNICODEBIG" => {
                Self::Utf16(ByteOrder::Marked)
            }
            "UTF-16BE" | "UTF_16BE" | "X-UTF-16BE" | "UNICODEBIGUNMARKED" | "ISO-10646-UCS-2" => {
                Self::Utf16(ByteOrder::Big)
            }
            "UTF-16LE" | "UTF_16LE" | "X-UTF-16LE" | "UNICODELITTLEUNMARKED" => {
                Self::Utf16(ByteOrder::Little)
            }
            other => Self::Other(Encoding::for_label_no_replacement(other.as_bytes())?),
        })
    }

    /// Appends the text's bytes; a character that the set lacks becomes `?`.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Utf8 => out.extend_from_slice(text.as_bytes()),
            Self::Ascii => {
                out.extend(text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }))
            }
            Self::Latin1 => out.extend(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?'))),
            Self::Utf16(ByteOrder::Little) => {
                out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            }
            Self::Utf16(order) => {
                if order == ByteOrder::Marked && !text.is_empty() {
                    out.extend_from_slice(&[0xfe, 0xff]);
                }
                out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
            }
            Self::Other(encoding) => encode_other(encoding, text, out),
        }
    }

    /// Appends the text of bytes; what is malformed becomes `U+FFFD`.
    pub fn decode(self, bytes: &[u8], out: &mut String) {
        match self {
            Self::Utf8 => decode_utf8(bytes, out),
            Self::Ascii => out.extend(
                bytes
                    .iter()
                    .map(|byte| if byte.is_ascii() { char::from(*byte) } else { REPLACEMENT }),
            ),
            Self::Latin1 => out.extend(bytes.iter().copied().map(char::from)),
            Self::Utf16(order) => decode_utf16(bytes, order, out),
            Self::Other(encoding) => {
                out.push_str(&encoding.decode_without_bom_handling(bytes).0);
            }
        }
    }
}

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

fn encode_other(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len());
        let start = out.len();
        out.resize(start + room.unwrap_or(rest.len() * 4 + 16), 0);
        let (result, read, written) =
            encoder.encode_from_utf8_without_replacement(rest, &mut out[start..], true);
        out.truncate(start + written);
        rest = &rest[read..];
        match result {
            encoding_rs::EncoderResult::InputEmpty => return,
            encoding_rs::EncoderResult::OutputFull => {}
            encoding_rs::EncoderResult::Unmappable(_) => out.push(b'?'),
        }
    }
}

/// UTF-8 with malformed parts replaced as Java does: a surrogate written in three bytes is one part.
pub fn decode_utf8(bytes: &[u8], out: &mut String) {
    let mut surrogate_tail = 0;
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        let invalid = chunk.invalid();
        if !chunk.valid().is_empty() {
            surrogate_tail = 0;
        }
        if invalid.is_empty() {
            continue;
        }
        if surrogate_tail > 0 {
            surrogate_tail -= 1;
            continue;
        }
        out.push(REPLACEMENT);
        surrogate_tail = if is_surrogate(&bytes[offset_in(bytes, invalid)..]) { 2 } else { 0 };
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

fn is_surrogate(bytes: &[u8]) -> bool {
    matches!(bytes, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..])
}

fn decode_utf16(bytes: &[u8], order: ByteOrder, out: &mut String) {
    let (bytes, little) = match (order, bytes) {
        (ByteOrder::Marked, [0xfe, 0xff, rest @ ..]) => (rest, false),
        (ByteOrder::Marked, [0xff, 0xfe, rest @ ..]) => (rest, true),
        (order, bytes) => (bytes, order == ByteOrder::Little),
    };
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut units = pairs
        .iter()
        .map(|pair| if little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) });
    while let Some(unit) = units.next() {
        // What follows a high surrogate is lost with it, unless it is the low one.
        let second = if matches!(unit, 0xd800..=0xdbff) { units.next() } else { None };
        let code = [unit].into_iter().chain(second);
        out.push(char::decode_utf16(code).next().and_then(Result::ok).unwrap_or(REPLACEMENT));
    }
    if !odd.is_empty() {
        out.push(REPLACEMENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(name: &str) -> Charset {
        Charset::named(name).expect(name)
    }

    #[test]
    fn text_becomes_bytes() {
        for (text, name, bytes) in [
            ("a中😀", "UTF-16", &b"\xfe\xff\0a\x4e\x2d\xd8\x3d\xde\0"[..]),
            ("a中", "utf-16le", b"a\0\x2d\x4e"),
            ("", "UTF-16", b""),
            ("a中😀é", "latin1", b"a??\xe9"),
            ("é", "US-ASCII", b"?"),
            ("a中😀", "GBK", b"a\xd6\xd0?"),
            ("é€", "windows-1252", b"\xe9\x80"),
        ] {
            let mut out = Vec::new();
            charset(name).encode(text, &mut out);
            assert_eq!(out, bytes, "{text} {name}");
        }
        assert_eq!(Charset::named("nope"), None);
        assert_eq!(Charset::named(""), None);
    }

    #[test]
    fn bytes_become_text() {
        for (bytes, name, text) in [
            (&b"\xfe\xff\x4e\x2d"[..], "UTF-16", "中"),
            (b"\xff\xfe\x2d\x4e", "UTF-16", "中"),
            (b"\x4e\x2d", "UTF-16", "中"),
            (b"\xff\xfe\x2d\x4e", "UTF-16LE", "\u{feff}中"),
            (b"\x4e\x2d\x61", "UTF-16BE", "中\u{fffd}"),
            (b"\xd8\x3d", "UTF-16BE", "\u{fffd}"),
            (b"\xd8\x3d\0a", "UTF-16BE", "\u{fffd}"),
            (b"\xe4\xb8", "UTF-8", "\u{fffd}"),
            (b"\xe4\xb8a", "UTF-8", "\u{fffd}a"),
            (b"\xf0\x9f\x98", "UTF-8", "\u{fffd}"),
            (b"\xc0\x80", "UTF-8", "\u{fffd}\u{fffd}"),
            (b"\xed\xa0\x80", "UTF-8", "\u{fffd}"),
            (b"\xed\xa0\x80\xed\xb0\x80\xff", "UTF-8", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"a\xe9", "US-ASCII", "a\u{fffd}"),
            (b"\xe9", "ISO-8859-1", "é"),
        ] {
            let mut out = String::new();
            charset(name).decode(bytes, &mut out);
            assert_eq!(out, text, "{bytes:x?} {name}");
        }
    }
}
