//! A table's columns beside the schema of their records: how values are written, and read by the same schema.

use flott_types::{DataType, RowField, Schema, TypeRoot};

use super::schema::{AvroSchema, Logical, Node, NodeId};
use crate::error::FormatError;

/// A column's type and its type in the schema.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Branches of null and of the value, where the type is a union of both.
    pub(super) branches: Option<Branches>,
    /// The name of the value's branch as JSON has it.
    pub(super) branch_name: Box<str>,
    pub(super) kind: Kind,
}

/// Which branch of a union is which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Branches {
    pub(super) null: u8,
    pub(super) value: u8,
}

/// What a value is in Avro.
#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Boolean,
    Int,
    /// A number; of timestamps and times, how many of it make up a second.
    Long(Option<i64>),
    Float,
    Double,
    Bytes,
    Fixed(usize),
    /// The unscaled value.
    Decimal(Option<usize>),
    String,
    Enum(Vec<Box<str>>),
    Array(Box<Shape>),
    Map(Box<Shape>),
    Record(Vec<(Box<str>, Shape)>),
}

impl Shape {
    /// The shape of a table's records.
    pub(crate) fn of_table(schema: &AvroSchema, table: &Schema) -> Result<Self, FormatError> {
        let fields = table
            .fields
            .iter()
            .map(|field| RowField::new(field.name.clone(), field.data_type.clone()));
        let row = DataType::row(fields.collect::<Vec<_>>()).not_null();
        Self::new(schema, schema.root(), &row, "")
    }

    /// The shape of a column; fails where schema and table do not agree.
    pub(super) fn new(
        schema: &AvroSchema,
        id: NodeId,
        data_type: &DataType,
        column: &str,
    ) -> Result<Self, FormatError> {
        let mismatch = || FormatError::SchemaMatch {
            column: column.into(),
            found: schema.summary(id),
            data_type: data_type.summary(),
        };
        let (node, branches) = schema.nullable(id);
        if branches.is_some() != data_type.nullable && data_type.root != TypeRoot::Null {
            return Err(mismatch());
        }
        let inner = |id: NodeId, data_type: &DataType| {
            Self::new(schema, id, data_type, column).map(Box::new)
        };
        let kind = match (schema.node(node), &data_type.root) {
            (Node::Null, TypeRoot::Null) => Kind::Null,
            (Node::Boolean, TypeRoot::Boolean) => Kind::Boolean,
            (Node::Int(Logical::None), TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int)
            | (Node::Int(Logical::Date), TypeRoot::Date)
            | (Node::Int(Logical::TimeMillis), TypeRoot::Time(0..=3)) => Kind::Int,
            (Node::Long(_), TypeRoot::BigInt) => Kind::Long(None),
            (
                Node::Long(logical),
                TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) | TypeRoot::Time(_),
            ) if fits(*logical, &data_type.root) => Kind::Long(logical.per_second()),
            (Node::Float, TypeRoot::Float) => Kind::Float,
            (Node::Double, TypeRoot::Double) => Kind::Double,
            (Node::String, TypeRoot::Char(_) | TypeRoot::Varchar(_)) => Kind::String,
            (Node::Enum { symbols, .. }, TypeRoot::Char(_) | TypeRoot::Varchar(_)) => {
                Kind::Enum(symbols.clone())
            }
            (Node::Bytes(Logical::None), TypeRoot::Binary(_) | TypeRoot::Varbinary(_)) => {
                Kind::Bytes
            }
            (
                Node::Fixed { size, logical: Logical::None, .. },
                TypeRoot::Binary(_) | TypeRoot::Varbinary(_),
            ) => Kind::Fixed(*size),
            (Node::Bytes(logical), TypeRoot::Decimal { precision, scale })
                if is_decimal(*logical, *precision, *scale) =>
            {
                Kind::Decimal(None)
            }
            (Node::Fixed { size, logical, .. }, TypeRoot::Decimal { precision, scale })
                if is_decimal(*logical, *precision, *scale) =>
            {
                Kind::Decimal(Some(*size))
            }
            (Node::Array(items), TypeRoot::Array(element)) => Kind::Array(inner(*items, element)?),
            (Node::Map(values), TypeRoot::Map(_, value)) => Kind::Map(inner(*values, value)?),
            (Node::Map(values), TypeRoot::Multiset(_)) => {
                Kind::Map(inner(*values, &DataType::int())?)
            }
            (Node::Record { fields, .. }, TypeRoot::Row(columns))
                if fields.len() == columns.len() =>
            {
                let fields = fields.iter().zip(columns.iter()).map(|(field, of)| {
                    let column = match column {
                        "" => of.name.to_string(),
                        column => format!("{column}.{}", of.name),
                    };
                    if field.name != of.name {
                        return Err(FormatError::SchemaMatch {
                            column,
                            found: format!("'{}'", field.name),
                            data_type: format!("'{}'", of.name),
                        });
                    }
                    let shape = Self::new(schema, field.node, &of.data_type, &column)?;
                    Ok((Box::from(&*field.name), shape))
                });
                Kind::Record(fields.collect::<Result<_, _>>()?)
            }
            _ => return Err(mismatch()),
        };
        let branches =
            branches.map(|(null, value)| Branches { null: null as u8, value: value as u8 });
        Ok(Self { branches, branch_name: schema.type_name(node).into(), kind })
    }
}

fn is_decimal(logical: Logical, precision: u8, scale: u8) -> bool {
    logical == Logical::Decimal { precision: precision.into(), scale: scale.into() }
}

/// Whether a number of this kind is a time or timestamp of the type and its precision.
fn fits(logical: Logical, root: &TypeRoot) -> bool {
    use Logical::*;
    let precision = match (root, logical) {
        (TypeRoot::Time(precision), TimeMicros) => *precision,
        (
            TypeRoot::Timestamp(precision),
            TimestampMillis | TimestampMicros | TimestampNanos | LocalTimestampMillis
            | LocalTimestampMicros | LocalTimestampNanos,
        )
        | (TypeRoot::TimestampLtz(precision), TimestampMillis | TimestampMicros | TimestampNanos) => {
            *precision
        }
        _ => return false,
    };
    match logical.per_second() {
        Some(1_000) => precision <= 3,
        Some(1_000_000) => (4..=6).contains(&precision),
        _ => precision > 6,
    }
}

impl AvroSchema {
    /// A type as messages show it.
    fn summary(&self, id: NodeId) -> String {
        let (node, branches) = self.nullable(id);
        let name = match self.node(node) {
            Node::Int(logical) | Node::Long(logical) | Node::Bytes(logical)
                if *logical != Logical::None =>
            {
                format!("{} ({logical:?})", self.type_name(node))
            }
            _ => self.type_name(node).to_string(),
        };
        if branches.is_some() { format!("null or {name}") } else { name }
    }
}
