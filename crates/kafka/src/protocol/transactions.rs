//! Producers and their transactions.

use super::{ByTopic, In, Out, PerPartition, Request, read_topics, write_topics};
use crate::{ErrorCode, Result};

/// Asks for a producer id. With a transactional id: fences earlier producers of that id and aborts
/// what they left open.
pub(crate) struct InitProducerId<'a> {
    pub(crate) transactional_id: Option<&'a str>,
    pub(crate) timeout_millis: i32,
}

impl Request for InitProducerId<'_> {
    const KEY: i16 = 22;
    const VERSION: i16 = 1;
    const NAME: &'static str = "InitProducerId";
    /// The error, the producer's id and its epoch.
    type Response = (ErrorCode, i64, i16);

    fn write(&self, out: &mut Out) {
        out.optional_text(self.transactional_id).i32(self.timeout_millis);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        Ok((ErrorCode(response.i16()?), response.i64()?, response.i16()?))
    }
}

/// Takes partitions into a transaction.
pub(crate) struct AddPartitionsToTxn<'a> {
    pub(crate) transactional_id: &'a str,
    pub(crate) producer_id: i64,
    pub(crate) producer_epoch: i16,
    pub(crate) topics: ByTopic<i32>,
}

impl Request for AddPartitionsToTxn<'_> {
    const KEY: i16 = 24;
    const VERSION: i16 = 1;
    const NAME: &'static str = "AddPartitionsToTxn";
    type Response = PerPartition<(i32, ErrorCode)>;

    fn write(&self, out: &mut Out) {
        out.text(self.transactional_id).i64(self.producer_id).i16(self.producer_epoch);
        write_topics(out, &self.topics, |out, partition| {
            out.i32(*partition);
        });
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        read_topics(response, |partition| Ok((partition.i32()?, ErrorCode(partition.i16()?))))
    }
}

/// Commits or aborts a transaction.
pub(crate) struct EndTxn<'a> {
    pub(crate) transactional_id: &'a str,
    pub(crate) producer_id: i64,
    pub(crate) producer_epoch: i16,
    pub(crate) commit: bool,
}

impl Request for EndTxn<'_> {
    const KEY: i16 = 26;
    const VERSION: i16 = 1;
    const NAME: &'static str = "EndTxn";
    type Response = ErrorCode;

    fn write(&self, out: &mut Out) {
        out.text(self.transactional_id).i64(self.producer_id).i16(self.producer_epoch);
        out.bool(self.commit);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        response.i16().map(ErrorCode)
    }
}

/// Asks a broker for the transactions of the ids that it looks after.
pub(crate) struct ListTransactions;

impl Request for ListTransactions {
    const KEY: i16 = 66;
    const VERSION: i16 = 0;
    const FLEXIBLE: bool = true;
    const NAME: &'static str = "ListTransactions";
    /// The error, and of each transaction its id and state.
    type Response = (ErrorCode, Vec<(String, String)>);

    fn write(&self, out: &mut Out) {
        out.compact_array([0_i8; 0], |_, _| {}).compact_array([0_i8; 0], |_, _| {}).no_tags();
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        response.i32()?;
        let error = ErrorCode(response.i16()?);
        response.compact_array(In::compact_text)?;
        let transactions = response.compact_array(|txn| {
            let id = txn.compact_text()?;
            txn.i64()?;
            let state = txn.compact_text()?;
            txn.tags()?;
            Ok((id, state))
        })?;
        Ok((error, transactions))
    }
}
