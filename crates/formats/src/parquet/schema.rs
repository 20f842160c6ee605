//! From a table's columns to the schema of a file, Flink's choices throughout.

use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Field as ArrowField, Fields, TimeUnit};
use flott_catalog::connector::ConnectorError;
use flott_types::{DataType, RowField, Schema, TypeRoot, arrow_type};
use parquet::basic::{
    ConvertedType, LogicalType, Repetition, TimeUnit as ParquetUnit, Type as Physical,
};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

use super::options::TimestampUnit;
use crate::error::FormatError;

/// The schema of files that hold a table's columns.
pub(super) fn file_schema(schema: &Schema, unit: TimestampUnit) -> Result<TypePtr, ConnectorError> {
    let columns = schema.fields.iter().map(|field| node(&field.name, &field.data_type, unit));
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(unfit)?;
    let root = Type::group_type_builder("flink_schema").with_fields(columns).build();
    root.map(Arc::new).map_err(unfit)
}

/// Refuses types that files have no place for.
pub(super) fn check_types(schema: &Schema) -> Result<(), ConnectorError> {
    schema.fields.iter().try_for_each(|field| {
        if is_supported(&field.data_type) {
            return Ok(());
        }
        let (data_type, column) = (field.data_type.summary(), field.name.to_string());
        Err(FormatError::Type { format: "parquet", data_type, column }.into())
    })
}

fn is_supported(ty: &DataType) -> bool {
    use TypeRoot::*;
    match &ty.root {
        Array(element) | Multiset(element) => is_supported(element),
        Map(key, value) => is_supported(key) && is_supported(value),
        Row(fields) | Structured { fields, .. } => {
            !fields.is_empty() && fields.iter().all(|field| is_supported(&field.data_type))
        }
        Null | IntervalYearMonth | IntervalDayTime | Variant | Bitmap | Raw(_) | Descriptor => {
            false
        }
        _ => true,
    }
}

fn node(name: &str, ty: &DataType, unit: TimestampUnit) -> Result<TypePtr, ParquetError> {
    use TypeRoot::*;
    let repetition = if ty.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let plain = |physical: Physical| {
        Type::primitive_type_builder(name, physical).with_repetition(repetition)
    };
    let logical = |physical, logical| plain(physical).with_logical_type(Some(logical));
    let built = match &ty.root {
        Boolean => plain(Physical::BOOLEAN),
        TinyInt => logical(Physical::INT32, LogicalType::integer(8, true)),
        SmallInt => logical(Physical::INT32, LogicalType::integer(16, true)),
        Int => plain(Physical::INT32),
        BigInt => plain(Physical::INT64),
        Float => plain(Physical::FLOAT),
        Double => plain(Physical::DOUBLE),
        Decimal { precision, scale } => {
            let decimal = LogicalType::decimal((*scale).into(), (*precision).into());
            logical(Physical::FIXED_LEN_BYTE_ARRAY, decimal)
                .with_length(decimal_bytes(*precision))
                .with_precision((*precision).into())
                .with_scale((*scale).into())
        }
        Char(_) | Varchar(_) => logical(Physical::BYTE_ARRAY, LogicalType::String),
        Date => logical(Physical::INT32, LogicalType::Date),
        Time(_) => logical(Physical::INT32, LogicalType::time(true, ParquetUnit::MILLIS)),
        Timestamp(_) | TimestampLtz(_) => match parquet_unit(unit) {
            None => plain(Physical::INT96),
            Some(unit) => logical(Physical::INT64, LogicalType::timestamp(false, unit)),
        },
        Array(element) => {
            let list = repeated("list", vec![node("element", element, unit)?])?;
            return group(name, repetition, Some(LogicalType::List), vec![list]);
        }
        Map(key, value) => return map(name, repetition, key, value, unit),
        Multiset(element) => {
            return map(name, repetition, element, &DataType::int().not_null(), unit);
        }
        Row(fields) | Structured { fields, .. } => {
            let children = fields.iter().map(|field| node(&field.name, &field.data_type, unit));
            return group(name, repetition, None, children.collect::<Result<_, _>>()?);
        }
        _ => plain(Physical::BYTE_ARRAY),
    };
    built.build().map(Arc::new)
}

