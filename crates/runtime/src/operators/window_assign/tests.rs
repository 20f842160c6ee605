//! Rows and their windows.

use flott_plan::logical::WindowKind;
use flott_plan::physical::WindowOf;
use flott_types::{DataType, RowKind, Schema, Value};
use proptest::prelude::*;

use super::WindowAssignOperator;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::element::StreamElement;
use crate::marks::{Mark, Marks};
use crate::operator::Operator;
use crate::operators::testing::{Gathers, Row, Side, Ways, batch, cases, rows, schema};
use crate::testing::OperatorHarness;

fn operator(kind: WindowKind) -> (WindowAssignOperator, Schema, Schema) {
    let time = DataType::timestamp(3);
    let input = schema(&[DataType::bigint(), time.clone()]);
    let output = schema(&[DataType::bigint(), time.clone(), time.clone(), time.clone(), time]);
    let partition = match kind {
        WindowKind::Session { .. } => vec![0],
        _ => Vec::new(),
    };
    let window = WindowOf { kind, time_column: 1, is_rowtime: true, is_ltz: false, partition };
    let task = TaskInfo::single("assign", std::sync::Arc::new(VirtualClock::new(0)));
    let operator = WindowAssignOperator::new(&window, &input, output.to_arrow(), &task).unwrap();
    (operator, input, output)
}

fn harness(kind: WindowKind) -> (OperatorHarness, Schema, Schema) {
    let (operator, input, output) = operator(kind);
    (OperatorHarness::new(operator, 1, None).unwrap(), input, output)
}

fn row(number: i64, time: Option<i64>) -> Row {
    let time = time.map_or(Value::Null, |time| Value::Timestamp(i128::from(time) * 1_000_000));
    (RowKind::Insert, vec![Value::Int(number), time])
}

fn texts(output: &Schema, elements: Vec<StreamElement>) -> Vec<String> {
    let millis = |value: &Value| match value {
        Value::Timestamp(nanos) => nanos / 1_000_000,
        other => panic!("{other:?}"),
    };
    let batches = elements.into_iter().filter_map(|element| match element {
        StreamElement::Batch(rows) => Some(rows.batch),
        _ => None,
    });
    let text = |(_, row): Row| {
        assert_eq!(millis(&row[4]), millis(&row[3]) - 1);
        format!("{} {}..{}", row[0].as_int().unwrap(), millis(&row[2]), millis(&row[3]))
    };
    rows(output, &batches.collect::<Vec<_>>()).into_iter().map(text).collect()
}

#[test]
fn rows_come_once_for_each_window_with_their_watermarks() {
    let (mut harness, input, output) = harness(WindowKind::Hop { slide: 5, size: 10, offset: 0 });
    let all = [row(1, Some(3)), row(2, None), row(3, Some(7))];
    let marks: Marks = [Mark { row: 2, watermark: 4 }].into_iter().collect();
    harness.marked(0, batch(&input, &all), marks).unwrap();
    let elements = harness.take();
    let StreamElement::Batch(marked) = &elements[0] else { panic!("{elements:?}") };
    assert_eq!(marked.marks.as_slice(), [Mark { row: 2, watermark: 4 }]);
    assert_eq!(texts(&output, elements), ["1 0..10", "1 -5..5", "3 5..15", "3 0..10"]);
}

#[test]
fn rows_of_a_session_wait_for_its_end() {
    let kind = WindowKind::Session { gap: 10 };
    let (mut harness, input, output) = harness(kind);
    harness.batch(0, batch(&input, &[row(1, Some(0)), row(2, Some(3)), row(1, Some(14))])).unwrap();
    let snapshot = harness.snapshot().unwrap();
    let mut harness = OperatorHarness::resumed(operator(kind).0, 1, None, Some(&snapshot)).unwrap();
    harness.batch(0, batch(&input, &[row(1, Some(7))])).unwrap();
    harness.watermark(0, 12).unwrap();
    assert_eq!(texts(&output, harness.take()), ["2 3..13"]);
    harness.batch(0, batch(&input, &[row(2, Some(2)), row(1, Some(2))])).unwrap();
    assert_eq!(harness.counts().late_rows, 1);
    harness.end(0).unwrap();
    assert_eq!(texts(&output, harness.take()), ["1 0..24"; 4]);
}

