//! Top-N, deduplication and ORDER BY: what is planned, and what only Flott does.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use flott::{Outcome, TableEnvironment};

const ORDERS: &str = "1,ada,bread,3.20,2025-03-01 08:00:05\n\
                      2,bo,roll,0.45,2025-03-01 08:01:10\n\
                      3,ada,cake,18.00,2025-03-01 08:03:00\n\
                      4,cy,roll,0.45,2025-03-01 08:02:30\n\
                      5,cy,bread,3.20,2025-03-01 08:07:45\n\
                      6,bo,cake,21.50,2025-03-01 08:09:00\n\
                      7,ada,roll,0.50,2025-03-01 08:14:20\n\
                      8,dee,bread,3.25,2025-03-01 08:15:00\n\
                      9,cy,cake,18.00,2025-03-01 09:13:10\n";

fn session(folder: &Path) -> TableEnvironment {
    std::fs::write(folder.join("orders.csv"), ORDERS).unwrap();
    let mut session = TableEnvironment::new().in_directory(folder);
    session.config_mut().set("table.local-time-zone", "UTC");
    for block in blocks().into_iter().take(1) {
        session.execute(&block).unwrap();
    }
    session
}

/// The SQL of the page about Top-N, statement by statement.
fn blocks() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/top-n.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sql = page.split("```sql\n").skip(1).filter_map(|block| block.split("```").next());
    sql.flat_map(|block| block.split(';').map(str::to_string).collect::<Vec<_>>())
        .filter(|statement| !statement.trim().is_empty())
        .collect()
}

fn run(session: &mut TableEnvironment, sql: &str) -> Vec<String> {
    match session.execute(sql).unwrap() {
        Outcome::Query(result) => {
            result.collect().unwrap().iter().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    }
}

fn explain(session: &mut TableEnvironment, sql: &str) -> String {
    match session.execute(&format!("EXPLAIN {sql}")).unwrap() {
        Outcome::Table(table) => match &table.rows[0][0] {
            flott::Value::String(text) => text.to_string(),
            other => panic!("{other:?}"),
        },
        _ => panic!("{sql} gives no plan"),
    }
}

/// The rows that remain after a changelog.
fn folded(rows: &[String]) -> BTreeMap<String, i64> {
    let mut table = BTreeMap::new();
    for row in rows {
        let (kind, values) = row.split_at(2);
        *table.entry(values.to_string()).or_default() += if kind.starts_with('+') { 1 } else { -1 };
    }
    table.retain(|_, count| *count != 0);
    table
}

#[test]
fn the_examples_of_the_documentation_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let examples = blocks();
    assert!(examples.len() > 5);
    for example in &examples[1..] {
        assert!(!run(&mut session, example).is_empty(), "{example}");
    }
}

