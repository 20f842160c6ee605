use flott_types::{ChangelogMode, RowKind};
use proptest::prelude::*;

use super::*;
use crate::check::OutputContract;
use crate::operators::over::BatchOverOperator;
use crate::operators::testing::{Row, batch, rows};
use crate::testing::OperatorHarness;

fn functions() -> Vec<WindowFunction> {
    let mut all = aggregates();
    all.extend([
        WindowFunction::RowNumber,
        WindowFunction::Rank,
        WindowFunction::DenseRank,
        WindowFunction::PercentRank,
        WindowFunction::CumeDist,
        WindowFunction::Ntile(Operand::Constant(Value::Int(3))),
        offset(false, 2),
        offset(true, 1),
    ]);
    all
}

fn run(spec: &OverWindow, input_rows: &[In], cut: usize) -> Vec<Vec<Value>> {
    let schema = output(spec).to_arrow();
    let mode = ChangelogMode::INSERT_ONLY;
    let contract = OutputContract { schema: schema.clone(), mode, repeatable: true };
    let operator = BatchOverOperator::new(spec.clone(), &input(), schema);
    let mut harness = OperatorHarness::new(operator, 1, Some(contract)).unwrap();
    for part in input_rows.chunks(cut) {
        let fed: Vec<Row> = part.iter().map(|row| (RowKind::Insert, row.values())).collect();
        harness.batch(0, batch(&input(), &fed)).unwrap();
    }
    harness.end(0).unwrap();
    rows(&output(spec), &harness.take_batches()).into_iter().map(|(_, row)| row).collect()
}

/// Orders: NULLs are placed apart from the direction.
fn place(order: Option<i64>, descending: bool, nulls_first: bool) -> (u8, i64) {
    match order {
        None => (if nulls_first { 0 } else { 2 }, 0),
        Some(order) => (1, if descending { -order } else { order }),
    }
}

/// Whether `other` is in the frame of the row at `at`; all rows of the partition in order.
fn is_inside(
    frame: &Frame,
    rows: &[&In],
    at: usize,
    other: usize,
    (desc, nulls): (bool, bool),
) -> bool {
    let key = |row: usize| place(rows[row].order, desc, nulls);
    let distance = |value: &Value| value.as_int().unwrap();
    // Whether `other` is not before the start, or not behind the end.
    let within = |bound: &FrameBound, is_start: bool| {
        let (here, there) = if is_start { (at, other) } else { (other, at) };
        match (bound, frame.unit) {
            (FrameBound::UnboundedPreceding, _) => is_start,
            (FrameBound::UnboundedFollowing, _) => !is_start,
            (FrameBound::CurrentRow, FrameUnit::Rows) => here <= there,
            (FrameBound::CurrentRow, FrameUnit::Range) => key(here) <= key(there),
            (bound, FrameUnit::Rows) => {
                let by = match bound {
                    FrameBound::Preceding(by) => -distance(by),
                    FrameBound::Following(by) => distance(by),
                    _ => 0,
                };
                let limit = at as i64 + by;
                if is_start { other as i64 >= limit } else { other as i64 <= limit }
            }
            (bound, FrameUnit::Range) => {
                let by = match bound {
                    FrameBound::Preceding(by) => -distance(by),
                    FrameBound::Following(by) => distance(by),
                    _ => 0,
                };
                let ((class, value), (other_class, other_value)) = (key(at), key(other));
                // NULLs are far from all values, and at no distance from each other.
                let limit = value + by;
                if is_start {
                    (other_class, other_value) >= (class, limit)
                } else {
                    (other_class, other_value) <= (class, limit)
                }
            }
        }
    };
    within(&frame.start, true) && within(&frame.end, false)
}

