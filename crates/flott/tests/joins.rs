//! Joins that look at another table as it is or was: what SQL of Flink's kind cannot show in recorded
//! cases, for it takes a program or options of Flott's own.

#![allow(clippy::unwrap_used)]

use std::fs;

use flott::{Outcome, TableEnvironment};
use tempfile::TempDir;

const ORDERS: &str = "1,EUR,2025-01-01 00:00:05\n2,USD,2025-01-01 00:00:10\n\
                      3,EUR,2025-01-01 00:00:20\n4,CHF,2025-01-01 00:00:30\n";
const RATES: &str = "EUR,110,2025-01-01 00:00:01\nUSD,100,2025-01-01 00:00:08\n\
                     EUR,115,2025-01-01 00:00:15\n";

fn session() -> (TableEnvironment, TempDir) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("orders.csv"), ORDERS).unwrap();
    fs::write(folder.path().join("rates.csv"), RATES).unwrap();
    let mut session = TableEnvironment::new().in_directory(folder.path());
    let tables = [
        "CREATE TABLE orders (id INT, currency STRING, ts TIMESTAMP(3), pt AS PROCTIME(), \
         WATERMARK FOR ts AS ts) \
         WITH ('connector' = 'filesystem', 'path' = 'orders.csv', 'format' = 'csv')",
        "CREATE TABLE history (currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) \
         WITH ('connector' = 'filesystem', 'path' = 'rates.csv', 'format' = 'csv')",
        "CREATE TABLE rates (currency STRING, rate INT, ts TIMESTAMP(3)) \
         WITH ('connector' = 'filesystem', 'path' = 'rates.csv', 'format' = 'csv', \
         'lookup.cache' = 'FULL')",
    ];
    for table in tables {
        session.execute(table).unwrap();
    }
    (session, folder)
}

fn rows(session: &mut TableEnvironment, sql: &str) -> Vec<String> {
    let Outcome::Query(result) = session.execute(sql).unwrap() else {
        panic!("{sql} is a query");
    };
    let mut rows: Vec<String> = result.collect().unwrap().iter().map(|r| r.to_string()).collect();
    rows.sort();
    rows
}

fn error(session: &mut TableEnvironment, sql: &str) -> String {
    match session.execute(sql) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{sql} is refused"),
    }
}

#[test]
fn a_temporal_table_function_gives_the_version_of_its_time() {
    let (mut session, _folder) = session();
    session.create_temporal_table_function("Rates", "history", "ts", "currency").unwrap();
    let sql = "SELECT o.id, r.rate FROM orders AS o, LATERAL TABLE(rates(o.ts)) AS r \
               WHERE o.currency = r.currency";
    assert_eq!(rows(&mut session, sql), ["+I[1, 110]", "+I[2, 100]", "+I[3, 115]"]);
    let sql = "SELECT o.id, r.rate FROM orders AS o LEFT JOIN LATERAL TABLE(Rates(o.ts)) AS r \
               ON o.currency = r.currency";
    let expected = ["+I[1, 110]", "+I[2, 100]", "+I[3, 115]", "+I[4, null]"];
    assert_eq!(rows(&mut session, sql), expected);
    let sql = "SELECT o.id FROM orders AS o, LATERAL TABLE(Rates(o.ts)) AS r WHERE o.id = r.rate";
    assert!(error(&mut session, sql).contains("requires primary key"));
    let sql = "SELECT o.id FROM orders AS o, LATERAL TABLE(Rates(o.pt)) AS r \
               WHERE o.currency = r.currency";
    assert!(error(&mut session, sql).contains("both be event time"));
    assert!(session.create_temporal_table_function("F", "history", "rate", "currency").is_err());
    assert!(session.create_temporal_table_function("F", "nothing", "ts", "currency").is_err());
}

