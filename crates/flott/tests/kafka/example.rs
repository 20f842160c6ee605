//! The pipeline of `examples/kafka` gives the counts that its data has.

use std::collections::{BTreeMap, BTreeSet};

use flott::{TableEnvironment, split_script};

use crate::support::{Broker, run};

const SCRIPT: &str = include_str!("../../../../examples/kafka/pipeline.sql");
const DATA: &str = include_str!("../../../../examples/kafka/user_behavior.json");

#[test]
fn page_views_and_users_by_hour_and_region() {
    let Some(broker) = Broker::get() else { return };
    let (input, output) = (broker.topic("user_behavior", 2), broker.topic("region_stats", 2));
    let script = SCRIPT
        .replace("'localhost:9092'", &format!("'{}'", broker.address))
        .replace("= 'user_behavior'", &format!("= '{input}'"))
        .replace("= 'region_stats'", &format!("= '{output}'"));
    let records: Vec<_> =
        DATA.lines().enumerate().map(|(i, line)| ((i / 7 % 2) as i32, None, Some(line))).collect();
    broker.send(&input, &records);

    let mut views: BTreeMap<(String, String), (u64, BTreeSet<u64>)> = BTreeMap::new();
    for line in DATA.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap().to_string();
        if text("behavior") == "pv" {
            let of = views.entry((text("ts")[..13].into(), text("region"))).or_default();
            of.0 += 1;
            of.1.insert(row["user_id"].as_u64().unwrap());
        }
    }
    let expected: Vec<_> = views
        .into_iter()
        .map(|((hour, region), (pv, uv))| {
            format!("+I[{hour}:00:00.000, {region}, {pv}, {}]", uv.len())
        })
        .collect();
    let mut session = TableEnvironment::new();
    let statements: Vec<_> = split_script(&script).iter().map(|statement| statement.text).collect();
    assert_eq!(run(&mut session, &statements).unwrap(), expected);
}
