//! Killing the process, or the broker, at any moment loses and repeats nothing: rows go from Kafka to
//! Kafka exactly once.
//!
//! Needs `FLOTT_TEST_KAFKA`, see `scripts/kafka.sh`. `FLOTT_CRASHES=200` kills more often.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flott_kafka::client::OffsetAt;
use flott_kafka::{Client, ClientConfig, Consumer, Producer, TopicPartition};
use support::{job, youngest};

/// How many rows are sent, and how many in a second.
const ROWS: u64 = 6000;
const PACE: u64 = 2000;
/// The rows of a window, whose event time is their number in milliseconds.
const WINDOW: u64 = 500;

/// The topics of a run, each of two partitions.
struct Topics {
    server: String,
    input: String,
    every: String,
    counts: String,
}

impl Topics {
    fn new(server: &str) -> Self {
        let run = now().as_micros();
        let topic = |name: &str| {
            let topic = format!("crash-{name}-{run}");
            client(server).create_topic(&topic, 2, &[]).unwrap();
            topic
        };
        let server = server.to_string();
        Self { input: topic("in"), every: topic("every"), counts: topic("counts"), server }
    }

    /// A job that passes rows on and counts them by windows.
    fn script(&self, parallelism: usize) -> String {
        let Self { server, input, every, counts } = self;
        let sink = |name: &str, columns: &str, topic: &str| {
            format!(
                "CREATE TABLE {name} ({columns}) WITH (
                   'connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json',
                   'properties.bootstrap.servers' = '{server}',
                   'sink.delivery-guarantee' = 'exactly-once',
                   'sink.transactional-id-prefix' = '{topic}');"
            )
        };
        format!(
            "SET 'parallelism.default' = '{parallelism}';
             SET 'execution.checkpointing.interval' = '100 ms';
             SET 'execution.checkpointing.dir' = 'checkpoints';
             SET 'restart-strategy.type' = 'fixed-delay';
             SET 'restart-strategy.fixed-delay.attempts' = '1000';
             SET 'restart-strategy.fixed-delay.delay' = '300 ms';
             CREATE TABLE input (id BIGINT, ts AS TO_TIMESTAMP_LTZ(id, 3), WATERMARK FOR ts AS ts)
             WITH ('connector' = 'kafka', 'topic' = '{input}', 'format' = 'json',
               'scan.startup.mode' = 'earliest-offset',
               'properties.bootstrap.servers' = '{server}');
             {} {}
             CREATE VIEW keyed AS SELECT id % 10 AS k, id, ts FROM input;
             EXECUTE STATEMENT SET BEGIN
             INSERT INTO all_ids SELECT id FROM input;
             INSERT INTO counts SELECT k, COUNT(*), SUM(id) FROM TABLE(TUMBLE(
               TABLE keyed, DESCRIPTOR(ts), INTERVAL '0.5' SECOND(1, 3)))
               GROUP BY k, window_start, window_end;
             END;",
            sink("all_ids", "id BIGINT", every),
            sink("counts", "k BIGINT, n BIGINT, s BIGINT", counts),
        )
    }

    /// Sends the rows at their pace, to both partitions, and at last one to each that closes all
    /// windows.
    fn send(&self) {
        let mut producer = Producer::new(config(&self.server)).unwrap();
        let topic: Arc<str> = self.input.as_str().into();
        let start = Instant::now();
        for id in (1..=ROWS).chain([1_000_000, 1_000_001]) {
            let due = Duration::from_millis(id.min(ROWS) * 1000 / PACE);
            if let Some(early) = due.checked_sub(start.elapsed()) {
                std::thread::sleep(early);
            }
            let (value, none) = (format!("{{\"id\":{id}}}"), [].into_iter());
            let partition = Some((id % 2) as i32);
            // A broker forgets the numbers of producers whose records are old, and would write a
            // batch that is sent again twice.
            producer
                .send(
                    &topic,
                    partition,
                    now().as_millis() as i64,
                    None,
                    Some(value.as_bytes()),
                    none,
                )
                .unwrap();
        }
        producer.flush().unwrap();
    }

    fn expected() -> (Vec<String>, Vec<String>) {
        let ids = (1..=ROWS).chain([1_000_000, 1_000_001]);
        let mut every: Vec<_> = ids.map(|id| format!("{{\"id\":{id}}}")).collect();
        let mut windows = BTreeMap::new();
        for id in 1..=ROWS {
            let (count, sum) = windows.entry((id / WINDOW, id % 10)).or_insert((0, 0));
            *count += 1;
            *sum += id;
        }
        let count = |((_, key), (n, s))| format!("{{\"k\":{key},\"n\":{n},\"s\":{s}}}");
        let mut counts: Vec<_> = windows.into_iter().map(count).collect();
        every.sort();
        counts.sort();
        (every, counts)
    }

    fn written(&self) -> (Vec<String>, Vec<String>) {
        (read(&self.server, &self.every), read(&self.server, &self.counts))
    }
}

/// Since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

fn config(server: &str) -> Arc<ClientConfig> {
    let properties = [("bootstrap.servers", server), ("isolation.level", "read_committed")];
    Arc::new(ClientConfig::of(properties).unwrap())
}

