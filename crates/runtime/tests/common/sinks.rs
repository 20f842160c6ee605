//! A sink with two phases: rows are visible once committed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flott_catalog::connector::{
    Committable, Committer, ConnectorError, SinkWriter, TableSink, WriterContext,
};
use flott_types::{ChangelogBatch, ChangelogMode};

use super::{Row, rows};

/// Outlives the jobs that write it.
#[derive(Clone, Default)]
pub struct TestSink(Arc<Mutex<Table>>);

#[derive(Default)]
pub struct Table {
    prepared: BTreeMap<u64, Vec<Row>>,
    next: u64,
    /// What is visible.
    pub rows: Vec<Row>,
    /// How many last commits there were.
    pub ends: usize,
    pub aborted: usize,
    pub flushes: usize,
    pub watermarks: Vec<i64>,
    pub refuses_commits: bool,
}

impl TestSink {
    pub fn with<T>(&self, f: impl FnOnce(&mut Table) -> T) -> T {
        f(&mut self.0.lock().unwrap())
    }

    pub fn rows(&self) -> Vec<Row> {
        self.with(|table| table.rows.clone())
    }
}

impl TableSink for TestSink {
    fn changelog_mode(&self, requested: ChangelogMode) -> ChangelogMode {
        requested
    }

    fn writer(&self, _context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        Ok(Box::new(Writer { table: self.clone(), rows: Vec::new() }))
    }

    fn committer(&self) -> Result<Option<Box<dyn Committer>>, ConnectorError> {
        Ok(Some(Box::new(self.clone())))
    }
}

struct Writer {
    table: TestSink,
    rows: Vec<Row>,
}

impl SinkWriter for Writer {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        self.rows.extend(rows(batch));
        Ok(())
    }

    fn watermark(&mut self, millis: i64) -> Result<(), ConnectorError> {
        self.table.with(|table| table.watermarks.push(millis));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        self.table.with(|table| table.flushes += 1);
        Ok(())
    }

    fn prepare_commit(&mut self, _end: bool) -> Result<Vec<Committable>, ConnectorError> {
        let rows = std::mem::take(&mut self.rows);
        let id = self.table.with(|table| {
            table.next += 1;
            let id = table.next;
            table.prepared.insert(id, rows);
            id
        });
        Ok(vec![id.to_le_bytes().to_vec()])
    }
}

impl Committer for TestSink {
    fn commit(&mut self, prepared: Vec<Committable>, end: bool) -> Result<(), ConnectorError> {
        if self.with(|table| table.refuses_commits) {
            return Err(ConnectorError::new("commits are refused"));
        }
        self.with(|table| {
            for id in prepared {
                let id = u64::from_le_bytes(id.try_into().unwrap());
                let rows = table.prepared.remove(&id).unwrap_or_default();
                table.rows.extend(rows);
            }
            table.ends += usize::from(end);
        });
        Ok(())
    }

    fn abort(&mut self, prepared: Vec<Committable>) -> Result<(), ConnectorError> {
        self.with(|table| {
            for id in prepared {
                table.prepared.remove(&u64::from_le_bytes(id.try_into().unwrap()));
            }
            table.aborted += 1;
        });
        Ok(())
    }
}
