//! The rows of a part of a file, row group by row group.

use std::collections::VecDeque;

use flott_catalog::connector::{ConnectorError, FileRows};
use flott_types::ChangelogBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::clock::Clock;
use super::columns::FileColumns;
use super::damage::{damaged, failed, guarded};
use super::source::SharedFile;

/// How some columns of a file are read.
pub(super) struct Reading {
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) mask: ProjectionMask,
    pub(super) file: SharedFile,
}

/// A row group of the part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) index: usize,
    /// The number of its first row in the file.
    pub(super) first_row: u64,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// Reads the row groups of a part one after the other.
pub(super) struct ParquetRows {
    reading: Reading,
    /// The same for columns that are also read in nanoseconds.
    finest: Option<Reading>,
    columns: FileColumns,
    clock: Option<Clock>,
    groups: VecDeque<Group>,
    current: Option<Open>,
    position: u64,
    max_rows: usize,
    bytes: u64,
}

/// The row group under way.
struct Open {
    group: Group,
    rows: ParquetRecordBatchReader,
    finest: Option<ParquetRecordBatchReader>,
}

impl ParquetRows {
    pub(super) fn new(
        reading: Reading,
        finest: Option<Reading>,
        columns: FileColumns,
        clock: Option<Clock>,
        mut groups: VecDeque<Group>,
        position: u64,
        max_rows: usize,
    ) -> Self {
        groups.retain(|group| group.first_row + group.rows > position);
        let start = groups.front().map_or(position, |group| group.first_row.max(position));
        Self {
            reading,
            finest,
            columns,
            clock,
            groups,
            current: None,
            position: start,
            max_rows,
            bytes: 0,
        }
    }

    fn read(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        loop {
            let mut open = match self.current.take() {
                Some(open) => open,
                None => match self.groups.pop_front() {
                    Some(group) => self.open(group)?,
                    None => return Ok(None),
                },
            };
            let Some(read) = next_of(&mut open.rows)? else {
                let end = open.group.first_row + open.group.rows;
                if self.position < end {
                    return Err(damaged("a row group has fewer rows than it says"));
                }
                continue;
            };
            let finest = match &mut open.finest {
                Some(rows) => next_of(rows)?,
                None => None,
            };
            if finest.as_ref().is_some_and(|finest| finest.num_rows() != read.num_rows()) {
                return Err(damaged("its columns are of different length"));
            }
            let batch = self.columns.batch(&read, finest.as_ref(), &mut self.clock)?;
            let rows = read.num_rows() as u64;
            self.position += rows;
            let share = u128::from(open.group.bytes) * u128::from(rows);
            self.bytes += (share / u128::from(open.group.rows.max(1))) as u64;
            self.current = Some(open);
            return Ok(Some(batch));
        }
    }

    fn open(&mut self, group: Group) -> Result<Open, ConnectorError> {
        self.position = self.position.max(group.first_row);
        let skipped = self.position - group.first_row;
        let rows = self.reading.open(group.index, skipped, self.max_rows)?;
        let finest = match &self.finest {
            Some(finest) => Some(finest.open(group.index, skipped, self.max_rows)?),
            None => None,
        };
        Ok(Open { group, rows, finest })
    }
}

impl Reading {
    fn open(
        &self,
        group: usize,
        skipped: u64,
        max_rows: usize,
    ) -> Result<ParquetRecordBatchReader, ConnectorError> {
        let skipped = usize::try_from(skipped).map_err(damaged)?;
        let metadata = self.metadata.clone();
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), metadata)
                .with_row_groups(vec![group])
                .with_projection(self.mask.clone())
                .with_batch_size(max_rows);
        let builder = if skipped > 0 { builder.with_offset(skipped) } else { builder };
        builder.build().map_err(failed)
    }
}

fn next_of(
    rows: &mut ParquetRecordBatchReader,
) -> Result<Option<arrow::record_batch::RecordBatch>, ConnectorError> {
    rows.next().transpose().map_err(damaged)
}

impl FileRows for ParquetRows {
    fn next(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        guarded(|| self.read())
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
