//! EXPLAIN with its details, and the statements that tell of connectors and formats.

#![allow(clippy::unwrap_used)]

use flott::{Outcome, TableEnvironment};

fn session() -> TableEnvironment {
    let mut session = TableEnvironment::new();
    let table = "CREATE TABLE bids (auction BIGINT, price INT) \
                 WITH ('connector' = 'datagen', 'number-of-rows' = '10')";
    session.execute(table).unwrap();
    session
}

fn texts(session: &mut TableEnvironment, sql: &str) -> Vec<Vec<String>> {
    match session.execute(sql).unwrap() {
        Outcome::Table(table) => table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| format!("{cell:?}")).collect())
            .collect(),
        _ => panic!("{sql} gives no table"),
    }
}

fn explained(details: &str) -> String {
    let sql = format!(
        "EXPLAIN {details} SELECT auction, COUNT(*) FROM bids WHERE price > 1 GROUP BY auction"
    );
    match session().execute(&sql).unwrap() {
        Outcome::Table(table) => match &table.rows[0][0] {
            flott::Value::String(text) => text.to_string(),
            other => panic!("{other:?}"),
        },
        _ => panic!("{sql} gives no table"),
    }
}

#[test]
fn plain_explain_shows_traits_but_no_estimates() {
    let text = explained("PLAN FOR");
    assert!(text.starts_with("== Optimized Physical Plan ==\n"), "{text}");
    assert!(text.contains("changelogMode=[I,UB,UA]"), "{text}");
    assert!(!text.contains("rowcount"), "{text}");
    assert!(!text.contains("Execution Plan"), "{text}");
}

#[test]
fn estimated_cost_adds_rows() {
    let text = explained("ESTIMATED_COST");
    let of = |operator: &str| {
        let line = text.lines().find(|line| line.contains(operator)).unwrap().to_string();
        line[line.find("rowcount").unwrap()..].to_string()
    };
    assert_eq!(of("TableSourceScan"), "rowcount=[1.0E8], cumulativeRows=[1.0E8]");
    assert_eq!(of("where=["), "rowcount=[2.5E7], cumulativeRows=[1.25E8]");
    assert_eq!(of("GroupAggregate"), "rowcount=[2500000.0], cumulativeRows=[1.275E8]");
}

#[test]
fn the_execution_plan_is_json() {
    let text = explained("CHANGELOG_MODE, JSON_EXECUTION_PLAN");
    let (_, json) = text.split_once("== Physical Execution Plan ==\n").unwrap();
    let plan: serde_json::Value = serde_json::from_str(json).unwrap();
    let nodes = plan["nodes"].as_array().unwrap();
    assert_eq!(nodes[0]["pact"], "Data Source");
    assert_eq!(nodes[0]["type"], "Source: bids");
    let last = nodes.last().unwrap();
    assert_eq!(last["pact"], "Data Sink");
    let aggregate = nodes.iter().find(|node| node["type"] == "GroupAggregate").unwrap();
    assert_eq!(aggregate["predecessors"][0]["ship_strategy"], "HASH");
}

#[test]
fn advice_is_asked_for_or_needed() {
    let text = match session().execute("EXPLAIN PLAN_ADVICE SELECT price FROM bids").unwrap() {
        Outcome::Table(table) => format!("{:?}", table.rows),
        _ => panic!("no table"),
    };
    assert!(text.contains("No available advice"), "{text}");
}

#[test]
fn connectors_and_formats_tell_their_options() {
    let mut session = session();
    let connectors = texts(&mut session, "SHOW CONNECTORS LIKE 'd%'");
    assert!(connectors[0][0].contains("datagen"), "{connectors:?}");
    assert_eq!(connectors.len(), 1);
    let formats = texts(&mut session, "SHOW FORMATS");
    assert!(formats.iter().any(|row| row[0].contains("debezium-json")), "{formats:?}");
    let options = texts(&mut session, "DESCRIBE CONNECTOR 'filesystem'");
    let path = options.iter().find(|row| row[0].contains("\"path\"")).unwrap();
    assert!(path[3].contains("YES"), "{path:?}");
    let options = texts(&mut session, "DESCRIBE FORMAT 'csv'");
    assert!(options.iter().any(|row| row[0].contains("csv.field-delimiter")), "{options:?}");
    let error = session.execute("DESCRIBE CONNECTOR 'filesytem'").err().unwrap();
    assert!(error.to_string().contains("filesystem"), "{error}");
}

#[test]
fn grouping_sets_that_all_have_the_window_are_aggregated_by_window() {
    let mut session = TableEnvironment::new();
    let table = "CREATE TABLE readings (sensor STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) \
                 WITH ('connector' = 'datagen', 'number-of-rows' = '10')";
    session.execute(table).unwrap();
    let sql = "EXPLAIN SELECT sensor, window_start, window_end, COUNT(*) \
               FROM TABLE(TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '10' SECOND)) \
               GROUP BY GROUPING SETS ((sensor, window_start, window_end), (window_start, window_end))";
    let text = texts(&mut session, sql).concat().concat();
    assert!(text.contains("WindowAggregate("), "{text}");
    assert!(!text.contains("GroupAggregate("), "{text}");
}

#[test]
fn windows_say_what_bounds_their_state() {
    let mut session = TableEnvironment::new();
    let table = "CREATE TABLE ticks (s STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) \
                 WITH ('connector' = 'datagen')";
    session.execute(table).unwrap();
    let mut line = |window: &str| {
        let sql = format!("EXPLAIN SELECT SUM(v) OVER ({window}) AS total FROM ticks");
        let text = texts(&mut session, &sql)[0][0].replace("\\n", "\n");
        text.lines().find(|line| line.contains("OverAggregate(")).unwrap().to_string()
    };
    let range = line("PARTITION BY s ORDER BY ts RANGE INTERVAL '5' SECOND PRECEDING");
    let window = "OverAggregate(partitionBy=[s], orderBy=[ts ASC], window=[ RANGE BETWEEN 5000 \
                  PRECEDING AND CURRENT ROW], select=[s, v, ts, SUM(v) AS w0$o0])";
    assert!(range.contains(window), "{range}");
    assert!(range.contains("changelogMode=[I], state=[bounded by watermark]"), "{range}");
    let running = line("PARTITION BY s ORDER BY ts");
    assert!(running.contains("unbounded: the accumulators of each (s)"), "{running}");
    let updating = line("PARTITION BY s ORDER BY v");
    assert!(updating.contains("changelogMode=[I,UB,UA,D]"), "{updating}");
    assert!(updating.contains("unbounded: all rows of each (s)"), "{updating}");
    let distinct = "EXPLAIN SELECT COUNT(DISTINCT s) OVER (ORDER BY v) FROM ticks";
    let distinct = &texts(&mut session, distinct)[0][0];
    assert!(distinct.contains("notInFlink=[DISTINCT in the order of a column]"), "{distinct}");
}
