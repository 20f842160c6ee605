//! Options of throughput change how a result comes about and never the result.

#![allow(clippy::unwrap_used)]

use flott::{Outcome, TableEnvironment};

const TABLES: [&str; 2] = [
    "CREATE TABLE bid (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, \
       `dateTime` TIMESTAMP(3), WATERMARK FOR `dateTime` AS `dateTime`) \
     WITH ('connector' = 'nexmark', 'table' = 'bid', 'events.num' = '1500')",
    "CREATE TABLE auction (id BIGINT, seller BIGINT, category BIGINT, \
       `dateTime` TIMESTAMP(3), WATERMARK FOR `dateTime` AS `dateTime`) \
     WITH ('connector' = 'nexmark', 'table' = 'auction', 'events.num' = '1500')",
];

const SUMS: &str = "SELECT bidder, COUNT(*), SUM(price), AVG(price), MAX(channel), \
       COUNT(DISTINCT auction), COUNT(DISTINCT auction) FILTER (WHERE price > 10000) \
     FROM bid GROUP BY bidder";
const UPDATING: &str = "SELECT n, COUNT(*), MIN(bidder), COUNT(DISTINCT bidder), SUM(total) \
     FROM (SELECT bidder, COUNT(*) AS n, SUM(price) AS total FROM bid GROUP BY bidder) GROUP BY n";

const QUERIES: [&str; 10] = [
    SUMS,
    UPDATING,
    "SELECT COUNT(*), SUM(price), COUNT(DISTINCT bidder) FROM bid",
    "SELECT DISTINCT channel FROM bid",
    "SELECT auction, LAST_VALUE(price) IS NOT NULL, COUNT(*) FROM bid GROUP BY auction",
    "SELECT a.id, a.category, b.n FROM auction AS a LEFT JOIN \
       (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction) AS b ON a.id = b.auction",
    "SELECT id FROM auction WHERE id NOT IN (SELECT auction FROM bid WHERE price > 100000)",
    "SELECT auction, total, place FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY total DESC, auction) \
       AS place FROM (SELECT auction, SUM(price) AS total FROM bid GROUP BY auction)) WHERE place <= 5",
    "SELECT auction, bidder, price FROM (SELECT *, ROW_NUMBER() OVER \
       (PARTITION BY auction ORDER BY `dateTime` DESC) AS r FROM bid) WHERE r = 1 AND price < 0",
    "SELECT n, COUNT(*) FROM (SELECT bidder, COUNT(*) AS n FROM \
       TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '1' SECOND)) \
       GROUP BY window_start, window_end, bidder) GROUP BY n",
];

fn session(options: &[(&str, &str)]) -> TableEnvironment {
    let mut session = TableEnvironment::new();
    session.config_mut().set("table.local-time-zone", "UTC");
    TABLES.iter().for_each(|table| drop(session.execute(table).unwrap()));
    for (key, value) in options {
        session.config_mut().set(key, value);
    }
    session
}

const GATHERING: [(&str, &str); 3] = [
    ("table.exec.mini-batch.enabled", "true"),
    ("table.exec.mini-batch.allow-latency", "1 s"),
    ("table.exec.mini-batch.size", "100"),
];

fn gathering(more: &[(&'static str, &'static str)]) -> TableEnvironment {
    session(&[&GATHERING[..], more].concat())
}

/// The kinds of a query's changes, and its content, sorted.
fn run(session: &mut TableEnvironment, query: &str) -> (usize, Vec<String>) {
    let Outcome::Query(result) = session.execute(query).unwrap() else { panic!("{query}") };
    let mut content: Vec<String> = Vec::new();
    let changes = result.collect().unwrap();
    let count = changes.len();
    for row in changes {
        let text = row.to_string();
        let (kind, values) = text.split_at(2);
        if kind == "+I" || kind == "+U" {
            content.push(values.to_string());
        } else {
            let at = content.iter().position(|known| known == values);
            content.swap_remove(at.unwrap_or_else(|| panic!("{query}: {text} is not there")));
        }
    }
    content.sort();
    (count, content)
}

fn explain(session: &mut TableEnvironment, query: &str) -> String {
    match session.execute(&format!("EXPLAIN {query}")).unwrap() {
        Outcome::Table(table) => match &table.rows[0][0] {
            flott::Value::String(text) => text.to_string(),
            other => panic!("{other:?}"),
        },
        _ => panic!("EXPLAIN gives a table"),
    }
}

