//! The thread that sends batches until they are written.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::Shared;
use super::queue::Outgoing;
use crate::client::{Backoff, PreparedTransaction};
use crate::protocol::{Produce, Produced, by_topic};
use crate::records::ProducerState;
use crate::{Client, ErrorCode, KafkaError, Result, TopicPartition};

pub(super) struct Sender {
    shared: Arc<Shared>,
    client: Client,
    /// The producer's number and epoch outside of transactions.
    producer: Option<(i64, i16)>,
}

/// A batch as it travels.
struct Encoded {
    of: TopicPartition,
    since: Instant,
    bytes: Vec<u8>,
}

impl Sender {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { client: Client::new(shared.config.clone()), shared, producer: None }
    }

    /// Sends until the producer is closed or something fails for good.
    pub(super) fn run(mut self) {
        while let Some((batches, transaction)) = self.next() {
            let sent = self.send(&batches, transaction.as_ref());
            let mut queues = self.shared.lock();
            queues.done(&batches);
            let failed = sent.is_err();
            queues.error = sent.err();
            drop(queues);
            self.shared.progress.notify_all();
            if failed {
                return;
            }
        }
    }

    /// The batches to send next, waiting for some; `None` when the producer is closed.
    fn next(&self) -> Option<(Vec<Outgoing>, Option<PreparedTransaction>)> {
        let config = &self.shared.config.produce;
        let mut queues = self.shared.lock();
        loop {
            if queues.closed {
                return None;
            }
            queues = match queues.take(config.batch_bytes, config.linger) {
                Ok(batches) => return Some((batches, queues.transaction.clone())),
                Err(None) => self.shared.work.wait(queues).unwrap_or_else(PoisonError::into_inner),
                Err(Some(time)) => {
                    let waited = self.shared.work.wait_timeout(queues, time);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn send(&mut self, batches: &[Outgoing], within: Option<&PreparedTransaction>) -> Result<()> {
        if let Some(transaction) = within {
            self.add_partitions(batches, transaction)?;
        }
        let producer = match within {
            Some(transaction) => Some((transaction.producer_id, transaction.producer_epoch)),
            None => self.producer()?,
        };
        let encode = |batch: &Outgoing| {
            let state = producer.map_or(ProducerState::NONE, |(id, epoch)| ProducerState {
                id,
                epoch,
                sequence: batch.sequence,
                transactional: within.is_some(),
            });
            let bytes = batch.records.encode(self.shared.config.produce.compression, state)?;
            Ok(Encoded { of: batch.of.clone(), since: batch.since, bytes })
        };
        let encoded = batches.iter().map(encode).collect::<Result<Vec<_>>>()?;
        self.deliver(encoded, within.map(|transaction| &*transaction.id))
    }

    /// Takes the batches' partitions into the transaction, those that are new to it.
    fn add_partitions(&mut self, batches: &[Outgoing], to: &PreparedTransaction) -> Result<()> {
        let queues = self.shared.lock();
        let new: Vec<_> = batches
            .iter()
            .filter(|batch| !queues.in_transaction.contains(&batch.of))
            .map(|batch| batch.of.clone())
            .collect();
        drop(queues);
        if new.is_empty() {
            return Ok(());
        }
        self.client.add_partitions(to, &new)?;
        self.shared.lock().in_transaction.extend(new);
        Ok(())
    }

    /// The producer's number and epoch; without all acknowledgements it has none, as in Java.
    fn producer(&mut self) -> Result<Option<(i64, i16)>> {
        if self.producer.is_none() && self.shared.config.produce.acks == -1 {
            self.producer = Some(self.client.init_producer(None)?);
        }
        Ok(self.producer)
    }

    /// Sends batches until all are written.
    fn deliver(&mut self, mut batches: Vec<Encoded>, transactional_id: Option<&str>) -> Result<()> {
        let mut backoff = Backoff::new(&self.shared.config);
        let limit = self.shared.config.produce.delivery_timeout;
        loop {
            let last = match self.attempt(&mut batches, transactional_id) {
                Ok(()) if batches.is_empty() => return Ok(()),
                Ok(()) => None,
                Err(error) if error.is_transient() => Some(error),
                Err(error) => return Err(error),
            };
            if let Some(batch) = batches.iter().find(|batch| batch.since.elapsed() > limit) {
                return Err(KafkaError::Timeout {
                    what: format!("records for {} were not written", batch.of),
                    millis: limit.as_millis(),
                    last: last.map(|error| error.to_string()),
                });
            }
            if let Some(error) = last {
                tracing::warn!(%error, "writing to Kafka fails; trying again");
            }
            std::thread::sleep(backoff.next());
            if self.shared.lock().closed {
                return Err(KafkaError::Closed);
            }
        }
    }

    /// Sends each batch once, and leaves those that must be sent again. The error is one that may
    /// pass if there are such.
    fn attempt(
        &mut self,
        batches: &mut Vec<Encoded>,
        transactional_id: Option<&str>,
    ) -> Result<()> {
        let mut by_leader: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, batch) in batches.iter().enumerate() {
            by_leader.entry(self.client.leader(&batch.of)?).or_default().push(i);
        }
        let config = self.shared.config.clone();
        let (mut written, mut trouble, mut sent) = (vec![false; batches.len()], None, Vec::new());
        for (leader, of_leader) in by_leader {
            let topics = of_leader.iter().map(|i| {
                let batch = &batches[*i];
                (batch.of.topic.clone(), (batch.of.partition, &batch.bytes[..]))
            });
            let request = Produce {
                transactional_id,
                acks: config.produce.acks,
                timeout_millis: config.request_timeout.as_millis() as i32,
                topics: by_topic(topics),
            };
            let out = self.client.connection(&leader).and_then(|open| open.send(&request));
            match out {
                // Nobody answers to acks = 0.
                Ok(()) if config.produce.acks == 0 => {
                    of_leader.iter().for_each(|i| written[*i] = true)
                }
                Ok(()) => sent.push(leader),
                Err(error) if error.is_transient() => {
                    self.client.drop_connection(&leader);
                    trouble = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        for leader in sent {
            let response =
                self.client.connection(&leader).and_then(|open| open.receive::<Produce>());
            let topics = match response {
                Ok(topics) => topics,
                Err(error) if error.is_transient() => {
                    self.client.drop_connection(&leader);
                    trouble = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            for (topic, partitions) in topics {
                for produced in partitions {
                    let is_it = |batch: &Encoded| {
                        batch.of.partition == produced.partition && *batch.of.topic == *topic
                    };
                    let Some(i) = batches.iter().position(is_it) else { continue };
                    match self.outcome(&batches[i].of, produced)? {
                        None => written[i] = true,
                        Some(error) => trouble = Some(error),
                    }
                }
            }
        }
        let mut of_batch = written.iter();
        batches.retain(|_| !of_batch.next().copied().unwrap_or(false));
        trouble.map_or(Ok(()), Err)
    }

    /// How a batch fared: written, in trouble that may pass, or (as an error) lost.
    fn outcome(&mut self, of: &TopicPartition, produced: Produced) -> Result<Option<KafkaError>> {
        let Produced { error: code, base_offset, detail, .. } = produced;
        if matches!(code, ErrorCode::NONE | ErrorCode::DUPLICATE_SEQUENCE_NUMBER) {
            if base_offset >= 0
                && let Some(transaction) = &mut self.shared.lock().transaction
            {
                transaction.witness.get_or_insert_with(|| (of.clone(), base_offset));
            }
            return Ok(None);
        }
        let error = KafkaError::Broker { what: format!("writing to {of}"), code, detail };
        if !code.is_retriable() {
            return Err(error);
        }
        self.client.forget_leader(of);
        Ok(Some(error))
    }
}
