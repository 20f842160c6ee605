//! Emit strategies against windows that keep all their rows.

use flott_plan::logical::WindowKind;
use flott_plan::physical::{
    EmitStrategy, GroupWindow, WindowAggregate, WindowOf, WindowOutput, WindowSource,
};
use flott_types::{ChangelogMode, DataType, RowKind, Schema, Value};
use proptest::prelude::*;

use super::GroupWindowOperator;
use crate::check::OutputContract;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::operator::Operator;
use crate::operators::testing::{Gathers, Row, Side, Ways, batch, call, cases, rows, schema};
use crate::testing::OperatorHarness;

/// Key, value, time.
fn input() -> Schema {
    schema(&[DataType::string(), DataType::int(), DataType::timestamp(3)])
}

fn spec(kind: WindowKind, emit: EmitStrategy, retracts: bool) -> WindowAggregate {
    let input = input();
    let mut distinct = call("COUNT", &[1], &input);
    distinct.distinct = true;
    WindowAggregate {
        window: WindowSource::Assign(WindowOf {
            kind,
            time_column: 2,
            is_rowtime: true,
            is_ltz: false,
            partition: Vec::new(),
        }),
        keys: vec![0],
        calls: vec![call("SUM", &[1], &input), distinct],
        outputs: vec![WindowOutput::Key(0), WindowOutput::End],
        input_retracts: retracts,
        group_window: Some(GroupWindow { emit: Some(emit) }),
    }
}

fn output(spec: &WindowAggregate) -> Schema {
    let bounds = [DataType::string(), DataType::timestamp(3)];
    let results = spec.calls.iter().map(|call| call.data_type.clone());
    schema(&bounds.into_iter().chain(results).collect::<Vec<_>>())
}

fn operator(spec: &WindowAggregate, emit: EmitStrategy) -> GroupWindowOperator {
    let clock = std::sync::Arc::new(VirtualClock::new(0));
    let task = TaskInfo::single("window", clock);
    GroupWindowOperator::new(spec, emit, &input(), output(spec).to_arrow(), &task).unwrap()
}

fn row(kind: RowKind, key: &str, value: Option<i64>, time: i64) -> Row {
    let value = value.map_or(Value::Null, Value::Int);
    (kind, vec![Value::string(key), value, Value::Timestamp(i128::from(time) * 1_000_000)])
}

/// A change: its kind, key, end of the window and results.
type Change = (RowKind, String, i64, Vec<Value>);

fn changes(output: &Schema, harness: &mut OperatorHarness) -> Vec<Change> {
    let change = |(kind, row): Row| {
        let Value::Timestamp(end) = row[1] else { panic!("{:?}", row[1]) };
        (kind, row[0].as_str().unwrap().to_string(), (end / 1_000_000) as i64, row[2..].to_vec())
    };
    rows(output, &harness.take_batches()).into_iter().map(change).collect()
}

#[derive(Debug, Clone)]
struct Window {
    key: String,
    end: i64,
    rows: Vec<(Option<i64>, i64)>,
    ended: bool,
    early: bool,
    given: Option<Vec<Value>>,
    timer: Option<i64>,
}

impl Window {
    fn result(&self) -> Option<Vec<Value>> {
        let count: i64 = self.rows.iter().map(|(_, sign)| sign).sum();
        let numbers = || self.rows.iter().filter_map(|(value, sign)| Some(((*value)?, *sign)));
        let known: i64 = numbers().map(|(_, sign)| sign).sum();
        let sum: i64 = numbers().map(|(value, sign)| value * sign).sum();
        let mut values: Vec<i64> = numbers().map(|(value, _)| value).collect();
        values.sort_unstable();
        values.dedup();
        let of = |value| numbers().filter(|(v, _)| *v == value).map(|(_, sign)| sign).sum::<i64>();
        let distinct = values.iter().filter(|value| of(**value) > 0).count() as i64;
        let sum = if known == 0 { Value::Null } else { Value::Int(sum) };
        (count != 0).then(|| vec![sum, Value::Int(distinct)])
    }

    fn give(&mut self, out: &mut Vec<Change>) {
        let result = self.result();
        let mut push = |kind, values: &Vec<Value>| {
            out.push((kind, self.key.clone(), self.end, values.clone()));
        };
        match (&self.given, &result) {
            (None, Some(new)) => push(RowKind::Insert, new),
            (Some(old), Some(new)) if old != new => {
                push(RowKind::UpdateBefore, old);
                push(RowKind::UpdateAfter, new);
            }
            (Some(old), None) => push(RowKind::Delete, old),
            _ => {}
        }
        self.given = result;
    }
}

struct Model {
    size: i64,
    slide: i64,
    emit: EmitStrategy,
    windows: Vec<Window>,
    late: u64,
}

impl Model {
    fn lateness(&self) -> i64 {
        self.emit.allow_lateness as i64
    }

