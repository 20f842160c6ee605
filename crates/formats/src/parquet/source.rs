//! Bytes of a file at any place.

use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file that several readers share, of which each has its own place.
#[derive(Debug, Clone)]
pub(super) struct SharedFile {
    file: Arc<File>,
    size: u64,
}

impl SharedFile {
    pub(super) fn new(file: File, size: u64) -> Self {
        Self { file: Arc::new(file), size }
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<PlacedReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let reader = PlacedReader { file: self.file.clone(), at: start };
        Ok(BufReader::with_capacity(4 << 10, reader))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        // A length beyond the file is damage, and no reason to reserve memory.
        if start.checked_add(length as u64).is_none_or(|end| end > self.size) {
            return Err(ParquetError::EOF(format!(
                "bytes {start} to {start} + {length} of {} are wanted",
                self.size
            )));
        }
        let mut bytes = vec![0; length];
        PlacedReader { file: self.file.clone(), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads on from a place.
#[derive(Debug)]
pub(super) struct PlacedReader {
    file: Arc<File>,
    at: u64,
}

impl Read for PlacedReader {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = read_at(&self.file, out, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(not(unix))]
fn read_at(file: &File, out: &mut [u8], at: u64) -> std::io::Result<usize> {
    use std::io::{Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(at))?;
    file.read(out)
}
