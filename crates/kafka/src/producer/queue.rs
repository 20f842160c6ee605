//! Records that are not written yet, in batches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::client::PreparedTransaction;
use crate::records::BatchBuilder;
use crate::{KafkaError, Result, TopicPartition};

/// A request has no more bytes of batches than these, if it has more than one.
const REQUEST_BYTES: usize = 4 << 20;

/// The batches of all partitions.
#[derive(Default)]
pub(super) struct Queues {
    partitions: BTreeMap<TopicPartition, Queue>,
    /// The bytes of all batches, those under way included.
    pub(super) buffered: usize,
    /// Whether somebody waits: incomplete batches go at once.
    pub(super) pressed: bool,
    pub(super) closed: bool,
    /// Why nothing is written any more.
    pub(super) error: Option<KafkaError>,
    pub(super) transaction: Option<PreparedTransaction>,
    /// The partitions that the transaction has.
    pub(super) in_transaction: BTreeSet<TopicPartition>,
}

#[derive(Default)]
struct Queue {
    batches: VecDeque<Batch>,
    /// The sequence number of the next batch.
    sequence: i32,
    under_way: bool,
}

/// A batch that waits.
struct Batch {
    records: BatchBuilder,
    since: Instant,
}

/// A batch that is being sent.
pub(super) struct Outgoing {
    pub(super) of: TopicPartition,
    pub(super) records: BatchBuilder,
    pub(super) since: Instant,
    pub(super) sequence: i32,
}

impl Queues {
    /// Fails when an error has come up.
    pub(super) fn check(&self) -> Result<()> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Whether everything is written.
    pub(super) fn is_empty(&self) -> bool {
        self.buffered == 0
    }

    /// What is written from now on belongs to a transaction of a new producer.
    pub(super) fn begin(&mut self, transaction: PreparedTransaction) {
        self.transaction = Some(transaction);
        self.in_transaction.clear();
        self.partitions.clear();
    }

    /// Ends the transaction; `None` when it has no records.
    pub(super) fn end(&mut self) -> Option<PreparedTransaction> {
        let written = !std::mem::take(&mut self.in_transaction).is_empty();
        self.transaction.take().filter(|_| written)
    }

    /// Adds a record to the open batch of a partition. Tells whether there was nothing to send before,
    /// and whether the batch is full now.
    pub(super) fn push(
        &mut self,
        of: &TopicPartition,
        batch_bytes: usize,
        write: impl FnOnce(&mut BatchBuilder),
    ) -> (bool, bool) {
        if !self.partitions.contains_key(of) {
            self.partitions.insert(of.clone(), Queue::default());
        }
        let Some(queue) = self.partitions.get_mut(of) else { return (false, false) };
        let open = queue.batches.back().is_some_and(|batch| batch.records.bytes() < batch_bytes);
        if !open {
            let batch = Batch { records: BatchBuilder::default(), since: Instant::now() };
            queue.batches.push_back(batch);
        }
        let was_idle = !open && queue.batches.len() == 1;
        let Some(batch) = queue.batches.back_mut() else { return (false, false) };
        let before = if batch.records.is_empty() { 0 } else { batch.records.bytes() };
        write(&mut batch.records);
        let after = batch.records.bytes();
        self.buffered += after - before;
        (was_idle, after >= batch_bytes)
    }

    /// Takes the batches that are to be sent now: of each partition the first, if it is full, has
    /// waited long enough, or somebody waits for it. Without any: when the first has waited enough.
    pub(super) fn take(
        &mut self,
        batch_bytes: usize,
        linger: Duration,
    ) -> Result<Vec<Outgoing>, Option<Duration>> {
        let (mut taken, mut bytes, mut soonest) = (Vec::new(), 0, None);
        for (of, queue) in &mut self.partitions {
            let Some(first) = queue.batches.front().filter(|_| !queue.under_way) else { continue };
            let left = linger.saturating_sub(first.since.elapsed());
            let complete = queue.batches.len() > 1 || first.records.bytes() >= batch_bytes;
            if !complete && !self.pressed && !left.is_zero() {
                soonest = Some(soonest.map_or(left, |soonest: Duration| soonest.min(left)));
                continue;
            }
            if bytes > 0 && bytes + first.records.bytes() > REQUEST_BYTES {
                continue;
            }
            let Some(Batch { records, since }) = queue.batches.pop_front() else { continue };
            bytes += records.bytes();
            queue.under_way = true;
            let sequence = queue.sequence;
            // Numbers begin again behind the greatest.
            queue.sequence = sequence.wrapping_add(records.count()) & i32::MAX;
            taken.push(Outgoing { of: of.clone(), records, since, sequence });
        }
        if taken.is_empty() { Err(soonest) } else { Ok(taken) }
    }

    /// Batches are written.
    pub(super) fn done(&mut self, batches: &[Outgoing]) {
        for batch in batches {
            self.buffered = self.buffered.saturating_sub(batch.records.bytes());
            if let Some(queue) = self.partitions.get_mut(&batch.of) {
                queue.under_way = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queues: &mut Queues, partition: i32, bytes: usize) -> (bool, bool) {
        let value = vec![0; bytes];
        queues.push(&TopicPartition::new("t", partition), 1000, |batch| {
            batch.push(0, None, Some(&value), [].into_iter());
        })
    }

    #[test]
    fn one_batch_of_a_partition_is_under_way_at_a_time() {
        let mut queues = Queues::default();
        assert_eq!(push(&mut queues, 0, 2000), (true, true));
        assert_eq!(push(&mut queues, 0, 10), (false, false));
        assert_eq!(push(&mut queues, 1, 10), (true, false));
        let linger = Duration::from_secs(60);
        let first = queues.take(1000, linger).ok().unwrap();
        assert_eq!(first.len(), 1);
        assert!(queues.take(1000, linger).is_err());
        queues.pressed = true;
        let second = queues.take(1000, linger).ok().unwrap();
        assert_eq!(second.iter().map(|batch| batch.of.partition).collect::<Vec<_>>(), [1]);
        queues.done(&first);
        let third = queues.take(1000, linger).ok().unwrap();
        assert_eq!((third[0].of.partition, third[0].sequence), (0, 1));
        queues.done(&second);
        queues.done(&third);
        assert!(queues.is_empty());
    }
}
