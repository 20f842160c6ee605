//! Window aggregation against counting by hand.

use flott_plan::logical::WindowKind;
use flott_plan::physical::{WindowAggregate, WindowOf, WindowOutput, WindowSource};
use flott_types::{ChangelogMode, DataType, RowKind, Schema, Value};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::WindowAggregateOperator;
use crate::check::OutputContract;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::element::StreamElement;
use crate::marks::Mark;
use crate::operator::Operator;
use crate::operators::testing::{Gathers, Row, Side, Ways, batch, call, cases, rows, schema};
use crate::testing::OperatorHarness;

/// Key, value, time.
fn input() -> Schema {
    schema(&[DataType::string(), DataType::int(), DataType::timestamp(3)])
}

fn spec(kind: WindowKind, retracts: bool) -> WindowAggregate {
    let input = input();
    let mut distinct = call("COUNT", &[1], &input);
    distinct.distinct = true;
    WindowAggregate {
        window: WindowSource::Assign(WindowOf {
            kind,
            time_column: 2,
            is_rowtime: true,
            is_ltz: false,
            partition: match kind {
                WindowKind::Session { .. } => vec![0],
                _ => Vec::new(),
            },
        }),
        keys: vec![0],
        calls: vec![call("COUNT", &[], &input), call("SUM", &[1], &input), distinct],
        outputs: vec![
            WindowOutput::Start,
            WindowOutput::Key(0),
            WindowOutput::End,
            WindowOutput::Time,
        ],
        input_retracts: retracts,
        group_window: None,
    }
}

fn output(spec: &WindowAggregate) -> Schema {
    let time = DataType::timestamp(3);
    let bounds = [time.clone(), DataType::string(), time.clone(), time];
    let results = spec.calls.iter().map(|call| call.data_type.clone());
    schema(&bounds.into_iter().chain(results).collect::<Vec<_>>())
}

fn task(zone: &str) -> TaskInfo {
    let clock = std::sync::Arc::new(VirtualClock::new(0));
    TaskInfo { zone: TimeZone::get(zone).unwrap(), ..TaskInfo::single("window", clock) }
}

fn operator(spec: &WindowAggregate, zone: &str) -> WindowAggregateOperator {
    let output = output(spec).to_arrow();
    WindowAggregateOperator::new(spec, &input(), output, &task(zone)).unwrap()
}

fn row(kind: RowKind, key: &str, value: Option<i64>, time: i64) -> Row {
    let value = value.map_or(Value::Null, Value::Int);
    (kind, vec![Value::string(key), value, Value::Timestamp(i128::from(time) * 1_000_000)])
}

/// A row of a window that fired: start, key, end, and results.
type Result = (i64, String, i64, Vec<Value>);

fn results(output: &Schema, elements: Vec<StreamElement>) -> Vec<Result> {
    let batches = elements.into_iter().filter_map(|element| match element {
        StreamElement::Batch(rows) => Some(rows.batch),
        _ => None,
    });
    let millis = |value: &Value| match value {
        Value::Timestamp(nanos) => (*nanos / 1_000_000) as i64,
        other => panic!("{other:?}"),
    };
    rows(output, &batches.collect::<Vec<_>>())
        .into_iter()
        .map(|(kind, row)| {
            assert_eq!(kind, RowKind::Insert);
            assert_eq!(millis(&row[3]), millis(&row[2]) - 1);
            let key = row[1].as_str().unwrap().to_string();
            (millis(&row[0]), key, millis(&row[2]), row[4..].to_vec())
        })
        .collect()
}

/// A window of a key with its rows: value and +1 or −1.
#[derive(Debug, Clone)]
struct Window {
    key: String,
    start: i64,
    end: i64,
    rows: Vec<(Option<i64>, i64)>,
}

