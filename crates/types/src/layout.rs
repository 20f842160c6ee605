//! How values of each SQL type lie in Arrow memory.
//!
//! | SQL type | Arrow type |
//! |---|---|
//! | BOOLEAN, integers, FLOAT, DOUBLE | the type of that name |
//! | DECIMAL(p, s) | `Decimal128(p, s)` |
//! | CHAR, VARCHAR | `Utf8`; CHAR values carry their padding |
//! | BINARY, VARBINARY, BITMAP, VARIANT, RAW | `Binary` |
//! | DATE | `Date32` |
//! | TIME(p) | `Time32(Millisecond)`: Flink keeps no more |
//! | TIMESTAMP(p), TIMESTAMP_LTZ(p) | p ≤ 3 `Timestamp(Millisecond)`, p ≤ 6 `Timestamp(Microsecond)`, else `Decimal128(38, 9)` counting nanoseconds, since 64 bits of them end in 2262 |
//! | INTERVAL of months | `Interval(YearMonth)` |
//! | INTERVAL of days and less | `Duration(Millisecond)` |
//! | ARRAY | `List` |
//! | MAP, MULTISET | `List` of `Struct(key, value)`: Arrow's map forbids NULL keys, Flink's does not; MULTISET's value is an INT count |
//! | ROW, STRUCTURED | `Struct` |
//! | NULL, DESCRIPTOR | `Null` |

use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Field, Fields, IntervalUnit, TimeUnit};

use crate::{DataType, TypeRoot};

/// The Arrow type that holds values of a SQL type.
pub fn arrow_type(ty: &DataType) -> Arrow {
    match &ty.root {
        TypeRoot::Null | TypeRoot::Descriptor => Arrow::Null,
        TypeRoot::Boolean => Arrow::Boolean,
        TypeRoot::TinyInt => Arrow::Int8,
        TypeRoot::SmallInt => Arrow::Int16,
        TypeRoot::Int => Arrow::Int32,
        TypeRoot::BigInt => Arrow::Int64,
        TypeRoot::Float => Arrow::Float32,
        TypeRoot::Double => Arrow::Float64,
        TypeRoot::Decimal { precision, scale } => Arrow::Decimal128(*precision, *scale as i8),
        TypeRoot::Char(_) | TypeRoot::Varchar(_) => Arrow::Utf8,
        TypeRoot::Binary(_)
        | TypeRoot::Varbinary(_)
        | TypeRoot::Bitmap
        | TypeRoot::Variant
        | TypeRoot::Raw(_) => Arrow::Binary,
        TypeRoot::Date => Arrow::Date32,
        TypeRoot::Time(_) => Arrow::Time32(TimeUnit::Millisecond),
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
            TimestampUnit::Millis => Arrow::Timestamp(TimeUnit::Millisecond, None),
            TimestampUnit::Micros => Arrow::Timestamp(TimeUnit::Microsecond, None),
            TimestampUnit::Nanos => Arrow::Decimal128(38, 9),
        },
        TypeRoot::IntervalYearMonth => Arrow::Interval(IntervalUnit::YearMonth),
        TypeRoot::IntervalDayTime => Arrow::Duration(TimeUnit::Millisecond),
        TypeRoot::Array(element) => Arrow::List(list_field(arrow_type(element))),
        TypeRoot::Map(key, value) => {
            Arrow::List(list_field(Arrow::Struct(entry_fields(arrow_type(key), arrow_type(value)))))
        }
        TypeRoot::Multiset(element) => {
            Arrow::List(list_field(Arrow::Struct(entry_fields(arrow_type(element), Arrow::Int32))))
        }
        TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => Arrow::Struct(
            fields
                .iter()
                .map(|f| Field::new(f.name.as_ref(), arrow_type(&f.data_type), true))
                .collect::<Fields>(),
        ),
    }
}

fn list_field(element: Arrow) -> Arc<Field> {
    Arc::new(Field::new("item", element, true))
}

fn entry_fields(key: Arrow, value: Arrow) -> Fields {
    vec![Field::new("key", key, true), Field::new("value", value, true)].into()
}

/// What one step of a timestamp's stored number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampUnit {
    /// Milliseconds in 64 bits, precision 0 to 3.
    Millis,
    /// Microseconds in 64 bits, precision 4 to 6.
    Micros,
    /// Nanoseconds in 128 bits, precision 7 to 9.
    Nanos,
}

impl TimestampUnit {
    /// Nanoseconds in one step.
    pub fn nanos(self) -> i128 {
        match self {
            Self::Millis => 1_000_000,
            Self::Micros => 1_000,
            Self::Nanos => 1,
        }
    }
}

/// The unit in which timestamps of a precision are stored.
pub fn timestamp_unit(precision: u8) -> TimestampUnit {
    match precision {
        0..=3 => TimestampUnit::Millis,
        4..=6 => TimestampUnit::Micros,
        _ => TimestampUnit::Nanos,
    }
}
