//! Sources and sinks end to end: what is pushed into scans, metadata of formats, constraints of sinks, bad
//! records.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use flott::{Error, Outcome, TableEnvironment};

fn session(folder: &Path) -> TableEnvironment {
    let mut session = TableEnvironment::new().in_directory(folder);
    session.config_mut().set("table.local-time-zone", "UTC");
    session
}

/// Runs statements to their ends; the rows of the last one.
fn run(session: &mut TableEnvironment, statements: &[&str]) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for statement in statements {
        rows = match session.execute(statement)? {
            Outcome::Query(result) => result.collect()?.iter().map(ToString::to_string).collect(),
            Outcome::Job(job) => {
                job.wait()?;
                Vec::new()
            }
            Outcome::Table(table) => table.rows.iter().map(|row| format!("{row:?}")).collect(),
            _ => Vec::new(),
        };
    }
    Ok(rows)
}

fn failure(session: &mut TableEnvironment, statement: &str) -> String {
    run(session, &[statement]).unwrap_err().to_string()
}

#[test]
fn conditions_on_partitions_leave_out_directories() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    run(
        &mut session,
        &[
            "CREATE TABLE visits (id INT, `day` DATE, place STRING) PARTITIONED BY (`day`, place)
             WITH ('connector' = 'filesystem', 'path' = 'v', 'format' = 'csv')",
            "INSERT INTO visits VALUES (1, DATE '2025-03-01', 'Lund'), (2, DATE '2025-03-02', 'Lund'),
             (3, DATE '2025-03-02', 'Turku'), (4, DATE '2025-03-03', CAST(NULL AS STRING))",
        ],
    )
    .unwrap();
    // What is left out is not even looked at.
    std::fs::create_dir_all(folder.path().join("v/day=2025-03-01/place=Oslo")).unwrap();
    std::fs::write(folder.path().join("v/day=2025-03-01/place=Oslo/f"), "no number\n").unwrap();
    let mut rows = |sql: &str| {
        let mut rows = run(&mut session, &[sql]).unwrap();
        rows.sort_unstable();
        rows
    };
    let second = "`day` = DATE '2025-03-02'";
    assert_eq!(rows(&format!("SELECT id FROM visits WHERE {second}")), ["+I[2]", "+I[3]"]);
    assert_eq!(rows(&format!("SELECT id FROM visits WHERE {second} AND id > 2")), ["+I[3]"]);
    assert_eq!(
        rows("SELECT id, place FROM visits WHERE `day` > DATE '2025-03-01' AND place IS NULL"),
        ["+I[4, null]"]
    );
    assert_eq!(rows("SELECT id FROM visits WHERE EXTRACT(DAY FROM `day`) + 1 = 4"), ["+I[4]"]);
    assert_eq!(rows("SELECT id FROM visits WHERE place LIKE 'Tu%'"), ["+I[3]"]);
    assert_eq!(rows("SELECT COUNT(*) FROM visits WHERE place = 'nowhere'"), [] as [&str; 0]);
    let plan = rows(&format!("EXPLAIN SELECT id FROM visits WHERE {second} AND id > 2 LIMIT 5"));
    let plan = plan.concat();
    assert!(plan.contains("filter=["), "{plan}");
    assert!(plan.contains("where=["), "{plan}");
    assert!(!plan.contains("limit=["), "a filter stays above: {plan}");
    assert!(failure(&mut session, "SELECT id FROM visits").contains("place=Oslo"));
}

#[test]
fn a_limit_ends_the_scan() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    std::fs::write(folder.path().join("n.csv"), "1\n2\nnone\n").unwrap();
    let create = "CREATE TABLE n (id INT) WITH ('connector' = 'filesystem', 'path' = 'n.csv', 'format' = 'csv')";
    run(&mut session, &[create]).unwrap();
    let plan = run(&mut session, &["EXPLAIN SELECT id + 1 FROM n LIMIT 2"]).unwrap().concat();
    assert!(plan.contains("limit=[2]"), "{plan}");
    let plan = run(&mut session, &["EXPLAIN SELECT id FROM n WHERE id > 1 LIMIT 2"]).unwrap();
    assert!(!plan.concat().contains("limit=["), "{plan:?}");
}

