//! An idle job uses no CPU. A test binary of its own, since it measures the whole process.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use common::operators::{Count, Pass};
use common::sinks::TestSink;
use common::sources::Live;
use common::{by_key, node, operator, pairs, sink, source, watermark};
use flott_runtime::{Exchange, JobConfig, JobGraph, start};

/// Nanoseconds that the process's threads have run.
fn cpu() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let of = |task: fs::DirEntry| -> Option<u64> {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    tasks.filter_map(|task| of(task.ok()?)).sum()
}

#[test]
#[cfg(target_os = "linux")]
fn an_idle_job_uses_no_cpu() {
    let (live, to) = (Live::default(), TestSink::default());
    let mut graph = JobGraph::new();
    let strategy = watermark(0, Duration::ZERO);
    let from = source(&mut graph, "live", 1, Arc::new(live.clone()), strategy);
    let pass = operator(&mut graph, node("pass", 3), &[(from, Exchange::Rebalance)], || Pass);
    let count = operator(&mut graph, node("count", 3), &[(pass, by_key())], Count::new);
    sink(&mut graph, count, Exchange::Single, Arc::new(to));
    let job = start(graph, JobConfig::default(), None).unwrap();
    live.push(pairs(&[(1, 1000), (2, 2000)]));
    std::thread::sleep(Duration::from_millis(500));
    let before = cpu();
    std::thread::sleep(Duration::from_secs(2));
    let used = Duration::from_nanos(cpu() - before);
    live.close();
    job.wait().unwrap();
    assert!(used < Duration::from_millis(10), "{used:?} in two seconds");
}
