//! The SQL blocks of the documentation run, and give what the blocks behind them show.

#![allow(clippy::unwrap_used)]

use flott::{Outcome, TableEnvironment};

/// The blocks of a page: their language and their text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("```").skip(1).step_by(2);
    parts.by_ref().map(|block| block.split_once('\n').unwrap()).collect()
}

/// Runs the SQL blocks of a text; where a block shows rows, they are those of the query before it.
fn run(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = TableEnvironment::new().in_directory(folder.path());
    let mut rows: Vec<String> = Vec::new();
    for (language, text) in blocks(text) {
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

/// A section of a page, with its own sections.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let start = page.find(&format!("\n## {title}\n")).unwrap() + 1;
    let end = page[start..].find("\n## ").map_or(page.len(), |end| start + end);
    &page[start..end]
}

#[test]
fn the_page_on_changelogs_runs() {
    run(include_str!("../../../docs/changelogs.md"));
}

#[test]
fn the_page_on_files_runs() {
    run(include_str!("../../../docs/files.md"));
}

#[test]
fn the_section_on_late_rows_runs() {
    run(section(include_str!("../../../docs/windows-and-state.md"), "Rows that come late"));
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
