//! Whole jobs: both schedulers, every exchange, ends, failures.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::operators::{Count, Delay, DropLate, FailAt, Pass, WatermarkOfRow};
use common::sinks::TestSink;
use common::sources::{Batches, Live};
use common::{Row, by_key, checked, node, operator, pairs, rows, sink, source, watermark};
use flott_runtime::{
    EndOfInput, Exchange, JobConfig, JobGraph, JobStatus, NextResult, RuntimeError, SeededRun,
    results, start,
};
use flott_types::{ChangelogBatch, ChangelogMode};

/// `splits` splits of `count` rows with keys 0..`keys`, in batches of `size`.
fn data(splits: usize, count: i64, keys: i64, size: usize) -> Vec<Vec<ChangelogBatch>> {
    let split = |split: usize| {
        let rows: Vec<_> = (0..count).map(|i| ((i * 31 + split as i64) % keys, i)).collect();
        rows.chunks(size).map(pairs).collect()
    };
    (0..splits).map(split).collect()
}

/// The table that a changelog describes.
fn fold(rows: &[Row]) -> BTreeMap<Vec<i64>, i64> {
    let mut table = BTreeMap::new();
    for (kind, row) in rows {
        *table.entry(row.clone()).or_insert(0) += if kind == "+I" || kind == "+U" { 1 } else { -1 };
    }
    table.retain(|_, count| *count != 0);
    table
}

/// source → pass → hash → count → sink.
fn counting(source_of: Batches, parallelism: usize, to: &TestSink) -> JobGraph {
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", parallelism, Arc::new(source_of), None);
    let insert_only = ChangelogMode::INSERT_ONLY;
    let pass = checked("pass", parallelism, &["key", "time"], insert_only);
    let pass = operator(&mut graph, pass, &[(from, Exchange::Forward)], || Pass);
    let mode = ChangelogMode::ALL;
    let count = checked("count", parallelism, &["key", "count"], mode);
    let count = operator(&mut graph, count, &[(pass, by_key())], Count::new);
    sink(&mut graph, count, Exchange::Single, Arc::new(to.clone()));
    graph
}

fn expected_counts(splits: usize, count: i64, keys: i64) -> BTreeMap<Vec<i64>, i64> {
    let mut counts = BTreeMap::new();
    for split in 0..splits as i64 {
        (0..count).for_each(|i| *counts.entry((i * 31 + split) % keys).or_insert(0) += 1);
    }
    counts.into_iter().map(|(key, count)| (vec![key, count], 1)).collect()
}

#[test]
fn threads_count_by_key() {
    for (parallelism, size) in [(1, 100), (2, 1000), (3, 7)] {
        let to = TestSink::default();
        let graph = counting(Batches::new(data(4, 5000, 97, size)), parallelism, &to);
        let job = start(graph, JobConfig::default(), None).unwrap();
        assert_eq!(job.wait().unwrap(), EndOfInput::Drained);
        assert_eq!(fold(&to.rows()), expected_counts(4, 5000, 97), "parallelism {parallelism}");
        assert_eq!(to.with(|table| (table.ends, table.aborted)), (1, 0));
        assert!(matches!(job.status(), JobStatus::Finished(EndOfInput::Drained)));

        let metrics = job.metrics();
        let names: Vec<_> = metrics.operators.iter().map(|operator| &*operator.name).collect();
        assert_eq!(names, ["source", "pass", "count", "sink"]);
        let count = &metrics.operators[2];
        assert_eq!(count.tasks.len(), parallelism);
        assert_eq!(count.total().rows_in, 20_000);
        assert_eq!(count.total().rows_out, 2 * 20_000 - 97);
        assert_eq!(count.total().watermark, Some(i64::MAX));
        assert!(count.total().state_bytes > 0);
    }
}

