//! Named, typed columns with their time attributes.

use std::fmt;
use std::sync::Arc;

use crate::DataType;
use crate::layout::arrow_type;

/// What a column still knows about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeAttribute {
    /// Event time: the column the watermark speaks of.
    Rowtime,
    /// Processing time: filled in when it is read.
    Proctime,
}

/// A column of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The column's name.
    pub name: Arc<str>,
    /// Its type.
    pub data_type: DataType,
    /// Whether it is a time attribute.
    pub time: Option<TimeAttribute>,
}

impl Field {
    /// An ordinary column.
    pub fn new(name: impl Into<Arc<str>>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, time: None }
    }

    /// The same column as the time attribute given.
    pub fn with_time(mut self, time: Option<TimeAttribute>) -> Self {
        self.time = time;
        self
    }

    /// The type as Flink prints it in a result's schema: `TIMESTAMP(3) *ROWTIME*`.
    pub fn type_summary(&self) -> String {
        let ty = self.data_type.summary();
        match self.time {
            None => ty,
            Some(TimeAttribute::Rowtime) => insert_marker(&ty, "*ROWTIME*"),
            Some(TimeAttribute::Proctime) => insert_marker(&ty, "*PROCTIME*"),
        }
    }
}

/// Flink puts the marker between the type and its `NOT NULL`.
fn insert_marker(ty: &str, marker: &str) -> String {
    match ty.strip_suffix(" NOT NULL") {
        Some(bare) => format!("{bare} NOT NULL {marker}"),
        None => format!("{ty} {marker}"),
    }
}

/// The columns of a table, a plan node or a result, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Schema {
    /// The columns.
    pub fields: Vec<Field>,
}

impl Schema {
    /// A schema of these columns.
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields }
    }

    /// The position of the column with exactly this name; names are case-sensitive as in Flink.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| &*field.name == name)
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The Arrow schema that batches of this schema have. Columns are nullable in Arrow whatever
    /// the SQL type says: Flink lets NULL into NOT NULL columns until a sink enforces it.
    pub fn to_arrow(&self) -> arrow::datatypes::SchemaRef {
        Arc::new(arrow::datatypes::Schema::new(
            self.fields
                .iter()
                .map(|field| {
                    arrow::datatypes::Field::new(
                        field.name.as_ref(),
                        arrow_type(&field.data_type),
                        true,
                    )
                })
                .collect::<Vec<_>>(),
        ))
    }
}

impl fmt::Display for Schema {
    /// `[name: TYPE, …]`, as Flink prints schemas in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, field) in self.fields.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{}: {}", field.name, field.type_summary())?;
        }
        f.write_str("]")
    }
}
