//! A hidden file that rows are written into.

use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use flott_catalog::connector::ConnectorError;
use flott_disk::DiskFile;

use super::super::failure::failure;
use super::committable::PreparedFile;

/// So much gathers before it is written, or less when very many files are written at once.
const BUFFER_BYTES: usize = 128 << 10;
const SMALL_BUFFER_BYTES: usize = 16 << 10;

/// An open file; when it is dropped before it was [closed](Self::close), it is removed.
pub(super) struct Part {
    root: PathBuf,
    directory: String,
    hidden: String,
    name: String,
    /// The open file, unless so many parts are open that each write opens it anew.
    file: Option<DiskFile>,
    buffer: Vec<u8>,
    bytes: u64,
    opened: Instant,
    written: Instant,
    closed: bool,
}

impl Part {
    /// Creates the file, which is to be called `name`, and the directories above it.
    pub(super) fn create(
        root: &Path,
        directory: &str,
        name: String,
    ) -> Result<Self, ConnectorError> {
        let hidden = format!(".{name}.inprogress.{}", random_uuid());
        let parent = root.join(directory);
        let path = parent.join(&hidden);
        let file =
            create_in(&parent, &path).map_err(|error| failure("create", path.display(), &error))?;
        let now = Instant::now();
        Ok(Self {
            root: root.into(),
            directory: directory.into(),
            hidden,
            name,
            file: Some(file),
            buffer: Vec::new(),
            bytes: 0,
            opened: now,
            written: now,
            closed: false,
        })
    }

    /// How many bytes were written.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the file was created and when it got its last rows.
    pub(super) fn times(&self) -> (Instant, Instant) {
        (self.opened, self.written)
    }

    /// Appends records. With `keep_open` false the file is closed between writes.
    pub(super) fn write(&mut self, records: &[u8], keep_open: bool) -> Result<(), ConnectorError> {
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

    /// Ends the file: all of it is on the disk afterwards.
    pub(super) fn close(
        mut self,
        round: u64,
        overwrite: bool,
    ) -> Result<PreparedFile, ConnectorError> {
        let buffer = std::mem::take(&mut self.buffer);
        self.append(&[&buffer])?;
        if let Some(file) = &self.file {
            file.sync().map_err(|error| failure("write", self.path().display(), &error))?;
        }
        self.closed = true;
        Ok(PreparedFile {
            directory: std::mem::take(&mut self.directory),
            hidden: std::mem::take(&mut self.hidden),
            name: std::mem::take(&mut self.name),
            bytes: self.bytes,
            round,
            overwrite,
        })
    }

    fn append(&mut self, pieces: &[&[u8]]) -> Result<(), ConnectorError> {
        let path = self.path();
        let told = |error| failure("write", path.display(), &error);
        let file = match &mut self.file {
            Some(file) => file,
            closed => closed.insert(DiskFile::append(&*path).map_err(told)?),
        };
        pieces.iter().try_for_each(|piece| file.write_all(piece)).map_err(told)
    }

    fn path(&self) -> PathBuf {
        self.root.join(&self.directory).join(&self.hidden)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.closed {
            remove_hidden(&self.root, &self.directory, &self.hidden);
        }
    }
}

/// Removes a hidden file, and directories of its partition that are empty without it.
pub(super) fn remove_hidden(root: &Path, directory: &str, hidden: &str) {
    let mut path = root.join(directory).join(hidden);
    if let Err(error) = flott_disk::remove_file(&path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "unfinished file could not be removed");
        return;
    }
    while path.pop() && path != root {
        // Fails for directories that hold something, which is what ends this.
        if flott_disk::remove_folder(&path).is_err() {
            return;
        }
    }
}

/// Another writer may remove the directory as empty right after it was made.
fn create_in(parent: &Path, path: &Path) -> std::io::Result<DiskFile> {
    let mut attempts = 0;
    loop {
        flott_disk::create_folders(parent)?;
        match DiskFile::create_new(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && attempts < 5 => attempts += 1,
            result => return result,
        }
    }
}

/// A random UUID, as Flink puts it into the names of files.
pub(super) fn random_uuid() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    let (a, b) = (random(), random());
    let version = (a & 0xffff_ffff_ffff_0fff) | 0x4000;
    let variant = (b & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        version >> 32,
        (version >> 16) & 0xffff,
        version & 0xffff,
        variant >> 48,
        variant & 0xffff_ffff_ffff
    )
}
