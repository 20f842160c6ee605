//! Key columns to keys.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, StringArray};
use arrow::array::{ArrayData, make_array};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, DataType as Arrow, Float32Type, Float64Type};
use flott_types::{DataType, TypeRoot, arrow_type};

use super::batch::{KeyBatch, Keys};
use super::bytes;
use crate::error::{Result, StateError};
use crate::rows::{EncodedRows, RowCodec};

/// Encodes the key columns of batches.
#[derive(Debug, Clone)]
pub struct KeyEncoder {
    layout: KeyLayout,
    codec: RowCodec,
}

/// The form keys of certain types have.
#[derive(Debug, Clone)]
enum KeyLayout {
    Unit,
    Int(IntKind),
    Text,
    Bytes,
    Rows,
}

/// How a value of at most eight bytes becomes an `i64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntKind {
    Boolean,
    /// An integer of this many bytes.
    Width(u8),
    Float,
    Double,
}

impl IntKind {
    pub(super) fn width(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Width(width) => width.into(),
            Self::Float => 4,
            Self::Double => 8,
        }
    }
}

impl KeyEncoder {
    /// An encoder of keys of these types; no type makes all rows one key.
    pub fn new(types: &[DataType]) -> Self {
        let layout = match types {
            [] => KeyLayout::Unit,
            [ty] => match &ty.root {
                TypeRoot::Char(_) | TypeRoot::Varchar(_) => KeyLayout::Text,
                TypeRoot::Binary(_)
                | TypeRoot::Varbinary(_)
                | TypeRoot::Bitmap
                | TypeRoot::Variant
                | TypeRoot::Raw(_) => KeyLayout::Bytes,
                root => int_kind(root).map_or(KeyLayout::Rows, KeyLayout::Int),
            },
            _ => KeyLayout::Rows,
        };
        Self { layout, codec: RowCodec::new(types) }
    }

    /// The types of the key columns.
    pub fn types(&self) -> &[DataType] {
        self.codec.types()
    }

    /// Encodes and hashes the keys of `rows` rows, whose key columns are `columns`.
    ///
    /// Fails when the columns are not of the encoder's types, or the keys exceed 2 GiB.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<KeyBatch> {
        let nulls = columns
            .iter()
            .fold(None, |nulls, column| {
                NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref())
            })
            .filter(|nulls| nulls.null_count() > 0);
        let keys = match (&self.layout, columns) {
            (KeyLayout::Unit, []) => Keys::Unit,
            (KeyLayout::Int(kind), [column]) => {
                let values = int_values(*kind, column, self.codec.types())?;
                Keys::Ints(zeroed(values, nulls.as_ref()))
            }
            (KeyLayout::Text, [column]) => {
                let strings = column.as_string_opt::<i32>();
                let strings = strings.ok_or_else(|| wrong_type(column, self.codec.types()))?;
                let (offsets, data) = (strings.offsets().inner().clone(), strings.values().clone());
                Keys::Strings(emptied(EncodedRows { offsets, data }, nulls.as_ref()))
            }
            (KeyLayout::Bytes, [column]) => {
                let strings = column.as_binary_opt::<i32>();
                let strings = strings.ok_or_else(|| wrong_type(column, self.codec.types()))?;
                let (offsets, data) = (strings.offsets().inner().clone(), strings.values().clone());
                Keys::Strings(emptied(EncodedRows { offsets, data }, nulls.as_ref()))
            }
            _ => Keys::Rows(self.codec.encode(columns, rows)?),
        };
        Ok(KeyBatch::new(keys, nulls, rows))
    }

    /// The form without keys in it, for a store to begin with.
    pub(super) fn empty(&self) -> Keys {
        match self.layout {
            KeyLayout::Unit => Keys::Unit,
            KeyLayout::Int(_) => Keys::Ints(ScalarBuffer::default()),
            KeyLayout::Text | KeyLayout::Bytes => Keys::Strings(EncodedRows::empty()),
            KeyLayout::Rows => Keys::Rows(EncodedRows::empty()),
        }
    }

    /// Keys of the form [`Keys::Ints`] back as a column.
    pub(super) fn int_column(
        &self,
        values: Vec<i64>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let (KeyLayout::Int(kind), [ty]) = (&self.layout, self.codec.types()) else {
            return Err(StateError::KeyKind);
        };
        let len = values.len();
        let buffer = match kind {
            IntKind::Boolean => {
                let bits = BooleanBuffer::collect_bool(len, |row| values[row] != 0);
                return Ok(Arc::new(BooleanArray::new(bits, nulls)));
            }
            IntKind::Width(1) => narrowed(&values, |value| value as i8),
            IntKind::Width(2) => narrowed(&values, |value| value as i16),
            IntKind::Width(4) => narrowed(&values, |value| value as i32),
            IntKind::Float => narrowed(&values, |value| value as u32),
            IntKind::Width(_) | IntKind::Double => Buffer::from_vec(values),
        };
        let data = ArrayData::builder(arrow_type(ty)).len(len).nulls(nulls).add_buffer(buffer);
        Ok(make_array(data.build()?))
    }

    /// How many bytes a value of keys of the form [`Keys::Ints`] takes in an encoded row.
    pub(super) fn int_width(&self) -> usize {
        match self.layout {
            KeyLayout::Int(kind) => kind.width(),
            _ => 0,
        }
    }

    /// The keys of rows that were encoded by [`Self::codec`]; whoever wrote them, they are checked.
    pub fn encode_rows(&self, rows: &[&[u8]]) -> Result<KeyBatch> {
        match self.layout {
            KeyLayout::Int(kind) => bytes::int_keys(kind, rows),
            KeyLayout::Text => bytes::string_keys(rows, true),
            KeyLayout::Bytes => bytes::string_keys(rows, false),
            KeyLayout::Unit | KeyLayout::Rows => self.encode(&self.codec.decode(rows)?, rows.len()),
        }
    }

    /// Keys of the form [`Keys::Strings`] back as a column.
    pub(super) fn string_column(
        &self,
        offsets: Vec<i32>,
        data: Vec<u8>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let offsets = OffsetBuffer::new(offsets.into());
        Ok(match self.layout {
            KeyLayout::Text => Arc::new(StringArray::try_new(offsets, data.into(), nulls)?),
            KeyLayout::Bytes => Arc::new(BinaryArray::try_new(offsets, data.into(), nulls)?),
            _ => return Err(StateError::KeyKind),
        })
    }

    /// The codec of whole keys, which snapshots use whatever form keys have in memory.
    pub fn codec(&self) -> &RowCodec {
        &self.codec
    }
}

