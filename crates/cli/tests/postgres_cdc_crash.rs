//! Killing the job, or the database, at any moment loses and repeats no change: what a job gathers of a table that is
//! being written is the table.
//!
//! Needs `FLOTT_TEST_POSTGRES`, see `scripts/postgres.sh`. `FLOTT_CRASHES=200` kills more often.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use support::{job, youngest};

/// The rows that are there when the job starts: more than it reads before it is killed first.
const ROWS: u64 = 30_000;

/// A table that is written, and its slot.
struct Table {
    name: String,
    port: String,
    /// The type of the key and what makes one of a number.
    key: (&'static str, &'static str),
}

impl Table {
    fn create(port: &str, name: &str, key: (&'static str, &'static str)) -> Self {
        let name = format!("{name}_{}", std::process::id());
        let table = Self { name, port: port.to_string(), key };
        let (name, (key_type, of)) = (&table.name, table.key);
        table.sql(&format!(
            "DROP TABLE IF EXISTS {name};
             CREATE TABLE {name} (id {key_type} PRIMARY KEY, g INT, v BIGINT);
             ALTER TABLE {name} REPLICA IDENTITY FULL;
             INSERT INTO {name} SELECT {}, i % 10, i FROM generate_series(1, {ROWS}) AS i",
            of.replace('$', "i")
        ));
        table
    }

    fn psql(&self) -> Command {
        let mut command = Command::new("psql");
        command.env("PGPASSWORD", "secret").args(["-qAtX", "-v", "ON_ERROR_STOP=1"]);
        command.args(["-h", "localhost", "-p", &self.port, "-U", "flott", "-d", "test", "-c"]);
        command
    }

    fn try_sql(&self, sql: &str) -> Result<String, String> {
        let output = self.psql().arg(sql).output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).unwrap()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn sql(&self, sql: &str) -> String {
        self.try_sql(sql).unwrap_or_else(|said| panic!("{sql}: {said}"))
    }

    /// Changes rows until told to stop; servers that are down are waited for.
    fn write(&self, seed: u64, stop: &AtomicBool) {
        let (name, of) = (&self.name, self.key.1);
        let key = |number: u64| of.replace('$', &format!("({number})"));
        let mut random = seed;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        let mut new = ROWS;
        while !stop.load(Ordering::Relaxed) {
            let (mut sql, at) = (String::from("BEGIN;"), next() % ROWS + 1);
            sql.push_str(&match next() % 6 {
                0 => {
                    new += 50;
                    format!(
                        "INSERT INTO {name} SELECT {}, i % 10, i FROM generate_series({}, {new}) AS i
                         ON CONFLICT DO NOTHING",
                        of.replace('$', "i::int"),
                        new - 49
                    )
                }
                1 => format!("DELETE FROM {name} WHERE id = {}", key(at)),
                // Rows move to other places in the order of the key.
                2 => format!(
                    "UPDATE {name} SET id = {} WHERE id = {}
                     AND NOT EXISTS (SELECT 1 FROM {name} WHERE id = {})",
                    key(at + 1_000_000),
                    key(at),
                    key(at + 1_000_000)
                ),
                3 => format!("UPDATE {name} SET g = (g + 1) % 10 WHERE v % 97 = {}", at % 97),
                4 => format!("UPDATE {name} SET v = v + 1 WHERE id = {}; DELETE FROM {name} WHERE v % 5003 = 0", key(at)),
                _ => format!("UPDATE {name} SET v = v + 1 WHERE v % 211 = {}", at % 211),
            });
            // Some are taken back.
            sql.push_str(if next() % 8 == 0 { "; ROLLBACK" } else { "; COMMIT" });
            let _ = self.try_sql(&sql);
        }
    }

