//! One request at a time to the broker that it is for, tried again while that may help.

mod offsets;
mod transactions;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::protocol::{
    ClusterMetadata, CoordinatorKind, CreateTopic, FindCoordinator, Metadata, Request,
    TopicMetadata,
};
use crate::{ClientConfig, ErrorCode, KafkaError, Result, TopicPartition};

pub use offsets::OffsetAt;
pub use transactions::{PreparedTransaction, TransactionOutcome};

/// Talks to the brokers of a cluster. Blocking, and for one thread.
pub struct Client {
    config: Arc<ClientConfig>,
    /// Addresses of brokers by their number.
    brokers: HashMap<i32, String>,
    connections: HashMap<String, Connection>,
    leaders: HashMap<TopicPartition, i32>,
    coordinators: HashMap<(CoordinatorKind, String), String>,
}

/// A topic as the cluster knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// The numbers of its partitions, ascending; empty when `error` says why they are not known.
    pub partitions: Vec<i32>,
    /// What is wrong with it.
    pub error: Option<ErrorCode>,
    /// Whether it is one of Kafka's own.
    pub internal: bool,
}

impl Client {
    /// A client; it connects when there is something to ask.
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            config,
            brokers: HashMap::new(),
            connections: HashMap::new(),
            leaders: HashMap::new(),
            coordinators: HashMap::new(),
        }
    }

    /// The properties.
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// The topics of these names, or all, trying for `within`. A topic that does not exist is made
    /// if `create` is set and the broker does such things.
    pub fn topics(
        &mut self,
        names: Option<&[String]>,
        create: bool,
        within: Duration,
    ) -> Result<Vec<Topic>> {
        let metadata =
            self.retrying("the brokers do not tell of their topics", within, |client| {
                client.metadata(names, create)
            })?;
        Ok(metadata.topics.into_iter().map(topic).collect())
    }

    /// Makes a topic with `partitions` partitions; the broker's defaults hold where `settings` say
    /// nothing.
    pub fn create_topic(
        &mut self,
        name: &str,
        partitions: i32,
        settings: &[(&str, &str)],
    ) -> Result<()> {
        let within = self.config.api_timeout;
        self.retrying("the topic is not created", within, |client| {
            let address = client.any_broker()?;
            let request = CreateTopic { name, partitions, settings };
            let (code, detail) = client.call(&address, &request)?;
            match code {
                ErrorCode::NONE => Ok(()),
                code => Err(KafkaError::Broker { what: format!("topic '{name}'"), code, detail }),
            }
        })?;
        // Brokers learn of it one after the other.
        self.retrying("the topic is not there", within, |client| {
            let metadata = client.metadata(Some(&[name.to_string()]), false)?;
            let ready = metadata.topics.iter().all(|topic| {
                topic.error == ErrorCode::NONE && topic.partitions.iter().all(|p| p.leader >= 0)
            });
            let code = if ready { ErrorCode::NONE } else { ErrorCode::LEADER_NOT_AVAILABLE };
            code.check(|| format!("topic '{name}'"))
        })
    }

    /// Asks once for brokers and topics, and remembers leaders.
    pub(crate) fn metadata(
        &mut self,
        topics: Option<&[String]>,
        create: bool,
    ) -> Result<ClusterMetadata> {
        let address = self.any_broker()?;
        let metadata = self.call(&address, &Metadata { topics, create })?;
        self.brokers =
            metadata.brokers.iter().map(|broker| (broker.id, broker.address.clone())).collect();
        for topic in &metadata.topics {
            let name: Arc<str> = topic.name.as_str().into();
            for partition in &topic.partitions {
                let of = TopicPartition::new(name.clone(), partition.partition);
                if partition.leader >= 0 {
                    self.leaders.insert(of, partition.leader);
                } else {
                    self.leaders.remove(&of);
                }
            }
        }
        Ok(metadata)
    }

    /// The addresses of all brokers.
    pub(crate) fn brokers(&self) -> Vec<String> {
        self.brokers.values().cloned().collect()
    }

    /// The address of the broker that leads a partition, as far as known.
    pub(crate) fn leader(&mut self, of: &TopicPartition) -> Result<String> {
        if !self.leaders.contains_key(of) {
            let metadata = self.metadata(Some(&[of.topic.to_string()]), false)?;
            let error = metadata.topics.first().map_or(ErrorCode::NONE, |topic| topic.error);
            error.check(|| format!("topic '{}'", of.topic))?;
        }
        let leader = self.leaders.get(of).and_then(|leader| self.brokers.get(leader)).cloned();
        leader.ok_or_else(|| KafkaError::broker(of.to_string(), ErrorCode::LEADER_NOT_AVAILABLE))
    }

    /// Forgets who leads a partition.
    pub(crate) fn forget_leader(&mut self, of: &TopicPartition) {
        self.leaders.remove(of);
    }

    /// The address of the broker that looks after a group or transactional id.
    pub(crate) fn coordinator(&mut self, kind: CoordinatorKind, key: &str) -> Result<String> {
        let cached = (kind, key.to_string());
        if let Some(address) = self.coordinators.get(&cached) {
            return Ok(address.clone());
        }
        let address = self.any_broker()?;
        let (code, broker) = self.call(&address, &FindCoordinator { key, kind })?;
        code.check(|| format!("the coordinator of '{key}'"))?;
        self.coordinators.insert(cached, broker.address.clone());
        Ok(broker.address)
    }

    /// Calls the coordinator of a key; `code` is where the response says how it went.
    pub(crate) fn call_coordinator<R: Request>(
        &mut self,
        kind: CoordinatorKind,
        key: &str,
        request: &R,
        code: impl Fn(&R::Response) -> ErrorCode,
    ) -> Result<R::Response> {
        let address = self.coordinator(kind, key)?;
        let response = self.call(&address, request);
        let moved = match &response {
            Ok(response) => matches!(
                code(response),
                ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_NOT_AVAILABLE
            ),
            Err(_) => true,
        };
        if moved {
            self.coordinators.remove(&(kind, key.to_string()));
        }
        response
    }

    /// Calls a broker; a connection that fails is not used again.
    pub(crate) fn call<R: Request>(&mut self, address: &str, request: &R) -> Result<R::Response> {
        let response = self.connection(address)?.call(request);
        if matches!(response, Err(KafkaError::Connection { .. } | KafkaError::Protocol(_))) {
            self.drop_connection(address);
        }
        response
    }

    /// The connection to a broker.
    pub(crate) fn connection(&mut self, address: &str) -> Result<&mut Connection> {
        use std::collections::hash_map::Entry;
        match self.connections.entry(address.into()) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(Connection::open(address, &self.config)?)),
        }
    }

    /// Closes the connection to a broker.
    pub(crate) fn drop_connection(&mut self, address: &str) {
        self.connections.remove(address);
        self.leaders.clear();
    }

    /// A broker to ask what any can answer.
    fn any_broker(&mut self) -> Result<String> {
        if let Some(address) = self.connections.keys().next() {
            return Ok(address.clone());
        }
        let known: Vec<_> =
            self.config.servers.iter().chain(self.brokers.values()).cloned().collect();
        let mut last = KafkaError::Closed;
        for address in known {
            match self.connection(&address) {
                Ok(_) => return Ok(address),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Tries until it succeeds, trying again is of no use, or `within` is over. `what` says what has
    /// not happened then.
    pub(crate) fn retrying<T>(
        &mut self,
        what: &str,
        within: Duration,
        mut attempt: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let mut backoff = Backoff::new(&self.config);
        loop {
            match attempt(self) {
                Err(error) if error.is_transient() => {
                    let pause = backoff.next();
                    if start.elapsed() + pause > within {
                        return Err(KafkaError::Timeout {
                            what: what.into(),
                            millis: within.as_millis(),
                            last: Some(error.to_string()),
                        });
                    }
                    std::thread::sleep(pause);
                }
                done => return done,
            }
        }
    }
}

fn topic(metadata: TopicMetadata) -> Topic {
    let mut partitions: Vec<_> = metadata.partitions.iter().map(|p| p.partition).collect();
    partitions.sort_unstable();
    Topic {
        name: metadata.name,
        partitions,
        error: (metadata.error != ErrorCode::NONE).then_some(metadata.error),
        internal: metadata.internal,
    }
}

/// Pauses between attempts, each twice as long as the one before.
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) fn new(config: &ClientConfig) -> Self {
        let (next, longest) = config.backoff;
        Self { next: next.min(longest), longest }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }
}
