//! A file's bytes, and its blocks one after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Seek, SeekFrom};

use flott_catalog::connector::ConnectorError;

use super::Marker;
use super::codec::Codec;
use super::header::Header;

/// A file that is read from front to back, and what is known of its size.
pub(super) struct Input {
    file: BufReader<File>,
    at: u64,
    size: u64,
}

impl Input {
    pub(super) fn new(file: File, size: u64) -> Result<Self, ConnectorError> {
        let mut input = Self { file: BufReader::with_capacity(128 << 10, file), at: 0, size };
        input.file.rewind().map_err(|error| input.failed(error))?;
        Ok(input)
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The error for bytes that make no sense here.
    pub(super) fn damaged(&self, what: impl std::fmt::Display) -> ConnectorError {
        ConnectorError::new(format!(
            "this is not an Avro file, or it is damaged: {what}, before byte {}",
            self.at
        ))
        .hint("take the file out of the table's directory, or write it anew")
    }

    fn failed(&self, error: Error) -> ConnectorError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.damaged("it ends too early"),
            _ => ConnectorError::new(format!("cannot read: {error}")),
        }
    }

    /// So many bytes.
    pub(super) fn bytes(&mut self, count: u64) -> Result<Vec<u8>, ConnectorError> {
        // A length beyond the file is damage, and no reason to reserve memory.
        if count > self.size.saturating_sub(self.at) {
            return Err(self.damaged("it ends too early"));
        }
        let mut bytes = vec![0; usize::try_from(count).map_err(|error| self.damaged(error))?];
        self.file.read_exact(&mut bytes).map_err(|error| self.failed(error))?;
        self.at += count;
        Ok(bytes)
    }

    /// A length, then so many bytes.
    pub(super) fn sized_bytes(&mut self) -> Result<Vec<u8>, ConnectorError> {
        let count = self.long()?;
        self.bytes(u64::try_from(count).map_err(|_| self.damaged("a length is negative"))?)
    }

    pub(super) fn text(&mut self) -> Result<Vec<u8>, ConnectorError> {
        self.sized_bytes()
    }

    /// A number in Avro's variable length.
    pub(super) fn long(&mut self) -> Result<i64, ConnectorError> {
        let mut bits = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte).map_err(|error| self.failed(error))?;
            self.at += 1;
            bits |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok((bits >> 1) as i64 ^ -((bits & 1) as i64));
            }
        }
        Err(self.damaged("a number is too long"))
    }

    fn is_at_end(&mut self) -> Result<bool, ConnectorError> {
        match self.file.fill_buf() {
            Ok(rest) => Ok(rest.is_empty()),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn skip(&mut self, count: u64) -> Result<(), ConnectorError> {
        if count > self.size.saturating_sub(self.at) {
            return Err(self.damaged("it ends too early"));
        }
        let skipped = self.file.seek_relative(i64::try_from(count).unwrap_or(i64::MAX));
        skipped.map_err(|error| self.failed(error))?;
        self.at += count;
        Ok(())
    }

    /// Goes behind the first marker that begins at `from` or later; at the end without one.
    fn seek_behind(&mut self, marker: &Marker, from: u64) -> Result<(), ConnectorError> {
        self.file.seek(SeekFrom::Start(from)).map_err(|error| self.failed(error))?;
        self.at = from;
        let finder = memchr::memmem::Finder::new(marker);
        let mut window: Vec<u8> = Vec::new();
        loop {
            let read = match self.file.fill_buf() {
                Ok(read) => read,
                Err(error) => return Err(self.failed(error)),
            };
            if read.is_empty() {
                return Ok(());
            }
            let count = read.len();
            let before = window.len();
            window.extend_from_slice(read);
            if let Some(found) = finder.find(&window) {
                let used = found + marker.len() - before;
                self.file.consume(used);
                self.at += used as u64;
                return Ok(());
            }
            self.file.consume(count);
            self.at += count as u64;
            // A marker may lie across two reads.
            window.drain(..window.len().saturating_sub(marker.len() - 1));
        }
    }
}

/// The blocks of a part of a file.
pub(super) struct Blocks {
    input: Input,
    codec: Codec,
    marker: Marker,
    /// Blocks that begin here or behind belong to the next part.
    until: u64,
}

/// A block, decompressed.
pub(super) struct Block {
    pub(super) count: u64,
    pub(super) records: Vec<u8>,
}

impl Blocks {
    /// The blocks that follow a marker in a range of the file; the header's counts as one. As in Avro's own
    /// readers a block belongs to the part in which the marker before it begins.
    pub(super) fn new(
        mut input: Input,
        header: &Header,
        range: Option<(u64, u64)>,
    ) -> Result<Self, ConnectorError> {
        let length = header.marker.len() as u64;
        let (from, until) = range.unwrap_or((0, u64::MAX));
        if from > input.at().saturating_sub(length) {
            input.seek_behind(&header.marker, from)?;
        }
        let until = until.saturating_add(length);
        Ok(Self { input, codec: header.codec, marker: header.marker, until })
    }

    /// The next block. `wanted` says by its number of records whether it is read or skipped.
    pub(super) fn next(
        &mut self,
        wanted: impl FnOnce(u64) -> bool,
    ) -> Result<Option<Block>, ConnectorError> {
        if self.input.at() >= self.until || self.input.is_at_end()? {
            return Ok(None);
        }
        let damaged = |input: &Input| input.damaged("the length of a block is negative");
        let count = u64::try_from(self.input.long()?).map_err(|_| damaged(&self.input))?;
        let size = u64::try_from(self.input.long()?).map_err(|_| damaged(&self.input))?;
        let records = if wanted(count) {
            let bytes = self.input.bytes(size)?;
            self.codec.decompress(bytes).map_err(|error| self.input.damaged(error))?
        } else {
            self.input.skip(size)?;
            Vec::new()
        };
        if self.input.bytes(16)? != self.marker {
            return Err(self.input.damaged("a block does not end with the file's marker"));
        }
        Ok(Some(Block { count, records }))
    }

    /// Where in the file the next block is.
    pub(super) fn at(&self) -> u64 {
        self.input.at()
    }

    pub(super) fn damaged(&self, what: impl std::fmt::Display) -> ConnectorError {
        self.input.damaged(what)
    }
}