    /// A job that writes every change down, and what is counted of them.
    fn script(&self, parallelism: usize) -> String {
        let Self { name, port, .. } = self;
        format!(
            "SET 'parallelism.default' = '{parallelism}';
             SET 'execution.checkpointing.interval' = '100 ms';
             SET 'execution.checkpointing.dir' = 'checkpoints';
             SET 'restart-strategy.type' = 'fixed-delay';
             SET 'restart-strategy.fixed-delay.attempts' = '1000';
             SET 'restart-strategy.fixed-delay.delay' = '300 ms';
             CREATE TABLE input (id STRING, g INT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
               'connector' = 'postgres-cdc', 'hostname' = 'localhost', 'port' = '{port}',
               'username' = 'flott', 'password' = 'secret', 'database-name' = 'test',
               'schema-name' = 'public', 'table-name' = '{name}', 'slot.name' = '{name}',
               'debezium.publication.name' = '{name}',
               'debezium.publication.autocreate.mode' = 'filtered',
               'scan.snapshot.fetch.size' = '200');
             CREATE TABLE all_rows (id STRING, g INT, v BIGINT) WITH (
               'connector' = 'filesystem', 'path' = 'every', 'format' = 'debezium-json');
             CREATE TABLE counts (g INT, n BIGINT, s BIGINT) WITH (
               'connector' = 'filesystem', 'path' = 'counts', 'format' = 'debezium-json');
             EXECUTE STATEMENT SET BEGIN
             INSERT INTO all_rows SELECT id, g, v FROM input;
             INSERT INTO counts SELECT g, COUNT(*), SUM(v) FROM input GROUP BY g;
             END;"
        )
    }

    fn expected(&self) -> (Vec<String>, Vec<String>) {
        let rows = |sql: String| {
            let mut rows: Vec<_> = self.sql(&sql).lines().map(str::to_string).collect();
            rows.sort();
            rows
        };
        let name = &self.name;
        (
            rows(format!("SELECT id || '|' || g || '|' || v FROM {name}")),
            rows(format!("SELECT g || '|' || count(*) || '|' || sum(v) FROM {name} GROUP BY g")),
        )
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let name = &self.name;
        let _ = self.try_sql(&format!(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
               WHERE slot_name = '{name}' AND active;
             SELECT pg_sleep(0.2);
             SELECT pg_drop_replication_slot('{name}');"
        ));
        let _ = self.try_sql(&format!("DROP PUBLICATION {name}"));
        let _ = self.try_sql(&format!("DROP TABLE {name}"));
    }
}

/// What the changes in a folder's files add up to, whatever their order.
fn written(folder: &Path, columns: &[&str]) -> Vec<String> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(['.', '_']) {
            continue;
        }
        for line in fs::read_to_string(entry.path()).unwrap().lines() {
            let change: serde_json::Value = serde_json::from_str(line).unwrap();
            for (side, sign) in [("before", -1), ("after", 1)] {
                if change[side].is_object() {
                    let text = |column: &&str| {
                        let value = &change[side][column];
                        value.as_str().map_or_else(|| value.to_string(), str::to_string)
                    };
                    let row = columns.iter().map(text).collect::<Vec<_>>().join("|");
                    *counts.entry(row).or_default() += sign;
                }
            }
        }
    }
    counts.retain(|_, count| *count != 0);
    let mut rows = Vec::new();
    for (row, count) in counts {
        match count {
            1 => rows.push(row),
            _ => rows.push(format!("{count} times {row}")),
        }
    }
    rows.sort();
    rows
}

