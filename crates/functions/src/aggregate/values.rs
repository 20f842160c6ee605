//! Values of any type as bytes: equal values have equal bytes, and their order is that of the bytes.
//!
//! The bytes live in memory only; states hold columns of the values' types.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, ListArray, StringBuilder};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::Field;
use arrow::row::{RowConverter, RowParser, Rows, SortField};
use flott_types::{DataType, TypeRoot, arrow_type};

use super::layout::state_column;
use crate::EvalError;

/// Turns columns of one type into bytes and back.
pub struct ValueCodec {
    form: Form,
}

enum Form {
    /// Strings are their own bytes.
    Text,
    /// Byte strings too.
    Bytes,
    /// Anything else in Arrow's row format.
    Rows { converter: RowConverter, parser: RowParser, null: Box<[u8]> },
}

impl ValueCodec {
    /// A codec of values of this type.
    pub fn new(ty: &DataType) -> Result<Self, EvalError> {
        let form = match &ty.root {
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Form::Text,
            TypeRoot::Binary(_) | TypeRoot::Varbinary(_) | TypeRoot::Bitmap => Form::Bytes,
            TypeRoot::Variant | TypeRoot::Raw(_) => Form::Bytes,
            _ => {
                let layout = arrow_type(ty);
                let converter = RowConverter::new(vec![SortField::new(layout.clone())])?;
                let null = arrow::array::new_null_array(&layout, 1);
                let null = converter.convert_columns(&[null])?.row(0).data().into();
                Form::Rows { parser: converter.parser(), converter, null }
            }
        };
        Ok(Self { form })
    }

    /// The bytes of a column's values; those of NULL are there, and mean nothing.
    pub fn encode(&self, column: &ArrayRef) -> Result<Encoded, EvalError> {
        Ok(match &self.form {
            Form::Text | Form::Bytes => Encoded::Column(column.clone()),
            Form::Rows { converter, .. } => {
                Encoded::Rows(converter.convert_columns(std::slice::from_ref(column))?)
            }
        })
    }

    /// A column of values from their bytes; `None` is NULL.
    pub fn decode<'a>(
        &self,
        values: impl Iterator<Item = Option<&'a [u8]>>,
    ) -> Result<ArrayRef, EvalError> {
        match &self.form {
            Form::Text => {
                let mut builder = StringBuilder::new();
                for value in values {
                    match value {
                        Some(bytes) => builder.append_value(text(bytes)?),
                        None => builder.append_null(),
                    }
                }
                Ok(Arc::new(builder.finish()))
            }
            Form::Bytes => {
                let mut builder = BinaryBuilder::new();
                values.for_each(|value| builder.append_option(value));
                Ok(Arc::new(builder.finish()))
            }
            Form::Rows { converter, parser, null } => {
                let rows = values.map(|value| value.unwrap_or(null)).collect::<Vec<_>>();
                let columns = converter.convert_rows(rows.iter().map(|row| parser.parse(row)))?;
                let column = columns.into_iter().next();
                column.ok_or_else(|| EvalError::Internal("no column came of rows".into()))
            }
        }
    }
}

/// Bytes that were a string, as one.
pub fn text(bytes: &[u8]) -> Result<&str, EvalError> {
    std::str::from_utf8(bytes).map_err(|_| EvalError::Internal("a string that is not UTF-8".into()))
}

/// The bytes of a column's values.
pub enum Encoded {
    /// Strings or byte strings.
    Column(ArrayRef),
    /// Rows of one column.
    Rows(Rows),
}

impl Encoded {
    /// The bytes of a row's value.
    pub fn get(&self, row: usize) -> &[u8] {
        match self {
            Self::Rows(rows) => rows.row(row).data(),
            Self::Column(column) => match column.as_string_opt::<i32>() {
                Some(strings) => strings.value(row).as_bytes(),
                None => column.as_binary_opt::<i32>().map_or(&[], |bytes| bytes.value(row)),
            },
        }
    }
}

/// Bytes of many values one after the other, some of which may be NULL.
#[derive(Default)]
pub struct Arena {
    bytes: Vec<u8>,
    ranges: Vec<Option<(usize, usize)>>,
}

impl Arena {
    /// Adds a value.
    pub fn push(&mut self, value: Option<&[u8]>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.ranges.push(value.map(|_| (start, self.bytes.len())));
    }

    /// The last value.
    pub fn last(&self) -> Option<&[u8]> {
        let (start, end) = self.ranges.last().copied().flatten()?;
        Some(&self.bytes[start..end])
    }

    /// Adds the last value once more.
    pub fn repeat(&mut self) {
        self.ranges.push(self.ranges.last().copied().flatten());
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.ranges.iter().map(|range| range.map(|(start, end)| &self.bytes[start..end]))
    }
}

/// Lists of these lengths out of `items`; `None` is NULL.
pub fn lists(
    lengths: impl Iterator<Item = Option<usize>>,
    items: ArrayRef,
) -> Result<ArrayRef, EvalError> {
    let (mut ends, mut valid) = (Vec::new(), Vec::new());
    for length in lengths {
        ends.push(length.unwrap_or(0));
        valid.push(length.is_some());
    }
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    let nulls = Some(NullBuffer::from(valid)).filter(|nulls| nulls.null_count() > 0);
    let offsets = OffsetBuffer::from_lengths(ends);
    Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?))
}

/// Column `index` of a state as lists.
pub fn state_lists(state: &[ArrayRef], index: usize) -> Result<&ListArray, EvalError> {
    let lists = state_column(state, index)?.as_list_opt();
    lists.ok_or_else(|| EvalError::Internal("an aggregate's state that is no list".into()))
}

/// The positions of a list's items in [`ListArray::values`].
pub fn items_of(lists: &ListArray, row: usize) -> std::ops::Range<usize> {
    let offsets = lists.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}
