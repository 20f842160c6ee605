//! Columns under construction, in the Arrow layout of their SQL types.
//!
//! Arrow's own builders only grow. A record that turns out bad in its fifth column must leave no
//! trace in the first four, so these columns can be cut back to the length that they had before it.

mod nested;
mod rows;
mod values;

use arrow::array::{ArrayRef, NullArray};
use arrow::datatypes as at;
use flott_types::{DataType, RowField, TimestampUnit, TypeRoot, arrow_type, timestamp_unit};

pub(crate) use nested::{Lists, Structs};
pub(crate) use rows::Rows;
pub(crate) use values::{Booleans, Bytes, Values};

/// Why a text is not a value of a column's type. With `ignore-parse-errors` one is made and
/// dropped for each such value, so it holds no text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text is not in the form of the type.
    Form,
    /// The value lies outside of the type's range.
    Range,
    /// The batch cannot hold more bytes.
    TooLong,
}

/// A column under construction.
#[derive(Debug)]
pub(crate) enum Column {
    Null(usize),
    Boolean(Booleans),
    TinyInt(Values<at::Int8Type>),
    SmallInt(Values<at::Int16Type>),
    Int(Values<at::Int32Type>),
    BigInt(Values<at::Int64Type>),
    Float(Values<at::Float32Type>),
    Double(Values<at::Float64Type>),
    Decimal {
        values: Values<at::Decimal128Type>,
        precision: u8,
        scale: u8,
    },
    Text(Bytes),
    Binary(Bytes),
    Date(Values<at::Date32Type>),
    Time {
        values: Values<at::Time32MillisecondType>,
        precision: u8,
    },
    Timestamp {
        values: Timestamps,
        zoned: bool,
    },
    Months(Values<at::IntervalYearMonthType>),
    Millis(Values<at::DurationMillisecondType>),
    Array(Lists),
    /// MAP and MULTISET: items are structs of key and value.
    Map(Lists),
    Row(Structs),
}

/// TIMESTAMP and TIMESTAMP_LTZ values in the unit that their precision asks for.
#[derive(Debug)]
pub(crate) enum Timestamps {
    Millis(Values<at::TimestampMillisecondType>),
    Micros(Values<at::TimestampMicrosecondType>),
    Nanos(Values<at::Decimal128Type>),
}

macro_rules! each {
    ($column:expr, $values:ident => $do:expr, $null:pat => $nothing:expr) => {
        match $column {
            $null => $nothing,
            Column::Boolean($values) => $do,
            Column::TinyInt($values) => $do,
            Column::SmallInt($values) => $do,
            Column::Int($values) => $do,
            Column::BigInt($values) => $do,
            Column::Float($values) => $do,
            Column::Double($values) => $do,
            Column::Decimal { values: $values, .. } => $do,
            Column::Text($values) | Column::Binary($values) => $do,
            Column::Date($values) => $do,
            Column::Time { values: $values, .. } => $do,
            Column::Timestamp { values: Timestamps::Millis($values), .. } => $do,
            Column::Timestamp { values: Timestamps::Micros($values), .. } => $do,
            Column::Timestamp { values: Timestamps::Nanos($values), .. } => $do,
            Column::Months($values) => $do,
            Column::Millis($values) => $do,
            Column::Array($values) | Column::Map($values) => $do,
            Column::Row($values) => $do,
        }
    };
}