fn map(
    name: &str,
    repetition: Repetition,
    key: &DataType,
    value: &DataType,
    unit: TimestampUnit,
) -> Result<TypePtr, ParquetError> {
    let key = node("key", &key.clone().not_null(), unit)?;
    let entries = repeated("key_value", vec![key, node("value", value, unit)?])?;
    group(name, repetition, Some(LogicalType::Map), vec![entries])
}

fn repeated(name: &str, children: Vec<TypePtr>) -> Result<TypePtr, ParquetError> {
    group(name, Repetition::REPEATED, None, children)
}

fn group(
    name: &str,
    repetition: Repetition,
    logical: Option<LogicalType>,
    children: Vec<TypePtr>,
) -> Result<TypePtr, ParquetError> {
    let converted = match logical {
        Some(LogicalType::List) => ConvertedType::LIST,
        Some(LogicalType::Map) => ConvertedType::MAP,
        _ => ConvertedType::NONE,
    };
    Type::group_type_builder(name)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_converted_type(converted)
        .with_fields(children)
        .build()
        .map(Arc::new)
}

fn parquet_unit(unit: TimestampUnit) -> Option<ParquetUnit> {
    match unit {
        TimestampUnit::Int96 => None,
        TimestampUnit::Nanos => Some(ParquetUnit::NANOS),
        TimestampUnit::Micros => Some(ParquetUnit::MICROS),
        TimestampUnit::Millis => Some(ParquetUnit::MILLIS),
    }
}

/// The bytes that the greatest number of so many digits and its sign take.
fn decimal_bytes(precision: u8) -> i32 {
    let greatest = 10i128.checked_pow(precision.into()).unwrap_or(i128::MAX);
    let bits = i128::BITS - (greatest - 1).leading_zeros() + 1;
    bits.div_ceil(8) as i32
}

/// A column as the writer is given it: Arrow types say where NULL may be, and timestamps of INT64 are in
/// their unit.
pub(super) fn stored_field(name: &str, ty: &DataType, unit: TimestampUnit) -> ArrowField {
    use TypeRoot::*;
    let entries = |key: &DataType, value: &DataType| {
        let fields = vec![
            stored_field("key", &key.clone().not_null(), unit),
            stored_field("value", value, unit),
        ];
        Arrow::List(Arc::new(ArrowField::new("key_value", Arrow::Struct(fields.into()), false)))
    };
    let stored = match &ty.root {
        Timestamp(_) | TimestampLtz(_) => match unit {
            TimestampUnit::Int96 => arrow_type(ty),
            TimestampUnit::Nanos => Arrow::Timestamp(TimeUnit::Nanosecond, None),
            TimestampUnit::Micros => Arrow::Timestamp(TimeUnit::Microsecond, None),
            TimestampUnit::Millis => Arrow::Timestamp(TimeUnit::Millisecond, None),
        },
        Array(element) => Arrow::List(Arc::new(stored_field("element", element, unit))),
        Map(key, value) => entries(key, value),
        Multiset(element) => entries(element, &DataType::int().not_null()),
        Row(fields) | Structured { fields, .. } => Arrow::Struct(stored_fields(fields, unit)),
        _ => arrow_type(ty),
    };
    ArrowField::new(name, stored, ty.nullable)
}

fn stored_fields(fields: &[RowField], unit: TimestampUnit) -> Fields {
    fields.iter().map(|field| stored_field(&field.name, &field.data_type, unit)).collect()
}

fn unfit(error: ParquetError) -> ConnectorError {
    ConnectorError::new(format!("the table's columns make no Parquet schema: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_take_as_few_bytes_as_hold_them() {
        let bytes: Vec<_> = [1, 2, 3, 4, 9, 10, 18, 19, 38].map(decimal_bytes).to_vec();
        assert_eq!(bytes, [1, 1, 2, 2, 4, 5, 8, 9, 16]);
    }
}
