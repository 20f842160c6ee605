//! From a writer's schema to a table's columns: what is to be done with each value that was written.
//!
//! The rules are those of the Avro specification for a writer's and a reader's schema: fields are found by
//! name and alias, what the writer lacks has its default, and numbers are promoted. Beyond them, enums are
//! read as text and fixed bytes as bytes, and times, timestamps and decimals of another unit or scale than
//! the reader's are converted.

use std::sync::Arc;

use flott_types::{DataType, Schema, TypeRoot};
use serde_json::Value;

use super::decode::{Default, FieldStep, RecordStep, Step, Unit};
use super::defaults::encode_default;
use super::schema::{AvroSchema, Field, Logical, Node, NodeId};
use crate::error::FormatError;

/// How the records of one writer become rows.
#[derive(Debug)]
pub(crate) struct RowPlan {
    pub(super) writer: Arc<AvroSchema>,
    /// Whether records stand in a union.
    pub(super) union: bool,
    /// What each branch gives; one where there is no union.
    pub(super) branches: Vec<RowBranch>,
}

/// What a branch of the outermost type gives.
#[derive(Debug)]
pub(super) enum RowBranch {
    Null,
    Row(RecordStep),
    Other(String),
}

impl RowPlan {
    /// The plan for records of type `of` in `writer` that are read as `reader`, a record of the table's
    /// columns, of which those at `projection` are wanted.
    pub(crate) fn new(
        writer: &Arc<AvroSchema>,
        of: NodeId,
        reader: (&AvroSchema, NodeId),
        table: &Schema,
        projection: &[usize],
    ) -> Result<Self, FormatError> {
        let resolver = Resolver { writer, reader: reader.0 };
        let (record, _) = reader.0.nullable(reader.1);
        let targets: Vec<Target<'_>> = table
            .fields
            .iter()
            .enumerate()
            .map(|(at, field)| Target {
                column: projection.iter().position(|wanted| *wanted == at),
                data_type: &field.data_type,
            })
            .collect();
        let branch = |id: NodeId| match writer.node(id) {
            Node::Null => RowBranch::Null,
            Node::Record { fields, .. } => match resolver.record(fields, record, &targets) {
                Ok(step) => RowBranch::Row(step),
                Err(why) => RowBranch::Other(why),
            },
            _ => RowBranch::Other(format!("found {}, not a record", writer.type_name(id))),
        };
        Ok(match writer.node(of) {
            Node::Union(branches) => Self {
                union: true,
                branches: branches.iter().map(|id| branch(*id)).collect(),
                writer: writer.clone(),
            },
            _ => Self { union: false, branches: vec![branch(of)], writer: writer.clone() },
        })
    }
}

/// Where a field of the reader's goes.
struct Target<'t> {
    column: Option<usize>,
    data_type: &'t DataType,
}

struct Resolver<'s> {
    writer: &'s AvroSchema,
    reader: &'s AvroSchema,
}

