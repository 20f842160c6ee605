//! Loops over rows that write strings straight into Arrow's buffers, and views of arguments beyond
//! those of [`crate::read`].

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, Int8Array, Int16Array,
    Int32Array, Int64Array, ListArray, NullBufferBuilder, PrimitiveArray, StringArray,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as Arrow, Field};

use crate::{Column, EvalError};

/// The most bytes that the strings of one batch may have together: what Arrow's offsets reach.
const MAX_BATCH: usize = i32::MAX as usize;

/// The most bytes of one string that a function makes of short arguments.
pub const MAX_VALUE: usize = 1 << 28;

/// Strings of rows. `write` appends the value of a row, or gives `None` for NULL.
pub fn texts(
    rows: usize,
    mut write: impl FnMut(usize, &mut String) -> Option<()>,
) -> Result<ArrayRef, EvalError> {
    try_texts(rows, |row, out| Ok(write(row, out)))
}

/// As [`texts`], for a `write` that may fail.
pub fn try_texts(
    rows: usize,
    mut write: impl FnMut(usize, &mut String) -> Result<Option<()>, EvalError>,
) -> Result<ArrayRef, EvalError> {
    let mut values = String::new();
    let mut shape = Shape::new(rows);
    for row in 0..rows {
        let start = values.len();
        let present = write(row, &mut values)?.is_some();
        if !present {
            values.truncate(start);
        }
        shape.push(values.len(), present)?;
    }
    shape.finish_texts(values)
}

/// Byte strings of rows. `write` appends the value of a row, or gives `None` for NULL.
pub fn byte_strings(
    rows: usize,
    mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<Option<()>, EvalError>,
) -> Result<ArrayRef, EvalError> {
    let mut values = Vec::new();
    let mut shape = Shape::new(rows);
    for row in 0..rows {
        let start = values.len();
        let present = write(row, &mut values)?.is_some();
        if !present {
            values.truncate(start);
        }
        shape.push(values.len(), present)?;
    }
    let (offsets, nulls) = shape.finish();
    Ok(Arc::new(BinaryArray::try_new(offsets, Buffer::from_vec(values), nulls)?))
}

/// Arrays of strings. `fill` adds the elements of a row, or gives `None` for NULL without adding any.
pub fn text_lists(
    rows: usize,
    mut fill: impl FnMut(usize, &mut Texts) -> Result<Option<()>, EvalError>,
) -> Result<ArrayRef, EvalError> {
    let mut elements = Texts::default();
    let mut shape = Shape::new(rows);
    for row in 0..rows {
        let present = fill(row, &mut elements)?.is_some();
        shape.push(elements.len(), present)?;
    }
    let (offsets, nulls) = shape.finish();
    let item = Arc::new(Field::new("item", Arrow::Utf8, true));
    Ok(Arc::new(ListArray::try_new(item, offsets, elements.finish()?, nulls)?))
}

/// Strings that are added one by one.
#[derive(Default)]
pub struct Texts {
    values: String,
    shape: Shape,
    is_full: bool,
}

impl Texts {
    /// Adds a string or NULL.
    pub fn push(&mut self, text: Option<&str>) {
        self.values.push_str(text.unwrap_or_default());
        self.is_full |= self.shape.push(self.values.len(), text.is_some()).is_err();
        if self.is_full {
            self.values.clear();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shape.offsets.len() - 1
    }

    /// All of them; fails if they are too many bytes.
    pub fn finish(self) -> Result<ArrayRef, EvalError> {
        if self.is_full { Err(batch_too_long()) } else { self.shape.finish_texts(self.values) }
    }
}

/// Offsets and validity of an array of strings or lists in the making.
pub struct Shape {
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Default for Shape {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Shape {
    /// Room for so many rows.
    pub fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, nulls: NullBufferBuilder::new(rows) }
    }

    /// Adds a row that ends at `end`.
    #[inline]
    pub fn push(&mut self, end: usize, present: bool) -> Result<(), EvalError> {
        if end > MAX_BATCH {
            return Err(batch_too_long());
        }
        self.offsets.push(end as i32);
        self.nulls.append(present);
        Ok(())
    }

    /// The offsets and the rows that are not NULL.
    pub fn finish(mut self) -> (OffsetBuffer<i32>, Option<NullBuffer>) {
        (OffsetBuffer::new(self.offsets.into()), self.nulls.finish())
    }

    fn finish_texts(self, values: String) -> Result<ArrayRef, EvalError> {
        let (offsets, nulls) = self.finish();
        Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(values.into_bytes()), nulls)?))
    }
}

