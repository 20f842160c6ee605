//! Transactions: beginning, ending (those of other processes, too), finding what was left open.

use super::Client;
use crate::protocol::{
    AddPartitionsToTxn, CoordinatorKind, EndTxn, Fetch, FetchFrom, InitProducerId,
    ListTransactions, by_topic,
};
use crate::{ErrorCode, KafkaError, Result, TopicPartition};

/// A transaction whose records are all written and that awaits its end. It is enough to end it from
/// another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedTransaction {
    /// The transactional id.
    pub id: String,
    /// The producer's number.
    pub producer_id: i64,
    /// Which of the id's producers it is.
    pub producer_epoch: i16,
    /// Where one of its records is, by which it can be told later what has become of it.
    pub witness: Option<(TopicPartition, i64)>,
}

/// What has become of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionOutcome {
    /// Readers see its records.
    Committed,
    /// Readers do not see its records and never will.
    Aborted,
    /// Its records were deleted since, as old ones are.
    Unknown,
}

const KIND: CoordinatorKind = CoordinatorKind::Transaction;

impl Client {
    /// Registers a producer, with a transactional id or none. Earlier producers of the id are fenced,
    /// and a transaction that they left open is aborted.
    pub fn init_producer(&mut self, transactional_id: Option<&str>) -> Result<(i64, i16)> {
        let timeout_millis = self.config.produce.transaction_timeout.as_millis() as i32;
        let request = InitProducerId { transactional_id, timeout_millis };
        let within = self.config.api_timeout;
        self.retrying("no producer is registered", within, |client| {
            let (code, id, epoch) = match transactional_id {
                Some(key) => client.call_coordinator(KIND, key, &request, |(code, ..)| *code)?,
                None => {
                    let address = client.any_broker()?;
                    client.call(&address, &request)?
                }
            };
            code.check(|| match transactional_id {
                Some(id) => format!("transactional id '{id}'"),
                None => "a producer".into(),
            })?;
            Ok((id, epoch))
        })
    }

    /// Takes partitions into a transaction; needed before anything is written to them.
    pub(crate) fn add_partitions(
        &mut self,
        to: &PreparedTransaction,
        partitions: &[TopicPartition],
    ) -> Result<()> {
        let asked = partitions.iter().map(|of| (of.topic.clone(), of.partition));
        let request = AddPartitionsToTxn {
            transactional_id: &to.id,
            producer_id: to.producer_id,
            producer_epoch: to.producer_epoch,
            topics: by_topic(asked),
        };
        let within = self.config.produce.delivery_timeout;
        self.retrying("the transaction does not take the partitions", within, |client| {
            let worst = |topics: &crate::protocol::PerPartition<(i32, ErrorCode)>| {
                let codes = topics.iter().flat_map(|(_, partitions)| partitions);
                codes.map(|(_, code)| *code).find(|code| *code != ErrorCode::NONE)
            };
            let response = client.call_coordinator(KIND, &to.id, &request, |topics| {
                worst(topics).unwrap_or(ErrorCode::NONE)
            })?;
            worst(&response)
                .unwrap_or(ErrorCode::NONE)
                .check(|| format!("transaction of '{}'", to.id))
        })
    }

    /// Commits or aborts a transaction. Doing it again does nothing, as long as its id has no newer
    /// producer.
    pub fn end_transaction(&mut self, prepared: &PreparedTransaction, commit: bool) -> Result<()> {
        let request = EndTxn {
            transactional_id: &prepared.id,
            producer_id: prepared.producer_id,
            producer_epoch: prepared.producer_epoch,
            commit,
        };
        let what = if commit { "the commit" } else { "the abort" };
        let within = self.config.api_timeout;
        self.retrying("the transaction does not end", within, |client| {
            let code = client.call_coordinator(KIND, &prepared.id, &request, |code| *code)?;
            code.check(|| format!("{what} of the transaction of '{}'", prepared.id))
        })
    }

    /// What has become of a transaction that is over: whether readers see its witness.
    pub fn outcome(&mut self, prepared: &PreparedTransaction) -> Result<TransactionOutcome> {
        let Some((of, offset)) = &prepared.witness else {
            return Ok(TransactionOutcome::Unknown);
        };
        let from = FetchFrom { partition: of.partition, offset: *offset, max_bytes: 1 << 20 };
        let request = Fetch {
            max_wait_millis: 500,
            min_bytes: 1,
            max_bytes: 1 << 20,
            read_committed: true,
            topics: vec![(of.topic.clone(), vec![from])],
        };
        let within = self.config.api_timeout;
        self.retrying("it is not known what became of the transaction", within, |client| {
            let leader = client.leader(of)?;
            let (code, topics) = client.call(&leader, &request)?;
            code.check(|| of.to_string())?;
            let Some(fetched) = topics.into_iter().flat_map(|(_, partitions)| partitions).next()
            else {
                return Err(KafkaError::Protocol(format!("nothing is told of {of}")));
            };
            if fetched.error == ErrorCode::OFFSET_OUT_OF_RANGE {
                return Ok(TransactionOutcome::Unknown);
            }
            if fetched.error.is_retriable() {
                client.forget_leader(of);
            }
            fetched.error.check(|| of.to_string())?;
            if fetched.records.is_empty() {
                // Readers are not there yet.
                return Err(KafkaError::broker(of.to_string(), ErrorCode::OFFSET_NOT_AVAILABLE));
            }
            let mine = |(producer, first): &(i64, i64)| {
                *producer == prepared.producer_id && first <= offset
            };
            let aborted = fetched.aborted.iter().any(mine);
            Ok(if aborted { TransactionOutcome::Aborted } else { TransactionOutcome::Committed })
        })
    }

    /// The transactional ids that have an open transaction.
    pub fn open_transactions(&mut self) -> Result<Vec<String>> {
        let within = self.config.api_timeout;
        self.retrying("the brokers do not list transactions", within, |client| {
            client.metadata(Some(&[]), false)?;
            let mut open = Vec::new();
            for address in client.brokers() {
                let (code, transactions) = client.call(&address, &ListTransactions)?;
                code.check(|| format!("the transactions of {address}"))?;
                let of_broker = transactions.into_iter();
                let of_broker = of_broker.filter(|(_, state)| state == "Ongoing");
                open.extend(of_broker.map(|(id, _)| id));
            }
            Ok(open)
        })
    }

    /// Aborts the open transaction of an id and fences its producer.
    pub fn fence(&mut self, id: &str) -> Result<()> {
        match self.init_producer(Some(id)) {
            // The broker is about to end it by itself.
            Err(KafkaError::Broker { code, .. }) if code.is_fenced() => Ok(()),
            other => other.map(drop),
        }
    }
}
