//! The encoder of `json`, and rows as JSON objects for the change-log formats.

use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, RecordBuffer};
use flott_types::variant::write_variant;
use flott_types::{ChangelogBatch, Schema};

use super::compact::write_text;
use super::options::{
    ENCODE_DECIMAL_AS_PLAIN_NUMBER, ENCODE_IGNORE_NULL_FIELDS, NullKeys, TimestampFormat,
};
use super::shape::{Fields, Parts, Shape};
use crate::cells::{Cells, write_integer, write_time, write_timestamp};
use crate::error::FormatError;
use crate::text;

/// Makes the encoder of `json`.
pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    Ok(Box::new(JsonEncoder { rows: RowEncoder::new(context, "json")? }))
}

struct JsonEncoder {
    rows: RowEncoder,
}

impl Encoder for JsonEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        let columns = self.rows.columns(batch)?;
        for row in 0..batch.len() {
            self.rows.write(&mut out.bytes, &columns, row)?;
            out.end_record();
        }
        Ok(())
    }
}

/// Writes rows as JSON objects.
pub(crate) struct RowEncoder {
    schema: Schema,
    fields: Fields,
    pub(crate) style: Style,
}

/// How values are written.
pub(crate) struct Style {
    timestamps: TimestampFormat,
    null_keys: NullKeys,
    plain_decimals: bool,
    /// Whether NULL fields are left out.
    pub(crate) skip_nulls: bool,
}

impl RowEncoder {
    pub(crate) fn new(
        context: &EncodeContext,
        format: &'static str,
    ) -> Result<Self, ConnectorError> {
        let options = &context.options;
        Ok(Self {
            fields: Fields::of_schema(&context.schema, format)?,
            schema: context.schema.clone(),
            style: Style {
                timestamps: TimestampFormat::of(options)?,
                null_keys: NullKeys::of(options),
                plain_decimals: options.bool(&ENCODE_DECIMAL_AS_PLAIN_NUMBER)?,
                skip_nulls: options.bool(&ENCODE_IGNORE_NULL_FIELDS)?,
            },
        })
    }

    /// The typed columns of a batch.
    pub(crate) fn columns<'a>(
        &self,
        batch: &'a ChangelogBatch,
    ) -> Result<Vec<Cells<'a>>, FormatError> {
        self.schema
            .fields
            .iter()
            .enumerate()
            .map(|(at, field)| Cells::new(batch.column(at), &field.data_type))
            .collect()
    }

    /// Appends the object of a row.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        columns: &[Cells<'_>],
        row: usize,
    ) -> Result<(), FormatError> {
        self.style.object(out, &self.fields, columns, row)
    }
}

