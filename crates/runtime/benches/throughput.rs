//! What the frame itself costs: ready batches through a chain, and through a hash exchange.

#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::sync::Arc;

use common::operators::Pass;
use common::sources::Batches;
use common::{by_key, node, operator, pairs, sink, source};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flott_catalog::connector::{Committable, ConnectorError, SinkWriter, TableSink, WriterContext};
use flott_runtime::{Exchange, JobConfig, JobGraph, Operator, OperatorContext, Result, start};
use flott_types::{ChangelogBatch, ChangelogMode};

const BATCHES: usize = 4000;

struct Blackhole;

impl TableSink for Blackhole {
    fn changelog_mode(&self, requested: ChangelogMode) -> ChangelogMode {
        requested
    }

    fn writer(&self, _context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        Ok(Box::new(Blackhole))
    }
}

impl SinkWriter for Blackhole {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        black_box(batch);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        Ok(())
    }

    fn prepare_commit(&mut self, _end: bool) -> Result<Vec<Committable>, ConnectorError> {
        Ok(Vec::new())
    }
}

/// Hands batches on untouched.
struct Forward;

impl Operator for Forward {
    fn name(&self) -> &str {
        "Forward"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx.marks();
        ctx.emit_marked(batch, marks)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

fn batches(splits: usize) -> Batches {
    let rows: Vec<_> = (0..8192).map(|i: i64| (i * 7919 % 100_003, i)).collect();
    let batch = pairs(&rows);
    Batches::new(vec![vec![batch; BATCHES / splits]; splits])
}

fn run(graph: JobGraph) {
    let job = start(graph, JobConfig::default(), None).expect("the graph can run");
    job.wait().expect("the job succeeds");
}

fn throughput(c: &mut Criterion) {
    let mut group = c.benchmark_group("throughput");
    group.throughput(Throughput::Elements((BATCHES * 8192) as u64)).sample_size(10);
    group.bench_function("forward chain", |bench| {
        let data = Arc::new(batches(1));
        bench.iter(|| {
            let mut graph = JobGraph::new();
            let from = source(&mut graph, "source", 1, data.clone(), None);
            let one = [(from, Exchange::Forward)];
            let one = operator(&mut graph, node("one", 1), &one, || Forward);
            let two = [(one, Exchange::Forward)];
            let two = operator(&mut graph, node("two", 1), &two, || Forward);
            sink(&mut graph, two, Exchange::Forward, Arc::new(Blackhole));
            run(graph);
        });
    });
    for parallelism in [1, 2] {
        group.bench_function(format!("hash exchange to {parallelism}"), |bench| {
            let data = Arc::new(batches(2));
            bench.iter(|| {
                let mut graph = JobGraph::new();
                let from = source(&mut graph, "source", parallelism, data.clone(), None);
                let next = [(from, by_key())];
                let next = operator(&mut graph, node("next", parallelism), &next, || Forward);
                sink(&mut graph, next, Exchange::Single, Arc::new(Blackhole));
                run(graph);
            });
        });
    }
    group.bench_function("filter in a chain", |bench| {
        let data = Arc::new(batches(1));
        bench.iter(|| {
            let mut graph = JobGraph::new();
            let from = source(&mut graph, "source", 1, data.clone(), None);
            let pass = [(from, Exchange::Forward)];
            let pass = operator(&mut graph, node("pass", 1), &pass, || Pass);
            sink(&mut graph, pass, Exchange::Forward, Arc::new(Blackhole));
            run(graph);
        });
    });
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
