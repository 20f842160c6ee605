//! Reading files that are not one record behind the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    ConnectorError, FileFormatReader, FileRows, SourceEvent, SourceReader, Split,
};

use super::columns::{FileConstants, ScanColumns};
use super::format::{in_file, open_rows};
use super::reader::limited;
use super::split::FileSplit;

/// Reads the files that it is given, in their order.
pub(super) struct WholeReader {
    columns: ScanColumns,
    format: Box<dyn FileFormatReader>,
    max_rows: usize,
    /// How many rows are still wanted.
    limit: Option<u64>,
    waiting: VecDeque<FileSplit>,
    current: Option<OpenFile>,
}

/// The file under way.
struct OpenFile {
    id: Arc<str>,
    split: FileSplit,
    rows: Box<dyn FileRows>,
    constants: FileConstants,
    /// How many bytes had been read when rows were last given out.
    reported: u64,
}

impl WholeReader {
    pub(super) fn new(
        columns: ScanColumns,
        format: Box<dyn FileFormatReader>,
        max_rows: usize,
        limit: Option<u64>,
    ) -> Self {
        let max_rows = limit.map_or(max_rows, |limit| max_rows.min(clamp(limit))).max(1);
        Self { columns, format, max_rows, limit, waiting: VecDeque::new(), current: None }
    }

    fn open(&self, split: FileSplit) -> Result<OpenFile, ConnectorError> {
        let path = &split.file.path;
        Ok(OpenFile {
            id: split.id().into(),
            rows: open_rows(&*self.format, path, split.range, split.offset, self.max_rows)?,
            constants: self.columns.constants(&split.file)?,
            reported: 0,
            split,
        })
    }
}

impl SourceReader for WholeReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in &splits {
            self.waiting.push_back(FileSplit::unpack(split)?);
        }
        Ok(())
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        let satisfied = self.limit == Some(0);
        let mut file = match (self.current.take(), satisfied) {
            (Some(file), false) => file,
            (Some(file), true) => return Ok(SourceEvent::SplitEnd(file.id)),
            (None, _) => match self.waiting.pop_front() {
                Some(split) if satisfied => return Ok(SourceEvent::SplitEnd(split.id().into())),
                Some(split) => self.open(split)?,
                None => {
                    std::thread::sleep(timeout);
                    return Ok(SourceEvent::Pending);
                }
            },
        };
        let decoded = file.rows.next().map_err(|error| in_file(error, &file.split.file.path))?;
        let Some(decoded) = decoded else { return Ok(SourceEvent::SplitEnd(file.id)) };
        let batch = self.columns.assemble(decoded, &mut file.constants)?;
        let bytes = file.rows.bytes() - file.reported;
        file.reported = file.rows.bytes();
        let split = file.id.clone();
        self.current = Some(file);
        if batch.is_empty() {
            return Ok(SourceEvent::Pending);
        }
        Ok(SourceEvent::Rows { split, batch: limited(batch, &mut self.limit), bytes })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let current = self.current.iter().map(|file| {
            FileSplit { offset: Some(file.rows.position()), ..file.split.clone() }.pack()
        });
        Ok(current.chain(self.waiting.iter().map(FileSplit::pack)).collect())
    }
}

fn clamp(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
