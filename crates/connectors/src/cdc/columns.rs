//! Columns built from the texts in which databases send values.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder,
    Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, ListArray,
    NullBufferBuilder, StringBuilder, Time32MillisecondBuilder, TimestampMicrosecondBuilder,
    TimestampMillisecondBuilder,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as Arrow, Field};
use flott_types::{DataType, TimestampUnit, TypeRoot, arrow_type, timestamp_unit};

use super::texts;

/// A text that is no value of the column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unfit;

/// The column under construction of one SQL type.
pub(super) enum Column {
    Boolean(BooleanBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    Decimal {
        values: Decimal128Builder,
        precision: u8,
        scale: u8,
    },
    /// With the number of characters that CHAR is padded to.
    Text(StringBuilder, usize),
    /// With memory to decode into where bytes are sent in hexadecimal.
    Bytes(BinaryBuilder, Option<Vec<u8>>),
    Date(Date32Builder),
    Time(Time32MillisecondBuilder),
    Millis(TimestampMillisecondBuilder),
    Micros(TimestampMicrosecondBuilder),
    Nanos(Decimal128Builder),
    Array {
        elements: Box<Column>,
        element: Arrow,
        offsets: Vec<i32>,
        valid: NullBufferBuilder,
    },
}

impl Column {
    /// A column of a type; `None` when no value of a database is of it. `hexadecimal` says how bytes are sent.
    pub(super) fn of(ty: &DataType, hexadecimal: bool) -> Option<Self> {
        Some(match &ty.root {
            TypeRoot::Boolean => Self::Boolean(BooleanBuilder::new()),
            TypeRoot::TinyInt => Self::Int8(Int8Builder::new()),
            TypeRoot::SmallInt => Self::Int16(Int16Builder::new()),
            TypeRoot::Int => Self::Int32(Int32Builder::new()),
            TypeRoot::BigInt => Self::Int64(Int64Builder::new()),
            TypeRoot::Float => Self::Float(Float32Builder::new()),
            TypeRoot::Double => Self::Double(Float64Builder::new()),
            TypeRoot::Decimal { precision, scale } => Self::Decimal {
                values: Decimal128Builder::new().with_data_type(arrow_type(ty)),
                precision: *precision,
                scale: *scale,
            },
            TypeRoot::Char(length) => Self::Text(StringBuilder::new(), *length as usize),
            TypeRoot::Varchar(_) => Self::Text(StringBuilder::new(), 0),
            TypeRoot::Binary(_) | TypeRoot::Varbinary(_) => {
                Self::Bytes(BinaryBuilder::new(), hexadecimal.then(Vec::new))
            }
            TypeRoot::Date => Self::Date(Date32Builder::new()),
            TypeRoot::Time(_) => Self::Time(Time32MillisecondBuilder::new()),
            TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
                TimestampUnit::Millis => Self::Millis(TimestampMillisecondBuilder::new()),
                TimestampUnit::Micros => Self::Micros(TimestampMicrosecondBuilder::new()),
                TimestampUnit::Nanos => {
                    Self::Nanos(Decimal128Builder::new().with_data_type(arrow_type(ty)))
                }
            },
            TypeRoot::Array(element) => Self::Array {
                elements: Box::new(Self::of(element, hexadecimal)?),
                element: arrow_type(element),
                offsets: vec![0],
                valid: NullBufferBuilder::new(0),
            },
            _ => return None,
        })
    }

    /// Appends NULL.
    pub(super) fn push_null(&mut self) {
        match self {
            Self::Boolean(values) => values.append_null(),
            Self::Int8(values) => values.append_null(),
            Self::Int16(values) => values.append_null(),
            Self::Int32(values) => values.append_null(),
            Self::Int64(values) => values.append_null(),
            Self::Float(values) => values.append_null(),
            Self::Double(values) => values.append_null(),
            Self::Decimal { values, .. } | Self::Nanos(values) => values.append_null(),
            Self::Text(values, _) => values.append_null(),
            Self::Bytes(values, _) => values.append_null(),
            Self::Date(values) => values.append_null(),
            Self::Time(values) => values.append_null(),
            Self::Millis(values) => values.append_null(),
            Self::Micros(values) => values.append_null(),
            Self::Array { offsets, valid, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
                valid.append_null();
            }
        }
    }

