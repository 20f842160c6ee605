use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, TimestampMillisecondArray};
use arrow::record_batch::RecordBatch;
use flott_plan::physical::{OrderColumn, TemporalSort};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, Field, Schema, Value};
use proptest::prelude::*;

use super::TemporalSortOperator;
use crate::check::OutputContract;
use crate::marks::{Mark, Marks};
use crate::operators::testing;
use crate::testing::OperatorHarness;

/// A time, a value to order by, and an identity.
type Row = (i64, Option<i64>, i64);

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("t", DataType::timestamp(3)),
        Field::new("v", DataType::bigint()),
        Field::new("id", DataType::bigint()),
    ])
}

fn operator(by_time: bool, by_value: bool) -> TemporalSortOperator {
    let key = OrderColumn { column: 1, descending: true, nulls_first: false };
    let order = if by_value { vec![key] } else { Vec::new() };
    let spec = TemporalSort { rowtime: by_time.then_some(0), order };
    TemporalSortOperator::new(&spec, &schema(), schema().to_arrow()).unwrap()
}

fn harness(by_time: bool, by_value: bool) -> OperatorHarness {
    let schema = schema().to_arrow();
    let contract = OutputContract { schema, mode: ChangelogMode::INSERT_ONLY, repeatable: true };
    OperatorHarness::new(operator(by_time, by_value), 1, Some(contract)).unwrap()
}

fn batch(rows: &[Row]) -> ChangelogBatch {
    let times: TimestampMillisecondArray = rows.iter().map(|row| Some(row.0)).collect();
    let values: Int64Array = rows.iter().map(|row| row.1).collect();
    let ids: Int64Array = rows.iter().map(|row| Some(row.2)).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(times), Arc::new(values), Arc::new(ids)];
    ChangelogBatch::inserts(RecordBatch::try_new(schema().to_arrow(), columns).unwrap())
}

/// The identities of the rows that came out.
fn taken(it: &mut OperatorHarness) -> Vec<i64> {
    let id = |row: &testing::Row| match row.1[2] {
        Value::Int(id) => id,
        _ => -1,
    };
    testing::rows(&schema(), &it.take_batches()).iter().map(id).collect()
}

/// What the operator does, one row at a time.
struct Model {
    by_value: bool,
    pending: Vec<Row>,
    last: Option<i64>,
    late: u64,
}

impl Model {
    fn row(&mut self, row: Row) {
        if self.last.is_some_and(|last| row.0 <= last) {
            self.late += 1;
        } else {
            self.pending.push(row);
        }
    }

    fn watermark(&mut self, watermark: i64, out: &mut Vec<i64>) {
        let (mut due, rest): (Vec<Row>, Vec<Row>) =
            std::mem::take(&mut self.pending).into_iter().partition(|row| row.0 <= watermark);
        self.pending = rest;
        let value = |row: &Row| if self.by_value { row.1.map_or(i64::MAX, |v| -v) } else { 0 };
        due.sort_by_key(|row| (row.0, value(row)));
        self.last = due.last().map(|row| row.0).or(self.last);
        out.extend(due.iter().map(|row| row.2));
    }
}

proptest! {
    #![proptest_config(testing::cases(256))]

    #[test]
    fn rows_leave_in_the_order_of_their_times(
        by_value in any::<bool>(),
        steps in prop::collection::vec(
            (
                prop::collection::vec(
                    (0..60i64, prop_oneof![1 => Just(None), 4 => (0..3i64).prop_map(Some)]),
                    1..12,
                ),
                prop::collection::vec((0..12usize, 0..15i64), 0..4),
                prop::bool::weighted(0.2),
            ),
            1..8,
        ),
    ) {
        let mut it = harness(true, by_value);
        let mut model = Model { by_value, pending: Vec::new(), last: None, late: 0 };
        let (mut id, mut watermark, mut late) = (0, 0, 0);
        for (rows, marks, resume) in &steps {
            let rows: Vec<Row> = rows
                .iter()
                .map(|(time, value)| {
                    id += 1;
                    (*time, *value, id)
                })
                .collect();
            let mut places: Vec<usize> =
                marks.iter().map(|(at, _)| (*at).min(rows.len())).collect();
            places.sort_unstable();
            let marks: Marks = places
                .iter()
                .zip(marks)
                .map(|(place, (_, rise))| {
                    watermark += rise + 1;
                    Mark { row: *place as u32, watermark }
                })
                .collect();
            let mut expected = Vec::new();
            for segment in marks.segments(rows.len()) {
                rows[segment.rows].iter().for_each(|row| model.row(*row));
                if let Some(mark) = segment.watermark {
                    model.watermark(mark, &mut expected);
                }
            }
            it.marked(0, batch(&rows), marks).unwrap();
            prop_assert_eq!(taken(&mut it), expected);
            if *resume {
                let checkpoint = it.snapshot().unwrap();
                late += it.counts().late_rows;
                it = OperatorHarness::resumed(operator(true, by_value), 1, None, Some(&checkpoint))
                    .unwrap();
            }
        }
        let mut expected = Vec::new();
        model.watermark(i64::MAX, &mut expected);
        it.end(0).unwrap();
        prop_assert_eq!(taken(&mut it), expected);
        prop_assert_eq!(it.counts().late_rows + late, model.late);
    }
}

#[test]
fn by_processing_time_rows_leave_after_a_millisecond() {
    let mut it = harness(false, true);
    it.batch(0, batch(&[(0, Some(1), 1), (0, Some(3), 2)])).unwrap();
    assert_eq!(taken(&mut it), [0i64; 0]);
    it.advance_clock(1).unwrap();
    assert_eq!(taken(&mut it), [2, 1]);
    it.batch(0, batch(&[(0, None, 3), (0, Some(3), 4)])).unwrap();
    it.end(0).unwrap();
    assert_eq!(taken(&mut it), [4, 3]);
    // Nothing more to order by: rows pass.
    let mut it = harness(false, false);
    it.batch(0, batch(&[(0, Some(1), 1), (0, Some(3), 2)])).unwrap();
    assert_eq!(taken(&mut it), [1, 2]);
}

#[test]
fn state_is_freed_as_the_watermark_passes() {
    let mut it = harness(true, true);
    let mut after = Vec::new();
    for round in 0..30i64 {
        let rows: Vec<Row> =
            (0..800).map(|i| (round * 800 + (i * 7) % 800, Some(i % 5), i)).collect();
        it.batch(0, batch(&rows)).unwrap();
        it.watermark(0, round * 800).unwrap();
        it.take();
        after.push(it.counts().state_bytes);
    }
    assert!(after[29] <= after[3] * 5 / 4, "{after:?}");
}
