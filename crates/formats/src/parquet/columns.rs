//! Which columns of a file are the table's.

use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::{
    DataType as Arrow, Field as ArrowField, FieldRef, Schema as ArrowSchema, SchemaRef, TimeUnit,
};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::{ConnectorError, FileFormatContext};
use flott_types::{ChangelogBatch, DataType, Schema, TypeRoot, arrow_type};
use parquet::basic::Type as Physical;
use parquet::schema::types::{SchemaDescriptor, Type};

use super::clock::Clock;
use super::convert::{Misfit, check, convert};

/// The wanted columns as a file has them.
#[derive(Debug)]
pub(super) struct FileColumns {
    wanted: Vec<Wanted>,
    /// The positions of the file's leaves that are read, in order.
    pub(super) leaves: Vec<usize>,
    /// Those of columns with INT96 that is wanted to the nanosecond.
    pub(super) finest: Vec<usize>,
    schema: SchemaRef,
}

#[derive(Debug)]
struct Wanted {
    name: Arc<str>,
    data_type: DataType,
    in_file: bool,
}

impl FileColumns {
    /// Finds the wanted columns. A column that the file has not is NULL, unless it is NOT NULL.
    pub(super) fn find(
        context: &FileFormatContext,
        file: &SchemaDescriptor,
    ) -> Result<Self, ConnectorError> {
        let (mut wanted, mut leaves, mut finest) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = Vec::new();
        for field in context.projection.iter().map(|at| &context.schema.fields[*at]) {
            let mut next = 0;
            let mut found = false;
            for column in file.root_schema().get_fields() {
                if column.name() != &*field.name || found {
                    next += leaf_count(column);
                    continue;
                }
                found = true;
                let first = leaves.len();
                pick(column, &field.data_type, &mut next, &mut leaves);
                let mut picked = leaves[first..].iter();
                let is_int96 = |leaf: &usize| file.column(*leaf).physical_type() == Physical::INT96;
                if is_finest(&field.data_type) && picked.any(is_int96) {
                    finest.extend_from_slice(&leaves[first..]);
                }
            }
            if !found && !field.data_type.nullable {
                return Err(ConnectorError::new(format!(
                    "the file has no column '{}', which the table declares NOT NULL",
                    field.name
                ))
                .hint("drop NOT NULL to read NULL where files have no such column"));
            }
            wanted.push(Wanted {
                name: field.name.clone(),
                data_type: field.data_type.clone(),
                in_file: found,
            });
            fields.push(field.clone());
        }
        leaves.sort_unstable();
        leaves.dedup();
        Ok(Self { wanted, leaves, finest, schema: Schema::new(fields).to_arrow() })
    }

    /// Whether the file has none of them.
    pub(super) fn are_all_missing(&self) -> bool {
        !self.wanted.is_empty() && self.wanted.iter().all(|column| !column.in_file)
    }

    /// Checks the types that the file's columns are read in.
    pub(super) fn check(&self, read: &ArrowSchema) -> Result<(), ConnectorError> {
        for Wanted { name, data_type, .. } in self.wanted.iter().filter(|column| column.in_file) {
            if let Ok(field) = read.field_with_name(name) {
                check(field.data_type(), data_type).map_err(|misfit| told(name, misfit))?;
            }
        }
        Ok(())
    }

    /// What was read of a file as rows of the table; `nanos` holds the columns of
    /// [`finest`](Self::finest) again.
    pub(super) fn batch(
        &self,
        read: &RecordBatch,
        nanos: Option<&RecordBatch>,
        clock: &mut Option<Clock>,
    ) -> Result<ChangelogBatch, ConnectorError> {
        let columns = self.wanted.iter().map(|Wanted { name, data_type, in_file }| {
            let column = read.column_by_name(name).filter(|_| *in_file);
            let Some(column) = column else {
                return Ok(new_null_array(&arrow_type(data_type), read.num_rows()));
            };
            let nanos = nanos.and_then(|nanos| nanos.column_by_name(name));
            convert(column, nanos, data_type, clock).map_err(|misfit| told(name, misfit))
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>, ConnectorError>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(read.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map(ChangelogBatch::inserts)
            .map_err(|error| ConnectorError::new(format!("columns do not fit: {error}")))
    }
}

fn told(column: &str, misfit: Misfit) -> ConnectorError {
    let hint = match misfit {
        Misfit::Type { .. } => "declare the column with the type that files have",
        Misfit::Value { .. } => "declare the column with a type that holds all values of the files",
    };
    let verb = if matches!(misfit, Misfit::Type { .. }) { "is" } else { "has" };
    ConnectorError::new(format!("column '{column}' {verb} {misfit}")).hint(hint)
}

/// Adds the leaves of a file's column that a type of the table asks for; `next` is the position of the
/// first of them.
fn pick(column: &Type, wanted: &DataType, next: &mut usize, leaves: &mut Vec<usize>) {
    let fields = match &wanted.root {
        TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } if column.is_group() => fields,
        _ => {
            let count = leaf_count(column);
            leaves.extend(*next..*next + count);
            *next += count;
            return;
        }
    };
    let (first, before) = (*next, leaves.len());
    for child in column.get_fields() {
        match fields.iter().find(|field| *field.name == *child.name()) {
            Some(field) => pick(child, &field.data_type, next, leaves),
            None => *next += leaf_count(child),
        }
    }
    // A leaf tells whether the row is NULL, be it of a field that nobody wants.
    if leaves.len() == before && *next > first {
        leaves.push(first);
    }
}

fn leaf_count(column: &Type) -> usize {
    if column.is_primitive() {
        return 1;
    }
    column.get_fields().iter().map(|child| leaf_count(child)).sum()
}

/// Whether a type has timestamps to the nanosecond.
fn is_finest(ty: &DataType) -> bool {
    use TypeRoot::*;
    match &ty.root {
        Timestamp(precision) | TimestampLtz(precision) => *precision > 6,
        Array(element) | Multiset(element) => is_finest(element),
        Map(key, value) => is_finest(key) || is_finest(value),
        Row(fields) | Structured { fields, .. } => {
            fields.iter().any(|field| is_finest(&field.data_type))
        }
        _ => false,
    }
}

/// The types in which a file is read: those that its schema says, but INT96 in microseconds, since
/// nanoseconds in 64 bits end in 2262.
pub(super) fn in_micros(types: &ArrowSchema, file: &SchemaDescriptor) -> SchemaRef {
    let mut next = 0;
    let fields = types.fields().iter().map(|field| field_in_micros(field, file, &mut next));
    Arc::new(ArrowSchema::new(fields.collect::<Vec<FieldRef>>()))
}

fn field_in_micros(field: &FieldRef, file: &SchemaDescriptor, next: &mut usize) -> FieldRef {
    let data_type = match field.data_type() {
        Arrow::Struct(children) => {
            Arrow::Struct(children.iter().map(|child| field_in_micros(child, file, next)).collect())
        }
        Arrow::List(child) => Arrow::List(field_in_micros(child, file, next)),
        Arrow::Map(child, sorted) => Arrow::Map(field_in_micros(child, file, next), *sorted),
        leaf => {
            let is_int96 =
                *next < file.num_columns() && file.column(*next).physical_type() == Physical::INT96;
            *next += 1;
            if is_int96 { Arrow::Timestamp(TimeUnit::Microsecond, None) } else { leaf.clone() }
        }
    };
    Arc::new(ArrowField::clone(field).with_data_type(data_type))
}
