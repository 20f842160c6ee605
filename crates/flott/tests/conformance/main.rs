//! What Apache Flink answered, and whether Flott answers the same.
//!
//! `conformance/` at the top of the repository holds the cases; `conformance/not-passing.tsv` lists those
//! that do not pass yet, a case and a reason a line. A listed case that passes fails the test as
//! well as an unlisted one that does not: the list is the truth, and it only shrinks.
//!
//! `CONFORMANCE=expressions/json cargo test …` runs and explains the cases whose name starts so.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A broken corpus may end the test.

mod compare;
mod expressions;
mod known;
mod queries;

use std::path::PathBuf;

use known::Report;

/// The folder of the corpora.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

#[test]
fn expressions_give_flinks_values_and_types() {
    let mut report = Report::new("expressions");
    expressions::run(&mut report);
    report.settle();
}

#[test]
fn queries_give_flinks_changelogs() {
    let mut report = Report::new("queries");
    queries::run(&mut report);
    report.settle();
}