impl Window {
    fn result(&self) -> Option<Result> {
        let count: i64 = self.rows.iter().map(|(_, sign)| sign).sum();
        let numbers = || self.rows.iter().filter_map(|(value, sign)| Some(((*value)?, sign)));
        let sum = numbers().map(|(value, sign)| value * sign).sum();
        let known: i64 = numbers().map(|(_, sign)| sign).sum();
        let mut values: Vec<i64> = numbers().map(|(value, _)| value).collect();
        values.sort_unstable();
        values.dedup();
        let of = |value| numbers().filter(|(v, _)| *v == value).map(|(_, sign)| sign).sum::<i64>();
        let distinct = values.iter().filter(|value| of(**value) > 0).count();
        let sum = if known == 0 { Value::Null } else { Value::Int(sum) };
        let results = vec![Value::Int(count), sum, Value::Int(distinct as i64)];
        (count != 0).then(|| (self.start, self.key.clone(), self.end, results))
    }
}

/// The windows of a time, by their definition.
fn windows_of(kind: WindowKind, time: i64) -> Vec<(i64, i64)> {
    let all = |size: i64, step: i64, offset: i64| {
        (-60..60).map(move |n| n * step + offset).map(move |start| (start, start + size))
    };
    let holds = move |(start, end): &(i64, i64)| (*start..*end).contains(&time);
    match kind {
        WindowKind::Tumble { size, offset } => all(size, size, offset).filter(holds).collect(),
        WindowKind::Hop { slide, size, offset } => all(size, slide, offset).filter(holds).collect(),
        WindowKind::Cumulate { step, size, offset } => all(size, size, offset)
            .flat_map(|(start, end)| {
                (1..=(end - start) / step).map(move |n| (start, start + n * step))
            })
            .filter(holds)
            .collect(),
        WindowKind::Session { .. } => Vec::new(),
    }
}

#[derive(Default)]
struct Model {
    open: Vec<Window>,
    late: u64,
}

impl Model {
    fn add(
        &mut self,
        kind: WindowKind,
        key: &str,
        value: Option<i64>,
        sign: i64,
        time: i64,
        mark: i64,
    ) {
        let new = |start, end| Window { key: key.into(), start, end, rows: Vec::new() };
        if let WindowKind::Session { gap } = kind {
            let mut joined = new(time, time + gap);
            let meets = |window: &Window| {
                window.key == key && window.start <= time + gap && time <= window.end
            };
            let met: Vec<Window> =
                self.open.iter().filter(|window| meets(window)).cloned().collect();
            if met.is_empty() && joined.end - 1 <= mark {
                self.late += 1;
                return;
            }
            self.open.retain(|window| !meets(window));
            for window in met {
                joined.start = joined.start.min(window.start);
                joined.end = joined.end.max(window.end);
                joined.rows.extend(window.rows);
            }
            joined.rows.push((value, sign));
            self.open.push(joined);
            return;
        }
        let mut late = true;
        for (start, end) in windows_of(kind, time) {
            if end - 1 <= mark {
                continue;
            }
            late = false;
            let is_it =
                |window: &Window| window.key == key && (window.start, window.end) == (start, end);
            let at = self.open.iter().position(is_it).unwrap_or_else(|| {
                self.open.push(new(start, end));
                self.open.len() - 1
            });
            self.open[at].rows.push((value, sign));
        }
        self.late += u64::from(late);
    }

