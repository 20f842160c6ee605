//! SQL values written as JSON: what JSON_STRING, JSON_OBJECT and JSON_ARRAY have in common.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use arrow::datatypes as at;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flott_types::text::{
    utf16_order, write_decimal, write_double, write_json_string, write_timestamp,
};
use flott_types::variant::write_variant;
use flott_types::{DataType, Family, TimestampUnit, TypeRoot, timestamp_unit};

use super::text::write_big_decimal;
use crate::{EvalError, SignatureError};

/// Writes the values of a type as JSON.
///
/// As in Flink: exact numbers with all their digits and approximate ones as Java's `BigDecimal` of them
/// prints; bytes in base64; timestamps in the form of ISO 8601; members sorted by name.
pub enum Encoder {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    Double,
    Decimal {
        scale: u8,
    },
    Text,
    Bytes,
    Timestamp {
        unit: TimestampUnit,
        local: bool,
    },
    Variant,
    Array(Box<Encoder>),
    /// Keys are strings.
    Map(Box<Encoder>),
    /// The fields in the order of their names: position, name in quotes, values.
    Row(Vec<(usize, String, Encoder)>),
}

impl Encoder {
    /// The encoder of a type; fails for types that JSON has no form for.
    pub fn new(ty: &DataType) -> Result<Self, SignatureError> {
        Ok(match &ty.root {
            TypeRoot::Boolean => Self::Boolean,
            TypeRoot::TinyInt => Self::TinyInt,
            TypeRoot::SmallInt => Self::SmallInt,
            TypeRoot::Int => Self::Int,
            TypeRoot::BigInt => Self::BigInt,
            TypeRoot::Float => Self::Float,
            TypeRoot::Double => Self::Double,
            TypeRoot::Decimal { scale, .. } => Self::Decimal { scale: *scale },
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Self::Text,
            TypeRoot::Binary(_) | TypeRoot::Varbinary(_) => Self::Bytes,
            TypeRoot::Timestamp(p) => Self::Timestamp { unit: timestamp_unit(*p), local: false },
            TypeRoot::TimestampLtz(p) => Self::Timestamp { unit: timestamp_unit(*p), local: true },
            TypeRoot::Variant => Self::Variant,
            TypeRoot::Array(element) => Self::Array(Box::new(Self::new(element)?)),
            TypeRoot::Map(key, value) => Self::map(key, value)?,
            TypeRoot::Multiset(element) => Self::map(element, &DataType::int())?,
            TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
                let mut encoders = Vec::with_capacity(fields.len());
                for (position, field) in fields.iter().enumerate() {
                    let encoder = Self::new(&field.data_type)?;
                    encoders.push((position, field.name.as_ref(), encoder));
                }
                encoders.sort_by(|(_, a, _), (_, b, _)| utf16_order(a, b));
                let quoted = |name: &str| {
                    let mut out = String::new();
                    write_json_string(&mut out, name);
                    out
                };
                let fields = encoders.into_iter();
                Self::Row(fields.map(|(at, name, encoder)| (at, quoted(name), encoder)).collect())
            }
            _ => {
                return Err(SignatureError::Other(format!(
                    "type '{}' is not scalar or cannot be converted into JSON\n\
                     hint: cast it to STRING",
                    ty.summary()
                )));
            }
        })
    }

    fn map(key: &DataType, value: &DataType) -> Result<Self, SignatureError> {
        if key.family() != Family::CharacterString {
            return Err(SignatureError::Other(format!(
                "type '{}' is not supported for the keys of JSON objects\n\
                 hint: keys must be character strings",
                key.summary()
            )));
        }
        Ok(Self::Map(Box::new(Self::new(value)?)))
    }

    /// Writes the value of a row.
    pub fn write(&self, out: &mut String, array: &ArrayRef, row: usize) -> Result<(), EvalError> {
        if array.is_null(row) {
            out.push_str("null");
            return Ok(());
        }
        match self {
            Self::Boolean => {
                out.push_str(if array.as_boolean().value(row) { "true" } else { "false" });
            }
            Self::TinyInt => write_integer(out, native::<at::Int8Type>(array, row)),
            Self::SmallInt => write_integer(out, native::<at::Int16Type>(array, row)),
            Self::Int => write_integer(out, native::<at::Int32Type>(array, row)),
            Self::BigInt => write_integer(out, native::<at::Int64Type>(array, row)),
            Self::Float => {
                let number = native::<at::Float32Type>(array, row);
                if !number.is_finite() {
                    return Err(EvalError::Argument {
                        function: "JSON",
                        reason: format!("a FLOAT that is {number} has no JSON form"),
                    });
                }
                write_approximate(out, f64::from(number));
            }
            Self::Double => write_approximate(out, native::<at::Float64Type>(array, row)),
            Self::Decimal { scale } => {
                let digits = native::<at::Decimal128Type>(array, row);
                let mut plain = String::new();
                write_decimal(&mut plain, digits, *scale);
                write_big_decimal(out, &plain);
            }
            Self::Text => write_json_string(out, array.as_string::<i32>().value(row)),
            Self::Bytes => {
                out.push('"');
                STANDARD.encode_string(array.as_binary::<i32>().value(row), out);
                out.push('"');
            }
            Self::Timestamp { unit, local } => {
                let steps = match unit {
                    TimestampUnit::Millis => {
                        native::<at::TimestampMillisecondType>(array, row).into()
                    }
                    TimestampUnit::Micros => {
                        native::<at::TimestampMicrosecondType>(array, row).into()
                    }
                    TimestampUnit::Nanos => native::<at::Decimal128Type>(array, row),
                };
                write_iso_timestamp(out, steps * unit.nanos(), *local);
            }
            Self::Variant => write_variant(out, array.as_binary::<i32>().value(row)),
            Self::Array(element) => {
                let list = array.as_list::<i32>();
                let (start, end) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
                out.push('[');
                for item in start..end {
                    if item > start {
                        out.push(',');
                    }
                    element.write(out, list.values(), item as usize)?;
                }
                out.push(']');
            }
            Self::Map(value) => write_map(out, array, row, value)?,
            Self::Row(fields) => {
                let columns = array.as_struct().columns();
                out.push('{');
                for (i, (position, name, encoder)) in fields.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(name);
                    out.push(':');
                    encoder.write(out, &columns[*position], row)?;
                }
                out.push('}');
            }
        }
        Ok(())
    }
}

