//! Rows that operators drop because they come late reach the table that the session names.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use flott::{Error, Outcome, TableEnvironment};

const BIDS: &str = "CREATE TABLE bids (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = 'bids.csv', 'format' = 'csv')";
const LATE: &str =
    "CREATE TABLE late (`operator` STRING, `watermark` TIMESTAMP(3), event_time TIMESTAMP(3),
    row_kind STRING, row_json STRING, id INT)
    WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json')";
const OPTION: &str = "SET 'table.exec.late-rows.table' = 'late'";

/// A session over bids of which the last two are late for most operators.
fn session(folder: &Path) -> TableEnvironment {
    let bids = "1,a,2026-01-01 00:00:01\n2,a,2026-01-01 00:00:20\n3,a,2026-01-01 00:00:02\n\
                4,b,2026-01-01 00:00:03\n";
    std::fs::write(folder.join("bids.csv"), bids).unwrap();
    let mut session = TableEnvironment::new().in_directory(folder);
    for sql in ["SET 'table.local-time-zone' = 'UTC'", BIDS, LATE, OPTION] {
        run(&mut session, sql).unwrap();
    }
    session
}

fn run(session: &mut TableEnvironment, sql: &str) -> Result<Vec<String>, Error> {
    match session.execute(sql)? {
        Outcome::Query(result) => Ok(result.collect()?.iter().map(ToString::to_string).collect()),
        Outcome::Job(job) => {
            job.wait()?;
            Ok(Vec::new())
        }
        _ => Ok(Vec::new()),
    }
}

/// What the table for late rows holds of the columns, in order.
fn late(session: &mut TableEnvironment, columns: &str) -> Vec<String> {
    let mut rows = run(session, &format!("SELECT {columns} FROM late")).unwrap();
    rows.sort();
    rows
}

/// Runs a query; gives the operator that dropped rows, and their ids.
fn dropped_by(query: &str, settings: &[&str]) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    for setting in settings {
        run(&mut session, setting).unwrap();
    }
    run(&mut session, query).unwrap_or_else(|error| panic!("{query}\n{error}"));
    let text = |row: &String| row.trim_start_matches("+I[").trim_end_matches(']').to_string();
    let operators = late(
        &mut session,
        "DISTINCT SUBSTRING(`operator` FROM 1 FOR POSITION('(' IN `operator`) - 1)",
    );
    let ids = late(&mut session, "id").iter().map(text).collect();
    (operators.iter().map(text).collect::<Vec<_>>().join(" "), ids)
}

const TUMBLE: &str = "TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))";

#[test]
fn every_operator_that_drops_rows_hands_them_over() {
    let top = |order: &str, limit: u32| {
        format!(
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k \
             ORDER BY {order}) AS rn FROM {TUMBLE}) WHERE rn <= {limit}"
        )
    };
    let cases: &[(&str, String, &[&str])] = &[
        (
            "WindowAggregate",
            format!("SELECT window_end, COUNT(id) FROM {TUMBLE} GROUP BY window_start, window_end"),
            &["3", "4"],
        ),
        (
            "WindowAggregate",
            "SELECT window_end, COUNT(id) FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND, \
             INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
                .into(),
            &["3", "4"],
        ),
        (
            "WindowAggregate",
            "SELECT window_end, COUNT(id) FROM TABLE(SESSION(TABLE bids PARTITION BY k, DESCRIPTOR(ts), \
             INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end"
                .into(),
            &["3", "4"],
        ),
        (
            "GroupWindowAggregate",
            "SELECT COUNT(id) FROM bids GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)".into(),
            &["3", "4"],
        ),
        (
            "GroupWindowAggregate",
            "SELECT COUNT(id) FROM bids GROUP BY SESSION(ts, INTERVAL '5' SECOND)".into(),
            &["3", "4"],
        ),
        (
            "WindowTableFunction",
            "SELECT id, window_end FROM TABLE(SESSION(TABLE bids PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' \
             SECOND))"
                .into(),
            &["3", "4"],
        ),
        ("WindowRank", top("id", 2), &["3", "4"]),
        ("WindowDeduplicate", top("ts DESC", 1), &["3", "4"]),
        (
            "Deduplicate",
            "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS rn FROM bids) \
             WHERE rn = 1"
                .into(),
            &["3", "4"],
        ),
        ("TemporalSort", "SELECT id FROM bids ORDER BY ts".into(), &["3", "4"]),
        (
            "OverAggregate",
            "SELECT id, SUM(id) OVER (PARTITION BY k ORDER BY ts) FROM bids".into(),
            &["3", "4"],
        ),
        // Bounded frames of a partition that has seen nothing are not late, as in Flink.
        (
            "OverAggregate",
            "SELECT id, SUM(id) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) FROM bids".into(),
            &["3"],
        ),
        (
            "Match",
            "SELECT * FROM bids MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.id AS id \
             PATTERN (a) DEFINE a AS a.id > 0)"
                .into(),
            &["3", "4"],
        ),
    ];
    for (operator, query, ids) in cases {
        let (by, late) = dropped_by(query, &[]);
        assert_eq!(late, *ids, "{query}");
        assert_eq!(by, *operator, "{query}");
    }
    // The watermark of a join is that of both inputs, so that which side is late is a matter of who comes first.
    let query = format!(
        "SELECT l.id, r.k FROM {TUMBLE} l JOIN (SELECT k, window_start, window_end FROM {TUMBLE}) r \
         ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
    );
    let (by, late) = dropped_by(&query, &[]);
    assert_eq!(by, "WindowJoin");
    assert!(late == ["3", "4"] || late == ["null", "null"], "{late:?}");
    // Windows that are kept for late rows drop what comes later still.
    let emit = [
        "SET 'table.exec.emit.late-fire.enabled' = 'true'",
        "SET 'table.exec.emit.late-fire.delay' = '0 s'",
        "SET 'table.exec.emit.allow-lateness' = '1 s'",
    ];
    let query = "SELECT COUNT(id) FROM bids GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)";
    assert_eq!(dropped_by(query, &emit).1, ["3", "4"]);
}

