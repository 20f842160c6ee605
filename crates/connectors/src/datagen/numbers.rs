//! Numbers, intervals and timestamps.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, DurationMillisecondArray, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, IntervalYearMonthArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow::buffer::NullBuffer;
use flott_catalog::connector::ConnectorError;
use flott_types::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

use super::column::mismatch;
use super::random::Stream;
use super::rows::Rows;

/// Integers, and intervals as their number.
#[derive(Debug)]
pub(super) enum IntegerNumber {
    /// `low` and the `span - 1` numbers above it; a span of 0 stands for 2^64.
    Random { low: i64, span: u64, stream: Stream },
    /// `start` in row 0, counting up.
    Sequence { start: i64 },
}

impl IntegerNumber {
    /// Random numbers from `low` to `high`, both included.
    pub(super) fn random(low: i64, high: i64, stream: Stream) -> Self {
        Self::Random { low, span: (high.wrapping_sub(low) as u64).wrapping_add(1), stream }
    }

    pub(super) fn fill(
        &self,
        rows: Rows,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> ArrayRef {
        // One loop for each width, without a detour over 64 bits.
        macro_rules! fill {
            ($array:ident, $native:ty) => {
                Arc::new($array::new(
                    match *self {
                        Self::Random { low, span, stream } => {
                            rows.map(|i| low.wrapping_add(stream.below(i, span) as i64) as $native)
                        }
                        Self::Sequence { start } => {
                            rows.map(|i| start.wrapping_add(i as i64) as $native)
                        }
                    }
                    .into(),
                    nulls,
                ))
            };
        }
        match data_type.root {
            TypeRoot::TinyInt => fill!(Int8Array, i8),
            TypeRoot::SmallInt => fill!(Int16Array, i16),
            TypeRoot::Int => fill!(Int32Array, i32),
            TypeRoot::IntervalYearMonth => fill!(IntervalYearMonthArray, i32),
            TypeRoot::IntervalDayTime => fill!(DurationMillisecondArray, i64),
            _ => fill!(Int64Array, i64),
        }
    }
}

/// FLOAT and DOUBLE.
#[derive(Debug)]
pub(super) enum RealNumber {
    Random { low: f64, high: f64, stream: Stream },
    Sequence { start: i64 },
}

impl RealNumber {
    pub(super) fn fill(
        &self,
        rows: Rows,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> ArrayRef {
        macro_rules! fill {
            ($array:ident, $native:ty) => {
                Arc::new($array::new(
                    match *self {
                        // Weighing both ends cannot overflow, their difference could.
                        Self::Random { low, high, stream } => rows.map(|i| {
                            let unit = stream.unit(i);
                            (unit * high + (1.0 - unit) * low) as $native
                        }),
                        Self::Sequence { start } => {
                            rows.map(|i| start.wrapping_add(i as i64) as $native)
                        }
                    }
                    .into(),
                    nulls,
                ))
            };
        }
        match data_type.root {
            TypeRoot::Float => fill!(Float32Array, f32),
            _ => fill!(Float64Array, f64),
        }
    }
}

/// DECIMAL, as digits without their point.
#[derive(Debug)]
pub(super) struct DecimalNumber {
    pub(super) precision: u8,
    pub(super) scale: u8,
    pub(super) digits: Digits,
}

/// The digits of decimals.
#[derive(Debug)]
pub(super) enum Digits {
    /// `low` and the `span - 1` numbers above it.
    Random { low: i128, span: u128, stream: Stream },
    /// `start` in row 0, then `step` more with each row.
    Sequence { start: i128, step: i128 },
}

impl DecimalNumber {
    pub(super) fn fill(
        &self,
        rows: Rows,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ConnectorError> {
        let digits = match self.digits {
            Digits::Random { low, span, stream } => {
                rows.map(|i| low.wrapping_add(stream.wide_below(i, span) as i128))
            }
            Digits::Sequence { start, step } => rows.map(|i| start + step * i128::from(i)),
        };
        let array = Decimal128Array::new(digits.into(), nulls)
            .with_precision_and_scale(self.precision, self.scale as i8)
            .map_err(mismatch)?;
        Ok(Arc::new(array))
    }
}

/// Instants in milliseconds as timestamps of a type.
pub(super) fn timestamps(
    millis: Vec<i64>,
    data_type: &DataType,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ConnectorError> {
    let precision = match data_type.root {
        TypeRoot::Timestamp(precision) | TypeRoot::TimestampLtz(precision) => precision,
        _ => 3,
    };
    Ok(match timestamp_unit(precision) {
        TimestampUnit::Millis => Arc::new(TimestampMillisecondArray::new(millis.into(), nulls)),
        TimestampUnit::Micros => {
            let micros: Vec<_> = millis.into_iter().map(|millis| millis * 1000).collect();
            Arc::new(TimestampMicrosecondArray::new(micros.into(), nulls))
        }
        TimestampUnit::Nanos => {
            let nanos: Vec<_> =
                millis.into_iter().map(|millis| i128::from(millis) * 1_000_000).collect();
            let array = Decimal128Array::new(nanos.into(), nulls)
                .with_precision_and_scale(38, 9)
                .map_err(mismatch)?;
            Arc::new(array)
        }
    })
}