fn expected(spec: &OverWindow, input_rows: &[In]) -> Vec<Vec<Value>> {
    let (_, desc, nulls) = spec.order[0];
    let mut keys: Vec<Option<u8>> = input_rows.iter().map(|row| row.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut out = Vec::new();
    for key in keys {
        let mut rows: Vec<&In> = input_rows.iter().filter(|row| row.key == key).collect();
        rows.sort_by_key(|row| place(row.order, desc, nulls));
        let places: Vec<(u8, i64)> = rows.iter().map(|row| place(row.order, desc, nulls)).collect();
        let count = rows.len();
        for at in 0..count {
            let inside: Vec<&In> = (0..count)
                .filter(|other| is_inside(&spec.frame, &rows, at, *other, (desc, nulls)))
                .map(|other| rows[other])
                .collect();
            let mut row = rows[at].values();
            row.extend(naive(inside.into_iter()));
            let before = places.iter().filter(|place| **place < places[at]).count();
            let upto = places.iter().filter(|place| **place <= places[at]).count();
            let mut lower: Vec<_> = places[..before].to_vec();
            lower.dedup();
            let of = |row: Option<&&In>| match row {
                None => Value::Int(-7),
                Some(row) => row.value.map_or(Value::Null, Value::Int),
            };
            let percent = if count == 1 { 0.0 } else { before as f64 / (count - 1) as f64 };
            // Rows dealt to three hands as evenly as can be, the first ones getting more.
            let tile = (1..=3).find(|tile| {
                let dealt: usize = (0..*tile).map(|hand| (count + 2 - hand) / 3).sum();
                at < dealt
            });
            row.extend([
                Value::Int(at as i64 + 1),
                Value::Int(before as i64 + 1),
                Value::Int(lower.len() as i64 + 1),
                Value::Double(percent),
                Value::Double(upto as f64 / count as f64),
                Value::Int(tile.unwrap() as i64),
                of(at.checked_sub(2).and_then(|back| rows.get(back))),
                of(rows.get(at + 1)),
            ]);
            out.push(row);
        }
    }
    out
}

fn row() -> impl Strategy<Value = In> {
    let key = prop_oneof![1 => Just(None), 3 => (0u8..3).prop_map(Some)];
    let value = prop_oneof![1 => Just(None), 5 => (-9i64..9).prop_map(Some)];
    let order = prop_oneof![1 => Just(None), 5 => (0i64..12).prop_map(Some)];
    (key, value, order).prop_map(|(key, value, order)| In { key, value, order, time: 0 })
}

fn bound(unbounded: FrameBound) -> impl Strategy<Value = FrameBound> {
    prop_oneof![
        Just(unbounded),
        (0i64..5).prop_map(|by| FrameBound::Preceding(Value::Int(by))),
        Just(FrameBound::CurrentRow),
        (0i64..5).prop_map(|by| FrameBound::Following(Value::Int(by))),
    ]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_frame_is_as_defined(
        rows in proptest::collection::vec(row(), 1..40),
        cut in 1usize..20,
        unit in prop_oneof![Just(FrameUnit::Rows), Just(FrameUnit::Range)],
        start in bound(FrameBound::UnboundedPreceding),
        end in bound(FrameBound::UnboundedFollowing),
        descending in any::<bool>(),
        nulls_first in any::<bool>(),
    ) {
        let order = (ORDER, descending, nulls_first);
        let spec = window(OverMode::Batch, order, frame(unit, start, end), functions());
        prop_assert_eq!(run(&spec, &rows, cut), expected(&spec, &rows));
    }
}

/// Sums of DOUBLE do not keep the rounding of rows that left.
#[test]
fn doubles_that_left_leave_no_trace() {
    let schema_in = crate::operators::testing::schema(&[DataType::bigint(), DataType::double()]);
    let sum = WindowFunction::Aggregate(call("SUM", &[1], &schema_in));
    let frame = frame(FrameUnit::Rows, FrameBound::CurrentRow, FrameBound::CurrentRow);
    let spec = OverWindow {
        partition: Vec::new(),
        order: vec![(0, false, true)],
        frame,
        functions: vec![sum],
        mode: OverMode::Batch,
        state_ttl: 0,
    };
    let types = [DataType::bigint(), DataType::double(), DataType::double()];
    let schema_out = crate::operators::testing::schema(&types);
    let operator = BatchOverOperator::new(spec, &schema_in, schema_out.to_arrow());
    let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
    let fed: Vec<Row> = [1e300, 0.1, 0.2]
        .into_iter()
        .enumerate()
        .map(|(n, value)| (RowKind::Insert, vec![Value::Int(n as i64), Value::Double(value)]))
        .collect();
    harness.batch(0, batch(&schema_in, &fed)).unwrap();
    harness.end(0).unwrap();
    let out = rows(&schema_out, &harness.take_batches());
    let sums: Vec<Value> = out.into_iter().map(|(_, row)| row[2].clone()).collect();
    assert_eq!(sums, [Value::Double(1e300), Value::Double(0.1), Value::Double(0.2)]);
}
