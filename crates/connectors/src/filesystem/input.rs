//! The bytes of a split, in a buffer from which records are decoded in place.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

use flott_catalog::connector::ConnectorError;
use memchr::memchr;

use super::compression::Compression;
use super::failure::failure;
use super::split::FileSplit;

/// How much is read at once.
const BLOCK_BYTES: usize = 512 << 10;

/// A record that does not fit so much is taken for a file of another format.
const MAX_RECORD_BYTES: usize = 1 << 30;

/// What is left of a split.
///
/// Bytes are read into one buffer in large blocks. What was read and not yet consumed is
/// [`bytes`](Self::bytes); [`refill`](Self::refill) moves the little that remains of it to the front
/// and reads on behind.
pub(super) struct Input {
    path: String,
    reader: Box<dyn Read + Send>,
    compressed: bool,
    /// How many bytes the split still has to read; `None` reads to the end of the file.
    left: Option<u64>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `buffer[start]` is in the content.
    offset: u64,
    ended: bool,
}

impl Input {
    /// Opens the file of a split at its position.
    pub(super) fn open(split: &FileSplit) -> Result<Self, ConnectorError> {
        let path = split.file.path.as_str();
        let told = |error: Error| failure("read", path, &error);
        let mut file = File::open(path).map_err(told)?;
        if let Some(compression) = Compression::of(path) {
            let offset = split.offset.unwrap_or(0);
            let mut reader = compression.reader(file, path)?;
            skip(&mut *reader, offset).map_err(told)?;
            return Ok(Self::new(path, reader, true, offset, None));
        }
        let (start, end) = match split.range {
            // A size of 0 says nothing: files of /proc have it.
            None => (0, split.file.size.filter(|size| *size > 0)),
            Some((start, end)) => {
                let start = line_start(&mut file, start).map_err(told)?;
                (start, Some(line_start(&mut file, end).map_err(told)?))
            }
        };
        let offset = split.offset.unwrap_or(start);
        // A pipe cannot seek, and need not.
        if split.range.is_some() || offset > 0 {
            file.seek(SeekFrom::Start(offset)).map_err(told)?;
        }
        Ok(Self::new(path, Box::new(file), false, offset, end))
    }

    fn new(
        path: &str,
        reader: Box<dyn Read + Send>,
        compressed: bool,
        offset: u64,
        end: Option<u64>,
    ) -> Self {
        Self {
            path: path.into(),
            reader,
            compressed,
            left: end.map(|end| end.saturating_sub(offset)),
            buffer: vec![0; BLOCK_BYTES],
            start: 0,
            end: 0,
            offset,
            ended: false,
        }
    }

    /// What was read and not yet consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Where [`bytes`](Self::bytes) starts in the content, decompressed if need be.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether nothing follows what was read.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether nothing is left at all.
    pub(super) fn exhausted(&self) -> bool {
        self.ended && self.start == self.end
    }

    /// Forgets the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads more, at least one byte unless the split has ended. Grows the buffer when a record fills
    /// it.
    pub(super) fn refill(&mut self) -> Result<(), ConnectorError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            if self.end >= MAX_RECORD_BYTES {
                return Err(ConnectorError::new("a record is longer than 1 GB")
                    .at(format!("{}, byte {}", self.path, self.offset))
                    .hint("check that the file is of the table's format"));
            }
            self.buffer.resize(self.end * 2, 0);
        }
        // Decompressors give little at a time, which is gathered; from a pipe anything is welcome.
        let enough = if self.compressed { self.end + BLOCK_BYTES / 4 } else { self.end + 1 };
        let enough = enough.min(self.buffer.len());
        while self.end < enough && !self.ended {
            let space = self.buffer.len() - self.end;
            let wanted = self.left.map_or(space, |left| space.min(clamp(left)));
            let target = &mut self.buffer[self.end..self.end + wanted];
            match if target.is_empty() { Ok(0) } else { self.reader.read(target) } {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.end += count;
                    self.left = self.left.map(|left| left - count as u64);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failure("read", &self.path, &error)),
            }
        }
        // Knowing the end saves the decoder a round with nothing new.
        self.ended |= self.left == Some(0);
        Ok(())
    }
}

