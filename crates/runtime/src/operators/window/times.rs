//! Time columns as milliseconds and back.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, TimestampMillisecondArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType as Arrow, Decimal128Type, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
};

use crate::{Result, RuntimeError};

/// The values of a timestamp column of any precision in milliseconds, cut to whole ones, and which
/// of them are not NULL.
pub(crate) fn instants(column: &ArrayRef) -> Result<(ScalarBuffer<i64>, Option<NullBuffer>)> {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
    let values = match column.data_type() {
        Arrow::Timestamp(TimeUnit::Millisecond, _) => {
            column.as_primitive::<TimestampMillisecondType>().values().clone()
        }
        Arrow::Timestamp(TimeUnit::Microsecond, _) => {
            let micros = column.as_primitive::<TimestampMicrosecondType>();
            micros.values().iter().map(|micros| micros.div_euclid(1000)).collect()
        }
        Arrow::Decimal128(..) => {
            let nanos: &PrimitiveArray<Decimal128Type> = column.as_primitive();
            nanos.values().iter().map(|nanos| nanos.div_euclid(1_000_000) as i64).collect()
        }
        other => {
            let problem = format!("a time column of type {other}");
            return Err(RuntimeError::internal("", problem));
        }
    };
    Ok((values, nulls))
}

/// Milliseconds as a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column.
pub(in crate::operators) fn timestamps(millis: Vec<i64>) -> ArrayRef {
    Arc::new(TimestampMillisecondArray::from(millis))
}
