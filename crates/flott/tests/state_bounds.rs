//! What bounds state: declared domains, plans that are refused; and settings that change the way of
//! a result but not the result.

#![allow(clippy::unwrap_used)]

use flott::{Outcome, TableEnvironment};

const ORDERS: &str = "CREATE TABLE orders (id BIGINT, status STRING, paid BOOLEAN)
     WITH ('connector' = 'datagen', 'attribute-domain' = 'status')";

fn session(ddl: &[&str]) -> TableEnvironment {
    let mut session = TableEnvironment::new();
    session.config_mut().set("table.local-time-zone", "UTC");
    for statement in ddl {
        session.execute(statement).unwrap();
    }
    session
}

fn explain(session: &mut TableEnvironment, query: &str) -> Result<String, String> {
    match session.execute(&format!("EXPLAIN {query}")).map_err(|error| error.to_string())? {
        Outcome::Table(table) => Ok(format!("{:?}", table.rows)),
        _ => Err("EXPLAIN gives a table".to_string()),
    }
}

/// The content of a query's result, sorted.
fn content(session: &mut TableEnvironment, query: &str) -> Vec<String> {
    let Outcome::Query(result) = session.execute(query).unwrap() else { panic!("{query}") };
    let mut content: Vec<String> = Vec::new();
    for row in result.collect().unwrap() {
        let text = row.to_string();
        let (kind, values) = text.split_at(2);
        if kind == "+I" || kind == "+U" {
            content.push(values.to_string());
        } else {
            let at = content.iter().position(|known| known == values).unwrap();
            content.swap_remove(at);
        }
    }
    content.sort();
    content
}

#[test]
fn keys_of_a_domain_bound_groups() {
    let mut session = session(&[ORDERS]);
    let mut bound = |query: &str| explain(&mut session, query).unwrap();
    let plan =
        bound("SELECT UPPER(status), paid, COUNT(*) FROM orders GROUP BY UPPER(status), paid");
    assert!(plan.contains("bounded by the domain of"), "{plan}");
    for query in [
        "SELECT id, COUNT(*) FROM orders GROUP BY id",
        "SELECT status, COUNT(DISTINCT id) FROM orders GROUP BY status",
        "SELECT COUNT(DISTINCT id) FROM orders",
    ] {
        let plan = bound(query);
        assert!(plan.contains("unbounded"), "{query}: {plan}");
    }
    let plan = bound("SELECT COUNT(DISTINCT status) FROM orders");
    assert!(plan.contains("constant"), "{plan}");
}

#[test]
fn strict_state_refuses_what_nothing_bounds() {
    let mut session = session(&[ORDERS]);
    session.config_mut().set("table.exec.strict-state", "true");
    let error = explain(&mut session, "SELECT id, COUNT(*) FROM orders GROUP BY id").unwrap_err();
    for part in ["GroupAggregate(groupBy=[id]", "a group for each (id)", "table.exec.state.ttl"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    explain(&mut session, "SELECT status, COUNT(*) FROM orders GROUP BY status").unwrap();
    session.config_mut().set("table.exec.state.ttl", "1 d");
    explain(&mut session, "SELECT id, COUNT(*) FROM orders GROUP BY id").unwrap();
}

#[test]
fn domains_are_of_columns_that_there_are() {
    let ddl = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'attribute-domain' = 'b')";
    let mut session = session(&[ddl]);
    let error = explain(&mut session, "SELECT a FROM t").unwrap_err();
    assert!(error.contains("attribute-domain") && error.contains("'b'"), "{error}");
}

#[test]
fn nexmark_has_the_events_it_says() {
    let tables = [
        "CREATE TABLE person (id BIGINT, name STRING) \
         WITH ('connector' = 'nexmark', 'table' = 'person', 'events.num' = '1000')",
        "CREATE TABLE bid (auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3)) \
         WITH ('connector' = 'nexmark', 'table' = 'bid', 'events.num' = '1000')",
        "CREATE TABLE events (event_type INT, person ROW<id BIGINT, name STRING>, \
           bid ROW<auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3)>) \
         WITH ('connector' = 'nexmark', 'events.num' = '1000')",
    ];
    let mut session = session(&tables);
    assert_eq!(
        content(&mut session, "SELECT event_type, COUNT(*) FROM events GROUP BY event_type"),
        ["[0, 20]", "[1, 60]", "[2, 920]"]
    );
    assert_eq!(
        content(&mut session, "SELECT id, name FROM person"),
        content(&mut session, "SELECT person.id, person.name FROM events WHERE event_type = 0")
    );
    session.config_mut().set("parallelism.default", "2");
    assert_eq!(
        content(&mut session, "SELECT auction, price, `dateTime` FROM bid"),
        content(
            &mut session,
            "SELECT bid.auction, bid.price, bid.`dateTime` FROM events WHERE event_type = 2"
        )
    );
}

#[test]
fn ways_of_aggregating_give_one_result() {
    let bid = "CREATE TABLE bid (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING) \
               WITH ('connector' = 'nexmark', 'table' = 'bid', 'events.num' = '2000')";
    let query = "SELECT bidder, COUNT(*), COUNT(DISTINCT auction), SUM(price), MAX(price), \
                   COUNT(DISTINCT auction) FILTER (WHERE price > 10000) \
                 FROM bid GROUP BY bidder";
    let updating = "SELECT n, COUNT(*), COUNT(DISTINCT bidder), MIN(bidder) \
                    FROM (SELECT bidder, COUNT(*) AS n FROM bid GROUP BY bidder) GROUP BY n";
    let (mut plain, mut other) = (session(&[bid]), session(&[bid]));
    for (key, value) in [
        ("table.optimizer.distinct-agg.split.enabled", "true"),
        ("parallelism.default", "2"),
        ("table.exec.mini-batch.allow-latency", "1 s"),
        ("table.exec.mini-batch.size", "100"),
        ("table.exec.mini-batch.enabled", "true"),
        ("table.optimizer.distinct-agg.split.enabled", "false"),
    ] {
        other.config_mut().set(key, value);
        for query in [query, updating] {
            assert_eq!(content(&mut other, query), content(&mut plain, query), "{key} = {value}");
        }
    }
}
