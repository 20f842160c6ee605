//! Two phases against one, and against counting by hand.

use std::collections::BTreeMap;

use flott_plan::MiniBatch;
use flott_plan::physical::{
    AggregatePhase, ColumnAggregate, GroupAggregate, LocalGroupAggregate, PartialLayout,
};
use flott_types::{ChangelogMode, DataType, RowKind, Schema, Value};
use proptest::prelude::*;

use super::GroupAggregateOperator;
use crate::check::OutputContract;
use crate::operators::LocalGroupAggregateOperator;
use crate::operators::testing::{Row, batch, call, cases, rows, schema};
use crate::testing::OperatorHarness;

/// Key, value, filter, another value.
fn input() -> Schema {
    schema(&[DataType::bigint(), DataType::int(), DataType::boolean(), DataType::string()])
}

fn calls() -> Vec<ColumnAggregate> {
    let input = input();
    let distinct = |name: &str, column, filter| {
        let mut call = call(name, &[column], &input);
        call.distinct = true;
        call.filter = filter;
        call
    };
    let mut filtered = call("MAX", &[1], &input);
    filtered.filter = Some(2);
    vec![
        call("COUNT", &[], &input),
        call("SUM", &[1], &input),
        call("AVG", &[1], &input),
        call("MIN", &[3], &input),
        filtered,
        distinct("COUNT", 1, None),
        distinct("SUM", 1, Some(2)),
        distinct("COUNT", 3, None),
        call("COLLECT", &[1], &input),
    ]
}

/// Value, filter, other value.
type Input = (Option<i64>, Option<bool>, Option<u8>);

fn text(value: u8) -> Value {
    Value::string(format!("text {value}"))
}

/// The results of the rows of a group, in the order of [`calls`].
fn by_hand(rows: &[Input]) -> Vec<Value> {
    let of = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
    let values: Vec<i64> = rows.iter().filter_map(|row| row.0).collect();
    let kept = rows.iter().filter(|row| row.1 == Some(true));
    let kept: Vec<i64> = kept.filter_map(|row| row.0).collect();
    let unlike = |values: &[i64]| -> Vec<i64> {
        let mut values = values.to_vec();
        values.sort_unstable();
        values.dedup();
        values
    };
    let texts: std::collections::BTreeSet<u8> = rows.iter().filter_map(|row| row.2).collect();
    let sum = |values: &[i64]| (!values.is_empty()).then(|| values.iter().sum::<i64>());
    let counts = unlike(&values).into_iter().map(|value| {
        let count = values.iter().filter(|other| **other == value).count();
        (Value::Int(value), Value::Int(count as i64))
    });
    vec![
        Value::Int(rows.len() as i64),
        of(sum(&values)),
        of(sum(&values).map(|sum| sum / values.len() as i64)),
        texts.first().map_or(Value::Null, |value| text(*value)),
        of(kept.iter().max().copied()),
        Value::Int(unlike(&values).len() as i64),
        of(sum(&unlike(&kept))),
        Value::Int(texts.len() as i64),
        Value::Map(counts.collect()),
    ]
}

/// A multiset has no order.
fn ordered(mut row: Vec<Value>) -> Vec<Value> {
    if let Some(Value::Map(entries)) = row.last_mut() {
        entries.sort_by_key(|(value, _)| value.as_int());
    }
    row
}

struct Case {
    keys: Vec<usize>,
    retracts: bool,
    emit_update_before: bool,
}

impl Case {
    fn output(&self) -> Schema {
        let keys = self.keys.iter().map(|key| input().fields[*key].data_type.clone());
        schema(&keys.chain(calls().iter().map(|call| call.data_type.clone())).collect::<Vec<_>>())
    }

    /// What passes from the first phase to the second.
    fn between(&self) -> Schema {
        let layout = PartialLayout::of(&calls(), self.retracts).unwrap();
        let keys = self.keys.iter().map(|key| input().fields[*key].data_type.clone());
        let more = layout.fields().into_iter().map(|field| field.data_type);
        schema(&keys.chain(more).collect::<Vec<_>>())
    }

