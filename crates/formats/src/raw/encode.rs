//! The encoder of `raw`.

use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, RecordBuffer};
use flott_types::{ChangelogBatch, DataType};

use super::charset::Charset;
use super::{is_big_endian, single_type};
use crate::cells::Cells;

/// Makes the encoder of `raw`.
pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    Ok(Box::new(RawEncoder {
        data_type: single_type(&context.schema)?.clone(),
        charset: Charset::of(&context.options)?,
        big_endian: is_big_endian(&context.options),
    }))
}

struct RawEncoder {
    data_type: DataType,
    charset: Charset,
    big_endian: bool,
}

impl Encoder for RawEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        let cells = Cells::new(batch.column(0), &self.data_type)?;
        for row in 0..batch.len() {
            if !cells.is_null(row) {
                self.value(&mut out.bytes, &cells, row);
            }
            out.end_record();
        }
        Ok(())
    }
}

impl RawEncoder {
    fn value(&self, out: &mut Vec<u8>, cells: &Cells<'_>, row: usize) {
        match cells {
            Cells::Text(array) => self.charset.encode(array.value(row), out),
            Cells::Binary(array) => out.extend_from_slice(array.value(row)),
            Cells::Boolean(array) => out.push(array.value(row).into()),
            Cells::TinyInt(array) => self.number(out, array.value(row).to_be_bytes()),
            Cells::SmallInt(array) => self.number(out, array.value(row).to_be_bytes()),
            Cells::Int(array) => self.number(out, array.value(row).to_be_bytes()),
            Cells::BigInt(array) => self.number(out, array.value(row).to_be_bytes()),
            Cells::Float(array) => self.number(out, array.value(row).to_be_bytes()),
            Cells::Double(array) => self.number(out, array.value(row).to_be_bytes()),
            // Other types are refused when the encoder is made.
            _ => {}
        }
    }

    fn number<const N: usize>(&self, out: &mut Vec<u8>, mut bytes: [u8; N]) {
        if !self.big_endian {
            bytes.reverse();
        }
        out.extend_from_slice(&bytes);
    }
}
