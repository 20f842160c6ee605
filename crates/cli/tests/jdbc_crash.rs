//! Killing the job or the database at any moment loses and repeats nothing: a table by key holds what an
//! undisturbed run writes, and a table that is read is read once.
//!
//! Needs `FLOTT_TEST_POSTGRES` and `FLOTT_TEST_MARIADB`, see `scripts/postgres.sh` and `scripts/mariadb.sh`.
//! `FLOTT_CRASHES=50` kills more often.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{job, youngest};

/// How many rows are written, and how many in a second.
const ROWS: u64 = 8000;
const PACE: u64 = 2000;

/// A server with the script that controls it.
struct Server {
    script: PathBuf,
    port: (&'static str, u16),
    url: String,
}

impl Server {
    /// A server of this test's own; none where there is no server to test against.
    fn start(name: &str, variable: &str, port: (&'static str, u16)) -> Option<Self> {
        if std::env::var_os(variable).is_none() {
            assert!(std::env::var_os("CI").is_none(), "{variable} is not set, and this is CI");
            eprintln!("skipped: {variable} is not set; see scripts/{name}.sh");
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scripts/{name}.sh"));
        let mut server = Self { script, port, url: String::new() };
        server.url = server.command(&["start", "--fresh"]);
        Some(server)
    }

    fn command(&self, arguments: &[&str]) -> String {
        // What the server itself says goes nowhere: it holds its output open as long as it lives.
        let folder = tempfile::tempdir().unwrap();
        let (out, errors) = (folder.path().join("out"), folder.path().join("errors"));
        let status = Command::new(&self.script)
            .args(arguments)
            .env(self.port.0, self.port.1.to_string())
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&errors).unwrap())
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}: {}", fs::read_to_string(errors).unwrap());
        fs::read_to_string(out).unwrap().trim().to_string()
    }

    fn sql(&self, sql: &str) -> String {
        self.command(&["sql", sql])
    }

    /// The numbers that stand in what a query prints.
    fn numbers(&self, sql: &str) -> Vec<u64> {
        self.sql(sql)
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|part| part.parse().ok())
            .collect()
    }

    fn table(&self, name: &str, columns: &str) -> String {
        format!(
            "CREATE TABLE {name} ({columns}) WITH ('connector' = 'jdbc', 'url' = '{}',
               'table-name' = '{name}', 'scan.fetch-size' = '100');",
            self.url
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.command(&["stop"]);
    }
}

const SETTINGS: &str = "SET 'execution.checkpointing.interval' = '100 ms';
    SET 'execution.checkpointing.dir' = 'checkpoints';
    SET 'restart-strategy.type' = 'fixed-delay';
    SET 'restart-strategy.fixed-delay.attempts' = '1000';
    SET 'restart-strategy.fixed-delay.delay' = '300 ms';";

/// A job that counts rows as they come and writes all of them.
fn writing(server: &Server) -> String {
    server.sql("CREATE TABLE counts (k BIGINT PRIMARY KEY, n BIGINT, s BIGINT)");
    server.sql("CREATE TABLE all_ids (id BIGINT PRIMARY KEY)");
    format!(
        "{SETTINGS}
         CREATE TABLE input (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{PACE}',
           'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{ROWS}');
         {} {}
         CREATE VIEW keyed AS SELECT id, CAST(id % 10 AS BIGINT) AS k FROM input;
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO all_ids SELECT id FROM input;
         INSERT INTO counts SELECT k, COUNT(*), SUM(id) FROM keyed GROUP BY k;
         END;",
        server.table("all_ids", "id BIGINT, PRIMARY KEY (id) NOT ENFORCED"),
        server.table("counts", "k BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED"),
    )
}

fn check_written(server: &Server) {
    let ids = server.numbers("SELECT id FROM all_ids");
    let distinct: BTreeSet<u64> = ids.into_iter().filter(|id| (1..=ROWS).contains(id)).collect();
    assert_eq!(distinct.len() as u64, ROWS);
    let counts = server.numbers("SELECT SUM(n) AS a, SUM(s) AS b, COUNT(*) AS c FROM counts");
    assert!(counts.starts_with(&[ROWS, ROWS * (ROWS + 1) / 2, 10]), "{counts:?}");
}

