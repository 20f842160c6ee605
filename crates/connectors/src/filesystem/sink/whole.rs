//! Files that their format writes as a whole.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use flott_catalog::connector::{ConnectorError, FileEncoder, FileFormatWriter};
use flott_disk::DiskFile;
use flott_types::ChangelogBatch;

use super::super::failure::failure;
use super::super::format::in_file;
use super::Table;
use super::committable::PreparedFile;
use super::hidden::HiddenFile;
use super::output::{Bucket, Files, Output, PartFile};

/// All open files of a writer hold so much in memory at most.
const BUFFERED_BYTES: usize = 256 << 20;

/// The size of a file is looked at so often.
const ROWS: usize = 1024;

/// Hands rows to the format.
pub(super) struct WholeOutput(Box<dyn FileFormatWriter>);

impl WholeOutput {
    pub(super) fn new(format: Box<dyn FileFormatWriter>) -> Self {
        Self(format)
    }

    fn create(
        &self,
        table: &Table,
        directory: &str,
        name: String,
    ) -> Result<WholeFile, ConnectorError> {
        let (hidden, file) = HiddenFile::create(&table.root, directory, name)?;
        let path = hidden.path();
        let file = LazyFile { path: path.clone(), file: Some(file) };
        let encoder = self.0.create(Box::new(file));
        let encoder = encoder.map_err(|error| in_file(error, &path.display().to_string()))?;
        let now = Instant::now();
        Ok(WholeFile { encoder, hidden, opened: now, written: now })
    }
}

impl Output for WholeOutput {
    type Part = WholeFile;

    fn append(
        &mut self,
        table: &Table,
        files: &mut Files,
        bucket: &mut Bucket<WholeFile>,
        rows: &ChangelogBatch,
        _keep_open: bool,
    ) -> Result<(), ConnectorError> {
        let mut from = 0;
        while from < rows.len() {
            if bucket.part.as_ref().is_some_and(|part| part.bytes() > table.rolling.bytes) {
                files.finish(&mut bucket.part)?;
            }
            let part = match &mut bucket.part {
                Some(part) => part,
                none => none.insert(self.create(table, &bucket.directory, files.next_name())?),
            };
            let some = rows.slice(from, ROWS.min(rows.len() - from));
            part.written = Instant::now();
            part.encoder.write(&some).map_err(|error| in_file(error, &part.place()))?;
            from += some.len();
        }
        Ok(())
    }

    fn relieve(&mut self, buckets: &mut [Bucket<WholeFile>]) -> Result<(), ConnectorError> {
        let mut parts: Vec<_> =
            buckets.iter_mut().filter_map(|bucket| bucket.part.as_mut()).collect();
        let mut buffered: usize = parts.iter().map(|part| part.encoder.buffered()).sum();
        if buffered <= BUFFERED_BYTES {
            return Ok(());
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.encoder.buffered()));
        for part in parts {
            if buffered <= BUFFERED_BYTES / 2 {
                break;
            }
            buffered -= part.encoder.buffered();
            part.encoder.flush().map_err(|error| in_file(error, &part.place()))?;
        }
        Ok(())
    }
}

/// A file that its format writes. Its fields are dropped in their order: what the encoder still writes
/// then goes into a file that is removed after it.
pub(super) struct WholeFile {
    encoder: Box<dyn FileEncoder>,
    hidden: HiddenFile,
    opened: Instant,
    written: Instant,
}

impl WholeFile {
    fn place(&self) -> String {
        self.hidden.path().display().to_string()
    }
}

impl PartFile for WholeFile {
    fn bytes(&self) -> u64 {
        self.encoder.bytes()
    }

    fn times(&self) -> (Instant, Instant) {
        (self.opened, self.written)
    }

    fn close(self, round: u64, overwrite: bool) -> Result<PreparedFile, ConnectorError> {
        let place = self.place();
        let bytes = self.encoder.finish().map_err(|error| in_file(error, &place))?;
        DiskFile::append(self.hidden.path())
            .and_then(|file| file.sync())
            .map_err(|error| failure("write", &place, &error))?;
        Ok(self.hidden.complete(bytes, round, overwrite))
    }
}

/// A file that is open only while it is written, since a writer may have thousands.
struct LazyFile {
    path: PathBuf,
    file: Option<DiskFile>,
}

impl Write for LazyFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            closed => closed.insert(DiskFile::append(&*self.path)?),
        };
        file.write(bytes)
    }

    /// What was written needs no flush; more comes after a while.
    fn flush(&mut self) -> std::io::Result<()> {
        self.file = None;
        Ok(())
    }
}
