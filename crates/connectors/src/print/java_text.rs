//! Values as Java's `toString` shows them, which is what Flink prints: `2024-01-02T03:04`, `[1, null]`,
//! `{k=1}`, `+I[1, x]`. CAST to STRING has other forms.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes as at;
use flott_types::text::{civil_from_days, write_bitmap, write_decimal, write_double, write_float};
use flott_types::variant::write_variant;
use flott_types::{DataType, RowKind, TimestampUnit, TypeRoot, timestamp_unit};

use super::hash_order::hash_order;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Writes a row as `+I[a, b]`.
pub(super) fn write_row(
    out: &mut String,
    kind: RowKind,
    columns: &[ArrayRef],
    row: usize,
    types: &[DataType],
) {
    out.push_str(kind.short());
    out.push('[');
    for (i, (column, data_type)) in columns.iter().zip(types).enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_cell(out, column, row, data_type);
    }
    out.push(']');
}

fn write_cell(out: &mut String, array: &dyn Array, row: usize, data_type: &DataType) {
    if array.is_null(row) {
        out.push_str("null");
        return;
    }
    // Writing into a String cannot fail, so results of `write!` are dropped.
    match &data_type.root {
        TypeRoot::Null | TypeRoot::Descriptor => out.push_str("null"),
        TypeRoot::Boolean => {
            let _ = write!(out, "{}", array.as_boolean().value(row));
        }
        TypeRoot::TinyInt => write_int(out, array.as_primitive::<at::Int8Type>().value(row)),
        TypeRoot::SmallInt => write_int(out, array.as_primitive::<at::Int16Type>().value(row)),
        TypeRoot::Int => write_int(out, array.as_primitive::<at::Int32Type>().value(row)),
        TypeRoot::BigInt => write_int(out, array.as_primitive::<at::Int64Type>().value(row)),
        TypeRoot::Float => write_float(out, array.as_primitive::<at::Float32Type>().value(row)),
        TypeRoot::Double => write_double(out, array.as_primitive::<at::Float64Type>().value(row)),
        TypeRoot::Decimal { scale, .. } => {
            let digits = array.as_primitive::<at::Decimal128Type>().value(row);
            write_big_decimal(out, digits, *scale);
        }
        TypeRoot::Char(_) | TypeRoot::Varchar(_) => {
            out.push_str(array.as_string::<i32>().value(row));
        }
        TypeRoot::Binary(_) | TypeRoot::Varbinary(_) | TypeRoot::Raw(_) => {
            write_bytes(out, array.as_binary::<i32>().value(row));
        }
        TypeRoot::Bitmap => write_bitmap(out, array.as_binary::<i32>().value(row)),
        TypeRoot::Variant => write_variant(out, array.as_binary::<i32>().value(row)),
        TypeRoot::Date => {
            write_date(out, array.as_primitive::<at::Date32Type>().value(row).into());
        }
        TypeRoot::Time(_) => {
            let millis = array.as_primitive::<at::Time32MillisecondType>().value(row);
            write_clock(out, (millis / 1000).into(), (millis % 1000) as u32 * 1_000_000);
        }
        TypeRoot::Timestamp(p) => write_local(out, nanos(array, row, *p)),
        TypeRoot::TimestampLtz(p) => write_instant(out, nanos(array, row, *p)),
        TypeRoot::IntervalYearMonth => {
            let months = array.as_primitive::<at::IntervalYearMonthType>().value(row);
            let _ = if months == 0 { write!(out, "P0D") } else { write!(out, "P{months}M") };
        }
        TypeRoot::IntervalDayTime => {
            write_duration(out, array.as_primitive::<at::DurationMillisecondType>().value(row));
        }
        TypeRoot::Array(element) => {
            let items = array.as_list::<i32>().value(row);
            out.push('[');
            for i in 0..items.len() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_cell(out, &items, i, element);
            }
            out.push(']');
        }
        TypeRoot::Map(key, value) => write_map(out, array, row, key, value),
        TypeRoot::Multiset(element) => write_map(out, array, row, element, &DataType::int()),
        TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
            out.push_str("+I[");
            for (i, (column, field)) in
                array.as_struct().columns().iter().zip(&**fields).enumerate()
            {
                if i > 0 {
                    out.push_str(", ");
                }
                write_cell(out, column, row, &field.data_type);
            }
            out.push(']');
        }
    }
}

