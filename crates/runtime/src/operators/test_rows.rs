//! For tests of operators: changelogs of BIGINT columns as plain values, and the table they make.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use flott_types::{ChangelogBatch, DataType, Field, RowKind, Schema};

pub(super) type Row = Vec<Option<i64>>;
pub(super) type Change = (RowKind, Row);
/// How often each row is there.
pub(super) type Table = BTreeMap<Row, usize>;

/// A schema of nullable BIGINT columns.
pub(super) fn schema(names: &[&str]) -> Schema {
    Schema::new(names.iter().map(|name| Field::new(*name, DataType::bigint())).collect())
}

/// A batch of `schema`.
pub(super) fn batch(schema: &Schema, changes: &[Change]) -> ChangelogBatch {
    let column = |at: usize| -> ArrayRef {
        Arc::new(changes.iter().map(|(_, row)| row[at]).collect::<Int64Array>())
    };
    let columns = (0..schema.len()).map(column).collect();
    let rows = RecordBatch::try_new(schema.to_arrow(), columns).unwrap();
    ChangelogBatch::new(rows, changes.iter().map(|(kind, _)| *kind).collect())
}

/// The rows of batches, in order.
pub(super) fn changes(batches: &[ChangelogBatch]) -> Vec<Change> {
    let row = |batch: &ChangelogBatch, row: usize| {
        let value = |column: &ArrayRef| {
            let ints = column.as_primitive::<Int64Type>();
            ints.is_valid(row).then(|| ints.value(row))
        };
        batch.rows.columns().iter().map(value).collect()
    };
    batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(move |at| (batch.kind(at), row(batch, at))))
        .collect()
}

/// Applies changes to a table; the message of a row taken back that is not there.
pub(super) fn apply(table: &mut Table, changes: &[Change]) -> Result<(), String> {
    for (kind, row) in changes {
        if kind.adds() {
            *table.entry(row.clone()).or_default() += 1;
            continue;
        }
        match table.get_mut(row) {
            None => return Err(format!("{kind} {row:?} is not there")),
            Some(1) => {
                table.remove(row);
            }
            Some(count) => *count -= 1,
        }
    }
    Ok(())
}
