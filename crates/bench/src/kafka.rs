//! The tables as topics of Apache Kafka, and what queries write as topics, too.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use flott::TableEnvironment;
use flott_kafka::{Client, ClientConfig};

use crate::BenchError;
use crate::queries::{self, Tables};

/// By which columns the rows of a query are updated; the rows of other queries are only added.
const KEYS: &[(&str, &str)] =
    &[("q4", "id"), ("q9", "id"), ("q18", "auction, bidder"), ("agg", "auction")];

/// Makes topics with so many partitions and sends events to them.
pub fn fill(server: &str, events: u64, partitions: u64) -> Result<(), BenchError> {
    let mut session = TableEnvironment::new();
    session.config_mut().set("parallelism.default", &partitions.to_string());
    let generated = queries::script(&Tables::Generated { events }, "", "".as_ref());
    let topics = queries::script(&Tables::Kafka { server }, "", "".as_ref());
    let statements = flott::split_script(&generated);
    for (statement, topic) in statements.iter().zip(flott::split_script(&topics)) {
        let name = statement.text.split_whitespace().nth(2).unwrap_or_default();
        create(server, &format!("nexmark-{name}"), partitions)?;
        session.execute(&topic.text.replacen(name, &format!("{name}_topic"), 1))?;
        session.execute(statement.text)?;
        let insert = format!("INSERT INTO {name}_topic SELECT * FROM {name}");
        if let flott::Outcome::Job(job) = session.execute(&insert)? {
            job.wait().map_err(flott::Error::from)?;
        }
        eprintln!("nexmark-{name} is filled");
    }
    Ok(())
}

/// The query with a new topic in place of its sink, written exactly once.
pub fn into_topic(
    server: &str,
    name: &str,
    query: &str,
    partitions: usize,
) -> Result<String, BenchError> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let topic = format!("nexmark-{name}-{}", since.as_micros());
    create(server, &topic, partitions as u64)?;
    let exactly_once = format!(
        "'topic' = '{topic}', 'properties.bootstrap.servers' = '{server}', \
         'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{topic}'"
    );
    const SINK: &str = "WITH ('connector' = 'blackhole')";
    let key = KEYS.iter().find(|(known, _)| *known == name);
    let Some((before, after)) = query.split_once(SINK) else { return Ok(query.to_string()) };
    Ok(match key {
        None => format!(
            "{before}WITH ('connector' = 'kafka', 'format' = 'json', {exactly_once}){after}"
        ),
        Some((_, key)) => {
            let columns = before.trim_end().trim_end_matches(')');
            format!(
                "{columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', \
                 'key.format' = 'json', 'value.format' = 'json', {exactly_once}){after}"
            )
        }
    })
}

fn create(server: &str, topic: &str, partitions: u64) -> Result<(), BenchError> {
    let config = Arc::new(ClientConfig::of([("bootstrap.servers", server)])?);
    let partitions = i32::try_from(partitions).unwrap_or(i32::MAX);
    Ok(Client::new(config).create_topic(topic, partitions, &[])?)
}
