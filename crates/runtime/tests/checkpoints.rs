//! Checkpoints: a job that dies and resumes gives what an undisturbed one gives.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::operators::{Count, DropLate, Pass};
use common::sinks::TestSink;
use common::sources::Batches;
use common::{Row, by_key, checked, late_sink, node, operator, pairs, sink, source, watermark};
use flott_runtime::{
    CheckpointKind, CheckpointStore, Exchange, JobConfig, JobGraph, MemoryCheckpointStore,
    RuntimeError, SeededRun, SinkSpec, start,
};
use flott_types::ChangelogMode;

/// source → drop late → hash → count → sink, all with state of one kind or another.
fn graph(to: &TestSink, side_by_side: bool, parallelism: usize) -> JobGraph {
    graph_with_late(to, None, side_by_side, parallelism)
}

/// The same, with late rows going to a sink of their own.
fn graph_with_late(
    to: &TestSink,
    late_to: Option<&TestSink>,
    side_by_side: bool,
    parallelism: usize,
) -> JobGraph {
    let split = |split: i64| {
        let row = |i: i64| ((i * 31 + split) % 13, i * 90 - if i % 5 == 0 { 500 } else { 0 });
        let rows: Vec<_> = (0..120).map(row).collect();
        rows.chunks(7).map(pairs).collect()
    };
    let mut batches = Batches::new((0..4).map(split).collect());
    batches.side_by_side = side_by_side;
    let mut graph = JobGraph::new();
    let from = Arc::new(batches);
    let from = source(&mut graph, "source", parallelism, from, watermark(0, Duration::ZERO));
    let late = checked("late", parallelism, &["key", "time"], ChangelogMode::INSERT_ONLY);
    let late = operator(&mut graph, late, &[(from, Exchange::Forward)], || DropLate {
        reads_marks: false,
    });
    if let Some(late_to) = late_to {
        late_sink(&mut graph, late, Arc::new(late_to.clone()));
    }
    let pass = operator(&mut graph, node("pass", 2), &[(late, by_key())], || Pass);
    let count = checked("count", parallelism, &["key", "count"], ChangelogMode::ALL);
    let count = operator(&mut graph, count, &[(pass, by_key())], Count::new);
    sink(&mut graph, count, Exchange::Single, Arc::new(to.clone()));
    graph
}

/// What is left of a changelog, and that nothing was taken back which was not there.
fn fold(rows: &[Row]) -> Vec<Vec<i64>> {
    let mut table: Vec<Vec<i64>> = Vec::new();
    for (kind, row) in rows {
        if kind == "+I" || kind == "+U" {
            table.push(row.clone());
        } else {
            let at = table.iter().position(|known| known == row);
            table.remove(at.unwrap_or_else(|| panic!("{kind} {row:?} takes back nothing")));
        }
    }
    table.sort();
    table
}

fn undisturbed(side_by_side: bool) -> Vec<Vec<i64>> {
    let to = TestSink::default();
    let run = SeededRun::new(0);
    let job = graph(&to, side_by_side, 1);
    run.run(job, JobConfig::default(), None).unwrap().result.unwrap();
    fold(&to.rows())
}

#[test]
fn dying_at_any_step_loses_and_repeats_nothing() {
    for side_by_side in [false, true] {
        let expected = undisturbed(side_by_side);
        for seed in 0..60 {
            let to = TestSink::default();
            let store = Arc::new(MemoryCheckpointStore::default());
            let config = JobConfig {
                checkpoints: Some(store.clone()),
                channel_rows: 20,
                ..JobConfig::default()
            };
            let mut lives = 0;
            loop {
                // One task, so that which rows are late is the same in every order of steps.
                let run = SeededRun {
                    checkpoint_every: 10,
                    die_at: (lives < 4).then_some(20 + seed * 7 % 150 + lives * 13),
                    ..SeededRun::new(seed * 1000 + lives)
                };
                let resume = store.latest().unwrap();
                let job = graph(&to, side_by_side, 1);
                let outcome = run.run(job, config.clone(), resume).unwrap();
                match outcome.result {
                    Ok(_) => break,
                    Err(RuntimeError::Cancelled) => lives += 1,
                    Err(error) => panic!("seed {seed}, life {lives}: {error}"),
                }
            }
            assert_eq!(fold(&to.rows()), expected, "seed {seed}, side by side {side_by_side}");
            assert_eq!(to.with(|table| table.ends), 1);
        }
    }
}

#[test]
fn late_rows_are_written_once_whenever_the_job_dies() {
    let rows_of = |late: &TestSink| {
        let mut rows = late.rows();
        rows.sort();
        rows
    };
    let (to, expected) = (TestSink::default(), TestSink::default());
    let job = graph_with_late(&to, Some(&expected), false, 1);
    SeededRun::new(0).run(job, JobConfig::default(), None).unwrap().result.unwrap();
    let (undisturbed, expected) = (fold(&to.rows()), rows_of(&expected));
    assert!(expected.len() > 20, "{}", expected.len());
    for seed in 0..40 {
        let (to, late) = (TestSink::default(), TestSink::default());
        let store = Arc::new(MemoryCheckpointStore::default());
        let config = JobConfig { checkpoints: Some(store.clone()), ..JobConfig::default() };
        for life in 0.. {
            let run = SeededRun {
                checkpoint_every: 10,
                die_at: (life < 3).then_some(20 + seed * 7 % 150 + life * 13),
                ..SeededRun::new(seed * 1000 + life)
            };
            let job = graph_with_late(&to, Some(&late), false, 1);
            let outcome = run.run(job, config.clone(), store.latest().unwrap()).unwrap();
            match outcome.result {
                Ok(_) => break,
                Err(RuntimeError::Cancelled) => {}
                Err(error) => panic!("seed {seed}, life {life}: {error}"),
            }
        }
        assert_eq!(rows_of(&late), expected, "seed {seed}");
        assert_eq!(fold(&to.rows()), undisturbed, "seed {seed}");
    }
}