#[test]
fn seeds_count_by_key_whatever_the_order() {
    for seed in 0..30 {
        let parallelism = 1 + (seed as usize) % 3;
        let to = TestSink::default();
        let graph = counting(Batches::new(data(3, 300, 17, 11)), parallelism, &to);
        // Hardly any room in the channels: back-pressure everywhere.
        let config = JobConfig { channel_rows: 20, ..JobConfig::default() };
        let outcome = SeededRun::new(seed).run(graph, config, None).unwrap();
        assert_eq!(outcome.result.unwrap(), EndOfInput::Drained, "seed {seed}");
        assert_eq!(fold(&to.rows()), expected_counts(3, 300, 17), "seed {seed}");
    }
}

#[test]
fn a_seed_replays() {
    let run = |seed| {
        let to = TestSink::default();
        let graph = counting(Batches::new(data(3, 300, 17, 11)), 3, &to);
        let outcome = SeededRun::new(seed).run(graph, JobConfig::default(), None).unwrap();
        (outcome.steps, to.rows())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn one_task_keeps_the_order_of_rows() {
    let to = TestSink::default();
    let batches = data(2, 1000, 10, 64);
    let expected: Vec<Row> = batches.iter().flatten().flat_map(rows).collect();
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 1, Arc::new(Batches::new(batches)), None);
    let pass = operator(&mut graph, node("pass", 1), &[(from, Exchange::Rebalance)], || Pass);
    sink(&mut graph, pass, by_key(), Arc::new(to.clone()));
    start(graph, JobConfig::default(), None).unwrap().wait().unwrap();
    assert_eq!(to.rows(), expected);
}

#[test]
fn every_exchange_delivers() {
    for (exchange, times) in
        [(Exchange::Broadcast, 3), (Exchange::Rebalance, 1), (Exchange::Forward, 1), (by_key(), 1)]
    {
        for chaining in [true, false] {
            let to = TestSink::default();
            let mut graph = JobGraph::new();
            let from =
                source(&mut graph, "s", 2, Arc::new(Batches::new(data(2, 999, 50, 10))), None);
            let pass = operator(&mut graph, node("pass", 3), &[(from, exchange.clone())], || Pass);
            let next = operator(&mut graph, node("next", 3), &[(pass, Exchange::Forward)], || Pass);
            sink(&mut graph, next, Exchange::Single, Arc::new(to.clone()));
            let config = JobConfig { chaining, ..JobConfig::default() };
            start(graph, config, None).unwrap().wait().unwrap();
            assert_eq!(to.rows().len(), 2 * 999 * times, "{exchange:?}");
        }
    }
}

#[test]
fn nodes_may_feed_several_and_inputs_be_fed_by_several() {
    let to = TestSink::default();
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 1, Arc::new(Batches::new(data(1, 100, 7, 10))), None);
    let one = operator(&mut graph, node("one", 1), &[(from, Exchange::Forward)], || Pass);
    let two = operator(&mut graph, node("two", 2), &[(from, by_key())], || Pass);
    let union = operator(&mut graph, node("union", 1), &[(one, Exchange::Forward)], || Pass);
    graph.connect(two, union, 0, Exchange::Single);
    sink(&mut graph, union, Exchange::Forward, Arc::new(to.clone()));
    start(graph, JobConfig::default(), None).unwrap().wait().unwrap();
    assert!(fold(&to.rows()).values().all(|count| *count == 2));
    assert_eq!(to.rows().len(), 200);
}

#[test]
fn errors_name_the_operator_and_end_the_job() {
    for panic in [false, true] {
        let to = TestSink::default();
        let mut endless = Batches::new(data(3, 1000, 100, 10));
        endless.endless = true;
        let mut graph = JobGraph::new();
        let from = source(&mut graph, "source", 3, Arc::new(endless), None);
        let fail = move || FailAt { key: 42, panic };
        let fail = operator(&mut graph, node("fragile", 3), &[(from, by_key())], fail);
        sink(&mut graph, fail, Exchange::Single, Arc::new(to.clone()));
        let job = start(graph, JobConfig::default(), None).unwrap();
        let error = job.wait().unwrap_err();
        match &error {
            RuntimeError::Internal { problem, .. } if panic => {
                assert_eq!(problem, "panicked: key 42 is not liked");
                assert!(error.place().unwrap().starts_with("fragile ("), "{error}");
            }
            RuntimeError::Operator { .. } if !panic => assert_eq!(error.place(), Some("fragile")),
            _ => panic!("{error:?}"),
        }
        assert!(matches!(job.status(), JobStatus::Failed(_)));
        assert_eq!(to.with(|table| (table.rows.len(), table.ends, table.aborted)), (0, 0, 1));
    }
}

