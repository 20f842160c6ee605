//! Reading files one after the other.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::BooleanArray;
use flott_catalog::connector::{ConnectorError, Decoder, SourceEvent, SourceReader, Split};
use flott_types::{ChangelogBatch, RowKind};

use super::columns::{FileConstants, ScanColumns};
use super::input::Input;
use super::place::LineFinder;
use super::split::FileSplit;

/// A batch has fewer rows when they are so large that it would exceed this.
const BATCH_BYTES: u64 = 32 << 20;

/// Decodes the files that it is given, in their order.
pub(super) struct FileReader {
    columns: ScanColumns,
    decoder: Box<dyn Decoder>,
    max_rows: usize,
    /// How many rows are still wanted.
    limit: Option<u64>,
    drops_update_before: bool,
    waiting: VecDeque<FileSplit>,
    current: Option<OpenFile>,
}

/// The file under way.
struct OpenFile {
    id: Arc<str>,
    split: FileSplit,
    input: Input,
    lines: RefCell<LineFinder>,
    constants: FileConstants,
    /// Where the input was when rows were last given out.
    reported: u64,
}

impl FileReader {
    pub(super) fn new(
        columns: ScanColumns,
        decoder: Box<dyn Decoder>,
        max_rows: usize,
        limit: Option<u64>,
    ) -> Self {
        Self {
            columns,
            decoder,
            max_rows: max_rows.max(1),
            limit,
            drops_update_before: false,
            waiting: VecDeque::new(),
            current: None,
        }
    }

    /// The same reader, which leaves out −U rows.
    pub(super) fn without_update_before(self) -> Self {
        Self { drops_update_before: true, ..self }
    }

    fn open(&self, split: FileSplit) -> Result<OpenFile, ConnectorError> {
        let input = Input::open(&split)?;
        Ok(OpenFile {
            id: split.id().into(),
            reported: input.offset(),
            lines: RefCell::new(LineFinder::new(&split)),
            constants: self.columns.constants(&split.file)?,
            input,
            split,
        })
    }
}

impl SourceReader for FileReader {
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
                Some(split) if satisfied => {
                    return Ok(SourceEvent::SplitEnd(split.id().into()));
                }
                Some(split) => self.open(split)?,
                None => {
                    std::thread::sleep(timeout);
                    return Ok(SourceEvent::Pending);
                }
            },
        };
        let in_time = file.decode(&mut *self.decoder, self.max_rows, timeout)?;
        let Some(decoded) = self.decoder.take()?.filter(|batch| !batch.is_empty()) else {
            if in_time && file.input.exhausted() {
                return Ok(SourceEvent::SplitEnd(file.id));
            }
            self.current = Some(file);
            return Ok(SourceEvent::Pending);
        };
        let mut batch = self.columns.assemble(decoded, &mut file.constants)?;
        if self.drops_update_before {
            batch = without_update_before(batch)?;
        }
        let bytes = file.input.offset() - file.reported;
        file.reported = file.input.offset();
        let split = file.id.clone();
        self.current = Some(file);
        if batch.is_empty() {
            return Ok(SourceEvent::Pending);
        }
        Ok(SourceEvent::Rows { split, batch: limited(batch, &mut self.limit), bytes })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let current = self.current.iter().map(|file| {
            FileSplit { offset: Some(file.input.offset()), ..file.split.clone() }.pack()
        });
        Ok(current.chain(self.waiting.iter().map(FileSplit::pack)).collect())
    }
}

/// The rows that a limit leaves of a batch.
pub(super) fn limited(batch: ChangelogBatch, limit: &mut Option<u64>) -> ChangelogBatch {
    let Some(limit) = limit else { return batch };
    let rows = batch.len().min(usize::try_from(*limit).unwrap_or(usize::MAX));
    *limit -= rows as u64;
    if rows < batch.len() { batch.slice(0, rows) } else { batch }
}

fn without_update_before(batch: ChangelogBatch) -> Result<ChangelogBatch, ConnectorError> {
    let Some(kinds) = &batch.kinds else { return Ok(batch) };
    let keep: BooleanArray = kinds.iter().map(|kind| Some(kind != RowKind::UpdateBefore)).collect();
    batch.filter(&keep).map_err(|error| ConnectorError::new(error.to_string()))
}

impl OpenFile {
    /// Decodes until there is enough for a batch or the file ends; false when `timeout` passed
    /// before, which takes a slow file or many records that are skipped.
    fn decode(
        &mut self,
        decoder: &mut dyn Decoder,
        max_rows: usize,
        timeout: Duration,
    ) -> Result<bool, ConnectorError> {
        let start = Instant::now();
        while decoder.rows() < max_rows && !self.input.exhausted() {
            if !self.input.bytes().is_empty() && self.decode_read(decoder, max_rows)? > 0 {
                if self.input.offset() - self.reported >= BATCH_BYTES && decoder.rows() > 0 {
                    return Ok(true);
                }
                continue;
            }
            if self.input.ended() {
                if decoder.rows() > 0 {
                    return Ok(true);
                }
                return Err(ConnectorError::new("the format does not read on")
                    .at(self.lines.borrow_mut().place(self.input.offset())));
            }
            // The rest of what a pipe gives may be long in coming.
            let slow = self.split.file.size.is_none() && decoder.rows() > 0;
            if slow || start.elapsed() > timeout && !timeout.is_zero() {
                return Ok(false);
            }
            self.input.refill()?;
        }
        Ok(true)
    }

    /// Decodes from what was read, and returns how many bytes that used up.
    fn decode_read(
        &mut self,
        decoder: &mut dyn Decoder,
        max_rows: usize,
    ) -> Result<usize, ConnectorError> {
        let base = self.input.offset();
        let place = |at: usize| self.lines.borrow_mut().place(base + at as u64);
        let used =
            decoder.decode_stream(self.input.bytes(), self.input.ended(), max_rows, &place)?;
        self.input.consume(used);
        Ok(used)
    }
}
