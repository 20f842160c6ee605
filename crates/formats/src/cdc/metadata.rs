//! Metadata columns of change-log formats, taken from the outer object of a message.

use flott_catalog::connector::{ConnectorError, FormatMetadata};
use flott_types::{DataType, Field, Schema};

use super::envelope::{Envelope, text_at};
use crate::builders::{Column, Fault, Values};
use crate::error::FormatError;
use crate::json::lexer::Lexer;
use crate::json::{Flavor, RowDecoder, Trouble};
use crate::text::{self, DateTime};

/// A metadata column: its key and the field of the message that it comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metadata {
    pub(super) key: &'static str,
    /// The field of the message.
    pub(super) field: &'static str,
    /// Whether the field stands beside the payload rather than in it.
    pub(super) outside: bool,
    pub(super) source: Source,
}

/// What becomes of the field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// It is the value.
    AsIs(fn() -> DataType),
    /// It counts milliseconds or, times the factor, seconds since the epoch.
    Instant { factor: i64 },
    /// It is a time as text, in UTC.
    Text(fn(&[u8]) -> Result<Option<DateTime>, Fault>),
    /// The value is one of its entries.
    Entry(&'static str),
    /// One of its entries counts milliseconds since the epoch.
    InstantEntry(&'static str),
}

impl Metadata {
    pub(super) const fn new(key: &'static str, field: &'static str, source: Source) -> Self {
        Self { key, field, outside: false, source }
    }

    /// The type of the column.
    pub(super) fn data_type(&self) -> DataType {
        match self.source {
            Source::AsIs(data_type) => data_type(),
            Source::Instant { .. } | Source::InstantEntry(_) => DataType::timestamp_ltz(3),
            Source::Text(_) => DataType::timestamp_ltz(6),
            Source::Entry(_) => DataType::string(),
        }
    }
}

/// `MAP<STRING, STRING>`
pub(super) fn string_map() -> DataType {
    DataType::map(DataType::string(), DataType::string())
}

/// `MAP<STRING, INT>`
pub(super) fn int_map() -> DataType {
    DataType::map(DataType::string(), DataType::int())
}

/// `ARRAY<STRING>`
pub(super) fn strings() -> DataType {
    DataType::array(DataType::string())
}

/// `TIMESTAMP_LTZ(3)`
pub(super) fn instant() -> DataType {
    DataType::timestamp_ltz(3)
}

/// `TIMESTAMP_LTZ(6)`
pub(super) fn instant_micros() -> DataType {
    DataType::timestamp_ltz(6)
}

/// The metadata columns that a query wants, in its order.
pub(super) struct WantedMetadata {
    pub(super) columns: Vec<Metadata>,
    /// Decodes the fields that are values as they are, and numbers.
    decoder: RowDecoder,
    /// One number and one text, on their way to another form.
    number: Column,
    text: Column,
}

impl WantedMetadata {
    /// Finds the wanted keys among those of the format.
    pub(super) fn new(
        format: &'static str,
        known: &[Metadata],
        offered: &[FormatMetadata],
        wanted: &[String],
        flavor: Flavor,
    ) -> Result<Self, ConnectorError> {
        debug_assert!(known.iter().zip(offered).all(|(a, b)| a.key == b.0));
        let columns = wanted
            .iter()
            .map(|key| match known.iter().find(|column| column.key == key) {
                Some(column) => Ok(*column),
                None => Err(FormatError::Metadata { format, key: key.clone() }),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let fields = columns.iter().map(|column| {
            Field::new(
                column.key,
                match column.source {
                    Source::AsIs(data_type) => data_type(),
                    Source::Instant { .. } => DataType::bigint(),
                    _ => DataType::string(),
                },
            )
        });
        let schema = Schema::new(fields.collect());
        Ok(Self {
            columns,
            decoder: RowDecoder::new(&schema, format, flavor)?,
            number: Column::new(&DataType::bigint()),
            text: Column::new(&DataType::string()),
        })
    }

    /// The columns as fields of the decoder's output.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.columns.iter().map(|column| Field::new(column.key, column.data_type()))
    }

    /// Adds the values of a message to `targets`. The value of column `i` is field `index(i)` of the
    /// envelope that `index` names.
    pub(super) fn push<'e>(
        &mut self,
        bytes: &[u8],
        targets: &mut [Column],
        locate: impl Fn(usize, &Metadata) -> (&'e Envelope, usize),
    ) -> Result<(), Trouble> {
        for (at, target) in targets.iter_mut().enumerate() {
            let (envelope, index) = locate(at, &self.columns[at]);
            match envelope.value(bytes, index) {
                Some(start) => self.push_value(bytes, at, start, target)?,
                None => target.push_null(),
            }
        }
        Ok(())
    }

    fn push_value(
        &mut self,
        bytes: &[u8],
        at: usize,
        start: usize,
        target: &mut Column,
    ) -> Result<(), Trouble> {
        let mut lexer = Lexer { bytes, at: start };
        match (self.columns[at].source, target) {
            (Source::AsIs(_), target) => return self.decoder.field(&mut lexer, at, target),
            (Source::Instant { factor }, Column::Timestamp { values, .. }) => {
                self.number.truncate(0);
                self.decoder.field(&mut lexer, at, &mut self.number)?;
                let number = match &self.number {
                    Column::BigInt(number) => Values::last(number),
                    _ => None,
                };
                match number {
                    Some(number) => values.push_millis(number.wrapping_mul(factor)),
                    None => {
                        values.push_null();
                        Ok(())
                    }
                }
            }
            (Source::Text(parse), Column::Timestamp { values, .. }) => {
                let text = text_at(bytes, start).map_err(|error| Trouble::Value(error.into()))?;
                match parse(text.as_bytes()).map_err(|_| self.unfit(at, &text))? {
                    Some(point) => values.push(point),
                    None => {
                        values.push_null();
                        Ok(())
                    }
                }
            }
            (Source::Entry(name), Column::Text(values)) => {
                match self.entry(bytes, at, start, name)? {
                    Some(text) => values.push(text),
                    None => {
                        values.push_null();
                        Ok(())
                    }
                }
            }
            (Source::InstantEntry(name), Column::Timestamp { values, .. }) => {
                let number = self.entry(bytes, at, start, name)?.map(text::parse_integer);
                match number {
                    Some(Ok(millis)) => values.push_millis(millis),
                    Some(Err(fault)) => Err(fault),
                    None => {
                        values.push_null();
                        Ok(())
                    }
                }
            }
            (_, target) => {
                target.push_null();
                Ok(())
            }
        }
        .map_err(|_| self.unfit(at, &text_at(bytes, start).unwrap_or_default()))
    }

    /// The text of an entry of the object at `start`; `None` when it is missing or `null`, or when
    /// there is no object.
    fn entry(
        &mut self,
        bytes: &[u8],
        at: usize,
        start: usize,
        name: &'static str,
    ) -> Result<Option<&[u8]>, Trouble> {
        if bytes[start] != b'{' {
            return Ok(None);
        }
        let mut envelope = Envelope::new(vec![name]);
        envelope.read(&mut Lexer { bytes, at: start })?;
        let Some(start) = envelope.value(bytes, 0) else { return Ok(None) };
        self.text.truncate(0);
        self.decoder.field(&mut Lexer { bytes, at: start }, at, &mut self.text)?;
        Ok(match &self.text {
            Column::Text(text) => text.last(),
            _ => None,
        })
    }

    fn unfit(&self, at: usize, text: &str) -> Trouble {
        let column = &self.columns[at];
        let error =
            FormatError::value(text.as_bytes(), column.data_type().summary(), column.key.into());
        Trouble::Value(Box::new(error))
    }
}
