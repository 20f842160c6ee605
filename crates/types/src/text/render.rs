//! Any value as the text Flink's `CAST(… AS STRING)` gives.

use jiff::tz::TimeZone;

use super::bitmap::write_bitmap;
use super::number::{write_decimal, write_double, write_float};
use super::temporal::{
    write_date, write_day_time_interval, write_time, write_timestamp, write_year_month_interval,
};
use crate::variant::write_variant;
use crate::{DataType, TypeRoot, Value};

/// The text of a value; TIMESTAMP_LTZ is shown in `zone`. NULL at the top gives `NULL`.
pub fn value_to_string(value: &Value, ty: &DataType, zone: &TimeZone) -> String {
    let mut out = String::new();
    write_value(&mut out, value, ty, zone);
    out
}

/// Writes the text of a value: `TRUE`, `1.0E10`, `[1, 2]`, `{k=v}`, `(a, b)`, NULL as `NULL`.
pub fn write_value(out: &mut String, value: &Value, ty: &DataType, zone: &TimeZone) {
    match (value, &ty.root) {
        (Value::Null, _) => out.push_str("NULL"),
        (Value::Boolean(v), _) => out.push_str(if *v { "TRUE" } else { "FALSE" }),
        (Value::Int(v), _) => out.push_str(&v.to_string()),
        (Value::Float(v), _) => write_float(out, *v),
        (Value::Double(v), _) => write_double(out, *v),
        (Value::Decimal(v), TypeRoot::Decimal { scale, .. }) => write_decimal(out, *v, *scale),
        (Value::Decimal(v), _) => write_decimal(out, *v, 0),
        (Value::String(v), _) => out.push_str(v),
        (Value::Bytes(v), TypeRoot::Variant) => write_variant(out, v),
        (Value::Bytes(v), TypeRoot::Bitmap) => write_bitmap(out, v),
        (Value::Bytes(v), _) => out.push_str(&String::from_utf8_lossy(v)),
        (Value::Date(v), _) => write_date(out, *v),
        (Value::Time(v), TypeRoot::Time(p)) => write_time(out, *v, *p),
        (Value::Time(v), _) => write_time(out, *v, 3),
        (Value::Timestamp(v), TypeRoot::TimestampLtz(p)) => {
            write_timestamp(out, local_nanos(*v, zone), *p);
        }
        (Value::Timestamp(v), TypeRoot::Timestamp(p)) => write_timestamp(out, *v, *p),
        (Value::Timestamp(v), _) => write_timestamp(out, *v, 9),
        (Value::Months(v), _) => write_year_month_interval(out, *v),
        (Value::Millis(v), _) => write_day_time_interval(out, *v),
        (Value::Array(items), root) => {
            let element = if let TypeRoot::Array(e) = root { e } else { ty };
            write_items(out, ('[', ']'), items.iter().map(|item| (item, element)), zone);
        }
        (Value::Row(items), root) => {
            let fields = root.row_fields().unwrap_or_default();
            let typed = items.iter().zip(fields).map(|(item, field)| (item, &field.data_type));
            write_items(out, ('(', ')'), typed, zone);
        }
        (Value::Map(entries), root) => {
            let count = DataType::int();
            let (key, value) = match root {
                TypeRoot::Map(key, value) => (&**key, &**value),
                TypeRoot::Multiset(element) => (&**element, &count),
                _ => (ty, ty),
            };
            out.push('{');
            for (i, (k, v)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_value(out, k, key, zone);
                out.push('=');
                write_value(out, v, value, zone);
            }
            out.push('}');
        }
    }
}

fn write_items<'a>(
    out: &mut String,
    (open, close): (char, char),
    items: impl Iterator<Item = (&'a Value, impl AsRef<DataType>)>,
    zone: &TimeZone,
) {
    out.push(open);
    for (i, (item, ty)) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_value(out, item, ty.as_ref(), zone);
    }
    out.push(close);
}

impl AsRef<DataType> for DataType {
    fn as_ref(&self) -> &DataType {
        self
    }
}

/// The wall clock that `zone` shows at an instant, both in nanoseconds since the epoch.
fn local_nanos(nanos: i128, zone: &TimeZone) -> i128 {
    // Time zones have rules from the year -9999 to 9999; before and after, the nearest holds.
    let known = jiff::Timestamp::MIN.as_nanosecond()..=jiff::Timestamp::MAX.as_nanosecond();
    let nearest = nanos.clamp(*known.start(), *known.end());
    let offset = jiff::Timestamp::from_nanosecond(nearest).map(|instant| zone.to_offset(instant));
    nanos + i128::from(offset.map_or(0, |offset| offset.seconds())) * 1_000_000_000
}
