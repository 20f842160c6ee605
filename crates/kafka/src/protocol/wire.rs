//! The primitive types of the protocol.

use crate::{KafkaError, Result};

/// Writes a request.
#[derive(Default)]
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn i8(&mut self, value: i8) -> &mut Self {
        self.0.push(value as u8);
        self
    }

    pub(crate) fn bool(&mut self, value: bool) -> &mut Self {
        self.i8(i8::from(value))
    }

    pub(crate) fn i16(&mut self, value: i16) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.i16(text.len() as i16);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self.i16(-1),
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.i32(bytes.len() as i32);
        self.0.extend_from_slice(bytes);
        self
    }

    /// An array: its length, then what `each` writes of an item.
    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
        mut each: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        let items = items.into_iter();
        self.i32(items.len() as i32);
        items.for_each(|item| each(self, item));
        self
    }

    /// A number in as few bytes as it needs, for the flexible versions of requests.
    pub(crate) fn unsigned(&mut self, mut value: u32) -> &mut Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    pub(crate) fn compact_array<T>(
        &mut self,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
        mut each: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        let items = items.into_iter();
        self.unsigned(items.len() as u32 + 1);
        items.for_each(|item| each(self, item));
        self
    }

    /// The tagged fields at the end of a structure: none.
    pub(crate) fn no_tags(&mut self) -> &mut Self {
        self.unsigned(0)
    }
}

/// Reads a response.
pub(crate) struct In<'a> {
    rest: &'a [u8],
}

impl<'a> In<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(KafkaError::Protocol("a response ends too early".into()));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| KafkaError::Protocol("a response ends too early".into()))
    }

    pub(crate) fn i8(&mut self) -> Result<i8> {
        self.number().map(i8::from_be_bytes)
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        self.i8().map(|value| value != 0)
    }

    pub(crate) fn i16(&mut self) -> Result<i16> {
        self.number().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.number().map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.number().map(i64::from_be_bytes)
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>> {
        let len = self.i16()?;
        if len < 0 {
            return Ok(None);
        }
        self.take(len as usize).and_then(utf8).map(Some)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        self.optional_text().map(Option::unwrap_or_default)
    }

    /// Bytes; null is empty.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.i32()?;
        self.take(len.max(0) as usize)
    }

    /// An array of what `each` reads; null is empty.
    pub(crate) fn array<T>(&mut self, each: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let len = self.i32()?.max(0);
        self.items(len as usize, each)
    }

    pub(crate) fn unsigned(&mut self) -> Result<u32> {
        let mut value = 0_u64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value as u32);
            }
        }
        Err(KafkaError::Protocol("a number has too many bytes".into()))
    }

    pub(crate) fn compact_text(&mut self) -> Result<String> {
        let len = self.unsigned()?.saturating_sub(1);
        self.take(len as usize).and_then(utf8)
    }

    pub(crate) fn compact_array<T>(
        &mut self,
        each: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let len = self.unsigned()?.saturating_sub(1);
        self.items(len as usize, each)
    }

    /// Skips the tagged fields at the end of a structure.
    pub(crate) fn tags(&mut self) -> Result<()> {
        for _ in 0..self.unsigned()? {
            self.unsigned()?;
            let len = self.unsigned()?;
            self.take(len as usize)?;
        }
        Ok(())
    }

    fn items<T>(
        &mut self,
        len: usize,
        mut each: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        // What a damaged length claims is not reserved.
        let mut items = Vec::with_capacity(len.min(self.rest.len()));
        for _ in 0..len {
            items.push(each(self)?);
        }
        Ok(items)
    }
}

fn utf8(bytes: &[u8]) -> Result<String> {
    String::from_utf8(bytes.to_vec())
        .map_err(|_| KafkaError::Protocol("a text is not UTF-8".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let mut out = Out::default();
        out.i8(-1).bool(true).i16(-2).i32(-3).i64(-4).text("ä").optional_text(None);
        out.bytes(b"xy").array([1, 2], |out, item| {
            out.i32(item);
        });
        out.unsigned(300).unsigned(2);
        out.0.push(b'b');
        out.compact_array([7], |out, item| {
            out.i8(item);
        });
        out.no_tags();
        let mut read = In::new(&out.0);
        assert_eq!((read.i8().unwrap(), read.bool().unwrap()), (-1, true));
        assert_eq!((read.i16().unwrap(), read.i32().unwrap(), read.i64().unwrap()), (-2, -3, -4));
        assert_eq!(read.text().unwrap(), "ä");
        assert_eq!(read.optional_text().unwrap(), None);
        assert_eq!(read.bytes().unwrap(), b"xy");
        assert_eq!(read.array(In::i32).unwrap(), [1, 2]);
        assert_eq!(read.unsigned().unwrap(), 300);
        assert_eq!(read.compact_text().unwrap(), "b");
        assert_eq!(read.compact_array(In::i8).unwrap(), [7]);
        read.tags().unwrap();
        assert!(read.i8().is_err());
    }

    #[test]
    fn a_damaged_length_is_an_error_not_an_allocation() {
        assert!(In::new(&[0x7F, 0xFF, 0xFF, 0xFF]).array(In::i64).is_err());
        assert!(In::new(&[0xFF; 9]).unsigned().is_err());
    }
}