fn client(server: &str) -> Client {
    Client::new(config(server))
}

/// The committed values of a topic, sorted.
fn read(server: &str, topic: &str) -> Vec<String> {
    let partitions = [TopicPartition::new(topic, 0), TopicPartition::new(topic, 1)];
    let mut left = client(server).offsets(&partitions, OffsetAt::End).unwrap();
    left.retain(|_, end| end.is_some_and(|end| end > 0));
    let mut consumer = Consumer::new(config(server));
    left.keys().for_each(|of| consumer.add(of.clone(), 0).unwrap());
    let mut values = Vec::new();
    while !left.is_empty() {
        let fetched = consumer.poll(Duration::from_secs(20)).unwrap();
        let mut cursor = fetched.unwrap_or_else(|| panic!("{topic} has no more; left: {left:?}"));
        let end = left.get(cursor.partition()).copied().flatten().unwrap_or(0);
        while let Some(record) = cursor.next().unwrap() {
            if record.offset < end {
                values.push(String::from_utf8(record.value.unwrap().to_vec()).unwrap());
            }
        }
        if cursor.position() >= end {
            left.remove(cursor.partition());
        }
    }
    values.sort();
    values
}

fn start(folder: &Path, from: Option<&Path>) -> Child {
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    job(folder, from).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Waits until the topics hold what they must, and says what differs if they never do.
fn settle(topics: &Topics, job: &mut Child, folder: &Path) {
    let (every, counts) = Topics::expected();
    let start = Instant::now();
    loop {
        let written = topics.written();
        let log = || fs::read_to_string(folder.join("log")).unwrap();
        if written.0.len() >= every.len() && written.1.len() >= counts.len() {
            let repeated = |rows: &[String]| -> Vec<String> {
                rows.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].clone()).collect()
            };
            assert!(
                written.0 == every,
                "rows are repeated: {:?} (in the input: {:?}); the job says: {}",
                repeated(&written.0),
                repeated(&read(&topics.server, &topics.input)),
                log()
            );
            assert!(written.1 == counts, "counts differ: {:?}; the job says: {}", written.1, log());
            return;
        }
        let missing = every.len().saturating_sub(written.0.len());
        assert!(start.elapsed() < Duration::from_secs(90), "{missing} rows are missing: {}", log());
        assert!(job.try_wait().unwrap().is_none(), "the job ended: {}", log());
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn survive(server: &str, parallelism: usize, kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    let topics = Topics::new(server);
    fs::write(folder.path().join("job.sql"), topics.script(parallelism)).unwrap();
    let mut from: Option<PathBuf> = None;
    std::thread::scope(|scope| {
        scope.spawn(|| topics.send());
        for killed in 0..kills {
            let mut job = start(folder.path(), from.as_deref());
            // Between the first moments of a process and several checkpoints.
            std::thread::sleep(Duration::from_micros(100_000 + killed * 7_919_777 % 900_000));
            if let Some(status) = job.try_wait().unwrap() {
                let log = fs::read_to_string(folder.path().join("log")).unwrap();
                panic!("the job ended by itself after {killed} kills: {status}\n{log}");
            }
            job.kill().unwrap();
            job.wait().unwrap();
            if let Some(job) = youngest(folder.path()) {
                from = Some(job);
            }
        }
    });
    let mut job = start(folder.path(), from.as_deref());
    settle(&topics, &mut job, folder.path());
    job.kill().unwrap();
    job.wait().unwrap();
}

fn server() -> Option<String> {
    let address = std::env::var("FLOTT_TEST_KAFKA").ok();
    if address.is_none() {
        assert!(std::env::var_os("CI").is_none(), "FLOTT_TEST_KAFKA is not set, and this is CI");
        eprintln!("skipped: FLOTT_TEST_KAFKA is not set; see scripts/kafka.sh");
    }
    address
}

fn crashes(default: u64) -> u64 {
    std::env::var("FLOTT_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn a_job_killed_at_any_moment_writes_each_row_once() {
    let Some(server) = server() else { return };
    for parallelism in [1, 2] {
        survive(&server, parallelism, crashes(5));
    }
}

#[test]
fn a_broker_killed_under_load_loses_nothing() {
    if server().is_none() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/kafka.sh");
    let broker = |command: &[&str]| {
        let output =
            Command::new(&script).args(command).env("KAFKA_PORT", "19292").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    };
    let server = broker(&["start", "--fresh"]);
    let folder = tempfile::tempdir().unwrap();
    let topics = Topics::new(&server);
    fs::write(folder.path().join("job.sql"), topics.script(2)).unwrap();
    let mut job = start(folder.path(), None);
    std::thread::scope(|scope| {
        scope.spawn(|| topics.send());
        for killed in 0..crashes(2).min(20) {
            std::thread::sleep(Duration::from_millis(1200 + killed * 317 % 500));
            broker(&["kill"]);
            broker(&["start"]);
        }
    });
    settle(&topics, &mut job, folder.path());
    job.kill().unwrap();
    job.wait().unwrap();
    broker(&["stop"]);
}
