//! The decoder of `raw`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder,
};
use flott_types::ChangelogBatch;

use super::charset::Charset;
use super::{is_big_endian, single_type};
use crate::builders::{Column, Rows};
use crate::error::FormatError;
use crate::lines::LineDecoder;

/// Makes the decoder of `raw`.
pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    single_type(&context.schema)?;
    Ok(Box::new(RawDecoder {
        charset: Charset::of(&context.options)?,
        big_endian: is_big_endian(&context.options),
        rows: Rows::new(&crate::projected(context)),
        bad_records: context.bad_records.clone(),
    }))
}

struct RawDecoder {
    charset: Charset,
    big_endian: bool,
    rows: Rows,
    bad_records: Arc<dyn BadRecordHandler>,
}

impl RawDecoder {
    fn push(&mut self, record: &[u8]) -> Result<(), FormatError> {
        // Not even the one column may be wanted.
        let Some(column) = self.rows.columns.first_mut() else { return Ok(()) };
        match column {
            Column::Text(values) => {
                self.charset.decode(record, values.open());
                values.end_value().map_err(|_| size("STRING", record, i32::MAX as usize))?;
            }
            Column::Binary(values) => {
                values.push(record).map_err(|_| size("BYTES", record, i32::MAX as usize))?;
            }
            Column::Boolean(values) => values.push(number::<1>(record, "BOOLEAN", true)? != [0]),
            Column::TinyInt(values) => {
                values.push(i8::from_be_bytes(number(record, "TINYINT", true)?));
            }
            Column::SmallInt(values) => {
                values.push(i16::from_be_bytes(number(record, "SMALLINT", self.big_endian)?));
            }
            Column::Int(values) => {
                values.push(i32::from_be_bytes(number(record, "INT", self.big_endian)?));
            }
            Column::BigInt(values) => {
                values.push(i64::from_be_bytes(number(record, "BIGINT", self.big_endian)?));
            }
            Column::Float(values) => {
                values.push(f32::from_be_bytes(number(record, "FLOAT", self.big_endian)?));
            }
            Column::Double(values) => {
                values.push(f64::from_be_bytes(number(record, "DOUBLE", self.big_endian)?));
            }
            other => other.push_null(),
        }
        Ok(())
    }
}

/// The bytes of a number, the most significant one first.
fn number<const N: usize>(
    record: &[u8],
    data_type: &'static str,
    big_endian: bool,
) -> Result<[u8; N], FormatError> {
    let mut bytes = <[u8; N]>::try_from(record).map_err(|_| size(data_type, record, N))?;
    if !big_endian {
        bytes.reverse();
    }
    Ok(bytes)
}

fn size(data_type: &'static str, record: &[u8], expected: usize) -> FormatError {
    FormatError::Size { data_type, found: record.len(), expected }
}

impl LineDecoder for RawDecoder {
    fn decode_record(
        &mut self,
        record: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        match self.push(record) {
            Ok(()) => {
                self.rows.end_row();
                Ok(())
            }
            Err(error) => {
                self.rows.truncate(self.rows.len());
                let error = error.into();
                self.bad_records.handle(BadRecord { raw: record, place: place(), error })
            }
        }
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }
}

impl Decoder for RawDecoder {
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

    /// A message without a value is a NULL.
    fn decode_null(&mut self) -> Result<(), ConnectorError> {
        self.rows.columns.iter_mut().for_each(Column::push_null);
        self.rows.end_row();
        Ok(())
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.rows.take()
    }
}
