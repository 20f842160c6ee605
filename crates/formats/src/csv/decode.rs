//! The decoder of `csv`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder,
};
use flott_types::{ChangelogBatch, Schema, TypeRoot};

use super::cell;
use super::check_types;
use super::dialect::Dialect;
use super::reader::{Marks, Next, Reader, Stop, Value, is_blank};
use crate::builders::Rows;
use crate::error::FormatError;
use crate::utf8::Utf8Check;

/// Makes the decoder of `csv`.
pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    check_types(&context.schema)?;
    let schema = crate::projected(context);
    for field in &schema.fields {
        if matches!(field.data_type.root, TypeRoot::Time(4..)) {
            return Err(FormatError::Type {
                format: "csv",
                data_type: field.data_type.summary(),
                column: field.name.to_string(),
            }
            .into());
        }
    }
    let dialect = Dialect::of(&context.options)?;
    let mut targets = vec![None; context.schema.len()];
    for (target, source) in context.projection.iter().enumerate() {
        targets[*source] = Some(target);
    }
    Ok(Box::new(CsvDecoder {
        row_decoder: RowDecoder {
            marks: Marks::new(&dialect),
            dialect,
            targets,
            wanted: schema.len(),
            scratch: Vec::new(),
            schema: schema.clone(),
        },
        rows: Rows::new(&schema),
        bad_records: context.bad_records.clone(),
        started: false,
    }))
}

struct CsvDecoder {
    row_decoder: RowDecoder,
    rows: Rows,
    bad_records: Arc<dyn BadRecordHandler>,
    /// Whether the input's first bytes, which may be a byte order mark, are read.
    started: bool,
}

struct RowDecoder {
    dialect: Dialect,
    marks: Marks,
    /// For each column of the table where its values go, if anywhere.
    targets: Vec<Option<usize>>,
    wanted: usize,
    scratch: Vec<u8>,
    schema: Schema,
}

/// What became of a row.
enum Outcome {
    Row,
    Broken(FormatError),
    /// The bytes end before the row does.
    More,
}

impl RowDecoder {
    /// Decodes the row at `at`, which moves past it. What is broken about a row does not keep the
    /// reader from finding its end, except that more bytes may be needed for that.
    #[inline]
    fn row(&mut self, bytes: &[u8], at: &mut usize, last: bool, rows: &mut Rows) -> Outcome {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut reader = Reader::new(bytes, *at, last, &self.marks, &mut scratch);
        let outcome = match self.values(&mut reader, rows) {
            Ok(()) => Outcome::Row,
            Err(Stop::More) => Outcome::More,
            Err(Stop::Broken(error)) => Outcome::Broken(error),
        };
        *at = reader.at;
        self.scratch = scratch;
        outcome
    }

    #[inline]
    fn values(&self, reader: &mut Reader<'_>, rows: &mut Rows) -> Result<(), Stop> {
        let row = rows.len();
        let mut unfit = None;
        let mut found = 0;
        loop {
            let value = self.or_skip_row(reader)?;
            if let Some(target) = self.targets[found]
                && unfit.is_none()
            {
                let column = &mut rows.columns[target];
                if cell::push(column, reader.text(value), &self.dialect).is_err() {
                    column.truncate(row);
                    if self.dialect.ignore_errors {
                        column.push_null();
                    } else {
                        unfit = Some(self.unfit(target, reader.text(value)));
                    }
                }
            }
            found += 1;
            if value.next == Next::Row {
                break;
            }
            if found == self.targets.len() {
                self.extra(reader)?;
                break;
            }
        }
        if found < self.targets.len() {
            self.check_length(found)?;
        }
        match unfit {
            Some(error) => Err(Stop::Broken(error)),
            None => Ok(()),
        }
    }

    /// The next value; when it is broken the rest of its row is gone past.
    #[inline]
    fn or_skip_row(&self, reader: &mut Reader<'_>) -> Result<Value, Stop> {
        match reader.value() {
            Ok(value) => Ok(value),
            Err(Stop::More) => Err(Stop::More),
            Err(stop) => {
                reader.skip_row()?;
                Err(stop)
            }
        }
    }

