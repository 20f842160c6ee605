//! Everything that Flink parsed, this parser parses, and what Flink did not parse it refuses.

use flott_sql::{parse_expression, parse_statement, split_script};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");

/// What Flink reads only to refuse it in a later step; here it is refused at once.
const REFUSED_AT_ONCE: [&str; 6] = [
    "MERGE",
    "Type is not supported: REAL",
    "is not a valid time frame",
    "String literal continued on same line",
    "No match found for function signature CONTAINS",
    "Unsupported CREATE OR REPLACE statement for EXPLAIN",
];

/// What begins the messages of errors that come from Flink's parser.
const PARSE_ERRORS: [&str; 6] = [
    "Encountered \"",
    "Incorrect syntax near the keyword",
    "Lexical error",
    "Non-query expression encountered in illegal context",
    "MINUS is not allowed",
    "Bang equal",
];

#[test]
fn scripts() {
    let mut failures = Vec::new();
    let mut count = 0;
    for path in files(&Path::new(CORPUS).join("queries"), "sql") {
        let script = fs::read_to_string(&path).expect("a readable script");
        let recording = fs::read_to_string(path.with_extension("json")).expect("its recording");
        let recording: Value = serde_json::from_str(&recording).expect("valid JSON");
        for statement in split_script(&script) {
            count += 1;
            let failure = failure(&recording, statement.number);
            match (statement.parse(), failure.filter(|message| is_parse_error(message))) {
                (Ok(_), Some(message)) => {
                    failures.push(format!("{path:?} accepts {}: {message}", statement.text));
                }
                (Err(error), None) if !may_refuse(failure) => {
                    failures.push(format!("{path:?} refuses {}: {error}", statement.text));
                }
                _ => {}
            }
        }
    }
    assert!(count > 1000, "only {count} statements found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn expressions() {
    let mut failures = Vec::new();
    let mut count = 0;
    for path in files(&Path::new(CORPUS).join("expressions"), "jsonl") {
        for line in fs::read_to_string(&path).expect("a readable file").lines() {
            count += 1;
            let case: Value = serde_json::from_str(line).expect("valid JSON");
            let expr = case["expr"].as_str().expect("an expression");
            let failure = case["error"].as_str();
            let refusal = failure.filter(|message| is_parse_error(message));
            match (parse_statement(&format!("SELECT {expr}")), refusal) {
                (Ok(_), Some(message)) => failures.push(format!("accepts {expr}: {message}")),
                (Err(error), None) if !may_refuse(failure) => {
                    failures.push(format!("refuses {expr}: {error}"));
                }
                _ => {}
            }
        }
    }
    assert!(count > 3000, "only {count} expressions found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn expressions_parse_alone() {
    for expr in ["a + 1", "CAST(NULL AS ROW<a INT NOT NULL>)", "(SELECT 1)"] {
        assert!(parse_expression(expr).is_ok(), "{expr}");
    }
    for no_expr in ["", "a +", "a, b", "SELECT 1", "a; b"] {
        assert!(parse_expression(no_expr).is_err(), "{no_expr}");
    }
}

/// The message with which the statement `number` failed in Flink.
fn failure(recording: &Value, number: usize) -> Option<&str> {
    let statements = recording["statements"].as_array()?;
    let statement = statements.iter().find(|entry| entry["statement"] == number)?;
    statement["error"]["message"].as_str()
}

fn may_refuse(failure: Option<&str>) -> bool {
    failure.is_some_and(|message| REFUSED_AT_ONCE.iter().any(|part| message.contains(part)))
}

fn is_parse_error(message: &str) -> bool {
    PARSE_ERRORS.iter().any(|start| message.starts_with(start))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
