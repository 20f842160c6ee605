use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, TimestampMillisecondArray};
use arrow::record_batch::RecordBatch;
use flott_plan::physical::{Deduplicate, Keep};
use flott_types::RowKind::{Insert, UpdateAfter, UpdateBefore};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, Field, Schema};
use proptest::prelude::*;

use super::deduplicate;
use crate::check::OutputContract;
use crate::marks::{Mark, Marks};
use crate::operator::Operator;
use crate::operators::test_rows::{Change, Row, Table, apply};
use crate::operators::testing::{self, Gathers, Side, Ways, cases};
use crate::testing::OperatorHarness;

/// A deduplication of (k, t, v) by k.
#[derive(Debug, Clone)]
struct Case {
    keep: Keep,
    by_time: bool,
    ttl: u64,
}

impl Case {
    fn schema(&self) -> Schema {
        let field = |name, ty| Field::new(name, ty);
        Schema::new(vec![
            field("k", DataType::bigint()),
            field("t", DataType::timestamp(3)),
            field("v", DataType::bigint()),
        ])
    }

    fn operator(&self) -> Box<dyn Operator> {
        let spec = Deduplicate {
            key: vec![0],
            rowtime: self.by_time.then_some(1),
            keep: self.keep,
            emit_update_before: true,
            state_ttl: self.ttl,
        };
        deduplicate(&spec, &self.schema(), self.schema().to_arrow()).unwrap()
    }

    fn harness(&self) -> OperatorHarness {
        let mode = match self.keep {
            Keep::First => ChangelogMode::INSERT_ONLY,
            Keep::Last => ChangelogMode::ALL,
        };
        let schema = self.schema().to_arrow();
        let contract = OutputContract { schema, mode, repeatable: true };
        OperatorHarness::boxed(self.operator(), 1, Some(contract), None).unwrap()
    }

    fn batch(&self, rows: &[Row]) -> ChangelogBatch {
        let ints = |at: usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| row[at]).collect::<Int64Array>())
        };
        let times: TimestampMillisecondArray = rows.iter().map(|row| row[1]).collect();
        let columns = vec![ints(0), Arc::new(times), ints(2)];
        let rows = RecordBatch::try_new(self.schema().to_arrow(), columns).unwrap();
        ChangelogBatch::inserts(rows)
    }

    fn taken(&self, it: &mut OperatorHarness) -> Vec<Change> {
        let millis = |value: &flott_types::Value| match value {
            flott_types::Value::Int(value) => Some(*value),
            flott_types::Value::Timestamp(nanos) => Some((*nanos / 1_000_000) as i64),
            _ => None,
        };
        testing::rows(&self.schema(), &it.take_batches())
            .into_iter()
            .map(|(kind, row)| (kind, row.iter().map(millis).collect()))
            .collect()
    }

    fn feed(&self, it: &mut OperatorHarness, rows: &[Row], marks: Marks) -> Vec<Change> {
        it.marked(0, self.batch(rows), marks).unwrap();
        self.taken(it)
    }
}

fn row(k: i64, t: i64, v: i64) -> Row {
    vec![Some(k), Some(t), Some(v)]
}

/// What the operator does, written for one row and no time to expire.
#[derive(Default)]
struct Model {
    kept: BTreeMap<Option<i64>, Row>,
    given: BTreeMap<Option<i64>, ()>,
    late: u64,
}

impl Model {
    fn row(&mut self, case: &Case, row: &Row, watermark: i64, out: &mut Vec<Change>) {
        let time = |row: &Row| row[1].unwrap_or(0);
        match (case.keep, case.by_time) {
            (Keep::First, false) => {
                if self.given.insert(row[0], ()).is_none() {
                    out.push((Insert, row.clone()));
                }
            }
            (Keep::First, true) => {
                if time(row) < watermark {
                    self.late += 1;
                } else if !self.given.contains_key(&row[0])
                    && self.kept.get(&row[0]).is_none_or(|kept| time(row) < time(kept))
                {
                    self.kept.insert(row[0], row.clone());
                }
            }
            (Keep::Last, by_time) => match self.kept.get(&row[0]) {
                Some(old) if by_time && time(row) < time(old) => {}
                Some(old) if !by_time && old == row => {}
                old => {
                    let changes = match old {
                        None => vec![(Insert, row.clone())],
                        Some(old) => vec![(UpdateBefore, old.clone()), (UpdateAfter, row.clone())],
                    };
                    out.extend(changes);
                    self.kept.insert(row[0], row.clone());
                }
            },
        }
    }

