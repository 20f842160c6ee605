//! Single values: literals, option values, accumulators off the hot path.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder,
    DurationMillisecondBuilder, Float32Builder, Float64Builder, Int8Builder, Int16Builder,
    Int32Builder, Int64Builder, IntervalYearMonthBuilder, ListArray, NullArray, StringBuilder,
    StructArray, Time32MillisecondBuilder, TimestampMicrosecondBuilder,
    TimestampMillisecondBuilder,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes as at;

use crate::layout::arrow_type;
use crate::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

/// One SQL value, whose [`DataType`] is known beside it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL of any type.
    Null,
    /// BOOLEAN
    Boolean(bool),
    /// TINYINT, SMALLINT, INT, BIGINT.
    Int(i64),
    /// FLOAT
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// DECIMAL: the digits without their point; the scale is the type's.
    Decimal(i128),
    /// CHAR, VARCHAR
    String(Arc<str>),
    /// BINARY, VARBINARY, BITMAP, VARIANT, RAW.
    Bytes(Arc<[u8]>),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP and TIMESTAMP_LTZ of any precision: nanoseconds since 1970-01-01 00:00.
    Timestamp(i128),
    /// Interval of months.
    Months(i32),
    /// Interval of milliseconds.
    Millis(i64),
    /// ARRAY
    Array(Vec<Value>),
    /// MAP; MULTISET with INT counts as values.
    Map(Vec<(Value, Value)>),
    /// ROW, STRUCTURED
    Row(Vec<Value>),
}

/// A value that is not one of the type it is used as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("value {value} is not of type {data_type}")]
pub struct ValueError {
    value: String,
    data_type: DataType,
}

impl Value {
    /// A string value.
    pub fn string(text: impl AsRef<str>) -> Self {
        Self::String(text.as_ref().into())
    }