#[test]
fn files_are_chosen_by_their_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    std::fs::create_dir(folder.path().join("d")).unwrap();
    std::fs::write(folder.path().join("d/a.csv"), "1\n").unwrap();
    std::fs::write(folder.path().join("d/b.csv"), "not read\n").unwrap();
    let rows = run(
        &mut session,
        &[
            "CREATE TABLE d (id INT, `file.name` STRING NOT NULL METADATA VIRTUAL)
             WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'csv')",
            "SELECT id FROM d WHERE `file.name` = 'a.csv'",
        ],
    );
    assert_eq!(rows.unwrap(), ["+I[1]"]);
}

#[test]
fn formats_give_metadata_of_their_messages() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let event = r#"{"before":null,"after":{"id":1},"op":"c","ts_ms":1500,"source":{"table":"t"}}"#;
    std::fs::write(folder.path().join("e.json"), event).unwrap();
    let rows = run(
        &mut session,
        &[
            "CREATE TABLE e (origin STRING METADATA FROM 'value.source.table' VIRTUAL, id INT,
               `file.name` STRING METADATA VIRTUAL,
               seen TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL)
             WITH ('connector' = 'filesystem', 'path' = 'e.json', 'format' = 'debezium-json')",
            "SELECT * FROM e",
        ],
    );
    assert_eq!(rows.unwrap(), ["+I[t, 1, e.json, 1970-01-01 00:00:01.500]"]);
}

#[test]
fn lengths_are_held_at_the_sink() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    std::fs::write(folder.path().join("i.json"), "{\"a\":\"x\",\"b\":\"äöüä\"}\n").unwrap();
    run(
        &mut session,
        &[
            "CREATE TABLE i (a CHAR(3), b VARCHAR(3))
             WITH ('connector' = 'filesystem', 'path' = 'i.json', 'format' = 'json')",
            "CREATE TABLE o (a CHAR(3), b VARCHAR(3))
             WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json')",
            "CREATE TABLE lines (line STRING)
             WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'raw')",
            "SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD'",
            "INSERT INTO o SELECT * FROM i",
        ],
    )
    .unwrap();
    let lines = run(&mut session, &["SELECT * FROM lines"]).unwrap();
    assert_eq!(lines, [r#"+I[{"a":"x  ","b":"äöü"}]"#]);
    run(&mut session, &["SET 'table.exec.sink.type-length-enforcer' = 'ERROR'"]).unwrap();
    let error = failure(&mut session, "INSERT INTO o SELECT * FROM i");
    assert!(error.contains("Column 'a' is CHAR(3), however, a string of length 1"), "{error}");
    run(&mut session, &["SET 'table.exec.sink.nested-constraint-enforcer' = 'ERROR'"]).unwrap();
    assert!(failure(&mut session, "SELECT * FROM lines").contains("nested-constraint-enforcer"));
}

#[test]
fn changes_go_through_a_column_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let ops = "1,INSERT,10\n2,INSERT,20\n1,UPDATE_BEFORE,10\n1,UPDATE_AFTER,11\n2,DELETE,20\n";
    std::fs::write(folder.path().join("ops.csv"), ops).unwrap();
    let create = "CREATE TABLE ops (id INT, op STRING, v INT)
                  WITH ('connector' = 'filesystem', 'path' = 'ops.csv', 'format' = 'csv')";
    run(&mut session, &[create]).unwrap();
    let mut rows = |sql: &str| run(&mut session, &[sql]).unwrap();
    assert_eq!(
        rows("SELECT * FROM FROM_CHANGELOG(input => TABLE ops)"),
        ["+I[1, 10]", "+I[2, 20]", "-U[1, 10]", "+U[1, 11]", "-D[2, 20]"]
    );
    assert_eq!(
        rows("SELECT v, COUNT(*) FROM FROM_CHANGELOG(input => TABLE ops) GROUP BY v"),
        ["+I[10, 1]", "+I[20, 1]", "-D[10, 1]", "+I[11, 1]", "-D[20, 1]"]
    );
    assert_eq!(
        rows(
            "SELECT * FROM FROM_CHANGELOG(input => TABLE ops, op => DESCRIPTOR(op), op_mapping =>
               MAP['INSERT, UPDATE_AFTER', 'INSERT', 'DELETE, UPDATE_BEFORE', 'DELETE'])"
        ),
        ["+I[1, 10]", "+I[2, 20]", "-D[1, 10]", "+I[1, 11]", "-D[2, 20]"]
    );
    assert_eq!(
        rows("SELECT * FROM TO_CHANGELOG(input => (SELECT op, COUNT(*) AS c FROM ops GROUP BY op),
                op => DESCRIPTOR(kind), op_mapping => MAP['INSERT, UPDATE_AFTER', 'set']) WHERE c > 1"),
        ["+I[set, INSERT, 2]"]
    );
    for (sql, message) in [
        (
            "SELECT * FROM FROM_CHANGELOG(input => TABLE ops, op_mapping => MAP['INSERT', 'INSERT'])",
            "Received invalid op code 'UPDATE_BEFORE'. Defined op codes are: [INSERT].",
        ),
        (
            "SELECT * FROM FROM_CHANGELOG(input => TABLE ops, op => DESCRIPTOR(nope))",
            "The op column 'nope' does not exist in the input schema.",
        ),
        (
            "SELECT * FROM FROM_CHANGELOG(input => TABLE ops, op => DESCRIPTOR(v))",
            "must be of STRING type, but was 'INT'",
        ),
        (
            "SELECT * FROM FROM_CHANGELOG(input => TABLE ops,
               op_mapping => MAP['INSERT', 'INSERT', 'UPDATE_AFTER', 'UPDATE_AFTER'])",
            "must include UPDATE_BEFORE",
        ),
        (
            "SELECT * FROM FROM_CHANGELOG(input => TABLE ops, op_mapping => MAP['INSERT', 'NOPE'])",
            "Unknown change operation: 'NOPE'",
        ),
        ("SELECT * FROM TO_CHANGELOG(input => TABLE ops)", "Found duplicates: [op]"),
        (
            "SELECT * FROM TO_CHANGELOG(input => TABLE ops PARTITION BY id)",
            "Only tables with set semantics may be partitioned",
        ),
    ] {
        let error = failure(&mut session, sql);
        assert!(error.contains(message), "{sql}: {error}");
    }
}

