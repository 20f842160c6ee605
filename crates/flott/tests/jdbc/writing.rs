//! Sinks: rows added, rows by key, deletions, and what is told of refusals.

use flott::TableEnvironment;

use crate::support::{Database, run};

#[test]
fn rows_without_a_key_are_added() {
    for database in Database::all() {
        let table = database.create("plain", "id BIGINT, name VARCHAR(20)");
        let mut session = TableEnvironment::new();
        let create = database.table("t", "id BIGINT, name STRING", &table, &[]);
        let insert = "INSERT INTO t VALUES (1, 'a'), (2, CAST(NULL AS STRING)), (1, 'a')";
        run(&mut session, &[&create, insert]).unwrap();
        let rows = database.query(&format!("SELECT id, name FROM {table} ORDER BY id, name"));
        assert_eq!(rows, ["1|a", "1|a", "2|NULL"], "{}", database.url());
        let read = run(&mut session, &["SELECT name, id FROM t"]).unwrap();
        assert_eq!(read, ["+I[a, 1]", "+I[a, 1]", "+I[null, 2]"]);
    }
}

#[test]
fn updates_replace_and_delete_rows_of_their_key() {
    for database in Database::all() {
        let table =
            database.create("counts", "k INT, part VARCHAR(9), n BIGINT, PRIMARY KEY (k, part)");
        database.execute(&format!("INSERT INTO {table} VALUES (7, 'x', 1), (0, 'x', 1)"));
        let mut session = TableEnvironment::new();
        let columns = "k INT, part STRING, n BIGINT, PRIMARY KEY (k, part) NOT ENFORCED";
        let create =
            database.table("counts", columns, &table, &[("sink.buffer-flush.max-rows", "3")]);
        let rows = "CREATE TEMPORARY VIEW v AS SELECT k, CAST(part AS STRING) AS part FROM (VALUES
            (1, 'x'), (2, 'x'), (1, 'x'), (3, 'y'), (1, 'x'), (0, 'x'), (2, 'x')) AS t(k, part)";
        // Groups of two rows are gone when the third comes.
        let insert = "INSERT INTO counts
            SELECT k, part, COUNT(*) FROM v GROUP BY k, part HAVING COUNT(*) <> 2";
        run(&mut session, &[&create, rows, insert]).unwrap();
        let rows = database.query(&format!("SELECT k, part, n FROM {table} ORDER BY k"));
        assert_eq!(rows, ["0|x|1", "1|x|3", "3|y|1", "7|x|1"], "{}", database.url());
    }
}

#[test]
fn a_table_that_is_all_key_takes_rows_twice() {
    for database in Database::all() {
        let table = database.create("ids", "id BIGINT PRIMARY KEY");
        let mut session = TableEnvironment::new();
        let create = database.table("ids", "id BIGINT PRIMARY KEY NOT ENFORCED", &table, &[]);
        let insert = "INSERT INTO ids VALUES (1), (2)";
        run(&mut session, &[&create, insert, insert]).unwrap();
        assert_eq!(database.query(&format!("SELECT COUNT(*) FROM {table}")), ["2"]);
    }
}

#[test]
fn many_rows_go_in_statements_of_many() {
    for database in Database::all() {
        let table = database.create("many", "id BIGINT PRIMARY KEY, v DOUBLE PRECISION");
        let mut session = TableEnvironment::new();
        let columns = "id BIGINT, v DOUBLE, PRIMARY KEY (id) NOT ENFORCED";
        let create = database.table("many", columns, &table, &[]);
        let source = "CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen',
            'number-of-rows' = '20000', 'rows-per-second' = '1000000', 'fields.id.kind' = 'sequence',
            'fields.id.start' = '1', 'fields.id.end' = '20000')";
        let insert = "INSERT INTO many SELECT id, id / 4.0E0 FROM numbers";
        run(&mut session, &[&create, source, insert]).unwrap();
        let count = database.query(&format!("SELECT COUNT(*), SUM(id) FROM {table}"));
        assert_eq!(count, ["20000|200010000"], "{}", database.url());
    }
}

#[test]
fn a_row_that_is_refused_is_named() {
    for database in Database::all() {
        let table = database.create("strict", "id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL");
        let mut session = TableEnvironment::new();
        let create = database.table("t", "id BIGINT, name STRING", &table, &[]);
        let insert = "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, CAST(NULL AS STRING)), (4, 'd')";
        let error = run(&mut session, &[&create, insert]).unwrap_err().to_string();
        assert!(error.contains("(3, NULL)"), "{}: {error}", database.url());
        assert_eq!(database.query(&format!("SELECT COUNT(*) FROM {table}")), ["0"]);
        run(&mut session, &["INSERT INTO t VALUES (1, 'a')"]).unwrap();
        let error = run(&mut session, &["INSERT INTO t VALUES (5, 'e'), (1, 'again')"]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("(1, again)"), "{}: {error}", database.url());
        let updates = "INSERT INTO t SELECT COUNT(*), name FROM t GROUP BY name";
        let error = run(&mut session, &[updates]).unwrap_err().to_string();
        assert!(error.contains("PRIMARY KEY"), "{error}");
    }
}
