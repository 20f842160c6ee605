//! From the columns of a file to the layout of the table's.
//!
//! | table | file |
//! |---|---|
//! | BOOLEAN, DATE, CHAR, VARCHAR, BINARY, VARBINARY | the same; text and bytes stand for each other |
//! | integers | any integer whose values fit |
//! | FLOAT, DOUBLE | floats that are not wider |
//! | DECIMAL | decimals of no greater scale whose values fit |
//! | TIME | times of any unit; parts of milliseconds are dropped |
//! | TIMESTAMP, TIMESTAMP_LTZ | timestamps of any unit; what is finer is dropped |
//! | ARRAY, MAP, MULTISET, ROW | lists, maps and groups; fields of groups by name |

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, StructArray, new_empty_array, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType as Arrow, Int32Type, TimeUnit};
use flott_types::{DataType, RowField, TypeRoot, arrow_type, timestamp_unit};

use super::clock::Clock;
use super::timestamps;

/// Why a column of a file is not one of the table.
#[derive(Debug, thiserror::Error)]
pub(super) enum Misfit {
    /// No value of the file's type is one of the table's.
    #[error("{found} in the file, which cannot be read as {wanted}")]
    Type { found: String, wanted: String },
    /// Some values are.
    #[error("a value in the file that {wanted} cannot hold: {what}")]
    Value { wanted: String, what: String },
}

/// Whether a file's column can be read as a type of the table.
pub(super) fn check(found: &Arrow, wanted: &DataType) -> Result<(), Misfit> {
    convert(&new_empty_array(found), None, wanted, &mut None).map(drop)
}

/// A file's column in the layout of the table's type. `nanos` is the same column with its timestamps in
/// nanoseconds, where they are wanted so fine.
pub(super) fn convert(
    array: &ArrayRef,
    nanos: Option<&ArrayRef>,
    wanted: &DataType,
    clock: &mut Option<Clock>,
) -> Result<ArrayRef, Misfit> {
    use TypeRoot::*;
    let misfit = || Misfit::Type { found: name(array.data_type()), wanted: wanted.summary() };
    let target = arrow_type(wanted);
    match (&wanted.root, array.data_type()) {
        (_, Arrow::Null) => Ok(new_null_array(&target, array.len())),
        (Timestamp(precision) | TimestampLtz(precision), Arrow::Timestamp(..)) => {
            timestamps::read(array, nanos, timestamp_unit(*precision), clock.as_mut()).map_err(
                |_| Misfit::Value {
                    wanted: wanted.summary(),
                    what: "a timestamp beyond the years that it counts".into(),
                },
            )
        }
        (Timestamp(_) | TimestampLtz(_), _) => Err(misfit()),
        (Array(element), Arrow::List(_)) => {
            let list = array.as_list::<i32>();
            let nanos = nanos.map(|nanos| nanos.as_list::<i32>().values());
            let values = convert(list.values(), nanos, element, clock)?;
            list_of(target, list.offsets().clone(), values, list.nulls().cloned(), misfit)
        }
        (Map(key, value), Arrow::Map(..)) => {
            entries(array, nanos, key, value, target, clock, misfit)
        }
        (Multiset(element), Arrow::Map(..)) => {
            entries(array, nanos, element, &DataType::int(), target, clock, misfit)
        }
        (Row(fields) | Structured { fields, .. }, Arrow::Struct(_)) => {
            row(array.as_struct(), nanos.map(|nanos| nanos.as_struct()), fields, target, clock)
        }
        (_, found) if *found == target => Ok(array.clone()),
        (root, found) if is_castable(found, root) => {
            let strict = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, &target, &strict).map_err(|error| {
                let what = error.to_string();
                let what = what.split_once(" error: ").map_or(what.as_str(), |(_, what)| what);
                Misfit::Value { wanted: wanted.summary(), what: what.into() }
            })
        }
        (Date, Arrow::Int32) => {
            let days = array.as_primitive::<Int32Type>();
            Ok(Arc::new(days.reinterpret_cast::<arrow::datatypes::Date32Type>()))
        }
        (Time(_), Arrow::Int32) => {
            let millis = array.as_primitive::<Int32Type>();
            Ok(Arc::new(millis.reinterpret_cast::<arrow::datatypes::Time32MillisecondType>()))
        }
        _ => Err(misfit()),
    }
}

