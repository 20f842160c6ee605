//! A server, topics of a test's own, and sessions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flott::{Error, JobHandle, Outcome, TableEnvironment};
use flott_kafka::client::OffsetAt;
use flott_kafka::{Client, ClientConfig, Consumer, Header, Producer, TopicPartition};

/// A server to test against.
pub struct Broker {
    pub address: String,
}

/// A record as a test looks at it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    pub key: Option<String>,
    pub value: Option<String>,
    pub partition: i32,
    pub timestamp: i64,
    pub headers: Vec<(String, String)>,
}

impl Broker {
    /// The server of `FLOTT_TEST_KAFKA`. Without one a test says that it does nothing, or fails in CI.
    pub fn get() -> Option<Self> {
        let address = std::env::var("FLOTT_TEST_KAFKA").ok();
        if address.is_none() {
            assert!(
                std::env::var_os("CI").is_none(),
                "FLOTT_TEST_KAFKA is not set, and this is CI"
            );
            eprintln!("skipped: FLOTT_TEST_KAFKA is not set; see scripts/kafka.sh");
        }
        address.map(|address| Self { address })
    }

    pub fn config(&self, properties: &[(&str, &str)]) -> Arc<ClientConfig> {
        let servers = [("bootstrap.servers", &*self.address)];
        Arc::new(ClientConfig::of(properties.iter().copied().chain(servers)).unwrap())
    }

    /// A new topic, which no other test has.
    pub fn topic(&self, name: &str, partitions: i32) -> String {
        let name = unique(name);
        self.client().create_topic(&name, partitions, &[]).unwrap();
        name
    }

    pub fn client(&self) -> Client {
        Client::new(self.config(&[]))
    }

    /// Sends records: partition, key and value.
    pub fn send(&self, topic: &str, records: &[(i32, Option<&str>, Option<&str>)]) {
        let mut producer = Producer::new(self.config(&[])).unwrap();
        let topic: Arc<str> = topic.into();
        for (i, (partition, key, value)) in records.iter().enumerate() {
            let header = Header { key: "from", value: Some(b"test") };
            let (key, value) = (key.map(str::as_bytes), value.map(str::as_bytes));
            let headers = [header].into_iter();
            producer.send(&topic, Some(*partition), 1000 + i as i64, key, value, headers).unwrap();
        }
        producer.flush().unwrap();
    }

    /// Sends values without keys to partition 0.
    pub fn send_values(&self, topic: &str, values: &[&str]) {
        let records: Vec<_> = values.iter().map(|value| (0, None, Some(*value))).collect();
        self.send(topic, &records);
    }

    /// All committed records of a topic, partition by partition.
    pub fn read(&self, topic: &str) -> Vec<Message> {
        let config = self.config(&[("isolation.level", "read_committed")]);
        let mut client = Client::new(config.clone());
        let topics = client.topics(Some(&[topic.to_string()]), false, Duration::from_secs(10));
        let partitions = topics.unwrap().remove(0).partitions;
        let partitions: Vec<_> =
            partitions.into_iter().map(|p| TopicPartition::new(topic, p)).collect();
        let ends = client.offsets(&partitions, OffsetAt::End).unwrap();
        let mut left: BTreeMap<_, i64> = ends
            .into_iter()
            .map(|(of, end)| (of, end.unwrap_or(0)))
            .filter(|(_, end)| *end > 0)
            .collect();
        let mut consumer = Consumer::new(config);
        left.keys().for_each(|of| consumer.add(of.clone(), 0).unwrap());
        let mut messages = Vec::new();
        while !left.is_empty() {
            let fetched = consumer.poll(Duration::from_secs(10)).unwrap();
            let mut cursor = fetched.unwrap_or_else(|| panic!("nothing more; left: {left:?}"));
            let of = cursor.partition().clone();
            let end = left.get(&of).copied().unwrap_or(0);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            while let Some(record) = cursor.next().unwrap() {
                if record.offset >= end {
                    continue;
                }
                let headers = record.headers().unwrap().into_iter();
                messages.push(Message {
                    key: record.key.map(text),
                    value: record.value.map(text),
                    partition: of.partition,
                    timestamp: record.timestamp,
                    headers: headers
                        .map(|header| (header.key.into(), text(header.value.unwrap_or_default())))
                        .collect(),
                });
            }
            if cursor.position() >= end {
                left.remove(&of);
            }
        }
        messages.sort_by_key(|message| message.partition);
        messages
    }

    /// The values of a topic, sorted.
    pub fn values(&self, topic: &str) -> Vec<String> {
        let mut values: Vec<_> =
            self.read(topic).into_iter().map(|message| message.value.unwrap_or_default()).collect();
        values.sort();
        values
    }

    /// `CREATE TABLE name (columns) WITH (…)` with the connector, the server and `options`.
    pub fn table(
        &self,
        connector: &str,
        name: &str,
        columns: &str,
        options: &[(&str, &str)],
    ) -> String {
        let fixed = [("connector", connector), ("properties.bootstrap.servers", &*self.address)];
        let options: Vec<_> = fixed
            .iter()
            .chain(options)
            .map(|(key, value)| format!("'{key}' = '{}'", value.replace('\'', "''")))
            .collect();
        format!("CREATE TABLE {name} ({columns}) WITH ({})", options.join(", "))
    }
}

/// A name that no other test has.
pub fn unique(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    format!("{name}-{now}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// What makes a scan end where the topic ends now.
pub const BOUNDED: [(&str, &str); 2] =
    [("scan.startup.mode", "earliest-offset"), ("scan.bounded.mode", "latest-offset")];

/// Executes statements, waits for jobs, and gives the rows of the last query, sorted.
pub fn run(session: &mut TableEnvironment, statements: &[&str]) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for sql in statements {
        match session.execute(sql)? {
            Outcome::Query(result) => {
                rows = result.collect()?.iter().map(ToString::to_string).collect();
                rows.sort();
            }
            Outcome::Job(job) => drop(job.wait()?),
            _ => {}
        }
    }
    Ok(rows)
}

/// Starts an INSERT.
pub fn start(session: &mut TableEnvironment, sql: &str) -> JobHandle {
    match session.execute(sql).unwrap() {
        Outcome::Job(job) => job,
        _ => panic!("{sql} starts no job"),
    }
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..300 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{what}: not within 30 s");
}