fn start(folder: &Path, from: Option<&Path>) -> Child {
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    job(folder, from).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Waits until what is written is the table, and says what differs if it never is.
fn settle(table: &Table, job: &mut Child, folder: &Path) {
    let expected = table.expected();
    let start = Instant::now();
    loop {
        let found = (
            written(&folder.join("every"), &["id", "g", "v"]),
            written(&folder.join("counts"), &["g", "n", "s"]),
        );
        if found == expected {
            return;
        }
        let log = || fs::read_to_string(folder.join("log")).unwrap();
        assert!(job.try_wait().unwrap().is_none(), "the job ended: {}", log());
        if start.elapsed() > Duration::from_secs(90) {
            let differ = |found: &[String], expected: &[String]| {
                let only = |left: &[String], right: &[String]| {
                    let row = |row: &&String| right.binary_search(row).is_err();
                    left.iter().filter(row).take(10).cloned().collect::<Vec<_>>()
                };
                format!(
                    "too much: {:?}; missing: {:?}",
                    only(found, expected),
                    only(expected, found)
                )
            };
            panic!(
                "{}\ncounts: {}\n{}",
                differ(&found.0, &expected.0),
                differ(&found.1, &expected.1),
                log()
            );
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn survive(table: &Table, parallelism: usize, kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.sql"), table.script(parallelism)).unwrap();
    let mut from: Option<PathBuf> = None;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| table.write(1, &stop));
        scope.spawn(|| table.write(2, &stop));
        for killed in 0..kills {
            let mut job = start(folder.path(), from.as_deref());
            // Between the first moments of a process and several checkpoints.
            std::thread::sleep(Duration::from_micros(150_000 + killed * 7_919_777 % 1_200_000));
            if let Some(status) = job.try_wait().unwrap() {
                stop.store(true, Ordering::Relaxed);
                let log = fs::read_to_string(folder.path().join("log")).unwrap();
                panic!("the job ended by itself after {killed} kills: {status}\n{log}");
            }
            job.kill().unwrap();
            job.wait().unwrap();
            if let Some(job) = youngest(folder.path()) {
                from = Some(job);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mut job = start(folder.path(), from.as_deref());
    settle(table, &mut job, folder.path());
    job.kill().unwrap();
    job.wait().unwrap();
}

/// The port of the server; without one a test says that it does nothing, or fails in CI.
fn server() -> Option<String> {
    let Ok(address) = std::env::var("FLOTT_TEST_POSTGRES") else {
        assert!(std::env::var_os("CI").is_none(), "FLOTT_TEST_POSTGRES is not set, and this is CI");
        eprintln!("skipped: FLOTT_TEST_POSTGRES is not set; see scripts/postgres.sh");
        return None;
    };
    let port = address.split("localhost:").nth(1).and_then(|rest| rest.split('/').next());
    Some(port.unwrap().to_string())
}

fn crashes(default: u64) -> u64 {
    std::env::var("FLOTT_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn a_job_killed_at_any_moment_has_the_table() {
    let Some(port) = server() else { return };
    // Texts are ordered by the database alone.
    for (parallelism, key) in [(1, ("INT", "$")), (2, ("TEXT", "md5(($)::text)"))] {
        let table = Table::create(&port, &format!("cdc_crash_{parallelism}"), key);
        survive(&table, parallelism, crashes(5));
    }
}

#[test]
fn a_database_killed_under_load_loses_nothing() {
    if server().is_none() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres.sh");
    const PORT: &str = "15633";
    let database = |command: &[&str]| {
        let output =
            Command::new(&script).args(command).env("POSTGRES_PORT", PORT).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?}: {said}");
    };
    database(&["start", "--fresh"]);
    let folder = tempfile::tempdir().unwrap();
    let table = Table::create(PORT, "cdc_killed", ("INT", "$"));
    fs::write(folder.path().join("job.sql"), table.script(2)).unwrap();
    let mut job = start(folder.path(), None);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| table.write(1, &stop));
        scope.spawn(|| table.write(2, &stop));
        for killed in 0..crashes(2).min(20) {
            std::thread::sleep(Duration::from_millis(900 + killed * 717 % 1500));
            database(&["kill"]);
            database(&["start"]);
        }
        std::thread::sleep(Duration::from_secs(1));
        stop.store(true, Ordering::Relaxed);
    });
    settle(&table, &mut job, folder.path());
    job.kill().unwrap();
    job.wait().unwrap();
    drop(table);
    database(&["stop"]);
}
