use flott_types::{ChangelogBatch, ChangelogMode, RowKind};
use proptest::prelude::*;

use super::*;
use crate::check::OutputContract;
use crate::element::StreamElement;
use crate::marks::{Mark, Marks};
use crate::operators::over::TimedOverOperator;
use crate::operators::testing::{Row, batch, rows};
use crate::testing::OperatorHarness;

/// What is fed: rows, and watermarks between them.
#[derive(Debug, Clone)]
enum Step {
    Row(In),
    Watermark(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    RowsUnbounded,
    RangeUnbounded,
    Rows(i64),
    Range(i64),
}

fn spec(shape: Shape, mode: OverMode) -> OverWindow {
    let unbounded = FrameBound::UnboundedPreceding;
    let (unit, start) = match shape {
        Shape::RowsUnbounded => (FrameUnit::Rows, unbounded),
        Shape::RangeUnbounded => (FrameUnit::Range, unbounded),
        Shape::Rows(rows) => (FrameUnit::Rows, FrameBound::Preceding(Value::Int(rows))),
        Shape::Range(millis) => (FrameUnit::Range, FrameBound::Preceding(Value::Millis(millis))),
    };
    let mut functions = aggregates();
    match shape {
        Shape::RowsUnbounded => functions.push(WindowFunction::RowNumber),
        Shape::RangeUnbounded => functions.extend([
            WindowFunction::Rank,
            WindowFunction::DenseRank,
            offset(false, 1),
            offset(false, 3),
        ]),
        _ => {}
    }
    window(mode, (TIME, false, true), frame(unit, start, FrameBound::CurrentRow), functions)
}

fn operator(spec: &OverWindow) -> TimedOverOperator {
    TimedOverOperator::new(spec, &input(), output(spec).to_arrow()).unwrap()
}

fn harness(spec: &OverWindow) -> OperatorHarness {
    let schema = output(spec).to_arrow();
    let mode = ChangelogMode::INSERT_ONLY;
    let contract = OutputContract { schema, mode, repeatable: true };
    OperatorHarness::new(operator(spec), 1, Some(contract)).unwrap()
}

/// A window as rows come one by one.
#[derive(Default)]
struct Model {
    watermark: Option<i64>,
    waiting: Vec<In>,
    /// Rows given out, without those of partitions that were forgotten.
    given: Vec<In>,
    /// Of each partition, when it is forgotten.
    ends: std::collections::BTreeMap<Option<u8>, i64>,
    late: u64,
    out: Vec<Vec<Value>>,
}

impl Model {
    fn step(&mut self, step: &Step, shape: Shape) {
        match step {
            Step::Row(row) => self.row(row, shape),
            Step::Watermark(watermark) => self.advance(*watermark, shape),
        }
    }

    fn row(&mut self, row: &In, shape: Shape) {
        let last = self.given.iter().filter(|given| given.key == row.key).map(|r| r.time).max();
        let is_late = match shape {
            Shape::RowsUnbounded | Shape::RangeUnbounded => {
                self.watermark.is_some_and(|watermark| row.time <= watermark)
            }
            _ => last.is_some_and(|last| row.time <= last),
        };
        if is_late {
            self.late += 1;
            return;
        }
        if let Shape::Range(millis) = shape {
            let end = self.ends.entry(row.key).or_insert(i64::MIN);
            if *end < row.time + millis + 1 {
                *end = row.time + millis + millis / 2 + 1;
            }
        }
        self.waiting.push(row.clone());
    }

    fn advance(&mut self, watermark: i64, shape: Shape) {
        self.watermark = Some(watermark);
        let (mut due, waiting): (Vec<In>, Vec<In>) =
            self.waiting.drain(..).partition(|row| row.time <= watermark);
        self.waiting = waiting;
        due.sort_by_key(|row| row.time);
        while !due.is_empty() {
            let time = due[0].time;
            let now = due.iter().take_while(|row| row.time == time).count();
            let peers: Vec<In> = due.drain(..now).collect();
            let before = self.given.clone();
            if matches!(shape, Shape::RangeUnbounded | Shape::Range(_)) {
                self.given.extend(peers.iter().cloned());
                peers.iter().for_each(|row| self.give(row, &before, shape));
            } else {
                for row in peers {
                    self.given.push(row.clone());
                    self.give(&row, &before, shape);
                }
            }
        }
        let over: Vec<Option<u8>> =
            self.ends.iter().filter(|(_, end)| **end <= watermark).map(|(key, _)| *key).collect();
        for key in over {
            self.ends.remove(&key);
            self.given.retain(|row| row.key != key);
        }
    }

