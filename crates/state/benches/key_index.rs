//! How many keys a second are found.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail")]

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use flott_state::{KeyBatch, KeyIndex, RowStore};
use flott_types::{DataType, TypeRoot};

const ROWS: usize = 8192;
const KEYS: i64 = 100_000;
const BATCHES: i64 = 64;

/// Numbers below `KEYS` in no order.
fn numbers(batch: i64) -> impl Iterator<Item = i64> {
    (0..ROWS as i64).map(move |row| ((batch * ROWS as i64 + row) * 7_919 + batch * batch) % KEYS)
}

fn bigint(batch: i64) -> ArrayRef {
    Arc::new(numbers(batch).collect::<Int64Array>())
}

fn text(batch: i64) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(numbers(batch).map(|n| format!("auction-{n}"))))
}

fn nullable(batch: i64) -> ArrayRef {
    let null = |n: i64| (n % 50 != 0).then_some(n);
    Arc::new(numbers(batch).map(null).collect::<Int64Array>())
}

/// A name, key types and the key columns of a batch.
type Case = (&'static str, Vec<DataType>, fn(i64) -> Vec<ArrayRef>);

fn cases() -> Vec<Case> {
    let (big, string) = (DataType::bigint, DataType::string);
    vec![
        ("bigint", vec![big()], |i| vec![bigint(i)]),
        ("bigint with nulls", vec![big()], |i| vec![nullable(i)]),
        ("string", vec![string()], |i| vec![text(i)]),
        ("two bigints", vec![big(), big()], |i| vec![bigint(i), bigint(i)]),
        ("bigint and string", vec![big(), string()], |i| vec![bigint(i), text(i)]),
    ]
}

fn probes(c: &mut Criterion) {
    for (name, types, make) in cases() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(ROWS as u64 * BATCHES as u64));
        let mut index = KeyIndex::new(&types);
        let columns: Vec<_> = (0..BATCHES).map(make).collect();
        let encoder = index.encoder().clone();
        let batches: Vec<KeyBatch> =
            columns.iter().map(|columns| encoder.encode(columns, ROWS).unwrap()).collect();
        let (mut slots, mut created) = (Vec::new(), Vec::new());
        for batch in &batches {
            index.lookup_or_insert(batch, &mut slots, &mut created).unwrap();
        }
        group.bench_function("encode", |b| {
            b.iter(|| {
                for columns in &columns {
                    black_box(encoder.encode(columns, ROWS).unwrap());
                }
            })
        });
        group.bench_function(BenchmarkId::new("probe", index.len()), |b| {
            b.iter(|| {
                for batch in &batches {
                    index.lookup_or_insert(batch, &mut slots, &mut created).unwrap();
                }
                black_box(&slots);
            })
        });
        group.bench_function("lookup", |b| {
            b.iter(|| {
                for batch in &batches {
                    index.lookup(batch, &mut slots).unwrap();
                }
                black_box(&slots);
            })
        });
        group.bench_function("encode and probe", |b| {
            b.iter(|| {
                for columns in &columns {
                    let batch = encoder.encode(columns, ROWS).unwrap();
                    index.lookup_or_insert(&batch, &mut slots, &mut created).unwrap();
                }
                black_box(&slots);
            })
        });
        group.bench_function("insert all", |b| {
            b.iter(|| {
                let mut index = KeyIndex::new(&types);
                for batch in &batches {
                    index.lookup_or_insert(batch, &mut slots, &mut created).unwrap();
                }
                black_box(index.len());
            })
        });
        group.finish();
    }
}

fn rows(c: &mut Criterion) {
    let types = [
        DataType::bigint(),
        DataType::bigint(),
        DataType::string(),
        TypeRoot::Timestamp(3).nullable(),
    ];
    let columns = |i| {
        let times: ArrayRef = Arc::new(arrow::array::TimestampMillisecondArray::from_iter_values(
            numbers(i).map(|n| n * 1000),
        ));
        vec![bigint(i), bigint(i + 1), text(i), times]
    };
    let columns: Vec<_> = (0..BATCHES).map(columns).collect();
    let mut store = RowStore::new(&types);
    let mut ids = Vec::new();
    for columns in &columns {
        ids.push(store.push_batch(columns, ROWS).unwrap());
    }
    let mut group = c.benchmark_group("rows of four columns");
    group.throughput(Throughput::Elements(ROWS as u64 * BATCHES as u64));
    group.bench_function("push and remove", |b| {
        b.iter(|| {
            for columns in &columns {
                for id in store.push_batch(columns, ROWS).unwrap() {
                    store.remove(id);
                }
            }
        })
    });
    group.bench_function("gather", |b| {
        b.iter(|| {
            for ids in &ids {
                black_box(store.gather(ids).unwrap());
            }
        })
    });
    group.finish();
}

criterion_group!(benches, probes, rows);
criterion_main!(benches);
