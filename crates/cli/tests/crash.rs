//! Killing the process at any moment loses and repeats nothing.
//!
//! `FLOTT_CRASHES=200 cargo test --workspace --test crash` kills more often.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{job, youngest};

const ROWS: u64 = 6000;

/// A job that reads a sequence, counts by windows and joins the counts, at some pace.
fn script(parallelism: usize) -> String {
    format!(
        "SET 'parallelism.default' = '{parallelism}';
         SET 'execution.checkpointing.interval' = '50 ms';
         SET 'execution.checkpointing.dir' = 'checkpoints';
         CREATE TABLE ids (id BIGINT, ts AS TO_TIMESTAMP_LTZ(id, 3), WATERMARK FOR ts AS ts) WITH (
           'connector' = 'datagen', 'rows-per-second' = '3000',
           'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{ROWS}');
         CREATE TABLE all_ids (id BIGINT) WITH (
           'connector' = 'filesystem', 'path' = 'every', 'format' = 'csv');
         CREATE TABLE counts (k BIGINT, n BIGINT, s BIGINT) WITH (
           'connector' = 'filesystem', 'path' = 'counts', 'format' = 'csv');
         CREATE VIEW keyed AS SELECT id % 10 AS k, id, ts FROM ids;
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO all_ids SELECT id FROM ids;
         INSERT INTO counts SELECT k, COUNT(*), SUM(id) FROM TABLE(TUMBLE(
           TABLE keyed, DESCRIPTOR(ts), INTERVAL '0.5' SECOND(1, 3)))
           GROUP BY k, window_start, window_end;
         END;"
    )
}

fn start(folder: &Path, from: Option<&Path>) -> Child {
    job(folder, from).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn lines(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder).unwrap().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(['.', '_']) {
            lines.extend(fs::read_to_string(entry.path()).unwrap().lines().map(str::to_string));
        }
    }
    lines.sort();
    lines
}

fn expected() -> (Vec<String>, Vec<String>) {
    let mut every: Vec<String> = (1..=ROWS).map(|id| id.to_string()).collect();
    let mut windows = std::collections::BTreeMap::new();
    for id in 1..=ROWS {
        let (count, sum) = windows.entry((id / 500, id % 10)).or_insert((0, 0));
        *count += 1;
        *sum += id;
    }
    let mut counts: Vec<String> = windows
        .into_iter()
        .map(|((_, key), (count, sum))| format!("{key},{count},{sum}"))
        .collect();
    every.sort();
    counts.sort();
    (every, counts)
}

fn survive(parallelism: usize, kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = 0;
    while killed < kills {
        for output in ["every", "counts", "checkpoints"] {
            let _ = fs::remove_dir_all(folder.path().join(output));
        }
        fs::write(folder.path().join("job.sql"), script(parallelism)).unwrap();
        let mut from = None;
        loop {
            let mut job = start(folder.path(), from.as_deref());
            // Between the first moments of a process and several checkpoints.
            let pause = Duration::from_micros(60_000 + killed * 7_919_777 % 500_000);
            std::thread::sleep(pause);
            match job.try_wait().unwrap() {
                None if killed < kills => {
                    job.kill().unwrap();
                    job.wait().unwrap();
                    killed += 1;
                    from = youngest(folder.path()).or(from);
                }
                _ => {
                    let output = job.wait_with_output().unwrap();
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "after {killed} kills: {said}");
                    break;
                }
            }
        }
        let (every, counts) = expected();
        assert_eq!(lines(&folder.path().join("every")), every, "after {killed} kills");
        assert_eq!(lines(&folder.path().join("counts")), counts, "after {killed} kills");
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_repeated() {
    let kills = std::env::var("FLOTT_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    survive(1, kills);
    survive(2, kills);
}

#[test]
fn a_job_stopped_with_a_savepoint_goes_on_from_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.sql"), script(1)).unwrap();
    let mut job = start(folder.path(), None);
    let running = loop {
        std::thread::sleep(Duration::from_millis(20));
        match youngest(folder.path()) {
            Some(running) if running.join("control.sock").exists() => break running,
            _ => assert!(job.try_wait().unwrap().is_none(), "it ended before its first checkpoint"),
        }
    };
    let savepoint = |target: &str, stop: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flott"));
        command.current_dir(folder.path()).arg("savepoint").arg(&running).arg(target);
        if stop {
            command.arg("--stop");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    savepoint("first", false);
    savepoint("second", true);
    let _ = job.wait().unwrap();
    let output = start(folder.path(), Some(Path::new("second"))).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (every, counts) = expected();
    assert_eq!(lines(&folder.path().join("every")), every);
    assert_eq!(lines(&folder.path().join("counts")), counts);
}
