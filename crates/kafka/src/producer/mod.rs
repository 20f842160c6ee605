//! Writing records, each exactly once as long as the producer lives, or in transactions.
//!
//! Records gather in a batch a partition. One thread sends them: of each partition one batch at a
//! time, so that their order holds whatever fails, and all partitions of a broker in one request.
//! While a request is under way the next batches fill. Batches carry the producer's number and
//! sequence numbers, by which brokers know a batch that is sent again.

mod queue;
mod sender;

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::client::PreparedTransaction;
use crate::consumer::spawn;
use crate::partitioner::{Random, of_key};
use crate::{Client, ClientConfig, ErrorCode, Header, KafkaError, Result, TopicPartition};
use queue::Queues;

/// Writes records. For one thread; a second one sends.
pub struct Producer {
    shared: Arc<Shared>,
    client: Client,
    topics: HashMap<Arc<str>, KnownTopic>,
    random: Random,
}

struct KnownTopic {
    partitions: i32,
    since: Instant,
    /// Where records without a key go for now.
    sticky: i32,
}

/// What the producer and its sending thread share.
struct Shared {
    config: Arc<ClientConfig>,
    queues: Mutex<Queues>,
    /// There is something to send, or the end has come.
    work: Condvar,
    /// Something was sent.
    progress: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Producer {
    /// A producer. It is told apart from others once it writes.
    pub fn new(config: Arc<ClientConfig>) -> Result<Self> {
        let shared = Arc::new(Shared {
            config: config.clone(),
            queues: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
        });
        let sender = sender::Sender::new(shared.clone());
        spawn("kafka send", move || sender.run())?;
        Ok(Self {
            shared,
            client: Client::new(config),
            topics: HashMap::new(),
            random: Random::new(),
        })
    }

    /// The client that asks for topics, to be used for other requests, too.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// The partitions of a topic, waiting for one that is not there as long as `max.block.ms` says.
    pub fn partitions(&mut self, topic: &Arc<str>) -> Result<i32> {
        let age = self.shared.config.metadata_age;
        if let Some(known) = self.topics.get(topic).filter(|known| known.since.elapsed() < age) {
            return Ok(known.partitions);
        }
        let config = self.shared.config.clone();
        let (names, within) = ([topic.to_string()], config.produce.max_block);
        let what = format!("the partitions of topic '{topic}' are not known");
        let partitions = self.client.retrying(&what, within, |client| {
            let metadata = client.metadata(Some(&names), config.create_topics)?;
            let found = metadata.topics.first();
            let code = found.map_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, |topic| topic.error);
            code.check(|| format!("topic '{topic}'"))?;
            Ok(found.map_or(0, |topic| topic.partitions.len() as i32))
        })?;
        let sticky = self.random.below(partitions);
        let known = KnownTopic { partitions, since: Instant::now(), sticky };
        self.topics.insert(topic.clone(), known);
        Ok(partitions)
    }

    /// Begins a transaction: what is written from now on belongs to it. Everything written before
    /// must be flushed.
    pub fn begin_transaction(&mut self, id: &str) -> Result<()> {
        let (producer_id, producer_epoch) = self.client.init_producer(Some(id))?;
        let id = id.to_string();
        let transaction = PreparedTransaction { id, producer_id, producer_epoch, witness: None };
        self.shared.lock().begin(transaction);
        Ok(())
    }

    /// Flushes and gives the transaction away; `None` when nothing was written in it.
    pub fn prepare_transaction(&mut self) -> Result<Option<PreparedTransaction>> {
        self.flush()?;
        Ok(self.shared.lock().end())
    }

    /// The transaction that is open.
    pub fn transaction(&self) -> Option<PreparedTransaction> {
        self.shared.lock().transaction.clone()
    }

    /// Takes a record to be written, to a partition by its key unless one is given; waits while too
    /// much is under way. An error is final and may be about records taken before.
    pub fn send<'h>(
        &mut self,
        topic: &Arc<str>,
        partition: Option<i32>,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl ExactSizeIterator<Item = Header<'h>> + Clone,
    ) -> Result<()> {
        let of_headers: usize =
            headers.clone().map(|h| h.key.len() + h.value.map_or(0, <[u8]>::len) + 10).sum();
        let size = key.map_or(0, <[u8]>::len) + value.map_or(0, <[u8]>::len) + of_headers + 100;
        let limit = self.shared.config.produce.max_request;
        if size > limit {
            return Err(KafkaError::RecordTooLarge { size, limit });
        }
        let (number, sticks) = match (partition, key) {
            (Some(partition), _) => (partition, false),
            (None, Some(key)) => (of_key(key, self.partitions(topic)?), false),
            (None, None) => {
                self.partitions(topic)?;
                (self.topics.get(topic).map_or(0, |known| known.sticky), true)
            }
        };
        let config = &self.shared.config.produce;
        let mut queues = self.shared.lock();
        while queues.error.is_none()
            && queues.buffered > 0
            && queues.buffered + size > config.buffer
        {
            queues.pressed = true;
            self.shared.work.notify_one();
            queues = self.shared.progress.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
        queues.pressed = false;
        queues.check()?;
        let of = TopicPartition::new(topic.clone(), number);
        let (was_idle, is_full) = queues.push(&of, config.batch_bytes, |batch| {
            batch.push(timestamp, key, value, headers);
        });
        drop(queues);
        if was_idle || is_full {
            self.shared.work.notify_one();
        }
        if is_full && sticks {
            let partitions = self.partitions(topic)?;
            let sticky = self.random.below(partitions);
            if let Some(known) = self.topics.get_mut(topic) {
                known.sticky = sticky;
            }
        }
        Ok(())
    }

    /// Waits until all records taken so far are written.
    pub fn flush(&mut self) -> Result<()> {
        let mut queues = self.shared.lock();
        queues.pressed = true;
        self.shared.work.notify_one();
        while queues.error.is_none() && !queues.is_empty() {
            queues = self.shared.progress.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
        queues.pressed = false;
        queues.check()
    }

    /// Tells of an error that came up since, without waiting.
    pub fn check(&self) -> Result<()> {
        self.shared.lock().check()
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_one();
    }
}