#[test]
fn the_parallelism_may_change_on_the_way() {
    // Without late rows, so that the result does not depend on how splits are shared out.
    let data = || Batches::new((0..4).map(|s| vec![pairs(&[(s, 0), (7, 0)]); 40]).collect());
    let job = |to: &TestSink, parallelism: usize| {
        let mut graph = JobGraph::new();
        let from = source(&mut graph, "source", parallelism, Arc::new(data()), None);
        let node = checked("count", parallelism, &["key", "count"], ChangelogMode::ALL);
        let count = operator(&mut graph, node, &[(from, by_key())], Count::new);
        sink(&mut graph, count, Exchange::Single, Arc::new(to.clone()));
        graph
    };
    for seed in 0..30 {
        let (to, store) = (TestSink::default(), Arc::new(MemoryCheckpointStore::default()));
        let config = JobConfig { checkpoints: Some(store.clone()), ..JobConfig::default() };
        for (life, parallelism) in [1, 3, 2, 4].into_iter().enumerate() {
            let run = SeededRun {
                checkpoint_every: 8,
                die_at: (life < 3).then_some(60),
                ..SeededRun::new(seed * 10 + life as u64)
            };
            let resume = store.latest().unwrap();
            let _ = run.run(job(&to, parallelism), config.clone(), resume).unwrap();
        }
        let mut expected: Vec<_> = (0..4).map(|key| vec![key, 40]).collect();
        expected.push(vec![7, 160]);
        assert_eq!(fold(&to.rows()), expected, "seed {seed}");
    }
}

#[test]
fn threads_take_checkpoints_at_intervals() {
    let to = TestSink::default();
    let store = Arc::new(MemoryCheckpointStore::default());
    let mut batches = Batches::new(vec![vec![pairs(&[(1, 1), (2, 2)]); 100]; 3]);
    batches.endless = true;
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 3, Arc::new(batches.clone()), None);
    let count = operator(&mut graph, node("count", 2), &[(from, by_key())], Count::new);
    sink(&mut graph, count, Exchange::Single, Arc::new(to.clone()));
    let config = JobConfig {
        checkpoint_interval: Some(Duration::from_millis(20)),
        checkpoints: Some(store.clone()),
        ..JobConfig::default()
    };
    let job = start(graph, config, None).unwrap();
    while job.metrics().operators[1].total().rows_in < 600 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let savepoint = job.checkpoint(CheckpointKind::Savepoint);
    while fold(&to.rows()) != [[1, 300], [2, 300]] {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Another may have been under way just then.
    if let Ok(savepoint) = savepoint {
        assert_eq!(savepoint.kind, CheckpointKind::Savepoint);
        assert_eq!(savepoint.sources["source"].tasks.len(), 3);
        assert_eq!(savepoint.operators["count"].parallelism, 2);
    }
    job.cancel();
    assert!(job.wait().is_err());
    assert!(store.latest().unwrap().unwrap().id >= 1);
}

#[test]
fn state_of_unknown_operators_is_not_dropped_silently() {
    let (to, store) = (TestSink::default(), Arc::new(MemoryCheckpointStore::default()));
    let config = JobConfig { checkpoints: Some(store.clone()), ..JobConfig::default() };
    let run = SeededRun { checkpoint_every: 5, die_at: Some(200), ..SeededRun::new(1) };
    run.run(graph(&to, false, 1), config.clone(), None).unwrap();
    let mut other = JobGraph::new();
    let from = source(&mut other, "source", 1, Arc::new(Batches::new(Vec::new())), None);
    sink(&mut other, from, Exchange::Forward, Arc::new(to));
    let error = start(other, config, store.latest().unwrap()).map(drop).unwrap_err();
    assert!(error.to_string().contains("holds state of count"), "{error}");
}

#[test]
fn what_the_last_checkpoint_holds_is_not_removed_when_a_commit_fails() {
    let (one, other) = (TestSink::default(), TestSink::default());
    let sinks = [("a", &one), ("b", &other)];
    let job = || {
        let mut graph = JobGraph::new();
        let data = Batches::new(vec![vec![pairs(&[(1, 1), (2, 2)]); 5]]);
        let from = source(&mut graph, "source", 1, Arc::new(data), None);
        for (name, to) in sinks {
            let spec = SinkSpec {
                sink: Arc::new(to.clone()),
                static_partitions: Vec::new(),
                overwrite: false,
            };
            let id = graph.sink(node(name, 1), spec);
            graph.connect(from, id, 0, Exchange::Forward);
        }
        graph
    };
    one.with(|table| table.refuses_commits = true);
    let store = Arc::new(MemoryCheckpointStore::default());
    let config = JobConfig { checkpoints: Some(store.clone()), ..JobConfig::default() };
    let ended = SeededRun::new(1).run(job(), config.clone(), None).unwrap().result;
    assert!(ended.unwrap_err().to_string().contains("commits are refused"));
    one.with(|table| table.refuses_commits = false);
    let latest = store.latest().unwrap();
    SeededRun::new(2).run(job(), config, latest).unwrap().result.unwrap();
    assert_eq!((one.rows().len(), other.rows().len()), (10, 10));
}
