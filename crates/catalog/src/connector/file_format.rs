//! Formats of whole files, such as Parquet: what is not one record behind the other.

use std::fs::File;
use std::io::Write;

use flott_types::{ChangelogBatch, Schema};
use jiff::tz::TimeZone;

use super::definition::roles;
use super::{ConnectorError, OptionDef, Options};

/// A format of whole files: its options and how its files are read and written. A format for records may
/// have the same name (`avro`); files are of the format of files then.
pub struct FileFormatDef {
    /// The identifier, as in `'format' = 'parquet'`; also the prefix of its options.
    pub name: &'static str,
    /// One line for the reference page.
    pub help: &'static str,
    /// Its options, without the prefix.
    pub options: &'static [OptionDef],
    /// Checks options and types, then makes what reads files; `None` when the format cannot be read.
    pub reader: Option<FileReaderFactory>,
    /// Checks options and types, then makes what writes files; `None` when the format cannot be written.
    pub writer: Option<FileWriterFactory>,
}

impl FileFormatDef {
    /// What tables of the format are good for.
    pub fn roles(&self) -> &'static str {
        roles(self.reader.is_some(), self.writer.is_some())
    }
}

/// Makes what reads files.
pub type FileReaderFactory =
    fn(&FileFormatContext) -> Result<Box<dyn FileFormatReader>, ConnectorError>;
/// Makes what writes files.
pub type FileWriterFactory =
    fn(&FileFormatContext) -> Result<Box<dyn FileFormatWriter>, ConnectorError>;

/// What readers and writers of files are made of.
#[derive(Clone)]
pub struct FileFormatContext {
    /// All columns that files have according to the table, in its order.
    pub schema: Schema,
    /// The positions in `schema` of the wanted columns, in the order of the output; a writer gets all.
    pub projection: Vec<usize>,
    /// The format's options, without its prefix, already validated.
    pub options: Options,
    /// The session's time zone.
    pub zone: TimeZone,
}

/// Reads the files of a table.
pub trait FileFormatReader: Send {
    /// Begins to read a part of a file. The error does not name the file: the caller does.
    fn open(&self, part: FilePart) -> Result<Box<dyn FileRows>, ConnectorError>;
}

/// A part of a file that one task reads.
#[derive(Debug)]
pub struct FilePart {
    /// The file.
    pub file: File,
    /// Its size.
    pub size: u64,
    /// The range of bytes whose rows are wanted: those of blocks whose middle is in it. `None`: all.
    pub range: Option<(u64, u64)>,
    /// Where to go on: what [`FileRows::position`] gave for a part of the same range.
    pub position: Option<u64>,
    /// The most rows a batch may have.
    pub max_rows: usize,
}

/// The rows of a part of a file.
pub trait FileRows: Send {
    /// The next rows, of the wanted columns; `None` at the end.
    fn next(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError>;

    /// Where the row after the last batch is: opened with it, the same part goes on there.
    fn position(&self) -> u64;

    /// About how many bytes of the file were read so far.
    fn bytes(&self) -> u64;
}

/// Writes the files of a table.
pub trait FileFormatWriter: Send {
    /// Begins a file.
    fn create(&self, file: Box<dyn Write + Send>) -> Result<Box<dyn FileEncoder>, ConnectorError>;
}

/// A file that rows are written into.
pub trait FileEncoder: Send {
    /// Appends rows.
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError>;

    /// How many bytes the file has.
    fn bytes(&self) -> u64;

    /// About how many bytes of memory hold rows that are not in the file yet.
    fn buffered(&self) -> usize;

    /// Writes what is buffered.
    fn flush(&mut self) -> Result<(), ConnectorError>;

    /// Writes the rest, and returns how many bytes the file has.
    fn finish(self: Box<Self>) -> Result<u64, ConnectorError>;
}
