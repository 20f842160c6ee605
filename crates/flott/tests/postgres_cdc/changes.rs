//! Rows and changes as they come.

use flott::{Outcome, TableEnvironment};

use crate::support::{Table, query, take};

#[test]
fn a_snapshot_is_followed_by_changes_with_their_metadata() {
    let Some(table) = Table::create_full("meta", "id INT PRIMARY KEY, v TEXT") else { return };
    table.change("INSERT INTO T VALUES (1, 'a'), (2, 'b')");
    let declare = table.declare(
        "id INT, v STRING, db STRING METADATA FROM 'database_name' VIRTUAL,
         s STRING METADATA FROM 'schema_name' VIRTUAL, n STRING METADATA FROM 'table_name' VIRTUAL,
         op_time TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL, k STRING METADATA FROM 'row_kind' VIRTUAL,
         PRIMARY KEY (id) NOT ENFORCED",
        &[],
    );
    let select = format!(
        "SELECT id, v, db, s, n = '{}', op_time > TO_TIMESTAMP_LTZ(0, 3), k FROM t",
        table.name
    );
    let (_session, result) = query(&[&declare, &select]).unwrap();
    assert_eq!(
        take(&result, 2),
        ["+I[1, a, test, public, TRUE, FALSE, +I]", "+I[2, b, test, public, TRUE, FALSE, +I]"]
    );
    table.change("UPDATE T SET v = 'c' WHERE id = 1");
    table.change("DELETE FROM T WHERE id = 2");
    table.change("UPDATE T SET id = 3 WHERE id = 1");
    table.change("INSERT INTO T VALUES (4, NULL)");
    assert_eq!(
        take(&result, 6),
        [
            "-U[1, a, test, public, TRUE, TRUE, -U]",
            "+U[1, c, test, public, TRUE, TRUE, +U]",
            "-D[2, b, test, public, TRUE, TRUE, -D]",
            "-D[1, c, test, public, TRUE, TRUE, -D]",
            "+I[3, c, test, public, TRUE, TRUE, +I]",
            "+I[4, null, test, public, TRUE, TRUE, +I]",
        ]
    );
}

#[test]
fn values_of_all_types_come_alike_from_snapshot_and_log() {
    let columns = "id INT PRIMARY KEY, b BOOL, s SMALLINT, l BIGINT, f REAL, d DOUBLE PRECISION,
        n NUMERIC(20, 4), c CHAR(4), x VARCHAR(20), y BYTEA, dt DATE, tm TIME, ts TIMESTAMP,
        tz TIMESTAMPTZ, a INT[], ta TEXT[], m INT[], u UUID, j JSONB, g INTERVAL";
    let Some(table) = Table::create_full("types", columns) else { return };
    let row = |id: u32| {
        format!(
            "INSERT INTO T VALUES ({id}, true, -32768, 9223372036854775807, 1.5, 'NaN', 1234567.8901, 'ab',
             E'it''s \\\\ \\u00fc', '\\x41c3bc', '2024-02-29', '23:59:59.125', '1969-12-31 23:59:59.123456',
             '2024-02-29 12:30:00.654321+02', '{{1,NULL,3}}', '{{\"a, b\",\"q\\\"\"}}', '{{{{1,2}},{{3,4}}}}',
             'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{{\"k\": [1]}}', '1 day 02:00:00')"
        )
    };
    table.change(&row(1));
    let declare = table.declare(
        "id INT, b BOOLEAN, s SMALLINT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(20, 4), c CHAR(4), x STRING,
         y BYTES, dt DATE, tm TIME(3), ts TIMESTAMP(6), tz TIMESTAMP_LTZ(6), a ARRAY<INT>, ta ARRAY<STRING>,
         m ARRAY<ARRAY<INT>>, u STRING, j STRING, g STRING, PRIMARY KEY (id) NOT ENFORCED",
        &[],
    );
    let utc = "SET 'table.local-time-zone' = 'UTC'";
    let (_session, result) = query(&[utc, &declare, "SELECT * FROM t"]).unwrap();
    let expected = |id: u32| {
        format!(
            "+I[{id}, TRUE, -32768, 9223372036854775807, 1.5, NaN, 1234567.8901, ab  , it's \\ ü, Aü, \
             2024-02-29, 23:59:59.125, 1969-12-31 23:59:59.123456, 2024-02-29 10:30:00.654321, [1, NULL, 3], \
             [a, b, q\"], [[1, 2], [3, 4]], a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11, {{\"k\": [1]}}, \
             1 day 02:00:00]"
        )
    };
    assert_eq!(take(&result, 1), [expected(1)]);
    table.change(&row(2));
    assert_eq!(take(&result, 1), [expected(2)]);
    table.change("INSERT INTO T (id) VALUES (3)");
    assert_eq!(take(&result, 1), [format!("+I[3{}]", ", null".repeat(19))]);
    // Columns that come later are not wanted.
    table.change("ALTER TABLE T ADD COLUMN more INT DEFAULT 7");
    table.change("DELETE FROM T WHERE id < 3");
    let gone = take(&result, 2);
    assert_eq!(gone, [expected(1).replace("+I", "-D"), expected(2).replace("+I", "-D")]);
}

