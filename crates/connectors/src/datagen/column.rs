//! Columns and how their values are made.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Date32Array, Time32MillisecondArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use flott_catalog::connector::ConnectorError;
use flott_types::DataType;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::nested::{Collection, Record};
use super::numbers::{DecimalNumber, IntegerNumber, RealNumber, timestamps};
use super::random::Stream;
use super::rows::Rows;
use super::text::{Text, bytes, texts};

/// A column: what makes its values, and which of them are NULL.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) data_type: DataType,
    pub(super) values: Values,
    /// The share of NULLs, and where they come from.
    pub(super) nulls: Option<(f64, Stream)>,
}

/// What makes the values of a column.
#[derive(Debug)]
pub(super) enum Values {
    Boolean(Stream),
    /// Integers and intervals.
    Integer(IntegerNumber),
    /// FLOAT and DOUBLE.
    Real(RealNumber),
    Decimal(DecimalNumber),
    Text(Text),
    Bytes(Text),
    /// The present day.
    Today,
    /// The present time of day.
    TimeOfDay,
    /// The present instant, or one of the last so many milliseconds.
    Instant {
        max_past: u64,
        stream: Stream,
    },
    /// ARRAY, MAP, MULTISET.
    Collection(Collection),
    Record(Record),
}

/// The present, the same for all rows of a batch.
#[derive(Debug, Clone)]
pub(super) struct Now {
    pub(super) millis: i64,
    /// Days since 1970-01-01 and milliseconds of the day, in the session's zone.
    pub(super) local: (i32, i32),
}

impl Now {
    pub(super) fn read(zone: &TimeZone) -> Self {
        let now = Timestamp::now();
        let millis = now.as_millisecond();
        let local = millis + i64::from(zone.to_offset(now).seconds()) * 1000;
        let day = local.div_euclid(86_400_000) as i32;
        Self { millis, local: (day, local.rem_euclid(86_400_000) as i32) }
    }
}

impl Column {
    /// How many bytes a value takes, at most about.
    pub(super) fn value_bytes(&self) -> u64 {
        match &self.values {
            Values::Text(text) | Values::Bytes(text) => text.value_bytes(),
            Values::Collection(collection) => collection.value_bytes(),
            Values::Record(record) => record.value_bytes(),
            Values::Decimal(_) => 16,
            _ => 8,
        }
    }

    /// The values at `rows`.
    pub(super) fn fill(&self, rows: Rows, now: &Now) -> Result<ArrayRef, ConnectorError> {
        let len = rows.len();
        let nulls = self
            .nulls
            .map(|(rate, stream)| NullBuffer::from(rows.map(|index| stream.unit(index) >= rate)));
        Ok(match &self.values {
            Values::Boolean(stream) => {
                let bits = rows.map(|index| stream.word(index) >> 63 == 1);
                Arc::new(BooleanArray::new(BooleanBuffer::from(bits), nulls))
            }
            Values::Integer(number) => number.fill(rows, &self.data_type, nulls),
            Values::Real(number) => number.fill(rows, &self.data_type, nulls),
            Values::Decimal(number) => number.fill(rows, nulls)?,
            Values::Text(text) => texts(text, rows, nulls)?,
            Values::Bytes(text) => bytes(text, rows, nulls)?,
            Values::Today => Arc::new(Date32Array::new(vec![now.local.0; len].into(), nulls)),
            Values::TimeOfDay => {
                Arc::new(Time32MillisecondArray::new(vec![now.local.1; len].into(), nulls))
            }
            Values::Instant { max_past, stream } => {
                let past = |index| if *max_past == 0 { 0 } else { stream.below(index, *max_past) };
                let millis = rows.map(|index| now.millis - past(index) as i64);
                timestamps(millis, &self.data_type, nulls)?
            }
            Values::Collection(collection) => collection.fill(rows, now, nulls)?,
            Values::Record(record) => record.fill(rows, now, nulls)?,
        })
    }
}

/// The error for arrays that do not fit together, which is a mistake of ours.
pub(super) fn mismatch(error: arrow::error::ArrowError) -> ConnectorError {
    ConnectorError::new(format!("datagen made columns that do not fit: {error}"))
}
