//! Group aggregation against counting by hand.

use flott_plan::MiniBatch;
use flott_plan::physical::{AggregatePhase, ColumnAggregate, GroupAggregate};
use flott_types::{ChangelogMode, DataType, RowKind, Schema, Value};
use proptest::prelude::*;

use super::GroupAggregateOperator;
use crate::check::OutputContract;
use crate::operator::Operator;
use crate::operators::testing::{Gathers, Row, Side, Ways, batch, call, cases, rows, schema};
use crate::testing::OperatorHarness;

/// Key, another key, value, filter.
fn input() -> Schema {
    schema(&[DataType::bigint(), DataType::string(), DataType::int(), DataType::boolean()])
}

fn calls() -> Vec<ColumnAggregate> {
    let input = input();
    let filtered = |mut call: ColumnAggregate| {
        call.filter = Some(3);
        call
    };
    let distinct = |mut call: ColumnAggregate| {
        call.distinct = true;
        call
    };
    vec![
        call("COUNT", &[], &input),
        call("SUM", &[2], &input),
        filtered(call("MAX", &[2], &input)),
        distinct(call("COUNT", &[2], &input)),
        filtered(distinct(call("SUM", &[2], &input))),
        call("LAST_VALUE", &[2], &input),
        call("ARRAY_AGG", &[2], &input),
    ]
}

/// The results of the rows of a group, in the order of [`calls`].
fn by_hand(rows: &[(Option<i64>, Option<bool>)]) -> Vec<Value> {
    let value = |number: Option<i64>| number.map_or(Value::Null, Value::Int);
    let numbers: Vec<i64> = rows.iter().filter_map(|(number, _)| *number).collect();
    let filtered: Vec<i64> =
        rows.iter().filter(|(_, keep)| *keep == Some(true)).filter_map(|row| row.0).collect();
    let sum = |numbers: &[i64]| (!numbers.is_empty()).then(|| numbers.iter().sum::<i64>());
    let unique = |numbers: &[i64]| {
        let mut unique = numbers.to_vec();
        unique.sort_unstable();
        unique.dedup();
        unique
    };
    let all = rows.iter().map(|(number, _)| value(*number)).collect::<Vec<_>>();
    vec![
        Value::Int(rows.len() as i64),
        value(sum(&numbers)),
        value(filtered.iter().max().copied()),
        Value::Int(unique(&numbers).len() as i64),
        value(sum(&unique(&filtered))),
        value(numbers.last().copied()),
        if all.is_empty() { Value::Null } else { Value::Array(all) },
    ]
}

/// A step of a test: a row that comes, or one that goes.
#[derive(Debug, Clone)]
struct Step {
    key: u8,
    number: u8,
    keep: u8,
    goes: bool,
    /// Whether a batch ends here, and whether the operator is restored from a snapshot then.
    cut: bool,
    restore: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0..5u8,
        0..5u8,
        0..3u8,
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.2),
        any::<bool>(),
    );
    let step = step.prop_map(|(key, number, keep, goes, cut, restore)| Step {
        key,
        number,
        keep,
        goes,
        cut,
        restore,
    });
    prop::collection::vec(step, 1..60)
}

fn key(number: u8) -> Vec<Value> {
    match number {
        0 => vec![Value::Null, Value::Null],
        number => vec![Value::Int(i64::from(number) / 2), Value::string("x".repeat(number.into()))],
    }
}

/// A row's number and whether the filter keeps it.
type Input = (Option<i64>, Option<bool>);

/// The input rows of steps, and the changelog that each should give.
struct Model {
    keys: usize,
    retracts: bool,
    emit_update_before: bool,
    groups: Vec<(Vec<Value>, Vec<Input>)>,
}

