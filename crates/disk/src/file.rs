//! Files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::faults::{self, Change};

/// A file that is written from its beginning to its end.
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    path: PathBuf,
}

impl DiskFile {
    /// Makes a file, in the place of the one of this name if there is one.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = faults::change(Change::Create(&path), || File::create(&path))?;
        Ok(Self { file, path })
    }

    /// Makes a file, which must not exist.
    pub fn create_new(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let make = || OpenOptions::new().append(true).create_new(true).open(&path);
        let file = match path.try_exists()? {
            true => make()?,
            false => faults::change(Change::Create(&path), make)?,
        };
        Ok(Self { file, path })
    }

    /// Opens a file to write behind its end.
    pub fn append(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let open = || OpenOptions::new().append(true).open(&path);
        let file = faults::change(Change::Append(&path), open)?;
        Ok(Self { file, path })
    }

    /// Waits until everything written is on the disk. When that fails, what was written since the last time
    /// counts as lost, even if another attempt succeeds: systems forget what they could not write.
    pub fn sync(&self) -> io::Result<()> {
        faults::change(Change::Sync(&self.path), || self.file.sync_all())
    }

    /// Sets when the file was changed last.
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.file.set_modified(time)
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let writable = faults::writable(&self.path, bytes.len())?;
        self.file.write(&bytes[..writable])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a file to read it.
pub fn open(path: &Path) -> io::Result<File> {
    faults::change(Change::Read(path), || File::open(path))
}

/// Reads a whole file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    faults::change(Change::Read(path), || fs::read(path))
}

/// Writes a file whose bytes are on the disk when this returns.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = DiskFile::create(path)?;
    file.write_all(bytes)?;
    file.sync()
}