/// The names of a plan's operators from the sink down.
fn operators(session: &mut TableEnvironment, query: &str) -> Vec<String> {
    let text = explain(session, query);
    let tree = text.split("== Advice ==").next().unwrap();
    let name = |line: &str| {
        let line = line.trim_start_matches([' ', '+', '-']);
        line.split('(').next().unwrap_or_default().to_string()
    };
    tree.lines().skip(1).map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn results_are_the_same_in_every_way() {
    let mut plain = session(&[]);
    let expected: Vec<_> = QUERIES.iter().map(|query| run(&mut plain, query)).collect();
    let (two, split) = (
        ("table.optimizer.agg-phase-strategy", "TWO_PHASE"),
        ("table.optimizer.distinct-agg.split.enabled", "true"),
    );
    for more in [
        &[][..],
        &[("parallelism.default", "3")],
        &[two],
        &[two, ("table.exec.mini-batch.size", "1")],
        &[two, split, ("parallelism.default", "2")],
        &[("parallelism.default", "2"), ("table.optimizer.agg-phase-strategy", "ONE_PHASE")],
        &[two, ("table.exec.state.ttl", "1 h"), ("table.exec.mini-batch.size", "7")],
    ] {
        let mut other = gathering(more);
        for (query, (_, expected)) in QUERIES.iter().zip(&expected) {
            let (_, content) = run(&mut other, query);
            assert_eq!(content, *expected, "{query} with {more:?}");
        }
    }
}

#[test]
fn bundles_make_fewer_changes() {
    let (mut plain, mut other) =
        (session(&[]), gathering(&[("table.exec.mini-batch.size", "5000")]));
    for query in [UPDATING, QUERIES[5], QUERIES[7]] {
        let ((every, _), (net, _)) = (run(&mut plain, query), run(&mut other, query));
        assert!(net * 2 < every, "{query}: {net} changes instead of {every}");
    }
}

#[test]
fn phases_show_in_the_plan() {
    let local = ["GlobalGroupAggregate", "Exchange", "LocalGroupAggregate"];
    let has = |session: &mut TableEnvironment, query: &str, wanted: &[&str]| {
        let operators = operators(session, query);
        let found = operators.windows(wanted.len()).any(|part| part == wanted);
        assert!(found, "{query}: {operators:?}");
    };
    let two = [("table.optimizer.agg-phase-strategy", "TWO_PHASE")];
    has(&mut gathering(&two), SUMS, &local);
    has(&mut gathering(&[("parallelism.default", "2")]), UPDATING, &local);
    let split = [two[0], ("table.optimizer.distinct-agg.split.enabled", "true")];
    let mut session = gathering(&split);
    let query = "SELECT bidder, COUNT(DISTINCT auction), SUM(price) FROM bid GROUP BY bidder";
    let text = explain(&mut session, query);
    let steps: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("partialFinalType"))
        .map(|line| line.trim_start_matches([' ', '+', '-']).split(", select").next().unwrap())
        .collect();
    let step = |name: &str, keys: &str, part: &str| {
        format!("{name}(groupBy=[{keys}], partialFinalType=[{part}]")
    };
    assert_eq!(
        steps,
        [
            step("GlobalGroupAggregate", "$f0", "FINAL"),
            step("LocalGroupAggregate", "$f0", "FINAL"),
            step("GlobalGroupAggregate", "bidder, $f1", "PARTIAL"),
            step("LocalGroupAggregate", "bidder, $f1", "PARTIAL"),
        ],
        "{text}"
    );
    // One phase: by default in one task, on demand, and where an aggregate cannot be added up.
    for (options, query) in [
        (&[][..], SUMS),
        (
            &[("parallelism.default", "2"), ("table.optimizer.agg-phase-strategy", "ONE_PHASE")],
            SUMS,
        ),
        (&two, QUERIES[4]),
    ] {
        let operators = operators(&mut gathering(options), query);
        assert!(!operators.iter().any(|name| name == "LocalGroupAggregate"), "{operators:?}");
    }
}

#[test]
fn the_latency_is_shared_on_the_way() {
    let text = explain(&mut gathering(&[]), UPDATING);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("miniBatch")).collect();
    assert!(lines.iter().all(|line| line.contains("miniBatch=[100 rows, 500 ms]")), "{text}");
    assert_eq!(lines.len(), 2, "{text}");
    let text = explain(&mut gathering(&[]), "SELECT auction, price FROM bid WHERE price > 1");
    assert!(!text.contains("miniBatch"), "{text}");
}

#[test]
fn an_unknown_strategy_is_refused() {
    let mut session = gathering(&[("table.optimizer.agg-phase-strategy", "THREE_PHASE")]);
    let error = session.execute(SUMS).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("agg-phase-strategy"), "{error}");
}

#[test]
fn state_does_not_depend_on_mini_batches_and_phases() {
    let tables = [
        "CREATE TABLE clicks (k INT, v BIGINT) \
         WITH ('connector' = 'datagen', 'rows-per-second' = '2000', 'fields.k.max' = '9', 'fields.k.min' = '0')",
        "CREATE TABLE totals (k INT, n BIGINT, total BIGINT) WITH ('connector' = 'blackhole')",
    ];
    let insert = "INSERT INTO totals SELECT k, COUNT(*), SUM(v) FROM clicks GROUP BY k";
    let prepared = |options: &[(&str, &str)]| {
        let mut session = session(options);
        tables.iter().for_each(|table| drop(session.execute(table).unwrap()));
        session
    };
    let two = ("table.optimizer.agg-phase-strategy", "TWO_PHASE");
    let ways = [
        Vec::new(),
        GATHERING.to_vec(),
        [&GATHERING[..], &[two]].concat(),
        [&GATHERING[..], &[("parallelism.default", "2")]].concat(),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (from, options) in ways.iter().enumerate() {
        let Outcome::Job(job) = prepared(options).execute(insert).unwrap() else { panic!() };
        let savepoint = folder.path().join(format!("from {from}"));
        job.savepoint(&savepoint, true).unwrap();
        for options in &ways {
            let session = prepared(options);
            let statement = flott::split_script(insert)[0].parse().unwrap();
            let plan = session.plan(&statement).unwrap();
            let effects = session.restore_effects(plan, &savepoint).unwrap();
            assert!(effects.dropped.is_empty(), "from {from} to {options:?}: {effects}");
            let kept = |name: &String| name.contains("GroupAggregate(groupBy=[k]");
            assert!(effects.kept.iter().any(kept), "from {from} to {options:?}: {effects}");
        }
    }
}
