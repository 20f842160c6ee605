//! The schema that Flink derives from the columns of a table.

use std::fmt::Write;

use flott_types::{DataType, RowField, Schema, TypeRoot};

use crate::error::FormatError;

/// The namespace of all records.
const NAMESPACE: &str = "org.apache.flink.avro.generated";

/// How timestamps are mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timestamps {
    /// TIMESTAMP is an instant (`timestamp-millis`), and TIMESTAMP_LTZ nothing at all.
    Legacy,
    /// TIMESTAMP is local (`local-timestamp-*`), and TIMESTAMP_LTZ an instant (`timestamp-*`).
    Sql,
}

/// The schema of a table's records as JSON, the very text that Java's Avro prints.
pub(crate) fn derive(schema: &Schema, timestamps: Timestamps) -> Result<String, FormatError> {
    let fields = schema.fields.iter().map(|field| (&*field.name, &field.data_type));
    let mut writer = Deriver { out: String::new(), column: String::new() };
    writer.record(fields, "record", timestamps)?;
    Ok(writer.out)
}

/// The schema of Debezium's messages for a table.
pub(super) fn derive_debezium(schema: &Schema) -> Result<String, FormatError> {
    let fields = schema
        .fields
        .iter()
        .map(|field| RowField::new(field.name.clone(), field.data_type.clone()));
    let row = DataType::row(fields.collect::<Vec<_>>());
    let op = DataType::string();
    let fields = [("before", &row), ("after", &row), ("op", &op)];
    let mut writer = Deriver { out: String::new(), column: String::new() };
    writer.out.push_str("[\"null\",");
    writer.record(fields.into_iter(), "record", Timestamps::Legacy)?;
    writer.out.push(']');
    Ok(writer.out)
}

struct Deriver {
    out: String,
    /// The table's column under way, for messages.
    column: String,
}

impl Deriver {
    fn record<'t>(
        &mut self,
        fields: impl Iterator<Item = (&'t str, &'t DataType)>,
        name: &str,
        timestamps: Timestamps,
    ) -> Result<(), FormatError> {
        let top = name == "record";
        let _ = write!(self.out, r#"{{"type":"record","name":"{name}""#);
        if top {
            let _ = write!(self.out, r#","namespace":"{NAMESPACE}""#);
        }
        self.out.push_str(r#","fields":["#);
        for (at, (field, data_type)) in fields.enumerate() {
            check_name(field)?;
            if top {
                self.column = field.to_string();
            }
            if at > 0 {
                self.out.push(',');
            }
            let _ = write!(self.out, r#"{{"name":"{field}","type":"#);
            self.nullable(data_type, &format!("{name}_{field}"), timestamps)?;
            if data_type.nullable {
                self.out.push_str(r#","default":null"#);
            }
            self.out.push('}');
        }
        self.out.push_str("]}");
        Ok(())
    }

    fn nullable(
        &mut self,
        data_type: &DataType,
        name: &str,
        timestamps: Timestamps,
    ) -> Result<(), FormatError> {
        if !data_type.nullable || data_type.root == TypeRoot::Null {
            return self.node(data_type, name, timestamps);
        }
        self.out.push_str(r#"["null","#);
        self.node(data_type, name, timestamps)?;
        self.out.push(']');
        Ok(())
    }

    fn node(
        &mut self,
        data_type: &DataType,
        name: &str,
        timestamps: Timestamps,
    ) -> Result<(), FormatError> {
        let legacy = timestamps == Timestamps::Legacy;
        let text = match &data_type.root {
            TypeRoot::Null => r#""null""#,
            TypeRoot::Boolean => r#""boolean""#,
            TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int => r#""int""#,
            TypeRoot::BigInt => r#""long""#,
            TypeRoot::Float => r#""float""#,
            TypeRoot::Double => r#""double""#,
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => r#""string""#,
            TypeRoot::Binary(_) | TypeRoot::Varbinary(_) => r#""bytes""#,
            TypeRoot::Timestamp(0..=3) if legacy => MILLIS,
            TypeRoot::Timestamp(0..=3) => {
                r#"{"type":"long","logicalType":"local-timestamp-millis"}"#
            }
            TypeRoot::Timestamp(4..=6) if !legacy => {
                r#"{"type":"long","logicalType":"local-timestamp-micros"}"#
            }
            TypeRoot::TimestampLtz(0..=3) if !legacy => MILLIS,
            TypeRoot::TimestampLtz(4..=6) if !legacy => {
                r#"{"type":"long","logicalType":"timestamp-micros"}"#
            }
            TypeRoot::Date => r#"{"type":"int","logicalType":"date"}"#,
            TypeRoot::Time(0..=3) => r#"{"type":"int","logicalType":"time-millis"}"#,
            TypeRoot::Decimal { precision, scale } => {
                let _ = write!(
                    self.out,
                    r#"{{"type":"bytes","logicalType":"decimal","precision":{precision},"scale":{scale}}}"#
                );
                return Ok(());
            }
            TypeRoot::Row(fields) => {
                let fields = fields.iter().map(|field| (&*field.name, &field.data_type));
                return self.record(fields, name, timestamps);
            }
            // What stands in arrays and maps is mapped the old way, whatever the option says.
            TypeRoot::Array(element) => {
                self.out.push_str(r#"{"type":"array","items":"#);
                self.nullable(element, name, Timestamps::Legacy)?;
                r#"}"#
            }
            TypeRoot::Map(key, value) => {
                self.check_key(data_type, key)?;
                self.out.push_str(r#"{"type":"map","values":"#);
                self.nullable(value, name, Timestamps::Legacy)?;
                r#"}"#
            }
            TypeRoot::Multiset(element) => {
                self.check_key(data_type, element)?;
                r#"{"type":"map","values":["null","int"]}"#
            }
            _ => {
                return Err(FormatError::AvroType {
                    data_type: data_type.summary(),
                    column: self.column.clone(),
                });
            }
        };
        self.out.push_str(text);
        Ok(())
    }

    fn check_key(&self, data_type: &DataType, key: &DataType) -> Result<(), FormatError> {
        match key.root {
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Ok(()),
            _ => Err(FormatError::AvroKey {
                data_type: data_type.summary(),
                column: self.column.clone(),
            }),
        }
    }
}

const MILLIS: &str = r#"{"type":"long","logicalType":"timestamp-millis"}"#;

/// Names are of letters, digits and `_`, and do not begin with a digit.
fn check_name(name: &str) -> Result<(), FormatError> {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let sound = name.starts_with(begins) && name.chars().all(|c| begins(c) || c.is_numeric());
    if sound { Ok(()) } else { Err(FormatError::AvroName(name.into())) }
}
