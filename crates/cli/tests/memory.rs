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
    table("a", 1) + &table("b", 2)
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
    let script = tables(200_000)
        + "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY p ROWS BETWEEN 100 PRECEDING AND CURRENT ROW) \
           FROM (SELECT k, v, PROCTIME() AS p FROM a);";
    let output = run(folder.path(), &script, &["--memory", "1mb"]);
    assert_eq!(output.status.code(), Some(1));
    // Errors are wrapped to the width of the terminal.
    let error = text(&output.stderr).replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "out of state memory: operator OverAggregate",
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
