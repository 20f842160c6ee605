//! Reading partitions side by side.
//!
//! A thread a broker fetches ahead, a few answers at most; another finds out who leads partitions of
//! which that is not known, or no longer. Nobody wakes while there is nothing to read but for the
//! brokers' own answers, each `fetch.max.wait.ms`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::{Backoff, OffsetAt};
use crate::config::OffsetReset;
use crate::connection::{Closer, Connection};
use crate::protocol::{ClusterMetadata, Fetch, FetchFrom, FetchedPartition, by_topic};
use crate::records::last_offset;
use crate::{Client, ClientConfig, ErrorCode, KafkaError, RecordCursor, Result, TopicPartition};

/// So many answers wait to be read at most, all partitions together.
const FETCHED_AHEAD: usize = 8;

/// Reads partitions from given offsets on.
pub struct Consumer {
    shared: Arc<Shared>,
    fetched: Receiver<Result<RecordCursor>>,
}

struct Shared {
    config: Arc<ClientConfig>,
    state: Mutex<State>,
    changed: Condvar,
    fetched: SyncSender<Result<RecordCursor>>,
}

#[derive(Default)]
struct State {
    partitions: BTreeMap<TopicPartition, Place>,
    /// Addresses of brokers.
    brokers: HashMap<i32, String>,
    /// Brokers that have a thread.
    fetching: HashSet<i32>,
    closers: HashMap<i32, Closer>,
    has_router: bool,
    closed: bool,
}

#[derive(Clone, Copy)]
struct Place {
    /// Where to fetch next.
    offset: i64,
    /// The broker that leads, if known.
    leader: Option<i32>,
    /// Since when the topic has not been there.
    missing: Option<Instant>,
}

impl Consumer {
    /// A consumer of nothing yet.
    pub fn new(config: Arc<ClientConfig>) -> Self {
        let (sender, fetched) = sync_channel(FETCHED_AHEAD);
        let shared = Arc::new(Shared {
            config,
            state: Mutex::default(),
            changed: Condvar::new(),
            fetched: sender,
        });
        Self { shared, fetched }
    }