#[test]
fn late_rows_say_where_when_and_what_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let query = "SELECT k, COUNT(id) FROM bids GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)";
    let Outcome::Query(result) = session.execute(query).unwrap() else { panic!("no query") };
    let job = result.job().clone();
    result.collect().unwrap();
    let rows = late(&mut session, "`watermark`, event_time, row_kind, row_json, id");
    assert_eq!(
        rows,
        [
            "+I[2026-01-01 00:00:20.000, 2026-01-01 00:00:02.000, +I, \
             {\"id\":3,\"k\":\"a\",\"ts\":\"2026-01-01 00:00:02\"}, 3]",
            "+I[2026-01-01 00:00:20.000, 2026-01-01 00:00:03.000, +I, \
             {\"id\":4,\"k\":\"b\",\"ts\":\"2026-01-01 00:00:03\"}, 4]",
        ]
    );
    let metrics = job.metrics();
    let counts: Vec<_> = metrics.operators.iter().filter(|o| o.total().late_rows > 0).collect();
    assert_eq!(counts.len(), 1);
    assert_eq!(counts[0].total().late_rows, 2);
    let operators = late(&mut session, "DISTINCT `operator`");
    assert_eq!(operators, [format!("+I[{}]", counts[0].name)]);
}

#[test]
fn instants_and_times_of_the_zone_meet_in_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    for sql in [
        "SET 'table.local-time-zone' = 'America/New_York'",
        "CREATE TABLE zoned (`watermark` TIMESTAMP_LTZ(3), event_time TIMESTAMP_LTZ(6), id INT)
         WITH ('connector' = 'filesystem', 'path' = 'zoned', 'format' = 'json')",
        "SET 'table.exec.late-rows.table' = 'zoned'",
        "SELECT id FROM bids ORDER BY ts",
    ] {
        run(&mut session, sql).unwrap();
    }
    let rows = run(&mut session, "SELECT `watermark`, event_time FROM zoned WHERE id = 3").unwrap();
    // The zone's own clock shows what the TIMESTAMP column says.
    assert_eq!(rows, ["+I[2026-01-01 00:00:20.000, 2026-01-01 00:00:02.000000]"]);
}

#[test]
fn several_tasks_share_the_table() {
    for (parallelism, writers) in [(1, 2), (3, 1), (3, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path());
        for sql in [
            format!("SET 'parallelism.default' = '{parallelism}'"),
            "CREATE TABLE nothing (k STRING, n BIGINT) WITH ('connector' = 'blackhole')"
                .to_string(),
            format!(
                "CREATE TABLE shared (id INT) WITH ('connector' = 'filesystem', 'path' = 'shared', \
                 'format' = 'json', 'sink.parallelism' = '{writers}')"
            ),
            "SET 'table.exec.late-rows.table' = 'shared'".to_string(),
        ] {
            run(&mut session, &sql).unwrap();
        }
        let sql = "INSERT INTO nothing SELECT k, COUNT(id) FROM bids \
                   GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)";
        let Outcome::Job(job) = session.execute(sql).unwrap() else { panic!("no job") };
        job.wait().unwrap();
        let late: u64 = job.metrics().operators.iter().map(|o| o.total().late_rows).sum();
        // Source tasks without a file hold the watermark back as long as they live.
        assert!(late == 2 || parallelism > 1, "{late}");
        if late > 0 {
            let rows = run(&mut session, "SELECT id FROM shared").unwrap();
            assert_eq!(rows.len() as u64, late, "{parallelism} {writers}");
        }
    }
}

#[test]
fn a_table_that_does_not_fit_is_refused_before_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let with = "WITH ('connector' = 'filesystem', 'path' = 'other', 'format' = 'json')";
    let cases = [
        ("CREATE TABLE a (`operator` INT)", "a", "declare it as STRING"),
        ("CREATE TABLE b (id BIGINT)", "b", "declare 'id' as INT"),
        ("CREATE TABLE c (something INT)", "c", "declare one or more of operator STRING"),
        ("CREATE TABLE d (row_json STRING, x INT NOT NULL)", "d", "leave out NOT NULL"),
        ("", "missing", "create it with columns"),
    ];
    for (create, name, hint) in cases {
        if !create.is_empty() {
            run(&mut session, &format!("{create} {with}")).unwrap();
        }
        run(&mut session, &format!("SET 'table.exec.late-rows.table' = '{name}'")).unwrap();
        let error = run(&mut session, "SELECT id FROM bids ORDER BY ts").unwrap_err().to_string();
        assert!(error.contains(hint), "{name}: {error}");
    }
}
