//! Rows and their windows.

use flott_plan::logical::WindowKind;
use flott_plan::physical::WindowOf;
use flott_types::{DataType, RowKind, Schema, Value};

use super::WindowAssignOperator;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::element::StreamElement;
use crate::marks::{Mark, Marks};
use crate::operators::testing::{Row, batch, rows, schema};
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
