//! What the decoders of all change-log formats share.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder, FormatMetadata,
};
use flott_types::{ChangelogBatch, RowKind, Schema};

use super::envelope::Envelope;
use super::metadata::{Metadata, WantedMetadata};
use crate::builders::Rows;
use crate::error::FormatError;
use crate::json::lexer::Lexer;
use crate::json::options::{IGNORE_PARSE_ERRORS, TimestampFormat};
use crate::json::{Flavor, RowDecoder, Trouble, has_decimal};
use crate::lines::LineDecoder;

/// How a format's messages become rows.
pub(super) trait Protocol: Send {
    /// Adds the rows of a message that is valid UTF-8. Rows that are whole when it fails stay
    /// where errors are ignored, as in Flink.
    fn message(&mut self, message: &[u8], rows: &mut RowWriter) -> Result<(), Trouble>;
}

/// Decodes rows of the table, with their metadata, one after the other.
pub(super) struct RowWriter {
    pub(super) decoder: RowDecoder,
    pub(super) metadata: WantedMetadata,
    pub(super) rows: Rows,
    pub(super) ignore_errors: bool,
    physical: usize,
}

impl RowWriter {
    /// Ends the row whose physical columns are set, with the metadata of its message.
    pub(super) fn end_row<'e>(
        &mut self,
        message: &[u8],
        kind: RowKind,
        locate: impl Fn(usize, &Metadata) -> (&'e Envelope, usize),
    ) -> Result<(), Trouble> {
        let targets = &mut self.rows.columns[self.physical..];
        if let Err(trouble) = self.metadata.push(message, targets, locate) {
            self.rows.truncate(self.rows.len());
            return Err(trouble);
        }
        self.rows.end_row_as(kind);
        Ok(())
    }

    /// Decodes the object at `start` into the physical columns.
    pub(super) fn object(&mut self, message: &[u8], start: usize) -> Result<(), Trouble> {
        let row = self.rows.len();
        let columns = &mut self.rows.columns[..self.physical];
        self.decoder.object(&mut Lexer { bytes: message, at: start }, columns, row)
    }

    /// Checks an object that gives no row: its values must fit nevertheless.
    pub(super) fn check_unused(
        &mut self,
        message: &[u8],
        start: Option<usize>,
    ) -> Result<(), Trouble> {
        if let Some(start) = start.filter(|_| !self.ignore_errors) {
            self.object(message, start)?;
            self.rows.truncate(self.rows.len());
        }
        Ok(())
    }
}

/// An object where a row is expected. What is none counts as missing where errors are ignored.
pub(super) fn image(
    message: &[u8],
    start: Option<usize>,
    ignore_errors: bool,
) -> Result<Option<usize>, Trouble> {
    match start {
        Some(at) if message[at] != b'{' => {
            if ignore_errors {
                Ok(None)
            } else {
                Err(Trouble::shape(message[at], "an object"))
            }
        }
        start => Ok(start),
    }
}

/// Goes into an array of a single object, which counts as that object.
pub(super) fn enter_single(lexer: &mut Lexer<'_>) -> Result<(), Trouble> {
    if lexer.peek() != b'[' {
        return Ok(());
    }
    let array = *lexer;
    let mut starts = Vec::new();
    Lexer::skip_value(lexer)?;
    let mut inner = array;
    inner.eat(b'[');
    while !inner.eat(b']') {
        inner.eat(b',');
        inner.peek();
        starts.push(inner.at);
        inner.skip_value()?;
    }
    starts.retain(|start| array.bytes[*start] != b'n');
    match starts.as_slice() {
        [single] => {
            lexer.at = *single;
            Ok(())
        }
        _ => Err(Trouble::shape(b'[', "an object")),
    }
}

/// A message that is JSON but not what its format says.
pub(super) fn corrupt(format: &'static str, what: impl Into<String>) -> Trouble {
    Trouble::Value(Box::new(FormatError::Message { format, what: what.into() }))
}

/// Makes the decoder of a change-log format.
pub(super) fn decoder(
    context: &DecodeContext,
    format: &'static str,
    known: &[Metadata],
    offered: &[FormatMetadata],
    protocol: impl FnOnce(&RowWriter) -> Result<Box<dyn Protocol>, ConnectorError>,
) -> Result<Box<dyn Decoder>, ConnectorError> {
    RowDecoder::check_types(&context.schema, format)?;
    let physical = crate::projected(context);
    let flavor = Flavor {
        tree: true,
        decimals: physical.fields.iter().any(|field| has_decimal(&field.data_type)),
        ignore_errors: context.options.bool(&IGNORE_PARSE_ERRORS)?,
        fail_on_missing_field: false,
        timestamps: TimestampFormat::of(&context.options)?,
    };
    let metadata = WantedMetadata::new(format, known, offered, &context.metadata, flavor)?;
    let fields = physical.fields.iter().cloned().chain(metadata.fields()).collect();
    let writer = RowWriter {
        decoder: RowDecoder::new(&physical, format, flavor)?,
        metadata,
        rows: Rows::new(&Schema::new(fields)),
        ignore_errors: flavor.ignore_errors,
        physical: physical.len(),
    };
    Ok(Box::new(ChangelogDecoder {
        protocol: protocol(&writer)?,
        writer,
        bad_records: context.bad_records.clone(),
    }))
}

struct ChangelogDecoder {
    protocol: Box<dyn Protocol>,
    writer: RowWriter,
    bad_records: Arc<dyn BadRecordHandler>,
}

impl LineDecoder for ChangelogDecoder {
    fn decode_record(
        &mut self,
        record: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        // A tombstone, or an empty line.
        if record.is_empty() {
            return Ok(());
        }
        let before = self.writer.rows.len();
        let error = match std::str::from_utf8(record) {
            Ok(_) => match self.protocol.message(record, &mut self.writer) {
                Ok(()) => return Ok(()),
                Err(trouble) => trouble.into_error(),
            },
            Err(_) => FormatError::Utf8,
        };
        if self.writer.ignore_errors {
            self.writer.rows.truncate(self.writer.rows.len());
            return Ok(());
        }
        self.writer.rows.truncate(before);
        self.bad_records.handle(BadRecord { raw: record, place: place(), error: error.into() })
    }

    fn rows(&self) -> usize {
        self.writer.rows.len()
    }
}

impl Decoder for ChangelogDecoder {
    fn decode_stream(
        &mut self,
        bytes: &[u8],
        last: bool,
        max_rows: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        self.decode_lines(bytes, last, max_rows, place)
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        self.decode_record(message, place)
    }

    fn rows(&self) -> usize {
        self.writer.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.writer.rows.take()
    }
}
