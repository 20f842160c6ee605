//! What goes wrong is told: what, where, and what to do.

use flott::TableEnvironment;

use crate::support::{BOUNDED, Broker, run, unique};

/// Runs statements that must fail; the error must hold all of `words`.
fn fails(statements: &[&str], words: &[&str]) {
    let error = run(&mut TableEnvironment::new(), statements).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "'{word}' is not in: {error}");
    }
    assert!(!error.contains("panicked"), "{error}");
}

fn options<'a>(topic: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [("topic", topic), ("format", "json")].iter().chain(more).copied().collect()
}

/// No server is needed to see that options are wrong.
#[test]
fn options_that_do_not_fit() {
    let nowhere = Broker { address: "localhost:1".into() };
    let select = "SELECT * FROM t";
    let check = |connector: &str,
                 columns: &str,
                 given: &[(&str, &str)],
                 statement: &str,
                 words: &[&str]| {
        fails(&[&nowhere.table(connector, "t", columns, given), statement], words);
    };
    let kafka =
        |given: &[(&str, &str)], words: &[&str]| check("kafka", "id INT", given, select, words);
    kafka(&[("format", "json")], &["Either 'topic' or 'topic-pattern' must be set."]);
    kafka(
        &[("topic", "a"), ("topic-pattern", "b"), ("format", "json")],
        &["shouldn't be set together"],
    );
    kafka(&[("topic", "a")], &["'format' is missing"]);
    kafka(&options("a", &[("value.format", "json")]), &["one option"]);
    kafka(
        &options("a", &[("key.format", "json")]),
        &["requires the declaration of one or more of key fields"],
    );
    kafka(&options("a", &[("key.fields", "id")]), &["can only be declared if a key format"]);
    kafka(
        &options("a", &[("key.format", "json"), ("key.fields", "no")]),
        &["Could not find the field 'no'", "id"],
    );
    kafka(
        &options("a", &[("key.format", "json"), ("key.fields", "id"), ("key.fields-prefix", "k_")]),
        &["A key prefix is not allowed"],
    );
    kafka(
        &options("a", &[("scan.startup.mode", "timestamp")]),
        &["'scan.startup.timestamp-millis' is required in 'timestamp' startup mode but missing."],
    );
    kafka(
        &options(
            "a;b",
            &[
                ("scan.startup.mode", "specific-offsets"),
                ("scan.startup.specific-offsets", "partition:0,offset:1"),
            ],
        ),
        &["only supports specific offset for single topic"],
    );
    kafka(
        &options("a", &[("scan.startup.mod", "x")]),
        &["scan.startup.mod", "did you mean 'scan.startup.mode'?"],
    );
    kafka(&options("a", &[("properties.acks", "2")]), &["properties.acks"]);
    kafka(&options("a", &[("json.no-such", "2")]), &["json.*", "no-such"]);
    kafka(
        &options(
            "a",
            &[
                ("properties.security.protocol", "SASL_PLAINTEXT"),
                ("properties.sasl.mechanism", "GSSAPI"),
            ],
        ),
        &["properties.sasl.mechanism", "SCRAM-SHA-256"],
    );
    let insert = "INSERT INTO t VALUES (1)";
    let write =
        |given: &[(&str, &str)], words: &[&str]| check("kafka", "id INT", given, insert, words);
    write(&options("a;b", &[]), &["topic list"]);
    write(
        &options("a", &[("sink.delivery-guarantee", "exactly-once")]),
        &["sink.transactional-id-prefix must be specified"],
    );
    write(
        &options(
            "a",
            &[
                ("sink.delivery-guarantee", "exactly-once"),
                ("sink.transactional-id-prefix", "p"),
                ("properties.acks", "1"),
            ],
        ),
        &["exactly-once needs 'properties.acks' = 'all'"],
    );
    check(
        "kafka",
        "id INT, PRIMARY KEY (id) NOT ENFORCED",
        &options("a", &[]),
        select,
        &["doesn't support defining PRIMARY KEY"],
    );
    check(
        "kafka",
        "id INT, part INT METADATA FROM 'partition'",
        &options("a", &[]),
        "INSERT INTO t VALUES (1, 2)",
        &["Invalid metadata key 'partition'", "timestamp"],
    );
    check(
        "kafka",
        "n BIGINT",
        &options("a", &[]),
        "INSERT INTO t SELECT COUNT(*) FROM (VALUES (1)) AS v (x)",
        &["doesn't support consuming update changes"],
    );
    let upsert = [("topic", "a"), ("key.format", "json"), ("value.format", "debezium-json")];
    check("upsert-kafka", "id INT", &upsert, select, &["require to define a PRIMARY KEY"]);
    let keyed = "id INT, v INT, PRIMARY KEY (id) NOT ENFORCED";
    check(
        "upsert-kafka",
        keyed,
        &upsert,
        select,
        &["doesn't support 'debezium-json' as value format", "not in insert-only mode"],
    );
    check("upsert-kafka", keyed, &upsert[..2], select, &["value.format"]);
    let buffer =
        [upsert[0], upsert[1], ("value.format", "json"), ("sink.buffer-flush.max-rows", "5")];
    check(
        "upsert-kafka",
        keyed,
        &buffer,
        "INSERT INTO t VALUES (1, 2)",
        &["greater than zero together"],
    );
}