fn int_kind(root: &TypeRoot) -> Option<IntKind> {
    Some(match root {
        TypeRoot::Boolean => IntKind::Boolean,
        TypeRoot::TinyInt => IntKind::Width(1),
        TypeRoot::SmallInt => IntKind::Width(2),
        TypeRoot::Int | TypeRoot::Date | TypeRoot::Time(_) | TypeRoot::IntervalYearMonth => {
            IntKind::Width(4)
        }
        TypeRoot::BigInt | TypeRoot::IntervalDayTime => IntKind::Width(8),
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) if *p <= 6 => IntKind::Width(8),
        TypeRoot::Float => IntKind::Float,
        TypeRoot::Double => IntKind::Double,
        _ => return None,
    })
}

fn int_values(kind: IntKind, column: &ArrayRef, types: &[DataType]) -> Result<ScalarBuffer<i64>> {
    let wrong = || wrong_type(column, types);
    if types.first().is_none_or(|ty| arrow_type(ty) != *column.data_type()) {
        return Err(wrong());
    }
    Ok(match kind {
        IntKind::Boolean => column.as_boolean().values().iter().map(i64::from).collect(),
        IntKind::Width(1) => widened::<i8>(column, i64::from),
        IntKind::Width(2) => widened::<i16>(column, i64::from),
        IntKind::Width(4) => widened::<i32>(column, i64::from),
        IntKind::Width(_) => natives(column),
        IntKind::Float => {
            let one_nan = |value: &f32| if value.is_nan() { f32::NAN } else { *value };
            let values = column.as_primitive::<Float32Type>().values();
            values.iter().map(|value| i64::from(one_nan(value).to_bits())).collect()
        }
        IntKind::Double => {
            let one_nan = |value: &f64| if value.is_nan() { f64::NAN } else { *value };
            let values = column.as_primitive::<Float64Type>().values();
            values.iter().map(|value| one_nan(value).to_bits() as i64).collect()
        }
    })
}

/// The values, 0 where NULL.
fn zeroed(values: ScalarBuffer<i64>, nulls: Option<&NullBuffer>) -> ScalarBuffer<i64> {
    let Some(nulls) = nulls else { return values };
    values.iter().zip(nulls).map(|(value, valid)| if valid { *value } else { 0 }).collect()
}

/// The strings, empty where NULL. Arrow allows other bytes there, though hardly anyone writes them.
fn emptied(strings: EncodedRows, nulls: Option<&NullBuffer>) -> EncodedRows {
    let Some(nulls) = nulls else { return strings };
    if strings.iter().zip(nulls).all(|(string, valid)| valid || string.is_empty()) {
        return strings;
    }
    let mut offsets = Vec::with_capacity(strings.len() + 1);
    let mut data: Vec<u8> = Vec::new();
    offsets.push(0);
    for (string, valid) in strings.iter().zip(nulls) {
        data.extend_from_slice(if valid { string } else { &[] });
        // No longer than the strings were, whose offsets are of the same width.
        offsets.push(data.len() as i32);
    }
    EncodedRows { offsets: offsets.into(), data: data.into() }
}

/// The values of a primitive array, whatever they mean.
fn natives<T: ArrowNativeType>(column: &ArrayRef) -> ScalarBuffer<T> {
    let data = column.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

fn widened<T: ArrowNativeType>(column: &ArrayRef, wide: impl Fn(T) -> i64) -> ScalarBuffer<i64> {
    natives::<T>(column).iter().map(|value| wide(*value)).collect()
}

fn narrowed<T: ArrowNativeType>(values: &[i64], narrow: impl Fn(i64) -> T) -> Buffer {
    Buffer::from_vec(values.iter().map(|value| narrow(*value)).collect::<Vec<_>>())
}

fn wrong_type(column: &ArrayRef, types: &[DataType]) -> StateError {
    let expected: Option<Arrow> = types.first().map(arrow_type);
    StateError::ColumnType {
        expected: expected.map(|ty| ty.to_string()).unwrap_or_default(),
        found: column.data_type().to_string(),
    }
}
