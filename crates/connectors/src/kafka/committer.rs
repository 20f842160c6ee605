//! Ending the transactions that writers prepared.

use std::sync::Arc;

use flott_catalog::connector::{Committable, Committer, ConnectorError};
use flott_kafka::client::{PreparedTransaction, TransactionOutcome};
use flott_kafka::{Client, ClientConfig, KafkaError, TopicPartition};

use super::failure::failure;
use super::ids::TransactionalIds;
use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// A prepared transaction as checkpoints hold it.
pub(super) fn pack(prepared: &PreparedTransaction) -> Committable {
    Pack::new(VERSION)
        .text(&prepared.id)
        .number(prepared.producer_id as u64)
        .number(prepared.producer_epoch as u64)
        .list(prepared.witness.iter(), |pack, (of, offset)| {
            pack.text(&of.topic).number(of.partition as u64).number(*offset as u64)
        })
        .finish()
}

fn unpack(committable: &[u8]) -> Result<PreparedTransaction, ConnectorError> {
    let mut unpack = Unpack::new(committable, VERSION, "prepared Kafka transaction")?;
    Ok(PreparedTransaction {
        id: unpack.text()?,
        producer_id: unpack.number()? as i64,
        producer_epoch: unpack.number()? as i16,
        witness: unpack
            .list(|unpack| {
                let of = TopicPartition::new(unpack.text()?, unpack.number()? as i32);
                Ok((of, unpack.number()? as i64))
            })?
            .pop(),
    })
}

/// Commits transactions, of this process or an earlier one. Doing it again does nothing.
pub(super) struct TransactionCommitter {
    client: Client,
    ids: Arc<TransactionalIds>,
    /// The ids of the transactions that were committed last.
    resting: Vec<String>,
}

impl TransactionCommitter {
    pub(super) fn new(config: Arc<ClientConfig>, ids: Arc<TransactionalIds>) -> Self {
        ids.begin_attempt();
        Self { client: Client::new(config), ids, resting: Vec::new() }
    }

    fn end(&mut self, prepared: &PreparedTransaction) -> Result<(), ConnectorError> {
        let error = match self.client.end_transaction(prepared, true) {
            Ok(()) => return Ok(()),
            Err(error) if error.is_transient() => return Err(failure(error)),
            Err(error) => error,
        };
        // It may have been committed long ago, and its id used again since.
        match self.client.outcome(prepared).map_err(failure)? {
            TransactionOutcome::Committed => {}
            TransactionOutcome::Aborted => return Err(lost(prepared, error)),
            TransactionOutcome::Unknown => {
                tracing::warn!(
                    id = prepared.id, %error,
                    "whether a transaction was committed is not known: its records are deleted"
                );
            }
        }
        Ok(())
    }
}

fn lost(prepared: &PreparedTransaction, error: KafkaError) -> ConnectorError {
    ConnectorError::new(format!("the rows of a checkpoint are lost: {error}"))
        .at(format!("transactional id '{}'", prepared.id))
        .hint(
            "the transaction was aborted before it could be committed, because the job was down for longer \
             than 'properties.transaction.timeout.ms' or another job runs with the same \
             'sink.transactional-id-prefix'; start from an earlier checkpoint",
        )
}

impl Committer for TransactionCommitter {
    fn commit(
        &mut self,
        committables: Vec<Committable>,
        _end_of_input: bool,
    ) -> Result<(), ConnectorError> {
        let prepared: Vec<_> =
            committables.iter().map(|bytes| unpack(bytes)).collect::<Result<_, _>>()?;
        self.ids.hold(prepared.iter().map(|prepared| prepared.id.clone()));
        prepared.iter().try_for_each(|prepared| self.end(prepared))?;
        let committed: Vec<_> = prepared.into_iter().map(|prepared| prepared.id).collect();
        for id in std::mem::replace(&mut self.resting, committed) {
            if !self.resting.contains(&id) {
                self.ids.release(&id);
            }
        }
        Ok(())
    }

    fn abort(&mut self, committables: Vec<Committable>) -> Result<(), ConnectorError> {
        for committable in &committables {
            let prepared = unpack(committable)?;
            let aborted = self.client.end_transaction(&prepared, false);
            self.ids.release(&prepared.id);
            aborted.map_err(failure)?;
        }
        Ok(())
    }
}

impl Drop for TransactionCommitter {
    fn drop(&mut self) {
        self.resting.iter().for_each(|id| self.ids.release(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committables_survive_their_encoding() {
        for witness in [None, Some((TopicPartition::new("t", 1), 42))] {
            let id = "p-0-0".to_string();
            let prepared = PreparedTransaction { id, producer_id: 7, producer_epoch: 3, witness };
            assert_eq!(unpack(&pack(&prepared)).unwrap(), prepared);
        }
        assert!(unpack(b"junk").is_err());
    }

    /// Needs a server, see `scripts/kafka.sh`.
    #[test]
    fn what_was_aborted_is_not_taken_for_committed() {
        let Ok(server) = std::env::var("FLOTT_TEST_KAFKA") else {
            assert!(
                std::env::var_os("CI").is_none(),
                "FLOTT_TEST_KAFKA is not set, and this is CI"
            );
            eprintln!("skipped: FLOTT_TEST_KAFKA is not set; see scripts/kafka.sh");
            return;
        };
        let prefix = format!("committer-{}", std::process::id());
        let config = Arc::new(ClientConfig::of([("bootstrap.servers", &*server)]).unwrap());
        let mut client = Client::new(config.clone());
        client.create_topic(&prefix, 1, &[]).unwrap();
        let mut producer = flott_kafka::Producer::new(config.clone()).unwrap();
        let mut prepare = |id: &str| {
            producer.begin_transaction(id).unwrap();
            let none = [].into_iter();
            producer.send(&prefix.as_str().into(), Some(0), 0, None, Some(b"x"), none).unwrap();
            producer.prepare_transaction().unwrap().unwrap()
        };
        let ids = TransactionalIds::of(&config.servers, &prefix);
        let mut committer = TransactionCommitter::new(config, ids);
        let committed = prepare("a");
        for _ in 0..2 {
            committer.commit(vec![pack(&committed)], false).unwrap();
        }
        client.fence("a").unwrap();
        committer.commit(vec![pack(&committed)], false).unwrap();

        let aborted = prepare("b");
        client.fence("b").unwrap();
        let error = committer.commit(vec![pack(&aborted)], false).unwrap_err().to_string();
        assert!(error.contains("'b'") && error.contains("are lost"), "{error}");
    }
}