impl Resolver<'_> {
    /// Reads fields of the writer's as the fields of a record of the reader's.
    fn record(
        &self,
        written: &[Field],
        reader: NodeId,
        targets: &[Target<'_>],
    ) -> Result<RecordStep, String> {
        let Node::Record { fields, .. } = self.reader.node(reader) else {
            return Err(format!("found a record, not {}", self.reader.type_name(reader)));
        };
        let mut taken = vec![false; fields.len()];
        let mut steps = Vec::with_capacity(written.len());
        for of in written {
            let at = fields.iter().position(|field| field.name == of.name).or_else(|| {
                fields.iter().position(|field| {
                    let elsewhere = written.iter().any(|other| other.name == field.name);
                    !elsewhere && field.aliases.contains(&of.name)
                })
            });
            let at = at.filter(|at| !std::mem::replace(&mut taken[*at], true));
            steps.push(match at.map(|at| (at, &targets[at])) {
                Some((at, Target { column: Some(column), data_type })) => FieldStep {
                    step: self.value(of.node, fields[at].node, data_type),
                    column: *column,
                },
                _ => FieldStep { step: Step::Skip(of.node), column: 0 },
            });
        }
        let mut defaults = Vec::new();
        for (at, field) in fields.iter().enumerate().filter(|(at, _)| !taken[*at]) {
            let Some(default) = &field.default else {
                return Err(format!(
                    "the writer's schema lacks the field '{}', which has no default",
                    field.name
                ));
            };
            if let Some(column) = targets[at].column {
                defaults.push(self.default(field, default, column, targets[at].data_type)?);
            }
        }
        Ok(RecordStep { fields: steps.into(), defaults: defaults.into() })
    }

    /// A default as the bytes that a writer would have written.
    fn default(
        &self,
        field: &Field,
        default: &Value,
        column: usize,
        data_type: &DataType,
    ) -> Result<Default, String> {
        let mut bytes = Vec::new();
        encode_default(self.reader, field.node, default, &mut bytes)
            .map_err(|why| format!("the default of the field '{}' is {why}", field.name))?;
        let own = Resolver { writer: self.reader, reader: self.reader };
        Ok(Default {
            bytes: bytes.into(),
            step: own.value(field.node, field.node, data_type),
            column,
        })
    }

    /// Reads a value of the writer's as one of the reader's.
    fn value(&self, writer: NodeId, reader: NodeId, data_type: &DataType) -> Step {
        if let Node::Union(branches) = self.writer.node(writer) {
            return Step::Union(
                branches.iter().map(|branch| self.value(*branch, reader, data_type)).collect(),
            );
        }
        let (value, branches) = self.reader.nullable(reader);
        if matches!(self.writer.node(writer), Node::Null) {
            return match branches.is_some() || matches!(self.reader.node(value), Node::Null) {
                true => Step::Null,
                false => Step::Fail(format!("found null, not {}", self.reader.type_name(value))),
            };
        }
        self.plain(writer, value, data_type).unwrap_or_else(|| {
            let (found, wanted) = (self.writer.type_name(writer), self.reader.type_name(value));
            Step::Fail(format!("found {found}, not {wanted}"))
        })
    }

    /// The same of types that are no unions; `None` where one cannot be read as the other.
    fn plain(&self, writer: NodeId, reader: NodeId, data_type: &DataType) -> Option<Step> {
        let root = &data_type.root;
        Some(match (self.writer.node(writer), self.reader.node(reader)) {
            (Node::Boolean, Node::Boolean) => Step::Boolean,
            (Node::Int(of), Node::Int(to)) => Step::Int(unit(*of, *to, root)?),
            (Node::Int(of), Node::Long(to)) => Step::Int(unit(*of, *to, root)?),
            (Node::Int(_), Node::Float | Node::Double) => Step::Int(Unit::Same),
            (Node::Long(of), Node::Long(to)) => Step::Long(unit(*of, *to, root)?),
            // No promotion, but a time that has other units than the column.
            (Node::Long(of @ Logical::TimeMicros), Node::Int(to @ Logical::TimeMillis)) => {
                Step::Long(unit(*of, *to, root)?)
            }
            (Node::Long(_), Node::Float | Node::Double) => Step::Long(Unit::Same),
            (Node::Float, Node::Float | Node::Double) => Step::Float,
            (Node::Double, Node::Double) => Step::Double,
            (Node::Bytes(of), Node::Bytes(to) | Node::Fixed { logical: to, .. }) => {
                Step::Bytes(decimal(*of, *to, root)?)
            }
            (Node::Bytes(Logical::None), Node::String)
            | (Node::String, Node::String)
            | (Node::String, Node::Bytes(Logical::None)) => Step::Bytes(0),
            (
                Node::Fixed { size, logical: of, .. },
                Node::Fixed { logical: to, .. } | Node::Bytes(to),
            ) => Step::Fixed(*size, decimal(*of, *to, root)?),
            (Node::Enum { symbols, .. }, Node::String) => {
                Step::Enum(symbols.iter().map(|symbol| Some(symbol.clone())).collect())
            }
            (Node::Enum { symbols, .. }, Node::Enum { symbols: known, default, .. }) => {
                let symbols = symbols.iter().map(|symbol| {
                    if known.contains(symbol) { Some(symbol.clone()) } else { default.clone() }
                });
                Step::Enum(symbols.collect())
            }
            (Node::Array(of), Node::Array(to)) => {
                let TypeRoot::Array(element) = root else { return None };
                Step::Array(Box::new(self.value(*of, *to, element)))
            }
            (Node::Map(of), Node::Map(to)) => {
                let count = DataType::int();
                let value = match root {
                    TypeRoot::Map(_, value) => value,
                    TypeRoot::Multiset(_) => &count,
                    _ => return None,
                };
                Step::Map(Box::new(self.value(*of, *to, value)))
            }
            (Node::Record { fields, .. }, Node::Record { .. }) => {
                let targets: Vec<_> = root
                    .row_fields()?
                    .iter()
                    .enumerate()
                    .map(|(at, field)| Target { column: Some(at), data_type: &field.data_type })
                    .collect();
                match self.record(fields, reader, &targets) {
                    Ok(step) => Step::Record(step),
                    Err(why) => Step::Fail(why),
                }
            }
            _ => return None,
        })
    }
}

/// What turns a number of the writer's unit into one of the column's.
fn unit(writer: Logical, reader: Logical, root: &TypeRoot) -> Option<Unit> {
    let column = match root {
        TypeRoot::Time(_) => 1_000,
        TypeRoot::Timestamp(precision) | TypeRoot::TimestampLtz(precision) => {
            match flott_types::timestamp_unit(*precision) {
                flott_types::TimestampUnit::Millis => 1_000,
                flott_types::TimestampUnit::Micros => 1_000_000,
                flott_types::TimestampUnit::Nanos => 1_000_000_000,
            }
        }
        // Dates and numbers have one unit, whatever the writer calls them.
        _ => return Some(Unit::Same),
    };
    // A number without a unit has the reader's.
    let written = writer.per_second().or(reader.per_second())?;
    Some(Unit::between(written, column))
}

/// By how many digits the scale of a decimal grows; 0 for bytes that are none.
fn decimal(writer: Logical, reader: Logical, root: &TypeRoot) -> Option<i32> {
    let TypeRoot::Decimal { scale, .. } = root else {
        return matches!(reader, Logical::None).then_some(0);
    };
    match writer {
        Logical::Decimal { scale: written, .. } => {
            i32::try_from(i64::from(*scale) - i64::from(written)).ok()
        }
        _ => Some(0),
    }
}
