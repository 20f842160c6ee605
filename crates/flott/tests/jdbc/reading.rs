//! Scans: columns, conditions, limits, ranges, and what is told of mistakes.

use flott::TableEnvironment;

use crate::support::{Database, explain, run};

const COLUMNS: &str = "id BIGINT, name STRING, price DECIMAL(10, 2), at_time TIMESTAMP(3)";

fn orders(database: &Database) -> String {
    let time = if matches!(database, Database::MariaDb(_)) { "DATETIME(6)" } else { "TIMESTAMP" };
    let table = database.create(
        "orders",
        &format!("id BIGINT PRIMARY KEY, name VARCHAR(20), price NUMERIC(10, 2), at_time {time}"),
    );
    for id in 1..=20 {
        let name = if id % 5 == 0 { "NULL".into() } else { format!("'name {}'", id % 3) };
        database.execute(&format!(
            "INSERT INTO {table} VALUES ({id}, {name}, {id}.25, '2024-01-01 10:00:{id:02}.123456')"
        ));
    }
    table
}

#[test]
fn columns_conditions_and_limits_are_the_databases() {
    for database in Database::all() {
        let table = orders(&database);
        let mut session = TableEnvironment::new();
        run(&mut session, &[&database.table("orders", COLUMNS, &table, &[])]).unwrap();
        let mut check = |sql: &str, expected: &[&str]| {
            assert_eq!(run(&mut session, &[sql]).unwrap(), expected, "{} {sql}", database.url());
        };
        check(
            "SELECT * FROM orders WHERE id = 7",
            &["+I[7, name 1, 7.25, 2024-01-01 10:00:07.123]"],
        );
        check("SELECT name, id FROM orders WHERE id > 18", &["+I[name 1, 19]", "+I[null, 20]"]);
    }
}

#[test]
fn counts_of_what_conditions_leave() {
    for database in Database::all() {
        let table = orders(&database);
        let mut session = TableEnvironment::new();
        let create = database.table("orders", COLUMNS, &table, &[]);
        run(&mut session, &["SET 'execution.runtime-mode' = 'batch'", &create]).unwrap();
        for (condition, count) in [
            ("TRUE", 20),
            ("name IS NULL OR id IN (1, 2, 3)", 7),
            ("name = 'name 1'", 6),
            ("name = 'NAME 1'", 0),
            ("name <> 'name 1'", 10),
            ("name LIKE 'name%' AND id BETWEEN 3 AND 7", 4),
            ("price >= 10.25", 11),
            ("at_time = TIMESTAMP '2024-01-01 10:00:05.123'", 1),
            ("at_time > TIMESTAMP '2024-01-01 10:00:05.123'", 15),
            ("at_time <= TIMESTAMP '2024-01-01 10:00:05.123'", 5),
            ("at_time <> TIMESTAMP '2024-01-01 10:00:05.123'", 19),
            ("NOT (id = 3)", 19),
            ("id + 1 = 3", 1),
        ] {
            let sql = format!("SELECT COUNT(*) FROM orders WHERE {condition}");
            let expected = [format!("+I[{count}]")];
            assert_eq!(run(&mut session, &[&sql]).unwrap(), expected, "{} {sql}", database.url());
        }
        let limited = run(&mut session, &["SELECT id FROM orders WHERE id > 3 LIMIT 4"]).unwrap();
        assert_eq!(limited.len(), 4);
        let plan = explain(&mut session, "SELECT id FROM orders WHERE id > 3 LIMIT 4");
        assert!(plan.contains("filter=[") && plan.contains("limit=[4]"), "{plan}");
        let never =
            database.table("plain", COLUMNS, &table, &[("filter.handling.policy", "never")]);
        run(&mut session, &[&never]).unwrap();
        let plan = explain(&mut session, "SELECT id FROM plain WHERE id > 3 LIMIT 4");
        assert!(!plan.contains("filter=["), "{plan}");
    }
}

#[test]
fn ranges_are_read_side_by_side() {
    for database in Database::all() {
        let table = orders(&database);
        let mut session = TableEnvironment::new();
        let ranges = [
            ("scan.partition.column", "id"),
            ("scan.partition.num", "3"),
            ("scan.partition.lower-bound", "2"),
            ("scan.partition.upper-bound", "18"),
            ("scan.fetch-size", "2"),
            ("scan.auto-commit", "false"),
        ];
        let create = database.table("orders", COLUMNS, &table, &ranges);
        let parallel = "SET 'parallelism.default' = '2'";
        let rows = run(&mut session, &[parallel, &create, "SELECT id FROM orders"]).unwrap();
        let mut expected: Vec<String> = (2..=18).map(|id| format!("+I[{id}]")).collect();
        expected.sort();
        assert_eq!(rows, expected, "{}", database.url());
    }
}

#[test]
fn mistakes_are_named() {
    let database = Database::sqlite();
    let table = orders(&database);
    let create = |columns: &str, options: &[(&str, &str)]| {
        let sql = database.table("t", columns, &table, options);
        let mut session = TableEnvironment::new();
        let error = run(&mut session, &[&sql, "SELECT * FROM t"]).unwrap_err();
        error.to_string()
    };
    for (columns, options, expected) in [
        ("id BIGINT", &[("scan.partition.num", "3")][..], "Either all or none"),
        ("id BIGINT", &[("username", "me")], "either all or none"),
        ("id BIGINT", &[("driver", "org.postgresql.Driver")], "org.sqlite.JDBC"),
        ("id BIGINT", &[("sink.max-retry", "3")], "sink.max-retries"),
        ("id MAP<INT, INT>", &[], "column 'id' is of type MAP<INT, INT>"),
        ("nothing BIGINT", &[], "nothing"),
        (
            "name BIGINT",
            &[],
            "column 'name' is declared as BIGINT, but the database holds 'name 1'",
        ),
    ] {
        let error = create(columns, options);
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
    }
    for url in ["jdbc:oracle:thin:@host:1521:x", "postgresql://h/d"] {
        let sql = format!(
            "CREATE TABLE t (id INT) WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = 't')"
        );
        let error = run(&mut TableEnvironment::new(), &[&sql, "SELECT * FROM t"]).unwrap_err();
        assert!(error.to_string().contains("jdbc:postgresql:"), "{error}");
    }
}