    /// The rows that a watermark sets free, in the order of their times.
    fn watermark(&mut self, case: &Case, watermark: i64, out: &mut Vec<Change>) {
        if case.keep == Keep::Last || !case.by_time {
            return;
        }
        let time = |row: &Row| row[1].unwrap_or(0);
        let mut due: Vec<Row> =
            self.kept.values().filter(|row| time(row) <= watermark).cloned().collect();
        due.sort_by_key(time);
        for row in due {
            self.kept.remove(&row[0]);
            self.given.insert(row[0], ());
            out.push((Insert, row));
        }
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    (any::<bool>(), any::<bool>()).prop_map(|(first, by_time)| Case {
        keep: if first { Keep::First } else { Keep::Last },
        by_time,
        ttl: 0,
    })
}

fn any_row() -> impl Strategy<Value = Row> {
    let value = |count: i64| prop_oneof![1 => Just(None), 8 => (0..count).prop_map(Some)];
    (value(4), value(40), value(3)).prop_map(|(k, t, v)| vec![k, t, v])
}

/// Changes of the same time in no order: keys of one time leave together.
fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|(_, a), (_, b)| (a[1].unwrap_or(0), a).cmp(&(b[1].unwrap_or(0), b)));
    changes
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn rows_are_those_of_the_definition(
        case in any_case(),
        steps in prop::collection::vec(
            (
                prop::collection::vec(any_row(), 1..10),
                prop::collection::vec((0..10usize, 0..12i64), 0..3),
                prop::bool::weighted(0.2),
            ),
            1..8,
        ),
    ) {
        let mut it = case.harness().keeping_feed();
        let (mut model, mut watermark) = (Model::default(), i64::MIN);
        let mut current = i64::MIN;
        let mut table = Table::new();
        for (rows, marks, resume) in &steps {
            let mut places: Vec<usize> =
                marks.iter().map(|(at, _)| (*at).min(rows.len())).collect();
            places.sort_unstable();
            let mut list = Vec::new();
            for (place, (_, rise)) in places.iter().zip(marks) {
                watermark = watermark.max(0) + rise + 1;
                list.push(Mark { row: *place as u32, watermark });
            }
            let marks: Marks = list.iter().copied().collect();
            let mut expected = Vec::new();
            for segment in marks.segments(rows.len()) {
                for row in &rows[segment.rows] {
                    model.row(&case, row, current, &mut expected);
                }
                if let Some(mark) = segment.watermark {
                    model.watermark(&case, mark, &mut expected);
                    current = current.max(mark);
                }
            }
            let given = case.feed(&mut it, rows, marks);
            apply(&mut table, &given).map_err(TestCaseError::fail)?;
            let ordered = case.keep == Keep::Last || !case.by_time;
            if ordered {
                prop_assert_eq!(given, expected);
            } else {
                prop_assert_eq!(sorted(given), sorted(expected));
            }
            if *resume {
                it = it.restarted_boxed(case.operator()).unwrap();
            }
        }
        let make = |_| case.operator();
        let gathers = match case.keep {
            Keep::First => Gathers::No,
            Keep::Last => Gathers::Around(ChangelogMode::ALL, Some(vec![0])),
        };
        let inputs = vec![Side::by(case.schema(), &[0])];
        Ways { make: &make, inputs, output: case.schema(), gathers }.agree(it.fed())?;
    }
}

#[test]
fn the_first_row_waits_for_the_watermark() {
    let case = Case { keep: Keep::First, by_time: true, ttl: 0 };
    let mut it = case.harness();
    let rows = [row(1, 50, 1), row(2, 40, 2), row(1, 45, 3), row(1, 45, 4)];
    assert_eq!(case.feed(&mut it, &rows, Marks::NONE), []);
    it.watermark(0, 44).unwrap();
    assert_eq!(case.taken(&mut it), [(Insert, row(2, 40, 2))]);
    // 43 is late, 44 is not, and 40 was given.
    let rows = [row(3, 43, 5), row(3, 44, 6), row(2, 44, 7)];
    assert_eq!(case.feed(&mut it, &rows, Marks::NONE), []);
    assert_eq!(it.counts().late_rows, 1);
    it.watermark(0, 45).unwrap();
    assert_eq!(case.taken(&mut it), [(Insert, row(3, 44, 6)), (Insert, row(1, 45, 3))]);
}

#[test]
fn keys_expire_after_their_last_write() {
    let first = Case { keep: Keep::First, by_time: false, ttl: 100 };
    let mut it = first.harness();
    assert_eq!(first.feed(&mut it, &[row(1, 0, 1)], Marks::NONE), [(Insert, row(1, 0, 1))]);
    it.advance_clock(60).unwrap();
    assert_eq!(first.feed(&mut it, &[row(1, 0, 2)], Marks::NONE), []);
    it.advance_clock(60).unwrap();
    assert_eq!(first.feed(&mut it, &[row(1, 0, 3)], Marks::NONE), [(Insert, row(1, 0, 3))]);

    let last = Case { keep: Keep::Last, ..first };
    let mut it = OperatorHarness::boxed(last.operator(), 1, None, None).unwrap();
    assert_eq!(last.feed(&mut it, &[row(1, 0, 1)], Marks::NONE), [(Insert, row(1, 0, 1))]);
    it.advance_clock(60).unwrap();
    let repeated = [(UpdateBefore, row(1, 0, 1)), (UpdateAfter, row(1, 0, 1))];
    assert_eq!(last.feed(&mut it, &[row(1, 0, 1)], Marks::NONE), repeated);
    it.advance_clock(100).unwrap();
    assert_eq!(last.feed(&mut it, &[row(1, 0, 1)], Marks::NONE), [(Insert, row(1, 0, 1))]);
}

#[test]
fn state_is_bounded_by_the_ttl() {
    for (keep, by_time) in [(Keep::First, false), (Keep::First, true), (Keep::Last, true)] {
        let case = Case { keep, by_time, ttl: 1000 };
        let mut it = OperatorHarness::boxed(case.operator(), 1, None, None).unwrap();
        let mut after = Vec::new();
        for round in 0..40i64 {
            let rows: Vec<Row> = (0..500).map(|i| row(round * 500 + i, round, i)).collect();
            case.feed(&mut it, &rows, Marks::NONE);
            it.watermark(0, round).unwrap();
            it.advance_clock(500).unwrap();
            after.push(it.counts().state_bytes);
        }
        assert!(after[39] <= after[8] * 5 / 4, "{keep:?} {by_time}: {after:?}");
    }
}

#[test]
fn keys_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        rows_are_those_of_the_definition();
        keys_expire_after_their_last_write();
        the_first_row_waits_for_the_watermark();
    });
}
