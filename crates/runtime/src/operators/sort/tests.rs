//! Sorting on disk against sorting in memory.

use arrow::compute::SortOptions;
use flott_state::MemoryBudget;
use flott_types::{DataType, RowKind, Value};

use super::SortOperator;
use crate::operators::testing::{Row, batch, rows, schema};
use crate::testing::OperatorHarness;

fn sorted(memory: MemoryBudget, offset: u64, fetch: Option<u64>, input: &[Vec<Row>]) -> Vec<Row> {
    let schema = schema(&[DataType::int(), DataType::string()]);
    let down = SortOptions { descending: true, nulls_first: false };
    let keys = vec![(0, down), (1, SortOptions::default())];
    let operator = SortOperator::new(keys, offset, fetch, &schema);
    let mut bench = OperatorHarness::within(Box::new(operator), 1, None, None, memory).unwrap();
    for rows in input {
        bench.batch(0, batch(&schema, rows)).unwrap();
    }
    bench.end(0).unwrap();
    rows(&schema, &bench.take_batches())
}

#[test]
fn runs_on_disk_give_what_memory_gives() {
    let mut seed = 3u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    for case in 0..30 {
        let input: Vec<Vec<Row>> = (0..=next(6))
            .map(|_| {
                (0..=next(40))
                    .map(|_| {
                        let number = match next(6) {
                            0 => Value::Null,
                            number => Value::Int(number as i64 - 3),
                        };
                        let text = Value::string("x".repeat(next(30) as usize));
                        (RowKind::Insert, vec![number, text])
                    })
                    .collect()
            })
            .collect();
        for (offset, fetch) in [(0, None), (3, None), (0, Some(7)), (5, Some(20)), (900, Some(2))] {
            let memory = sorted(MemoryBudget::unlimited(), offset, fetch, &input);
            let disk = sorted(MemoryBudget::crowded(0), offset, fetch, &input);
            assert_eq!(memory, disk, "case {case}, offset {offset}, fetch {fetch:?}");
        }
    }
}

#[test]
fn a_sort_keeps_to_its_budget() {
    let input: Vec<Vec<Row>> = (0..200)
        .map(|batch| {
            let value = |row: i64| Value::Int((batch * 37 + row * 101) % 5_000);
            (0..500)
                .map(|row| (RowKind::Insert, vec![value(row), Value::string("some text")]))
                .collect()
        })
        .collect();
    let budget = MemoryBudget::spilling(1 << 20, vec![std::env::temp_dir()]);
    let result = sorted(budget.clone(), 0, None, &input);
    assert_eq!(result.len(), 100_000);
    let numbers: Vec<_> = result.into_iter().map(|(_, row)| row[0].clone()).collect();
    assert!(numbers.windows(2).all(|pair| match (&pair[0], &pair[1]) {
        (Value::Int(a), Value::Int(b)) => a >= b,
        _ => false,
    }));
    assert_eq!(budget.used(), 0);
}