    /// Whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The number of an integer value.
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(number) = self { Some(*number) } else { None }
    }

    /// The value at `row` of an array that holds `ty`.
    ///
    /// `array` must have the layout [`arrow_type`] gives for `ty`.
    pub fn from_array(array: &dyn Array, row: usize, ty: &DataType) -> Self {
        if ty.root == TypeRoot::Null || array.is_null(row) {
            return Self::Null;
        }
        match &ty.root {
            TypeRoot::Null | TypeRoot::Descriptor => Self::Null,
            TypeRoot::Boolean => Self::Boolean(array.as_boolean().value(row)),
            TypeRoot::TinyInt => Self::Int(array.as_primitive::<at::Int8Type>().value(row).into()),
            TypeRoot::SmallInt => {
                Self::Int(array.as_primitive::<at::Int16Type>().value(row).into())
            }
            TypeRoot::Int => Self::Int(array.as_primitive::<at::Int32Type>().value(row).into()),
            TypeRoot::BigInt => Self::Int(array.as_primitive::<at::Int64Type>().value(row)),
            TypeRoot::Float => Self::Float(array.as_primitive::<at::Float32Type>().value(row)),
            TypeRoot::Double => Self::Double(array.as_primitive::<at::Float64Type>().value(row)),
            TypeRoot::Decimal { .. } => {
                Self::Decimal(array.as_primitive::<at::Decimal128Type>().value(row))
            }
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => {
                Self::string(array.as_string::<i32>().value(row))
            }
            TypeRoot::Binary(_)
            | TypeRoot::Varbinary(_)
            | TypeRoot::Bitmap
            | TypeRoot::Variant
            | TypeRoot::Raw(_) => Self::Bytes(array.as_binary::<i32>().value(row).into()),
            TypeRoot::Date => Self::Date(array.as_primitive::<at::Date32Type>().value(row)),
            TypeRoot::Time(_) => {
                Self::Time(array.as_primitive::<at::Time32MillisecondType>().value(row))
            }
            TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => {
                let unit = timestamp_unit(*p);
                let steps = match unit {
                    TimestampUnit::Millis => {
                        array.as_primitive::<at::TimestampMillisecondType>().value(row).into()
                    }
                    TimestampUnit::Micros => {
                        array.as_primitive::<at::TimestampMicrosecondType>().value(row).into()
                    }
                    TimestampUnit::Nanos => array.as_primitive::<at::Decimal128Type>().value(row),
                };
                Self::Timestamp(steps * unit.nanos())
            }
            TypeRoot::IntervalYearMonth => {
                Self::Months(array.as_primitive::<at::IntervalYearMonthType>().value(row))
            }
            TypeRoot::IntervalDayTime => {
                Self::Millis(array.as_primitive::<at::DurationMillisecondType>().value(row))
            }
            TypeRoot::Array(element) => {
                let items = array.as_list::<i32>().value(row);
                Self::Array(
                    (0..items.len()).map(|i| Self::from_array(&items, i, element)).collect(),
                )
            }
            TypeRoot::Map(key, value) => Self::entries(array, row, key, value),
            TypeRoot::Multiset(element) => Self::entries(array, row, element, &DataType::int()),
            TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
                let columns = array.as_struct().columns();
                Self::Row(
                    fields
                        .iter()
                        .zip(columns)
                        .map(|(field, column)| Self::from_array(column, row, &field.data_type))
                        .collect(),
                )
            }
        }
    }

    fn entries(array: &dyn Array, row: usize, key: &DataType, value: &DataType) -> Self {
        let entries = array.as_list::<i32>().value(row);
        let columns = entries.as_struct().columns();
        Self::Map(
            (0..entries.len())
                .map(|i| {
                    (Self::from_array(&columns[0], i, key), Self::from_array(&columns[1], i, value))
                })
                .collect(),
        )
    }

    /// An array of these values with the layout of `ty`.
    ///
    /// Fails when a value is not one of `ty`. Timestamps are cut to what `ty` stores.
    pub fn to_array(values: &[Value], ty: &DataType) -> Result<ArrayRef, ValueError> {
        let wrong =
            |value: &Value| ValueError { value: format!("{value:?}"), data_type: ty.clone() };
        macro_rules! build {
            ($builder:expr, $pattern:pat => $item:expr) => {{
                let mut builder = $builder;
                for value in values {
                    match value {
                        Value::Null => builder.append_null(),
                        $pattern => builder.append_value($item),
                        other => return Err(wrong(other)),
                    }
                }
                Arc::new(builder.finish()) as ArrayRef
            }};
        }
        let n = values.len();
        macro_rules! build_int {
            ($builder:expr, $native:ty) => {{
                let mut builder = $builder;
                for value in values {
                    match value {
                        Value::Null => builder.append_null(),
                        Value::Int(number) => builder
                            .append_value(<$native>::try_from(*number).map_err(|_| wrong(value))?),
                        other => return Err(wrong(other)),
                    }
                }
                Arc::new(builder.finish()) as ArrayRef
            }};
        }
        Ok(match &ty.root {
            TypeRoot::Null | TypeRoot::Descriptor => Arc::new(NullArray::new(n)),
            TypeRoot::Boolean => {
                build!(BooleanBuilder::with_capacity(n), Value::Boolean(v) => *v)
            }
            TypeRoot::TinyInt => build_int!(Int8Builder::with_capacity(n), i8),
            TypeRoot::SmallInt => build_int!(Int16Builder::with_capacity(n), i16),
            TypeRoot::Int => build_int!(Int32Builder::with_capacity(n), i32),
            TypeRoot::BigInt => build_int!(Int64Builder::with_capacity(n), i64),
            TypeRoot::Float => build!(Float32Builder::with_capacity(n), Value::Float(v) => *v),
            TypeRoot::Double => build!(Float64Builder::with_capacity(n), Value::Double(v) => *v),
            TypeRoot::Decimal { .. } => build!(
                Decimal128Builder::with_capacity(n).with_data_type(arrow_type(ty)),
                Value::Decimal(v) => *v
            ),
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => {
                build!(StringBuilder::new(), Value::String(v) => v.as_ref())
            }
            TypeRoot::Binary(_)
            | TypeRoot::Varbinary(_)
            | TypeRoot::Bitmap
            | TypeRoot::Variant
            | TypeRoot::Raw(_) => build!(BinaryBuilder::new(), Value::Bytes(v) => v.as_ref()),
            TypeRoot::Date => build!(Date32Builder::with_capacity(n), Value::Date(v) => *v),
            TypeRoot::Time(_) => {
                build!(Time32MillisecondBuilder::with_capacity(n), Value::Time(v) => *v)
            }
            TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
                TimestampUnit::Millis => build!(
                    TimestampMillisecondBuilder::with_capacity(n),
                    Value::Timestamp(v) => v.div_euclid(1_000_000) as i64
                ),
                TimestampUnit::Micros => build!(
                    TimestampMicrosecondBuilder::with_capacity(n),
                    Value::Timestamp(v) => v.div_euclid(1_000) as i64
                ),
                TimestampUnit::Nanos => build!(
                    Decimal128Builder::with_capacity(n).with_data_type(arrow_type(ty)),
                    Value::Timestamp(v) => *v
                ),
            },
            TypeRoot::IntervalYearMonth => {
                build!(IntervalYearMonthBuilder::with_capacity(n), Value::Months(v) => *v)
            }
            TypeRoot::IntervalDayTime => {
                build!(DurationMillisecondBuilder::with_capacity(n), Value::Millis(v) => *v)
            }
            TypeRoot::Array(element) => {
                let mut parts = ListParts::default();
                for value in values {
                    match value {
                        Value::Null => parts.push_null(),
                        Value::Array(items) => parts.push(items.iter().cloned()),
                        other => return Err(wrong(other)),
                    }
                }
                let items = Self::to_array(&parts.items, element)?;
                parts.finish(items)
            }
            TypeRoot::Map(key, value) => Self::entries_to_array(values, key, value, &wrong)?,
            TypeRoot::Multiset(element) => {
                Self::entries_to_array(values, element, &DataType::int(), &wrong)?
            }
            TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
                let mut columns = vec![Vec::with_capacity(n); fields.len()];
                let mut valid = Vec::with_capacity(n);
                for value in values {
                    match value {
                        Value::Null => columns.iter_mut().for_each(|c| c.push(Value::Null)),
                        Value::Row(items) if items.len() == fields.len() => {
                            for (column, item) in columns.iter_mut().zip(items) {
                                column.push(item.clone());
                            }
                        }
                        other => return Err(wrong(other)),
                    }
                    valid.push(!value.is_null());
                }
                let arrays = columns
                    .iter()
                    .zip(fields.iter())
                    .map(|(column, field)| Self::to_array(column, &field.data_type))
                    .collect::<Result<Vec<_>, _>>()?;
                let at::DataType::Struct(arrow_fields) = arrow_type(ty) else {
                    return Err(wrong(&Value::Null));
                };
                let nulls = Some(NullBuffer::from(valid));
                Arc::new(if arrays.is_empty() {
                    StructArray::new_empty_fields(n, nulls)
                } else {
                    StructArray::new(arrow_fields, arrays, nulls)
                })
            }
        })
    }

    fn entries_to_array(
        values: &[Value],
        key: &DataType,
        value: &DataType,
        wrong: &dyn Fn(&Value) -> ValueError,
    ) -> Result<ArrayRef, ValueError> {
        let entry = TypeRoot::Row(
            vec![
                crate::RowField::new("key", key.clone()),
                crate::RowField::new("value", value.clone()),
            ]
            .into(),
        )
        .nullable();
        let mut parts = ListParts::default();
        for value in values {
            match value {
                Value::Null => parts.push_null(),
                Value::Map(entries) => {
                    parts.push(entries.iter().map(|(k, v)| Value::Row(vec![k.clone(), v.clone()])))
                }
                other => return Err(wrong(other)),
            }
        }
        let items = Self::to_array(&parts.items, &entry)?;
        Ok(parts.finish(items))
    }
}