/// Whether the values of a file's type that a table's type can hold are cast without loss.
fn is_castable(found: &Arrow, wanted: &TypeRoot) -> bool {
    use TypeRoot::*;
    match wanted {
        root if root.is_integer() => found.is_integer(),
        Float => matches!(found, Arrow::Float16),
        Double => matches!(found, Arrow::Float16 | Arrow::Float32),
        Decimal { scale, .. } => match found {
            Arrow::Decimal128(_, of_file) => *of_file >= 0 && *of_file <= *scale as i8,
            _ => false,
        },
        Char(_) | Varchar(_) => matches!(found, Arrow::Binary),
        Binary(_) | Varbinary(_) => matches!(found, Arrow::Utf8 | Arrow::FixedSizeBinary(_)),
        Time(_) => matches!(found, Arrow::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond)),
        _ => false,
    }
}

/// A file's map as a list of entries.
fn entries(
    array: &ArrayRef,
    nanos: Option<&ArrayRef>,
    key: &DataType,
    value: &DataType,
    target: Arrow,
    clock: &mut Option<Clock>,
    misfit: impl Fn() -> Misfit,
) -> Result<ArrayRef, Misfit> {
    let map = array.as_map();
    let nanos = nanos.map(|nanos| nanos.as_map());
    let keys = convert(map.keys(), nanos.map(|nanos| nanos.keys()), key, clock)?;
    let values = convert(map.values(), nanos.map(|nanos| nanos.values()), value, clock)?;
    let Arrow::List(item) = &target else { return Err(misfit()) };
    let Arrow::Struct(fields) = item.data_type() else { return Err(misfit()) };
    let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None);
    let pairs = Arc::new(pairs.map_err(|_| misfit())?);
    list_of(target, map.offsets().clone(), pairs, map.nulls().cloned(), misfit)
}

fn list_of(
    target: Arrow,
    offsets: OffsetBuffer<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    misfit: impl Fn() -> Misfit,
) -> Result<ArrayRef, Misfit> {
    let Arrow::List(item) = target else { return Err(misfit()) };
    ListArray::try_new(item, offsets, values, nulls)
        .map(|list| Arc::new(list) as ArrayRef)
        .map_err(|_| misfit())
}

/// A file's group as a row: fields that it has not are NULL.
fn row(
    array: &StructArray,
    nanos: Option<&StructArray>,
    fields: &[RowField],
    target: Arrow,
    clock: &mut Option<Clock>,
) -> Result<ArrayRef, Misfit> {
    let columns = fields.iter().map(|field| {
        let Some(column) = array.column_by_name(&field.name) else {
            return Ok(new_null_array(&arrow_type(&field.data_type), array.len()));
        };
        let nanos = nanos.and_then(|nanos| nanos.column_by_name(&field.name));
        convert(column, nanos, &field.data_type, clock)
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let misfit = || Misfit::Type { found: name(array.data_type()), wanted: target.to_string() };
    let Arrow::Struct(names) = &target else { return Err(misfit()) };
    StructArray::try_new_with_length(names.clone(), columns, array.nulls().cloned(), array.len())
        .map(|row| Arc::new(row) as ArrayRef)
        .map_err(|_| misfit())
}

/// A file's type in SQL's words.
fn name(found: &Arrow) -> String {
    match found {
        Arrow::Boolean => "BOOLEAN".into(),
        Arrow::Int8 => "TINYINT".into(),
        Arrow::Int16 => "SMALLINT".into(),
        Arrow::Int32 => "INT".into(),
        Arrow::Int64 => "BIGINT".into(),
        Arrow::UInt8 | Arrow::UInt16 | Arrow::UInt32 | Arrow::UInt64 => {
            "an unsigned integer".into()
        }
        Arrow::Float16 | Arrow::Float32 => "FLOAT".into(),
        Arrow::Float64 => "DOUBLE".into(),
        Arrow::Decimal128(precision, scale) | Arrow::Decimal256(precision, scale) => {
            format!("DECIMAL({precision}, {scale})")
        }
        Arrow::Utf8 => "STRING".into(),
        Arrow::Binary => "BYTES".into(),
        Arrow::FixedSizeBinary(size) => format!("BINARY({size})"),
        Arrow::Date32 => "DATE".into(),
        Arrow::Time32(_) | Arrow::Time64(_) => "TIME".into(),
        Arrow::Timestamp(..) => "TIMESTAMP".into(),
        Arrow::List(_) => "ARRAY".into(),
        Arrow::Map(..) => "MAP".into(),
        Arrow::Struct(_) => "ROW".into(),
        other => other.to_string(),
    }
}
