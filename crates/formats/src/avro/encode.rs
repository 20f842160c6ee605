//! Rows as Avro records.

use arrow::array::Array;
use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, RecordBuffer};
use flott_types::{ChangelogBatch, Schema};

use super::defaults::{write_bytes, write_long};
use super::derive::derive;
use super::schema::AvroSchema;
use super::shape::{Kind, Shape};
use super::text::write_json;
use super::{is_json, timestamps};
use crate::cells::{Cells, Instants};
use crate::error::FormatError;

/// Makes the encoder of `avro`.
pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    let text = derive(&context.schema, timestamps(&context.options)?)?;
    Ok(Box::new(AvroEncoder {
        rows: RowWriter::new(&AvroSchema::parse(&text)?, &context.schema)?,
        json: is_json(&context.options)?,
    }))
}

struct AvroEncoder {
    rows: RowWriter,
    json: bool,
}

impl Encoder for AvroEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        if out.is_delimited() {
            return Err(FormatError::NoStream("avro").into());
        }
        let columns = self.rows.columns(batch)?;
        for row in 0..batch.len() {
            if self.json {
                self.rows.write_json(&mut out.bytes, &columns, row)?;
            } else {
                self.rows.write(&mut out.bytes, &columns, row)?;
            }
            out.end_record();
        }
        Ok(())
    }
}

/// Writes rows as records of a schema.
pub(crate) struct RowWriter {
    schema: Schema,
    shape: Shape,
}

impl RowWriter {
    /// Fails where the schema's root is no record of the table's columns.
    pub(crate) fn new(schema: &AvroSchema, table: &Schema) -> Result<Self, FormatError> {
        Ok(Self { shape: Shape::of_table(schema, table)?, schema: table.clone() })
    }

    /// Writes rows of a table's columns, which may stand in a union with null.
    pub(super) fn of_shape(shape: Shape, table: &Schema) -> Self {
        Self { shape, schema: table.clone() }
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

    /// Appends a record.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        columns: &[Cells<'_>],
        row: usize,
    ) -> Result<(), FormatError> {
        let Kind::Record(fields) = &self.shape.kind else { return Ok(()) };
        if let Some(branches) = self.shape.branches {
            write_long(out, branches.value.into());
        }
        write_fields(out, fields, columns, row)
    }

    /// Appends null where a record could stand.
    pub(super) fn write_null(&self, out: &mut Vec<u8>) {
        if let Some(branches) = self.shape.branches {
            write_long(out, branches.null.into());
        }
    }

