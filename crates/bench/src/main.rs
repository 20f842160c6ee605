//! Nexmark queries over files or generated events: how many rows they take a second, and a second of
//! processor time.
//!
//! ```sh
//! cargo run --release -p flott-bench -- generate --events 1000000 --out target/nexmark
//! cargo run --release -p flott-bench -- run --data target/nexmark/json/p1 --format json q0 q1 agg
//! cargo run --release -p flott-bench -- run --events 1000000 q0 q1 agg
//! cargo run --release -p flott-bench -- generate --kafka localhost:9092 --stripes 2
//! cargo run --release -p flott-bench -- run --kafka localhost:9092 --parallelism 2 q0 q4
//! cargo run --release -p flott-bench -- spill agg --memory 64mb
//! ```

mod generate;
mod kafka;
mod process;
mod queries;
mod spill;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use flott::{Outcome, TableEnvironment, split_script};
use queries::Tables;

/// Nexmark over Flott.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write events as CSV and JSON files, or to Kafka.
    Generate {
        /// How many events: 2 % persons, 6 % auctions, 92 % bids.
        #[arg(long, default_value_t = 1_000_000)]
        events: u64,
        /// The folder to write to: `<out>/<format>/p<stripes>/<table>/`.
        #[arg(long, required_unless_present = "kafka")]
        out: Option<PathBuf>,
        /// A server to send them to, to the topics nexmark-person, nexmark-auction and nexmark-bid.
        #[arg(long, value_name = "SERVER", conflicts_with = "out")]
        kafka: Option<String>,
        /// Over how many files or partitions each table is striped.
        #[arg(long, default_value_t = 1)]
        stripes: u64,
    },
    /// Run queries into blackhole, or from Kafka to Kafka.
    Run {
        /// The folder of the tables: `<data>/person`, `<data>/auction`, `<data>/bid`. Without it, events
        /// are generated in the process.
        #[arg(long)]
        data: Option<PathBuf>,
        /// How many events are generated.
        #[arg(long, default_value_t = 1_000_000, conflicts_with = "data")]
        events: u64,
        /// A server whose topics are read; the results go to new topics, exactly once, with a checkpoint a
        /// second.
        #[arg(long, value_name = "SERVER", conflicts_with_all = ["data", "events"])]
        kafka: Option<String>,
        /// `json` or `csv`.
        #[arg(long, default_value = "json")]
        format: String,
        /// Parallel tasks an operator.
        #[arg(long, default_value_t = 1)]
        parallelism: usize,
        /// How often each query runs; the fastest run counts.
        #[arg(long, default_value_t = 3)]
        repeat: usize,
        /// Rows are gathered for their net changes, up to so many and for up to two seconds.
        #[arg(long, value_name = "ROWS")]
        mini_batch: Option<u64>,
        /// Further options of the session.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        settings: Vec<String>,
        /// The queries, by name; all of them when none is given.
        queries: Vec<String>,
    },
    /// Run a query whose state outgrows its memory.
    Spill(spill::SpillArgs),
}

