use std::collections::BTreeMap;

use flott_types::{ChangelogMode, RowKind};
use proptest::prelude::*;

use super::updating::{apply, row};
use super::*;
use crate::check::OutputContract;
use crate::operators::over::BoundedOverOperator;
use crate::operators::testing::{Row, batch, rows};
use crate::testing::OperatorHarness;

fn spec(preceding: usize) -> OverWindow {
    let start = FrameBound::Preceding(Value::Int(preceding as i64));
    let frame = frame(FrameUnit::Rows, start, FrameBound::CurrentRow);
    let mut functions = aggregates();
    functions.push(aggregate("AVG", &[VALUE]));
    window(OverMode::Updating, (ORDER, false, true), frame, functions)
}

fn operator(spec: &OverWindow, preceding: usize) -> BoundedOverOperator {
    BoundedOverOperator::new(spec, preceding, &input(), &output(spec)).unwrap()
}

fn harness(spec: &OverWindow, preceding: usize) -> OperatorHarness {
    let schema = output(spec).to_arrow();
    let contract = OutputContract { schema, mode: ChangelogMode::ALL, repeatable: true };
    OperatorHarness::new(operator(spec, preceding), 1, Some(contract)).unwrap()
}

/// The rows of the input with their results, by definition.
fn table(preceding: usize, input: &[In]) -> BTreeMap<String, usize> {
    let mut sorted: Vec<&In> = input.iter().collect();
    sorted.sort_by_key(|row| row.order);
    let mut table = BTreeMap::new();
    for (at, row) in sorted.iter().enumerate() {
        let upto: Vec<&In> =
            sorted[..=at].iter().filter(|other| other.key == row.key).copied().collect();
        let frame = &upto[upto.len().saturating_sub(preceding + 1)..];
        let mut out = row.values();
        out.extend(naive(frame.iter().copied()));
        let values: Vec<i64> = frame.iter().filter_map(|row| row.value).collect();
        let mean = values.iter().sum::<i64>().checked_div(values.len() as i64);
        out.push(mean.map_or(Value::Null, Value::Int));
        *table.entry(format!("{out:?}")).or_default() += 1;
    }
    table
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_result_equals_the_batch_query(
        preceding in 0usize..4,
        steps in proptest::collection::vec((row(), any::<proptest::sample::Index>(), 0u8..10), 1..50),
        cut in 1usize..12,
        snapshot in any::<bool>(),
    ) {
        let spec = spec(preceding);
        let mut all = harness(&spec, preceding);
        let mut single = harness(&spec, preceding);
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
            all.batch(0, batch(&input(), &fed)).unwrap();
            for row in &fed {
                single.batch(0, batch(&input(), std::slice::from_ref(row))).unwrap();
            }
            let changes = rows(&output(&spec), &all.take_batches());
            let by_row = rows(&output(&spec), &single.take_batches());
            prop_assert_eq!(&changes, &by_row);
            apply(&mut result, changes);
            prop_assert_eq!(&result, &table(preceding, &there));
            if snapshot {
                let checkpoint = all.snapshot().unwrap();
                let resumed = operator(&spec, preceding);
                all = OperatorHarness::resumed(resumed, 1, None, Some(&checkpoint)).unwrap();
            }
        }
    }
}

#[test]
fn rows_that_are_taken_back_leave_nothing_and_idle_partitions_expire() {
    let mut spec = spec(3);
    spec.state_ttl = 1000;
    let mut harness = harness(&spec, 3);
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
    for round in 0..10 {
        harness.batch(0, fed(RowKind::Insert, &rows)).unwrap();
        sizes.push(harness.counts().state_bytes);
        if round % 2 == 0 {
            harness.batch(0, fed(RowKind::Delete, &rows)).unwrap();
        }
        harness.advance_clock(1000).unwrap();
        harness.take();
    }
    assert!(sizes[1..].iter().all(|size| *size <= sizes[1]), "{sizes:?}");
}

#[test]
fn partitions_on_disk_are_as_good() {
    crate::testing::on_disk(1, the_result_equals_the_batch_query);
}