    /// Takes in a row; the changes that it gives come in order.
    fn add(
        &mut self,
        row: (&str, Option<i64>, i64),
        time: i64,
        watermark: i64,
        now: i64,
    ) -> Vec<Change> {
        let (key, value, sign) = row;
        let first = time.div_euclid(self.slide) * self.slide;
        let starts =
            (0..).map(|n| first - n * self.slide).take_while(|start| start + self.size > time);
        let ends: Vec<i64> = starts.map(|start| start + self.size).collect();
        let open: Vec<i64> =
            ends.iter().copied().filter(|end| end - 1 + self.lateness() > watermark).collect();
        self.late += u64::from(open.is_empty() && !ends.is_empty());
        let mut out = Vec::new();
        for end in open {
            let is_it = |window: &Window| window.key == key && window.end == end;
            let at = self.windows.iter().position(is_it).unwrap_or_else(|| {
                let given = None;
                let key = key.to_string();
                let (ended, early, timer) = (false, false, None);
                self.windows.push(Window {
                    key,
                    end,
                    rows: Vec::new(),
                    ended,
                    early,
                    given,
                    timer,
                });
                self.windows.len() - 1
            });
            let emit = self.emit;
            let window = &mut self.windows[at];
            window.rows.push((value, sign));
            let delay = match (window.ended, end - 1 <= watermark) {
                (true, _) => emit.late.filter(|late| *late > 0).or(Some(0)),
                (false, true) => Some(0),
                (false, false) => {
                    window.early = true;
                    emit.early
                }
            };
            match delay {
                Some(0) => window.give(&mut out),
                Some(delay) => {
                    window.timer.get_or_insert(now + delay as i64);
                }
                None => {}
            }
        }
        out
    }

    fn rise(&mut self, watermark: i64) -> Vec<Change> {
        let mut out = Vec::new();
        self.windows.sort_by_key(|window| window.end);
        let moves_on =
            self.emit.late.is_some_and(|late| late > 0) && self.emit.late != self.emit.early;
        for window in &mut self.windows {
            if window.early && !window.ended && window.end - 1 <= watermark {
                window.ended = true;
                window.give(&mut out);
                if moves_on {
                    window.timer = None;
                }
            }
        }
        let lateness = self.lateness();
        self.windows.retain(|window| window.end - 1 + lateness > watermark);
        out
    }

    fn tick(&mut self, now: i64) -> Vec<Change> {
        let mut out = Vec::new();
        let due = |window: &Window| window.timer.filter(|timer| *timer <= now);
        while let Some(time) = self.windows.iter().filter_map(due).min() {
            for window in self.windows.iter_mut().filter(|window| window.timer == Some(time)) {
                window.give(&mut out);
                let late = self.emit.late.filter(|late| *late > 0);
                let delay = if window.ended && late.is_some() { late } else { self.emit.early };
                window.timer = delay.map(|delay| time + delay as i64);
            }
        }
        out
    }
}

#[derive(Debug, Clone)]
enum Step {
    Row { key: u8, value: u8, time: i64, back: bool },
    Rise(i64),
    Tick(i64),
    Restore,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let row = (0..3u8, 0..4u8, 0..90i64, any::<bool>())
        .prop_map(|(key, value, time, back)| Step::Row { key, value, time, back });
    let step = prop_oneof![
        14 => row,
        4 => (1..12i64).prop_map(Step::Rise),
        3 => (1..8i64).prop_map(Step::Tick),
        1 => Just(Step::Restore),
    ];
    prop::collection::vec(step, 1..70)
}

fn strategies() -> impl Strategy<Value = EmitStrategy> {
    let delay = || prop_oneof![Just(None), Just(Some(0)), Just(Some(3)), Just(Some(5))];
    (delay(), delay(), 5..25u64).prop_map(|(early, late, lateness)| EmitStrategy {
        early,
        late,
        allow_lateness: if late.is_some() { lateness } else { 0 },
    })
}

