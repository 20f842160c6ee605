//! A value as a database hands it over, before it becomes one of the type declared.

use std::borrow::Cow;
use std::fmt;

use flott_types::{DataType, TypeRoot, Value};
use jiff::tz::TimeZone;

use super::connection::{Column, DatabaseError};
use super::text;

/// A value of a database.
#[derive(Debug, Clone)]
pub(super) enum Cell<'a> {
    Null,
    Boolean(bool),
    Int(i128),
    Float(f32),
    Double(f64),
    /// Also decimals, whose digits are all there in their text.
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds of the day.
    Time(i64),
    /// A wall clock: nanoseconds since 1970-01-01 00:00.
    Local(i128),
    /// An instant: nanoseconds since the epoch.
    Instant(i128),
    Array(Vec<Cell<'a>>),
}

impl Cell<'_> {
    /// The value of the column that the cell is; an error where it is none.
    pub(super) fn value(&self, column: &Column, zone: &TimeZone) -> Result<Value, DatabaseError> {
        let value = self.convert(&column.data_type, zone);
        value.ok_or_else(|| DatabaseError::unreadable(column, self))
    }

    fn convert(&self, data_type: &DataType, zone: &TimeZone) -> Option<Value> {
        use TypeRoot as T;
        Some(match (self, &data_type.root) {
            (Self::Null, _) => Value::Null,
            (Self::Boolean(v), T::Boolean) => Value::Boolean(*v),
            (Self::Boolean(v), root) if root.is_integer() => Value::Int(i64::from(*v)),
            (Self::Boolean(v), _) => {
                text::parse(if *v { "true" } else { "false" }, data_type, zone)?
            }
            (Self::Int(v), T::Boolean) => Value::Boolean(*v != 0),
            (Self::Int(v), root) if root.is_integer() => Value::Int(in_range(*v, root)?),
            (Self::Int(v), T::Float) => Value::Float(*v as f32),
            (Self::Int(v), T::Double) => Value::Double(*v as f64),
            (Self::Int(v), T::Decimal { .. } | T::Char(_) | T::Varchar(_)) => {
                text::parse(&v.to_string(), data_type, zone)?
            }
            (Self::Float(v), T::Float) => Value::Float(*v),
            (Self::Float(v), T::Double) => Value::Double(f64::from(*v)),
            (Self::Float(v), _) => {
                Self::Double(v.to_string().parse().ok()?).convert(data_type, zone)?
            }
            (Self::Double(v), T::Double) => Value::Double(*v),
            (Self::Double(v), T::Float) => Value::Float(*v as f32),
            (Self::Double(v), root) if root.is_integer() => {
                let whole = v.fract() == 0.0 && v.abs() < 9.3e18;
                Value::Int(whole.then(|| in_range(*v as i128, root)).flatten()?)
            }
            (Self::Double(v), T::Decimal { .. } | T::Char(_) | T::Varchar(_)) => {
                text::parse(&v.to_string(), data_type, zone)?
            }
            (Self::Text(v), root) => {
                let value = text::parse(v, data_type, zone)?;
                match value {
                    Value::Int(number) => Value::Int(in_range(number.into(), root)?),
                    other => other,
                }
            }
            (Self::Bytes(v), T::Binary(_) | T::Varbinary(_)) => Value::Bytes((*v).into()),
            (Self::Date(v), T::Date) => Value::Date(*v),
            (Self::Date(v), _) => {
                Self::Local(i128::from(*v) * text::DAY).convert(data_type, zone)?
            }
            (Self::Time(v), T::Time(_)) => Value::Time((*v / 1_000_000) as i32),
            (Self::Local(v), T::Timestamp(p)) => Value::Timestamp(text::cut(*v, *p)),
            (Self::Local(v), T::TimestampLtz(p)) => {
                Value::Timestamp(text::cut(text::instant_of(*v, zone)?, *p))
            }
            (Self::Local(v), T::Date) => Value::Date(v.div_euclid(text::DAY) as i32),
            (Self::Local(v), T::Time(_)) => {
                Value::Time((v.rem_euclid(text::DAY) / 1_000_000) as i32)
            }
            (Self::Local(v), T::Char(_) | T::Varchar(_)) => {
                let written = text::write(&Value::Timestamp(*v), &DataType::timestamp(6));
                text::parse(&written, data_type, zone)?
            }
            (Self::Instant(v), T::TimestampLtz(p)) => Value::Timestamp(text::cut(*v, *p)),
            (Self::Instant(v), _) => {
                Self::Local(text::local_of(*v, zone)).convert(data_type, zone)?
            }
            (Self::Array(cells), T::Array(element)) => Value::Array(
                cells.iter().map(|cell| cell.convert(element, zone)).collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }
}

/// The number, if the type holds it.
fn in_range(number: i128, root: &TypeRoot) -> Option<i64> {
    let bits = match root {
        TypeRoot::TinyInt => 8,
        TypeRoot::SmallInt => 16,
        TypeRoot::Int => 32,
        _ => 64,
    };
    let half = 1i128 << (bits - 1);
    (-half..half).contains(&number).then_some(number as i64)
}

impl fmt::Display for Cell<'_> {
    /// The value with the kind of it, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(v) => write!(f, "the boolean {v}"),
            Self::Int(v) => write!(f, "the number {v}"),
            Self::Float(v) => write!(f, "the number {v}"),
            Self::Double(v) => write!(f, "the number {v}"),
            Self::Text(v) => {
                let short: String = v.chars().take(80).collect();
                write!(f, "'{short}'")
            }
            Self::Bytes(v) => write!(f, "{} bytes", v.len()),
            Self::Date(_) => f.write_str("a date"),
            Self::Time(_) => f.write_str("a time"),
            Self::Local(_) => f.write_str("a timestamp"),
            Self::Instant(_) => f.write_str("a timestamp with time zone"),
            Self::Array(_) => f.write_str("an array"),
        }
    }
}
