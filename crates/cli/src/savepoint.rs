//! `flott savepoint`: asks a running job for a savepoint.

use std::path::{Path, PathBuf};

use crate::args::SavepointArgs;
use crate::diagnostics::{Failure, Outcome};

/// Takes a savepoint of the job whose checkpoints are in a folder.
pub fn savepoint(args: &SavepointArgs) -> Outcome {
    let target = match &args.target {
        Some(target) => target.clone(),
        None => beside(&args.job),
    };
    // The job has a working directory of its own.
    let target = std::path::absolute(&target)?;
    ask(&args.job, &target, args.stop)?;
    println!("{}", target.display());
    Ok(true)
}

/// A name for a savepoint next to the job's folder.
fn beside(job: &Path) -> PathBuf {
    let name = job.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let now = std::time::SystemTime::now();
    let millis = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
    job.with_file_name(format!("savepoint-{name}-{millis:x}"))
}

#[cfg(unix)]
fn ask(job: &Path, target: &Path, stop: bool) -> Result<(), Failure> {
    match crate::control::request(job, target, stop) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(reason)) => Err(Failure::Savepoint(reason)),
        Err(error) => Err(Failure::Savepoint(format!(
            "no job answers in '{}': {error}\nhint: name the folder of a running job, below its \
             'execution.checkpointing.dir'",
            job.display()
        ))),
    }
}

#[cfg(not(unix))]
fn ask(_: &Path, _: &Path, _: bool) -> Result<(), Failure> {
    Err(Failure::Savepoint("this system has no way to ask a running job".to_string()))
}
