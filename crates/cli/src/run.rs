//! `flott run`: a script, statement by statement.

use std::path::Path;
use std::time::Duration;

use flott::{
    Error, JobHandle, JobStatus, Outcome as StatementOutcome, ScriptStatement, TableEnvironment,
    split_script,
};

use crate::args::RunArgs;
use crate::diagnostics::{Failure, Outcome, StatementError, print_statement, read_script};
use crate::interrupt;
use crate::output::{Printer, printer};
use crate::progress::Progress;

/// How often a waiting command looks at Ctrl-C and the progress line.
const TICK: Duration = Duration::from_millis(100);

/// Runs a script.
pub fn run(args: &RunArgs) -> Outcome {
    let text = read_script(&args.file)?;
    let name = args.file.display().to_string();
    let mut session = args.session.session();
    if let Some(path) = &args.from {
        session.config_mut().set("execution.state-recovery.path", path);
    }
    let mut printer = printer(args.format);
    let mut all_succeeded = true;
    for statement in split_script(&text) {
        if interrupt::is_interrupted() {
            return Ok(false);
        }
        match execute(&mut session, &statement, printer.as_mut()) {
            Ok(()) => {}
            Err(Stop::Output(error)) => return Err(error),
            Err(Stop::Failed(error)) => {
                all_succeeded = false;
                printer.failed(statement.number, &error)?;
                print_statement(&StatementError::new(&error, statement.number, &name, &text));
                if !args.continue_on_error {
                    return Ok(false);
                }
            }
        }
    }
    Ok(all_succeeded)
}

/// Why a statement did not come to its end.
pub enum Stop {
    /// It failed.
    Failed(Error),
    /// Its output could not be written.
    Output(Failure),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error.into())
    }
}

/// Waits for a job that writes tables. Ctrl-C ends it: with a last checkpoint where these are kept
/// on disk, else as if its input ended.
fn wait(job: &JobHandle) -> Result<(), Error> {
    #[cfg(unix)]
    let _control = crate::control::ControlSocket::open(job);
    let progress = Progress::start();
    let mut told = false;
    while !job.wait_within(TICK) {
        if interrupt::is_interrupted() && !std::mem::replace(&mut told, true) {
            match job.checkpoint_folder() {
                None => job.stop(),
                Some(folder) => {
                    progress.clear();
                    suspend(job, folder);
                }
            }
        }
        progress.show(job);
    }
    progress.clear();
    match job.wait() {
        Err(_) if told && matches!(job.status(), JobStatus::Cancelled) => Ok(()),
        ended => Ok(ended.map(drop)?),
    }
}

fn suspend(job: &JobHandle, folder: &Path) {
    match job.suspend() {
        Ok(()) => eprintln!("suspended; go on with --from '{}'", folder.display()),
        Err(error) => {
            eprintln!("no last checkpoint ({error}); go on with --from '{}'", folder.display());
            job.cancel();
        }
    }
}

/// Executes a statement, waits for it and prints what it gives.
pub fn execute(
    session: &mut TableEnvironment,
    statement: &ScriptStatement,
    printer: &mut dyn Printer,
) -> Result<(), Stop> {
    let number = statement.number;
    let parsed = statement.parse().map_err(Error::from)?;
    match session.execute_statement(&parsed)? {
        StatementOutcome::Done => {
            printer.begin(number, None)?;
        }
        StatementOutcome::Table(table) => {
            printer.begin(number, Some(&table.schema))?;
            printer.table(number, &table)?;
        }
        StatementOutcome::Job(job) => {
            printer.begin(number, None)?;
            wait(&job)?;
        }
        StatementOutcome::Query(result) => {
            printer.begin(number, Some(result.schema()))?;
            let progress = Progress::start();
            loop {
                if interrupt::is_interrupted() {
                    result.job().stop();
                }
                match result.next_batch_within(TICK)? {
                    None => break,
                    Some(None) => progress.show(result.job()),
                    Some(Some(batch)) => {
                        progress.clear();
                        printer.rows(number, &result, &batch)?;
                    }
                }
            }
            progress.clear();
        }
    }
    printer.end(number)?;
    Ok(())
}