#[test]
fn results_come_in_order_and_hold_the_job_back() {
    let (sender, rows_of) = results(100);
    let mut graph = JobGraph::new();
    let from =
        source(&mut graph, "source", 1, Arc::new(Batches::new(data(1, 100_000, 9, 50))), None);
    let end = graph.results(node("results", 1), sender);
    graph.connect(from, end, 0, Exchange::Forward);
    let job = start(graph, JobConfig::default(), None).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(job.metrics().operators[0].total().rows_out <= 200, "the reader has not begun");
    let mut next = 0;
    while let Some(batch) = rows_of.next() {
        for time in common::longs(&batch, 1) {
            assert_eq!(time, next);
            next += 1;
        }
    }
    assert_eq!(next, 100_000);
    assert_eq!(job.wait().unwrap(), EndOfInput::Drained);
    assert!(matches!(rows_of.next_within(Duration::ZERO), NextResult::End));
}

#[test]
fn a_reader_that_goes_away_cancels_the_job() {
    let (sender, rows_of) = results(100);
    let mut graph = JobGraph::new();
    let from =
        source(&mut graph, "source", 1, Arc::new(Batches::new(data(1, 100_000, 9, 50))), None);
    let end = graph.results(node("results", 1), sender);
    graph.connect(from, end, 0, by_key());
    let job = start(graph, JobConfig::default(), None).unwrap();
    assert!(rows_of.next().is_some());
    drop(rows_of);
    assert!(matches!(job.wait(), Err(RuntimeError::Cancelled)));
    assert!(matches!(job.status(), JobStatus::Cancelled));
}

#[test]
fn cancelling_ends_blocked_and_idle_tasks() {
    // One job whose reader never reads, one whose source never gives.
    let (sender, _rows) = results(10);
    let mut graph = JobGraph::new();
    let blocked =
        source(&mut graph, "s", 2, Arc::new(Batches::new(data(2, 500_000, 9, 5000))), None);
    let pass = operator(&mut graph, node("pass", 2), &[(blocked, by_key())], || Pass);
    let end = graph.results(node("results", 1), sender);
    graph.connect(pass, end, 0, Exchange::Single);
    let blocked = start(graph, JobConfig::default(), None).unwrap();

    let to = TestSink::default();
    let mut graph = JobGraph::new();
    let live = source(&mut graph, "live", 1, Arc::new(Live::default()), None);
    sink(&mut graph, live, by_key(), Arc::new(to));
    let idle = start(graph, JobConfig::default(), None).unwrap();

    std::thread::sleep(Duration::from_millis(50));
    let begun = Instant::now();
    for job in [blocked, idle] {
        assert!(matches!(job.status(), JobStatus::Running));
        job.cancel();
        assert!(matches!(job.wait(), Err(RuntimeError::Cancelled)));
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn stopping_writes_what_was_read() {
    let to = TestSink::default();
    let live = Live::default();
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "live", 1, Arc::new(live.clone()), watermark(0, Duration::ZERO));
    let pass = operator(&mut graph, node("pass", 2), &[(from, by_key())], || Pass);
    sink(&mut graph, pass, Exchange::Single, Arc::new(to.clone()));
    let job = start(graph, JobConfig::default(), None).unwrap();
    live.push(pairs(&[(1, 1), (2, 2), (3, 3)]));
    while job.metrics().operators[2].total().rows_in < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    job.stop();
    assert_eq!(job.wait().unwrap(), EndOfInput::Stopped);
    assert_eq!(to.rows().len(), 3);
    assert_eq!(to.with(|table| table.ends), 1);
    assert!(!to.with(|table| table.watermarks.contains(&i64::MAX)), "no final watermark");
}

#[test]
fn small_batches_are_gathered_but_not_kept() {
    let to = TestSink::default();
    let live = Live::default();
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "live", 1, Arc::new(live.clone()), None);
    let pass = operator(&mut graph, node("pass", 1), &[(from, by_key())], || Pass);
    sink(&mut graph, pass, Exchange::Forward, Arc::new(to.clone()));
    let config = JobConfig { buffer_timeout: Duration::from_secs(3600), ..JobConfig::default() };
    let job = start(graph, config, None).unwrap();
    // The input pauses, so rows go on although the buffer timeout is far away.
    live.push(pairs(&[(1, 1)]));
    let begun = Instant::now();
    while to.with(|table| table.flushes) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(1));
    }
    live.close();
    job.wait().unwrap();
    assert_eq!(to.rows().len(), 1);
}

