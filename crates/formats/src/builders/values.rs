//! Columns of one kind of value that can be cut back to an earlier length.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, BooleanBufferBuilder,
    NullBufferBuilder, PrimitiveArray, StringArray,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::DataType as Arrow;

use super::Fault;

/// Fixed-width values.
#[derive(Debug)]
pub(crate) struct Values<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
    data_type: Arrow,
}

impl<T: ArrowPrimitiveType> Values<T> {
    /// No values yet; `data_type` says more than `T` for decimals and timestamps.
    pub(crate) fn new(data_type: Arrow) -> Self {
        Self { values: Vec::new(), nulls: NullBufferBuilder::new(0), data_type }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T::Native) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    pub(crate) fn push_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    /// The last value, unless it is NULL or there is none.
    pub(crate) fn last(&self) -> Option<T::Native> {
        let last = self.values.len().checked_sub(1)?;
        self.nulls.is_valid(last).then(|| self.values[last])
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.nulls.truncate(len);
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        let values = take_keeping_capacity(&mut self.values);
        let array = PrimitiveArray::<T>::new(ScalarBuffer::from(values), self.nulls.finish());
        Arc::new(array.with_data_type(self.data_type.clone()))
    }
}

/// BOOLEAN values.
#[derive(Debug)]
pub(crate) struct Booleans {
    bits: BooleanBufferBuilder,
    nulls: NullBufferBuilder,
}

impl Booleans {
    pub(crate) fn new() -> Self {
        Self { bits: BooleanBufferBuilder::new(0), nulls: NullBufferBuilder::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.bits.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, value: bool) {
        self.bits.append(value);
        self.nulls.append_non_null();
    }

    pub(crate) fn push_null(&mut self) {
        self.bits.append(false);
        self.nulls.append_null();
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.bits.truncate(len);
        self.nulls.truncate(len);
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::new(self.bits.finish(), self.nulls.finish()))
    }
}

/// Character or byte strings.
#[derive(Debug)]
pub(crate) struct Bytes {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Bytes {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), ends: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<(), Fault> {
        self.bytes.extend_from_slice(value);
        self.end_value()
    }

    /// The bytes of the value under way: what is added here belongs to the value that
    /// [`end_value`](Self::end_value) ends, or is cut off by [`truncate`](Self::truncate).
    #[inline]
    pub(crate) fn open(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the value under way. Arrow counts the bytes of a column in 31 bits.
    #[inline]
    pub(crate) fn end_value(&mut self) -> Result<(), Fault> {
        let Ok(end) = i32::try_from(self.bytes.len()) else {
            self.truncate(self.len());
            return Err(Fault::TooLong);
        };
        self.ends.push(end);
        self.nulls.append_non_null();
        Ok(())
    }

    /// The last value, unless it is NULL or there is none.
    pub(crate) fn last(&self) -> Option<&[u8]> {
        let last = self.len().checked_sub(1)?;
        let range = self.ends[last] as usize..self.ends[last + 1] as usize;
        self.nulls.is_valid(last).then(|| &self.bytes[range])
    }

    /// Whether the last value equals one of the `others` before it.
    pub(crate) fn last_repeats(&self, others: usize) -> bool {
        let value = |at: usize| &self.bytes[self.ends[at] as usize..self.ends[at + 1] as usize];
        self.len().checked_sub(1).is_some_and(|last| {
            (last.saturating_sub(others)..last).any(|other| value(other) == value(last))
        })
    }

    pub(crate) fn push_null(&mut self) {
        self.truncate(self.len());
        self.ends.push(self.bytes.len() as i32);
        self.nulls.append_null();
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(end) = self.ends.get(len) {
            self.bytes.truncate(*end as usize);
            self.ends.truncate(len + 1);
            self.nulls.truncate(len);
        }
    }

    /// The values as text. Callers put in UTF-8 only, at whole values.
    pub(crate) fn finish_text(&mut self) -> ArrayRef {
        let (offsets, bytes, nulls) = self.parts();
        match StringArray::try_new(offsets.clone(), bytes.clone(), nulls.clone()) {
            Ok(array) => Arc::new(array),
            Err(_) => {
                let lossy = BinaryArray::new(offsets, bytes, nulls);
                let texts =
                    lossy.iter().map(|value| Some(String::from_utf8_lossy(value?).into_owned()));
                Arc::new(texts.collect::<StringArray>())
            }
        }
    }

    pub(crate) fn finish_binary(&mut self) -> ArrayRef {
        let (offsets, bytes, nulls) = self.parts();
        Arc::new(BinaryArray::new(offsets, bytes, nulls))
    }

    fn parts(&mut self) -> (OffsetBuffer<i32>, Buffer, Option<NullBuffer>) {
        self.truncate(self.len());
        let ends = take_keeping_capacity(&mut self.ends);
        self.ends.push(0);
        let bytes = take_keeping_capacity(&mut self.bytes);
        (OffsetBuffer::new(ends.into()), bytes.into(), self.nulls.finish())
    }
}

/// The next batch is likely to be as large as the last one.
fn take_keeping_capacity<T>(values: &mut Vec<T>) -> Vec<T> {
    let next = Vec::with_capacity(values.len());
    std::mem::replace(values, next)
}
