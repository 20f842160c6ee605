//! Aggregations and joins whose state outgrows the memory they may use: rows a second, peak memory, and bytes
//! on disk, beside the same in memory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use flott::{Outcome, TableEnvironment, split_script};

use crate::{BenchError, process};

/// What to run. One process measures one query, whose peak memory is so its own.
#[derive(Debug, Args)]
pub struct SpillArgs {
    /// The query.
    #[arg(value_enum)]
    query: Query,
    /// The rows of each input.
    #[arg(long, default_value_t = 5_000_000)]
    rows: u64,
    /// Over how many keys they are spread.
    #[arg(long, default_value_t = 2_500_000)]
    keys: u64,
    /// The budget, as in 64mb; without it everything is in memory.
    #[arg(long)]
    memory: Option<String>,
    /// The folder for what is on disk; by default the system's for temporary files.
    #[arg(long)]
    folder: Option<String>,
    /// Run in batch mode.
    #[arg(long)]
    batch: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Query {
    /// COUNT and SUM by a BIGINT.
    Agg,
    /// An inner join of two inputs by a BIGINT.
    Join,
    /// The last row of each key.
    Latest,
    /// ORDER BY of everything; in batch mode.
    Sort,
}

impl Query {
    /// The query; its last row tells whether the answer is right.
    fn text(self) -> &'static str {
        match self {
            Self::Agg => {
                "SELECT COUNT(*), SUM(c), SUM(s), SUM(c * c) FROM \
                 (SELECT k, COUNT(*) AS c, SUM(v) AS s FROM a GROUP BY k);"
            }
            Self::Join => {
                "SELECT COUNT(*), SUM(a.v), SUM(b.v), SUM(a.v * b.v) FROM a JOIN b ON a.k = b.k;"
            }
            Self::Latest => {
                "SELECT COUNT(*), SUM(v), SUM(k), SUM(k * v) FROM (SELECT *, ROW_NUMBER() OVER \
                 (PARTITION BY k ORDER BY p DESC) AS n FROM (SELECT *, PROCTIME() AS p FROM a)) \
                 WHERE n = 1;"
            }
            Self::Sort => {
                "SELECT COUNT(*), SUM(v), SUM(k), MAX(k) FROM \
                 (SELECT * FROM a ORDER BY v, k LIMIT 1000000000);"
            }
        }
    }
}

/// Runs the query and prints what it took.
pub fn run(args: &SpillArgs) -> Result<(), BenchError> {
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let mut session = TableEnvironment::new();
    let config = session.config_mut();
    if let Some(memory) = &args.memory {
        config.set("taskmanager.memory.managed.size", memory);
    }
    config.set("io.tmp.dirs", &folder.path().display().to_string());
    if args.batch {
        config.set("execution.runtime-mode", "batch");
    }
    let table = |name: &str, seed: u64| {
        format!(
            "CREATE TABLE {name} (k BIGINT, v BIGINT) WITH ('connector' = 'datagen', \
             'rows-per-second' = '1000000000', 'number-of-rows' = '{}', 'seed' = '{seed}', \
             'fields.k.min' = '0', 'fields.k.max' = '{}', \
             'fields.v.min' = '0', 'fields.v.max' = '999');\n",
            args.rows,
            args.keys.saturating_sub(1),
        )
    };
    let script = table("a", 1) + &table("b", 2) + args.query.text();
    let (most, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let (start, cpu) = (Instant::now(), process::cpu_seconds());
    let mut last = None;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(bytes_below(folder.path()), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let outcome = last_row(&mut session, &script, &mut last);
        done.store(true, Ordering::Relaxed);
        outcome
    })?;
    let inputs = if matches!(args.query, Query::Join) { 2 } else { 1 };
    let (rows, wall) = (args.rows * inputs, start.elapsed().as_secs_f64());
    println!(
        "{:?}  memory {}  rows {rows}  keys {}  wall {wall:.2} s  cpu {:.2} s  {:.0} rows/s  \
         peak {} MB  disk {} MB  answer {}",
        args.query,
        args.memory.as_deref().unwrap_or("all"),
        args.keys,
        process::cpu_seconds() - cpu,
        rows as f64 / wall,
        process::peak_memory() >> 20,
        most.into_inner() >> 20,
        last.unwrap_or_default(),
    );
    Ok(())
}

fn last_row(
    session: &mut TableEnvironment,
    script: &str,
    last: &mut Option<String>,
) -> Result<(), BenchError> {
    for statement in split_script(script) {
        if let Outcome::Query(result) = session.execute(statement.text)? {
            while let Some(batch) = result.next_batch()? {
                let row = batch.slice(batch.len() - 1, 1);
                *last = result.rows(&row).first().map(ToString::to_string);
            }
        }
    }
    Ok(())
}

/// The bytes of the files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
