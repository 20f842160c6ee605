//! The wire format: numbered fields, each a number or bytes.

use crate::error::FormatError;

/// How deep groups that are skipped, and messages, may stand in each other.
pub(super) const MAX_DEPTH: usize = 100;

/// Why bytes are no message; boxed, since it is rare.
pub(super) type Broken = Box<FormatError>;

/// A place in a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A field of a message: its number, the kind of its value, and the value, without its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct WireField<'a> {
    pub(super) number: u32,
    pub(super) kind: WireKind,
    pub(super) value: &'a [u8],
    /// Where the value begins among the bytes of the message.
    pub(super) start: usize,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireKind {
    Varint = 0,
    Fixed64 = 1,
    Sized = 2,
    Group = 3,
    Fixed32 = 5,
}

impl<'a> Wire<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// How far another place in the same bytes is behind this one.
    pub(super) fn distance(&self, earlier: &Self) -> usize {
        self.at.saturating_sub(earlier.at)
    }

    #[cold]
    pub(super) fn broken(&self, what: impl Into<String>) -> Broken {
        Box::new(FormatError::Protobuf { what: what.into(), at: self.at })
    }

    /// A number in sevens of bits.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, Broken> {
        let mut bits = 0;
        for place in 0..10 {
            let Some(byte) = self.bytes.get(self.at) else { break };
            self.at += 1;
            bits |= u64::from(byte & 0x7f) << (7 * place);
            if *byte < 0x80 {
                return Ok(bits);
            }
        }
        Err(self.broken("a number does not end"))
    }

    /// So many bytes.
    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        match self.bytes[self.at..].get(..len) {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => Err(self.broken("the message ends too early")),
        }
    }

    /// The next field; `None` at the end.
    #[inline]
    pub(super) fn field(&mut self) -> Result<Option<WireField<'a>>, Broken> {
        if self.is_at_end() {
            return Ok(None);
        }
        match self.field_in(0)? {
            None => Err(self.broken("a group ends that was not begun")),
            field => Ok(field),
        }
    }

    /// The same within groups; `None` where one ends.
    fn field_in(&mut self, depth: usize) -> Result<Option<WireField<'a>>, Broken> {
        let tag = self.varint()?;
        let number = (tag >> 3) as u32;
        if number == 0 || tag >> 3 >= 1 << 29 {
            return Err(self.broken("a field has no sound number"));
        }
        let start = self.at;
        let (kind, value) = match tag & 7 {
            0 => {
                self.varint()?;
                (WireKind::Varint, &self.bytes[start..self.at])
            }
            1 => (WireKind::Fixed64, self.take(8)?),
            2 => {
                let len = self.varint()?;
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                (WireKind::Sized, self.take(len)?)
            }
            3 => {
                self.skip_group(number, depth + 1)?;
                (WireKind::Group, &self.bytes[start..self.at])
            }
            4 => return Ok(None),
            5 => (WireKind::Fixed32, self.take(4)?),
            _ => return Err(self.broken("a field has an unknown kind of value")),
        };
        Ok(Some(WireField { number, kind, value, start: self.at - value.len() }))
    }

    fn skip_group(&mut self, number: u32, depth: usize) -> Result<(), Broken> {
        if depth > MAX_DEPTH {
            return Err(self.broken(format!("groups stand in each other over {MAX_DEPTH} deep")));
        }
        loop {
            let start = self.at;
            if self.field_in(depth)?.is_none() {
                let mut end = Self { bytes: self.bytes, at: start };
                return match end.varint()? >> 3 == u64::from(number) {
                    true => Ok(()),
                    false => Err(self.broken("a group ends that was not begun")),
                };
            }
        }
    }
}

/// Appends a number in sevens of bits.
#[inline]
pub(super) fn write_varint(out: &mut Vec<u8>, mut bits: u64) {
    while bits >= 0x80 {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}

/// Appends what `write` writes, behind its length.
pub(super) fn write_sized<E>(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    write(out)?;
    let end = out.len();
    write_varint(out, (end - start) as u64);
    let digits = out.len() - end;
    out[start..].rotate_right(digits);
    Ok(())
}