/// The first start of a line that is not before `offset`.
fn line_start(file: &mut File, offset: u64) -> std::io::Result<u64> {
    if offset == 0 {
        return Ok(0);
    }
    // A line feed right before the offset makes it a start.
    let mut at = offset - 1;
    file.seek(SeekFrom::Start(at))?;
    let mut block = vec![0; 64 << 10];
    loop {
        let count = match file.read(&mut block) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            return Ok(at);
        }
        if let Some(feed) = memchr(b'\n', &block[..count]) {
            return Ok(at + feed as u64 + 1);
        }
        at += count as u64;
    }
}

fn skip(reader: &mut dyn Read, count: u64) -> std::io::Result<()> {
    std::io::copy(&mut reader.take(count), &mut std::io::sink()).map(drop)
}

fn clamp(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::listing::FoundFile;
    use super::*;

    fn split(path: &str, size: u64, range: Option<(u64, u64)>, offset: Option<u64>) -> FileSplit {
        let file = FoundFile {
            path: path.into(),
            size: Some(size),
            modified_millis: 0,
            partition: vec![],
        };
        FileSplit { file, range, offset }
    }

    /// Reads on, consuming `step` bytes at a time.
    fn read(split: &FileSplit, step: usize) -> Vec<u8> {
        let mut input = Input::open(split).unwrap();
        let mut out = Vec::new();
        while !input.exhausted() {
            let count = input.bytes().len().min(step);
            out.extend_from_slice(&input.bytes()[..count]);
            input.consume(count);
            if input.bytes().is_empty() {
                input.refill().unwrap();
            }
        }
        out
    }

    proptest! {
        #[test]
        fn ranges_cover_every_line_once(
            content in "([a-c]{0,9}\n){0,20}[a-c]{0,3}",
            cuts in prop::collection::vec(0u64..200, 0..6),
            step in 1usize..50,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("f");
            std::fs::write(&path, &content).unwrap();
            let (path, size) = (path.to_str().unwrap(), content.len() as u64);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(size)).collect();
            cuts.extend([0, size]);
            cuts.sort_unstable();
            let mut whole = Vec::new();
            for pair in cuts.windows(2) {
                let piece = read(&split(path, size, Some((pair[0], pair[1])), None), step);
                let whole_lines = piece.last().is_none_or(|last| *last == b'\n');
                prop_assert!(whole_lines || whole.len() + piece.len() == content.len());
                whole.extend(piece);
            }
            prop_assert_eq!(whole, content.into_bytes());
        }
    }

    #[test]
    fn a_file_is_read_to_the_size_it_had_and_from_its_offset() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, "abcdef").unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(read(&split(path, 4, None, None), 3), b"abcd");
        assert_eq!(read(&split(path, 6, None, Some(2)), 3), b"cdef");
        assert_eq!(read(&split(path, 6, None, Some(6)), 3), b"");
    }

    #[test]
    fn long_records_make_the_buffer_grow() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, vec![7; 3 * BLOCK_BYTES]).unwrap();
        let mut input =
            Input::open(&split(path.to_str().unwrap(), 3 * BLOCK_BYTES as u64, None, None))
                .unwrap();
        while !input.ended() {
            input.refill().unwrap();
        }
        assert_eq!(input.bytes().len(), 3 * BLOCK_BYTES);
        assert!(input.offset() == 0 && !input.exhausted());
    }

    #[test]
    fn a_compressed_file_resumes_at_its_decompressed_offset() {
        use std::io::Write;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.gz");
        let content: Vec<u8> = (0..2_000_000u32).map(|i| (i % 251) as u8).collect();
        let file = File::create(&path).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&content).unwrap();
        encoder.finish().unwrap();
        let path = path.to_str().unwrap();
        assert!(read(&split(path, 1, None, None), 100_000) == content);
        assert!(read(&split(path, 1, None, Some(1_234_567)), 100_000) == content[1_234_567..]);
    }
}
