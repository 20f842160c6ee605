//! Jobs whose state outgrows their memory.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

const KEYS: i64 = 40_000;

fn run(folder: &Path, script: &str, args: &[&str]) -> Output {
    std::fs::write(folder.join("script.sql"), script).unwrap();
    let args = [&["run", "script.sql", "--format", "changelog"], args].concat();
    Command::new(env!("CARGO_BIN_EXE_flott")).current_dir(folder).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Two tables of so many rows a key, whose columns are a key and a number.
fn tables(rows: i64) -> String {
    let table = |name: &str, seed: i64| {
        format!(
            "CREATE TABLE {name} (k BIGINT, v BIGINT) WITH ('connector' = 'datagen', \
             'rows-per-second' = '100000000', 'number-of-rows' = '{rows}', 'seed' = '{seed}', \
             'fields.k.min' = '0', 'fields.k.max' = '{}', \
             'fields.v.min' = '0', 'fields.v.max' = '9');\n",
            KEYS - 1
        )
    };
    // The same with event time, two milliseconds a row, and fewer rows.
    let timed = |name: &str, seed: i64| {
        format!(
            "CREATE TABLE {name} (k BIGINT, v BIGINT, i BIGINT, ts AS TO_TIMESTAMP_LTZ(2 * i, 3), \
             WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', \
             'rows-per-second' = '100000000', 'seed' = '{seed}', \
             'fields.k.min' = '0', 'fields.k.max' = '{}', \
             'fields.v.min' = '0', 'fields.v.max' = '9', \
             'fields.i.kind' = 'sequence', 'fields.i.start' = '0', 'fields.i.end' = '{}');\n",
            KEYS - 1,
            rows / 2 - 1
        )
    };
    table("a", 1) + &table("b", 2) + &timed("c", 3) + &timed("d", 4)
}

/// The last line of a query with little memory, which must be that of one with enough.
fn same_in_little_memory(query: &str, args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let script = tables(120_000) + query;
    let last = |args: &[&str]| {
        let output = run(folder.path(), &script, args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).lines().last().unwrap().to_string()
    };
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill).unwrap();
    let little =
        ["--memory", "1mb", "--set", "io.tmp.dirs=spill", "--set", "state.backend.type=rocksdb"];
    assert_eq!(last(&[&little, args].concat()), last(args), "{query}");
    assert_eq!(std::fs::read_dir(&spill).unwrap().count(), 0, "the folder is left behind");
}

#[test]
fn aggregations_and_joins_outgrow_memory() {
    same_in_little_memory(
        "SELECT COUNT(*), SUM(c), SUM(s), SUM(c * s) FROM \
         (SELECT k, COUNT(*) AS c, SUM(v) AS s FROM a GROUP BY k);",
        &[],
    );
    same_in_little_memory(
        "SELECT COUNT(*), SUM(a.v), SUM(b.v * a.v) FROM a JOIN b ON a.k = b.k;",
        &["--set", "parallelism.default=2"],
    );
    same_in_little_memory(
        "SELECT COUNT(*), SUM(n), SUM(v) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n \
         FROM a) WHERE n <= 2;",
        &[],
    );
}

#[test]
fn state_that_waits_for_time_outgrows_memory() {
    same_in_little_memory(
        "SELECT COUNT(*), SUM(n), SUM(s), SUM(n * s) FROM \
         (SELECT k, window_end, COUNT(*) AS n, SUM(v) AS s FROM \
         TABLE(HOP(TABLE c, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '90' SECOND)) \
         GROUP BY k, window_start, window_end);",
        &[],
    );
    same_in_little_memory(
        "SELECT COUNT(*), SUM(s), SUM(s * v) FROM (SELECT v, SUM(v) OVER (PARTITION BY k ORDER BY ts \
         RANGE BETWEEN INTERVAL '60' SECOND PRECEDING AND CURRENT ROW) AS s FROM c);",
        &["--set", "parallelism.default=2"],
    );
    same_in_little_memory(
        "SELECT COUNT(*), SUM(c.v), SUM(c.v * d.v) FROM c JOIN d ON c.k = d.k \
         AND c.ts BETWEEN d.ts - INTERVAL '40' SECOND AND d.ts + INTERVAL '10' SECOND;",
        &[],
    );
}

#[test]
fn batch_jobs_outgrow_memory() {
    let batch = ["--set", "execution.runtime-mode=batch"];
    same_in_little_memory(
        "SELECT COUNT(*), SUM(c), SUM(s), SUM(c * s) FROM \
         (SELECT k, COUNT(*) AS c, SUM(v) AS s FROM a GROUP BY k);",
        &batch,
    );
    same_in_little_memory(
        "SELECT COUNT(*), SUM(b.v), COUNT(b.v) FROM a LEFT JOIN b ON a.k = b.k AND b.v > 5;",
        &batch,
    );
    same_in_little_memory("SELECT v, k FROM a ORDER BY v DESC, k;", &batch);
}

#[test]
fn what_cannot_move_to_disk_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = tables(200_000) + "SELECT COUNT(DISTINCT k * 10 + v) FROM a;";
    let output = run(folder.path(), &script, &["--memory", "1mb"]);
    assert_eq!(output.status.code(), Some(1));
    // Errors are wrapped to the width of the terminal.
    let error = text(&output.stderr).replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "out of state memory: operator GroupAggregate",
        "of 1.0 MiB allowed; it cannot move state to disk",
        "raise taskmanager.memory.managed.size",
    ] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = tables(120_000) + "SELECT COUNT(*) FROM (SELECT DISTINCT k FROM a);";
    let args = ["--memory", "1mb", "--set", "io.tmp.dirs=/nonexistent/folder"];
    let output = run(folder.path(), &script, &args);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr).replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(error.contains("cannot keep state on disk in /nonexistent/folder"), "{error}");
    assert!(error.contains("io.tmp.dirs"), "{error}");
}
