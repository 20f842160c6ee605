//! STATE_TTL hints: on groups, and on what Flink lets them act on.

#![allow(clippy::unwrap_used)]

use flott::{Outcome, TableEnvironment, Value};

const DAY: &str = "bounded by TTL of 86400000 ms";

fn session() -> TableEnvironment {
    let mut session = TableEnvironment::new();
    for sql in [
        "CREATE TABLE l (id INT, v INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')",
        "CREATE TABLE r (id INT, v INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')",
        "CREATE VIEW lv AS SELECT id, v FROM l",
    ] {
        session.execute(sql).unwrap();
    }
    session
}

fn explain(session: &mut TableEnvironment, sql: &str) -> Result<Vec<String>, String> {
    match session.execute(&format!("EXPLAIN {sql}")) {
        Ok(Outcome::Table(table)) => match &table.rows[0][0] {
            Value::String(text) => Ok(text.lines().map(str::to_string).collect()),
            other => panic!("EXPLAIN gives {other:?}"),
        },
        Ok(_) => panic!("EXPLAIN gives a table"),
        Err(error) => Err(error.to_string()),
    }
}

/// The states of the operators of a kind, from the last one up.
fn states(session: &mut TableEnvironment, sql: &str, operator: &str) -> Vec<String> {
    let plan = explain(session, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let lines = plan.iter().filter(|line| line.contains(operator));
    lines
        .filter_map(|line| Some(line.split_once("state=[")?.1.split_once(']')?.0.to_string()))
        .collect()
}

#[test]
fn groups_of_one_table_take_its_hint() {
    let mut session = session();
    for sql in [
        "SELECT /*+ STATE_TTL('l' = '1d') */ id, SUM(v) FROM l GROUP BY id",
        "SELECT /*+ STATE_TTL('x' = '1d') */ id, SUM(v) FROM l AS x GROUP BY id",
        "SELECT /*+ STATE_TTL('lv' = '1d') */ id, SUM(v) FROM lv GROUP BY id",
        "SELECT /*+ STATE_TTL('default_catalog.default_database.l' = '1d') */ id, SUM(v) FROM l GROUP BY id",
        "SELECT /*+ STATE_TTL('l' = '1d') */ DISTINCT id FROM l",
        "SELECT /*+ STATE_TTL('x' = '1d') */ id, SUM(v) FROM (SELECT id, v FROM l) AS x GROUP BY id",
        "SELECT /*+ STATE_TTL('l' = '1d') */ id, SUM(v) FROM l GROUP BY GROUPING SETS ((id), ())",
        "SELECT /*+ STATE_TTL('l' = '1d'), STATE_TTL('l' = '5d') */ id, SUM(v) FROM l GROUP BY id",
    ] {
        assert_eq!(states(&mut session, sql, "GroupAggregate"), [DAY], "{sql}");
    }
    session.config_mut().set("table.exec.state.ttl", "1 h");
    let hour = "bounded by TTL of 3600000 ms";
    let sql = "SELECT /*+ STATE_TTL('x' = '1d') */ id, SUM(s) FROM \
               (SELECT id, v, SUM(v) AS s FROM l GROUP BY id, v) AS x GROUP BY id";
    assert_eq!(states(&mut session, sql, "GroupAggregate"), [DAY, hour]);
    // Above a join the hint is the join's.
    let sql = "SELECT /*+ STATE_TTL('l' = '1d') */ l.id, SUM(r.v) FROM l JOIN r ON l.id = r.id GROUP BY l.id";
    assert_eq!(states(&mut session, sql, "GroupAggregate"), [hour]);
    let join = explain(&mut session, sql).unwrap().join("\n");
    assert!(join.contains("stateTtl=[left=86400000 ms, right=3600000 ms]"), "{join}");
    // Zero is for ever, whatever the session says.
    let sql = "SELECT /*+ STATE_TTL('l' = '0s') */ id, SUM(v) FROM l GROUP BY id";
    assert!(states(&mut session, sql, "GroupAggregate")[0].starts_with("unbounded"));
}

#[test]
fn other_operators_take_no_hint_and_wrong_ones_are_refused() {
    let mut session = session();
    let sql = "SELECT id, v FROM (SELECT /*+ STATE_TTL('l' = '1d') */ id, v, ROW_NUMBER() OVER \
               (PARTITION BY id ORDER BY v) AS rn FROM l) WHERE rn <= 2";
    assert!(states(&mut session, sql, "Rank")[0].starts_with("unbounded"));
    for (hint, problem) in [
        ("STATE_TTL('nope' = '1d')", "`nope` in `STATE_TTL`"),
        ("STATE_TTL('l' = 'abc')", "Invalid STATE_TTL hint value"),
        ("STATE_TTL('l')", "pairs"),
    ] {
        let sql = format!("SELECT /*+ {hint} */ id, SUM(v) FROM l GROUP BY id");
        let error = explain(&mut session, &sql).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn tables_of_sub_queries_may_be_named_where_nothing_is_joined_or_grouped() {
    let mut session = session();
    let hint = "/*+ STATE_TTL('r' = '1d') */";
    for sql in [
        format!("SELECT {hint} id FROM l WHERE id IN (SELECT id FROM r)"),
        format!("SELECT {hint} id, (SELECT MAX(v) FROM r) FROM l"),
        format!("SELECT {hint} id FROM (SELECT id FROM r) AS t"),
    ] {
        explain(&mut session, &sql).unwrap();
    }
    for sql in [
        format!("SELECT {hint} v, COUNT(*) FROM l WHERE id IN (SELECT id FROM r) GROUP BY v"),
        format!("SELECT {hint} l.id FROM l JOIN (SELECT id FROM r) AS t ON l.id = t.id"),
    ] {
        let error = explain(&mut session, &sql).unwrap_err();
        assert!(error.contains("`r` in `STATE_TTL`"), "{error}");
    }
}

#[test]
fn groups_with_other_hints_are_not_shared() {
    let mut session = session();
    let sql = "SELECT /*+ STATE_TTL('l' = '1d') */ id, SUM(v) FROM l GROUP BY id UNION ALL \
               SELECT /*+ STATE_TTL('l' = '2d') */ id, SUM(v) FROM l GROUP BY id";
    let states = states(&mut session, sql, "GroupAggregate");
    assert_eq!(states, [DAY, "bounded by TTL of 172800000 ms"]);
}

#[test]
fn options_of_lookups_are_checked() {
    let mut session = session();
    let mut lookup = |options: &str| {
        let hint = format!("LOOKUP('table' = 'r', {options})");
        explain(&mut session, &format!("SELECT /*+ {hint} */ l.id FROM l JOIN r ON l.id = r.id"))
    };
    for options in [
        "'async' = 'true', 'output-mode' = 'allow_unordered', 'capacity' = '10', 'timeout' = '3 s'",
        "'async' = 'false'",
        "'output-mode' = 'ORDERED'",
    ] {
        lookup(options).unwrap();
    }
    for options in
        ["'async' = 'maybe'", "'output-mode' = 'some'", "'capacity' = '0'", "'timeout' = 'abc'"]
    {
        let error = lookup(options).unwrap_err();
        assert!(error.contains("Invalid LOOKUP hint"), "{error}");
    }
}