#[test]
fn bad_records_go_to_columns_without_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    std::fs::write(folder.path().join("n.csv"), "1\nnone\n").unwrap();
    let rows = run(
        &mut session,
        &[
            "CREATE TABLE bad (raw_record STRING, place STRING, failed_at TIMESTAMP_LTZ(3))
             WITH ('connector' = 'filesystem', 'path' = 'bad', 'format' = 'json')",
            "CREATE TABLE n (id INT) WITH ('connector' = 'filesystem', 'path' = 'n.csv',
               'format' = 'csv', 'on-error' = 'dead-letter', 'on-error.table' = 'bad')",
            "SELECT * FROM n",
            "SELECT raw_record, failed_at IS NOT NULL FROM bad",
        ],
    );
    assert_eq!(rows.unwrap(), ["+I[none\n, TRUE]"]);
}

#[test]
fn variants_are_read_and_written_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let text = "{\"id\":1,\"x\":{\"b\":[1,2.50,\"t\",null],\"a\":{}}}\n{\"id\":2,\"x\":null}\n";
    std::fs::write(folder.path().join("v.json"), text).unwrap();
    let rows = run(
        &mut session,
        &[
            "CREATE TABLE v (id INT, x VARIANT)
             WITH ('connector' = 'filesystem', 'path' = 'v.json', 'format' = 'json')",
            "CREATE TABLE w (id INT, x VARIANT)
             WITH ('connector' = 'filesystem', 'path' = 'w', 'format' = 'json')",
            "INSERT INTO w SELECT * FROM v",
            "CREATE TABLE lines (line STRING)
             WITH ('connector' = 'filesystem', 'path' = 'w', 'format' = 'raw')",
            "SELECT * FROM lines",
        ],
    );
    assert_eq!(
        rows.unwrap(),
        [r#"+I[{"id":1,"x":{"a":{},"b":[1,2.5,"t",null]}}]"#, r#"+I[{"id":2,"x":null}]"#]
    );
    let rows = run(&mut session, &["SELECT id, JSON_STRING(x['b'][2]) FROM w WHERE id = 1"]);
    assert_eq!(rows.unwrap(), ["+I[1, 2.5]"]);
}