#[test]
fn a_table_that_ends_can_be_looked_up() {
    let (mut session, _folder) = session();
    for hint in ["", "/*+ OPTIONS('lookup.cache' = 'NONE') */"] {
        let sql = format!(
            "SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates {hint} \
             FOR SYSTEM_TIME AS OF o.pt AS r ON o.currency = r.currency AND r.rate <> 110"
        );
        let expected = ["+I[1, 115]", "+I[2, 100]", "+I[3, 115]", "+I[4, null]"];
        assert_eq!(rows(&mut session, &sql), expected, "{hint}");
    }
    let sql = "SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.pt AS r \
               ON o.currency = r.currency AND r.rate = 110 AND o.id < 3";
    assert_eq!(rows(&mut session, sql), ["+I[1, 110]"]);
    let Outcome::Table(plan) = session.execute(&format!("EXPLAIN {sql}")).unwrap() else {
        panic!("EXPLAIN gives a table");
    };
    let plan = format!("{plan:?}");
    assert!(plan.contains("LookupJoin(table=[default_catalog.default_database.rates]"), "{plan}");
    assert!(plan.contains("lookup=[currency=currency, rate=110]"), "{plan}");
    let sql = "SELECT o.id FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.pt AS r \
               ON o.id < r.rate";
    assert!(error(&mut session, sql).contains("can not be empty"));
}

#[test]
fn bad_records_of_a_table_that_is_looked_up_are_kept() {
    let (mut session, folder) = session();
    fs::write(folder.path().join("rates.csv"), format!("{RATES}CHF,many,2025\n")).unwrap();
    let letters = "CREATE TABLE letters (raw_record STRING, place STRING) \
                   WITH ('connector' = 'filesystem', 'path' = 'letters', 'format' = 'json')";
    session.execute(letters).unwrap();
    let sql = "SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates \
               /*+ OPTIONS('on-error' = 'dead-letter', 'on-error.table' = 'letters') */ \
               FOR SYSTEM_TIME AS OF o.pt AS r ON o.currency = r.currency AND r.rate <> 110";
    let expected = ["+I[1, 115]", "+I[2, 100]", "+I[3, 115]", "+I[4, null]"];
    assert_eq!(rows(&mut session, sql), expected);
    let kept = rows(&mut session, "SELECT raw_record FROM letters");
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].contains("CHF,many,2025"), "{kept:?}");
}

#[test]
fn a_lookup_joins_time_attribute_survives() {
    let (mut session, _folder) = session();
    let sql = "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT o.ts, r.rate FROM orders AS o \
               JOIN rates FOR SYSTEM_TIME AS OF o.pt AS r ON o.currency = r.currency), \
               DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end";
    let expected = [
        "+I[2025-01-01 00:00:00.000, 2]",
        "+I[2025-01-01 00:00:10.000, 1]",
        "+I[2025-01-01 00:00:20.000, 2]",
    ];
    assert_eq!(rows(&mut session, sql), expected);
}

#[test]
fn hints_name_tables_of_their_block() {
    let (mut session, _folder) = session();
    let join = "a.id FROM orders a JOIN history b ON a.currency = b.currency";
    let plan = |session: &mut TableEnvironment, hint: &str| {
        let sql = format!("EXPLAIN SELECT /*+ {hint} */ {join}");
        match session.execute(&sql) {
            Ok(Outcome::Table(plan)) => format!("{plan:?}"),
            Ok(_) => panic!("EXPLAIN gives a table"),
            Err(error) => error.to_string(),
        }
    };
    let with_ttl = plan(&mut session, "STATE_TTL('a' = '1 d', 'b' = '2 h')");
    assert!(with_ttl.contains("left=86400000 ms, right=7200000 ms"), "{with_ttl}");
    assert!(plan(&mut session, "BROADCAST(a)").contains("InnerJoin"));
    assert!(plan(&mut session, "BROADCAST(zzz)").contains("`zzz` in `BROADCAST`"));
    assert!(plan(&mut session, "STATE_TTL('orders' = '1 d')").contains("`orders` in `STATE_TTL`"));
    assert!(plan(&mut session, "STATE_TTL('a' = 'abc')").contains("Invalid STATE_TTL"));
    assert!(plan(&mut session, "NOSUCHHINT(a)").contains("HintStrategyTable"));
    let retry = "LOOKUP('table' = 'b', 'retry-predicate' = 'lookup_miss')";
    assert!(plan(&mut session, retry).contains("Invalid LOOKUP hint"));
}
