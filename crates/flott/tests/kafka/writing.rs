//! Tables that are written.

use std::time::Duration;

use flott::TableEnvironment;
use flott_kafka::TopicPartition;

use crate::support::{BOUNDED, Broker, eventually, run, start, unique};

#[test]
fn keys_headers_timestamps_and_topics() {
    let Some(broker) = Broker::get() else { return };
    let (one, two) = (broker.topic("one", 1), broker.topic("two", 1));
    let both = format!("{one};{two}");
    let table = broker.table(
        "kafka",
        "o",
        "id INT, name STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
         headers MAP<STRING, BYTES> METADATA, topic STRING METADATA,
         part INT METADATA FROM 'partition' VIRTUAL",
        &[
            ("topic", &both),
            ("key.format", "raw"),
            ("key.fields", "name"),
            ("value.format", "json"),
            ("value.json.encode.ignore-null-fields", "true"),
        ],
    );
    let insert = format!(
        "INSERT INTO o VALUES
         (1, 'a', TO_TIMESTAMP_LTZ(1234, 3), MAP['h', CAST('x' AS BYTES)], '{one}'),
         (CAST(NULL AS INT), 'b', TO_TIMESTAMP_LTZ(99, 3), CAST(NULL AS MAP<STRING, BYTES>), '{two}')"
    );
    run(&mut TableEnvironment::new(), &[&table, &insert]).unwrap();
    let first = broker.read(&one).remove(0);
    assert_eq!((first.key.as_deref(), first.timestamp), (Some("a"), 1234));
    assert_eq!(first.value.as_deref(), Some(r#"{"id":1,"name":"a"}"#));
    assert_eq!(first.headers, [("h".to_string(), "x".to_string())]);
    let second = broker.read(&two).remove(0);
    assert_eq!((second.value.as_deref(), second.timestamp), (Some(r#"{"name":"b"}"#), 99));
}

#[test]
fn keys_stay_together_and_tasks_can_have_partitions() {
    let Some(broker) = Broker::get() else { return };
    let keyed = broker.topic("keyed", 3);
    let options =
        [("topic", &*keyed), ("key.format", "raw"), ("key.fields", "k"), ("value.format", "json")];
    let table = broker.table("kafka", "o", "k STRING, v INT", &options);
    let insert = "INSERT INTO o VALUES ('a', 1), ('b', 2), ('a', 3), ('c', 4), ('b', 5), ('d', 6)";
    run(&mut TableEnvironment::new(), &[&table, insert]).unwrap();
    let mut homes = std::collections::BTreeMap::new();
    for message in broker.read(&keyed) {
        let home = *homes.entry(message.key).or_insert(message.partition);
        assert_eq!(home, message.partition);
    }
    let fixed = broker.topic("fixed", 3);
    let options = [("topic", &*fixed), ("format", "json"), ("sink.partitioner", "fixed")];
    let table = broker.table("kafka", "f", "v INT", &options);
    let insert = "INSERT INTO f VALUES (1), (2), (3)";
    run(&mut TableEnvironment::new(), &[&table, insert]).unwrap();
    assert!(broker.read(&fixed).iter().all(|message| message.partition == 0));
}

/// Settings of an exactly-once table.
fn exactly_once<'a>(topic: &'a str, prefix: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("topic", topic),
        ("format", "json"),
        ("sink.delivery-guarantee", "exactly-once"),
        ("sink.transactional-id-prefix", prefix),
    ]
}

#[test]
fn transactions_become_visible_with_checkpoints() {
    let Some(broker) = Broker::get() else { return };
    let (topic, prefix) = (broker.topic("exactly", 2), unique("tx"));
    let sink = broker.table("kafka", "o", "id BIGINT", &exactly_once(&topic, &prefix));
    let source =
        "CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '200',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000000')";
    let mut session = TableEnvironment::new();
    let checkpoints = "SET 'execution.checkpointing.interval' = '300 ms'";
    let two = "SET 'parallelism.default' = '2'";
    run(&mut session, &[checkpoints, two, &sink, source]).unwrap();
    let job = start(&mut session, "INSERT INTO o SELECT id FROM g");
    eventually("rows of several checkpoints", || broker.read(&topic).len() > 400);
    job.cancel();
    let _ = job.wait();
    // What was not committed is gone, and nothing is left open.
    let rows = broker.values(&topic);
    let distinct: std::collections::BTreeSet<_> = rows.iter().collect();
    assert_eq!(distinct.len(), rows.len());
    eventually("no open transaction", || {
        let open = broker.client().open_transactions().unwrap();
        !open.iter().any(|id| id.starts_with(&prefix))
    });
}

#[test]
fn a_bounded_job_commits_its_end_without_checkpoints() {
    let Some(broker) = Broker::get() else { return };
    let (topic, prefix) = (broker.topic("bounded", 1), unique("tx"));
    let sink = broker.table("kafka", "o", "id BIGINT", &exactly_once(&topic, &prefix));
    run(&mut TableEnvironment::new(), &[&sink, "INSERT INTO o VALUES (1), (2)"]).unwrap();
    // A commit is done when the broker promises it; readers see it a moment later.
    eventually("both rows", || broker.values(&topic) == [r#"{"id":1}"#, r#"{"id":2}"#]);
    let mut session = TableEnvironment::new();
    let batch = "SET 'execution.runtime-mode' = 'batch'";
    run(&mut session, &[batch, &sink, "INSERT INTO o VALUES (3)"]).unwrap();
    eventually("the third row", || broker.values(&topic).len() == 3);
}

#[test]
fn what_an_earlier_run_left_open_is_aborted_at_the_start() {
    let Some(broker) = Broker::get() else { return };
    let (topic, prefix) = (broker.topic("lingering", 1), unique("tx"));
    let mut zombie = flott_kafka::Producer::new(broker.config(&[])).unwrap();
    let (name, id) = (topic.as_str().into(), format!("{prefix}-7-3"));
    let none = [].into_iter();
    zombie.send(&name, Some(0), 0, None, Some(b"outside"), none).unwrap();
    zombie.flush().unwrap();
    zombie.begin_transaction(&id).unwrap();
    let none = [].into_iter();
    zombie.send(&name, Some(0), 0, None, Some(b"of a zombie"), none).unwrap();
    zombie.flush().unwrap();
    let sink = broker.table("kafka", "o", "id BIGINT", &exactly_once(&topic, &prefix));
    run(&mut TableEnvironment::new(), &[&sink, "INSERT INTO o VALUES (1)"]).unwrap();
    // Were the transaction still open, nothing behind it could be read.
    eventually("the row", || broker.values(&topic) == ["outside", r#"{"id":1}"#]);
    let none = [].into_iter();
    let sent = zombie.send(&name, Some(0), 0, None, Some(b"of a zombie, too"), none);
    assert!(sent.and_then(|()| zombie.flush()).is_err());
}

#[test]
fn the_group_sees_how_far_a_table_is_read() {
    let Some(broker) = Broker::get() else { return };
    let (topic, out, group) = (broker.topic("group", 1), broker.topic("group-out", 1), unique("g"));
    broker.send_values(&topic, &[r#"{"id":1}"#, r#"{"id":2}"#]);
    let source = broker.table(
        "kafka",
        "t",
        "id INT",
        &[
            ("topic", &topic),
            ("format", "json"),
            ("scan.startup.mode", "earliest-offset"),
            ("properties.group.id", &group),
        ],
    );
    let sink = broker.table("kafka", "o", "id INT", &[("topic", &out), ("format", "json")]);
    let mut session = TableEnvironment::new();
    let checkpoints = "SET 'execution.checkpointing.interval' = '100 ms'";
    run(&mut session, &[checkpoints, &source, &sink]).unwrap();
    let job = start(&mut session, "INSERT INTO o SELECT id FROM t");
    let of = [TopicPartition::new(topic.as_str(), 0)];
    eventually("the group's offset", || {
        broker.client().committed(&group, &of).unwrap().get(&of[0]) == Some(&2)
    });
    job.cancel();
    assert!(job.wait_within(Duration::from_secs(5)));
    assert_eq!(broker.values(&out).len(), 2);
}

#[test]
fn every_compression_and_a_round_trip() {
    let Some(broker) = Broker::get() else { return };
    for compression in ["gzip", "snappy", "lz4", "zstd"] {
        let topic = broker.topic(compression, 1);
        let kind = ("properties.compression.type", compression);
        let options: Vec<_> =
            [("topic", &*topic), ("format", "csv"), kind].iter().chain(&BOUNDED).copied().collect();
        let table = broker.table("kafka", "t", "id INT, name STRING", &options);
        let insert = "INSERT INTO t VALUES (1, 'a'), (2, 'b')";
        let rows = run(&mut TableEnvironment::new(), &[&table, insert, "SELECT * FROM t"]).unwrap();
        assert_eq!(rows, ["+I[1, a]", "+I[2, b]"], "{compression}");
    }
}
