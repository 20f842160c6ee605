//! Jobs over files of Parquet and Avro that are killed at any moment lose and repeat no row.
//!
//! `FLOTT_CRASHES=200 cargo test --workspace --test whole_files_crash` kills more often.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use support::{job, youngest};

const ROWS: u64 = 200_000;

const TABLES: &str = "
    CREATE TABLE written (id BIGINT, name STRING, part BIGINT) PARTITIONED BY (part) WITH (
      'connector' = 'filesystem', 'path' = 'written', 'format' = 'parquet',
      'parquet.block.size' = '100 kb');
    CREATE TABLE copied (id BIGINT, name STRING, moment TIMESTAMP(9)) WITH (
      'connector' = 'filesystem', 'path' = 'FORMAT', 'format' = 'FORMAT', 'auto-compaction' = 'true');";

/// Runs a script to its end and returns what it said.
fn run(folder: &Path, script: &str) -> String {
    fs::write(folder.join("job.sql"), script).unwrap();
    let output = job(folder, None).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a script until it ends, killing it so many times before.
fn run_killed(folder: &Path, script: &str, kills: u64) {
    let _ = fs::remove_dir_all(folder.join("checkpoints"));
    fs::write(folder.join("job.sql"), script).unwrap();
    let mut from = None;
    for killed in 0.. {
        let mut child = job(folder, from.as_deref())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if killed < kills {
            // Between the first moments of a process and several checkpoints.
            std::thread::sleep(Duration::from_micros(50_000 + killed * 7_919_777 % 400_000));
            if child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                from = youngest(folder).or(from);
                continue;
            }
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "after {killed} kills: {said}");
        return;
    }
}

fn survive(kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let settings = "
        SET 'parallelism.default' = '2';
        SET 'execution.checkpointing.interval' = '30 ms';
        SET 'execution.checkpointing.dir' = 'checkpoints';";
    let count = format!("{ROWS}\",\"{ROWS}\",\"{}", ROWS * (ROWS + 1) / 2);
    let check = |tables: &str, table: &str| {
        let said = run(
            folder,
            &format!(
                "SET 'execution.runtime-mode' = 'batch'; {tables}
                 SELECT COUNT(*), COUNT(DISTINCT id), SUM(id) FROM {table};"
            ),
        );
        assert!(said.contains(&count), "{table}: {said}");
    };
    let write = format!(
        "{settings} {TABLES}
         CREATE TABLE ids (id BIGINT) WITH (
           'connector' = 'datagen', 'rows-per-second' = '200000',
           'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{ROWS}');
         INSERT INTO written SELECT id, CONCAT('name ', CAST(id % 77 AS STRING)), id % 3 FROM ids;"
    );
    run_killed(folder, &write, kills);
    check(TABLES, "written");
    for format in ["parquet", "avro"] {
        let moment = if format == "avro" { "" } else { ", moment TIMESTAMP(9)" };
        let tables = TABLES.replace("FORMAT", format).replace(", moment TIMESTAMP(9)", moment);
        let moment = if format == "avro" { "" } else { ", TIMESTAMP '2024-01-01 00:00:00'" };
        let copy =
            format!("{settings} {tables} INSERT INTO copied SELECT id, name{moment} FROM written;");
        run_killed(folder, &copy, kills);
        check(&tables, "copied");
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_repeated() {
    survive(std::env::var("FLOTT_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(5));
}