#[test]
fn plans_name_the_strategy_and_what_bounds_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let ranked = |function: &str, over: &str, from: &str, condition: &str| {
        format!(
            "SELECT * FROM (SELECT *, {function}() OVER ({over}) AS rn FROM {from}) WHERE {condition}"
        )
    };
    let counts = "(SELECT customer, COUNT(*) AS n, SUM(price) AS s FROM orders GROUP BY customer)";
    let windows = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' HOUR))";
    let cases = [
        (
            ranked("ROW_NUMBER", "PARTITION BY product ORDER BY price DESC", "orders", "rn <= 2"),
            "Rank(strategy=[AppendFastStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart=1, \
             rankEnd=2], partitionBy=[product], orderBy=[price DESC]",
        ),
        (
            ranked("ROW_NUMBER", "ORDER BY n DESC", counts, "rn BETWEEN 2 AND 3"),
            "Rank(strategy=[UpdateFastStrategy[0]], rankType=[ROW_NUMBER], rankRange=[rankStart=2, \
             rankEnd=3], partitionBy=[], orderBy=[n DESC]",
        ),
        (
            ranked("ROW_NUMBER", "ORDER BY s DESC", counts, "rn <= 2"),
            "Rank(strategy=[RetractStrategy]",
        ),
        (
            ranked(
                "ROW_NUMBER",
                "PARTITION BY customer ORDER BY order_time DESC",
                "orders",
                "rn = 1",
            ),
            "Deduplicate(keep=[LastRow], key=[customer], order=[ROWTIME], outputInsertOnly=[false])",
        ),
        (
            ranked("ROW_NUMBER", "PARTITION BY customer ORDER BY order_time", "orders", "rn = 1"),
            "Deduplicate(keep=[FirstRow], key=[customer], order=[ROWTIME], outputInsertOnly=[true])",
        ),
        (
            ranked(
                "ROW_NUMBER",
                "PARTITION BY window_start, window_end ORDER BY price",
                windows,
                "rn = 1",
            ),
            "WindowRank(window=[win_start=[window_start], win_end=[window_end]], \
             rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=1], partitionBy=[]",
        ),
        (
            ranked(
                "ROW_NUMBER",
                "PARTITION BY window_start, window_end, product ORDER BY order_time",
                windows,
                "rn = 1",
            ),
            "WindowDeduplicate(window=[win_start=[window_start], win_end=[window_end]], \
             keep=[FirstRow], partitionKeys=[product], orderKey=[order_time], order=[ROWTIME])",
        ),
        (ranked("RANK", "ORDER BY price", "orders", "rn <= 2"), "notInFlink=[RANK() in streaming]"),
        (
            "SELECT price, order_time FROM orders ORDER BY order_time, price DESC".to_string(),
            "TemporalSort(orderBy=[order_time ASC, price DESC])",
        ),
        (
            "SELECT price FROM orders ORDER BY price LIMIT 3 OFFSET 1".to_string(),
            "SortLimit(orderBy=[price ASC], offset=[1], fetch=[3], strategy=[AppendFastStrategy])",
        ),
        (format!("SELECT n FROM {counts} LIMIT 3"), "Limit(offset=[0], fetch=[3])"),
    ];
    for (query, expected) in cases {
        let plan = explain(&mut session, &query);
        assert!(plan.contains(expected), "{query}\n{plan}\nwithout {expected}");
    }
}

#[test]
fn readers_that_find_rows_by_key_get_no_old_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let plan = explain(
        &mut session,
        "SELECT product, order_id, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price DESC) AS rn FROM
           (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders)
         WHERE r <= 2) WHERE rn <= 2",
    );
    assert!(plan.contains("strategy=[UpdateFastStrategy["), "{plan}");
    let inner = plan.lines().find(|line| line.contains("partitionBy=[product]")).unwrap();
    assert!(inner.contains("changelogMode=[I,UA,D]"), "{plan}");
}

#[test]
fn processing_time_may_be_called_in_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let sql = "SELECT customer, order_id FROM (SELECT *, ROW_NUMBER() OVER (
                 PARTITION BY customer ORDER BY PROCTIME()) AS rn FROM orders) WHERE rn = 1";
    assert_eq!(run(&mut session, sql), ["+I[ada, 1]", "+I[bo, 2]", "+I[cy, 4]", "+I[dee, 8]"]);
    assert!(
        explain(&mut session, sql).contains("keep=[FirstRow], key=[customer], order=[PROCTIME]")
    );
}

#[test]
fn ranks_with_ties_stream_to_what_batch_mode_gives() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    for function in ["RANK", "DENSE_RANK", "ROW_NUMBER"] {
        for (columns, condition) in [("*", "r <= 2"), ("order_id", "r BETWEEN 2 AND 3")] {
            for from in [
                "orders",
                "(SELECT product, MAX(order_id) AS order_id, SUM(price) AS price FROM orders
                  GROUP BY product, customer)",
            ] {
                let sql = format!(
                    "SELECT {columns} FROM (SELECT order_id, {function}() OVER (
                       PARTITION BY product ORDER BY price DESC) AS r FROM {from}) WHERE {condition}"
                );
                session.config_mut().set("execution.runtime-mode", "streaming");
                let streamed = folded(&run(&mut session, &sql));
                session.config_mut().set("execution.runtime-mode", "batch");
                let final_rows = folded(&run(&mut session, &sql));
                if function != "ROW_NUMBER" {
                    assert_eq!(streamed, final_rows, "{sql}");
                }
                assert_eq!(streamed.len(), final_rows.len(), "{sql}");
            }
        }
    }
}
