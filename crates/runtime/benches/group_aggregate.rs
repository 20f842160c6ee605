//! How many rows a second a group aggregation takes in: giving the changelog of every row, and with
//! mini-batch in one phase and two.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail")]

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::compute::kernels::numeric::rem;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flott_functions::aggregate_function;
use flott_plan::MiniBatch;
use flott_plan::physical::{
    AggregatePhase, ColumnAggregate, GroupAggregate, LocalGroupAggregate, PartialLayout,
};
use flott_runtime::operators::{GroupAggregateOperator, LocalGroupAggregateOperator};
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

/// Bundles of 8,192 rows end by their size alone.
const BUNDLES: MiniBatch = MiniBatch { size: ROWS as u64, latency: 1 << 40 };

fn calls(width: usize) -> Vec<ColumnAggregate> {
    vec![call("COUNT", &[]), call("SUM", &[width])]
}

fn harness(
    keys: &[DataType],
    retracts: bool,
    mini_batch: Option<MiniBatch>,
    phase: AggregatePhase,
) -> (OperatorHarness, Schema) {
    let width = keys.len();
    let input = schema(&[keys, &[DataType::bigint()]].concat());
    let spec = GroupAggregate {
        keys: (0..width).collect(),
        calls: calls(width),
        input_retracts: retracts,
        emit_update_before: true,
        final_only: false,
        state_ttl: 0,
        phase,
        split: None,
    };
    let results = [TypeRoot::BigInt.not_null(), DataType::bigint()];
    let output = schema(&[keys, &results].concat()).to_arrow();
    let operator = GroupAggregateOperator::new(&spec, mini_batch, &input, output).unwrap();
    (OperatorHarness::new(operator, 1, None).unwrap(), input)
}

/// The first of two phases.
fn local(keys: &[DataType]) -> OperatorHarness {
    let width = keys.len();
    let calls = calls(width);
    let layout = PartialLayout::of(&calls, false).unwrap().fields();
    let layout: Vec<DataType> = layout.into_iter().map(|field| field.data_type).collect();
    let output = schema(&[keys, &layout].concat()).to_arrow();
    let keys_at = (0..width).collect();
    let spec = LocalGroupAggregate { keys: keys_at, calls, input_retracts: false, split: None };
    let input = schema(&[keys, &[DataType::bigint()]].concat());
    let operator = LocalGroupAggregateOperator::new(&spec, BUNDLES, &input, output).unwrap();
    OperatorHarness::new(operator, 1, None).unwrap()
}

/// Batches of rows whose keys are below so many.
fn batches(input: &Schema, make: fn(i64) -> Vec<ArrayRef>, keys: i64) -> Vec<ChangelogBatch> {
    let batch = |i: i64| {
        let values: ArrayRef = Arc::new(numbers(i + 1).collect::<Int64Array>());
        let keyed = make(i).into_iter().map(|column| match keys {
            KEYS => column,
            fewer => rem(&column, &Int64Array::new_scalar(fewer)).unwrap(),
        });
        let columns = keyed.chain([values]).collect();
        ChangelogBatch::inserts(RecordBatch::try_new(input.to_arrow(), columns).unwrap())
    };
    (0..BATCHES).map(batch).collect()
}

fn row_exact(c: &mut Criterion) {
    for (name, types, make) in cases() {
        for retracts in [false, true] {
            let mut group = c.benchmark_group("COUNT and SUM by key");
            group.throughput(Throughput::Elements(ROWS as u64 * BATCHES as u64));
            group.sample_size(20);
            let (mut harness, input) = harness(&types, retracts, None, AggregatePhase::Complete);
            let batches = batches(&input, make, KEYS);
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

/// One phase against two, for keys that a bundle holds once or often.
fn mini_batch(c: &mut Criterion) {
    let types = [DataType::bigint()];
    for keys in [KEYS, 100] {
        let mut group = c.benchmark_group("COUNT and SUM in bundles");
        group.throughput(Throughput::Elements(ROWS as u64 * BATCHES as u64));
        group.sample_size(20);
        let (mut whole, input) = harness(&types, false, Some(BUNDLES), AggregatePhase::Complete);
        let batches = batches(&input, |i| vec![bigint(i)], keys);
        group.bench_function(format!("{keys} keys, one phase"), |b| {
            b.iter(|| {
                for batch in &batches {
                    whole.batch(0, batch.clone()).unwrap();
                    black_box(whole.take());
                }
            });
        });
        let mut first = local(&types);
        let (mut second, _) = harness(&types, false, Some(BUNDLES), AggregatePhase::Global);
        group.bench_function(format!("{keys} keys, two phases"), |b| {
            b.iter(|| {
                for batch in &batches {
                    first.batch(0, batch.clone()).unwrap();
                    for partial in first.take_batches() {
                        second.batch(0, partial).unwrap();
                    }
                    black_box(second.take());
                }
            });
        });
    }
}

criterion_group!(benches, row_exact, mini_batch);
criterion_main!(benches);
