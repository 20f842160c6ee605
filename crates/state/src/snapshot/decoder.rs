//! Bytes to values. Whatever the bytes are, the outcome is a value or an error.

use arrow::array::ArrayRef;
use flott_types::Value;

use super::encoder::tag;
use crate::error::{Result, StateError};
use crate::rows::RowCodec;

/// How deep SQL values may nest; Flink's types cannot reach it in practice.
const MAX_DEPTH: usize = 64;

/// Reads what a [`super::StateEncoder`] wrote, in the same order.
#[derive(Debug, Clone)]
pub struct StateDecoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the bytes start in the section, for errors.
    base: usize,
    section: &'a str,
}

impl<'a> StateDecoder<'a> {
    /// A decoder of `bytes`; `section` names them in errors.
    pub fn new(section: &'a str, bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, base: 0, section }
    }

    pub(super) fn at(section: &'a str, base: usize, bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, base, section }
    }

    /// The bytes not yet read.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes not yet read, all at once.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Fails when bytes are left over.
    pub fn finish(self) -> Result<()> {
        if self.remaining() == 0 { Ok(()) } else { Err(self.damaged("more bytes than expected")) }
    }

    /// The error of bytes that cannot be what was written, at the place reached.
    pub fn damaged(&self, what: &'static str) -> StateError {
        StateError::Damaged { section: self.section.into(), offset: self.base + self.at, what }
    }

    /// A truth value.
    pub fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged("truth value other than 0 and 1")),
        }
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// An unsigned number.
    pub fn u64(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.damaged("number of more than 64 bits"))
    }

    /// An unsigned number of 32 bits.
    pub fn u32(&mut self) -> Result<u32> {
        u32::try_from(self.u64()?).map_err(|_| self.damaged("number of more than 32 bits"))
    }

    /// A length or count. Each of what it counts takes at least one byte, so more than remain are refused.
    pub fn count(&mut self) -> Result<usize> {
        let len = self.u64()?;
        match usize::try_from(len) {
            Ok(len) if len <= self.remaining() => Ok(len),
            _ => Err(self.damaged("length beyond the end")),
        }
    }

    /// A signed number.
    pub fn i64(&mut self) -> Result<i64> {
        let value = self.u64()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A signed number of 32 bits.
    pub fn i32(&mut self) -> Result<i32> {
        i32::try_from(self.i64()?).map_err(|_| self.damaged("number of more than 32 bits"))
    }

    /// 16 bytes, little-endian.
    pub fn i128(&mut self) -> Result<i128> {
        self.array().map(i128::from_le_bytes)
    }

    /// A double.
    pub fn f64(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// A float.
    pub fn f32(&mut self) -> Result<f32> {
        self.array().map(f32::from_le_bytes)
    }

    /// A length and as many bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }

    /// A string.
    pub fn str(&mut self) -> Result<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged("text that is not UTF-8"))
    }

    /// A value that may be absent.
    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.bool()? { read(self).map(Some) } else { Ok(None) }
    }

    /// A count and as many items.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    /// A SQL value of any type.
    pub fn value(&mut self) -> Result<Value> {
        self.value_within(MAX_DEPTH)
    }

    /// Columns of the codec's types, and the number of rows.
    pub fn columns(&mut self, codec: &RowCodec) -> Result<(Vec<ArrayRef>, usize)> {
        let rows = self.list(Self::bytes)?;
        Ok((codec.decode(&rows)?, rows.len()))
    }

    fn value_within(&mut self, depth: usize) -> Result<Value> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.damaged("value nested too deeply"));
        };
        Ok(match self.u8()? {
            tag::NULL => Value::Null,
            tag::FALSE => Value::Boolean(false),
            tag::TRUE => Value::Boolean(true),
            tag::INT => Value::Int(self.i64()?),
            tag::FLOAT => Value::Float(self.f32()?),
            tag::DOUBLE => Value::Double(self.f64()?),
            tag::DECIMAL => Value::Decimal(self.i128()?),
            tag::STRING => Value::String(self.str()?.into()),
            tag::BYTES => Value::Bytes(self.bytes()?.into()),
            tag::DATE => Value::Date(self.i32()?),
            tag::TIME => Value::Time(self.i32()?),
            tag::TIMESTAMP => Value::Timestamp(self.i128()?),
            tag::MONTHS => Value::Months(self.i32()?),
            tag::MILLIS => Value::Millis(self.i64()?),
            tag::ARRAY => Value::Array(self.list(|input| input.value_within(depth))?),
            tag::MAP => Value::Map(
                self.list(|input| Ok((input.value_within(depth)?, input.value_within(depth)?)))?,
            ),
            tag::ROW => Value::Row(self.list(|input| input.value_within(depth))?),
            _ => return Err(self.damaged("value of an unknown kind")),
        })
    }

    pub(super) fn u16_fixed(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32_fixed(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64_fixed(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some(bytes) = self.bytes.get(self.at..).and_then(|rest| rest.get(..len)) else {
            return Err(self.damaged("ends early"));
        };
        self.at += len;
        Ok(bytes)
    }

    /// The offset in the section that was reached.
    pub(super) fn offset(&self) -> usize {
        self.base + self.at
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.damaged("ends early"))
    }
}
