//! Helps for tests of operators: calls, batches and rows as values, and the ways in which operators run.

mod ways;

use flott_functions::{Arg, CallArgs, aggregate_function};
use flott_plan::physical::ColumnAggregate;
use flott_types::{ChangelogBatch, DataType, Field, RowKind, Schema, Value};

use arrow::array::{RecordBatch, RecordBatchOptions};
use proptest::prelude::ProptestConfig;

pub use ways::{Gathers, Side, Ways};

/// So many cases of a property; `FLOTT_CASES=10000` looks longer than every build should.
pub fn cases(default: u32) -> ProptestConfig {
    let wanted = std::env::var("FLOTT_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(crate::testing::cases(wanted.unwrap_or(default)))
}

/// A row of a changelog.
pub type Row = (RowKind, Vec<Value>);

/// Columns named by their position.
pub fn schema(types: &[DataType]) -> Schema {
    let field = |(i, ty): (usize, &DataType)| Field::new(format!("c{i}"), ty.clone());
    Schema::new(types.iter().enumerate().map(field).collect())
}

/// A call over columns of an input.
pub fn call(name: &str, args: &[usize], input: &Schema) -> ColumnAggregate {
    let function = aggregate_function(name).unwrap();
    let mut arg_types: Vec<DataType> =
        args.iter().map(|arg| input.fields[*arg].data_type.clone()).collect();
    let typed = CallArgs {
        name: name.into(),
        args: arg_types.iter().map(|ty| Arg { data_type: ty.clone(), literal: None }).collect(),
        symbols: Vec::new(),
        returning: None,
    };
    let resolved = (function.resolve)(&typed, true).unwrap();
    arg_types.clone_from(&resolved.parameters);
    ColumnAggregate {
        function,
        args: args.to_vec(),
        literals: vec![None; args.len()],
        arg_types,
        symbols: Vec::new(),
        distinct: false,
        filter: None,
        data_type: resolved.returns,
    }
}

/// Rows as a batch.
pub fn batch(schema: &Schema, rows: &[Row]) -> ChangelogBatch {
    let column = |(i, field): (usize, &Field)| {
        let values: Vec<Value> = rows.iter().map(|(_, row)| row[i].clone()).collect();
        Value::to_array(&values, &field.data_type).unwrap()
    };
    let columns = schema.fields.iter().enumerate().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let batch = RecordBatch::try_new_with_options(schema.to_arrow(), columns, &options).unwrap();
    ChangelogBatch::new(batch, rows.iter().map(|(kind, _)| *kind).collect())
}

/// Batches as rows.
pub fn rows(schema: &Schema, batches: &[ChangelogBatch]) -> Vec<Row> {
    let row = |batch: &ChangelogBatch, row: usize| {
        let columns = schema.fields.iter().zip(batch.rows.columns());
        let values =
            columns.map(|(field, column)| Value::from_array(column, row, &field.data_type));
        (batch.kind(row), values.collect())
    };
    batches.iter().flat_map(|batch| (0..batch.len()).map(move |at| row(batch, at))).collect()
}