fn write_int(out: &mut String, number: impl std::fmt::Display) {
    let _ = write!(out, "{number}");
}

/// `BigDecimal.toString`: with an exponent when there are more than six zeros after the point.
fn write_big_decimal(out: &mut String, digits: i128, scale: u8) {
    let magnitude = digits.unsigned_abs();
    let count = magnitude.checked_ilog10().map_or(1, |log| log + 1);
    let exponent = count as i32 - 1 - i32::from(scale);
    if exponent >= -6 {
        write_decimal(out, digits, scale);
        return;
    }
    if digits < 0 {
        out.push('-');
    }
    let first_digit = 10u128.pow(count - 1);
    let _ = write!(out, "{}", magnitude / first_digit);
    if count > 1 {
        let width = count as usize - 1;
        let _ = write!(out, ".{:0width$}", magnitude % first_digit);
    }
    let _ = write!(out, "E{exponent}");
}

/// A byte array, its bytes as signed numbers.
fn write_bytes(out: &mut String, bytes: &[u8]) {
    out.push('[');
    for (i, byte) in bytes.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{}", *byte as i8);
    }
    out.push(']');
}

fn write_map(out: &mut String, array: &dyn Array, row: usize, key: &DataType, value: &DataType) {
    let entries = array.as_list::<i32>().value(row);
    let columns = entries.as_struct().columns();
    out.push('{');
    for (i, entry) in hash_order(&columns[0], key).into_iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_cell(out, &columns[0], entry, key);
        out.push('=');
        write_cell(out, &columns[1], entry, value);
    }
    out.push('}');
}

fn nanos(array: &dyn Array, row: usize, precision: u8) -> i128 {
    let unit = timestamp_unit(precision);
    let steps = match unit {
        TimestampUnit::Millis => {
            array.as_primitive::<at::TimestampMillisecondType>().value(row).into()
        }
        TimestampUnit::Micros => {
            array.as_primitive::<at::TimestampMicrosecondType>().value(row).into()
        }
        TimestampUnit::Nanos => array.as_primitive::<at::Decimal128Type>().value(row),
    };
    steps * unit.nanos()
}

/// `LocalDateTime.toString`.
fn write_local(out: &mut String, nanos: i128) {
    let seconds = nanos.div_euclid(NANOS_PER_SECOND) as i64;
    write_date(out, seconds.div_euclid(SECONDS_PER_DAY));
    out.push('T');
    let fraction = nanos.rem_euclid(NANOS_PER_SECOND) as u32;
    write_clock(out, seconds.rem_euclid(SECONDS_PER_DAY), fraction);
}