#[test]
fn the_buffer_timeout_sends_small_batches_of_a_busy_source() {
    let run = SeededRun::new(1);
    let mut endless = Batches::new(vec![vec![pairs(&[(1, 1)]); 500]]);
    endless.endless = true;
    let clock = run.clock.clone();
    let (sender, _rows) = results(usize::MAX);
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 1, Arc::new(endless), None);
    let moving = move || Ticking { clock: clock.clone() };
    let ticking = operator(&mut graph, node("ticking", 1), &[(from, Exchange::Forward)], moving);
    let end = graph.results(node("results", 1), sender);
    graph.connect(ticking, end, 0, by_key());
    let run = SeededRun { stop_at: Some(400), ..run };
    let config = JobConfig { buffer_timeout: Duration::from_millis(5), ..JobConfig::default() };
    let outcome = run.run(graph, config, None).unwrap();
    // While the source is busy every row takes a millisecond, so about six go together.
    let results = &outcome.metrics.operators[2];
    assert!(results.total().rows_in > 100, "{results:?}");
}

/// Lets a millisecond pass with every batch.
struct Ticking {
    clock: Arc<flott_runtime::VirtualClock>,
}

impl flott_runtime::Operator for Ticking {
    fn name(&self) -> &str {
        "Ticking"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut flott_runtime::OperatorContext,
    ) -> flott_runtime::Result<()> {
        self.clock.advance(1);
        ctx.emit(batch)
    }
}

#[test]
fn timers_fire_in_virtual_time() {
    let run = SeededRun { stop_at: Some(200), ..SeededRun::new(3) };
    let mut endless = Batches::new(vec![vec![pairs(&[(1, 1)]), pairs(&[(2, 2)])]]);
    endless.endless = true;
    let (sender, rows_of) = results(usize::MAX);
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 1, Arc::new(endless), None);
    let delay = operator(&mut graph, node("delay", 1), &[(from, by_key())], || Delay::new(60_000));
    let end = graph.results(node("results", 1), sender);
    graph.connect(delay, end, 0, Exchange::Forward);
    run.run(graph, JobConfig::default(), None).unwrap().result.unwrap();
    let delayed: Vec<Row> =
        std::iter::from_fn(|| rows_of.next()).flat_map(|batch| rows(&batch)).collect();
    assert_eq!(delayed, [("+I".into(), vec![1, 1]), ("+I".into(), vec![2, 2])]);
    assert!(flott_runtime::Clock::now(&*run.clock) >= 60_000);
}

#[test]
fn watermarks_between_rows_are_flinks_in_every_way_to_run() {
    // Recorded from Flink 2.3 with CURRENT_WATERMARK.
    let times = [-1000, 100, 200, 201, 401, 402, 0];
    let none = i64::MIN;
    let expected = [none, none, none, none, 201, 201, 402];
    let data: Vec<_> = times.iter().enumerate().map(|(i, time)| (i as i64, *time)).collect();
    for size in [1, 2, 7] {
        for (exchange, chaining) in
            [(Exchange::Forward, true), (Exchange::Forward, false), (by_key(), true)]
        {
            let to = TestSink::default();
            let batches = data.chunks(size).map(pairs).collect();
            let mut graph = JobGraph::new();
            let from = Arc::new(Batches::new(vec![batches]));
            let from = source(&mut graph, "source", 1, from, watermark(0, Duration::ZERO));
            let pass = operator(&mut graph, node("pass", 1), &[(from, exchange)], || Pass);
            let of_row = [(pass, Exchange::Forward)];
            let of_row = operator(&mut graph, node("of row", 1), &of_row, || WatermarkOfRow);
            sink(&mut graph, of_row, Exchange::Forward, Arc::new(to.clone()));
            let config = JobConfig { chaining, ..JobConfig::default() };
            start(graph, config, None).unwrap().wait().unwrap();
            let met: Vec<_> = to.rows().iter().map(|(_, row)| row[1]).collect();
            assert_eq!(met, expected, "batches of {size}");
            assert_eq!(to.with(|table| table.watermarks.clone()).last(), Some(&i64::MAX));
        }
    }
}

