//! Timestamps of any precision, read and written.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Builder, TimestampMicrosecondBuilder, TimestampMillisecondBuilder,
};
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, TimestampMicrosecondType, TimestampMillisecondType,
};
use flott_types::{TimestampUnit, timestamp_unit};

use super::unit::NANOS_PER_SECOND;
use crate::Column;
use crate::read::Primitives;

/// How timestamps of precision 7 to 9 are stored.
pub const NANOS_STORAGE: ArrowType = ArrowType::Decimal128(38, 9);

/// A point of time: seconds since the epoch, and nanoseconds within that second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Seconds since 1970-01-01 00:00.
    pub second: i64,
    /// 0 to 999,999,999.
    pub nano: u32,
}

impl Stamp {
    /// The stamp of a number of steps.
    #[inline]
    fn from_steps(steps: i64, per_second: i64) -> Self {
        let nano = steps.rem_euclid(per_second) * (NANOS_PER_SECOND / per_second);
        Self { second: steps.div_euclid(per_second), nano: nano as u32 }
    }

    /// The milliseconds since the epoch, what is finer being dropped.
    pub fn millis(self) -> i64 {
        self.second.wrapping_mul(1_000).wrapping_add(i64::from(self.nano / 1_000_000))
    }
}

/// A view of a column of TIMESTAMP or TIMESTAMP_LTZ.
pub enum Stamps<'a> {
    /// Of precision 0 to 3.
    Millis(Primitives<'a, TimestampMillisecondType>),
    /// Of precision 4 to 6.
    Micros(Primitives<'a, TimestampMicrosecondType>),
    /// Of precision 7 to 9.
    Nanos(Primitives<'a, Decimal128Type>),
}

impl<'a> Stamps<'a> {
    /// A view of a column that holds timestamps of this precision.
    pub fn new(column: &'a Column, precision: u8) -> Self {
        match timestamp_unit(precision) {
            TimestampUnit::Millis => Self::Millis(Primitives::new(column)),
            TimestampUnit::Micros => Self::Micros(Primitives::new(column)),
            TimestampUnit::Nanos => Self::Nanos(Primitives::new(column)),
        }
    }

    /// The value of `row`; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Stamp> {
        match self {
            Self::Millis(values) => Some(Stamp::from_steps(values.get(row)?, 1_000)),
            Self::Micros(values) => Some(Stamp::from_steps(values.get(row)?, 1_000_000)),
            Self::Nanos(values) => {
                let nanos = values.get(row)?;
                Some(Stamp {
                    second: nanos.div_euclid(NANOS_PER_SECOND.into()) as i64,
                    nano: nanos.rem_euclid(NANOS_PER_SECOND.into()) as u32,
                })
            }
        }
    }
}

/// Collects timestamps of one precision; digits finer than its storage are dropped.
pub enum StampBuilder {
    Millis(TimestampMillisecondBuilder),
    Micros(TimestampMicrosecondBuilder),
    Nanos(Decimal128Builder),
}

impl StampBuilder {
    /// A builder for timestamps of this precision.
    pub fn new(precision: u8, rows: usize) -> Self {
        match timestamp_unit(precision) {
            TimestampUnit::Millis => Self::Millis(TimestampMillisecondBuilder::with_capacity(rows)),
            TimestampUnit::Micros => Self::Micros(TimestampMicrosecondBuilder::with_capacity(rows)),
            TimestampUnit::Nanos => {
                Self::Nanos(Decimal128Builder::with_capacity(rows).with_data_type(NANOS_STORAGE))
            }
        }
    }

    /// Appends a value, or NULL for `None`.
    #[inline]
    pub fn append(&mut self, stamp: Option<Stamp>) {
        let steps = |stamp: Stamp, per_second: i64| {
            let part = i64::from(stamp.nano) / (NANOS_PER_SECOND / per_second);
            stamp.second.wrapping_mul(per_second).wrapping_add(part)
        };
        match self {
            Self::Millis(builder) => builder.append_option(stamp.map(|s| steps(s, 1_000))),
            Self::Micros(builder) => builder.append_option(stamp.map(|s| steps(s, 1_000_000))),
            Self::Nanos(builder) => {
                builder.append_option(stamp.map(|s| {
                    i128::from(s.second) * i128::from(NANOS_PER_SECOND) + i128::from(s.nano)
                }))
            }
        }
    }

    /// The array of all values.
    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Millis(builder) => Arc::new(builder.finish()),
            Self::Micros(builder) => Arc::new(builder.finish()),
            Self::Nanos(builder) => Arc::new(builder.finish()),
        }
    }
}
