//! The client against a real server, `scripts/kafka.sh start`, whose address is in `FLOTT_TEST_KAFKA`.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use flott_kafka::client::{OffsetAt, TransactionOutcome};
use flott_kafka::{Client, ClientConfig, Consumer, Header, KafkaError, Producer, TopicPartition};

/// The server's address; without one the test says why it does nothing, and in CI fails.
fn server() -> Option<String> {
    let address = std::env::var("FLOTT_TEST_KAFKA").ok();
    if address.is_none() {
        assert!(std::env::var_os("CI").is_none(), "FLOTT_TEST_KAFKA is not set, and this is CI");
        eprintln!("skipped: FLOTT_TEST_KAFKA is not set; see scripts/kafka.sh");
    }
    address
}

fn config(server: &str, properties: &[(&str, &str)]) -> Arc<ClientConfig> {
    let all = properties.iter().copied().chain([("bootstrap.servers", server)]);
    Arc::new(ClientConfig::of(all).unwrap())
}

fn topic(server: &str, name: &str, partitions: i32) -> Arc<str> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let name = format!("{name}-{}-{}", std::process::id(), now.as_micros());
    Client::new(config(server, &[])).create_topic(&name, partitions, &[]).unwrap();
    name.into()
}

/// The offsets and values of a partition, up to `count` of them.
fn read(config: &Arc<ClientConfig>, topic: &Arc<str>, count: usize) -> Vec<(i64, String)> {
    let mut consumer = Consumer::new(config.clone());
    consumer.add(TopicPartition::new(topic.clone(), 0), 0).unwrap();
    let (mut rows, start) = (Vec::new(), Instant::now());
    while rows.len() < count && start.elapsed() < Duration::from_secs(10) {
        let Some(mut cursor) = consumer.poll(Duration::from_millis(100)).unwrap() else { continue };
        while let Some(record) = cursor.next().unwrap() {
            let value = String::from_utf8(record.value.unwrap().to_vec()).unwrap();
            rows.push((record.offset, value));
        }
    }
    rows
}

fn send(producer: &mut Producer, topic: &Arc<str>, value: &str) {
    let none = [].into_iter();
    producer.send(topic, Some(0), 0, None, Some(value.as_bytes()), none).unwrap();
}

#[test]
fn records_come_back_in_every_compression() {
    let Some(server) = server() else { return };
    for compression in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let topic = topic(&server, compression, 1);
        let config = config(&server, &[("compression.type", compression)]);
        let mut producer = Producer::new(config.clone()).unwrap();
        let headers = [Header { key: "a", value: Some(b"1") }, Header { key: "a", value: None }];
        for i in 0..5000 {
            let value = format!("value {i} of some length that can be compressed");
            let (key, headers) = (Some(&b"k"[..]), headers.into_iter());
            producer.send(&topic, None, i, key, Some(value.as_bytes()), headers).unwrap();
        }
        producer.flush().unwrap();
        let mut consumer = Consumer::new(config);
        consumer.add(TopicPartition::new(topic, 0), 10).unwrap();
        let mut next = 10;
        while next < 5000 {
            let Some(mut cursor) = consumer.poll(Duration::from_secs(10)).unwrap() else {
                panic!("{compression}: nothing more after {next}")
            };
            while let Some(record) = cursor.next().unwrap() {
                assert_eq!(
                    (record.offset, record.timestamp, record.key),
                    (next, next, Some(&b"k"[..]))
                );
                assert_eq!(record.headers().unwrap(), headers);
                next += 1;
            }
            assert_eq!(cursor.position(), next);
        }
    }
}

#[test]
fn transactions_end_in_another_client_and_once_only() {
    let Some(server) = server() else { return };
    let topic = topic(&server, "transactions", 1);
    let id = format!("{topic}-id");
    let committed = config(&server, &[("isolation.level", "read_committed")]);
    let mut producer = Producer::new(committed.clone()).unwrap();
    let mut client = Client::new(committed.clone());

    producer.begin_transaction(&id).unwrap();
    assert!(producer.prepare_transaction().unwrap().is_none(), "nothing was written");
    producer.begin_transaction(&id).unwrap();
    send(&mut producer, &topic, "aborted");
    let aborted = producer.prepare_transaction().unwrap().unwrap();
    assert!(client.open_transactions().unwrap().contains(&id));
    client.end_transaction(&aborted, false).unwrap();
    producer.begin_transaction(&id).unwrap();
    send(&mut producer, &topic, "one");
    send(&mut producer, &topic, "two");
    let prepared = producer.prepare_transaction().unwrap().unwrap();
    drop(producer);
    for _ in 0..2 {
        client.end_transaction(&prepared, true).unwrap();
    }
    assert!(client.end_transaction(&prepared, false).is_err());
    assert_eq!(client.outcome(&aborted).unwrap(), TransactionOutcome::Aborted);
    assert_eq!(client.outcome(&prepared).unwrap(), TransactionOutcome::Committed);
    let rows = read(&committed, &topic, 2);
    assert_eq!(rows.iter().map(|(_, value)| &**value).collect::<Vec<_>>(), ["one", "two"]);

    // A newer producer fences the older.
    let mut older = Producer::new(committed.clone()).unwrap();
    older.begin_transaction(&id).unwrap();
    send(&mut older, &topic, "of a zombie");
    older.flush().unwrap();
    client.fence(&id).unwrap();
    send(&mut older, &topic, "of a zombie, too");
    let error = older.flush().unwrap_err();
    assert!(error.code().is_some_and(|code| code.is_fenced()), "{error}");
    assert!(!client.open_transactions().unwrap().contains(&id));
    // What became of the first is still known.
    assert_eq!(client.outcome(&prepared).unwrap(), TransactionOutcome::Committed);
}

