//! Rows written to disk one after the other and read back in that order: runs of a sort, parts of a join.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};

use crate::error::{Result, StateError};

/// Byte strings on their way to disk. The file has no name and is gone when dropped.
#[derive(Debug)]
pub struct SpillFile {
    writer: BufWriter<File>,
    folder: String,
    rows: u64,
    bytes: u64,
}

impl SpillFile {
    pub(super) fn new(file: File, folder: String, buffer: usize) -> Self {
        Self { writer: BufWriter::with_capacity(buffer, file), folder, rows: 0, bytes: 0 }
    }

    /// Appends a byte string.
    pub fn push(&mut self, row: &[u8]) -> Result<()> {
        let length = u32::try_from(row.len()).map_err(|_| StateError::BatchTooLarge)?;
        let written =
            self.writer.write_all(&length.to_le_bytes()).and_then(|()| self.writer.write_all(row));
        self.rows += 1;
        self.bytes += 4 + u64::from(length);
        written.map_err(|error| problem(&self.folder, &error))
    }

    /// How many byte strings there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads what was written from its beginning, through a buffer of so many bytes.
    pub fn read(self, buffer: usize) -> Result<SpillReader> {
        let Self { writer, folder, rows, .. } = self;
        let rewound =
            writer.into_inner().map_err(|error| error.into_error()).and_then(|mut file| {
                file.seek(SeekFrom::Start(0))?;
                Ok(file)
            });
        let file = rewound.map_err(|error| problem(&folder, &error))?;
        Ok(SpillReader { reader: BufReader::with_capacity(buffer, file), folder, left: rows })
    }
}

/// Byte strings on their way back.
#[derive(Debug)]
pub struct SpillReader {
    reader: BufReader<File>,
    folder: String,
    left: u64,
}

impl SpillReader {
    /// Appends the next byte string to `out`; `false` when there is none.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let mut length = [0; 4];
        let at = out.len();
        let read = self.reader.read_exact(&mut length).and_then(|()| {
            out.resize(at + u32::from_le_bytes(length) as usize, 0);
            self.reader.read_exact(&mut out[at..])
        });
        read.map_err(|error| problem(&self.folder, &error))?;
        Ok(true)
    }
}

fn problem(folder: &str, error: &std::io::Error) -> StateError {
    let problem = match error.kind() {
        ErrorKind::UnexpectedEof => "a file ends early".to_string(),
        _ => error.to_string(),
    };
    StateError::Disk { folder: folder.into(), problem }
}

#[cfg(test)]
mod tests {
    use super::super::SpillSpace;

    #[test]
    fn rows_come_back_in_order() {
        let space = SpillSpace::new(vec![std::env::temp_dir()], 1 << 20);
        let mut file = space.file(64).unwrap();
        let rows: Vec<Vec<u8>> = (0..500usize).map(|i| vec![i as u8; i * 7 % 300]).collect();
        rows.iter().for_each(|row| file.push(row).unwrap());
        assert_eq!(file.rows(), 500);
        let mut reader = file.read(100).unwrap();
        for row in &rows {
            let mut back = Vec::new();
            assert!(reader.next(&mut back).unwrap());
            assert_eq!(back, *row);
        }
        assert!(!reader.next(&mut Vec::new()).unwrap());
        let folder = space.folder().unwrap();
        drop((reader, space));
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_named() {
        let space = SpillSpace::new(vec!["/nonexistent/folder".into()], 1 << 20);
        let error = space.file(64).unwrap_err().to_string();
        assert!(error.starts_with("cannot keep state on disk in /nonexistent/folder: "), "{error}");
        // The next folder is tried.
        let folders = vec!["/nonexistent/folder".into(), std::env::temp_dir()];
        SpillSpace::new(folders, 1 << 20).file(64).unwrap();
    }
}
