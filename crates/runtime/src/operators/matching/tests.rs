//! Patterns against their definition, and what is kept of them.

use std::collections::BTreeMap;

use flott_functions::SessionSettings;
use flott_plan::matching::{MatchQuantifier, MatchSkip};
use flott_types::{ChangelogMode, DataType, Field, RowKind, Schema, Value};
use proptest::prelude::*;

use super::MatchOperator;
use super::model::{Condition, Pattern, Row, Variable};
use crate::check::OutputContract;
use crate::marks::Mark;
use crate::operator::Operator;
use crate::operators::testing::{Gathers, Side, Ways, batch, cases, rows, schema};
use crate::testing::OperatorHarness;

type Shares = (i64, Vec<usize>);

fn input() -> Schema {
    let bigint = DataType::bigint();
    schema(&[bigint.clone(), bigint.clone(), bigint, DataType::timestamp(3)])
}

fn output(pattern: &Pattern) -> Schema {
    let fields = (0..=2 * pattern.variables.len()).map(|i| {
        let is_count = i > 0 && i % 2 == 0;
        Field::new(format!("c{i}"), DataType::bigint().with_nullable(!is_count))
    });
    Schema::new(fields.collect())
}

fn operator(pattern: &Pattern) -> MatchOperator {
    let settings = SessionSettings::default();
    MatchOperator::new(&pattern.plan(), &input(), output(pattern).to_arrow(), &settings).unwrap()
}

fn contract(pattern: &Pattern) -> Option<OutputContract> {
    let schema = output(pattern).to_arrow();
    Some(OutputContract { schema, mode: ChangelogMode::INSERT_ONLY, repeatable: true })
}

fn harness(pattern: &Pattern) -> OperatorHarness {
    OperatorHarness::new(operator(pattern), 1, contract(pattern)).unwrap()
}

fn value(number: Option<i64>) -> Value {
    number.map_or(Value::Null, Value::Int)
}

fn input_row(key: Option<i64>, row: Row) -> (RowKind, Vec<Value>) {
    let time = Value::Timestamp(i128::from(row.time) * 1_000_000);
    (RowKind::Insert, vec![value(key), Value::Int(row.id), value(row.value), time])
}

/// What came out, by key.
fn matches(
    pattern: &Pattern,
    harness: &mut OperatorHarness,
    found: &mut BTreeMap<Option<i64>, Vec<Shares>>,
) {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    for (_, row) in rows(&output(pattern), &harness.take_batches()) {
        let pairs: Vec<_> = row[1..].chunks(2).collect();
        let first = pairs.iter().find_map(|pair| number(&pair[0])).unwrap();
        let shares = pairs.iter().map(|pair| number(&pair[1]).unwrap() as usize).collect();
        found.entry(number(&row[0])).or_default().push((first, shares));
    }
}

