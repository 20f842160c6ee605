//! Reading the splits of a table.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use flott_catalog::connector::{
    ConnectorError, Discovery, SourceEvent, SourceReader, Split, SplitEnumerator,
};
use flott_types::ChangelogBatch;

use super::scan::Scan;
use super::split::TableSplit;
use super::worker::{self, Message};

/// Gives the splits out, once.
pub(super) struct TableEnumerator {
    pub(super) splits: Option<Vec<TableSplit>>,
}

impl SplitEnumerator for TableEnumerator {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        let splits = self.splits.take().unwrap_or_default();
        let splits = splits.iter().map(TableSplit::pack).collect();
        Ok(Discovery { splits, again_after: None, tasks: Vec::new() })
    }

    fn snapshot(&self) -> Vec<u8> {
        vec![u8::from(self.splits.is_none())]
    }
}

/// Reads one split after the other.
pub(super) struct TableReader {
    scan: Arc<Scan>,
    /// How many rows are fetched at a time.
    block: usize,
    waiting: VecDeque<TableSplit>,
    current: Option<Current>,
}

/// The split under way.
struct Current {
    id: Arc<str>,
    /// Behind the rows that were given out.
    split: TableSplit,
    rows: Receiver<Message>,
}

impl TableReader {
    pub(super) fn new(scan: Scan, block: usize) -> Self {
        Self { scan: Arc::new(scan), block: block.max(1), waiting: VecDeque::new(), current: None }
    }
}

impl SourceReader for TableReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in &splits {
            self.waiting.push_back(TableSplit::unpack(split)?);
        }
        Ok(())
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        if self.current.is_none() {
            let Some(split) = self.waiting.pop_front() else {
                std::thread::sleep(timeout);
                return Ok(SourceEvent::Pending);
            };
            let rows = worker::start(&self.scan, split.clone(), self.block)?;
            self.current = Some(Current { id: split.id().into(), split, rows });
        }
        let Some(current) = &mut self.current else { return Ok(SourceEvent::Pending) };
        match current.rows.recv_timeout(timeout) {
            Ok(fetched) => {
                let fetched = fetched?;
                current.split = fetched.split;
                let batch = ChangelogBatch::inserts(fetched.rows);
                let bytes = batch.memory() as u64;
                Ok(SourceEvent::Rows { split: current.id.clone(), batch, bytes })
            }
            Err(RecvTimeoutError::Timeout) => Ok(SourceEvent::Pending),
            Err(RecvTimeoutError::Disconnected) => {
                let id = current.id.clone();
                self.current = None;
                Ok(SourceEvent::SplitEnd(id))
            }
        }
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let current = self.current.iter().map(|current| current.split.pack());
        Ok(current.chain(self.waiting.iter().map(TableSplit::pack)).collect())
    }
}
