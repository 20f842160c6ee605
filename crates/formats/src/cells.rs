//! Arrow columns as encoders read them: each downcast once a batch.

use arrow::array::{
    Array, AsArray, BinaryArray, BooleanArray, ListArray, PrimitiveArray, StringArray, StructArray,
};
use arrow::datatypes as at;
use flott_types::{DataType, RowField, TimestampUnit, TypeRoot, timestamp_unit};

use crate::error::FormatError;
use crate::text::{self, DateTime};

/// A column, typed.
pub(crate) enum Cells<'a> {
    Null,
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<at::Int8Type>),
    SmallInt(&'a PrimitiveArray<at::Int16Type>),
    Int(&'a PrimitiveArray<at::Int32Type>),
    BigInt(&'a PrimitiveArray<at::Int64Type>),
    Float(&'a PrimitiveArray<at::Float32Type>),
    Double(&'a PrimitiveArray<at::Float64Type>),
    Decimal(&'a PrimitiveArray<at::Decimal128Type>, u8),
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
    Date(&'a PrimitiveArray<at::Date32Type>),
    Time(&'a PrimitiveArray<at::Time32MillisecondType>),
    Timestamp {
        values: Instants<'a>,
        zoned: bool,
    },
    Months(&'a PrimitiveArray<at::IntervalYearMonthType>),
    Millis(&'a PrimitiveArray<at::DurationMillisecondType>),
    Array(&'a ListArray, Box<Cells<'a>>),
    /// Keys and values of all rows.
    Map(&'a ListArray, Box<Cells<'a>>, Box<Cells<'a>>),
    Row(&'a StructArray, Vec<Cells<'a>>),
}

/// Timestamps in the unit of their precision.
pub(crate) enum Instants<'a> {
    Millis(&'a PrimitiveArray<at::TimestampMillisecondType>),
    Micros(&'a PrimitiveArray<at::TimestampMicrosecondType>),
    Nanos(&'a PrimitiveArray<at::Decimal128Type>),
}

impl<'a> Cells<'a> {
    /// The cells of an array in the layout of `ty`.
    pub(crate) fn new(array: &'a dyn Array, ty: &DataType) -> Result<Self, FormatError> {
        Self::typed(array, ty)
            .unwrap_or_else(|| Err(FormatError::Layout { data_type: ty.summary() }))
    }

    fn typed(array: &'a dyn Array, ty: &DataType) -> Option<Result<Self, FormatError>> {
        Some(Ok(match &ty.root {
            TypeRoot::Null | TypeRoot::Descriptor => Self::Null,
            TypeRoot::Boolean => Self::Boolean(array.as_boolean_opt()?),
            TypeRoot::TinyInt => Self::TinyInt(array.as_primitive_opt()?),
            TypeRoot::SmallInt => Self::SmallInt(array.as_primitive_opt()?),
            TypeRoot::Int => Self::Int(array.as_primitive_opt()?),
            TypeRoot::BigInt => Self::BigInt(array.as_primitive_opt()?),
            TypeRoot::Float => Self::Float(array.as_primitive_opt()?),
            TypeRoot::Double => Self::Double(array.as_primitive_opt()?),
            TypeRoot::Decimal { scale, .. } => Self::Decimal(array.as_primitive_opt()?, *scale),
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Self::Text(array.as_string_opt()?),
            TypeRoot::Binary(_)
            | TypeRoot::Varbinary(_)
            | TypeRoot::Bitmap
            | TypeRoot::Variant
            | TypeRoot::Raw(_) => Self::Binary(array.as_binary_opt()?),
            TypeRoot::Date => Self::Date(array.as_primitive_opt()?),
            TypeRoot::Time(_) => Self::Time(array.as_primitive_opt()?),
            TypeRoot::Timestamp(p) => {
                Self::Timestamp { values: Instants::new(array, *p)?, zoned: false }
            }
            TypeRoot::TimestampLtz(p) => {
                Self::Timestamp { values: Instants::new(array, *p)?, zoned: true }
            }
            TypeRoot::IntervalYearMonth => Self::Months(array.as_primitive_opt()?),
            TypeRoot::IntervalDayTime => Self::Millis(array.as_primitive_opt()?),
            TypeRoot::Array(element) => {
                let lists = array.as_list_opt()?;
                return Some(
                    Self::new(lists.values(), element)
                        .map(|items| Self::Array(lists, Box::new(items))),
                );
            }
            TypeRoot::Map(key, value) => return Self::map(array, key, value),
            TypeRoot::Multiset(element) => return Self::map(array, element, &DataType::int()),
            TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
                return Some(Self::row(array.as_struct_opt()?, fields));
            }
        }))
    }

    fn map(
        array: &'a dyn Array,
        key: &DataType,
        value: &DataType,
    ) -> Option<Result<Self, FormatError>> {
        let lists = array.as_list_opt::<i32>()?;
        let [keys, values] = lists.values().as_struct_opt()?.columns() else { return None };
        Some(Self::new(keys, key).and_then(|keys| {
            Ok(Self::Map(lists, Box::new(keys), Box::new(Self::new(values, value)?)))
        }))
    }

    fn row(structs: &'a StructArray, fields: &[RowField]) -> Result<Self, FormatError> {
        let columns = structs
            .columns()
            .iter()
            .zip(fields)
            .map(|(column, field)| Self::new(column, &field.data_type))
            .collect::<Result<_, _>>()?;
        Ok(Self::Row(structs, columns))
    }

    /// Whether the cell at `row` is NULL.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Null => true,
            Self::Boolean(array) => array.is_null(row),
            Self::TinyInt(array) => array.is_null(row),
            Self::SmallInt(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::BigInt(array) => array.is_null(row),
            Self::Float(array) => array.is_null(row),
            Self::Double(array) => array.is_null(row),
            Self::Decimal(array, _) => array.is_null(row),
            Self::Text(array) => array.is_null(row),
            Self::Binary(array) => array.is_null(row),
            Self::Date(array) => array.is_null(row),
            Self::Time(array) => array.is_null(row),
            Self::Timestamp { values, .. } => match values {
                Instants::Millis(array) => array.is_null(row),
                Instants::Micros(array) => array.is_null(row),
                Instants::Nanos(array) => array.is_null(row),
            },
            Self::Months(array) => array.is_null(row),
            Self::Millis(array) => array.is_null(row),
            Self::Array(array, _) | Self::Map(array, ..) => array.is_null(row),
            Self::Row(array, _) => array.is_null(row),
        }
    }
}

impl<'a> Instants<'a> {
    fn new(array: &'a dyn Array, precision: u8) -> Option<Self> {
        Some(match timestamp_unit(precision) {
            TimestampUnit::Millis => Self::Millis(array.as_primitive_opt()?),
            TimestampUnit::Micros => Self::Micros(array.as_primitive_opt()?),
            TimestampUnit::Nanos => Self::Nanos(array.as_primitive_opt()?),
        })
    }

    /// The point of time at `row`.
    pub(crate) fn value(&self, row: usize) -> DateTime {
        let split = |steps: i64, nanos: i64| {
            let steps_per_day = 86_400_000_000_000 / nanos;
            DateTime {
                days: steps.div_euclid(steps_per_day),
                nanos: steps.rem_euclid(steps_per_day) * nanos,
            }
        };
        match self {
            Self::Millis(array) => split(array.value(row), 1_000_000),
            Self::Micros(array) => split(array.value(row), 1_000),
            Self::Nanos(array) => {
                let nanos = array.value(row);
                DateTime {
                    days: nanos.div_euclid(86_400_000_000_000) as i64,
                    nanos: nanos.rem_euclid(86_400_000_000_000) as i64,
                }
            }
        }
    }
}

/// Appends a number.
#[inline]
pub(crate) fn write_integer(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a TIME of milliseconds.
pub(crate) fn write_time(out: &mut Vec<u8>, millis: i32) {
    text::write_nanos_of_day(out, i64::from(millis) * 1_000_000);
}

/// Appends a timestamp; one with a zone is shown in UTC with a `Z`.
pub(crate) fn write_timestamp(out: &mut Vec<u8>, point: DateTime, separator: u8, zoned: bool) {
    text::write_date(out, point.days);
    out.push(separator);
    text::write_nanos_of_day(out, point.nanos);
    if zoned {
        out.push(b'Z');
    }
}
