//! Parameters of PostgreSQL: as text, which the server reads as whatever type its table has.

use std::error::Error;

use bytes::BytesMut;
use flott_types::{DataType, TypeRoot, Value};
use jiff::tz::TimeZone;
use postgres::types::{Format, IsNull, ToSql, Type};

use super::super::text;

/// A value of a statement.
#[derive(Debug)]
pub(super) struct Parameter<'a> {
    value: &'a Value,
    data_type: &'a DataType,
    zone: &'a TimeZone,
}

impl<'a> Parameter<'a> {
    pub(super) fn new(value: &'a Value, data_type: &'a DataType, zone: &'a TimeZone) -> Self {
        Self { value, data_type, zone }
    }
}

impl ToSql for Parameter<'_> {
    fn to_sql(
        &self,
        target: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        if self.value.is_null() {
            return Ok(IsNull::Yes);
        }
        let mut written = String::new();
        write(&mut written, self.value, self.data_type, target, self.zone);
        out.extend_from_slice(written.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    fn to_sql_checked(
        &self,
        target: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.to_sql(target, out)
    }
}

fn write(out: &mut String, value: &Value, data_type: &DataType, target: &Type, zone: &TimeZone) {
    match (value, &data_type.root) {
        (Value::Array(items), TypeRoot::Array(element)) => {
            let inner = match target.kind() {
                postgres::types::Kind::Array(inner) => inner,
                _ => target,
            };
            out.push('{');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_item(out, item, element, inner, zone);
            }
            out.push('}');
        }
        (Value::Bytes(bytes), _) => {
            out.push_str("\\x");
            bytes.iter().for_each(|byte| out.push_str(&format!("{byte:02x}")));
        }
        // A wall clock is stored as the instant at which the session's zone shows it, and the other way
        // round.
        (Value::Timestamp(nanos), TypeRoot::Timestamp(p)) if *target == Type::TIMESTAMPTZ => {
            let instant = text::instant_of(*nanos, zone).unwrap_or(*nanos);
            out.push_str(&text::write(&Value::Timestamp(instant), &DataType::timestamp_ltz(*p)));
        }
        (Value::Timestamp(nanos), TypeRoot::TimestampLtz(p)) if *target == Type::TIMESTAMP => {
            let local = text::local_of(*nanos, zone);
            out.push_str(&text::write(&Value::Timestamp(local), &DataType::timestamp(*p)));
        }
        _ => out.push_str(&text::write(value, data_type)),
    }
}

/// An item of an array: in quotes, but for NULL and arrays.
fn write_item(out: &mut String, item: &Value, element: &DataType, target: &Type, zone: &TimeZone) {
    match item {
        Value::Null => out.push_str("NULL"),
        Value::Array(_) => write(out, item, element, target, zone),
        item => {
            let mut text = String::new();
            write(&mut text, item, element, target, zone);
            out.push('"');
            for c in text.chars() {
                if matches!(c, '"' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
            out.push('"');
        }
    }
}
