//! Values to bytes.

use arrow::array::ArrayRef;
use flott_types::Value;

use crate::error::Result;
use crate::rows::RowCodec;

/// Writes the parts of a value one after the other; [`super::StateDecoder`] reads them in the same order.
#[derive(Debug, Default)]
pub struct StateEncoder {
    pub(super) bytes: Vec<u8>,
}

/// The tags of [`Value`]'s kinds; part of the state format.
pub(super) mod tag {
    pub const NULL: u8 = 0;
    pub const FALSE: u8 = 1;
    pub const TRUE: u8 = 2;
    pub const INT: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const DECIMAL: u8 = 6;
    pub const STRING: u8 = 7;
    pub const BYTES: u8 = 8;
    pub const DATE: u8 = 9;
    pub const TIME: u8 = 10;
    pub const TIMESTAMP: u8 = 11;
    pub const MONTHS: u8 = 12;
    pub const MILLIS: u8 = 13;
    pub const ARRAY: u8 = 14;
    pub const MAP: u8 = 15;
    pub const ROW: u8 = 16;
}

impl StateEncoder {
    /// An encoder that has written nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes that an encoder wrote before.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What was written so far.
    pub(crate) fn written(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets what was written and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// A truth value, one byte.
    pub fn bool(&mut self, value: bool) {
        self.u8(value.into());
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// An unsigned number, seven bits a byte, lowest first.
    pub fn u64(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// [`Self::u64`] of 32 bits.
    pub fn u32(&mut self, value: u32) {
        self.u64(value.into());
    }

    /// [`Self::u64`] of a length or count.
    pub fn count(&mut self, value: usize) {
        self.u64(value as u64);
    }

    /// A signed number: zigzag, then as [`Self::u64`].
    pub fn i64(&mut self, value: i64) {
        self.u64((value << 1 ^ value >> 63) as u64);
    }

    /// 16 bytes, little-endian.
    pub fn i128(&mut self, value: i128) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The eight bytes of a double, bits kept.
    pub fn f64(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The four bytes of a float, bits kept.
    pub fn f32(&mut self, value: f32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A length and as many bytes.
    pub fn bytes(&mut self, value: &[u8]) {
        self.count(value.len());
        self.bytes.extend_from_slice(value);
    }

    /// A string, as [`Self::bytes`].
    pub fn str(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// Whether there is a value, and the value.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// A count and as many items.
    pub fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.count(items.len());
        items.for_each(|item| write(self, item));
    }

    /// A SQL value of any type, with its kind.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.u8(tag::NULL),
            Value::Boolean(false) => self.u8(tag::FALSE),
            Value::Boolean(true) => self.u8(tag::TRUE),
            Value::Int(number) => self.tagged_i64(tag::INT, *number),
            Value::Date(days) => self.tagged_i64(tag::DATE, (*days).into()),
            Value::Time(millis) => self.tagged_i64(tag::TIME, (*millis).into()),
            Value::Months(months) => self.tagged_i64(tag::MONTHS, (*months).into()),
            Value::Millis(millis) => self.tagged_i64(tag::MILLIS, *millis),
            Value::Float(number) => {
                self.u8(tag::FLOAT);
                self.f32(*number);
            }
            Value::Double(number) => {
                self.u8(tag::DOUBLE);
                self.f64(*number);
            }
            Value::Decimal(digits) => {
                self.u8(tag::DECIMAL);
                self.i128(*digits);
            }
            Value::Timestamp(nanos) => {
                self.u8(tag::TIMESTAMP);
                self.i128(*nanos);
            }
            Value::String(text) => {
                self.u8(tag::STRING);
                self.str(text);
            }
            Value::Bytes(bytes) => {
                self.u8(tag::BYTES);
                self.bytes(bytes);
            }
            Value::Array(items) => {
                self.u8(tag::ARRAY);
                self.list(items.iter(), Self::value);
            }
            Value::Row(items) => {
                self.u8(tag::ROW);
                self.list(items.iter(), Self::value);
            }
            Value::Map(entries) => {
                self.u8(tag::MAP);
                self.list(entries.iter(), |out, (key, value)| {
                    out.value(key);
                    out.value(value);
                });
            }
        }
    }

    /// `rows` rows of columns of the codec's types.
    ///
    /// Fails when the columns are of other types.
    pub fn columns(&mut self, codec: &RowCodec, columns: &[ArrayRef], rows: usize) -> Result<()> {
        let encoded = codec.encode(columns, rows)?;
        self.count(encoded.len());
        encoded.iter().for_each(|row| self.bytes(row));
        Ok(())
    }

    fn tagged_i64(&mut self, tag: u8, value: i64) {
        self.u8(tag);
        self.i64(value);
    }
}
