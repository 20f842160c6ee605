//! Nexmark's queries that Flink does not run, against naive computations over a few events.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap};

use flott::{Outcome, TableEnvironment, Value, split_script};

const EVENTS: &str = "4000";

fn session(folder: &std::path::Path) -> TableEnvironment {
    let mut session = TableEnvironment::new().in_directory(folder);
    let tables = include_str!("../../bench/queries/tables-generated.sql");
    run(&mut session, &tables.replace("${EVENTS}", EVENTS));
    session
}

fn run(session: &mut TableEnvironment, script: &str) {
    for statement in split_script(script) {
        if let Outcome::Job(job) = session.execute(statement.text).unwrap() {
            job.wait().unwrap();
        }
    }
}

/// Runs a query and gives what remains of its changelog.
fn query(session: &mut TableEnvironment, sql: &str) -> Vec<Vec<Value>> {
    let Outcome::Query(result) = session.execute(sql).unwrap() else { panic!("no query") };
    let mut table: Vec<Vec<Value>> = Vec::new();
    for row in result.collect().unwrap() {
        if row.kind.adds() {
            table.push(row.values);
        } else {
            let at = table.iter().position(|known| *known == row.values);
            table.swap_remove(at.expect("a row that was given"));
        }
    }
    table
}

/// The script before the INSERT of a query, and the query that it inserts.
fn parts(script: &str) -> (&str, &str) {
    let (before, query) = script.rsplit_once("INSERT INTO sink ").unwrap();
    (before, query.trim_end().trim_end_matches(';'))
}

fn int(value: &Value) -> i64 {
    value.as_int().unwrap()
}

#[test]
fn q6_is_the_mean_of_the_last_ten_auctions() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let (before, q6) = parts(include_str!("../../bench/queries/q6.sql"));
    run(&mut session, before);
    let mut answer: Vec<(i64, i64)> =
        query(&mut session, q6).iter().map(|row| (int(&row[0]), int(&row[1]))).collect();

    let time = |value: &Value| match value {
        Value::Timestamp(nanos) => *nanos,
        other => panic!("{other:?} is no time"),
    };
    let auctions = query(&mut session, "SELECT id, seller, `dateTime`, expires FROM auction");
    let mut bids: HashMap<i64, Vec<(i64, i128)>> = HashMap::new();
    for bid in query(&mut session, "SELECT auction, price, `dateTime` FROM bid") {
        bids.entry(int(&bid[0])).or_default().push((int(&bid[1]), time(&bid[2])));
    }
    // By seller the highest price of each auction, in the order in which they closed.
    let mut closed: BTreeMap<i64, Vec<(i128, i64)>> = BTreeMap::new();
    for auction in &auctions {
        let (from, to) = (time(&auction[2]), time(&auction[3]));
        let meant = bids.get(&int(&auction[0])).into_iter().flatten();
        let meant = meant.filter(|(_, at)| (from..=to).contains(at));
        if let Some(price) = meant.map(|(price, _)| *price).max() {
            closed.entry(int(&auction[1])).or_default().push((to, price));
        }
    }
    let mut expected = Vec::new();
    for (seller, mut sales) in closed {
        sales.sort_unstable();
        if sales.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            // Auctions that close together have no order of their own.
            answer.retain(|(of, _)| *of != seller);
            continue;
        }
        for at in 0..sales.len() {
            let last = &sales[at.saturating_sub(9)..=at];
            let sum: i64 = last.iter().map(|(_, price)| price).sum();
            expected.push((seller, sum / last.len() as i64));
        }
    }
    answer.sort_unstable();
    expected.sort_unstable();
    assert!(expected.len() > 30, "{}", expected.len());
    assert_eq!(answer, expected);
}

#[test]
fn q13_finds_each_bids_row_of_the_side_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let out = folder.path().display().to_string();
    let script = include_str!("../../bench/queries/q13.sql").replace("${OUT}", &out);
    let (before, q13) = parts(&script);
    run(&mut session, before);
    let joined = query(&mut session, q13);
    let bids = query(&mut session, "SELECT auction FROM bid");
    assert_eq!(joined.len(), bids.len());
    for row in joined {
        assert_eq!(row[4], Value::string((int(&row[0]) % 10_000).to_string()));
    }
}