impl Column {
    /// An empty column for values of a type.
    pub(crate) fn new(ty: &DataType) -> Self {
        let arrow = arrow_type(ty);
        match &ty.root {
            TypeRoot::Null | TypeRoot::Descriptor => Self::Null(0),
            TypeRoot::Boolean => Self::Boolean(Booleans::new()),
            TypeRoot::TinyInt => Self::TinyInt(Values::new(arrow)),
            TypeRoot::SmallInt => Self::SmallInt(Values::new(arrow)),
            TypeRoot::Int => Self::Int(Values::new(arrow)),
            TypeRoot::BigInt => Self::BigInt(Values::new(arrow)),
            TypeRoot::Float => Self::Float(Values::new(arrow)),
            TypeRoot::Double => Self::Double(Values::new(arrow)),
            TypeRoot::Decimal { precision, scale } => {
                Self::Decimal { values: Values::new(arrow), precision: *precision, scale: *scale }
            }
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Self::Text(Bytes::new()),
            TypeRoot::Binary(_)
            | TypeRoot::Varbinary(_)
            | TypeRoot::Bitmap
            | TypeRoot::Variant
            | TypeRoot::Raw(_) => Self::Binary(Bytes::new()),
            TypeRoot::Date => Self::Date(Values::new(arrow)),
            TypeRoot::Time(precision) => {
                Self::Time { values: Values::new(arrow), precision: *precision }
            }
            TypeRoot::Timestamp(p) => {
                Self::Timestamp { values: Timestamps::new(*p, arrow), zoned: false }
            }
            TypeRoot::TimestampLtz(p) => {
                Self::Timestamp { values: Timestamps::new(*p, arrow), zoned: true }
            }
            TypeRoot::IntervalYearMonth => Self::Months(Values::new(arrow)),
            TypeRoot::IntervalDayTime => Self::Millis(Values::new(arrow)),
            TypeRoot::Array(element) => {
                Self::Array(Lists::new(nested::list_item(&arrow), Self::new(element)))
            }
            TypeRoot::Map(key, value) => Self::map(&arrow, key, value),
            TypeRoot::Multiset(element) => Self::map(&arrow, element, &DataType::int()),
            TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
                Self::Row(Structs::new(nested::struct_fields(&arrow), Self::of_fields(fields)))
            }
        }
    }

    fn map(arrow: &at::DataType, key: &DataType, value: &DataType) -> Self {
        let item = nested::list_item(arrow);
        let entries = Structs::new(
            nested::struct_fields(item.data_type()),
            vec![Self::new(key), Self::new(value)],
        );
        Self::Map(Lists::new(item, Self::Row(entries)))
    }

    fn of_fields(fields: &[RowField]) -> Vec<Self> {
        fields.iter().map(|field| Self::new(&field.data_type)).collect()
    }

    /// The number of whole values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        each!(self, values => values.len(), Self::Null(len) => *len)
    }

    /// Adds a NULL; what an unfinished value left behind goes.
    pub(crate) fn push_null(&mut self) {
        each!(self, values => values.push_null(), Self::Null(len) => *len += 1)
    }

    /// Cuts the column back to `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        each!(self, values => values.truncate(len), Self::Null(n) => *n = (*n).min(len))
    }

    /// The values as an array; the column is empty afterwards.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Null(len) => std::sync::Arc::new(NullArray::new(std::mem::take(len))),
            Self::Text(values) => values.finish_text(),
            Self::Binary(values) => values.finish_binary(),
            Self::Boolean(values) => values.finish(),
            Self::TinyInt(values) => values.finish(),
            Self::SmallInt(values) => values.finish(),
            Self::Int(values) => values.finish(),
            Self::BigInt(values) => values.finish(),
            Self::Float(values) => values.finish(),
            Self::Double(values) => values.finish(),
            Self::Decimal { values, .. } => values.finish(),
            Self::Date(values) => values.finish(),
            Self::Time { values, .. } => values.finish(),
            Self::Timestamp { values, .. } => match values {
                Timestamps::Millis(values) => values.finish(),
                Timestamps::Micros(values) => values.finish(),
                Timestamps::Nanos(values) => values.finish(),
            },
            Self::Months(values) => values.finish(),
            Self::Millis(values) => values.finish(),
            Self::Array(values) | Self::Map(values) => values.finish(),
            Self::Row(values) => values.finish(),
        }
    }
}

impl Timestamps {
    fn new(precision: u8, arrow: at::DataType) -> Self {
        match timestamp_unit(precision) {
            TimestampUnit::Millis => Self::Millis(Values::new(arrow)),
            TimestampUnit::Micros => Self::Micros(Values::new(arrow)),
            TimestampUnit::Nanos => Self::Nanos(Values::new(arrow)),
        }
    }

    /// Adds a point of time, cut to the unit.
    #[inline]
    pub(crate) fn push(&mut self, point: crate::text::DateTime) -> Result<(), Fault> {
        const MILLIS_PER_DAY: i64 = 86_400_000;
        match self {
            Self::Millis(values) => {
                let millis = point
                    .days
                    .checked_mul(MILLIS_PER_DAY)
                    .and_then(|start| start.checked_add(point.nanos / 1_000_000));
                values.push(millis.ok_or(Fault::Range)?);
            }
            Self::Micros(values) => {
                let micros = point
                    .days
                    .checked_mul(MILLIS_PER_DAY * 1000)
                    .and_then(|start| start.checked_add(point.nanos / 1_000));
                values.push(micros.ok_or(Fault::Range)?);
            }
            Self::Nanos(values) => values.push(
                i128::from(point.days) * i128::from(MILLIS_PER_DAY) * 1_000_000
                    + i128::from(point.nanos),
            ),
        }
        Ok(())
    }

    pub(crate) fn push_null(&mut self) {
        match self {
            Self::Millis(values) => values.push_null(),
            Self::Micros(values) => values.push_null(),
            Self::Nanos(values) => values.push_null(),
        }
    }

    /// Adds an instant in milliseconds since the epoch.
    pub(crate) fn push_millis(&mut self, millis: i64) -> Result<(), Fault> {
        let day = 86_400_000;
        self.push(crate::text::DateTime {
            days: millis.div_euclid(day),
            nanos: millis.rem_euclid(day) * 1_000_000,
        })
    }
}
