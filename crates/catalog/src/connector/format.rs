//! Formats: bytes to batches and back.

use std::sync::Arc;

use flott_types::{ChangelogBatch, Schema};
use jiff::tz::TimeZone;

use super::{ConnectorError, Options};

/// What a decoder is made of.
pub struct DecodeContext {
    /// All physical columns of the records, in the order of the table (CSV goes by position).
    pub schema: Schema,
    /// The positions in `schema` of the wanted columns, in the order of the output; a column that
    /// is not wanted is not converted.
    pub projection: Vec<usize>,
    /// The positions in `schema` of the primary key's columns; empty without a key.
    pub key: Vec<usize>,
    /// Metadata keys of the format that are wanted, after the projected columns.
    pub metadata: Vec<String>,
    /// The format's options, without its prefix, already validated.
    pub options: Options,
    /// The session's time zone, for TIMESTAMP_LTZ.
    pub zone: TimeZone,
    /// Told of every record that cannot be decoded.
    pub bad_records: Arc<dyn BadRecordHandler>,
}

/// Turns bytes into batches of the projected columns.
///
/// Rows gather in the decoder until [`take`](Self::take); a caller takes them when there are
/// [`ChangelogBatch::MAX_ROWS`] or when its input pauses.
pub trait Decoder: Send {
    /// Decodes whole records from the start of `bytes`, at most until `max_rows` rows have
    /// gathered, and returns how many bytes it used. With `last`, no more bytes follow and a
    /// record without its delimiter is whole. `place` names where `bytes` start.
    fn decode_stream(
        &mut self,
        bytes: &[u8],
        last: bool,
        max_rows: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError>;

    /// Decodes one message, which is one record for most formats. `place` names the message.
    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError>;

    /// Takes note of a message without a value. Most formats give no row for it.
    fn decode_null(&mut self) -> Result<(), ConnectorError> {
        Ok(())
    }

    /// How many rows have gathered.
    fn rows(&self) -> usize;

    /// The rows gathered since the last call; `None` when there are none.
    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError>;
}

/// A record that could not be decoded.
#[derive(Debug)]
pub struct BadRecord<'a> {
    /// Its bytes.
    pub raw: &'a [u8],
    /// Where it is: file and line, topic and offset.
    pub place: String,
    /// What is wrong with it.
    pub error: ConnectorError,
}

/// What becomes of bad records: fail, skip or dead letter.
pub trait BadRecordHandler: Send + Sync {
    /// Takes notice of a bad record; an error ends the job.
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError>;
}

/// The default: the first bad record ends the job.
pub struct FailOnBadRecord;

impl BadRecordHandler for FailOnBadRecord {
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError> {
        let error = record.error;
        Err(if error.place.is_none() { error.at(record.place) } else { error })
    }
}

/// What an encoder is made of.
#[derive(Clone)]
pub struct EncodeContext {
    /// The columns of the batches to encode.
    pub schema: Schema,
    /// The positions in `schema` of the primary key's columns; empty without a key.
    pub key: Vec<usize>,
    /// The format's options, without its prefix, already validated.
    pub options: Options,
    /// The session's time zone, for TIMESTAMP_LTZ.
    pub zone: TimeZone,
}

/// Turns batches into records.
pub trait Encoder: Send {
    /// Appends one record a row.
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError>;
}

/// Records one after the other, each followed by a delimiter.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    /// The bytes of all records and delimiters.
    pub bytes: Vec<u8>,
    /// Where each record ends, before its delimiter.
    pub ends: Vec<usize>,
    delimiter: &'static [u8],
}

impl RecordBuffer {
    /// A buffer that puts `delimiter` after each record: `b"\n"` for files, nothing for messages.
    pub fn new(delimiter: &'static [u8]) -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), delimiter }
    }

    /// Ends the record that was written into `bytes`.
    pub fn end_record(&mut self) {
        self.ends.push(self.bytes.len());
        self.bytes.extend_from_slice(self.delimiter);
    }

    /// Whether records are delimited, as in files; messages are not.
    pub fn is_delimited(&self) -> bool {
        !self.delimiter.is_empty()
    }

    /// Forgets all records, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The records without their delimiters.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.iter().enumerate().map(|(i, end)| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] + self.delimiter.len() };
            &self.bytes[start..*end]
        })
    }
}
