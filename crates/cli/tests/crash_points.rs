//! Killing the process at each named step of a checkpoint, and at any moment: nothing is lost or repeated.
//!
//! `FLOTT_CRASHES=200 cargo test --workspace --test crash_points` kills so often at moments of chance.

#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use support::{job, youngest};

/// Where a process dies, in the order of a checkpoint's life.
const STEPS: [&str; 15] = [
    "checkpoint begun",
    "files prepared",
    "barrier passed",
    "part given",
    "part written",
    "parts synced",
    "manifest written",
    "manifest renamed",
    "checkpoint published",
    "cleanup half",
    "cleaned up",
    "commit begun",
    "commit half",
    "commit finished",
    "last checkpoint published",
];
const TABLES: [&str; 3] = ["windows", "joined", "best"];

/// Windows, a join and a Top-N, with checkpoints as often as they can be taken.
fn script(parallelism: usize) -> String {
    format!(
        "SET 'parallelism.default' = '{parallelism}';
         SET 'execution.checkpointing.interval' = '2 ms';
         SET 'execution.checkpointing.dir' = 'checkpoints';
         CREATE TABLE ids (id BIGINT, k AS id % 7, v AS id * 7919 % 101, ts AS TO_TIMESTAMP_LTZ(id, 3),
           WATERMARK FOR ts AS ts) WITH (
           'connector' = 'datagen', 'rows-per-second' = '10000000',
           'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '300000');
         CREATE TABLE windows (k BIGINT, n BIGINT, s BIGINT) WITH (
           'connector' = 'filesystem', 'path' = 'windows', 'format' = 'debezium-json');
         CREATE TABLE joined (a BIGINT, b BIGINT) WITH (
           'connector' = 'filesystem', 'path' = 'joined', 'format' = 'debezium-json');
         CREATE TABLE best (k BIGINT, id BIGINT, v BIGINT) WITH (
           'connector' = 'filesystem', 'path' = 'best', 'format' = 'debezium-json');
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO windows SELECT k, COUNT(*), SUM(id) FROM TABLE(TUMBLE(
           TABLE ids, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end;
         INSERT INTO joined SELECT a.id, b.id FROM ids AS a JOIN ids AS b ON a.id = b.id + 5
           WHERE a.id % 20 = 0;
         INSERT INTO best SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (
           PARTITION BY k ORDER BY v DESC, id DESC) AS r FROM ids) WHERE r <= 3;
         END;"
    )
}

/// How often each row is in each table, once all changes have been made.
type Content = BTreeMap<String, i64>;

/// A job in a folder of its own, of which one process after the other runs a part.
struct Survivor {
    folder: tempfile::TempDir,
    from: Option<PathBuf>,
    deaths: u64,
}

impl Survivor {
    fn new(parallelism: usize) -> Self {
        let folder = support::folder();
        fs::write(folder.path().join("job.sql"), script(parallelism)).unwrap();
        Self { folder, from: None, deaths: 0 }
    }

    fn start(&self, dies_at: Option<(&str, u64)>) -> Child {
        let mut command = job(self.folder.path(), self.from.as_deref());
        if let Some((step, time)) = dies_at {
            command.env("FLOTT_CRASH_AT", format!("{step}:{time}"));
        }
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits for a process that was killed, or has finished: whether the job has.
    fn has_finished(&mut self, process: Child) -> bool {
        let output = process.wait_with_output().unwrap();
        if output.status.signal() == Some(9) {
            self.deaths += 1;
            self.from = youngest(self.folder.path()).or(self.from.take());
            return false;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "after {} deaths: {said}", self.deaths);
        true
    }

    /// Runs what is left without trouble, and looks at the tables.
    fn finish(mut self, story: &str) {
        let process = self.start(None);
        assert!(self.has_finished(process), "{story}: somebody else has killed it");
        self.check(story);
    }

    fn check(&self, story: &str) {
        let (content, expected) = (content(self.folder.path()), undisturbed());
        let differs = |one: &Content, other: &Content| -> Vec<String> {
            let differing = one.iter().filter(|(row, count)| other.get(*row) != Some(count));
            differing.take(5).map(|(row, count)| format!("{count} x {row}")).collect()
        };
        let (found, wanted) = (differs(&content, expected), differs(expected, &content));
        assert!(
            content == *expected,
            "{story}, after {} deaths: has {found:?} for {wanted:?}",
            self.deaths
        );
    }
}

/// What the tables hold when nothing happens.
fn undisturbed() -> &'static Content {
    static CONTENT: OnceLock<Content> = OnceLock::new();
    CONTENT.get_or_init(|| {
        let mut run = Survivor::new(1);
        let process = run.start(None);
        assert!(run.has_finished(process));
        let content = content(run.folder.path());
        assert!(content.len() > 15_000, "{}", content.len());
        content
    })
}

fn content(folder: &Path) -> Content {
    let mut content = Content::new();
    for table in TABLES {
        let Ok(files) = fs::read_dir(folder.join(table)) else { continue };
        let visible =
            |path: &PathBuf| !path.file_name().unwrap().to_string_lossy().starts_with('.');
        for file in files.map(|file| file.unwrap().path()).filter(visible) {
            for line in fs::read_to_string(file).unwrap().lines() {
                let change: serde_json::Value = serde_json::from_str(line).unwrap();
                for (side, count) in [("before", -1), ("after", 1)] {
                    if !change[side].is_null() {
                        *content.entry(format!("{table} {}", change[side])).or_default() += count;
                    }
                }
            }
        }
    }
    content.retain(|_, count| *count != 0);
    content
}

/// Each process of a job dies at another step, at its `time`-th passage. Where one ends before it gets there the
/// job is over, and another tries that step. How many died.
fn killed_at_every_step(parallelism: usize, time: u64) -> u64 {
    let (mut deaths, mut next) = (0, 0);
    while next < STEPS.len() {
        let mut run = Survivor::new(parallelism);
        let mut story = format!("{parallelism} tasks");
        let (first, mut is_over) = (next, false);
        while !is_over && let Some(step) = STEPS.get(next) {
            story += &format!(", {step}:{time}");
            let process = run.start(Some((step, time)));
            is_over = run.has_finished(process);
            // A job that does not get there from its beginning never does.
            next += usize::from(!is_over || next == first);
        }
        deaths += run.deaths;
        if is_over { run.check(&story) } else { run.finish(&story) }
    }
    deaths
}

#[test]
fn killed_at_every_step_of_a_checkpoint() {
    for parallelism in [1, 2] {
        for time in [1, 2, 3] {
            let deaths = killed_at_every_step(parallelism, time);
            println!("{deaths} of {} steps, {parallelism} tasks, at the {time}. time", STEPS.len());
            // The last checkpoint is published once, and a fast machine takes few of the others.
            let reached = if time == 1 { STEPS.len() } else { STEPS.len() - 4 };
            assert!(deaths as usize >= reached, "{deaths} of {} steps", STEPS.len());
        }
    }
}

#[test]
fn killed_at_any_moment() {
    let kills = std::env::var("FLOTT_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    for parallelism in [1, 2] {
        let mut deaths = 0;
        while deaths < kills {
            let mut run = Survivor::new(parallelism);
            let mut is_over = false;
            while !is_over && run.deaths < 25 && deaths + run.deaths < kills {
                let mut process = run.start(None);
                let moment = (deaths + run.deaths + 1) * 7_919_777 % 250_000;
                std::thread::sleep(Duration::from_micros(30_000 + moment));
                process.kill().unwrap();
                is_over = run.has_finished(process);
            }
            deaths += run.deaths.max(1);
            let story = format!("{parallelism} tasks, at any moment");
            if is_over { run.check(&story) } else { run.finish(&story) }
        }
    }
}
