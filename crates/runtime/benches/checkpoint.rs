//! What checkpoints of a large keyed state cost: COUNT and SUM by a BIGINT key.
//!
//! ```sh
//! cargo bench --workspace --bench checkpoint -- 1 10      # millions of keys
//! ```
//!
//! For each size: the first checkpoint, which is whole; one after 100 000 keys changed; and resuming from it.
//! "barrier" is how long the task stops for it, "store" what is done beside the running query.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use flott_functions::aggregate_function;
use flott_plan::physical::{AggregatePhase, ColumnAggregate, GroupAggregate};
use flott_runtime::operators::GroupAggregateOperator;
use flott_runtime::testing::OperatorHarness;
use flott_runtime::{Checkpoint, CheckpointDirectory, CheckpointKind, CheckpointStore};
use flott_types::{ChangelogBatch, DataType, Field, Schema, TypeRoot};

const ROWS: i64 = 8192;
const CHANGED: i64 = 100_000;

fn main() {
    // What cargo itself passes begins with a dash.
    let sizes: Vec<i64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    println!(
        "{:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9} {:>9} {:>9}",
        "keys",
        "state MB",
        "barrier",
        "store",
        "MB",
        "barrier",
        "store",
        "MB",
        "load",
        "restore",
        "peak MB"
    );
    for millions in if sizes.is_empty() { vec![1] } else { sizes } {
        measure(millions * 1_000_000);
    }
}

fn measure(keys: i64) {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 1);
    let mut query = query(None);
    for from in (0..keys).step_by(ROWS as usize) {
        feed(&mut query, from..(from + ROWS).min(keys));
    }
    let state = query.counts().state_bytes;
    let whole = checkpoint(&mut query, 1, &store, folder.path());
    // Keys all over the state.
    let step = (keys / CHANGED).max(1);
    for from in (0..CHANGED).step_by(ROWS as usize) {
        feed(&mut query, (from..(from + ROWS).min(CHANGED)).map(|key| key * step));
    }
    let changes = checkpoint(&mut query, 2, &store, folder.path());
    drop(query);
    let start = Instant::now();
    let stored = Checkpoint::load(folder.path()).unwrap();
    let load = start.elapsed();
    let start = Instant::now();
    let resumed = self::query(Some(&stored));
    let restore = start.elapsed();
    assert!(resumed.counts().state_bytes > keys as u64 * 16);
    println!(
        "{keys:>9} {:>10} {} {} {:>9.1} {} {} {:>8.1} {} {} {:>9}",
        state >> 20,
        seconds(whole.barrier),
        seconds(whole.store),
        whole.megabytes,
        seconds(changes.barrier),
        seconds(changes.store),
        changes.megabytes,
        seconds(load),
        seconds(restore),
        peak_memory() >> 20,
    );
}

struct Cost {
    barrier: Duration,
    store: Duration,
    megabytes: f64,
}

fn checkpoint(
    query: &mut OperatorHarness,
    id: u64,
    store: &CheckpointDirectory,
    folder: &Path,
) -> Cost {
    let start = Instant::now();
    let taken = query.checkpoint(id, CheckpointKind::Checkpoint).unwrap();
    let barrier = start.elapsed();
    let start = Instant::now();
    store.publish(Arc::new(taken)).unwrap();
    let store = start.elapsed();
    let file = folder.join("shared").join(id.to_string());
    Cost { barrier, store, megabytes: file.metadata().unwrap().len() as f64 / 1e6 }
}

fn feed(query: &mut OperatorHarness, keys: impl Iterator<Item = i64>) {
    // Scattered, as keys of a stream are.
    let keys: ArrayRef = Arc::new(
        keys.map(|key| key.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)).collect::<Int64Array>(),
    );
    let rows = RecordBatch::try_new(input().to_arrow(), vec![keys.clone(), keys]).unwrap();
    query.batch(0, ChangelogBatch::inserts(rows)).unwrap();
    query.take();
}

fn input() -> Schema {
    let field = |name: &str| Field::new(name, DataType::bigint());
    Schema::new(vec![field("key"), field("value")])
}

fn query(resumed: Option<&Checkpoint>) -> OperatorHarness {
    let call = |name: &str, args: &[usize], data_type| ColumnAggregate {
        function: aggregate_function(name).unwrap(),
        args: args.to_vec(),
        literals: vec![None; args.len()],
        arg_types: vec![DataType::bigint(); args.len()],
        symbols: Vec::new(),
        distinct: false,
        filter: None,
        data_type,
    };
    let count = TypeRoot::BigInt.not_null();
    let spec = GroupAggregate {
        keys: vec![0],
        calls: vec![call("COUNT", &[], count.clone()), call("SUM", &[1], DataType::bigint())],
        input_retracts: false,
        emit_update_before: false,
        final_only: false,
        state_ttl: 0,
        phase: AggregatePhase::Complete,
        split: None,
    };
    let types = [DataType::bigint(), count, DataType::bigint()];
    let fields = types.into_iter().enumerate();
    let output = Schema::new(fields.map(|(i, ty)| Field::new(format!("c{i}"), ty)).collect());
    let operator = GroupAggregateOperator::new(&spec, None, &input(), output.to_arrow()).unwrap();
    OperatorHarness::resumed(operator, 1, None, resumed).unwrap()
}

fn seconds(duration: Duration) -> String {
    format!("{:>8.3}s", duration.as_secs_f64())
}

/// The most memory the process had at any time, in bytes (Linux; zero elsewhere).
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
