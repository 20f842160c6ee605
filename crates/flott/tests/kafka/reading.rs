//! Tables that are read.

use std::time::{Duration, Instant};

use flott::TableEnvironment;
use flott_kafka::TopicPartition;

use crate::support::{BOUNDED, Broker, eventually, run, start, unique};

fn options<'a>(topic: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [("topic", topic), ("format", "json")].iter().chain(more).copied().collect()
}

#[test]
fn values_and_metadata() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("metadata", 2);
    broker.send(&topic, &[(0, None, Some(r#"{"id":1}"#)), (1, None, Some(r#"{"id":2}"#))]);
    let columns =
        "id INT, topic STRING METADATA VIRTUAL, part INT METADATA FROM 'partition' VIRTUAL,
        off BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
        kind STRING METADATA FROM 'timestamp-type' VIRTUAL, headers MAP<STRING, BYTES> METADATA,
        epoch INT METADATA FROM 'leader-epoch' VIRTUAL";
    let table = broker.table("kafka", "t", columns, &options(&topic, &BOUNDED));
    let mut session = TableEnvironment::new();
    let query = "SELECT id, topic, part, off, CAST(ts AS STRING), kind,
        CAST(headers['from'] AS STRING), epoch FROM t";
    let rows = run(&mut session, &["SET 'table.local-time-zone' = 'UTC'", &table, query]).unwrap();
    let expected = [
        format!("+I[1, {topic}, 0, 0, 1970-01-01 00:00:01.000, CreateTime, test, 0]"),
        format!("+I[2, {topic}, 1, 0, 1970-01-01 00:00:01.001, CreateTime, test, 0]"),
    ];
    assert_eq!(rows, expected);
    // Columns that nobody wants are not decoded.
    assert_eq!(run(&mut session, &["SELECT part FROM t"]).unwrap(), ["+I[0]", "+I[1]"]);
}

#[test]
fn where_reading_begins_and_ends() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("startup", 1);
    let values: Vec<_> = (0..5).map(|id| format!(r#"{{"id":{id}}}"#)).collect();
    broker.send_values(&topic, &values.iter().map(String::as_str).collect::<Vec<_>>());
    let group = unique("group");
    let of = TopicPartition::new(topic.as_str(), 0);
    broker.client().commit(&group, &[(of, 3)]).unwrap();
    let read = |more: &[(&str, &str)]| {
        let table = broker.table("kafka", "t", "id INT", &options(&topic, more));
        let rows = run(&mut TableEnvironment::new(), &[&table, "SELECT id FROM t"]).unwrap();
        rows.iter().map(|row| row[3..row.len() - 1].parse().unwrap()).collect::<Vec<i32>>()
    };
    let (begin, end) = ("scan.startup.mode", "scan.bounded.mode");
    let latest = (end, "latest-offset");
    assert_eq!(read(&[(begin, "earliest-offset"), latest]), [0, 1, 2, 3, 4]);
    assert!(read(&[(begin, "latest-offset"), latest]).is_empty());
    assert_eq!(read(&[latest, ("properties.group.id", &group)]), [3, 4]);
    let none = unique("none");
    let reset = ("properties.auto.offset.reset", "earliest");
    assert_eq!(read(&[latest, ("properties.group.id", &none), reset]).len(), 5);
    let time = ("scan.startup.timestamp-millis", "1002");
    assert_eq!(read(&[(begin, "timestamp"), time, latest]), [2, 3, 4]);
    let time = ("scan.bounded.timestamp-millis", "1003");
    assert_eq!(read(&[(begin, "earliest-offset"), (end, "timestamp"), time]), [0, 1, 2]);
    let from = ("scan.startup.specific-offsets", "partition:0,offset:1");
    let to = ("scan.bounded.specific-offsets", "partition:0,offset:3");
    assert_eq!(read(&[(begin, "specific-offsets"), from, (end, "specific-offsets"), to]), [1, 2]);
    let group = ("properties.group.id", &*group);
    assert_eq!(read(&[(begin, "earliest-offset"), (end, "group-offsets"), group]), [0, 1, 2]);
}

#[test]
fn keys_and_their_prefix() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("keys", 1);
    broker.send(&topic, &[(0, Some(r#"{"id":7}"#), Some(r#"{"name":"x"}"#))]);
    let key = [("topic", &*topic), ("key.format", "json"), ("value.format", "json")];
    let read = |columns: &str, more: &[(&str, &str)]| {
        let options: Vec<_> = key.iter().chain(&BOUNDED).chain(more).copied().collect();
        let table = broker.table("kafka", "t", columns, &options);
        run(&mut TableEnvironment::new(), &[&table, "SELECT * FROM t"]).unwrap()
    };
    let except = ("value.fields-include", "EXCEPT_KEY");
    let prefix = ("key.fields-prefix", "k_");
    assert_eq!(
        read("k_id INT, name STRING", &[("key.fields", "k_id"), prefix, except]),
        ["+I[7, x]"]
    );
    assert_eq!(read("id INT, name STRING", &[("key.fields", "id"), except]), ["+I[7, x]"]);
    // With all columns in the value, the value has the last word.
    assert_eq!(read("id INT, name STRING", &[("key.fields", "id")]), ["+I[null, x]"]);
}

#[test]
fn topics_by_pattern_and_partitions_found_later() {
    let Some(broker) = Broker::get() else { return };
    let base = unique("pattern");
    let mut client = broker.client();
    let (first, second) = (format!("{base}-a"), format!("{base}-b"));
    client.create_topic(&first, 1, &[]).unwrap();
    broker.send_values(&first, &[r#"{"id":1}"#]);
    let pattern = format!("{base}-[a-z]");
    let source = broker.table(
        "kafka",
        "t",
        "id INT",
        &[
            ("topic-pattern", &pattern),
            ("format", "json"),
            ("scan.startup.mode", "latest-offset"),
            ("scan.topic-partition-discovery.interval", "200 ms"),
        ],
    );
    let out = broker.topic("pattern-out", 1);
    let sink = broker.table("kafka", "o", "id INT", &options(&out, &[]));
    let mut session = TableEnvironment::new();
    run(&mut session, &[&source, &sink]).unwrap();
    let job = start(&mut session, "INSERT INTO o SELECT id FROM t");
    std::thread::sleep(Duration::from_secs(1));
    client.create_topic(&second, 1, &[]).unwrap();
    client.create_topic(&format!("{base}-other"), 1, &[]).unwrap();
    // What is found later is read from its beginning.
    broker.send_values(&second, &[r#"{"id":2}"#]);
    eventually("the row of the new topic", || broker.values(&out) == [r#"{"id":2}"#]);
    broker.send_values(&first, &[r#"{"id":3}"#]);
    eventually("the row of the old topic", || broker.values(&out).len() == 2);
    job.cancel();
    let _ = job.wait();
}

#[test]
fn the_slowest_partition_holds_the_watermark_unless_it_is_idle() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("watermarks", 3);
    // Partition 1 is far behind, partition 2 has nothing.
    broker.send(
        &topic,
        &[
            (0, None, Some(r#"{"ts":"2024-01-01 10:00:00"}"#)),
            (0, None, Some(r#"{"ts":"2024-01-01 12:00:00"}"#)),
            (1, None, Some(r#"{"ts":"2024-01-01 10:30:00"}"#)),
        ],
    );
    let out = broker.topic("watermarks-out", 1);
    let sink = broker.table("kafka", "o", "h TIMESTAMP(3), n BIGINT", &options(&out, &[]));
    let source = broker.table(
        "kafka",
        "t",
        "ts TIMESTAMP(3), WATERMARK FOR ts AS ts",
        &options(
            &topic,
            &[("scan.startup.mode", "earliest-offset"), ("scan.watermark.idle-timeout", "1 s")],
        ),
    );
    let mut session = TableEnvironment::new();
    run(&mut session, &["SET 'parallelism.default' = '2'", &source, &sink]).unwrap();
    let insert = "INSERT INTO o SELECT window_start, COUNT(*) FROM
        TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end";
    let job = start(&mut session, insert);
    let window = r#"{"h":"2024-01-01 10:00:00","n":2}"#;
    eventually("the window that idleness lets go", || broker.values(&out) == [window]);
    job.cancel();
    let _ = job.wait();
}

#[test]
fn a_source_that_waits_costs_nothing_and_stops_at_once() {
    let Some(broker) = Broker::get() else { return };
    let (topic, out) = (broker.topic("idle", 4), broker.topic("idle-out", 1));
    let first = ("scan.startup.mode", "earliest-offset");
    let source = broker.table("kafka", "t", "id INT", &options(&topic, &[first]));
    let sink = broker.table("kafka", "o", "id INT", &options(&out, &[]));
    let mut session = TableEnvironment::new();
    run(&mut session, &[&source, &sink]).unwrap();
    let job = start(&mut session, "INSERT INTO o SELECT id FROM t");
    broker.send_values(&topic, &[r#"{"id":1}"#]);
    eventually("the row", || broker.values(&out).len() == 1);
    let asked = Instant::now();
    job.stop();
    job.wait().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
}

#[test]
fn changes_of_debezium() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("debezium", 1);
    broker.send_values(
        &topic,
        &[
            r#"{"before":null,"after":{"id":1,"v":"a"},"op":"c"}"#,
            r#"{"before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"},"op":"u"}"#,
            r#"{"before":null,"after":{"id":2,"v":"c"},"op":"c"}"#,
            r#"{"before":{"id":2,"v":"c"},"after":null,"op":"d"}"#,
        ],
    );
    let read = [("topic", &*topic), ("format", "debezium-json")];
    let read: Vec<_> = read.iter().chain(&BOUNDED).copied().collect();
    let source = broker.table("kafka", "t", "id INT, v STRING", &read);
    let mut session = TableEnvironment::new();
    let rows = run(&mut session, &[&source, "SELECT id, v FROM t"]).unwrap();
    assert_eq!(rows, ["+I[1, a]", "+I[2, c]", "+U[1, b]", "-D[2, c]", "-U[1, a]"]);

    let out = broker.topic("debezium-out", 1);
    let sink = [("topic", &*out), ("format", "debezium-json")];
    let sink = broker.table("kafka", "o", "id INT, v STRING", &sink);
    run(&mut session, &[&sink, "INSERT INTO o SELECT id, v FROM t"]).unwrap();
    assert_eq!(broker.read(&out).len(), 5);
}

#[test]
fn raw_values_may_be_null() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("raw", 1);
    broker.send(&topic, &[(0, None, Some("a")), (0, None, None)]);
    let read = [("topic", &*topic), ("format", "raw")];
    let read: Vec<_> = read.iter().chain(&BOUNDED).copied().collect();
    let source = broker.table("kafka", "t", "v STRING", &read);
    let out = broker.topic("raw-out", 1);
    let sink = broker.table("kafka", "o", "v STRING", &[("topic", &out), ("format", "raw")]);
    let mut session = TableEnvironment::new();
    let rows = run(&mut session, &[&source, &sink, "SELECT v FROM t"]).unwrap();
    assert_eq!(rows, ["+I[a]", "+I[null]"]);
    run(&mut session, &["INSERT INTO o SELECT v FROM t"]).unwrap();
    let values: Vec<_> = broker.read(&out).into_iter().map(|message| message.value).collect();
    assert_eq!(values, [Some("a".into()), None]);
}
