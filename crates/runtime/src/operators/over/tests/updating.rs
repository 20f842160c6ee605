use std::collections::BTreeMap;

use flott_types::{ChangelogMode, RowKind};
use proptest::prelude::*;

use super::*;
use crate::check::OutputContract;
use crate::operators::over::UpdatingOverOperator;
use crate::operators::testing::{Row, batch, rows};
use crate::testing::OperatorHarness;

fn spec(unit: FrameUnit) -> OverWindow {
    let mut functions = aggregates();
    functions.extend(match unit {
        FrameUnit::Rows => vec![WindowFunction::RowNumber],
        FrameUnit::Range => vec![WindowFunction::Rank, WindowFunction::DenseRank, offset(false, 1)],
    });
    window(OverMode::Updating, (ORDER, false, true), Frame::running(unit), functions)
}

fn operator(spec: &OverWindow) -> UpdatingOverOperator {
    UpdatingOverOperator::new(spec, &input(), &output(spec)).unwrap()
}

fn harness(spec: &OverWindow) -> OperatorHarness {
    let schema = output(spec).to_arrow();
    let contract = OutputContract { schema, mode: ChangelogMode::ALL, repeatable: true };
    OperatorHarness::new(operator(spec), 1, Some(contract)).unwrap()
}

/// The rows of the input with their results, by definition.
fn table(unit: FrameUnit, input: &[In]) -> BTreeMap<String, usize> {
    let mut sorted: Vec<&In> = input.iter().collect();
    sorted.sort_by_key(|row| row.order);
    let mut table = BTreeMap::new();
    for (at, row) in sorted.iter().enumerate() {
        let upto: Vec<&In> = sorted
            .iter()
            .enumerate()
            .filter(|(other, r)| {
                r.key == row.key
                    && match unit {
                        FrameUnit::Rows => *other <= at,
                        FrameUnit::Range => r.order <= row.order,
                    }
            })
            .map(|(_, r)| *r)
            .collect();
        let mut out = row.values();
        out.extend(naive(upto.iter().copied()));
        match unit {
            FrameUnit::Rows => out.push(Value::Int(upto.len() as i64)),
            FrameUnit::Range => {
                let mut before: Vec<Option<i64>> =
                    upto.iter().map(|r| r.order).filter(|order| *order < row.order).collect();
                out.push(Value::Int(before.len() as i64 + 1));
                before.dedup();
                out.push(Value::Int(before.len() as i64 + 1));
                let back = upto.len().checked_sub(2).map(|at| upto[at].value);
                let value = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
                out.push(back.map_or(Value::Int(-7), value));
            }
        }
        *table.entry(format!("{out:?}")).or_default() += 1;
    }
    table
}

pub(super) fn apply(table: &mut BTreeMap<String, usize>, changes: Vec<Row>) {
    for (kind, row) in changes {
        let text = format!("{row:?}");
        if kind.adds() {
            *table.entry(text).or_default() += 1;
            continue;
        }
        match table.get_mut(&text) {
            None => panic!("{kind} {text} is not there"),
            Some(1) => {
                table.remove(&text);
            }
            Some(count) => *count -= 1,
        }
    }
}

