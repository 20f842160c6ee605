//! The command line as its users meet it.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn flott(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flott")).current_dir(folder).args(args).output().unwrap()
}

fn run(folder: &Path, script: &str, args: &[&str]) -> Output {
    std::fs::write(folder.join("script.sql"), script).unwrap();
    flott(folder, &[&["run", "script.sql"], args].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_changelog_is_printed_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let script = "SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS t(k) GROUP BY k;";
    let output = run(folder.path(), script, &["--format", "changelog"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "+I[a, 1]\n+I[b, 1]\n-U[a, 1]\n+U[a, 2]\n");
}

#[test]
fn json_lines_have_the_documented_form() {
    let folder = tempfile::tempdir().unwrap();
    let script = "SET 'a' = 'b';\nSELECT 1 AS n, CAST(NULL AS STRING) AS nothing;\nSELECT nope;";
    let output = run(folder.path(), script, &["--format", "jsonl", "--continue-on-error"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<String> = text(&output.stdout).lines().map(str::to_string).collect();
    assert_eq!(lines[0], r#"{"statement":1,"done":true}"#);
    assert_eq!(
        lines[1],
        r#"{"statement":2,"columns":[["n","INT NOT NULL"],["nothing","STRING"]]}"#
    );
    assert_eq!(lines[2], r#"{"statement":2,"row":["+I","1",null]}"#);
    assert_eq!(lines[3], r#"{"statement":2,"done":true}"#);
    assert!(
        lines[4].starts_with(r#"{"statement":3,"error":"Column 'nope' not found"#),
        "{lines:?}"
    );
}

#[test]
fn a_failing_statement_ends_the_script_with_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "SELECT nope;\nSELECT 1;", &["--format", "changelog"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    let error = text(&output.stderr);
    assert!(error.contains("statement 1"), "{error}");
    assert!(error.contains("script.sql"), "the place in the script is shown: {error}");
}

#[test]
fn a_missing_script_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = flott(folder.path(), &["run", "nowhere.sql"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nowhere.sql"));
}

#[test]
fn explain_prints_plans_and_reads_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = "CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'no/such', \
                  'format' = 'csv');\nSELECT k, COUNT(*) FROM t GROUP BY k;";
    std::fs::write(folder.path().join("script.sql"), script).unwrap();
    let output = flott(folder.path(), &["explain", "script.sql"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let plan = text(&output.stdout);
    for part in ["GroupAggregate(groupBy=[k]", "changelogMode=[I,UB,UA]", "TableSourceScan"] {
        assert!(plan.contains(part), "{part} is not in {plan}");
    }
}

#[test]
fn ctrl_c_ends_an_endless_job_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let script = "CREATE TABLE endless (id BIGINT) WITH ('connector' = 'datagen', \
                  'rows-per-second' = '10');\nSELECT * FROM endless;";
    std::fs::write(folder.path().join("script.sql"), script).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_flott"))
        .current_dir(folder.path())
        .args(["run", "script.sql", "--format", "changelog"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    assert!(text(&output.stdout).starts_with("+I["), "{}", text(&output.stderr));
}

#[test]
#[cfg(target_os = "linux")]
fn an_idle_job_uses_no_processor_time() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    std::fs::write(folder.path().join("in/a.csv"), "1\n").unwrap();
    let script = "CREATE TABLE watched (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', \
                  'format' = 'csv', 'source.monitor-interval' = '10 min');\n\
                  SELECT COUNT(*) FROM watched;";
    std::fs::write(folder.path().join("script.sql"), script).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_flott"))
        .current_dir(folder.path())
        .args(["run", "script.sql", "--format", "changelog"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let ticks = |pid: u32| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    std::thread::sleep(Duration::from_secs(2));
    let before = ticks(child.id());
    std::thread::sleep(Duration::from_secs(3));
    let used = ticks(child.id()) - before;
    child.kill().unwrap();
    child.wait().unwrap();
    // A tick is 10 ms; the command line itself looks at Ctrl-C ten times a second.
    assert!(used <= 3, "{used} ticks in three seconds of idleness");
}