fn batch_too_long() -> EvalError {
    let reason = "the strings of one batch are longer than 2 GB together".into();
    EvalError::Argument { function: "string function", reason }
}

/// The error for a result beyond [`MAX_VALUE`].
pub fn too_long(function: &'static str) -> EvalError {
    EvalError::Argument { function, reason: "the result is longer than 256 MB".into() }
}

/// INTs of rows.
pub fn ints(rows: usize, value: impl FnMut(usize) -> Option<i32>) -> ArrayRef {
    Arc::new((0..rows).map(value).collect::<Int32Array>())
}

/// Conditions of rows, for functions that are NULL exactly where one of `args` is; `holds` is asked for
/// those rows too, with an answer that does not count.
pub fn truths(args: &[Column], rows: usize, holds: impl FnMut(usize) -> bool) -> ArrayRef {
    let values = BooleanBuffer::collect_bool(rows, holds);
    Arc::new(BooleanArray::new(values, common_nulls(args, rows)))
}

/// The rows where none of `args` is NULL.
pub fn common_nulls(args: &[Column], rows: usize) -> Option<NullBuffer> {
    args.iter().fold(None, |nulls, arg| {
        let more = match arg.array().logical_nulls() {
            Some(own) if arg.is_constant() => own.is_null(0).then(|| NullBuffer::new_null(rows)),
            own => own,
        };
        NullBuffer::union(nulls.as_ref(), more.as_ref())
    })
}

/// Integers of any width.
#[derive(Clone, Copy)]
pub enum Integers<'a> {
    /// TINYINT
    Tiny(&'a Int8Array, usize),
    /// SMALLINT
    Small(&'a Int16Array, usize),
    /// INT
    Int(&'a Int32Array, usize),
    /// BIGINT
    Big(&'a Int64Array, usize),
}

impl<'a> Integers<'a> {
    /// A view of the column, which must hold integers.
    pub fn new(column: &'a Column) -> Self {
        let stride = usize::from(!column.is_constant());
        match column.array().data_type() {
            Arrow::Int8 => Self::Tiny(column.array().as_primitive(), stride),
            Arrow::Int16 => Self::Small(column.array().as_primitive(), stride),
            Arrow::Int32 => Self::Int(column.array().as_primitive(), stride),
            _ => Self::Big(column.array().as_primitive(), stride),
        }
    }

    /// The value of `row`; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        fn value<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, index: usize) -> Option<i64>
        where
            T::Native: Into<i64>,
        {
            array.is_valid(index).then(|| array.value(index).into())
        }
        match self {
            Self::Tiny(array, stride) => value(array, row * stride),
            Self::Small(array, stride) => value(array, row * stride),
            Self::Int(array, stride) => value(array, row * stride),
            Self::Big(array, stride) => value(array, row * stride),
        }
    }
}

/// The bytes of strings or byte strings.
#[derive(Clone, Copy)]
pub enum TextOrBytes<'a> {
    /// CHAR and VARCHAR.
    Text(&'a StringArray, usize),
    /// BINARY and VARBINARY.
    Bytes(&'a BinaryArray, usize),
}

impl<'a> TextOrBytes<'a> {
    /// A view of the column, which must hold strings or byte strings.
    pub fn new(column: &'a Column) -> Self {
        let stride = usize::from(!column.is_constant());
        match column.array().data_type() {
            Arrow::Utf8 => Self::Text(column.array().as_string(), stride),
            _ => Self::Bytes(column.array().as_binary(), stride),
        }
    }

    /// The bytes of `row`; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Self::Text(array, stride) => {
                let index = row * stride;
                array.is_valid(index).then(|| array.value(index).as_bytes())
            }
            Self::Bytes(array, stride) => {
                let index = row * stride;
                array.is_valid(index).then(|| array.value(index))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_value_leaves_nothing_behind() {
        let array = texts(3, |row, out| {
            out.push_str("ab");
            (row != 1).then_some(())
        });
        let array = array.expect("short strings");
        let array = array.as_string::<i32>();
        assert_eq!(array.iter().collect::<Vec<_>>(), [Some("ab"), None, Some("ab")]);
    }

    #[test]
    fn a_null_constant_makes_all_rows_null() {
        let none = Column::constant(Arc::new(StringArray::from(vec![None::<&str>])));
        let some = Column::rows(Arc::new(StringArray::from(vec![Some("a"), None])));
        let nulls = |args: &[Column]| common_nulls(args, 2).map_or(0, |nulls| nulls.null_count());
        assert_eq!(nulls(std::slice::from_ref(&some)), 1);
        assert_eq!(nulls(&[some, none]), 2);
    }
}
