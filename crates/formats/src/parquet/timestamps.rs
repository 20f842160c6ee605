//! Timestamps between the units of files and those of columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::datatypes::{
    DataType as Arrow, Decimal128Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use flott_types::TimestampUnit;

use super::clock::Clock;
use super::options::TimestampUnit as FileUnit;

/// A timestamp that does not fit.
#[derive(Debug)]
pub(super) struct OutOfRange;

/// Timestamps of a file as a column holds them. `nanos` are the same again, counted in nanoseconds that
/// wrap around: INT96 is read in microseconds, which hold all years, and what is finer than these comes
/// from there.
pub(super) fn read(
    array: &ArrayRef,
    nanos: Option<&ArrayRef>,
    target: TimestampUnit,
    clock: Option<&mut Clock>,
) -> Result<ArrayRef, OutOfRange> {
    let Arrow::Timestamp(unit, _) = array.data_type() else { return Err(OutOfRange) };
    let per_second = per_second(*unit);
    let numbers = numbers(array);
    if let (Some(nanos), TimestampUnit::Nanos) = (nanos, target) {
        return Ok(with_nanos(&numbers, &nanos_of(nanos), clock));
    }
    let mut offset = shifting(clock, per_second, Clock::offset_at);
    match target {
        TimestampUnit::Millis => {
            let scaled = scaled(&numbers, per_second, 1_000, |v| v.checked_add(offset(v)))?;
            Ok(Arc::new(scaled.reinterpret_cast::<TimestampMillisecondType>()))
        }
        TimestampUnit::Micros => {
            let scaled = scaled(&numbers, per_second, 1_000_000, |v| v.checked_add(offset(v)))?;
            Ok(Arc::new(scaled.reinterpret_cast::<TimestampMicrosecondType>()))
        }
        TimestampUnit::Nanos => {
            let factor = i128::from(1_000_000_000 / per_second);
            Ok(nanoseconds(mapped(&numbers, |v| {
                Ok((i128::from(v) + i128::from(offset(v))) * factor)
            })?))
        }
    }
}

/// Microseconds and nanoseconds modulo 2^64 of the same timestamps.
fn with_nanos(
    micros: &PrimitiveArray<Int64Type>,
    nanos: &[i64],
    clock: Option<&mut Clock>,
) -> ArrayRef {
    let mut offset = shifting(clock, 1_000_000, Clock::offset_at);
    let values = micros.values().iter().zip(nanos).map(|(micros, nanos)| {
        let finer = nanos.wrapping_sub(micros.wrapping_mul(1_000)).rem_euclid(1_000);
        (i128::from(*micros) + i128::from(offset(*micros))) * 1_000 + i128::from(finer)
    });
    nanoseconds(PrimitiveArray::new(values.collect(), micros.nulls().cloned()))
}

/// A column's timestamps as a file holds them in 64 bits.
pub(super) fn write(
    array: &ArrayRef,
    unit: FileUnit,
    clock: Option<&mut Clock>,
) -> Result<ArrayRef, OutOfRange> {
    let (to, unit) = match unit {
        FileUnit::Millis => (1_000, TimeUnit::Millisecond),
        FileUnit::Micros => (1_000_000, TimeUnit::Microsecond),
        FileUnit::Nanos | FileUnit::Int96 => (1_000_000_000, TimeUnit::Nanosecond),
    };
    let array = match array.data_type() {
        Arrow::Timestamp(from, _) => {
            let from = per_second(*from);
            let mut offset = shifting(clock, from, Clock::offset_of_local);
            scaled(&numbers(array), from, to, |v| v.checked_sub(offset(v)))?
        }
        _ => {
            let mut clock = clock;
            let step = 1_000_000_000 / i128::from(to);
            let nanos = array.as_primitive::<Decimal128Type>();
            mapped(nanos, |v| {
                let value = instant_nanos(v, clock.as_deref_mut()).div_euclid(step);
                i64::try_from(value).map_err(|_| OutOfRange)
            })?
        }
    };
    Ok(match unit {
        TimeUnit::Millisecond => Arc::new(array.reinterpret_cast::<TimestampMillisecondType>()),
        TimeUnit::Microsecond => Arc::new(array.reinterpret_cast::<TimestampMicrosecondType>()),
        _ => Arc::new(array.reinterpret_cast::<TimestampNanosecondType>()),
    })
}