pub(super) fn row() -> impl Strategy<Value = In> {
    let key = prop_oneof![1 => Just(None), 3 => (0u8..2).prop_map(Some)];
    let value = prop_oneof![1 => Just(None), 5 => (-3i64..3).prop_map(Some)];
    let order = prop_oneof![1 => Just(None), 5 => (0i64..6).prop_map(Some)];
    (key, value, order).prop_map(|(key, value, order)| In { key, value, order, time: 0 })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_result_equals_the_batch_query(
        unit in prop_oneof![Just(FrameUnit::Rows), Just(FrameUnit::Range)],
        steps in proptest::collection::vec((row(), any::<proptest::sample::Index>(), 0u8..10), 1..50),
        cut in 1usize..12,
        snapshot in any::<bool>(),
    ) {
        let spec = spec(unit);
        let mut harness = harness(&spec).keeping_feed();
        let mut there: Vec<In> = Vec::new();
        let mut result = BTreeMap::new();
        for part in steps.chunks(cut) {
            let mut fed: Vec<Row> = Vec::new();
            for (row, which, action) in part {
                if *action < 4 && !there.is_empty() {
                    let gone = there[which.index(there.len())].clone();
                    let first = there.iter().position(|row| *row == gone).unwrap();
                    there.remove(first);
                    let kind = if *action < 2 { RowKind::Delete } else { RowKind::UpdateBefore };
                    fed.push((kind, gone.values()));
                } else {
                    there.push(row.clone());
                    let kind = if *action < 6 { RowKind::UpdateAfter } else { RowKind::Insert };
                    fed.push((kind, row.values()));
                }
            }
            harness.batch(0, batch(&input(), &fed)).unwrap();
            apply(&mut result, rows(&output(&spec), &harness.take_batches()));
            prop_assert_eq!(&result, &table(unit, &there));
            if snapshot {
                harness = harness.restarted(operator(&spec)).unwrap();
            }
        }
        agree(&spec, harness.fed(), || operator(&spec))?;
    }
}

#[test]
fn rows_that_are_taken_back_leave_nothing() {
    let spec = spec(FrameUnit::Range);
    let mut harness = harness(&spec);
    let rows: Vec<In> = (0..200)
        .map(|n| In {
            key: Some((n % 5) as u8),
            value: Some(n),
            order: Some(n * 37 % 100),
            time: 0,
        })
        .collect();
    let fed = |kind: RowKind, rows: &[In]| {
        batch(&input(), &rows.iter().map(|row| (kind, row.values())).collect::<Vec<_>>())
    };
    let mut sizes = Vec::new();
    for _ in 0..10 {
        harness.batch(0, fed(RowKind::Insert, &rows)).unwrap();
        sizes.push(harness.counts().state_bytes);
        harness.batch(0, fed(RowKind::Delete, &rows)).unwrap();
        harness.take();
    }
    assert!(sizes[1..].iter().all(|size| *size <= sizes[1]), "{sizes:?}");
}

#[test]
fn what_was_never_there_is_passed_over() {
    let spec = spec(FrameUnit::Rows);
    let mut harness = OperatorHarness::new(operator(&spec), 1, None).unwrap();
    let row = |order| In { key: Some(1), value: Some(1), order: Some(order), time: 0 }.values();
    let fed =
        [(RowKind::Delete, row(1)), (RowKind::Insert, row(2)), (RowKind::UpdateBefore, row(1))];
    harness.batch(0, batch(&input(), &fed)).unwrap();
    let out = rows(&output(&spec), &harness.take_batches());
    assert_eq!(out.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [RowKind::Insert]);
}

#[test]
fn idle_partitions_expire() {
    let spec = OverWindow { state_ttl: 100, ..spec(FrameUnit::Rows) };
    let mut harness = OperatorHarness::new(operator(&spec), 1, None).unwrap();
    let mut feed = |key: u8, order: i64, millis: i64| {
        let row = In { key: Some(key), value: Some(1), order: Some(order), time: 0 };
        harness.batch(0, batch(&input(), &[(RowKind::Insert, row.values())])).unwrap();
        let out = rows(&output(&spec), &harness.take_batches());
        harness.advance_clock(millis).unwrap();
        // COUNT(*), the first of the results.
        out.iter().map(|(_, row)| row[4].as_int().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(feed(1, 1, 0), [1]);
    assert_eq!(feed(2, 1, 60), [1]);
    assert_eq!(feed(1, 2, 60), [2]);
    // The second partition was idle for too long, the first one was not.
    assert_eq!(feed(2, 2, 0), [1]);
    assert_eq!(feed(1, 3, 100), [3]);
    assert_eq!(feed(1, 4, 0), [1]);
}

#[test]
fn partitions_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        the_result_equals_the_batch_query();
        rows_that_are_taken_back_leave_nothing();
        what_was_never_there_is_passed_over();
        idle_partitions_expire();
    });
}
