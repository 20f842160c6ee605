//! What goes wrong is told: what, where, and what to do.

use flott::TableEnvironment;

use crate::support::{Table, failure, query, take};

/// Every one of `words` must be in the error.
fn check(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "'{word}' is not in: {error}");
    }
    assert!(!error.contains("panicked"), "{error}");
}

/// No server is needed to see that options are wrong.
#[test]
fn options_that_do_not_fit() {
    let declare = |columns: &str, options: &[(&str, &str)]| {
        let mut all = vec![
            ("connector", "postgres-cdc"),
            ("hostname", "localhost"),
            ("port", "1"),
            ("username", "u"),
            ("password", "p"),
            ("database-name", "d"),
            ("schema-name", "s"),
            ("table-name", "t"),
            ("slot.name", "flott"),
            ("connect.max-retries", "0"),
        ];
        all.retain(|(key, _)| options.iter().all(|(given, _)| given != key));
        all.extend(options);
        let all: Vec<_> = all.iter().map(|(key, value)| format!("'{key}' = '{value}'")).collect();
        format!("CREATE TABLE t ({columns}) WITH ({})", all.join(", "))
    };
    let fails = |columns: &str, options: &[(&str, &str)], words: &[&str]| {
        check(&failure(&[&declare(columns, options), "SELECT * FROM t"]), words);
    };
    fails("id INT", &[("decoding.plugin.name", "wal2json")], &["wal2json", "pgoutput"]);
    fails("id INT", &[("slot.name", "My-Slot")], &["My-Slot", "lower-case"]);
    fails("id INT", &[("table-name", "(")], &["regular expression"]);
    fails("id INT", &[("changelog-mode", "upsert")], &["needs a PRIMARY KEY"]);
    fails("id INT", &[("scan.incremental.snapshot.backfill.skip", "true")], &["not supported"]);
    fails("id INT", &[("debezium.snapshot.mode", "never")], &["scan.startup.mode"]);
    fails("id INT", &[("debezium.max.batch.size", "7")], &["not supported", "Debezium"]);
    fails("id INT", &[("debezium.database.sslmode", "require")], &["not encrypted"]);
    fails("id INT", &[("scan.startup.mode", "earliest-offset")], &["committed-offset"]);
    fails("m MAP<STRING, INT>", &[], &["'m'", "MAP", "STRING"]);
    fails("id INT", &[], &["cannot be reached", "'hostname'"]);
    let explain = "EXPLAIN CHANGELOG_MODE SELECT * FROM t";
    let mut session = TableEnvironment::new();
    session.execute(&declare("id INT", &[])).unwrap();
    session.execute(explain).unwrap();
}

#[test]
fn tables_that_are_not_what_is_declared() {
    let Some(table) = Table::create_full("wrong", "id INT PRIMARY KEY, big BIGINT") else { return };
    let fails = |columns: &str, options: &[(&str, &str)], words: &[&str]| {
        check(&failure(&[&table.declare(columns, options), "SELECT * FROM t"]), words);
    };
    fails("id INT, gone INT", &[], &["no column 'gone'", "id, big"]);
    fails("id INT, big INT", &[], &["'big'", "bigint", "declare it BIGINT"]);
    fails("id INT", &[("table-name", "none_such")], &["no table of the database"]);
    fails("id INT", &[("password", "wrong")], &["28P01", "'username'"]);
    fails("id INT", &[("database-name", "nowhere")], &["nowhere", "'database-name'"]);
    fails("id INT", &[("scan.startup.mode", "committed-offset")], &["does not exist", "initial"]);
    fails(
        "id INT",
        &[
            ("debezium.publication.autocreate.mode", "disabled"),
            ("debezium.publication.name", "none"),
        ],
        &["publication 'none'", "CREATE PUBLICATION"],
    );
    fails(
        "id INT",
        &[("scan.incremental.snapshot.chunk.key-column", "big")],
        &["'big'", "NOT NULL"],
    );
    let sql =
        format!("SELECT pg_create_logical_replication_slot('{}', 'test_decoding')", table.name);
    table.sql(&sql);
    fails("id INT", &[], &["test_decoding", "'slot.name'"]);
}

#[test]
fn changes_that_cannot_be_told() {
    let Some(table) = Table::create("before", "id INT PRIMARY KEY, v TEXT") else { return };
    table.change("INSERT INTO T VALUES (1, 'a'), (2, 'b')");
    let columns = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED";
    let declare = table.declare(columns, &[]);
    {
        let (_session, result) = query(&[&declare, "SELECT * FROM t"]).unwrap();
        assert_eq!(take(&result, 2), ["+I[1, a]", "+I[2, b]"]);
        table.change("UPDATE T SET v = 'c' WHERE id = 1");
        let error = loop {
            match result.next_batch() {
                Ok(batch) => assert!(batch.is_some()),
                Err(error) => break error.to_string(),
            }
        };
        check(
            &error,
            &["\"before\" field of UPDATE", "REPLICA IDENTITY FULL", "'changelog-mode' = 'upsert'"],
        );
    }
    let Some(table) = Table::create_full("truncated", "id INT PRIMARY KEY") else { return };
    table.change("INSERT INTO T VALUES (1)");
    let declare = table.declare("id INT", &[]);
    let (_session, result) = query(&[&declare, "SELECT * FROM t"]).unwrap();
    assert_eq!(take(&result, 1), ["+I[1]"]);
    table.change("TRUNCATE T ");
    let error = loop {
        match result.next_batch() {
            Ok(batch) => assert!(batch.is_some()),
            Err(error) => break error.to_string(),
        }
    };
    check(
        &error,
        &["TRUNCATE of public.truncated", "DELETE", "'debezium.skipped.operations' = 't'"],
    );
}

#[test]
fn a_slot_is_read_once() {
    let Some(table) = Table::create_full("taken", "id INT PRIMARY KEY") else { return };
    let declare = table.declare("id INT", &[("connect.max-retries", "0")]);
    let (_session, _result) = query(&[&declare, "SELECT * FROM t"]).unwrap();
    table.wait_for_slot();
    let error = failure(&[&declare, "SELECT * FROM t"]);
    check(&error, &["is active for PID", "slot of its own"]);
}