#[test]
fn no_broker_answers() {
    let nowhere = Broker { address: "localhost:1".into() };
    let quick = ("properties.default.api.timeout.ms", "500");
    let block = ("properties.max.block.ms", "500");
    let table = nowhere.table("kafka", "t", "id INT", &options("a", &[BOUNDED[0], quick, block]));
    fails(&[&table, "SELECT * FROM t"], &["localhost:1", "refused", "hint:"]);
    fails(&[&table, "INSERT INTO t VALUES (1)"], &["localhost:1", "refused", "hint:"]);
}

#[test]
fn a_topic_that_is_not_there() {
    let Some(broker) = Broker::get() else { return };
    let name = unique("missing");
    let table = broker.table("kafka", "t", "id INT", &options(&name, &BOUNDED));
    fails(&[&table, "SELECT * FROM t"], &[&name, "does not exist", "hint: create the topic"]);
    let never =
        [("properties.allow.auto.create.topics", "false"), ("properties.max.block.ms", "500")];
    let table = broker.table("kafka", "t", "id INT", &options(&name, &never));
    fails(
        &[&table, "INSERT INTO t VALUES (1)"],
        &[&name, "does not exist", "hint: create the topic"],
    );
}

#[test]
fn a_login_that_is_refused() {
    let Some(broker) = Broker::get() else { return };
    let (host, port) = broker.address.rsplit_once(':').unwrap();
    let sasl = Broker { address: format!("{host}:{}", port.parse::<u16>().unwrap() + 2) };
    let topic = broker.topic("login", 1);
    broker.send_values(&topic, &[r#"{"id":1}"#]);
    let table = |mechanism: &str, password: &str| {
        let jaas = format!("x.LoginModule required username=\"alice\" password=\"{password}\";");
        let login = [
            ("properties.security.protocol", "SASL_PLAINTEXT"),
            ("properties.sasl.mechanism", mechanism),
            ("properties.sasl.jaas.config", &*jaas),
        ];
        let login: Vec<_> = login.iter().chain(&BOUNDED).copied().collect();
        sasl.table("kafka", "t", "id INT", &options(&topic, &login))
    };
    for mechanism in ["PLAIN", "SCRAM-SHA-256"] {
        let wrong = table(mechanism, "wrong");
        fails(&[&wrong, "SELECT * FROM t"], &["refuses the login", "sasl.jaas.config"]);
        let right = table(mechanism, "secret");
        let rows = run(&mut TableEnvironment::new(), &[&right, "SELECT * FROM t"]).unwrap();
        assert_eq!(rows, ["+I[1]"], "{mechanism}");
    }
}

#[test]
fn records_that_cannot_be_decoded() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("poison", 1);
    broker.send_values(&topic, &[r#"{"id":1}"#, r#"{"id":"one"}"#, "{", r#"{"id":4}"#]);
    let table = |more: &[(&str, &str)]| {
        let more: Vec<_> = more.iter().chain(&BOUNDED).copied().collect();
        broker.table("kafka", "t", "id INT", &options(&topic, &more))
    };
    let place = format!("topic '{topic}', partition 0, offset 1");
    fails(&[&table(&[]), "SELECT * FROM t"], &[&place, "id"]);
    let skip = table(&[("on-error", "skip")]);
    let rows = run(&mut TableEnvironment::new(), &[&skip, "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[1]", "+I[4]"]);
    let letters = broker.topic("letters", 1);
    let bad = broker.table(
        "kafka",
        "bad",
        "raw_record STRING, place STRING, error STRING",
        &options(&letters, &[]),
    );
    let dead = table(&[("on-error", "dead-letter"), ("on-error.table", "bad")]);
    let rows = run(&mut TableEnvironment::new(), &[&bad, &dead, "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[1]", "+I[4]"]);
    let letters = broker.values(&letters);
    assert_eq!(letters.len(), 2);
    assert!(letters.iter().any(|letter| letter.contains("offset 2")), "{letters:?}");
}

#[test]
fn offsets_that_are_gone_and_groups_without_any() {
    let Some(broker) = Broker::get() else { return };
    let topic = broker.topic("gone", 1);
    broker.send_values(&topic, &[r#"{"id":1}"#]);
    let group = unique("nobody");
    let more = [("properties.group.id", &*group), BOUNDED[1]];
    let table = broker.table("kafka", "t", "id INT", &options(&topic, &more));
    fails(&[&table, "SELECT * FROM t"], &[&group, "committed no offset", "earliest-offset"]);
    let far = [
        ("scan.startup.mode", "specific-offsets"),
        ("scan.startup.specific-offsets", "partition:0,offset:99"),
    ];
    let table = broker.table("kafka", "t", "id INT", &options(&topic, &far));
    fails(&[&table, "SELECT * FROM t"], &["99", "auto.offset.reset"]);
}
