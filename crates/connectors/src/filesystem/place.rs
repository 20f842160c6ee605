//! Where a record is, in words.

use std::fs::File;
use std::io::Read;

use super::split::FileSplit;

/// Names places in a file of lines as `path:line`.
///
/// Lines are counted only when a place is asked for, in the file itself and on from the last place, so
/// that good records pay nothing.
pub(super) struct LineFinder {
    path: String,
    file: Option<Box<dyn Read + Send>>,
    /// Line feeds before `counted_to`.
    feeds: u64,
    counted_to: u64,
}

impl LineFinder {
    pub(super) fn new(split: &FileSplit) -> Self {
        Self { path: split.file.path.clone(), file: None, feeds: 0, counted_to: 0 }
    }

    /// The place of the record at `offset` of the content.
    pub(super) fn place(&mut self, offset: u64) -> String {
        match self.line(offset) {
            Some(line) => format!("{}:{line}", self.path),
            None => format!("{}, byte {offset}", self.path),
        }
    }

    fn line(&mut self, offset: u64) -> Option<u64> {
        if self.file.is_none() || offset < self.counted_to {
            let file = File::open(&self.path).ok()?;
            self.file = Some(match super::compression::Compression::of(&self.path) {
                None => Box::new(file),
                Some(compression) => compression.reader(file, &self.path).ok()?,
            });
            (self.feeds, self.counted_to) = (0, 0);
        }
        let file = self.file.as_mut()?;
        let mut block = vec![0; 64 << 10];
        while self.counted_to < offset {
            let wanted = (offset - self.counted_to).min(block.len() as u64) as usize;
            let count = file.read(&mut block[..wanted]).ok().filter(|count| *count > 0)?;
            self.feeds += memchr::memchr_iter(b'\n', &block[..count]).count() as u64;
            self.counted_to += count as u64;
        }
        Some(self.feeds + 1)
    }
}