    fn local(&self, limits: MiniBatch) -> OperatorHarness {
        let spec = LocalGroupAggregate {
            keys: self.keys.clone(),
            calls: calls(),
            input_retracts: self.retracts,
            split: None,
        };
        let schema = self.between().to_arrow();
        let contract = OutputContract {
            schema: schema.clone(),
            mode: ChangelogMode::INSERT_ONLY,
            repeatable: true,
        };
        let operator = LocalGroupAggregateOperator::new(&spec, limits, &input(), schema).unwrap();
        OperatorHarness::new(operator, 1, Some(contract)).unwrap()
    }

    fn operator(&self, limits: MiniBatch, phase: AggregatePhase) -> GroupAggregateOperator {
        let (keys, input) = match phase {
            AggregatePhase::Complete => (self.keys.clone(), input()),
            AggregatePhase::Global => ((0..self.keys.len()).collect(), self.between()),
        };
        let spec = GroupAggregate {
            keys,
            calls: calls(),
            input_retracts: self.retracts,
            emit_update_before: self.emit_update_before,
            final_only: false,
            state_ttl: 0,
            phase,
            split: None,
        };
        let output = self.output().to_arrow();
        GroupAggregateOperator::new(&spec, Some(limits), &input, output).unwrap()
    }
}

/// A row that comes or goes, and what happens after it.
#[derive(Debug, Clone)]
struct Step {
    key: Option<i64>,
    row: Input,
    goes: Option<usize>,
    /// The first phases send what they have.
    flush: bool,
    /// The second phase goes on from its snapshot; or one phase does the work from then on.
    restart: Option<bool>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = prop_oneof![1 => Just(None), 4 => (0..4i64).prop_map(Some)];
    let filter = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
    let row = (value, filter, prop::option::weighted(0.8, 0..3u8));
    let key = prop_oneof![1 => Just(None), 4 => (0..3i64).prop_map(Some)];
    let step = (
        key,
        row,
        prop::option::weighted(0.4, 0..1000usize),
        prop::bool::weighted(0.15),
        prop::option::weighted(0.06, any::<bool>()),
    );
    let step =
        step.prop_map(|(key, row, goes, flush, restart)| Step { key, row, goes, flush, restart });
    prop::collection::vec(step, 1..80)
}

/// Groups with their rows, each with the task where it came in.
type Groups = BTreeMap<Vec<Option<i64>>, Vec<(usize, Option<i64>, Input)>>;

fn fold(table: &mut BTreeMap<String, Vec<Value>>, keys: usize, given: Vec<Row>) {
    for (kind, row) in given {
        let key = format!("{:?}", &row[..keys]);
        match kind.adds() {
            true => drop(table.insert(key, ordered(row))),
            false if kind == RowKind::Delete => drop(table.remove(&key)),
            false => {}
        }
    }
}