#[test]
fn late_rows_do_not_depend_on_batches_or_on_who_reads_the_marks() {
    let rows: Vec<_> =
        (0..3000).map(|i: i64| (i, i * 40 - if i % 7 == 0 { 300 } else { 0 })).collect();
    let late = |size: usize, reads_marks: bool, parallelism: usize| {
        let to = TestSink::default();
        let mut graph = JobGraph::new();
        let batches = Arc::new(Batches::new(vec![rows.chunks(size).map(pairs).collect()]));
        let from = source(&mut graph, "source", 1, batches, watermark(0, Duration::ZERO));
        let drop = [(from, by_key())];
        let drop = operator(&mut graph, node("drop", parallelism), &drop, move || DropLate {
            reads_marks,
        });
        sink(&mut graph, drop, Exchange::Single, Arc::new(to.clone()));
        let job = start(graph, JobConfig::default(), None).unwrap();
        job.wait().unwrap();
        let mut kept = to.rows();
        kept.sort();
        (job.metrics().operators[1].total().late_rows, kept)
    };
    let expected = late(1, false, 1);
    assert!(expected.0 > 100, "{}", expected.0);
    for size in [1, 10, 3000] {
        for reads_marks in [false, true] {
            for parallelism in [1, 3] {
                assert_eq!(late(size, reads_marks, parallelism), expected, "{size}");
            }
        }
    }
}

#[test]
fn splits_side_by_side_have_a_watermark_each() {
    let fast: Vec<_> = (0..10).map(|i| pairs(&[(0, i * 10_000)])).collect();
    let slow: Vec<_> = (0..10).map(|i| pairs(&[(1, i * 1000)])).collect();
    let to = TestSink::default();
    let mut graph = JobGraph::new();
    let mut batches = Batches::new(vec![fast, slow]);
    batches.side_by_side = true;
    let from = source(&mut graph, "source", 1, Arc::new(batches), watermark(0, Duration::ZERO));
    let drop = operator(&mut graph, node("drop", 1), &[(from, Exchange::Forward)], || DropLate {
        reads_marks: true,
    });
    sink(&mut graph, drop, Exchange::Forward, Arc::new(to.clone()));
    let job = start(graph, JobConfig::default(), None).unwrap();
    job.wait().unwrap();
    assert_eq!(to.rows().len(), 20);
    assert_eq!(job.metrics().operators[1].total().late_rows, 0);
}

#[test]
fn idle_splits_hold_nobody_back_and_the_slowest_is_named() {
    let run = SeededRun { stop_at: Some(3000), ..SeededRun::new(5) };
    let mut batches = Batches::new(vec![vec![pairs(&[(0, 50_000)])], vec![pairs(&[(1, 1000)])]]);
    batches.side_by_side = true;
    batches.endless = true;
    let to = TestSink::default();
    let mut graph = JobGraph::new();
    let strategy = watermark(0, Duration::from_secs(30));
    let from = source(&mut graph, "source", 1, Arc::new(batches), strategy);
    sink(&mut graph, from, by_key(), Arc::new(to.clone()));
    let outcome = run.run(graph, JobConfig::default(), None).unwrap();
    outcome.result.unwrap();
    let slowest = outcome.metrics.operators[0].slowest_split().cloned().unwrap();
    assert_eq!((&*slowest.id, slowest.watermark), ("1", Some(1000)));
    assert_eq!(to.with(|table| table.watermarks.clone()), [1000]);
}
