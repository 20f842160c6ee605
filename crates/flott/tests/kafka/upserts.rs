//! Topics that hold the newest row of each key.

use flott::TableEnvironment;

use crate::support::{BOUNDED, Broker, eventually, run, start};

fn options<'a>(topic: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let formats = [("topic", topic), ("key.format", "json"), ("value.format", "json")];
    formats.iter().chain(more).copied().collect()
}

/// A view of some names, of the type that counts have them in.
const NAMES: &str = "CREATE VIEW names AS SELECT CAST(v AS STRING) AS name FROM
    (VALUES ('a'), ('b'), ('a'), ('c'), ('a')) AS t (v)";
const COUNTS: &str = "name STRING, n BIGINT, PRIMARY KEY (name) NOT ENFORCED";

#[test]
fn counts_go_out_and_come_back() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("upserts", 2);
    let more = [("scan.bounded.mode", "latest-offset")];
    let table = broker.table("upsert-kafka", "counts", COUNTS, &options(&topic, &more));
    let mut session = TableEnvironment::new();
    let insert = "INSERT INTO counts SELECT name, COUNT(*) FROM names GROUP BY name";
    run(&mut session, &[NAMES, &table, insert]).unwrap();
    let messages = broker.read(&topic);
    let of_a: Vec<_> =
        messages.iter().filter(|m| m.key.as_deref() == Some(r#"{"name":"a"}"#)).collect();
    let values: Vec<_> = of_a.iter().filter_map(|message| message.value.as_deref()).collect();
    assert_eq!(values, [1, 2, 3].map(|n| format!(r#"{{"name":"a","n":{n}}}"#)));
    let rows = run(&mut session, &["SELECT name, n FROM counts WHERE name = 'a'"]).unwrap();
    assert_eq!(rows, ["+I[a, 1]", "+U[a, 2]", "+U[a, 3]", "-U[a, 1]", "-U[a, 2]"]);
}

#[test]
fn a_row_that_no_longer_fulfils_the_condition_is_deleted() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("having", 1);
    let more = [("scan.bounded.mode", "latest-offset")];
    let table = broker.table("upsert-kafka", "counts", COUNTS, &options(&topic, &more));
    let mut session = TableEnvironment::new();
    let insert =
        "INSERT INTO counts SELECT name, COUNT(*) FROM names GROUP BY name HAVING COUNT(*) < 3";
    run(&mut session, &[NAMES, &table, insert]).unwrap();
    let mut newest = std::collections::BTreeMap::new();
    for message in broker.read(&topic) {
        newest.insert(message.key, message.value);
    }
    let values: Vec<_> = newest.into_values().flatten().collect();
    assert_eq!(values, [r#"{"name":"b","n":1}"#, r#"{"name":"c","n":1}"#]);
}

#[test]
fn tombstones_delete_and_are_written() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("tombstones", 1);
    let (a, b) = (Some(r#"{"name":"a"}"#), Some(r#"{"name":"b"}"#));
    broker.send(
        &topic,
        &[
            (0, a, Some(r#"{"name":"a","n":1}"#)),
            (0, b, Some(r#"{"name":"b","n":2}"#)),
            (0, a, None),
            (0, b, Some(r#"{"name":"b","n":3}"#)),
            // A deletion of what is not there says nothing.
            (0, a, None),
        ],
    );
    let more = [("scan.bounded.mode", "latest-offset")];
    let source = broker.table("upsert-kafka", "t", COUNTS, &options(&topic, &more));
    let mut session = TableEnvironment::new();
    let rows = run(&mut session, &[&source, "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[a, 1]", "+I[b, 2]", "+U[b, 3]", "-D[a, 1]", "-U[b, 2]"]);

    let out = broker.topic("tombstones-out", 1);
    let sink = broker.table("upsert-kafka", "o", COUNTS, &options(&out, &[]));
    run(&mut session, &[&sink, "INSERT INTO o SELECT * FROM t"]).unwrap();
    let written: Vec<_> = broker.read(&out).into_iter().map(|m| (m.key, m.value)).collect();
    let own = |text: &str| Some(text.to_string());
    assert_eq!(
        written,
        [
            (own(r#"{"name":"a"}"#), own(r#"{"name":"a","n":1}"#)),
            (own(r#"{"name":"b"}"#), own(r#"{"name":"b","n":2}"#)),
            (own(r#"{"name":"a"}"#), None),
            (own(r#"{"name":"b"}"#), own(r#"{"name":"b","n":3}"#)),
        ]
    );
}

#[test]
fn the_key_can_be_left_out_of_the_value() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("except", 1);
    let more = [
        ("value.fields-include", "EXCEPT_KEY"),
        ("key.fields-prefix", "k_"),
        ("scan.bounded.mode", "latest-offset"),
    ];
    let columns = "n BIGINT, k_name STRING, PRIMARY KEY (k_name) NOT ENFORCED";
    let table = broker.table("upsert-kafka", "t", columns, &options(&topic, &more));
    let mut session = TableEnvironment::new();
    let rows =
        run(&mut session, &[&table, "INSERT INTO t VALUES (1, 'a')", "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[1, a]"]);
    let message = broker.read(&topic).remove(0);
    assert_eq!(message.key.as_deref(), Some(r#"{"name":"a"}"#));
    assert_eq!(message.value.as_deref(), Some(r#"{"n":1}"#));
}

#[test]
fn of_buffered_changes_only_the_last_is_sent() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("buffered", 1);
    let more = [("sink.buffer-flush.max-rows", "1000"), ("sink.buffer-flush.interval", "10 min")];
    let table = broker.table("upsert-kafka", "t", COUNTS, &options(&topic, &more));
    let mut session = TableEnvironment::new();
    let insert = "INSERT INTO t SELECT name, COUNT(*) FROM names GROUP BY name";
    run(&mut session, &[NAMES, &table, insert]).unwrap();
    let expected =
        [("a", 3), ("b", 1), ("c", 1)].map(|(name, n)| format!(r#"{{"name":"{name}","n":{n}}}"#));
    assert_eq!(broker.values(&topic), expected);
}

#[test]
fn upserts_exactly_once_through_restarting_checkpoints() {
    let Some(broker) = Broker::get() else { return };
    let (topic, out) = (broker.topic("keyed", 2), broker.topic("keyed-out", 2));
    let values: Vec<_> = (0..100).map(|i| format!(r#"{{"name":"k{}"}}"#, i % 5)).collect();
    broker.send_values(&topic, &values.iter().map(String::as_str).collect::<Vec<_>>());
    let read: Vec<_> = [("topic", &*topic), ("format", "json"), BOUNDED[0]].into_iter().collect();
    let source = broker.table("kafka", "t", "name STRING", &read);
    let prefix = crate::support::unique("tx");
    let more =
        [("sink.delivery-guarantee", "exactly-once"), ("sink.transactional-id-prefix", &*prefix)];
    let sink = broker.table("upsert-kafka", "o", COUNTS, &options(&out, &more));
    let mut session = TableEnvironment::new();
    let checkpoints = "SET 'execution.checkpointing.interval' = '200 ms'";
    run(&mut session, &[checkpoints, &source, &sink]).unwrap();
    let job = start(&mut session, "INSERT INTO o SELECT name, COUNT(*) FROM t GROUP BY name");
    eventually("all counts", || broker.read(&out).len() == 100);
    job.stop();
    job.wait().unwrap();
}