/// Feeds three first phases and the second one, and compares whenever nothing waits.
fn run(case: &Case, sizes: [u64; 2], steps: Vec<Step>) -> Result<(), TestCaseError> {
    let width = case.keys.len();
    let [local, limits] = sizes.map(|size| MiniBatch { size, latency: 1000 });
    let output = case.output();
    let mut locals: Vec<_> = (0..3).map(|_| case.local(local)).collect();
    let mode = if case.emit_update_before { ChangelogMode::ALL } else { ChangelogMode::UPSERT };
    let contract = OutputContract { schema: output.to_arrow(), mode, repeatable: true };
    let operator = case.operator(limits, AggregatePhase::Global);
    let mut last = OperatorHarness::new(operator, 1, Some(contract)).unwrap();
    let mut one_phase = false;
    let (mut groups, mut table) = (Groups::new(), BTreeMap::new());
    let count = steps.len();
    for (at, step) in steps.into_iter().enumerate() {
        let key: Vec<Option<i64>> = if case.keys.is_empty() { vec![] } else { vec![step.key] };
        let group = groups.entry(key).or_default();
        let goes = step.goes.filter(|_| case.retracts && !group.is_empty());
        let (task, key, row) = match goes {
            Some(which) => group.remove(which % group.len()),
            None => {
                // What a row updates comes from where it came from.
                let new = (at % 3, step.key, step.row);
                group.push(new);
                new
            }
        };
        let kind = if goes.is_some() { RowKind::Delete } else { RowKind::Insert };
        let row: Row = (
            kind,
            vec![
                key.map_or(Value::Null, Value::Int),
                row.0.map_or(Value::Null, Value::Int),
                row.1.map_or(Value::Null, Value::Boolean),
                row.2.map_or(Value::Null, text),
            ],
        );
        let row = batch(&input(), &[row]);
        if one_phase {
            last.batch(0, row).unwrap();
        } else {
            locals[task].batch(0, row).unwrap();
        }
        let settles = step.flush || step.restart.is_some() || at + 1 == count;
        for local in &mut locals {
            if settles {
                // What waits belongs to a checkpoint.
                local.snapshot().unwrap();
            }
            for rows in local.take_batches() {
                last.batch(0, rows).unwrap();
            }
        }
        if settles {
            let snapshot = last.snapshot().unwrap();
            fold(&mut table, width, rows(&output, &last.take_batches()));
            let expected: BTreeMap<String, Vec<Value>> = groups
                .iter()
                .filter(|(_, rows)| !rows.is_empty())
                .map(|(key, rows)| {
                    let key: Vec<Value> =
                        key.iter().map(|key| key.map_or(Value::Null, Value::Int)).collect();
                    let rows: Vec<Input> = rows.iter().map(|row| row.2).collect();
                    (format!("{key:?}"), [key, by_hand(&rows)].concat())
                })
                .collect();
            prop_assert_eq!(&table, &expected);
            if let Some(changes) = step.restart {
                one_phase ^= changes;
                let phase =
                    if one_phase { AggregatePhase::Complete } else { AggregatePhase::Global };
                let operator = case.operator(limits, phase);
                last = OperatorHarness::resumed(operator, 1, None, Some(&snapshot)).unwrap();
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn two_phases_give_what_counting_by_hand_gives(
        steps in steps(),
        is_global in prop::bool::weighted(0.2),
        retracts in any::<bool>(),
        emit_update_before in any::<bool>(),
        local_size in 1..9u64,
        size in 1..9u64,
    ) {
        let keys = if is_global { Vec::new() } else { vec![0] };
        run(&Case { keys, retracts, emit_update_before }, [local_size, size], steps)?;
    }
}

#[test]
fn what_is_taken_back_from_an_unknown_group_is_passed_over() {
    let case = Case { keys: vec![0], retracts: true, emit_update_before: true };
    let limits = MiniBatch { size: 100, latency: 10 };
    let (mut local, output) = (case.local(limits), case.output());
    let operator = case.operator(limits, AggregatePhase::Global);
    let mut last = OperatorHarness::new(operator, 1, None).unwrap();
    let row = |kind, key, value| {
        (kind, vec![Value::Int(key), Value::Int(value), Value::Null, Value::Null])
    };
    let mut pass = |given: &[Row]| -> Vec<(RowKind, i64, i64)> {
        local.batch(0, batch(&input(), given)).unwrap();
        local.advance_clock(10).unwrap();
        for rows in local.take_batches() {
            last.batch(0, rows).unwrap();
        }
        last.advance_clock(10).unwrap();
        let of = |(kind, row): Row| (kind, row[0].as_int().unwrap(), row[1].as_int().unwrap());
        rows(&output, &last.take_batches()).into_iter().map(of).collect()
    };
    use RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};
    assert_eq!(pass(&[row(Delete, 1, 5), row(Insert, 2, 5)]), [(Insert, 2, 1)]);
    let given = pass(&[row(Insert, 2, 6), row(Delete, 2, 6), row(Insert, 1, 1)]);
    assert_eq!(given, [(Insert, 1, 1)], "what cancels in a bundle leaves no trace");
    let given = pass(&[row(Insert, 2, 7), row(Delete, 1, 1)]);
    assert_eq!(given, [(UpdateBefore, 2, 1), (UpdateAfter, 2, 2), (Delete, 1, 1)]);
}

#[test]
fn a_value_may_come_where_another_one_went_before() {
    let step = |row, goes| Step { key: None, row, goes, flush: false, restart: None };
    // The first phase sees 1 go that came in an earlier bundle, then come again and pass the filter.
    let steps = vec![
        Step { flush: true, ..step((Some(1), None, Some(2)), None) },
        step((Some(1), None, None), Some(0)),
        step((Some(2), Some(false), Some(2)), None),
        step((Some(1), Some(true), None), None),
    ];
    let case = Case { keys: Vec::new(), retracts: true, emit_update_before: true };
    run(&case, [8, 8], steps).unwrap();
}