impl Model {
    fn step(&mut self, step: &Step) -> (Row, Vec<Row>) {
        let key = key(step.key);
        let group_key = key[..self.keys].to_vec();
        let at = self.groups.iter().position(|(known, _)| *known == group_key);
        let at = at.unwrap_or_else(|| {
            self.groups.push((group_key.clone(), Vec::new()));
            self.groups.len() - 1
        });
        let group = &mut self.groups[at].1;
        let before = by_hand(group);
        let was_empty = group.is_empty();
        let goes = step.goes && self.retracts;
        let (number, keep) = if goes && !was_empty {
            // Retracting aggregates take out the oldest of equal values.
            let picked = group[usize::from(step.number) % group.len()];
            let oldest = group.iter().position(|row| *row == picked).unwrap();
            group.remove(oldest)
        } else {
            // Equal numbers are filtered alike: which of them is taken back makes no difference then.
            let number = (step.number > 0).then(|| i64::from(step.number));
            let row = (number, [None, Some(true), Some(false)][usize::from(step.number % 3)]);
            if !goes {
                group.push(row);
            }
            row
        };
        let kind = match (goes, step.keep) {
            (true, 0) => RowKind::UpdateBefore,
            (true, _) => RowKind::Delete,
            (false, 0) if self.retracts => RowKind::UpdateAfter,
            (false, _) => RowKind::Insert,
        };
        let mut row = key;
        row.push(number.map_or(Value::Null, Value::Int));
        row.push(keep.map_or(Value::Null, Value::Boolean));
        let after = by_hand(group);
        let full = |results: &Vec<Value>| [group_key.clone(), results.clone()].concat();
        let mut out = Vec::new();
        match (was_empty, group.is_empty()) {
            (true, true) => {}
            (true, false) => out.push((RowKind::Insert, full(&after))),
            (false, true) => out.push((RowKind::Delete, full(&before))),
            (false, false) if before != after => {
                if self.emit_update_before {
                    out.push((RowKind::UpdateBefore, full(&before)));
                }
                out.push((RowKind::UpdateAfter, full(&after)));
            }
            (false, false) => {}
        }
        ((kind, row), out)
    }
}

