//! Jobs on a disk that fails, on one thread in an order that a seed decides: whatever fails and however the
//! process ends, what is in the tables at last is what an undisturbed run gives.
//!
//! `FLOTT_FAULTS=10000 cargo test --workspace --lib crash_tests` tries so many seeds; `FLOTT_FAULT_SEED=n` one.

#![cfg(debug_assertions)]

mod numbers;
mod rig;

use rig::{Rig, Story};

/// Queries whose tables are written as rows come.
const TABLES: &str = "
    CREATE TABLE n (id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'numbers');
    CREATE TABLE m (id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'numbers', 'rows' = '60');
";

/// What is written to, and by which query.
const JOBS: &[(&str, &[(&str, &str)])] = &[
    (
        "windows and their Top-N",
        &[
            (
                "a",
                "SELECT k, COUNT(*), SUM(v), window_end FROM TABLE(TUMBLE(TABLE n, DESCRIPTOR(ts), \
                 INTERVAL '0.020' SECOND)) GROUP BY k, window_start, window_end",
            ),
            (
                "b",
                "SELECT id, v, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, \
                 window_end ORDER BY v, id) AS r FROM TABLE(TUMBLE(TABLE n, DESCRIPTOR(ts), \
                 INTERVAL '0.030' SECOND))) WHERE r <= 3",
            ),
            (
                "c",
                "SELECT k, COUNT(*), window_start, window_end FROM TABLE(SESSION(TABLE n PARTITION BY k, \
                 DESCRIPTOR(ts), INTERVAL '0.008' SECOND)) GROUP BY k, window_start, window_end",
            ),
        ],
    ),
    (
        "joins",
        &[
            ("a", "SELECT n.id, m.id, n.v FROM n JOIN m ON n.k = m.k AND n.v = m.v"),
            (
                "b",
                "SELECT n.id, m.id FROM n JOIN m ON n.k = m.k \
                 AND n.ts BETWEEN m.ts - INTERVAL '0.010' SECOND AND m.ts",
            ),
            ("c", "SELECT n.k, n.id, m.v FROM n LEFT JOIN m ON n.id = m.id"),
        ],
    ),
    (
        "Top-N and groups",
        &[
            (
                "a",
                "SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) \
                 AS r FROM n) WHERE r <= 2",
            ),
            ("b", "SELECT k, COUNT(*), SUM(v), MAX(v) FROM n GROUP BY k"),
            (
                "c",
                "SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) \
                 AS r FROM n) WHERE r = 1",
            ),
        ],
    ),
    (
        "OVER and patterns",
        &[
            (
                "a",
                "SELECT id, k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND \
                 CURRENT ROW) FROM n",
            ),
            (
                "b",
                "SELECT * FROM n MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, \
                 LAST(B.id) AS b, C.id AS c ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW \
                 PATTERN (A B+ C) DEFINE B AS B.v > A.v, C AS C.v < A.v) AS t",
            ),
            (
                "c",
                "SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, v ORDER BY ts) AS r \
                 FROM n) WHERE r = 1",
            ),
        ],
    ),
];

fn seeds() -> Box<dyn Iterator<Item = u64>> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    match number("FLOTT_FAULT_SEED") {
        Some(seed) => Box::new(std::iter::once(seed)),
        None => Box::new(0..number("FLOTT_FAULTS").unwrap_or(120)),
    }
}

/// Seeds that fail are all told, with what happened.
fn try_all(jobs: &[(&str, &[(&str, &str)])]) {
    let rigs: Vec<Rig> = jobs
        .iter()
        .flat_map(|(name, tables)| [1, 2].map(|tasks| Rig::new(name, TABLES, tables, tasks)))
        .collect();
    let (mut failed, mut seen) = (Vec::new(), Story::default());
    for seed in seeds() {
        let rig = &rigs[seed as usize % rigs.len()];
        match rig.disturbed(seed) {
            Ok(story) => seen.add(&story),
            Err(problem) => {
                failed.push(format!("FLOTT_FAULT_SEED={seed} ({}): {problem}", rig.name))
            }
        }
    }
    let first: Vec<_> = failed.iter().take(5).cloned().collect();
    assert!(failed.is_empty(), "{} seeds differ:\n{}", failed.len(), first.join("\n\n"));
    println!("{seen:?}");
}

#[test]
fn whatever_the_disk_does_nothing_is_lost_or_repeated() {
    try_all(JOBS);
}
