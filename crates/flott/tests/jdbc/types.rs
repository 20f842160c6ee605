//! Values of all types, there and back.

use flott::TableEnvironment;

use crate::support::{Database, run};

/// The table's columns in the database.
fn columns(database: &Database) -> &'static str {
    match database {
        Database::Sqlite(_) => {
            "id INT PRIMARY KEY, b BOOLEAN, i8 INT, i16 INT, i32 INT, i64 BIGINT, f REAL, d REAL,
             n TEXT, c CHAR(3), s TEXT, y BLOB, dt DATE, tm TIME, ts TIMESTAMP, tz TIMESTAMP"
        }
        Database::Postgres(_) => {
            "id INT PRIMARY KEY, b BOOLEAN, i8 SMALLINT, i16 SMALLINT, i32 INT, i64 BIGINT, f REAL,
             d DOUBLE PRECISION, n NUMERIC(38, 18), c CHAR(3), s TEXT, y BYTEA, dt DATE, tm TIME(3),
             ts TIMESTAMP(6), tz TIMESTAMPTZ(6)"
        }
        Database::MariaDb(_) => {
            "id INT PRIMARY KEY, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT,
             d DOUBLE, n DECIMAL(38, 18), c CHAR(3), s TEXT, y BLOB, dt DATE, tm TIME(3),
             ts DATETIME(6), tz DATETIME(6)"
        }
    }
}

const DECLARED: &str = "id INT, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT,
    d DOUBLE, n DECIMAL(38, 18), c CHAR(3), s STRING, y BYTES, dt DATE, tm TIME(3), ts TIMESTAMP(6),
    tz TIMESTAMP_LTZ(6), PRIMARY KEY (id) NOT ENFORCED";

#[test]
fn every_type_comes_back_as_it_went() {
    for database in Database::all() {
        let table = database.create("types", columns(&database));
        let mut session = TableEnvironment::new();
        let nulls = "CAST(NULL AS BOOLEAN), CAST(NULL AS TINYINT), CAST(NULL AS SMALLINT),
            CAST(NULL AS INT), CAST(NULL AS BIGINT), CAST(NULL AS FLOAT), CAST(NULL AS DOUBLE),
            CAST(NULL AS DECIMAL(38, 18)), CAST(NULL AS CHAR(3)), CAST(NULL AS STRING),
            CAST(NULL AS BYTES), CAST(NULL AS DATE), CAST(NULL AS TIME(3)), CAST(NULL AS TIMESTAMP(6)),
            CAST(NULL AS TIMESTAMP_LTZ(6))";
        let statements = [
            "SET 'table.local-time-zone' = 'Asia/Tokyo'".to_string(),
            database.table("t", DECLARED, &table, &[]),
            "INSERT INTO t SELECT 1, TRUE, CAST(-128 AS TINYINT), CAST(32767 AS SMALLINT), -2147483648,
               9223372036854775807, CAST(1.5 AS FLOAT), 2.5E-3, CAST('12345678901234567890.123456789012345678' AS DECIMAL(38, 18)),
               CAST('ab' AS CHAR(3)), 'it''s \"ü\" \\ ?', x'00ff10', DATE '2024-02-29',
               TIME '23:59:59.125', TIMESTAMP '2024-02-29 12:30:00.123456',
               CAST(TIMESTAMP '2024-02-29 12:30:00.654321' AS TIMESTAMP_LTZ(6))"
                .to_string(),
            format!("INSERT INTO t SELECT 2, {nulls}"),
            "SELECT * FROM t".to_string(),
        ];
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        let rows = run(&mut session, &statements).unwrap();
        let nulls = ", null".repeat(15);
        assert_eq!(
            rows,
            [
                "+I[1, TRUE, -128, 32767, -2147483648, 9223372036854775807, 1.5, 0.0025, \
                 12345678901234567890.123456789012345678, ab , it's \"ü\" \\ ?, \0\u{fffd}\u{10}, 2024-02-29, \
                 23:59:59.125, 2024-02-29 12:30:00.123456, 2024-02-29 12:30:00.654321]"
                    .to_string(),
                format!("+I[2{nulls}]"),
            ],
            "{}",
            database.url()
        );
        // Another session sees the instant on its own clock.
        let utc = ["SET 'table.local-time-zone' = 'UTC'", "SELECT ts, tz FROM t WHERE id = 1"];
        let rows = run(&mut session, &utc).unwrap();
        let expected = ["+I[2024-02-29 12:30:00.123456, 2024-02-29 03:30:00.654321]"];
        assert_eq!(rows, expected, "{}", database.url());
        let found = run(&mut session, &["SELECT id FROM t
            WHERE tz = CAST(TIMESTAMP '2024-02-29 03:30:00.654321' AS TIMESTAMP_LTZ(6))
            AND ts > TIMESTAMP '2024-02-29 12:30:00.123455' AND d = 2.5E-3 AND dt = DATE '2024-02-29'
            AND n > 1 AND b AND y = x'00ff10'"]);
        assert_eq!(found.unwrap(), ["+I[1]"], "{}", database.url());
    }
}