/// A session of a key, with the times of its rows.
#[derive(Debug, Clone)]
struct Session {
    key: Option<i64>,
    start: i64,
    end: i64,
    times: Vec<i64>,
}

const GAP: i64 = 6;

/// Sessions by their definition.
#[derive(Default)]
struct Model {
    open: Vec<Session>,
    late: u64,
}

impl Model {
    fn add(&mut self, key: Option<i64>, time: i64, watermark: i64) {
        let mut joined = Session { key, start: time, end: time + GAP, times: Vec::new() };
        let meets = |session: &Session| {
            session.key == key && session.start <= time + GAP && time <= session.end
        };
        let (met, open): (Vec<_>, Vec<_>) = self.open.drain(..).partition(meets);
        self.open = open;
        if met.is_empty() && joined.end - 1 <= watermark {
            self.late += 1;
            return;
        }
        for session in met {
            joined.start = joined.start.min(session.start);
            joined.end = joined.end.max(session.end);
            joined.times.extend(session.times);
        }
        joined.times.push(time);
        self.open.push(joined);
    }

    /// The rows of the sessions that are over: key, time, start and end.
    fn fire(&mut self, watermark: i64) -> Vec<(Option<i64>, i64, i64, i64)> {
        let over = |session: &Session| session.end - 1 <= watermark;
        let (over, open): (Vec<_>, Vec<_>) = self.open.drain(..).partition(over);
        self.open = open;
        let rows = over.iter().flat_map(|session| {
            let row = |time: &i64| (session.key, *time, session.start, session.end);
            session.times.iter().map(row)
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable();
        rows
    }
}

fn given(output: &Schema, harness: &mut OperatorHarness) -> Vec<(Option<i64>, i64, i64, i64)> {
    let millis = |value: &Value| match value {
        Value::Timestamp(nanos) => (*nanos / 1_000_000) as i64,
        other => panic!("{other:?}"),
    };
    let of = |(kind, row): Row| {
        assert_eq!((kind, millis(&row[4])), (RowKind::Insert, millis(&row[3]) - 1));
        (row[0].as_int(), millis(&row[1]), millis(&row[2]), millis(&row[3]))
    };
    let mut all: Vec<_> = rows(output, &harness.take_batches()).into_iter().map(of).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn rows_come_with_the_sessions_of_their_keys(
        steps in prop::collection::vec(
            (
                prop::collection::vec((prop::option::weighted(0.8, 0..3i64), -20..60i64), 0..8),
                0..12i64,
                prop::bool::weighted(0.2),
            ),
            1..10,
        ),
    ) {
        let kind = WindowKind::Session { gap: GAP };
        let (first, input, output) = operator(kind);
        let mut harness = OperatorHarness::new(first, 1, None).unwrap().keeping_feed();
        let mut model = Model::default();
        let (mut watermark, mut late) = (-30, 0);
        harness.watermark(0, watermark).unwrap();
        for (fed, rise, restart) in &steps {
            let fed: Vec<Row> = fed
                .iter()
                .map(|(key, time)| {
                    model.add(*key, *time, watermark);
                    let mut row = row(0, Some(*time));
                    row.1[0] = key.map_or(Value::Null, Value::Int);
                    row
                })
                .collect();
            if !fed.is_empty() {
                harness.batch(0, batch(&input, &fed)).unwrap();
            }
            watermark += rise;
            harness.watermark(0, watermark).unwrap();
            prop_assert_eq!(given(&output, &mut harness), model.fire(watermark));
            if *restart {
                late += harness.counts().late_rows;
                harness = harness.restarted(operator(kind).0).unwrap();
                harness.watermark(0, watermark).unwrap();
            }
        }
        harness.end(0).unwrap();
        prop_assert_eq!(given(&output, &mut harness), model.fire(i64::MAX));
        prop_assert_eq!(late + harness.counts().late_rows, model.late);
        let make = |_| -> Box<dyn Operator> { Box::new(operator(kind).0) };
        let inputs = vec![Side::by(input, &[0])];
        Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(harness.fed())?;
    }
}

#[test]
fn sessions_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        rows_come_with_the_sessions_of_their_keys();
        rows_of_a_session_wait_for_its_end();
    });
}