    fn give(&mut self, row: &In, before: &[In], shape: Shape) {
        let same: Vec<&In> = self.given.iter().filter(|given| given.key == row.key).collect();
        let frame: Vec<&In> = match shape {
            Shape::Rows(rows) => same.iter().rev().take(rows as usize + 1).rev().copied().collect(),
            Shape::Range(millis) => {
                same.iter().filter(|r| r.time >= row.time - millis).copied().collect()
            }
            _ => same.clone(),
        };
        let mut out = row.values();
        out.extend(naive(frame.into_iter()));
        match shape {
            Shape::RowsUnbounded => out.push(Value::Int(same.len() as i64)),
            Shape::RangeUnbounded => {
                let earlier: Vec<&In> = before.iter().filter(|r| r.key == row.key).collect();
                let mut times: Vec<i64> = earlier.iter().map(|r| r.time).collect();
                times.dedup();
                out.push(Value::Int(earlier.len() as i64 + 1));
                out.push(Value::Int(times.len() as i64 + 1));
                for by in [1, 3] {
                    let back = same.len().checked_sub(1 + by).map(|at| same[at].value);
                    let value = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
                    out.push(back.map_or(Value::Int(-7), value));
                }
            }
            _ => {}
        }
        self.out.push(out);
    }
}

fn values(spec: &OverWindow, elements: Vec<StreamElement>) -> Vec<Vec<Value>> {
    let batches = elements.into_iter().filter_map(|element| match element {
        StreamElement::Batch(rows) => Some(rows.batch),
        _ => None,
    });
    rows(&output(spec), &batches.collect::<Vec<_>>()).into_iter().map(|(_, row)| row).collect()
}

/// Feeds steps as one batch with marks.
fn feed(harness: &mut OperatorHarness, steps: &[Step]) {
    let mut fed: Vec<Row> = Vec::new();
    let mut marks = Vec::new();
    for step in steps {
        match step {
            Step::Row(row) => fed.push((RowKind::Insert, row.values())),
            Step::Watermark(watermark) => {
                marks.push(Mark { row: fed.len() as u32, watermark: *watermark });
            }
        }
    }
    let last = marks.last().map(|mark: &Mark| mark.watermark);
    if fed.is_empty() {
        return last.map_or((), |watermark| harness.watermark(0, watermark).unwrap());
    }
    let marks: Marks = marks.into_iter().collect();
    harness.marked(0, batch(&input(), &fed), marks).unwrap();
}

fn row() -> impl Strategy<Value = In> {
    let key = prop_oneof![1 => Just(None), 3 => (0u8..3).prop_map(Some)];
    let value = prop_oneof![1 => Just(None), 5 => (-9i64..9).prop_map(Some)];
    (key, value, 0i64..4).prop_map(|(key, value, time)| In { key, value, order: None, time })
}

/// Rows whose times go up and down while watermarks rise behind them.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((row(), 0i64..8, -6i64..6, proptest::bool::weighted(0.3)), 1..60)
        .prop_map(|all| {
            let (mut now, mut watermark) = (0, i64::MIN);
            let mut steps = Vec::new();
            for (row, on, jitter, marks) in all {
                now += on / 3;
                steps.push(Step::Row(In { time: now + jitter, ..row }));
                if marks && now - 3 > watermark {
                    watermark = now - 3;
                    steps.push(Step::Watermark(watermark));
                }
            }
            steps
        })
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::RowsUnbounded),
        Just(Shape::RangeUnbounded),
        (0i64..4).prop_map(Shape::Rows),
        (0i64..12).prop_map(Shape::Range),
    ]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn rows_see_what_the_definition_says(
        shape in shape(),
        steps in steps(),
        cut in 1usize..20,
        snapshot in any::<bool>(),
    ) {
        let spec = spec(shape, OverMode::Rowtime);
        let mut harness = harness(&spec).keeping_feed();
        let mut model = Model::default();
        let mut out = Vec::new();
        for part in steps.chunks(cut) {
            feed(&mut harness, part);
            part.iter().for_each(|step| model.step(step, shape));
            out.extend(harness.take());
            // Whoever resumes says the watermark anew, which lets rows out that came behind it.
            let settled = model.waiting.iter().all(|row| Some(row.time) > model.watermark);
            if snapshot && settled {
                let late = harness.counts().late_rows;
                model.late -= late;
                harness = harness.restarted(operator(&spec)).unwrap();
                if let Some(watermark) = model.watermark {
                    harness.watermark(0, watermark).unwrap();
                }
            }
        }
        prop_assert_eq!(harness.counts().late_rows, model.late);
        harness.end(0).unwrap();
        model.step(&Step::Watermark(i64::MAX), shape);
        out.extend(harness.take());
        prop_assert_eq!(values(&spec, out), model.out);
        agree(&spec, harness.fed(), || operator(&spec))?;
    }

    #[test]
    fn processing_time_gives_rows_as_they_come(steps in steps(), rows in 0i64..4, cut in 1usize..9) {
        let shapes = [Shape::Rows(rows), Shape::RowsUnbounded];
        for shape in shapes {
            let spec = spec(shape, OverMode::Proctime);
            let mut harness = harness(&spec).keeping_feed();
            let mut model = Model::default();
            let fed: Vec<In> = steps.iter().filter_map(|step| match step {
                Step::Row(row) => Some(row.clone()),
                Step::Watermark(_) => None,
            }).collect();
            for part in fed.chunks(cut) {
                let part: Vec<Step> = part.iter().cloned().map(Step::Row).collect();
                feed(&mut harness, &part);
            }
            for row in &fed {
                let before = model.given.clone();
                model.given.push(row.clone());
                model.give(row, &before, shape);
            }
            prop_assert_eq!(values(&spec, harness.take()), model.out);
            agree(&spec, harness.fed(), || operator(&spec))?;
        }
    }
}