    /// Begins to read a partition at an offset.
    pub fn add(&mut self, partition: TopicPartition, offset: i64) -> Result<()> {
        let mut state = self.shared.lock();
        state.partitions.insert(partition, Place { offset, leader: None, missing: None });
        if !std::mem::replace(&mut state.has_router, true) {
            let shared = self.shared.clone();
            spawn("kafka leaders", move || shared.route())?;
        }
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Ends reading a partition. What was fetched of it may still come.
    pub fn remove(&mut self, partition: &TopicPartition) {
        self.shared.lock().partitions.remove(partition);
    }

    /// The records that came next of some partition, waiting for `timeout` at most. An error is final.
    pub fn poll(&mut self, timeout: Duration) -> Result<Option<RecordCursor>> {
        match self.fetched.recv_timeout(timeout) {
            Ok(fetched) => fetched.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(KafkaError::Closed),
        }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.closers.values().for_each(Closer::close);
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives something to the reader; false when there is none any more.
    fn give(&self, fetched: Result<RecordCursor>) -> bool {
        self.fetched.send(fetched).is_ok()
    }

    /// Finds the leaders of partitions, until the consumer is closed.
    fn route(self: Arc<Self>) {
        let mut client = Client::new(self.config.clone());
        let mut backoff = Backoff::new(&self.config);
        loop {
            let state = self.lock();
            let asleep = |state: &mut State| {
                !state.closed && state.partitions.values().all(|place| place.leader.is_some())
            };
            let state =
                self.changed.wait_while(state, asleep).unwrap_or_else(PoisonError::into_inner);
            if state.closed {
                return;
            }
            let lost = state.partitions.iter().filter(|(_, place)| place.leader.is_none());
            let topics: HashSet<_> = lost.map(|(of, _)| of.topic.to_string()).collect();
            drop(state);
            let topics: Vec<_> = topics.into_iter().collect();
            let found = client.metadata(Some(&topics), false);
            let all = match found.and_then(|metadata| self.take_leaders(&metadata)) {
                Ok(all) => all,
                Err(error) if error.is_transient() => {
                    tracing::warn!(%error, "the leaders of Kafka partitions are not known; asking again");
                    false
                }
                Err(error) => {
                    self.give(Err(error));
                    return;
                }
            };
            if all {
                backoff = Backoff::new(&self.config);
            } else {
                self.pause(backoff.next());
            }
        }
    }

    /// Waits, unless the consumer is closed.
    fn pause(&self, time: Duration) {
        let state = self.lock();
        let open = |state: &mut State| !state.closed;
        drop(self.changed.wait_timeout_while(state, time, open));
    }

    /// Takes note of leaders and starts threads for brokers that have none; whether every partition
    /// has a leader now.
    fn take_leaders(self: &Arc<Self>, metadata: &ClusterMetadata) -> Result<bool> {
        let mut state = self.lock();
        for broker in &metadata.brokers {
            state.brokers.insert(broker.id, broker.address.clone());
        }
        for topic in &metadata.topics {
            let is_missing = topic.error == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
            if !is_missing && !topic.error.is_retriable() {
                topic.error.check(|| format!("topic '{}'", topic.name))?;
            }
            for (of, place) in
                state.partitions.iter_mut().filter(|(of, _)| *of.topic == *topic.name)
            {
                let found = topic.partitions.iter().find(|found| found.partition == of.partition);
                match found {
                    Some(found) if found.leader >= 0 && place.leader.is_none() => {
                        place.leader = Some(found.leader);
                        place.missing = None;
                    }
                    Some(_) => {}
                    None => {
                        let since = *place.missing.get_or_insert_with(Instant::now);
                        if is_missing && since.elapsed() > self.config.api_timeout {
                            return Err(KafkaError::Broker {
                                what: of.to_string(),
                                code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                                detail: Some("it was deleted while it was read".into()),
                            });
                        }
                    }
                }
            }
        }
        let leaders: HashSet<_> =
            state.partitions.values().filter_map(|place| place.leader).collect();
        for broker in leaders {
            if state.fetching.insert(broker) {
                let shared = self.clone();
                spawn("kafka fetch", move || shared.fetch(broker))?;
            }
        }
        let all = state.partitions.values().all(|place| place.leader.is_some());
        drop(state);
        self.changed.notify_all();
        Ok(all)
    }

    /// Fetches what a broker leads, until the consumer is closed.
    fn fetch(self: Arc<Self>, broker: i32) {
        let mut connection = None;
        let mut backoff = Backoff::new(&self.config);
        loop {
            let Some((address, wanted)) = self.wanted(broker) else { return };
            match self.fetch_once(broker, &address, &wanted, &mut connection) {
                Ok(true) => backoff = Backoff::new(&self.config),
                Ok(false) => self.pause(backoff.next()),
                Err(error) if error.is_transient() => {
                    if self.lock().closed {
                        return;
                    }
                    tracing::warn!(%error, "reading from a Kafka broker fails; trying again");
                    connection = None;
                    self.lose(wanted.iter().map(|(of, _)| of));
                    self.pause(backoff.next());
                }
                Err(error) => {
                    self.give(Err(error));
                    return;
                }
            }
        }
    }

    /// The partitions that a broker leads and where they go on, waiting for some; `None` at the end.
    fn wanted(&self, broker: i32) -> Option<(String, Vec<(TopicPartition, i64)>)> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            let led = state.partitions.iter().filter(|(_, place)| place.leader == Some(broker));
            let wanted: Vec<_> = led.map(|(of, place)| (of.clone(), place.offset)).collect();
            if !wanted.is_empty() {
                return Some((state.brokers.get(&broker).cloned().unwrap_or_default(), wanted));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One request to a broker. False when a partition could not be read and it is better to wait.
    fn fetch_once(
        &self,
        broker: i32,
        address: &str,
        wanted: &[(TopicPartition, i64)],
        connection: &mut Option<Connection>,
    ) -> Result<bool> {
        if connection.as_ref().is_some_and(|open| open.address() != address) {
            *connection = None;
        }
        let open = match connection {
            Some(open) => open,
            None => {
                let open = Connection::open(address, &self.config)?;
                self.lock().closers.insert(broker, open.closer()?);
                connection.insert(open)
            }
        };
        let config = &self.config.fetch;
        let from = wanted.iter().map(|(of, offset)| {
            let from = FetchFrom {
                partition: of.partition,
                offset: *offset,
                max_bytes: config.partition_bytes,
            };
            (of.topic.clone(), from)
        });
        let request = Fetch {
            max_wait_millis: config.max_wait.as_millis() as i32,
            min_bytes: config.min_bytes,
            max_bytes: config.max_bytes,
            read_committed: config.read_committed,
            topics: by_topic(from),
        };
        let (code, topics) = open.call(&request)?;
        code.check(|| format!("a fetch from {address}"))?;
        let mut all_well = true;
        for (topic, partitions) in topics {
            for fetched in partitions {
                let asked = |(of, _): &&(TopicPartition, i64)| {
                    of.partition == fetched.partition && *of.topic == *topic
                };
                if let Some((of, offset)) = wanted.iter().find(asked) {
                    all_well &= self.take(of, *offset, fetched)?;
                }
            }
        }
        Ok(all_well)
    }

    /// Takes what was fetched of a partition; false when there is trouble with it.
    fn take(&self, of: &TopicPartition, offset: i64, fetched: FetchedPartition) -> Result<bool> {
        match fetched.error {
            ErrorCode::NONE => {}
            ErrorCode::OFFSET_OUT_OF_RANGE => return self.reset(of, offset).map(|()| false),
            code if code.is_retriable() => {
                tracing::debug!(partition = %of, %code, "a partition cannot be read; trying again");
                self.lose([of].into_iter());
                return Ok(false);
            }
            code => return Err(KafkaError::broker(of.to_string(), code)),
        }
        let named = |error| match error {
            KafkaError::Protocol(text) => KafkaError::Protocol(format!("{of}: {text}")),
            other => other,
        };
        let Some(last) = last_offset(&fetched.records).map_err(named)? else { return Ok(true) };
        let mut state = self.lock();
        match state.partitions.get_mut(of) {
            Some(place) if place.offset == offset => place.offset = last.saturating_add(1),
            // It was taken away, or begun anew elsewhere.
            _ => return Ok(true),
        }
        drop(state);
        let config = &self.config.fetch;
        let cursor = RecordCursor::new(
            of.clone(),
            offset,
            fetched.records,
            fetched.aborted,
            config.read_committed,
            config.check_crcs,
        );
        if self.give(Ok(cursor)) { Ok(true) } else { Err(KafkaError::Closed) }
    }

    /// Asks for the leaders of partitions again.
    fn lose<'a>(&self, partitions: impl Iterator<Item = &'a TopicPartition>) {
        let mut state = self.lock();
        for of in partitions {
            if let Some(place) = state.partitions.get_mut(of) {
                place.leader = None;
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The offset is not there: the records were deleted before they were read, or the topic was
    /// made anew.
    fn reset(&self, of: &TopicPartition, offset: i64) -> Result<()> {
        let at = match self.config.fetch.reset {
            OffsetReset::Earliest => OffsetAt::Beginning,
            OffsetReset::Latest => OffsetAt::End,
            OffsetReset::None => {
                return Err(KafkaError::Broker {
                    what: format!("{of} at offset {offset}"),
                    code: ErrorCode::OFFSET_OUT_OF_RANGE,
                    detail: None,
                });
            }
        };
        let mut client = Client::new(self.config.clone());
        let found = client.offsets(std::slice::from_ref(of), at)?;
        let to = found.get(of).copied().flatten().unwrap_or(0);
        tracing::warn!(partition = %of, from = offset, to, "the offset is gone; reading elsewhere");
        if let Some(place) = self.lock().partitions.get_mut(of) {
            place.offset = to;
        }
        Ok(())
    }
}

pub(crate) fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> Result<()> {
    let spawned = std::thread::Builder::new().name(name.into()).spawn(f);
    spawned.map(drop).map_err(|error| KafkaError::connection("", format!("no thread: {error}")))
}
