//! The SQL blocks of the documentation run, and give what the blocks behind them show.

#![allow(clippy::unwrap_used)]

use flott::{Outcome, TableEnvironment};

/// The blocks of a page: their language and their text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("```").skip(1).step_by(2);
    parts.by_ref().map(|block| block.split_once('\n').unwrap()).collect()
}

#[test]
fn the_page_on_changelogs_runs() {
    let page = include_str!("../../../docs/changelogs.md");
    let folder = tempfile::tempdir().unwrap();
    let mut session = TableEnvironment::new().in_directory(folder.path());
    let mut rows: Vec<String> = Vec::new();
    for (language, text) in blocks(page) {
        if language == "text" {
            assert_eq!(rows, text.lines().collect::<Vec<_>>());
        }
        if language != "sql" {
            continue;
        }
        for statement in text.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            match session.execute(statement).unwrap_or_else(|e| panic!("{statement}\n{e}")) {
                Outcome::Query(result) => {
                    rows = result.collect().unwrap().iter().map(ToString::to_string).collect();
                }
                Outcome::Job(job) => drop(job.wait().unwrap()),
                _ => {}
            }
        }
    }
}

#[test]
fn the_page_on_the_current_time_runs() {
    let page = include_str!("../../../docs/current-time.md");
    let mut session = TableEnvironment::new();
    let mut rows: Vec<String> = Vec::new();
    for (_, text) in blocks(page).into_iter().filter(|(language, _)| *language == "sql") {
        for statement in text.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            if let Outcome::Query(result) = session.execute(statement).unwrap() {
                rows = result.collect().unwrap().iter().map(ToString::to_string).collect();
            }
        }
    }
    assert_eq!(rows, ["+I[TRUE]"; 3]);
}