fn output(keys: usize, calls: &[ColumnAggregate]) -> Schema {
    let keys =
        input().fields[..keys].iter().map(|field| field.data_type.clone()).collect::<Vec<_>>();
    let results = calls.iter().map(|call| call.data_type.clone());
    schema(&keys.into_iter().chain(results).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn changelogs_are_those_of_counting_by_hand(
        steps in steps(),
        keys in 0..3usize,
        retracts in any::<bool>(),
        emit_update_before in any::<bool>(),
    ) {
        let spec = GroupAggregate {
            keys: (0..keys).collect(),
            calls: calls(),
            input_retracts: retracts,
            emit_update_before,
            final_only: false,
            state_ttl: 0,
            phase: AggregatePhase::Complete,
        split: None,
        };
        let (input, output) = (input(), output(keys, &spec.calls));
        let operator = || GroupAggregateOperator::new(&spec, None, &input, output.to_arrow()).unwrap();
        let mode = if emit_update_before { ChangelogMode::ALL } else { ChangelogMode::UPSERT };
        let contract = || OutputContract { schema: output.to_arrow(), mode, repeatable: true };
        let harness = OperatorHarness::new(operator(), 1, Some(contract())).unwrap();
        let mut harness = harness.keeping_feed();
        let mut model = Model { keys, retracts, emit_update_before, groups: Vec::new() };
        let (mut pending, mut expected) = (Vec::new(), Vec::new());
        for (at, step) in steps.iter().enumerate() {
            let (row, out) = model.step(step);
            pending.push(row);
            expected.extend(out);
            if step.cut || at + 1 == steps.len() {
                harness.batch(0, batch(&input, &pending)).unwrap();
                pending.clear();
                let given = rows(&output, &harness.take_batches());
                prop_assert_eq!(given, std::mem::take(&mut expected));
                if step.restore {
                    harness = harness.restarted(operator()).unwrap();
                }
            }
        }
        let make = |limits| -> Box<dyn Operator> {
            Box::new(GroupAggregateOperator::new(&spec, limits, &input, output.to_arrow()).unwrap())
        };
        let keys: Vec<usize> = (0..keys).collect();
        let side = Side::by(input.clone(), &keys);
        let gathers = Gathers::Itself(mode, Some(keys));
        let ways = Ways { make: &make, inputs: vec![side], output: output.clone(), gathers };
        ways.agree(harness.fed())?;
    }
}

fn distinct(ttl: u64, retracts: bool) -> (OperatorHarness, Schema) {
    let spec = GroupAggregate {
        keys: vec![0],
        calls: Vec::new(),
        input_retracts: retracts,
        emit_update_before: true,
        final_only: false,
        state_ttl: ttl,
        phase: AggregatePhase::Complete,
        split: None,
    };
    let schema = schema(&[DataType::bigint()]);
    let operator = GroupAggregateOperator::new(&spec, None, &schema, schema.to_arrow()).unwrap();
    (OperatorHarness::new(operator, 1, None).unwrap(), schema)
}

fn kinds(harness: &mut OperatorHarness, schema: &Schema, rows: &[(RowKind, i64)]) -> Vec<String> {
    let rows: Vec<Row> = rows.iter().map(|(kind, key)| (*kind, vec![Value::Int(*key)])).collect();
    harness.batch(0, batch(schema, &rows)).unwrap();
    let given = super::super::testing::rows(schema, &harness.take_batches());
    given.iter().map(|(kind, row)| format!("{kind}{:?}", row[0].as_int().unwrap())).collect()
}

#[test]
fn select_distinct_gives_a_row_once() {
    use RowKind::{Delete, Insert};
    let (mut harness, schema) = distinct(0, false);
    assert_eq!(
        kinds(&mut harness, &schema, &[(Insert, 1), (Insert, 2), (Insert, 1)]),
        ["+I1", "+I2"]
    );
    assert!(kinds(&mut harness, &schema, &[(Insert, 2)]).is_empty());
    let snapshot = harness.snapshot().unwrap();
    assert_eq!(snapshot.operators.len(), 1);
    let (mut harness, schema) = distinct(0, true);
    let rows = [(Insert, 1), (Insert, 1), (Delete, 1), (Delete, 1), (Delete, 1), (Insert, 1)];
    assert_eq!(kinds(&mut harness, &schema, &rows), ["+I1", "-D1", "+I1"]);
}

#[test]
fn idle_groups_are_forgotten_and_others_kept_alive() {
    use RowKind::{Delete, Insert};
    for retracts in [false, true] {
        let (mut harness, schema) = distinct(1000, retracts);
        assert_eq!(kinds(&mut harness, &schema, &[(Insert, 1), (Insert, 2)]), ["+I1", "+I2"]);
        harness.advance_clock(600).unwrap();
        // Unchanged results come again, for the sake of operators after this one.
        assert_eq!(kinds(&mut harness, &schema, &[(Insert, 1)]), ["-U1", "+U1"]);
        harness.advance_clock(600).unwrap();
        assert_eq!(
            kinds(&mut harness, &schema, &[(Insert, 1), (Insert, 2)]),
            ["-U1", "+U1", "+I2"]
        );
        harness.advance_clock(1000).unwrap();
        if retracts {
            assert!(kinds(&mut harness, &schema, &[(Delete, 1)]).is_empty());
        }
        assert_eq!(kinds(&mut harness, &schema, &[(Insert, 1)]), ["+I1"]);
    }
}

#[test]
fn batch_mode_gives_final_rows() {
    let input = schema(&[DataType::bigint(), DataType::int()]);
    let spec = |keys: &[usize]| GroupAggregate {
        keys: keys.to_vec(),
        calls: vec![call("COUNT", &[], &input), call("SUM", &[1], &input)],
        input_retracts: false,
        emit_update_before: false,
        final_only: true,
        state_ttl: 0,
        phase: AggregatePhase::Complete,
        split: None,
    };
    let keyed = schema(&[DataType::bigint(), DataType::bigint(), DataType::int()]);
    let operator =
        GroupAggregateOperator::new(&spec(&[0]), None, &input, keyed.to_arrow()).unwrap();
    let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
    let row = |key: i64, number: i64| (RowKind::Insert, vec![Value::Int(key), Value::Int(number)]);
    harness.batch(0, batch(&input, &[row(7, 1), row(3, 2), row(7, 4)])).unwrap();
    assert!(harness.take_batches().is_empty());
    harness.end(0).unwrap();
    let result = |key, count, sum| {
        (RowKind::Insert, vec![Value::Int(key), Value::Int(count), Value::Int(sum)])
    };
    let given = super::super::testing::rows(&keyed, &harness.take_batches());
    assert_eq!(given, [result(7, 2, 5), result(3, 1, 2)]);
    // A global aggregate has a row even without input.
    let global = schema(&[DataType::bigint(), DataType::int()]);
    let operator =
        GroupAggregateOperator::new(&spec(&[]), None, &input, global.to_arrow()).unwrap();
    let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
    harness.end(0).unwrap();
    let given = super::super::testing::rows(&global, &harness.take_batches());
    assert_eq!(given, [(RowKind::Insert, vec![Value::Int(0), Value::Null])]);
}

/// The net changes of a bundle, by the groups that its rows touched.
#[derive(Default)]
struct Net {
    touched: Vec<(Vec<Value>, Option<Vec<Value>>)>,
    rows: u64,
}

impl Net {
    fn touch(&mut self, model: &Model, step: &Step) {
        let key = key(step.key)[..model.keys].to_vec();
        if !self.touched.iter().any(|(known, _)| *known == key) {
            let before = model.result(&key);
            self.touched.push((key, before));
        }
        self.rows += 1;
    }

    fn settle(&mut self, model: &Model) -> Vec<Row> {
        let mut out = Vec::new();
        self.rows = 0;
        for (key, before) in self.touched.drain(..) {
            let mut push = |kind, results: &Vec<Value>| {
                out.push((kind, [key.clone(), results.clone()].concat()));
            };
            match (&before, &model.result(&key)) {
                (None, Some(after)) => push(RowKind::Insert, after),
                (Some(before), None) => push(RowKind::Delete, before),
                (Some(before), Some(after)) if before != after => {
                    if model.emit_update_before {
                        push(RowKind::UpdateBefore, before);
                    }
                    push(RowKind::UpdateAfter, after);
                }
                _ => {}
            }
        }
        out
    }
}

impl Model {
    fn result(&self, key: &[Value]) -> Option<Vec<Value>> {
        let group = self.groups.iter().find(|(known, _)| known == key);
        group.filter(|(_, rows)| !rows.is_empty()).map(|(_, rows)| by_hand(rows))
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn bundles_give_net_changes(
        steps in steps(),
        keys in 0..3usize,
        retracts in any::<bool>(),
        emit_update_before in any::<bool>(),
        size in 1..12u64,
    ) {
        let spec = GroupAggregate {
            keys: (0..keys).collect(),
            calls: calls(),
            input_retracts: retracts,
            emit_update_before,
            final_only: false,
            state_ttl: 0,
            phase: AggregatePhase::Complete,
        split: None,
        };
        let (input, output) = (input(), output(keys, &spec.calls));
        let limits = Some(MiniBatch { size, latency: 100 });
        let operator =
            || GroupAggregateOperator::new(&spec, limits, &input, output.to_arrow()).unwrap();
        let mode = if emit_update_before { ChangelogMode::ALL } else { ChangelogMode::UPSERT };
        let contract = || OutputContract { schema: output.to_arrow(), mode, repeatable: true };
        let mut harness = OperatorHarness::new(operator(), 1, Some(contract())).unwrap();
        let mut model = Model { keys, retracts, emit_update_before, groups: Vec::new() };
        let (mut pending, mut expected, mut net) = (Vec::new(), Vec::new(), Net::default());
        for (at, step) in steps.iter().enumerate() {
            net.touch(&model, step);
            let (row, _) = model.step(step);
            pending.push(row);
            if net.rows == size {
                expected.extend(net.settle(&model));
            }
            let is_last = at + 1 == steps.len();
            if !step.cut && !is_last {
                continue;
            }
            harness.batch(0, batch(&input, &pending)).unwrap();
            pending.clear();
            prop_assert_eq!(
                rows(&output, &harness.take_batches()),
                std::mem::take(&mut expected)
            );
            match (step.restore, is_last) {
                (_, true) => harness.end(0).unwrap(),
                // The rows have waited for long enough.
                (false, false) => harness.advance_clock(100).unwrap(),
                (true, false) => {
                    // What waits belongs to the checkpoint.
                    let snapshot = harness.snapshot().unwrap();
                    let given = rows(&output, &harness.take_batches());
                    prop_assert_eq!(given, net.settle(&model));
                    harness =
                        OperatorHarness::resumed(operator(), 1, None, Some(&snapshot)).unwrap();
                    continue;
                }
            }
            prop_assert_eq!(rows(&output, &harness.take_batches()), net.settle(&model));
        }
    }
}

#[test]
fn watermarks_wait_for_the_rows_before_them() {
    use crate::element::StreamElement;
    let schema = schema(&[DataType::bigint()]);
    let spec = GroupAggregate {
        keys: vec![0],
        calls: Vec::new(),
        input_retracts: false,
        emit_update_before: true,
        final_only: false,
        state_ttl: 0,
        phase: AggregatePhase::Complete,
        split: None,
    };
    let limits = Some(MiniBatch { size: 100, latency: 50 });
    let operator = GroupAggregateOperator::new(&spec, limits, &schema, schema.to_arrow()).unwrap();
    let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
    harness.watermark(0, 1).unwrap();
    assert!(matches!(harness.take().as_slice(), [StreamElement::Watermark(1)]));
    harness.batch(0, batch(&schema, &[(RowKind::Insert, vec![Value::Int(7)])])).unwrap();
    harness.watermark(0, 2).unwrap();
    harness.watermark(0, 3).unwrap();
    assert!(harness.take().is_empty());
    harness.advance_clock(50).unwrap();
    let given = harness.take();
    assert!(
        matches!(given.as_slice(), [StreamElement::Batch(_), StreamElement::Watermark(3)]),
        "{given:?}"
    );
}

#[test]
fn groups_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        changelogs_are_those_of_counting_by_hand();
        bundles_give_net_changes();
        idle_groups_are_forgotten_and_others_kept_alive();
        select_distinct_gives_a_row_once();
        watermarks_wait_for_the_rows_before_them();
    });
}