#[test]
fn offsets_by_place_time_and_group() {
    let Some(server) = server() else { return };
    let topic = topic(&server, "offsets", 2);
    let config = config(&server, &[]);
    let mut producer = Producer::new(config.clone()).unwrap();
    for i in 0..10 {
        let none = [].into_iter();
        producer.send(&topic, Some(i % 2), 1000 + i64::from(i), None, Some(b"x"), none).unwrap();
    }
    producer.flush().unwrap();
    let mut client = Client::new(config);
    let partitions = [TopicPartition::new(topic.clone(), 0), TopicPartition::new(topic.clone(), 1)];
    let mut at = |place| {
        let found = client.offsets(&partitions, place).unwrap();
        [found[&partitions[0]], found[&partitions[1]]]
    };
    assert_eq!(at(OffsetAt::Beginning), [Some(0), Some(0)]);
    assert_eq!(at(OffsetAt::End), [Some(5), Some(5)]);
    assert_eq!(at(OffsetAt::Time(1005)), [Some(3), Some(2)]);
    assert_eq!(at(OffsetAt::Time(99_999)), [None, None]);
    let group = format!("{topic}-group");
    assert!(client.committed(&group, &partitions).unwrap().is_empty());
    client.commit(&group, &[(partitions[1].clone(), 4)]).unwrap();
    let committed = client.committed(&group, &partitions).unwrap();
    assert_eq!(committed.into_iter().collect::<Vec<_>>(), [(partitions[1].clone(), 4)]);
}

#[test]
fn logins_by_sasl() {
    let Some(server) = server() else { return };
    let (host, port) = server.rsplit_once(':').unwrap();
    let sasl = format!("{host}:{}", port.parse::<u16>().unwrap() + 2);
    let login = |mechanism: &str, password: &str| {
        let jaas = format!("x required username=\"alice\" password=\"{password}\";");
        let config = config(
            &sasl,
            &[
                ("security.protocol", "SASL_PLAINTEXT"),
                ("sasl.mechanism", mechanism),
                ("sasl.jaas.config", &jaas),
            ],
        );
        Client::new(config).topics(Some(&[]), false, Duration::from_secs(5))
    };
    for mechanism in ["PLAIN", "SCRAM-SHA-256"] {
        login(mechanism, "secret").unwrap();
        let error = login(mechanism, "wrong").unwrap_err();
        assert!(matches!(error, KafkaError::Authentication { .. }), "{error}");
    }
    let error = login("SCRAM-SHA-512", "secret").unwrap_err();
    assert!(error.to_string().contains("it knows"), "{error}");
    let plain =
        Client::new(config(&sasl, &[])).topics(Some(&[]), false, Duration::from_millis(500));
    assert!(plain.unwrap_err().to_string().contains("security.protocol"));
}

/// Needs the server's certificate in `FLOTT_TEST_KAFKA_CERTIFICATE`, too.
#[cfg(feature = "tls")]
#[test]
fn tls() {
    let Some(server) = server() else { return };
    let certificate = std::env::var("FLOTT_TEST_KAFKA_CERTIFICATE").unwrap();
    let (host, port) = server.rsplit_once(':').unwrap();
    let ssl = format!("{host}:{}", port.parse::<u16>().unwrap() + 3);
    let topics = |more: &[(&str, &str)]| {
        let properties: Vec<_> =
            [("security.protocol", "SSL")].iter().chain(more).copied().collect();
        Client::new(config(&ssl, &properties)).topics(Some(&[]), false, Duration::from_secs(3))
    };
    topics(&[("ssl.truststore.location", &certificate)]).unwrap();
    let error = topics(&[]).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
    let topic = topic(&server, "tls", 1);
    let config =
        config(&ssl, &[("security.protocol", "SSL"), ("ssl.truststore.location", &certificate)]);
    let mut producer = Producer::new(config.clone()).unwrap();
    send(&mut producer, &topic, "over TLS");
    producer.flush().unwrap();
    assert_eq!(read(&config, &topic, 1), [(0, "over TLS".to_string())]);
}
