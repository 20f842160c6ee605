//! Lookup joins: by one key and by several, cached and not.

use flott::TableEnvironment;

use crate::support::{Database, run};

fn customers(database: &Database) -> String {
    let table = database.create("customers", "id BIGINT, region VARCHAR(9), name VARCHAR(20)");
    database.execute(&format!(
        "INSERT INTO {table} VALUES (1, 'eu', 'Ann'), (1, 'us', 'Ada'), (2, 'eu', 'Bob'), (3, 'EU', 'Cy')"
    ));
    table
}

const ORDERS: &str = "CREATE TEMPORARY VIEW orders AS
    SELECT id, region, PROCTIME() AS pt FROM (VALUES
      (CAST(1 AS BIGINT), 'eu'), (2, 'us'), (CAST(NULL AS BIGINT), 'eu'), (1, 'us'), (3, 'eu'))
    AS t(id, region)";

#[test]
fn rows_are_found_by_one_key_and_by_several() {
    for database in Database::all() {
        let table = customers(&database);
        let partial = [("lookup.cache", "PARTIAL"), ("lookup.partial-cache.max-rows", "100")];
        let full = [("lookup.cache", "FULL")];
        let old = [("lookup.cache.max-rows", "100"), ("lookup.cache.ttl", "10 min")];
        for options in [&[][..], &partial, &full, &old, &[("lookup.cache", "NONE")]] {
            let mut session = TableEnvironment::new();
            let columns = "id BIGINT, region STRING, name STRING";
            let create = database.table("customers", columns, &table, options);
            let mut check = |sql: &str, expected: &[&str]| {
                let rows = run(&mut session, &[sql]).unwrap();
                assert_eq!(rows, expected, "{} {options:?} {sql}", database.url());
            };
            check(&create, &[]);
            check(ORDERS, &[]);
            check(
                "SELECT o.id, c.name FROM orders AS o
                 JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c ON o.id = c.id",
                &[
                    "+I[1, Ada]",
                    "+I[1, Ada]",
                    "+I[1, Ann]",
                    "+I[1, Ann]",
                    "+I[2, Bob]",
                    "+I[3, Cy]",
                ],
            );
            check(
                "SELECT o.id, o.region, c.name FROM orders AS o
                 LEFT JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c
                 ON o.id = c.id AND o.region = c.region",
                &[
                    "+I[1, eu, Ann]",
                    "+I[1, us, Ada]",
                    "+I[2, us, null]",
                    "+I[3, eu, null]",
                    "+I[null, eu, null]",
                ],
            );
            check(
                "SELECT o.id, c.name FROM orders AS o
                 JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c ON o.id = c.id
                 WHERE c.region = 'eu' AND c.id < 3",
                &["+I[1, Ann]", "+I[1, Ann]", "+I[2, Bob]"],
            );
            check(
                "SELECT /*+ LOOKUP('table' = 'c', 'async' = 'true', 'retry-predicate' = 'lookup_miss',
                   'retry-strategy' = 'fixed_delay', 'fixed-delay' = '10 ms', 'max-attempts' = '2') */
                 o.id, c.name FROM orders AS o
                 JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c ON o.id = c.id AND c.region = 'us'",
                &["+I[1, Ada]", "+I[1, Ada]"],
            );
        }
    }
}