#[test]
fn upserts_need_no_whole_rows() {
    let Some(table) = Table::create("upserts", "id INT PRIMARY KEY, v TEXT") else { return };
    table.change("INSERT INTO T VALUES (1, 'a'), (2, 'b')");
    let columns = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED";
    let declare = table.declare(columns, &[("changelog-mode", "upsert")]);
    let (_session, result) = query(&[&declare, "SELECT * FROM t"]).unwrap();
    assert_eq!(take(&result, 2), ["+I[1, a]", "+I[2, b]"]);
    table.change("UPDATE T SET v = 'c' WHERE id = 1");
    table.change("DELETE FROM T WHERE id = 2");
    table.change("UPDATE T SET id = 3 WHERE id = 1");
    assert_eq!(take(&result, 5), ["-U[1, a]", "+U[1, c]", "-D[2, b]", "-D[1, c]", "+I[3, c]"]);
}

#[test]
fn large_values_that_did_not_change_are_whole() {
    let Some(table) = Table::create_full("toast", "id INT PRIMARY KEY, v INT, big TEXT") else {
        return;
    };
    // Too large for the row, and not to be compressed.
    table.change("ALTER TABLE T ALTER COLUMN big SET STORAGE EXTERNAL");
    table.change("INSERT INTO T VALUES (1, 1, repeat('x', 100000))");
    let columns = "id INT, v INT, big STRING, PRIMARY KEY (id) NOT ENFORCED";
    let declare = table.declare(columns, &[]);
    let select = "SELECT id, v, CHAR_LENGTH(big) FROM t";
    let (_session, result) = query(&[&declare, select]).unwrap();
    assert_eq!(take(&result, 1), ["+I[1, 1, 100000]"]);
    table.change("UPDATE T SET v = 2");
    assert_eq!(take(&result, 2), ["-U[1, 1, 100000]", "+U[1, 2, 100000]"]);
}

#[test]
fn a_snapshot_alone_ends() {
    let Some(table) = Table::create("alone", "a TEXT, b INT, PRIMARY KEY (a, b)") else { return };
    table.change("INSERT INTO T SELECT 'k' || i % 7, i FROM generate_series(1, 5000) AS i");
    let declare = table.declare("a STRING, b INT", &[("scan.startup.mode", "snapshot")]);
    let select = "SELECT COUNT(*), COUNT(DISTINCT a), SUM(b) FROM t";
    let (_session, result) = query(&[&declare, select]).unwrap();
    let rows = result.collect().unwrap();
    assert_eq!(rows.last().unwrap().to_string(), "+U[5000, 7, 12502500]");
    let mut session = TableEnvironment::new();
    for sql in ["SET 'execution.runtime-mode' = 'batch'", &declare] {
        session.execute(sql).unwrap();
    }
    let Outcome::Query(result) = session.execute(select).unwrap() else { panic!("no query") };
    let rows = result.collect().unwrap();
    assert_eq!(rows.iter().map(ToString::to_string).collect::<Vec<_>>(), ["+I[5000, 7, 12502500]"]);
}

#[test]
fn changes_alone_begin_now_or_where_the_slot_stands() {
    let Some(table) = Table::create_full("later", "id INT PRIMARY KEY") else { return };
    table.change("INSERT INTO T VALUES (1)");
    let declare = |mode: &str| {
        table.declare("id INT", &[("scan.startup.mode", mode), ("connect.max-retries", "9")])
    };
    {
        let (_session, result) = query(&[&declare("latest-offset"), "SELECT * FROM t"]).unwrap();
        table.wait_for_slot();
        table.change("INSERT INTO T VALUES (2)");
        assert_eq!(take(&result, 1), ["+I[2]"]);
        result.job().cancel();
    }
    // Without checkpoints the slot stays where it is.
    table.change("INSERT INTO T VALUES (3)");
    let (_session, result) = query(&[&declare("committed-offset"), "SELECT * FROM t"]).unwrap();
    assert_eq!(take(&result, 2), ["+I[2]", "+I[3]"]);
}

#[test]
fn tables_of_a_pattern_are_one_and_transactions_are_whole() {
    let Some(table) = Table::create_full("shard", "id INT PRIMARY KEY, v INT") else { return };
    table.change("INSERT INTO T VALUES (1, 1)");
    let Some(other) = Table::create_full("shard_b", "id INT PRIMARY KEY, v INT") else { return };
    other.change("INSERT INTO T VALUES (2, 20)");
    let pattern = format!("shard(_b)?_{}", std::process::id());
    let declare = table.declare("id INT, v INT", &[("table-name", &pattern)]);
    let (_session, result) = query(&[&declare, "SELECT SUM(v), COUNT(*) FROM t"]).unwrap();
    let mut last = String::new();
    while last != "+U[21, 2]" {
        last = take_last(&result);
    }
    let (a, b) = (&table.name, &other.name);
    table.sql(&format!(
        "BEGIN; UPDATE {a} SET v = 5; INSERT INTO {b} SELECT i, 1 FROM generate_series(3, 20002) AS i; COMMIT"
    ));
    while last != "+U[20025, 20002]" {
        last = take_last(&result);
    }
    table.sql(&format!("BEGIN; DELETE FROM {b}; ROLLBACK; DELETE FROM {b} WHERE id > 2"));
    while last != "+U[25, 2]" {
        last = take_last(&result);
    }
}

fn take_last(result: &flott::QueryResult) -> String {
    let batch = result.next_batch().unwrap().unwrap();
    result.rows(&batch).last().unwrap().to_string()
}
