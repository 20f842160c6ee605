//! Sources, sinks and operators for the tests of the frame.

#![allow(dead_code)]

pub mod operators;
pub mod sinks;
pub mod sources;

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType as Arrow, Field, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use flott_catalog::connector::{FailOnBadRecord, FormatDef, ScanRequest, TableSink, TableSource};
use flott_runtime::{
    Exchange, JobGraph, LateRowWriter, LateTable, LateTime, NodeId, NodeSpec, Operator,
    OutputContract, Result, SinkSpec, SourceSpec, TaskInfo, WatermarkStrategy,
};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, Field as Column, Schema as Columns};

/// Columns of BIGINTs.
pub fn schema(columns: &[&str]) -> SchemaRef {
    let field = |name: &&str| Field::new(*name, Arrow::Int64, true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Rows of two BIGINTs, `key` and `time`.
pub fn pairs(rows: &[(i64, i64)]) -> ChangelogBatch {
    let keys: Int64Array = rows.iter().map(|row| row.0).collect();
    let times: Int64Array = rows.iter().map(|row| row.1).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(keys), Arc::new(times)];
    ChangelogBatch::inserts(RecordBatch::try_new(schema(&["key", "time"]), columns).unwrap())
}

/// The BIGINTs of a column.
pub fn longs(batch: &ChangelogBatch, column: usize) -> Vec<i64> {
    batch.column(column).as_primitive::<Int64Type>().values().to_vec()
}

/// A row of BIGINTs with its kind.
pub type Row = (String, Vec<i64>);

/// The rows of a batch of BIGINTs.
pub fn rows(batch: &ChangelogBatch) -> Vec<Row> {
    let columns: Vec<_> = (0..batch.rows.num_columns()).map(|i| longs(batch, i)).collect();
    (0..batch.len())
        .map(|row| (batch.kind(row).to_string(), columns.iter().map(|c| c[row]).collect()))
        .collect()
}

/// A node whose fingerprint is its name.
pub fn node(name: &str, parallelism: usize) -> NodeSpec {
    NodeSpec { name: name.into(), uid: name.into(), parallelism, output: None }
}

/// A node whose output is checked.
pub fn checked(name: &str, parallelism: usize, columns: &[&str], mode: ChangelogMode) -> NodeSpec {
    let output = OutputContract { schema: schema(columns), mode, repeatable: true };
    NodeSpec { output: Some(output), ..node(name, parallelism) }
}

/// Adds a source of `key` and `time`.
pub fn source(
    graph: &mut JobGraph,
    name: &str,
    parallelism: usize,
    source: Arc<dyn TableSource>,
    watermark: Option<WatermarkStrategy>,
) -> NodeId {
    let spec = SourceSpec {
        source,
        request: ScanRequest::default(),
        watermark,
        bad_records: Arc::new(FailOnBadRecord),
    };
    graph.source(checked(name, parallelism, &["key", "time"], ChangelogMode::INSERT_ONLY), spec)
}

/// A watermark that is the time less `delay`.
pub fn watermark(delay: i64, idle_timeout: Duration) -> Option<WatermarkStrategy> {
    let values = move |_: &TaskInfo| {
        let values = move |batch: &ChangelogBatch| -> Result<Int64Array> {
            Ok(batch.column(1).as_primitive::<Int64Type>().unary(|time| time - delay))
        };
        Ok(Box::new(values) as flott_runtime::WatermarkFn)
    };
    Some(WatermarkStrategy { values: Arc::new(values), idle_timeout })
}

/// Adds an operator of one kind after others, each of which feeds the next input.
pub fn operator<O: Operator + 'static>(
    graph: &mut JobGraph,
    node: NodeSpec,
    inputs: &[(NodeId, Exchange)],
    make: impl Fn() -> O + Send + Sync + 'static,
) -> NodeId {
    let factory = move |_: &TaskInfo| Ok(Box::new(make()) as Box<dyn Operator>);
    let id = graph.operator(node, Arc::new(factory));
    for (input, (from, exchange)) in inputs.iter().enumerate() {
        graph.connect(*from, id, input, exchange.clone());
    }
    id
}

/// Adds a sink.
pub fn sink(graph: &mut JobGraph, from: NodeId, exchange: Exchange, sink: Arc<dyn TableSink>) {
    let spec = SinkSpec { sink, static_partitions: Vec::new(), overwrite: false };
    let id = graph.sink(node("sink", 1), spec);
    graph.connect(from, id, 0, exchange);
}

/// Leads the late rows of an operator that reads `key` and `time` into a sink of the same columns.
pub fn late_sink(graph: &mut JobGraph, from: NodeId, sink: Arc<dyn TableSink>) {
    static NO_FORMAT: FormatDef = FormatDef {
        name: "none",
        help: "",
        options: &[],
        decodes: ChangelogMode::INSERT_ONLY,
        encodes: ChangelogMode::INSERT_ONLY,
        metadata: &[],
        decoder: None,
        encoder: None,
    };
    let columns = ["key", "time"].map(|name| Column::new(name, DataType::bigint()));
    let columns = Columns::new(columns.to_vec());
    let spec = SinkSpec { sink: sink.clone(), static_partitions: Vec::new(), overwrite: false };
    let id = graph.sink(node("late rows", 1), spec);
    let table = LateTable::new("late".into(), columns.clone(), sink, &NO_FORMAT).unwrap();
    let time = LateTime { column: 1, is_ltz: false };
    let writers =
        move |task: &TaskInfo| Ok(vec![LateRowWriter::new(&table, &columns, time, task)?]);
    graph.connect_late(from, id, Exchange::Forward, Arc::new(writers));
}

/// By column 0.
pub fn by_key() -> Exchange {
    Exchange::Hash { columns: vec![0], types: vec![DataType::bigint()] }
}