/// The day since the epoch and the nanosecond of it of one of a column's timestamps, for INT96.
pub(super) fn day_and_nanos(array: &ArrayRef, row: usize, clock: Option<&mut Clock>) -> (i64, i64) {
    const DAY: i64 = 86_400;
    let Arrow::Timestamp(unit, _) = array.data_type() else {
        let nanos = instant_nanos(array.as_primitive::<Decimal128Type>().value(row), clock);
        let day = i128::from(DAY) * 1_000_000_000;
        let whole = i64::try_from(nanos.div_euclid(day)).unwrap_or(i64::MAX);
        return (whole, nanos.rem_euclid(day) as i64);
    };
    let (per_second, value) = match unit {
        TimeUnit::Millisecond => {
            (1_000, array.as_primitive::<TimestampMillisecondType>().value(row))
        }
        _ => (1_000_000, array.as_primitive::<TimestampMicrosecondType>().value(row)),
    };
    let value = value.saturating_sub(shifting(clock, per_second, Clock::offset_of_local)(value));
    let per_day = DAY * per_second;
    (value.div_euclid(per_day), value.rem_euclid(per_day) * (1_000_000_000 / per_second))
}

fn instant_nanos(local: i128, clock: Option<&mut Clock>) -> i128 {
    let Some(clock) = clock else { return local };
    let second = i64::try_from(local.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    local - i128::from(clock.offset_of_local(second)) * 1_000_000_000
}

/// What is added to a timestamp or taken from it, in its unit.
fn shifting(
    clock: Option<&mut Clock>,
    per_second: i64,
    offset: impl Fn(&mut Clock, i64) -> i64,
) -> impl FnMut(i64) -> i64 {
    let mut clock = clock;
    move |value| match &mut clock {
        None => 0,
        Some(clock) => offset(clock, value.div_euclid(per_second)) * per_second,
    }
}

/// Numbers of another unit, of which a part of a step is dropped.
fn scaled(
    numbers: &PrimitiveArray<Int64Type>,
    from: i64,
    to: i64,
    mut shifted: impl FnMut(i64) -> Option<i64>,
) -> Result<PrimitiveArray<Int64Type>, OutOfRange> {
    mapped(numbers, |value| {
        let value = shifted(value).ok_or(OutOfRange)?;
        if to >= from {
            value.checked_mul(to / from).ok_or(OutOfRange)
        } else {
            Ok(value.div_euclid(from / to))
        }
    })
}

/// The values that are not NULL, each through `map`.
fn mapped<T: ArrowPrimitiveType, R: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    mut map: impl FnMut(T::Native) -> Result<R::Native, OutOfRange>,
) -> Result<PrimitiveArray<R>, OutOfRange> {
    let values = array.values().iter().enumerate().map(|(row, value)| {
        if array.is_null(row) { Ok(R::Native::default()) } else { map(*value) }
    });
    let values = values.collect::<Result<Vec<_>, _>>()?;
    Ok(PrimitiveArray::new(values.into(), array.nulls().cloned()))
}

fn nanoseconds(values: PrimitiveArray<Decimal128Type>) -> ArrayRef {
    Arc::new(values.with_data_type(Arrow::Decimal128(38, 9)))
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The numbers of timestamps, without a copy.
fn numbers(array: &ArrayRef) -> PrimitiveArray<Int64Type> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> PrimitiveArray<Int64Type> {
        array.as_primitive::<T>().reinterpret_cast()
    }
    match array.data_type() {
        Arrow::Timestamp(TimeUnit::Second, _) => of::<arrow::datatypes::TimestampSecondType>(array),
        Arrow::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(array),
        Arrow::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(array),
        _ => of::<TimestampNanosecondType>(array),
    }
}

fn nanos_of(array: &ArrayRef) -> PrimitiveValues {
    numbers(array).values().clone()
}

type PrimitiveValues = arrow::buffer::ScalarBuffer<i64>;
