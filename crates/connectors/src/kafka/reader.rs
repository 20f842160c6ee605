//! The task that reads partitions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{ConnectorError, SourceEvent, SourceReader, Split};
use flott_kafka::{Consumer, RecordCursor, TopicPartition};

use super::failure::failure;
use super::group::GroupOffsets;
use super::rows::RowBuilder;
use super::split::PartitionSplit;
use super::table::Table;

/// Reads partitions side by side.
pub(super) struct PartitionReader {
    table: Arc<Table>,
    rows: RowBuilder,
    consumer: Consumer,
    max_rows: usize,
    splits: BTreeMap<TopicPartition, Reading>,
    /// What was fetched and is being decoded.
    cursor: Option<RecordCursor>,
    /// Splits that are read to their end and not yet told of.
    ended: VecDeque<Arc<str>>,
    group: Option<GroupOffsets>,
}

/// A partition under way.
struct Reading {
    id: Arc<str>,
    /// Behind the last record of which rows were given out.
    offset: i64,
    end: Option<i64>,
}

impl PartitionReader {
    pub(super) fn new(table: Arc<Table>, rows: RowBuilder, max_rows: usize) -> Self {
        Self {
            rows,
            consumer: Consumer::new(table.config.clone()),
            max_rows: max_rows.max(1),
            splits: BTreeMap::new(),
            cursor: None,
            ended: VecDeque::new(),
            group: GroupOffsets::new(&table.config),
            table,
        }
    }

    /// Decodes from what was fetched, up to a batch.
    fn decode(&mut self) -> Result<Option<SourceEvent>, ConnectorError> {
        let Some(mut cursor) = self.cursor.take() else { return Ok(None) };
        let of = cursor.partition().clone();
        let Some(reading) = self.splits.get_mut(&of) else { return Ok(None) };
        let mut exhausted = false;
        while self.rows.rows() < self.max_rows {
            match cursor.next().map_err(|error| failure(error).at(of.to_string()))? {
                Some(record) if reading.end.is_some_and(|end| record.offset >= end) => {
                    exhausted = true;
                    break;
                }
                Some(record) => self.rows.push(&of, &record)?,
                None => {
                    exhausted = true;
                    break;
                }
            }
        }
        let bytes = if exhausted { cursor.fetched_bytes() as u64 } else { 0 };
        reading.offset = cursor.position();
        let split = reading.id.clone();
        if reading.end.is_some_and(|end| reading.offset >= end) {
            self.consumer.remove(&of);
            self.splits.remove(&of);
            self.ended.push_back(split.clone());
        } else if !exhausted {
            self.cursor = Some(cursor);
        }
        let batch = self.rows.take()?;
        Ok(batch.map(|batch| SourceEvent::Rows { split, batch, bytes }))
    }
}

impl SourceReader for PartitionReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in &splits {
            let PartitionSplit { of, offset, end } = PartitionSplit::unpack(split)?;
            let id: Arc<str> = split.id.as_str().into();
            if end.is_some_and(|end| offset >= end) {
                self.ended.push_back(id);
                continue;
            }
            self.splits.insert(of.clone(), Reading { id, offset, end });
            self.consumer.add(of, offset).map_err(failure)?;
        }
        Ok(())
    }

    fn wants_all_splits(&self) -> bool {
        true
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        if self.cursor.is_none() {
            if let Some(ended) = self.ended.pop_front() {
                return Ok(SourceEvent::SplitEnd(ended));
            }
            let fetched = self.consumer.poll(timeout);
            let table = &self.table.context.identifier;
            self.cursor = fetched.map_err(|error| failure(error).at(table.clone()))?;
        }
        if let Some(rows) = self.decode()? {
            return Ok(rows);
        }
        Ok(self.ended.pop_front().map_or(SourceEvent::Pending, SourceEvent::SplitEnd))
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let pack = |(of, reading): (&TopicPartition, &Reading)| {
            let (of, offset, end) = (of.clone(), reading.offset, reading.end);
            PartitionSplit { of, offset, end }.pack()
        };
        Ok(self.splits.iter().map(pack).collect())
    }

    fn checkpoint_complete(&mut self, splits: &[Split]) -> Result<(), ConnectorError> {
        let Some(group) = &self.group else { return Ok(()) };
        let offsets = splits
            .iter()
            .map(|split| PartitionSplit::unpack(split).map(|split| (split.of, split.offset)));
        group.commit(offsets.collect::<Result<_, _>>()?);
        Ok(())
    }
}