    /// Appends the value that a text says.
    pub(super) fn push(&mut self, text: &[u8]) -> Result<(), Unfit> {
        match self {
            Self::Boolean(values) => values.append_value(texts::boolean(text).ok_or(Unfit)?),
            Self::Int8(values) => values.append_value(parse(text)?),
            Self::Int16(values) => values.append_value(parse(text)?),
            Self::Int32(values) => values.append_value(parse(text)?),
            Self::Int64(values) => values.append_value(parse(text)?),
            Self::Float(values) => values.append_value(parse(text)?),
            Self::Double(values) => values.append_value(parse(text)?),
            Self::Decimal { values, precision, scale } => {
                values.append_value(texts::decimal(text, *precision, *scale).ok_or(Unfit)?);
            }
            Self::Text(values, padding) => {
                let text = str::from_utf8(text).map_err(|_| Unfit)?;
                match padding.saturating_sub(text.chars().count()) {
                    0 => values.append_value(text),
                    missing => values.append_value(format!("{text}{:missing$}", "")),
                }
            }
            Self::Bytes(values, None) => values.append_value(text),
            Self::Bytes(values, Some(decoded)) => {
                texts::hexadecimal(text.strip_prefix(b"\\x").ok_or(Unfit)?, decoded)
                    .ok_or(Unfit)?;
                values.append_value(&*decoded);
            }
            Self::Date(values) => values.append_value(texts::date(text).ok_or(Unfit)?),
            Self::Time(values) => values.append_value(texts::time(text).ok_or(Unfit)?),
            Self::Millis(values) => {
                let nanos = texts::timestamp(text).ok_or(Unfit)?;
                values.append_value(i64::try_from(nanos.div_euclid(1_000_000)).map_err(|_| Unfit)?);
            }
            Self::Micros(values) => {
                let nanos = texts::timestamp(text).ok_or(Unfit)?;
                values.append_value(i64::try_from(nanos.div_euclid(1_000)).map_err(|_| Unfit)?);
            }
            Self::Nanos(values) => values.append_value(texts::timestamp(text).ok_or(Unfit)?),
            Self::Array { elements, offsets, valid, .. } => {
                let count = texts::array(text, |element| match element {
                    None => {
                        elements.push_null();
                        Ok(())
                    }
                    Some(element) => elements.push(element),
                })?;
                offsets.push(offsets.last().copied().unwrap_or(0) + count);
                valid.append_non_null();
            }
        }
        Ok(())
    }

    /// The column, which is empty afterwards.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Boolean(values) => Arc::new(values.finish()),
            Self::Int8(values) => Arc::new(values.finish()),
            Self::Int16(values) => Arc::new(values.finish()),
            Self::Int32(values) => Arc::new(values.finish()),
            Self::Int64(values) => Arc::new(values.finish()),
            Self::Float(values) => Arc::new(values.finish()),
            Self::Double(values) => Arc::new(values.finish()),
            Self::Decimal { values, .. } | Self::Nanos(values) => Arc::new(values.finish()),
            Self::Text(values, _) => Arc::new(values.finish()),
            Self::Bytes(values, _) => Arc::new(values.finish()),
            Self::Date(values) => Arc::new(values.finish()),
            Self::Time(values) => Arc::new(values.finish()),
            Self::Millis(values) => Arc::new(values.finish()),
            Self::Micros(values) => Arc::new(values.finish()),
            Self::Array { elements, element, offsets, valid } => {
                let offsets = OffsetBuffer::new(std::mem::replace(offsets, vec![0]).into());
                let field = Arc::new(Field::new("item", element.clone(), true));
                Arc::new(ListArray::new(field, offsets, elements.finish(), valid.finish()))
            }
        }
    }
}

fn parse<T: std::str::FromStr>(text: &[u8]) -> Result<T, Unfit> {
    str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Unfit)
}