    #[cold]
    fn unfit(&self, target: usize, text: &[u8]) -> FormatError {
        let field = &self.schema.fields[target];
        FormatError::value(text, field.data_type.summary(), field.name.to_string())
    }

    /// Judges what follows the last column.
    #[cold]
    fn extra(&self, reader: &mut Reader<'_>) -> Result<(), Stop> {
        if self.dialect.ignore_extra {
            while self.or_skip_row(reader)?.next == Next::Value {}
            return Ok(());
        }
        let value = self.or_skip_row(reader)?;
        let ends = value.next == Next::Row;
        if ends && self.dialect.allow_trailing && is_blank(reader.text(value)) {
            return Ok(());
        }
        if !ends {
            reader.skip_row()?;
        }
        Err(Stop::Broken(FormatError::TooManyCells(self.targets.len())))
    }

    /// Judges a row with too few values. Flink compares with the columns that are read.
    #[cold]
    fn check_length(&self, found: usize) -> Result<(), Stop> {
        let expected = self.targets.len();
        if self.dialect.fail_on_missing {
            return Err(Stop::Broken(FormatError::MissingCells { found, expected }));
        }
        if found < self.wanted && !self.dialect.ignore_errors {
            return Err(Stop::Broken(FormatError::TooFewCells { found, expected: self.wanted }));
        }
        Ok(())
    }
}

impl CsvDecoder {
    /// Ends a row, or gets rid of it.
    #[inline]
    fn finish(
        &mut self,
        outcome: Outcome,
        raw: &[u8],
        sound: bool,
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        let error = match outcome {
            Outcome::Row if sound => {
                self.rows.end_row();
                return Ok(());
            }
            Outcome::Row => FormatError::Utf8,
            Outcome::Broken(error) => error,
            Outcome::More => FormatError::OpenQuote,
        };
        self.rows.truncate(self.rows.len());
        if self.row_decoder.dialect.ignore_errors {
            return Ok(());
        }
        self.bad_records.handle(BadRecord { raw, place: place(), error: error.into() })
    }
}

impl Decoder for CsvDecoder {
    fn decode_stream(
        &mut self,
        bytes: &[u8],
        last: bool,
        max_rows: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        let mut at = 0;
        if !self.started {
            if bytes.len() < MARK.len() && !last {
                return Ok(0);
            }
            self.started = true;
            at = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        }
        let mut utf8 = Utf8Check::new(bytes, at);
        while self.rows.len() < max_rows {
            if self.row_decoder.dialect.comments {
                let decoder = &mut self.row_decoder;
                let mut reader = Reader::new(bytes, at, last, &decoder.marks, &mut decoder.scratch);
                let skipped = reader.skip_comments();
                at = reader.at;
                if skipped.is_err() {
                    break;
                }
            }
            if at >= bytes.len() {
                break;
            }
            let start = at;
            let outcome = self.row_decoder.row(bytes, &mut at, last, &mut self.rows);
            if matches!(outcome, Outcome::More) {
                self.rows.truncate(self.rows.len());
                at = start;
                break;
            }
            let sound = utf8.sound(start, at);
            self.finish(outcome, &bytes[start..at], sound, &|| place(start))?;
        }
        if last && at >= bytes.len() {
            self.started = false;
        }
        Ok(at)
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        let decoder = &mut self.row_decoder;
        let mut at = if message.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        if decoder.dialect.comments {
            let mut reader = Reader::new(message, at, true, &decoder.marks, &mut decoder.scratch);
            let _ = reader.skip_comments();
            at = reader.at;
        }
        let outcome = if at >= message.len() {
            Outcome::Broken(FormatError::Empty)
        } else {
            decoder.row(message, &mut at, true, &mut self.rows)
        };
        let sound = std::str::from_utf8(message).is_ok();
        self.finish(outcome, message, sound, place)
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.rows.take()
    }
}