/// A job that reads a table by its key and counts what it reads.
fn reading(server: &Server) -> String {
    server.sql("CREATE TABLE numbers (id BIGINT PRIMARY KEY, part VARCHAR(9))");
    server.sql("CREATE TABLE parts (part VARCHAR(9) PRIMARY KEY, n BIGINT, s BIGINT)");
    for start in (1..=ROWS).step_by(1000) {
        let rows: Vec<String> =
            (start..start + 1000).map(|id| format!("({id}, 'p{}')", id % 7)).collect();
        server.sql(&format!("INSERT INTO numbers VALUES {}", rows.join(", ")));
    }
    format!(
        "{SETTINGS}
         {} {}
         INSERT INTO parts SELECT part, COUNT(*), SUM(id) FROM numbers GROUP BY part;",
        server.table("numbers", "id BIGINT, part STRING, PRIMARY KEY (id) NOT ENFORCED"),
        server.table("parts", "part STRING, n BIGINT, s BIGINT, PRIMARY KEY (part) NOT ENFORCED"),
    )
}

fn check_read(server: &Server) {
    let sums = server.numbers("SELECT SUM(n) AS a, SUM(s) AS b, COUNT(*) AS c FROM parts");
    assert!(sums.starts_with(&[ROWS, ROWS * (ROWS + 1) / 2, 7]), "{sums:?}");
}

fn start(folder: &Path, from: Option<&Path>) -> Child {
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    job(folder, from).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Waits until a job that ends has ended well.
fn finish(mut job: Child, folder: &Path) {
    let begin = Instant::now();
    loop {
        let log = || fs::read_to_string(folder.join("log")).unwrap();
        if let Some(status) = job.try_wait().unwrap() {
            assert!(status.success(), "{status}\n{}", log());
            return;
        }
        if begin.elapsed() > Duration::from_secs(90) {
            job.kill().unwrap();
            panic!("the job does not end: {}", log());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Runs a job and kills it again and again until it ends.
fn survive(script: &str, kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.sql"), script).unwrap();
    for killed in 0..kills {
        let from = youngest(folder.path());
        let mut job = start(folder.path(), from.as_deref());
        std::thread::sleep(Duration::from_micros(150_000 + killed * 7_919_777 % 900_000));
        if job.try_wait().unwrap().is_some_and(|status| status.success()) {
            return;
        }
        job.kill().unwrap();
        job.wait().unwrap();
    }
    let from = youngest(folder.path());
    finish(start(folder.path(), from.as_deref()), folder.path());
}

fn crashes(default: u64) -> u64 {
    std::env::var("FLOTT_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Kills the job, then the server, and looks at the tables.
fn check(server: &Server) {
    survive(&reading(server), crashes(3));
    check_read(server);
    survive(&writing(server), crashes(4));
    check_written(server);
    // The same with the server killed, into tables that are empty again.
    server.sql("DROP TABLE counts");
    server.sql("DROP TABLE all_ids");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.sql"), writing(server)).unwrap();
    let job = start(folder.path(), None);
    for killed in 0..crashes(2).min(20) {
        std::thread::sleep(Duration::from_millis(900 + killed * 317 % 500));
        server.command(&["kill"]);
        server.command(&["start"]);
    }
    finish(job, folder.path());
    check_written(server);
}

#[test]
fn killed_jobs_and_servers_of_postgresql_lose_and_repeat_nothing() {
    let server = Server::start("postgres", "FLOTT_TEST_POSTGRES", ("POSTGRES_PORT", 15533));
    server.iter().for_each(check);
}

#[test]
fn killed_jobs_and_servers_of_mariadb_lose_and_repeat_nothing() {
    let server = Server::start("mariadb", "FLOTT_TEST_MARIADB", ("MARIADB_PORT", 13533));
    server.iter().for_each(check);
}
