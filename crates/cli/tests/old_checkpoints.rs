//! Checkpoints of every version of the format are resumed from, by a job that keeps state of many kinds.
//!
//! `FLOTT_RECORD=1 cargo test --workspace --test old_checkpoints` writes the fixture of the present version, if
//! there is none: the checkpoint of a process that was killed.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The version that is written now.
const VERSION: &str = "v2";
/// Tables whose rows come in one order, whatever the pace.
const ORDERED: [&str; 5] = ["totals", "tens", "best", "latest", "sums"];
/// Tables of which the rows of a window come in any order.
const WINDOWED: [&str; 2] = ["windows", "hops"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints")
}

fn job(folder: &Path, from: Option<&Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flott"));
    command.current_dir(folder).arg("run").arg(fixtures().join("job.sql"));
    if let Some(from) = from {
        command.arg("--from").arg(from);
    }
    command
}

/// The rows of each table in the order in which they were printed.
fn rows(folder: &Path, from: Option<&Path>) -> BTreeMap<String, Vec<String>> {
    let output = job(folder, from).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        if let Some((table, row)) = line.split_once("> ") {
            tables.entry(table.to_string()).or_default().push(row.to_string());
        }
    }
    tables
}

/// What a join came to: its last row for each key and name.
fn last_joined(rows: &[String]) -> BTreeMap<Vec<&str>, &str> {
    let added = rows.iter().filter(|row| row.starts_with("+"));
    added.map(|row| (row.splitn(4, [',', '[']).skip(1).take(2).collect(), &**row)).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let name = to.join(name);
        if entry.is_dir() {
            copy(&entry, &name);
        } else if entry.extension().is_none_or(|kind| kind != "sock") {
            fs::copy(&entry, &name).unwrap();
        }
    }
}

/// Kills a job in the middle and keeps its checkpoint.
fn record() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = job(folder.path(), None).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1800));
    job.kill().unwrap();
    job.wait().unwrap();
    let checkpoints = fs::read_dir(folder.path().join("checkpoints")).unwrap().next().unwrap();
    copy(&checkpoints.unwrap().path(), &fixtures().join(VERSION));
}

#[test]
fn checkpoints_of_every_version_are_resumed_from() {
    if std::env::var_os("FLOTT_RECORD").is_some() && !fixtures().join(VERSION).exists() {
        record();
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = rows(folder.path(), None);
    for version in ["v1", VERSION] {
        let from = folder.path().join(version);
        copy(&fixtures().join(version), &from);
        let rest = rows(folder.path(), Some(&from));
        for table in ORDERED {
            let (all, rest) = (&whole[table], &rest[table]);
            assert!(!rest.is_empty() && rest.len() < all.len(), "{version} {table}");
            assert_eq!(rest[..], all[all.len() - rest.len()..], "{version} {table}");
        }
        for table in WINDOWED {
            let (all, mut rest) = (&whole[table], rest[table].clone());
            assert!(!rest.is_empty() && rest.len() < all.len(), "{version} {table}");
            let mut last = all[all.len() - rest.len()..].to_vec();
            last.sort();
            rest.sort();
            assert_eq!(rest, last, "{version} {table}");
        }
        let joined = (last_joined(&rest["joined"]), last_joined(&whole["joined"]));
        assert_eq!(joined.0, joined.1, "{version}");
        let (near, all_near) = (&rest["near"], &whole["near"]);
        assert!(near.iter().all(|row| all_near.contains(row)), "{version}");
    }
}