    fn write_json(
        &self,
        out: &mut Vec<u8>,
        columns: &[Cells<'_>],
        row: usize,
    ) -> Result<(), FormatError> {
        let Kind::Record(fields) = &self.shape.kind else { return Ok(()) };
        write_json(out, fields, columns, row)
    }
}

fn write_fields(
    out: &mut Vec<u8>,
    fields: &[(Box<str>, Shape)],
    columns: &[Cells<'_>],
    row: usize,
) -> Result<(), FormatError> {
    for ((name, shape), cells) in fields.iter().zip(columns) {
        write_value(out, shape, cells, row).map_err(|error| error.in_column(name))?;
    }
    Ok(())
}

fn write_value(
    out: &mut Vec<u8>,
    shape: &Shape,
    cells: &Cells<'_>,
    row: usize,
) -> Result<(), FormatError> {
    let null = cells.is_null(row);
    match shape.branches {
        Some(branches) if null => {
            write_long(out, branches.null.into());
            return Ok(());
        }
        Some(branches) => write_long(out, branches.value.into()),
        None if null && !matches!(shape.kind, Kind::Null) => {
            return Err(FormatError::AvroNull(String::new()));
        }
        None => {}
    }
    match (&shape.kind, cells) {
        (Kind::Null, _) => {}
        (Kind::Boolean, Cells::Boolean(array)) => out.push(array.value(row).into()),
        (Kind::Int | Kind::Long(_), cells) => {
            write_long(out, number(cells, row, &shape.kind).ok_or_else(misfit)?);
        }
        (Kind::Float, Cells::Float(array)) => {
            out.extend_from_slice(&float_bits(array.value(row)).to_le_bytes());
        }
        (Kind::Double, Cells::Double(array)) => {
            out.extend_from_slice(&double_bits(array.value(row)).to_le_bytes());
        }
        (Kind::String, Cells::Text(array)) => write_bytes(out, array.value(row).as_bytes()),
        (Kind::Enum(symbols), Cells::Text(array)) => {
            write_long(out, symbol(symbols, array.value(row))? as i64);
        }
        (Kind::Bytes, Cells::Binary(array)) => write_bytes(out, array.value(row)),
        (Kind::Fixed(size), Cells::Binary(array)) => {
            out.extend_from_slice(fixed(*size, array.value(row))?);
        }
        (Kind::Decimal(size), Cells::Decimal(array, _)) => {
            let wide = array.value(row).to_be_bytes();
            match size {
                None => write_bytes(out, shortest(&wide)),
                Some(size) => write_fixed_decimal(out, *size, &wide)?,
            }
        }
        (Kind::Array(item), Cells::Array(lists, items)) => {
            let offsets = lists.value_offsets();
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            if !range.is_empty() {
                write_long(out, range.len() as i64);
            }
            for at in range {
                write_value(out, item, items, at)?;
            }
            out.push(0);
        }
        (Kind::Map(value), Cells::Map(lists, keys, values)) => {
            let Cells::Text(keys) = &**keys else { return Err(misfit()) };
            let offsets = lists.value_offsets();
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            if !range.is_empty() {
                write_long(out, range.len() as i64);
            }
            for at in range {
                if keys.is_null(at) {
                    return Err(null_key());
                }
                write_bytes(out, keys.value(at).as_bytes());
                write_value(out, value, values, at)?;
            }
            out.push(0);
        }
        (Kind::Record(fields), Cells::Row(_, columns)) => {
            write_fields(out, fields, columns, row)?;
        }
        _ => return Err(misfit()),
    }
    Ok(())
}

/// A number, date, time or timestamp as it is written; `None` where there is none or the unit is too
/// small for the time.
pub(super) fn number(cells: &Cells<'_>, row: usize, kind: &Kind) -> Option<i64> {
    let per_second = if let Kind::Long(Some(per_second)) = kind { *per_second } else { 1_000 };
    Some(match cells {
        Cells::TinyInt(array) => array.value(row).into(),
        Cells::SmallInt(array) => array.value(row).into(),
        Cells::Int(array) => array.value(row).into(),
        Cells::BigInt(array) => array.value(row),
        Cells::Date(array) => array.value(row).into(),
        Cells::Time(array) => i64::from(array.value(row)) * (per_second / 1_000),
        Cells::Timestamp { values: Instants::Millis(array), .. } if per_second == 1_000 => {
            array.value(row)
        }
        Cells::Timestamp { values: Instants::Micros(array), .. } if per_second == 1_000_000 => {
            array.value(row)
        }
        Cells::Timestamp { values, .. } => {
            let point = values.value(row);
            let nanos = i128::from(point.days) * 86_400_000_000_000 + i128::from(point.nanos);
            let step = 1_000_000_000 / i128::from(per_second);
            i64::try_from(nanos.div_euclid(step)).ok()?
        }
        _ => return None,
    })
}

/// All NaN are written alike, as in Java.
fn float_bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

fn double_bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

/// Two's complement without bytes that only repeat the sign.
pub(super) fn shortest(wide: &[u8; 16]) -> &[u8] {
    let sign = if wide[0] & 0x80 != 0 { 0xff } else { 0 };
    let mut start = 0;
    while start < 15 && wide[start] == sign && (wide[start + 1] ^ sign) & 0x80 == 0 {
        start += 1;
    }
    &wide[start..]
}

pub(super) fn write_fixed_decimal(
    out: &mut Vec<u8>,
    size: usize,
    wide: &[u8; 16],
) -> Result<(), FormatError> {
    let bytes = shortest(wide);
    let sign = if wide[0] & 0x80 != 0 { 0xff } else { 0 };
    let Some(more) = size.checked_sub(bytes.len()) else {
        return Err(invalid(format!("it needs {} bytes, but has {size}", bytes.len())));
    };
    out.resize(out.len() + more, sign);
    out.extend_from_slice(bytes);
    Ok(())
}

pub(super) fn symbol(symbols: &[Box<str>], text: &str) -> Result<usize, FormatError> {
    let at = symbols.iter().position(|symbol| **symbol == *text);
    at.ok_or_else(|| invalid(format!("the enum has no symbol '{text}'")))
}

pub(super) fn fixed(size: usize, bytes: &[u8]) -> Result<&[u8], FormatError> {
    match bytes.len() == size {
        true => Ok(bytes),
        false => Err(invalid(format!("it has {} bytes, not {size}", bytes.len()))),
    }
}

pub(super) fn null_key() -> FormatError {
    invalid("a map has a NULL key")
}

pub(super) fn misfit() -> FormatError {
    invalid("its type has no place for it")
}

fn invalid(what: impl Into<String>) -> FormatError {
    FormatError::AvroValue { column: String::new(), what: what.into() }
}

impl FormatError {
    /// The same error, known to be inside of a column or field.
    pub(super) fn in_column(mut self, name: &str) -> Self {
        if let Self::AvroNull(column) | Self::AvroValue { column, .. } = &mut self {
            *column = if column.is_empty() { name.to_string() } else { format!("{name}.{column}") };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn decimals_take_as_few_bytes_as_they_can() {
        for (value, bytes) in [
            (0i128, &[0u8][..]),
            (127, &[0x7f]),
            (128, &[0, 0x80]),
            (-1, &[0xff]),
            (-128, &[0x80]),
            (-129, &[0xff, 0x7f]),
            (i128::MAX, &i128::MAX.to_be_bytes()),
        ] {
            assert_eq!(shortest(&value.to_be_bytes()), bytes, "{value}");
        }
    }
}