/// Offsets, validity and items of a list array under construction.
#[derive(Default)]
struct ListParts {
    lengths: Vec<usize>,
    valid: Vec<bool>,
    items: Vec<Value>,
}

impl ListParts {
    fn push(&mut self, items: impl Iterator<Item = Value>) {
        let before = self.items.len();
        self.items.extend(items);
        self.lengths.push(self.items.len() - before);
        self.valid.push(true);
    }

    fn push_null(&mut self) {
        self.lengths.push(0);
        self.valid.push(false);
    }

    fn finish(self, items: ArrayRef) -> ArrayRef {
        let field = Arc::new(at::Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        Arc::new(ListArray::new(field, offsets, items, Some(NullBuffer::from(self.valid))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowField;

    #[test]
    fn values_survive_the_way_through_arrow() {
        let nested = DataType::array(DataType::row(vec![
            RowField::new("a", DataType::int()),
            RowField::new("m", DataType::map(DataType::string(), DataType::timestamp(9))),
        ]));
        let values = vec![
            Value::Null,
            Value::Array(vec![
                Value::Null,
                Value::Row(vec![
                    Value::Int(7),
                    Value::Map(vec![(Value::Null, Value::Timestamp(-1))]),
                ]),
            ]),
            Value::Array(vec![]),
        ];
        let array = Value::to_array(&values, &nested).unwrap();
        let back: Vec<_> = (0..3).map(|row| Value::from_array(&array, row, &nested)).collect();
        assert_eq!(back, values);
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        assert!(Value::to_array(&[Value::Int(300)], &TypeRoot::TinyInt.nullable()).is_err());
        assert!(Value::to_array(&[Value::Boolean(true)], &DataType::int()).is_err());
    }
}