/// Rows of many keys over a long time, `step` milliseconds apart.
fn long(from: i64, rows: i64, step: i64) -> ChangelogBatch {
    let row =
        |n: i64| In { key: Some((n % 7) as u8), value: Some(n % 10), order: None, time: n * step };
    let rows: Vec<Row> = (from..from + rows).map(|n| (RowKind::Insert, row(n).values())).collect();
    batch(&input(), &rows)
}

#[test]
fn state_of_bounded_frames_stops_growing() {
    for shape in [Shape::Range(500), Shape::Rows(20), Shape::RangeUnbounded] {
        let spec = spec(shape, OverMode::Rowtime);
        let mut harness = harness(&spec);
        let mut sizes = Vec::new();
        for round in 0..40i64 {
            harness.batch(0, long(round * 100, 100, 10)).unwrap();
            harness.watermark(0, (round + 1) * 1000 - 50).unwrap();
            harness.take();
            sizes.push(harness.counts().state_bytes);
        }
        let (early, late) = (sizes[..10].iter().max().unwrap(), sizes.last().unwrap());
        assert!(late <= early, "{shape:?}: {sizes:?}");
    }
}

#[test]
fn partitions_of_range_are_forgotten_when_their_time_is_over() {
    let spec = spec(Shape::Range(100), OverMode::Rowtime);
    let mut harness = harness(&spec);
    for round in 0..20i64 {
        let rows: Vec<Row> = (0..50)
            .map(|n| {
                let key = Value::string(format!("{round}-{n}"));
                let mut row =
                    In { key: None, value: Some(n), order: None, time: round * 200 + n }.values();
                row[KEY] = key;
                (RowKind::Insert, row)
            })
            .collect();
        harness.batch(0, batch(&input(), &rows)).unwrap();
        harness.watermark(0, round * 200 + 199).unwrap();
    }
    let busy = harness.counts().state_bytes;
    harness.watermark(0, 1_000_000).unwrap();
    assert!(harness.counts().state_bytes <= busy);
    // Partitions that are gone take rows of any time.
    let mut row = In { key: None, value: Some(1), order: None, time: 1 }.values();
    row[KEY] = Value::string("0-0");
    harness.batch(0, batch(&input(), &[(RowKind::Insert, row)])).unwrap();
    assert_eq!(harness.counts().late_rows, 0);
}

#[test]
fn a_range_of_processing_time_comes_out_when_its_millisecond_is_over() {
    let spec = spec(Shape::Range(10), OverMode::Proctime);
    let mut harness = harness(&spec);
    let row = |value| {
        let row = In { key: Some(1), value: Some(value), order: None, time: 0 };
        batch(&input(), &[(RowKind::Insert, row.values())])
    };
    harness.batch(0, row(1)).unwrap();
    harness.batch(0, row(2)).unwrap();
    assert!(harness.take_batches().is_empty());
    harness.advance_clock(1).unwrap();
    let counts = |harness: &mut OperatorHarness| -> Vec<Value> {
        let batches = harness.take_batches();
        rows(&output(&spec), &batches).into_iter().map(|(_, row)| row[4].clone()).collect()
    };
    assert_eq!(counts(&mut harness), [Value::Int(2), Value::Int(2)]);
    harness.advance_clock(9).unwrap();
    harness.batch(0, row(3)).unwrap();
    harness.advance_clock(5).unwrap();
    assert_eq!(counts(&mut harness), [Value::Int(3)]);
    harness.batch(0, row(4)).unwrap();
    harness.advance_clock(5).unwrap();
    assert_eq!(counts(&mut harness), [Value::Int(2)]);
}

#[test]
fn idle_partitions_expire() {
    let spec = OverWindow { state_ttl: 100, ..spec(Shape::RowsUnbounded, OverMode::Rowtime) };
    let mut harness = harness(&spec);
    let row = |time| {
        let row = In { key: Some(1), value: Some(1), order: None, time };
        batch(&input(), &[(RowKind::Insert, row.values())])
    };
    let mut counts = Vec::new();
    for (time, wait) in [(1, 50), (2, 150), (3, 0)] {
        harness.batch(0, row(time)).unwrap();
        harness.watermark(0, time).unwrap();
        harness.advance_clock(wait).unwrap();
        let batches = harness.take_batches();
        counts.extend(rows(&output(&spec), &batches).into_iter().map(|(_, row)| row[4].clone()));
    }
    assert_eq!(counts, [Value::Int(1), Value::Int(2), Value::Int(1)]);
}

#[test]
fn partitions_on_disk_are_as_good() {
    crate::testing::on_disk(2, || {
        rows_see_what_the_definition_says();
        processing_time_gives_rows_as_they_come();
        partitions_of_range_are_forgotten_when_their_time_is_over();
        a_range_of_processing_time_comes_out_when_its_millisecond_is_over();
        idle_partitions_expire();
    });
}
