//! The command line's arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use flott::TableEnvironment;

/// Streaming SQL for people who know Apache Flink. Without a command: an interactive client.
#[derive(Debug, Parser)]
#[command(name = "flott", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the interactive session.
    #[command(flatten)]
    pub session: SessionArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the statements of a script, in order, each to its end.
    Run(RunArgs),
    /// Plan the queries and INSERTs of a script without running them.
    Explain(ExplainArgs),
    /// Take a savepoint of a running job.
    Savepoint(SavepointArgs),
}

/// Options of a session.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionArgs {
    /// Set an option as the statement SET does; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value, global = true)]
    pub set: Vec<(String, String)>,
    /// Refuse queries with operators whose state nothing bounds ('table.exec.strict-state').
    #[arg(long, global = true)]
    pub strict_state: bool,
    /// What the state of a job may take before it goes to disk, as in 512mb
    /// ('taskmanager.memory.managed.size').
    #[arg(long, value_name = "SIZE", global = true)]
    pub memory: Option<String>,
}

/// Arguments of `flott run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The script; `-` reads it from standard input.
    pub file: PathBuf,
    /// Options of the session.
    #[command(flatten)]
    pub session: SessionArgs,
    /// How rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Resume from a checkpoint, a savepoint, or the latest checkpoint of a job's folder; the same as
    /// --set execution.state-recovery.path=PATH.
    #[arg(long, value_name = "PATH")]
    pub from: Option<String>,
    /// Go on with the next statement after one that failed; the exit code still tells.
    #[arg(long)]
    pub continue_on_error: bool,
}

/// Arguments of `flott explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The script; `-` reads it from standard input.
    pub file: PathBuf,
    /// Options of the session.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Tell what jobs would keep, rebuild and drop if they resumed from a checkpoint or savepoint.
    #[arg(long, value_name = "PATH")]
    pub restore: Option<PathBuf>,
}

/// Arguments of `flott savepoint`.
#[derive(Debug, Args)]
pub struct SavepointArgs {
    /// The folder of the job, below its execution.checkpointing.dir.
    pub job: PathBuf,
    /// The folder that becomes the savepoint; by default one beside the job's.
    pub target: Option<PathBuf>,
    /// End the job with the savepoint.
    #[arg(long)]
    pub stop: bool,
}

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The result as a table, once it is complete (or the query was interrupted).
    Table,
    /// Every change as it happens: `+I[Mary, 1]`.
    Changelog,
    /// One JSON object a line, for machines.
    Jsonl,
}

impl SessionArgs {
    /// A session with these options.
    pub fn session(&self) -> TableEnvironment {
        let mut session = TableEnvironment::new();
        if self.strict_state {
            session.config_mut().set("table.exec.strict-state", "true");
        }
        if let Some(size) = &self.memory {
            session.config_mut().set("taskmanager.memory.managed.size", size);
        }
        for (key, value) in &self.set {
            session.config_mut().set(key, value);
        }
        session
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("write KEY=VALUE, as in --set parallelism.default=2".to_string()),
    }
}
