use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, TimestampMillisecondArray};
use arrow::record_batch::RecordBatch;
use flott_plan::logical::{RankEnd, RankFunction, RankRange};
use flott_plan::physical::{Keep, OrderColumn, RowOrder, WindowRank};
use flott_types::RowKind::{self, Delete, Insert};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, Field, Schema, Value};
use proptest::prelude::*;

use super::WindowRankOperator;
use crate::check::OutputContract;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::marks::{Mark, Marks};
use crate::operator::Operator;
use crate::operators::testing::{self, Gathers, Side, Ways, cases};
use crate::testing::OperatorHarness;

const SIZE: i64 = 10;

/// A Top-N of (k, v, window_start, window_end) by v within k and the window.
#[derive(Debug, Clone)]
struct Case {
    function: RankFunction,
    start: u64,
    end: u64,
    with_number: bool,
    newest_first: bool,
    retracts: bool,
}

/// A key, a value, and a time, which says the window.
type Row = (Option<i64>, Option<i64>, i64);

impl Case {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("k", DataType::bigint()),
            Field::new("v", DataType::bigint()),
            Field::new("window_start", DataType::timestamp(3)),
            Field::new("window_end", DataType::timestamp(3)),
        ]
    }

    fn output(&self) -> Schema {
        let number = Field::new("n", DataType::bigint());
        let fields = self.fields().into_iter().chain(self.with_number.then_some(number));
        Schema::new(fields.collect())
    }

    fn operator(&self) -> WindowRankOperator {
        let by = OrderColumn { column: 1, descending: true, nulls_first: false };
        let end = RankEnd::Constant(self.end as i64);
        let spec = WindowRank {
            function: self.function,
            partition: vec![2, 3, 0],
            window_start: 2,
            window_end: 3,
            is_ltz: false,
            order: RowOrder { columns: vec![by], newest_first: self.newest_first },
            range: RankRange { start: self.start, end },
            with_number: self.with_number,
            keep: None::<Keep>,
            input_retracts: self.retracts,
        };
        let task = TaskInfo::single("WindowRank", Arc::new(VirtualClock::new(0)));
        let input = Schema::new(self.fields());
        WindowRankOperator::new(&spec, &input, self.output().to_arrow(), &task).unwrap()
    }

    fn harness(&self) -> OperatorHarness {
        let schema = self.output().to_arrow();
        let contract =
            OutputContract { schema, mode: ChangelogMode::INSERT_ONLY, repeatable: true };
        OperatorHarness::new(self.operator(), 1, Some(contract)).unwrap()
    }

    fn batch(&self, rows: &[(RowKind, Row)]) -> ChangelogBatch {
        let ints = |value: &dyn Fn(&Row) -> Option<i64>| -> ArrayRef {
            Arc::new(rows.iter().map(|(_, row)| value(row)).collect::<Int64Array>())
        };
        let times = |more: i64| -> ArrayRef {
            let time = |(_, row): &(RowKind, Row)| Some(row.2.div_euclid(SIZE) * SIZE + more);
            Arc::new(rows.iter().map(time).collect::<TimestampMillisecondArray>())
        };
        let columns = vec![ints(&|row| row.0), ints(&|row| row.1), times(0), times(SIZE)];
        let schema = Schema::new(self.fields()).to_arrow();
        let batch = RecordBatch::try_new(schema, columns).unwrap();
        ChangelogBatch::new(batch, rows.iter().map(|(kind, _)| *kind).collect())
    }

    /// The rows that came out: the end of the window, the key, the value, the rank if given.
    fn taken(&self, it: &mut OperatorHarness) -> Vec<Given> {
        let int = |value: &Value| match value {
            Value::Int(value) => Some(*value),
            Value::Timestamp(nanos) => Some((*nanos / 1_000_000) as i64),
            _ => None,
        };
        testing::rows(&self.output(), &it.take_batches())
            .iter()
            .map(|(_, row)| (int(&row[3]), int(&row[0]), int(&row[1]), row.get(4).and_then(int)))
            .collect()
    }
}

type Given = (Option<i64>, Option<i64>, Option<i64>, Option<i64>);

/// The values of each window and key in their order.
type Model = BTreeMap<(i64, Option<i64>), Vec<Option<i64>>>;

