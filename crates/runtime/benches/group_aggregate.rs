//! How many rows a second a group aggregation takes in, giving the changelog of every row.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail")]

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flott_functions::aggregate_function;
use flott_plan::physical::{ColumnAggregate, GroupAggregate};
use flott_runtime::operators::GroupAggregateOperator;
use flott_runtime::testing::OperatorHarness;
use flott_types::{ChangelogBatch, DataType, Field, Schema, TypeRoot};

const ROWS: usize = 8192;
const KEYS: i64 = 100_000;
const BATCHES: i64 = 128;

/// Numbers below [`KEYS`] in no order.
fn numbers(batch: i64) -> impl Iterator<Item = i64> {
    let scatter =
        |n: i64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 20).rem_euclid(KEYS);
    (0..ROWS as i64).map(move |row| scatter(batch * ROWS as i64 + row))
}

fn bigint(batch: i64) -> ArrayRef {
    Arc::new(numbers(batch).collect::<Int64Array>())
}

fn text(batch: i64) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(numbers(batch).map(|n| format!("auction-{n}"))))
}

/// A name, key types and the key columns of a batch.
type Case = (&'static str, Vec<DataType>, fn(i64) -> Vec<ArrayRef>);

fn cases() -> Vec<Case> {
    let (big, string) = (DataType::bigint, DataType::string);
    vec![
        ("bigint", vec![big()], |i| vec![bigint(i)]),
        ("two bigints", vec![big(), big()], |i| vec![bigint(i), bigint(i)]),
        ("string", vec![string()], |i| vec![text(i)]),
        ("bigint and string", vec![big(), string()], |i| vec![bigint(i), text(i)]),
    ]
}

fn call(name: &str, args: &[usize]) -> ColumnAggregate {
    ColumnAggregate {
        function: aggregate_function(name).unwrap(),
        args: args.to_vec(),
        literals: vec![None; args.len()],
        arg_types: vec![DataType::bigint(); args.len()],
        symbols: Vec::new(),
        distinct: false,
        filter: None,
        data_type: match name {
            "COUNT" => TypeRoot::BigInt.not_null(),
            _ => DataType::bigint(),
        },
    }
}

fn schema(types: &[DataType]) -> Schema {
    let field = |(i, ty): (usize, &DataType)| Field::new(format!("c{i}"), ty.clone());
    Schema::new(types.iter().enumerate().map(field).collect())
}

fn harness(keys: &[DataType], retracts: bool) -> (OperatorHarness, Schema) {
    let width = keys.len();
    let input = schema(&[keys, &[DataType::bigint()]].concat());
    let spec = GroupAggregate {
        keys: (0..width).collect(),
        calls: vec![call("COUNT", &[]), call("SUM", &[width])],
        input_retracts: retracts,
        emit_update_before: true,
        final_only: false,
        state_ttl: 0,
        mini_batch: None,
    };
    let results = [TypeRoot::BigInt.not_null(), DataType::bigint()];
    let output = schema(&[keys, &results].concat()).to_arrow();
    let operator = GroupAggregateOperator::new(&spec, &input, output).unwrap();
    (OperatorHarness::new(operator, 1, None).unwrap(), input)
}

fn row_exact(c: &mut Criterion) {
    for (name, types, make) in cases() {
        for retracts in [false, true] {
            let mut group = c.benchmark_group("COUNT and SUM by key");
            group.throughput(Throughput::Elements(ROWS as u64 * BATCHES as u64));
            group.sample_size(20);
            let (mut harness, input) = harness(&types, retracts);
            let batches: Vec<ChangelogBatch> = (0..BATCHES)
                .map(|i| {
                    let values: ArrayRef = Arc::new(numbers(i + 1).collect::<Int64Array>());
                    let columns = make(i).into_iter().chain([values]).collect();
                    let rows = RecordBatch::try_new(input.to_arrow(), columns).unwrap();
                    ChangelogBatch::inserts(rows)
                })
                .collect();
            let name = format!("{name}{}", if retracts { ", may retract" } else { "" });
            group.bench_function(name, |b| {
                b.iter(|| {
                    for batch in &batches {
                        harness.batch(0, batch.clone()).unwrap();
                        black_box(harness.take());
                    }
                });
            });
        }
    }
}

criterion_group!(benches, row_exact);
criterion_main!(benches);