    fn fire(&mut self, mark: i64, out: &mut Vec<Result>) {
        let (mut fired, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition::<Vec<_>, _>(|window| window.end - 1 <= mark);
        self.open = open;
        fired.sort_by_key(|window| window.end);
        out.extend(fired.iter().filter_map(Window::result));
    }
}

/// Results that are due at once come in any order.
fn settled(mut results: Vec<Result>) -> Vec<Result> {
    results.sort_by_key(|(start, key, end, _)| (*end, *start, key.clone()));
    results
}

#[derive(Debug, Clone)]
enum Step {
    Row {
        key: u8,
        value: u8,
        time: i64,
        back: bool,
    },
    /// A watermark between rows of a batch.
    Rise(i64),
    /// The end of a batch.
    Cut,
    Restore,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let row = (0..3u8, 0..4u8, -30..90i64, any::<bool>())
        .prop_map(|(key, value, time, back)| Step::Row { key, value, time, back });
    let step = prop_oneof![
        12 => row,
        3 => (1..12i64).prop_map(Step::Rise),
        2 => Just(Step::Cut),
        1 => Just(Step::Restore),
    ];
    prop::collection::vec(step, 1..70)
}

fn kinds() -> impl Strategy<Value = WindowKind> {
    prop_oneof![
        Just(WindowKind::Tumble { size: 10, offset: 0 }),
        Just(WindowKind::Tumble { size: 7, offset: -3 }),
        Just(WindowKind::Hop { slide: 5, size: 15, offset: 0 }),
        Just(WindowKind::Hop { slide: 4, size: 10, offset: 1 }),
        Just(WindowKind::Cumulate { step: 5, size: 20, offset: 2 }),
        Just(WindowKind::Session { gap: 6 }),
    ]
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn windows_hold_what_counting_by_hand_gives(
        steps in steps(),
        kind in kinds(),
        retracts in any::<bool>(),
    ) {
        let spec = spec(kind, retracts);
        let (input, output) = (input(), output(&spec));
        let contract = OutputContract {
            schema: output.to_arrow(),
            mode: ChangelogMode::INSERT_ONLY,
            repeatable: true,
        };
        let mut harness =
            OperatorHarness::new(operator(&spec, "UTC"), 1, Some(contract)).unwrap().keeping_feed();
        let mut model = Model::default();
        let (mut watermark, mut late) = (-40, 0);
        harness.watermark(0, watermark).unwrap();
        harness.take();
        let mut live: Vec<(String, Option<i64>, i64)> = Vec::new();
        let (mut pending, mut marks, mut expected): (Vec<Row>, Vec<Mark>, Vec<Result>) = Default::default();
        for step in steps.into_iter().chain([Step::Cut, Step::Rise(1000), Step::Cut]) {
            match step {
                Step::Row { key, value, time, back } => {
                    let new = (format!("k{key}"), (value > 0).then_some(i64::from(value)), time);
                    let takes_back = retracts && back && !live.is_empty();
                    let (key, value, time) = if takes_back {
                        live.swap_remove(usize::from(key) % live.len())
                    } else {
                        live.push(new.clone());
                        new
                    };
                    let (kind_of_row, sign) =
                        if takes_back { (RowKind::Delete, -1) } else { (RowKind::Insert, 1) };
                    pending.push(row(kind_of_row, &key, value, time));
                    model.add(kind, &key, value, sign, time, watermark);
                }
                Step::Rise(by) => {
                    watermark += by;
                    marks.push(Mark { row: pending.len() as u32, watermark });
                    model.fire(watermark, &mut expected);
                }
                Step::Cut | Step::Restore => {
                    if pending.is_empty() {
                        if let Some(mark) = marks.last() {
                            harness.watermark(0, mark.watermark).unwrap();
                        }
                    } else {
                        let marks = marks.iter().copied().collect();
                        harness.marked(0, batch(&input, &pending), marks).unwrap();
                    }
                    pending.clear();
                    marks.clear();
                    let given = results(&output, harness.take());
                    prop_assert!(given.is_sorted_by_key(|(_, _, end, _)| *end));
                    prop_assert_eq!(settled(given), settled(std::mem::take(&mut expected)));
                    if matches!(step, Step::Restore) {
                        late += harness.counts().late_rows;
                        harness = harness.restarted(operator(&spec, "UTC")).unwrap();
                    }
                }
            }
        }
        prop_assert!(model.open.is_empty());
        prop_assert_eq!(late + harness.counts().late_rows, model.late);
        let make = |_| -> Box<dyn Operator> { Box::new(operator(&spec, "UTC")) };
        let inputs = vec![Side::by(input, &[0])];
        Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(harness.fed())?;
    }
}

fn texts(results: Vec<Result>) -> Vec<String> {
    let text = |(start, key, end, values): Result| {
        format!("{key} {start}..{end} {}", values[0].as_int().unwrap())
    };
    results.into_iter().map(text).collect()
}

#[test]
fn windows_of_processing_time_fire_by_the_clock() {
    let mut spec = spec(WindowKind::Tumble { size: 1000, offset: 0 }, false);
    if let WindowSource::Assign(window) = &mut spec.window {
        window.is_rowtime = false;
    }
    let (input, output) = (input(), output(&spec));
    let mut harness = OperatorHarness::new(operator(&spec, "UTC"), 1, None).unwrap();
    let feed = |harness: &mut OperatorHarness| {
        harness.batch(0, batch(&input, &[row(RowKind::Insert, "a", None, 0)])).unwrap();
    };
    feed(&mut harness);
    harness.advance_clock(600).unwrap();
    feed(&mut harness);
    assert!(results(&output, harness.take()).is_empty());
    harness.advance_clock(399).unwrap();
    feed(&mut harness);
    assert!(results(&output, harness.take()).is_empty(), "the window's last millisecond is open");
    harness.advance_clock(1).unwrap();
    assert_eq!(texts(results(&output, harness.take())), ["a 0..1000 3"]);
    feed(&mut harness);
    let snapshot = harness.snapshot().unwrap();
    let mut resumed =
        OperatorHarness::resumed(operator(&spec, "UTC"), 1, None, Some(&snapshot)).unwrap();
    resumed.advance_clock(5000).unwrap();
    assert_eq!(texts(results(&output, resumed.take())), ["a 1000..2000 1"]);
    harness.end(0).unwrap();
    assert!(results(&output, harness.take()).is_empty());
}

#[test]
fn windows_that_the_input_names_are_kept_apart() {
    let mut spec = spec(WindowKind::Tumble { size: 10, offset: 0 }, false);
    let time = DataType::timestamp(3);
    let input = schema(&[DataType::string(), DataType::int(), time.clone(), time]);
    spec.window = WindowSource::Attached { start: 2, end: 3, is_rowtime: true, is_ltz: false };
    let output = output(&spec);
    let operator =
        WindowAggregateOperator::new(&spec, &input, output.to_arrow(), &task("UTC")).unwrap();
    let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
    let row = |key: &str, start: i64, end: i64| {
        let mut row = row(RowKind::Insert, key, Some(1), start);
        row.1.push(Value::Timestamp(i128::from(end) * 1_000_000));
        row
    };
    let all = [row("a", 0, 10), row("a", 0, 20), row("b", 10, 20), row("a", 0, 10)];
    harness.batch(0, batch(&input, &all)).unwrap();
    harness.watermark(0, 9).unwrap();
    assert_eq!(texts(results(&output, harness.take())), ["a 0..10 2"]);
    harness.batch(0, batch(&input, &[row("a", 0, 10)])).unwrap();
    assert_eq!(harness.counts().late_rows, 1);
    harness.end(0).unwrap();
    assert_eq!(texts(results(&output, harness.take())).len(), 2);
}

#[test]
fn days_of_a_zone_are_as_long_as_they_are() {
    let mut spec = spec(WindowKind::Tumble { size: 86_400_000, offset: 0 }, false);
    if let WindowSource::Assign(window) = &mut spec.window {
        window.is_ltz = true;
    }
    spec.outputs[3] = WindowOutput::End;
    let time = DataType::timestamp_ltz(3);
    let input = schema(&[DataType::string(), DataType::int(), time]);
    let output = output(&spec);
    let zone = "America/New_York";
    let operator =
        WindowAggregateOperator::new(&spec, &input, output.to_arrow(), &task(zone)).unwrap();
    let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
    let instant = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    // Clocks go forward on 2025-03-09: that day ends 23 hours after it began.
    let feed: Vec<Row> = ["2025-03-09T05:00:00Z", "2025-03-10T03:59:59Z", "2025-03-10T04:00:00Z"]
        .iter()
        .map(|text| row(RowKind::Insert, "a", None, instant(text)))
        .collect();
    harness.batch(0, batch(&input, &feed)).unwrap();
    harness.watermark(0, instant("2025-03-10T03:59:59.998Z")).unwrap();
    assert!(harness.take_batches().is_empty());
    harness.watermark(0, instant("2025-03-10T03:59:59.999Z")).unwrap();
    let given = rows(&output, &harness.take_batches());
    let shown = |text: &str| Value::Timestamp(i128::from(instant(text)) * 1_000_000);
    assert_eq!(given.len(), 1);
    let (start, end) = (shown("2025-03-09T00:00:00Z"), shown("2025-03-10T00:00:00Z"));
    assert_eq!(given[0].1[..5], [start, Value::string("a"), end.clone(), end, Value::Int(2)]);
}

#[test]
fn windows_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        windows_hold_what_counting_by_hand_gives();
        windows_of_processing_time_fire_by_the_clock();
        windows_that_the_input_names_are_kept_apart();
        days_of_a_zone_are_as_long_as_they_are();
    });
}