/// The changes of each window in order; those of different windows come in any.
fn by_window(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by_key(|(_, key, end, _)| (*end, key.clone()));
    changes
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn windows_give_and_update_what_their_rows_say(
        steps in steps(),
        emit in strategies(),
        (slide, size) in prop_oneof![Just((10, 10)), Just((5, 15)), Just((4, 10)), Just((8, 4))],
        retracts in any::<bool>(),
        together in any::<bool>(),
    ) {
        let kind = match slide == size {
            true => WindowKind::Tumble { size, offset: 0 },
            false => WindowKind::Hop { slide, size, offset: 0 },
        };
        let spec = spec(kind, emit, retracts);
        let (input, output) = (input(), output(&spec));
        let contract = OutputContract {
            schema: output.to_arrow(),
            mode: ChangelogMode::ALL,
            repeatable: true,
        };
        let harness = OperatorHarness::new(operator(&spec, emit), 1, Some(contract)).unwrap();
        let mut harness = harness.keeping_feed();
        let mut model = Model { size, slide, emit, windows: Vec::new(), late: 0 };
        let (mut watermark, mut now, mut late) = (-10, 0, 0);
        harness.watermark(0, watermark).unwrap();
        let mut live: Vec<(String, Option<i64>, i64)> = Vec::new();
        let (mut pending, mut expected): (Vec<Row>, Vec<Change>) = Default::default();
        for step in steps.into_iter().chain([Step::Tick(9), Step::Rise(1000)]) {
            if !matches!(step, Step::Row { .. }) && !pending.is_empty() {
                harness.batch(0, batch(&input, &pending)).unwrap();
                pending.clear();
            }
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
                    let (kind, sign) =
                        if takes_back { (RowKind::Delete, -1) } else { (RowKind::Insert, 1) };
                    pending.push(row(kind, &key, value, time));
                    expected.extend(model.add((&key, value, sign), time, watermark, now));
                    if !together {
                        harness.batch(0, batch(&input, &pending)).unwrap();
                        pending.clear();
                        // One row's changes come in order, those of one window after another.
                        prop_assert_eq!(
                            changes(&output, &mut harness),
                            std::mem::take(&mut expected)
                        );
                    }
                    continue;
                }
                Step::Rise(by) => {
                    watermark += by;
                    harness.watermark(0, watermark).unwrap();
                    expected.extend(model.rise(watermark));
                }
                Step::Tick(by) => {
                    now += by;
                    harness.advance_clock(by).unwrap();
                    expected.extend(model.tick(now));
                }
                Step::Restore => {
                    let before = changes(&output, &mut harness);
                    prop_assert_eq!(by_window(before), by_window(std::mem::take(&mut expected)));
                    late += harness.counts().late_rows;
                    harness = harness.restarted(operator(&spec, emit)).unwrap();
                    harness.watermark(0, watermark).unwrap();
                    harness.advance_clock(now).unwrap();
                }
            }
            let given = changes(&output, &mut harness);
            prop_assert_eq!(by_window(given), by_window(std::mem::take(&mut expected)));
        }
        prop_assert!(model.windows.is_empty());
        prop_assert_eq!(late + harness.counts().late_rows, model.late);
        let make = |_| -> Box<dyn Operator> { Box::new(operator(&spec, emit)) };
        let inputs = vec![Side::by(input, &[0])];
        Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(harness.fed())?;
    }
}

#[test]
fn state_stops_growing_once_windows_are_forgotten() {
    let emit = EmitStrategy { early: Some(5), late: Some(2), allow_lateness: 50 };
    let spec = spec(WindowKind::Hop { slide: 10, size: 20, offset: 0 }, emit, false);
    let mut harness = OperatorHarness::new(operator(&spec, emit), 1, None).unwrap();
    let mut feed = |from: i64| {
        for time in from..from + 500 {
            let key = format!("k{}", time % 7);
            let row = row(RowKind::Insert, &key, Some(time % 3), time);
            harness.batch(0, batch(&input(), &[row])).unwrap();
            harness.watermark(0, time - 3).unwrap();
            harness.advance_clock(1).unwrap();
        }
        harness.take();
        harness.counts().state_bytes
    };
    let first = feed(0);
    let last = (1..10).map(|n| feed(n * 500)).max().unwrap_or(0);
    assert!(last <= first + first / 4, "{first} bytes, then {last}");
}

#[test]
fn windows_of_processing_time_give_results_before_their_end() {
    let emit = EmitStrategy { early: Some(300), late: None, allow_lateness: 0 };
    let mut spec = spec(WindowKind::Tumble { size: 1000, offset: 0 }, emit, false);
    if let WindowSource::Assign(window) = &mut spec.window {
        window.is_rowtime = false;
    }
    let output = output(&spec);
    let mut harness = OperatorHarness::new(operator(&spec, emit), 1, None).unwrap();
    let feed = |harness: &mut OperatorHarness| {
        let row = row(RowKind::Insert, "a", Some(1), 0);
        harness.batch(0, batch(&input(), &[row])).unwrap();
    };
    let sums = |harness: &mut OperatorHarness| -> Vec<(RowKind, i64)> {
        let of = |(kind, _, _, values): Change| (kind, values[0].as_int().unwrap());
        changes(&output, harness).into_iter().map(of).collect()
    };
    feed(&mut harness);
    harness.advance_clock(299).unwrap();
    assert_eq!(sums(&mut harness), []);
    harness.advance_clock(1).unwrap();
    assert_eq!(sums(&mut harness), [(RowKind::Insert, 1)]);
    harness.advance_clock(300).unwrap();
    assert_eq!(sums(&mut harness), [], "nothing changed");
    feed(&mut harness);
    harness.advance_clock(400).unwrap();
    assert_eq!(sums(&mut harness), [(RowKind::UpdateBefore, 1), (RowKind::UpdateAfter, 2)]);
    harness.advance_clock(5000).unwrap();
    assert_eq!(sums(&mut harness), []);
}