fn close(case: &Case, model: &mut Model, watermark: i64, out: &mut Vec<Given>) {
    let due: Vec<_> = model.keys().filter(|(end, _)| end - 1 <= watermark).copied().collect();
    for (end, key) in due {
        let values = model.remove(&(end, key)).unwrap_or_default();
        let (mut rank, mut last) = (0, None);
        for (number, value) in (1u64..).zip(values) {
            let is_tie = last == Some(value);
            rank = match case.function {
                RankFunction::RowNumber => number,
                RankFunction::Rank if is_tie => rank,
                RankFunction::Rank => number,
                RankFunction::DenseRank => rank + u64::from(!is_tie),
            };
            last = Some(value);
            if (case.start..=case.end).contains(&rank) {
                out.push((Some(end), key, value, case.with_number.then_some(rank as i64)));
            }
        }
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let functions = vec![RankFunction::RowNumber, RankFunction::Rank, RankFunction::DenseRank];
    (
        prop::sample::select(functions),
        (1..3u64, 0..3u64),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(|(function, (start, more), (with_number, newest_first, retracts))| Case {
            function,
            start,
            end: start + more,
            with_number,
            newest_first,
            retracts,
        })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn windows_give_their_first_rows_when_they_end(
        case in any_case(),
        steps in prop::collection::vec(
            (
                prop::collection::vec(
                    (
                        prop_oneof![1 => Just(None), 4 => (0..2i64).prop_map(Some)],
                        prop_oneof![1 => Just(None), 6 => (0..4i64).prop_map(Some)],
                        0..50i64,
                        prop::bool::weighted(0.2),
                    ),
                    1..12,
                ),
                prop::collection::vec((0..12usize, 0..12i64), 0..3),
                prop::bool::weighted(0.2),
            ),
            1..8,
        ),
    ) {
        let mut it = case.harness().keeping_feed();
        let mut model = Model::new();
        let (mut watermark, mut current) = (0, i64::MIN);
        for (rows, marks, resume) in &steps {
            let rows: Vec<(RowKind, Row)> = rows
                .iter()
                .map(|(k, v, time, back)| {
                    let kind = if *back && case.retracts { Delete } else { Insert };
                    (kind, (*k, *v, *time))
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
                for (kind, (key, value, time)) in &rows[segment.rows] {
                    let end = time.div_euclid(SIZE) * SIZE + SIZE;
                    if end - 1 <= current {
                        continue;
                    }
                    let values = model.entry((end, *key)).or_default();
                    if *kind == Delete {
                        if let Some(at) = values.iter().position(|other| other == value) {
                            values.remove(at);
                        }
                        continue;
                    }
                    let before = |other: &Option<i64>| {
                        other > value || (other == value && !case.newest_first)
                    };
                    let at = values.iter().take_while(|other| before(other)).count();
                    values.insert(at, *value);
                }
                if let Some(mark) = segment.watermark {
                    close(&case, &mut model, mark, &mut expected);
                    current = current.max(mark);
                }
            }
            it.marked(0, case.batch(&rows), marks).unwrap();
            let mut given = case.taken(&mut it);
            // Keys of one window come in the order of their first rows.
            given.sort_by_key(|row| (row.0, row.1));
            prop_assert_eq!(given, expected);
            if *resume {
                it = it.restarted(case.operator()).unwrap();
            }
        }
        let mut expected = Vec::new();
        close(&case, &mut model, i64::MAX, &mut expected);
        it.end(0).unwrap();
        let mut given = case.taken(&mut it);
        given.sort_by_key(|row| (row.0, row.1));
        prop_assert_eq!(given, expected);
        let make = |_| -> Box<dyn Operator> { Box::new(case.operator()) };
        let inputs = vec![Side::by(Schema::new(case.fields()), &[2, 3, 0])];
        let output = case.output();
        Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(it.fed())?;
    }
}

#[test]
fn windows_that_end_at_once_leave_in_the_order_of_their_first_rows() {
    let case = Case {
        function: RankFunction::RowNumber,
        start: 1,
        end: 1,
        with_number: false,
        newest_first: false,
        retracts: false,
    };
    let mut it = case.harness();
    for window in 0..3i64 {
        let keys = if window == 1 { [5, 3, 9] } else { [9, 5, 3] };
        let rows = keys.map(|key| (Insert, (Some(key), Some(1), window * SIZE)));
        it.batch(0, case.batch(&rows)).unwrap();
        it.watermark(0, window * SIZE + SIZE).unwrap();
        let given: Vec<_> = case.taken(&mut it).iter().map(|row| row.1).collect();
        assert_eq!(given, keys.map(Some));
    }
}

#[test]
fn state_is_freed_when_windows_end() {
    let case = Case {
        function: RankFunction::RowNumber,
        start: 1,
        end: 3,
        with_number: true,
        newest_first: false,
        retracts: true,
    };
    let mut it = case.harness();
    let mut after = Vec::new();
    for window in 0..30i64 {
        let rows: Vec<(RowKind, Row)> =
            (0..600).map(|i| (Insert, (Some(i % 40), Some(i), window * SIZE))).collect();
        it.batch(0, case.batch(&rows)).unwrap();
        it.watermark(0, window * SIZE).unwrap();
        it.take();
        after.push(it.counts().state_bytes);
    }
    assert!(after[29] <= after[3] * 5 / 4, "{after:?}");
}

#[test]
fn windows_on_disk_are_as_good() {
    crate::testing::on_disk(2, windows_give_their_first_rows_when_they_end);
}
