//! The `flott` command line: runs, explains and explores Flink SQL scripts.

mod args;
mod control;
mod diagnostics;
mod explain;
mod interactive;
mod interrupt;
mod output;
mod progress;
mod run;
mod savepoint;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    flott_allocator::install();
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_max_level(tracing::Level::WARN)
        .init();
    interrupt::install();
    let outcome = match cli.command {
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Explain(args)) => explain::explain(&args),
        Some(Command::Savepoint(args)) => savepoint::savepoint(&args),
        None => interactive::interactive(&cli.session),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(report) => {
            diagnostics::print(&report);
            ExitCode::FAILURE
        }
    }
}