/// A row of a key at a time after (or before) the one before, or a watermark so far behind.
#[derive(Debug, Clone, Copy)]
enum Step {
    Row { key: Option<i64>, ahead: i64, value: Option<i64> },
    Watermark(i64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = prop_oneof![1 => Just(None), 5 => (1..3i64).prop_map(Some)];
    let row = (key, -3..5i64, prop_oneof![1 => Just(None), 9 => (0..8i64).prop_map(Some)]);
    let step = prop_oneof![
        12 => row.prop_map(|(key, ahead, value)| Step::Row { key, ahead, value }),
        4 => (0..4i64).prop_map(Step::Watermark),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..70)
}

fn quantifier() -> impl Strategy<Value = MatchQuantifier> {
    let of = |from, to, optional, greedy| MatchQuantifier { from, to, optional, greedy };
    let bounds = prop_oneof![
        4 => Just((1, Some(1), false)),
        1 => Just((1, Some(1), true)),
        3 => Just((1, None, false)),
        2 => Just((1, None, true)),
        1 => Just((2, None, false)),
        1 => Just((2, Some(2), false)),
        2 => Just((1, Some(3), false)),
        1 => Just((1, Some(2), true)),
        1 => Just((2, Some(3), false)),
    ];
    (bounds, any::<bool>()).prop_map(move |((from, to, optional), greedy)| {
        of(from, to, optional, greedy && to != Some(from))
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        Just(Condition::Any),
        (2..7i64).prop_map(Condition::Below),
        (1..6i64).prop_map(Condition::AtLeast),
        Just(Condition::Rising),
        (4..16i64).prop_map(Condition::SumBelow),
        (3..7i64).prop_map(Condition::Fewer),
        Just(Condition::NotBelowFirst),
        Just(Condition::AboveLast),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let variable = (quantifier(), condition())
        .prop_map(|(quantifier, condition)| Variable { quantifier, condition });
    let within = prop_oneof![Just(None), (1..12i64).prop_map(Some)];
    let parts = (prop::collection::vec(variable, 1..5), within, any::<bool>(), 0..4u8, 0..4usize);
    parts.prop_map(|(mut variables, within, ties, skip, target)| {
        // As the planner sees to it: something is taken, and nothing greedy ends.
        let last = variables.len() - 1;
        variables[last].quantifier.greedy = false;
        if variables.iter().all(|variable| variable.quantifier.optional) {
            variables[0].quantifier.optional = false;
        }
        // Only variables that have a row, and not the first, can always be skipped to.
        let certain = |variable: &usize| {
            !variables[*variable].quantifier.optional
                && variables[..*variable].iter().any(|before| !before.quantifier.optional)
        };
        let target = Some(target).filter(|target| *target <= last).filter(certain);
        let skip = match (skip, target) {
            (0, Some(target)) => MatchSkip::ToFirst(target),
            (1, Some(target)) => MatchSkip::ToLast(target),
            (2, _) => MatchSkip::PastLastRow,
            _ => MatchSkip::ToNextRow,
        };
        Pattern { variables, skip, within, ties }
    })
}

/// Rows as they have come, and what must come of them.
struct Expected {
    pattern: Pattern,
    watermark: i64,
    rows: BTreeMap<Option<i64>, Vec<Row>>,
    found: BTreeMap<Option<i64>, Vec<Shares>>,
    late: usize,
}

impl Expected {
    fn row(&mut self, key: Option<i64>, row: Row) {
        if row.time <= self.watermark {
            self.late += 1;
        } else {
            self.rows.entry(key).or_default().push(row);
        }
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let none = Vec::new();
        for (key, rows) in &self.rows {
            let mut due: Vec<Row> =
                rows.iter().copied().filter(|row| row.time <= self.watermark).collect();
            let ties = self.pattern.ties;
            due.sort_by_key(|row| {
                let tie = ties.then(|| row.value.map_or((0, 0), |value| (1, -value)));
                (row.time, tie)
            });
            let found = self.found.get(key).unwrap_or(&none);
            let checked = self.pattern.check(&due, self.watermark, found);
            prop_assert!(checked.is_ok(), "key {key:?}: {}: {due:?}", checked.unwrap_err());
        }
        Ok(())
    }
}

fn run(pattern: &Pattern, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut it = harness(pattern).keeping_feed();
    let mut expected = Expected {
        pattern: pattern.clone(),
        watermark: i64::MIN,
        rows: BTreeMap::new(),
        found: BTreeMap::new(),
        late: 0,
    };
    let (mut time, mut late_before) = (1000, 0);
    let mut fed: Vec<(RowKind, Vec<Value>)> = Vec::new();
    let mut marks: Vec<Mark> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        match *step {
            Step::Row { key, ahead, value } => {
                time += ahead;
                let row = Row { id: i as i64, value, time };
                expected.row(key, row);
                fed.push(input_row(key, row));
            }
            Step::Watermark(behind) if fed.is_empty() || behind == 0 => {
                // Between batches: rows so far, then the watermark alone.
                flush(&mut it, &mut fed, &mut marks);
                expected.watermark = expected.watermark.max(time - behind);
                it.watermark(0, expected.watermark).unwrap();
                matches(pattern, &mut it, &mut expected.found);
                expected.check()?;
            }
            Step::Watermark(behind) => {
                expected.watermark = expected.watermark.max(time - behind);
                marks.push(Mark { row: fed.len() as u32, watermark: expected.watermark });
            }
            Step::Restart => {
                flush(&mut it, &mut fed, &mut marks);
                matches(pattern, &mut it, &mut expected.found);
                late_before += it.counts().late_rows as usize;
                it = it.restarted(operator(pattern)).unwrap();
                // A new task has seen no watermark yet; the sources give it theirs.
                if expected.watermark > i64::MIN {
                    it.watermark(0, expected.watermark).unwrap();
                }
            }
        }
    }
    flush(&mut it, &mut fed, &mut marks);
    expected.watermark = i64::MAX;
    it.end(0).unwrap();
    matches(pattern, &mut it, &mut expected.found);
    expected.check()?;
    prop_assert_eq!(late_before + it.counts().late_rows as usize, expected.late);
    let make = |_| -> Box<dyn Operator> { Box::new(operator(pattern)) };
    let (inputs, output) = (vec![Side::by(input(), &[0])], output(pattern));
    Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(it.fed())
}

fn flush(
    harness: &mut OperatorHarness,
    fed: &mut Vec<(RowKind, Vec<Value>)>,
    marks: &mut Vec<Mark>,
) {
    let rows = batch(&input(), &std::mem::take(fed));
    let marks = marks.drain(..).collect();
    if !rows.is_empty() {
        harness.marked(0, rows, marks).unwrap();
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn matches_are_those_of_the_definition(pattern in pattern(), steps in steps()) {
        run(&pattern, &steps)?;
    }
}

fn simple(skip: MatchSkip, within: Option<i64>) -> Pattern {
    let loops = MatchQuantifier { from: 1, to: None, optional: false, greedy: true };
    let variable = |quantifier, condition| Variable { quantifier, condition };
    Pattern {
        variables: vec![
            variable(MatchQuantifier::ONE, Condition::AtLeast(5)),
            variable(loops, Condition::Below(3)),
            variable(MatchQuantifier::ONE, Condition::AtLeast(3)),
        ],
        skip,
        within,
        ties: false,
    }
}

/// Rows of ten keys, so many times: a fall of 6, 1, 2 for each that nothing ends.
fn falls(rounds: std::ops::Range<i64>) -> Vec<(RowKind, Vec<Value>)> {
    let row = |round: i64, key: i64| {
        let value = [6, 1, 2][(round % 3) as usize];
        input_row(Some(key), Row { id: round, value: Some(value), time: round * 10 })
    };
    rounds.flat_map(|round| (0..10).map(move |key| row(round, key))).collect()
}

#[test]
fn state_stops_growing_within_an_interval() {
    let mut it = harness(&simple(MatchSkip::PastLastRow, Some(100)));
    let mut most = [0, 0];
    for round in 0..400 {
        it.batch(0, batch(&input(), &falls(round..round + 1))).unwrap();
        it.watermark(0, round * 10).unwrap();
        let phase = usize::from(round >= 40);
        most[phase] = most[phase].max(it.counts().state_bytes);
    }
    assert!(most[1] <= most[0], "{most:?}");
    assert!(it.take_batches().iter().map(flott_types::ChangelogBatch::len).sum::<usize>() > 0);
}

#[test]
fn a_key_without_a_match_begun_is_forgotten() {
    let mut it = harness(&simple(MatchSkip::PastLastRow, None));
    let mut bytes = Vec::new();
    for round in 0..200i64 {
        let row = Row { id: round, value: Some(0), time: round };
        let rows: Vec<_> = (0..100).map(|key| input_row(Some(round * 100 + key), row)).collect();
        it.batch(0, batch(&input(), &rows)).unwrap();
        it.watermark(0, round).unwrap();
        bytes.push(it.counts().state_bytes);
    }
    let most = |rounds: &[u64]| rounds.iter().copied().max().unwrap();
    let (early, late) = (most(&bytes[..40]), most(&bytes[160..]));
    assert!(late <= early * 11 / 10, "{early} grew to {late}");
}

#[test]
fn skipping_to_nowhere_fails() {
    for (skip, problem) in [
        (MatchSkip::ToFirst(0), "Could not skip to first element of a match"),
        (MatchSkip::ToLast(0), "Could not skip to first element of a match"),
    ] {
        let mut it = harness(&simple(skip, None));
        let rows = [6, 1, 5].iter().enumerate().map(|(i, value)| {
            input_row(None, Row { id: i as i64, value: Some(*value), time: i as i64 })
        });
        it.batch(0, batch(&input(), &rows.collect::<Vec<_>>())).unwrap();
        let error = it.watermark(0, 10).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn processing_time_takes_rows_as_they_come() {
    let pattern = simple(MatchSkip::PastLastRow, Some(50));
    let mut plan = pattern.plan();
    plan.is_rowtime = false;
    let settings = SessionSettings::default();
    let schema = output(&pattern).to_arrow();
    let operator = MatchOperator::new(&plan, &input(), schema, &settings).unwrap();
    let mut it = OperatorHarness::new(operator, 1, contract(&pattern)).unwrap();
    let mut found = BTreeMap::new();
    let mut feed = |it: &mut OperatorHarness, id: i64, value: i64| {
        let row = Row { id, value: Some(value), time: 0 };
        it.batch(0, batch(&input(), &[input_row(None, row)])).unwrap();
        matches(&pattern, it, &mut found);
        found.get(&None).map_or(0, Vec::len)
    };
    assert_eq!([feed(&mut it, 1, 6), feed(&mut it, 2, 1), feed(&mut it, 3, 4)], [0, 0, 1]);
    assert_eq!([feed(&mut it, 4, 6), feed(&mut it, 5, 1)], [1, 1]);
    let held = it.counts().state_bytes;
    it.advance_clock(60).unwrap();
    assert!(it.counts().state_bytes <= held);
    // The match begun is over: its last row comes too late.
    assert_eq!(feed(&mut it, 6, 4), 1);
}

#[test]
fn keys_on_disk_are_as_good() {
    crate::testing::on_disk(2, || {
        matches_are_those_of_the_definition();
        a_key_without_a_match_begun_is_forgotten();
    });
}
