//! Files of one record behind the other.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use flott_catalog::connector::{ConnectorError, Encoder, RecordBuffer};
use flott_disk::DiskFile;
use flott_types::ChangelogBatch;

use super::super::failure::failure;
use super::Table;
use super::committable::PreparedFile;
use super::hidden::HiddenFile;
use super::output::{Bucket, Files, Output, PartFile};

const DELIMITER: &[u8] = b"\n";

/// So much gathers before it is written, or less when very many files are written at once.
const BUFFER_BYTES: usize = 128 << 10;
const SMALL_BUFFER_BYTES: usize = 16 << 10;

/// Encodes rows.
pub(super) struct RecordOutput {
    encoder: Box<dyn Encoder>,
    records: RecordBuffer,
}

impl RecordOutput {
    pub(super) fn new(encoder: Box<dyn Encoder>) -> Self {
        Self { encoder, records: RecordBuffer::new(DELIMITER) }
    }
}

impl Output for RecordOutput {
    type Part = RecordFile;

    fn append(
        &mut self,
        table: &Table,
        files: &mut Files,
        bucket: &mut Bucket<RecordFile>,
        rows: &ChangelogBatch,
        keep_open: bool,
    ) -> Result<(), ConnectorError> {
        self.records.clear();
        self.encoder.encode(rows, &mut self.records)?;
        let bytes = self.records.bytes.as_slice();
        let ends = &self.records.ends;
        let mut from = 0;
        while from < bytes.len() {
            if bucket.part.as_ref().is_some_and(|part| part.bytes > table.rolling.bytes) {
                files.finish(&mut bucket.part)?;
            }
            let part = match &mut bucket.part {
                Some(part) => part,
                none => {
                    let name = files.next_name();
                    none.insert(RecordFile::create(&table.root, &bucket.directory, name)?)
                }
            };
            let room = table.rolling.bytes.saturating_sub(part.bytes);
            let full = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(from);
            let fitting = ends.partition_point(|end| end + DELIMITER.len() <= full);
            let to = ends.get(fitting).map_or(bytes.len(), |end| end + DELIMITER.len());
            part.write(&bytes[from..to], keep_open)?;
            from = to;
        }
        Ok(())
    }
}

/// A file of records.
pub(super) struct RecordFile {
    hidden: HiddenFile,
    /// The open file, unless so many parts are open that each write opens it anew.
    file: Option<DiskFile>,
    buffer: Vec<u8>,
    bytes: u64,
    opened: Instant,
    written: Instant,
}

impl RecordFile {
    fn create(root: &Path, directory: &str, name: String) -> Result<Self, ConnectorError> {
        let (hidden, file) = HiddenFile::create(root, directory, name)?;
        let now = Instant::now();
        Ok(Self {
            hidden,
            file: Some(file),
            buffer: Vec::new(),
            bytes: 0,
            opened: now,
            written: now,
        })
    }

    /// Appends records. With `keep_open` false the file is closed between writes.
    fn write(&mut self, records: &[u8], keep_open: bool) -> Result<(), ConnectorError> {
        self.bytes += records.len() as u64;
        self.written = Instant::now();
        let most = if keep_open { BUFFER_BYTES } else { SMALL_BUFFER_BYTES };
        if self.buffer.len() + records.len() < most {
            self.buffer.extend_from_slice(records);
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        self.append(&[&buffer, records])?;
        self.buffer = buffer;
        self.buffer.clear();
        if !keep_open {
            self.file = None;
        }
        Ok(())
    }

    fn append(&mut self, pieces: &[&[u8]]) -> Result<(), ConnectorError> {
        let path = self.hidden.path();
        let told = |error| failure("write", path.display(), &error);
        let file = match &mut self.file {
            Some(file) => file,
            closed => closed.insert(DiskFile::append(&*path).map_err(told)?),
        };
        pieces.iter().try_for_each(|piece| file.write_all(piece)).map_err(told)
    }
}

impl PartFile for RecordFile {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn times(&self) -> (Instant, Instant) {
        (self.opened, self.written)
    }

    fn close(mut self, round: u64, overwrite: bool) -> Result<PreparedFile, ConnectorError> {
        let buffer = std::mem::take(&mut self.buffer);
        self.append(&[&buffer])?;
        if let Some(file) = &self.file {
            let path = self.hidden.path();
            file.sync().map_err(|error| failure("write", path.display(), &error))?;
        }
        Ok(self.hidden.complete(self.bytes, round, overwrite))
    }
}
