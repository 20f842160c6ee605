//! Jobs in processes of their own, for tests that kill them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Runs `job.sql` in a folder, from a checkpoint if there is one.
pub fn job(folder: &Path, from: Option<&Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flott"));
    command.current_dir(folder).args(["run", "job.sql", "--format", "jsonl"]);
    if let Some(from) = from {
        command.arg("--from").arg(from);
    }
    command
}

/// The folder of the job that has the youngest checkpoint.
pub fn youngest(folder: &Path) -> Option<PathBuf> {
    let jobs = fs::read_dir(folder.join("checkpoints")).ok()?;
    let age = |job: &Path| -> Option<SystemTime> {
        let checkpoints = fs::read_dir(job).ok()?.filter_map(Result::ok);
        let named =
            checkpoints.filter(|entry| entry.file_name().to_string_lossy().starts_with("chk-"));
        named.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
    };
    let jobs = jobs.filter_map(|job| Some((age(&job.as_ref().ok()?.path())?, job.ok()?.path())));
    jobs.max().map(|(_, job)| job)
}

/// A folder for a job, in memory where that can be: who is killed loses nothing that it wrote.
#[allow(dead_code, reason = "not every test that kills needs it")]
pub fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    tempfile::tempdir_in(folder).unwrap()
}