/// What can go wrong here.
#[derive(Debug, thiserror::Error)]
enum BenchError {
    /// A statement failed.
    #[error("{0}")]
    Statement(#[from] flott::Error),
    /// A file could not be written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// There is no such query.
    #[error("no query '{0}'; there are {1}")]
    NoQuery(String, String),
    /// Kafka has no topic for it.
    #[error("{0}")]
    Kafka(#[from] flott_kafka::KafkaError),
}

fn main() -> ExitCode {
    flott_allocator::install();
    let outcome = match Cli::parse().command {
        Command::Generate { events, out, kafka, stripes } => match (out, kafka) {
            (Some(out), _) => generate::files(events, &out, stripes),
            (None, Some(server)) => kafka::fill(&server, events, stripes),
            (None, None) => Ok(()),
        },
        Command::Run {
            data,
            events,
            kafka,
            format,
            parallelism,
            repeat,
            mini_batch,
            settings,
            queries,
        } => {
            let tables = match (&data, &kafka) {
                (Some(data), _) => Tables::Files { data, format: &format },
                (None, Some(server)) => Tables::Kafka { server },
                (None, None) => Tables::Generated { events },
            };
            let mut options = vec![("parallelism.default".to_string(), parallelism.to_string())];
            if kafka.is_some() {
                options.push(("execution.checkpointing.interval".into(), "1 s".into()));
            }
            options.extend(mini_batch.into_iter().flat_map(gathering));
            let setting = |text: &String| text.split_once('=').map(|(k, v)| (k.into(), v.into()));
            options.extend(settings.iter().filter_map(setting));
            run(&tables, &options, parallelism, repeat, &queries)
        }
        Command::Spill(args) => spill::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The options of mini-batches of so many rows.
fn gathering(rows: u64) -> [(String, String); 3] {
    [
        ("table.exec.mini-batch.enabled", "true".to_string()),
        ("table.exec.mini-batch.allow-latency", "2 s".to_string()),
        ("table.exec.mini-batch.size", rows.to_string()),
    ]
    .map(|(key, value)| (key.to_string(), value))
}

/// Options of a session, by key.
type Options = [(String, String)];

fn run(
    tables: &Tables,
    options: &Options,
    parallelism: usize,
    repeat: usize,
    names: &[String],
) -> Result<(), BenchError> {
    println!("query  parallelism      rows   wall s    cpu s   M rows/s   M rows/cpu s   peak MB");
    for (name, text) in queries::named(names)? {
        let mut best: Option<Measured> = None;
        for _ in 0..repeat.max(1) {
            let text = match tables {
                Tables::Kafka { server } => kafka::into_topic(server, name, text, parallelism)?,
                _ => text.to_string(),
            };
            let measured = measure(tables, options, &text)?;
            if best.as_ref().is_none_or(|best| measured.cpu < best.cpu) {
                best = Some(measured);
            }
        }
        if let Some(best) = best {
            let millions = best.rows as f64 / 1e6;
            println!(
                "{name:<6} {parallelism:>11} {:>9} {:>8.3} {:>8.3} {:>10.3} {:>14.3} {:>9}",
                best.rows,
                best.wall,
                best.cpu,
                millions / best.wall,
                millions / best.cpu,
                process::peak_memory() / (1 << 20),
            );
        }
    }
    Ok(())
}

struct Measured {
    rows: u64,
    wall: f64,
    cpu: f64,
}

/// Runs a query's script in a fresh session; rows are those that its sources gave.
fn measure(tables: &Tables, options: &Options, text: &str) -> Result<Measured, BenchError> {
    let mut session = TableEnvironment::new();
    for (key, value) in options {
        session.config_mut().set(key, value);
    }
    let out = tempfile::tempdir()?;
    let script = queries::script(tables, text, out.path());
    let (wall, cpu) = (Instant::now(), process::cpu_seconds());
    let mut rows = 0;
    for statement in split_script(&script) {
        if let Outcome::Job(job) = session.execute(statement.text)? {
            job.wait().map_err(flott::Error::from)?;
            let is_source = |name: &str| name.starts_with("TableSourceScan");
            let sources = job.metrics().operators.into_iter().filter(|op| is_source(&op.name));
            rows += sources.map(|operator| operator.total().rows_out).sum::<u64>();
        }
    }
    Ok(Measured { rows, wall: wall.elapsed().as_secs_f64(), cpu: process::cpu_seconds() - cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_run_over_generated_events() {
        let tables = Tables::Generated { events: 500 };
        for (name, text) in queries::named(&[]).unwrap_or_default() {
            let measured = measure(&tables, &gathering(100), text);
            let rows = measured.as_ref().map_or(0, |measured| measured.rows);
            assert!(rows > 0, "{name}: {:?}", measured.err().map(|error| error.to_string()));
        }
    }
}