/// `Instant.toString`, which never leaves out the seconds.
fn write_instant(out: &mut String, nanos: i128) {
    let seconds = nanos.div_euclid(NANOS_PER_SECOND) as i64;
    write_date(out, seconds.div_euclid(SECONDS_PER_DAY));
    let clock = seconds.rem_euclid(SECONDS_PER_DAY);
    let _ = write!(out, "T{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60);
    write_fraction(out, nanos.rem_euclid(NANOS_PER_SECOND) as u32);
    out.push('Z');
}

/// `LocalDate.toString`.
fn write_date(out: &mut String, days: i64) {
    let date = civil_from_days(days);
    let sign = match date.year {
        ..0 => "-",
        10_000.. => "+",
        _ => "",
    };
    let year = date.year.unsigned_abs();
    let _ = write!(out, "{sign}{year:04}-{:02}-{:02}", date.month, date.day);
}

/// `LocalTime.toString`: seconds only where there are any.
fn write_clock(out: &mut String, seconds: i64, nanos: u32) {
    let _ = write!(out, "{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 || nanos != 0 {
        let _ = write!(out, ":{:02}", seconds % 60);
        write_fraction(out, nanos);
    }
}

/// A fraction of a second in groups of three digits.
fn write_fraction(out: &mut String, nanos: u32) {
    let _ = match nanos {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
        n => write!(out, ".{n:09}"),
    };
}

/// `Duration.toString`: hours, minutes and seconds, each with its own sign.
fn write_duration(out: &mut String, millis: i64) {
    if millis == 0 {
        out.push_str("PT0S");
        return;
    }
    let sign = if millis < 0 { "-" } else { "" };
    let magnitude = millis.unsigned_abs();
    let (hours, minutes) = (magnitude / 3_600_000, magnitude / 60_000 % 60);
    let (seconds, fraction) = (magnitude / 1000 % 60, magnitude % 1000);
    out.push_str("PT");
    if hours != 0 {
        let _ = write!(out, "{sign}{hours}H");
    }
    if minutes != 0 {
        let _ = write!(out, "{sign}{minutes}M");
    }
    if seconds != 0 || fraction != 0 {
        let _ = write!(out, "{sign}{seconds}");
        if fraction != 0 {
            let digits = [fraction / 100, fraction / 10 % 10, fraction % 10];
            out.push('.');
            let used = digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
            out.extend(digits[..used].iter().map(|digit| (b'0' + *digit as u8) as char));
        }
        out.push('S');
    }
}

#[cfg(test)]
mod tests {
    use flott_types::{RowField, Value};

    use super::*;

    fn text(value: Value, data_type: DataType) -> String {
        let array = Value::to_array(&[value], &data_type).unwrap();
        let mut out = String::new();
        write_cell(&mut out, &array, 0, &data_type);
        out
    }

    /// All seen on Flink 2.3.
    #[test]
    fn values_print_as_flink_prints_them() {
        let second = 1_000_000_000i128;
        let at = 1_704_164_640 * second; // 2024-01-02 03:04:00
        let row = DataType::row(vec![
            RowField::new("x", DataType::int()),
            RowField::new("y", DataType::string()),
        ]);
        let map = DataType::map(DataType::string(), DataType::int());
        for (value, data_type, expected) in [
            (Value::Null, DataType::int(), "null"),
            (Value::Boolean(true), DataType::boolean(), "true"),
            (Value::Double(1e10), DataType::double(), "1.0E10"),
            (Value::Decimal(150), DataType::decimal(5, 2), "1.50"),
            (Value::Decimal(0), DataType::decimal(10, 8), "0E-8"),
            (Value::Decimal(-123), DataType::decimal(20, 10), "-1.23E-8"),
            (Value::Decimal(123), DataType::decimal(20, 8), "0.00000123"),
            (Value::Bytes([1, 2, 255].as_slice().into()), DataType::bytes(), "[1, 2, -1]"),
            (Value::Date(19_724), TypeRoot::Date.into(), "2024-01-02"),
            (Value::Time(36_672_000), TypeRoot::Time(0).into(), "10:11:12"),
            (Value::Time(36_660_000), TypeRoot::Time(0).into(), "10:11"),
            (Value::Time(36_672_345), TypeRoot::Time(3).into(), "10:11:12.345"),
            (Value::Timestamp(at), DataType::timestamp(3), "2024-01-02T03:04"),
            (
                Value::Timestamp(at + 5 * second + second / 10 * 6),
                DataType::timestamp(3),
                "2024-01-02T03:04:05.600",
            ),
            (
                Value::Timestamp(at + 5 * second + 123_456_789),
                DataType::timestamp(9),
                "2024-01-02T03:04:05.123456789",
            ),
            (Value::Timestamp(second), DataType::timestamp_ltz(3), "1970-01-01T00:00:01Z"),
            (
                Value::Timestamp(second / 10 * 11),
                DataType::timestamp_ltz(3),
                "1970-01-01T00:00:01.100Z",
            ),
            (Value::Months(14), TypeRoot::IntervalYearMonth.into(), "P14M"),
            (Value::Millis(93_784_500), TypeRoot::IntervalDayTime.into(), "PT26H3M4.5S"),
            (Value::Millis(-1), TypeRoot::IntervalDayTime.into(), "PT-0.001S"),
            (
                Value::Array(vec![Value::Int(1), Value::Null]),
                DataType::array(DataType::int()),
                "[1, null]",
            ),
            (Value::Row(vec![Value::Int(1), Value::string("y")]), row, "+I[1, y]"),
            (
                Value::Map(vec![
                    (Value::string("k"), Value::Int(1)),
                    (Value::string("j"), Value::Int(2)),
                ]),
                map,
                "{j=2, k=1}",
            ),
        ] {
            assert_eq!(text(value, data_type), expected);
        }
    }
}