impl Style {
    fn object(
        &self,
        out: &mut Vec<u8>,
        fields: &Fields,
        columns: &[Cells<'_>],
        row: usize,
    ) -> Result<(), FormatError> {
        out.push(b'{');
        let start = out.len();
        for (at, cells) in columns.iter().enumerate() {
            let Some(field) = fields.get(at) else { continue };
            if self.skip_nulls && cells.is_null(row) {
                continue;
            }
            if out.len() > start {
                out.push(b',');
            }
            out.extend_from_slice(&field.written_key);
            self.value(out, &field.shape, cells, row).map_err(|error| match error {
                FormatError::NullKey(inner) if inner.is_empty() => {
                    FormatError::NullKey(field.name.to_string())
                }
                FormatError::NullKey(inner) => {
                    FormatError::NullKey(format!("{}.{inner}", field.name))
                }
                other => other,
            })?;
        }
        out.push(b'}');
        Ok(())
    }

    fn value(
        &self,
        out: &mut Vec<u8>,
        shape: &Shape,
        cells: &Cells<'_>,
        row: usize,
    ) -> Result<(), FormatError> {
        if cells.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        match cells {
            Cells::Null => out.extend_from_slice(b"null"),
            Cells::Boolean(array) => {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
            }
            Cells::TinyInt(array) => write_integer(out, array.value(row)),
            Cells::SmallInt(array) => write_integer(out, array.value(row)),
            Cells::Int(array) => write_integer(out, array.value(row)),
            Cells::BigInt(array) => write_integer(out, array.value(row)),
            Cells::Months(array) => write_integer(out, array.value(row)),
            Cells::Millis(array) => write_integer(out, array.value(row)),
            Cells::Float(array) => {
                let value = array.value(row);
                quoted_unless(out, value.is_finite(), |out| text::write_float(out, value));
            }
            Cells::Double(array) => {
                let value = array.value(row);
                quoted_unless(out, value.is_finite(), |out| text::write_double(out, value));
            }
            Cells::Decimal(array, scale) => {
                text::write_decimal(out, array.value(row), *scale, self.plain_decimals);
            }
            Cells::Text(array) => write_text(out, array.value(row).as_bytes()),
            Cells::Binary(array) if matches!(shape.parts, Parts::Variant) => {
                let mut text = String::new();
                write_variant(&mut text, array.value(row));
                out.extend_from_slice(text.as_bytes());
            }
            Cells::Binary(array) => {
                quoted_unless(out, false, |out| text::write_base64(out, array.value(row)));
            }
            Cells::Date(array) => {
                quoted_unless(out, false, |out| text::write_date(out, array.value(row).into()));
            }
            Cells::Time(array) => {
                quoted_unless(out, false, |out| write_time(out, array.value(row)))
            }
            Cells::Timestamp { values, zoned } => {
                let separator = match self.timestamps {
                    TimestampFormat::Sql => b' ',
                    TimestampFormat::Iso => b'T',
                };
                let point = values.value(row);
                quoted_unless(out, false, |out| write_timestamp(out, point, separator, *zoned));
            }
            Cells::Array(lists, items) => {
                let Parts::Array(element) = &shape.parts else { return Ok(()) };
                let offsets = lists.value_offsets();
                out.push(b'[');
                for item in offsets[row]..offsets[row + 1] {
                    if item > offsets[row] {
                        out.push(b',');
                    }
                    self.value(out, element, items, item as usize)?;
                }
                out.push(b']');
            }
            Cells::Map(lists, keys, values) => {
                let Parts::Map(value) = &shape.parts else { return Ok(()) };
                let offsets = lists.value_offsets();
                let entries = offsets[row] as usize..offsets[row + 1] as usize;
                self.map(out, value, keys, values, entries)?;
            }
            Cells::Row(_, columns) => {
                let Parts::Row(fields) = &shape.parts else { return Ok(()) };
                self.object(out, fields, columns, row)?;
            }
        }
        Ok(())
    }

    fn map(
        &self,
        out: &mut Vec<u8>,
        shape: &Shape,
        keys: &Cells<'_>,
        values: &Cells<'_>,
        entries: std::ops::Range<usize>,
    ) -> Result<(), FormatError> {
        let Cells::Text(keys) = keys else { return Ok(()) };
        let key = |entry: usize| match (&self.null_keys, arrow::array::Array::is_null(keys, entry))
        {
            (_, false) => Ok(Some(keys.value(entry))),
            (NullKeys::Literal(literal), true) => Ok(Some(literal.as_str())),
            (NullKeys::Drop, true) => Ok(None),
            (NullKeys::Fail, true) => Err(FormatError::NullKey(String::new())),
        };
        out.push(b'{');
        let start = out.len();
        for entry in entries.clone() {
            let Some(text) = key(entry)? else { continue };
            // A literal may meet the same key in the map: it is written once, with the last value.
            let mut last = entry;
            if matches!(self.null_keys, NullKeys::Literal(_)) {
                let same = |other: &usize| matches!(key(*other), Ok(Some(key)) if key == text);
                if (entries.start..entry).any(|other| same(&other)) {
                    continue;
                }
                last = (entry..entries.end).rev().find(same).unwrap_or(entry);
            }
            if out.len() > start {
                out.push(b',');
            }
            write_text(out, text.as_bytes());
            out.push(b':');
            self.value(out, shape, values, last)?;
        }
        out.push(b'}');
        Ok(())
    }
}

#[inline]
fn quoted_unless(out: &mut Vec<u8>, bare: bool, write: impl FnOnce(&mut Vec<u8>)) {
    if bare {
        write(out);
    } else {
        out.push(b'"');
        write(out);
        out.push(b'"');
    }
}