fn native<T: ArrowPrimitiveType>(array: &ArrayRef, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn write_integer(out: &mut String, number: impl std::fmt::Display) {
    let _ = write!(out, "{number}");
}

/// Writes a DOUBLE as the `BigDecimal` of its Java text prints; what is not finite as a string.
fn write_approximate(out: &mut String, number: f64) {
    let mut text = String::new();
    write_double(&mut text, number);
    if number.is_finite() {
        write_big_decimal(out, &text);
    } else {
        write_json_string(out, &text);
    }
}

/// Writes `"2024-01-05T10:20:30.5"`, with a `Z` behind it for an instant: no more digits than needed.
fn write_iso_timestamp(out: &mut String, nanos: i128, local: bool) {
    out.push('"');
    let start = out.len();
    write_timestamp(out, nanos, 9);
    if let Some(space) = out[start..].find(' ') {
        out.replace_range(start + space..=start + space, "T");
    }
    out.truncate(out.trim_end_matches('0').len());
    if out.ends_with('.') {
        out.pop();
    }
    out.push_str(if local { "Z\"" } else { "\"" });
}

fn write_map(
    out: &mut String,
    array: &ArrayRef,
    row: usize,
    value: &Encoder,
) -> Result<(), EvalError> {
    let list = array.as_list::<i32>();
    let entries = list.values().as_struct();
    let (keys, values) = (entries.column(0), entries.column(1));
    let (start, end) = (list.value_offsets()[row] as usize, list.value_offsets()[row + 1] as usize);
    if (start..end).any(|entry| keys.is_null(entry)) {
        return Err(EvalError::Argument {
            function: "JSON",
            reason: "a map with a NULL key has no JSON form".into(),
        });
    }
    let keys = keys.as_string::<i32>();
    let mut sorted: Vec<usize> = (start..end).collect();
    sorted.sort_by(|a, b| utf16_order(keys.value(*a), keys.value(*b)));
    // Of equal keys the last counts.
    sorted.reverse();
    sorted.dedup_by_key(|entry| keys.value(*entry));
    sorted.reverse();
    out.push('{');
    for (i, entry) in sorted.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_json_string(out, keys.value(*entry));
        out.push(':');
        value.write(out, values, *entry)?;
    }
    out.push('}');
    Ok(())
}
