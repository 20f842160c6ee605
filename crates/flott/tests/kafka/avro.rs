//! Avro with a schema registry, and metadata of changes, through topics.

use flott::TableEnvironment;

use crate::registry::Registry;
use crate::support::{Broker, run};

const BOUNDED: [(&str, &str); 2] =
    [("scan.startup.mode", "earliest-offset"), ("scan.bounded.mode", "latest-offset")];

#[test]
fn rows_go_out_and_come_back_with_their_schemas() {
    let Some(broker) = Broker::get() else { return };
    let registry = Registry::start();
    let topic = broker.topic("avro", 2);
    let columns =
        "id BIGINT, name STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3), tags ARRAY<STRING>";
    let options = [
        ("topic", &*topic),
        ("key.fields", "id"),
        ("key.format", "avro-confluent"),
        ("key.avro-confluent.url", &registry.url),
        ("value.format", "avro-confluent"),
        ("value.avro-confluent.url", &registry.url),
    ];
    let table = broker.table("kafka", "t", columns, &[&options[..], &BOUNDED].concat());
    let insert = "INSERT INTO t VALUES
        (1, 'a', 1.50, TIMESTAMP '2024-01-01 00:00:00.123', ARRAY['x', 'y']),
        (2, CAST(NULL AS STRING), 0.05, TIMESTAMP '1969-12-31 23:59:59', ARRAY['z'])";
    let mut session = TableEnvironment::new();
    run(&mut session, &[&table, insert]).unwrap();
    for part in ["key", "value"] {
        assert_eq!(registry.subject(&format!("{topic}-{part}")).len(), 1, "{part}");
    }
    let mut rows = run(&mut session, &["SELECT * FROM t"]).unwrap();
    rows.sort();
    assert_eq!(
        rows,
        [
            "+I[1, a, 1.50, 2024-01-01 00:00:00.123, [x, y]]",
            "+I[2, null, 0.05, 1969-12-31 23:59:59.000, [z]]",
        ]
    );
    let mut some = run(&mut session, &["SELECT name, id FROM t WHERE id > 1"]).unwrap();
    some.sort();
    assert_eq!(some, ["+I[null, 2]"]);

    // A table with other columns reads by name.
    let read =
        [("topic", &*topic), ("format", "avro-confluent"), ("avro-confluent.url", &registry.url)];
    let columns = "tags ARRAY<STRING>, more INT, id BIGINT";
    let other = broker.table("kafka", "o", columns, &[&read[..], &BOUNDED].concat());
    let mut rows = run(&mut session, &[&other, "SELECT * FROM o"]).unwrap();
    rows.sort();
    assert_eq!(rows, ["+I[[x, y], null, 1]", "+I[[z], null, 2]"]);
}

#[test]
fn upserts_and_changes_have_schemas_too() {
    let Some(broker) = Broker::get() else { return };
    let registry = Registry::start();
    let names = "CREATE VIEW names AS SELECT CAST(v AS STRING) AS name FROM
        (VALUES ('a'), ('b'), ('a')) AS t (v)";
    let counts = "SELECT name, COUNT(*) AS n FROM names GROUP BY name";
    let columns = "name STRING, n BIGINT NOT NULL, PRIMARY KEY (name) NOT ENFORCED";
    let topic = broker.topic("avro-upserts", 1);
    let options = [
        ("topic", &*topic),
        ("key.format", "avro-confluent"),
        ("key.avro-confluent.url", &registry.url),
        ("value.format", "avro-confluent"),
        ("value.avro-confluent.url", &registry.url),
        BOUNDED[1],
    ];
    let table = broker.table("upsert-kafka", "u", columns, &options);
    let mut session = TableEnvironment::new();
    let insert = format!("INSERT INTO u {counts}");
    let rows = run(&mut session, &[names, &table, &insert, "SELECT * FROM u"]).unwrap();
    assert_eq!(rows, ["+I[a, 1]", "+I[b, 1]", "+U[a, 2]", "-U[a, 1]"]);

    let topic = broker.topic("avro-changes", 1);
    let options = [
        ("topic", &*topic),
        ("format", "debezium-avro-confluent"),
        ("debezium-avro-confluent.url", &registry.url),
    ];
    let columns = "name STRING, n BIGINT NOT NULL";
    let table = broker.table("kafka", "d", columns, &[&options[..], &BOUNDED].concat());
    let insert = format!("INSERT INTO d {counts}");
    let mut rows = run(&mut session, &[&table, &insert, "SELECT * FROM d"]).unwrap();
    rows.sort();
    assert_eq!(rows, ["+I[a, 1]", "+I[a, 2]", "+I[b, 1]", "-D[a, 1]"]);
}

#[test]
fn plain_records_and_bad_ones() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("avro-plain", 1);
    broker.send_values(&topic, &["\u{2}\u{2}a", "no Avro", "\u{2}\u{2}b"]);
    let options =
        [("topic", &*topic), ("format", "avro"), BOUNDED[0], BOUNDED[1], ("on-error", "skip")];
    let table = broker.table("kafka", "t", "v STRING", &options);
    let mut session = TableEnvironment::new();
    let rows = run(&mut session, &[&table, "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[a]", "+I[b]"]);
    let failing = broker.table("kafka", "f", "v STRING", &options[..4]);
    let error = run(&mut session, &[&failing, "SELECT * FROM f"]).unwrap_err().to_string();
    assert!(error.contains("offset 1") && error.contains("broken Avro"), "{error}");
}

#[test]
fn metadata_of_changes_come_from_the_value() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("debezium-metadata", 1);
    let change = r#"{"before":null,"after":{"id":1},"op":"c","ts_ms":1500,
        "source":{"ts_ms":7,"db":"d","schema":"s","table":"t"}}"#;
    broker.send_values(&topic, &[change]);
    let columns = "id INT,
        seen TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,
        written TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp' VIRTUAL,
        db STRING METADATA FROM 'value.source.database' VIRTUAL,
        sch STRING METADATA FROM 'value.source.schema' VIRTUAL,
        tab STRING METADATA FROM 'value.source.table' VIRTUAL,
        props MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL,
        `offset` BIGINT METADATA VIRTUAL";
    let options = [("topic", &*topic), ("format", "debezium-json"), BOUNDED[0], BOUNDED[1]];
    let table = broker.table("kafka", "t", columns, &options);
    let mut session = TableEnvironment::new();
    let zone = "SET 'table.local-time-zone' = 'UTC'";
    let select = "SELECT id, seen, written, db, sch, tab, props['ts_ms'], `offset` FROM t";
    let rows = run(&mut session, &[zone, &table, select]).unwrap();
    assert_eq!(rows, ["+I[1, 1970-01-01 00:00:01.500, 1970-01-01 00:00:00.007, d, s, t, 7, 0]"]);
}
