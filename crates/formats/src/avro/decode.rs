//! Binary records into columns.

use arrow::datatypes::Decimal128Type;

use super::cursor::{Broken, Cursor};
use super::resolve::{RowBranch, RowPlan};
use super::schema::{AvroSchema, NodeId};
use crate::builders::{Bytes, Column, Fault, Lists, Timestamps, Values};

/// What is to be done with a value that was written.
#[derive(Debug)]
pub(super) enum Step {
    /// Nobody wants it.
    Skip(NodeId),
    Null,
    Boolean,
    Int(Unit),
    Long(Unit),
    Float,
    Double,
    /// Bytes or text; decimals get so many more digits after the point.
    Bytes(i32),
    /// So many bytes; the same.
    Fixed(usize, i32),
    /// The texts of the symbols; none where the reader knows neither symbol nor default.
    Enum(Vec<Option<Box<str>>>),
    Array(Box<Step>),
    Map(Box<Step>),
    Record(RecordStep),
    Union(Vec<Step>),
    /// The reader's schema has no place for it.
    Fail(String),
}

/// What is to be done with the fields of a record, in the order of the writer.
#[derive(Debug)]
pub(super) struct RecordStep {
    pub(super) fields: Box<[FieldStep]>,
    pub(super) defaults: Box<[Default]>,
}

#[derive(Debug)]
pub(super) struct FieldStep {
    pub(super) step: Step,
    /// The column that it goes to; any for a step that skips.
    pub(super) column: usize,
}

/// What a field has that the writer does not know.
#[derive(Debug)]
pub(super) struct Default {
    pub(super) bytes: Box<[u8]>,
    pub(super) step: Step,
    pub(super) column: usize,
}

/// What turns a number into the column's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Same,
    Times(i64),
    Over(i64),
}

impl Unit {
    /// From numbers of which so many make up a second to those of a column.
    pub(super) fn to_column(per_second: Option<i64>, column: &Column) -> Self {
        let of_column = match column {
            Column::Time { .. } | Column::Timestamp { values: Timestamps::Millis(_), .. } => 1_000,
            Column::Timestamp { values: Timestamps::Micros(_), .. } => 1_000_000,
            Column::Timestamp { values: Timestamps::Nanos(_), .. } => 1_000_000_000,
            _ => return Self::Same,
        };
        per_second.map_or(Self::Same, |written| Self::between(written, of_column))
    }

    /// From numbers of which so many make up a second to others.
    pub(super) fn between(written: i64, column: i64) -> Self {
        match column {
            column if column > written => Self::Times(column / written),
            column if column < written => Self::Over(written / column),
            _ => Self::Same,
        }
    }

    #[inline]
    fn of(self, number: i64) -> Option<i64> {
        match self {
            Self::Same => Some(number),
            Self::Times(factor) => number.checked_mul(factor),
            Self::Over(divisor) => Some(number.div_euclid(divisor)),
        }
    }
}

impl RowPlan {
    /// Reads a record into the columns; false for null. Where it fails, columns may hold more
    /// than before.
    #[inline]
    pub(crate) fn read(
        &self,
        cursor: &mut Cursor<'_>,
        columns: &mut [Column],
    ) -> Result<bool, Broken> {
        let branch = if self.union { cursor.branch(self.branches.len())? } else { 0 };
        match &self.branches[branch] {
            RowBranch::Null => Ok(false),
            RowBranch::Row(step) => {
                step.run(cursor, columns, &self.writer)?;
                Ok(true)
            }
            RowBranch::Other(why) => Err(cursor.broken(why.as_str())),
        }
    }
}

impl RecordStep {
    fn run(
        &self,
        cursor: &mut Cursor<'_>,
        columns: &mut [Column],
        writer: &AvroSchema,
    ) -> Result<(), Broken> {
        for field in &self.fields {
            match field.step {
                Step::Skip(node) => cursor.skip(writer, node)?,
                ref step => step.run(cursor, &mut columns[field.column], writer)?,
            }
        }
        for default in &self.defaults {
            let mut bytes = Cursor::new(&default.bytes);
            default.step.run(&mut bytes, &mut columns[default.column], writer)?;
        }
        Ok(())
    }
}

impl Step {
    #[inline]
    fn run(
        &self,
        cursor: &mut Cursor<'_>,
        column: &mut Column,
        writer: &AvroSchema,
    ) -> Result<(), Broken> {
        match self {
            Self::Union(branches) => {
                let branch = cursor.branch(branches.len())?;
                branches[branch].value(cursor, column, writer)
            }
            step => step.value(cursor, column, writer),
        }
    }

    fn value(
        &self,
        cursor: &mut Cursor<'_>,
        column: &mut Column,
        writer: &AvroSchema,
    ) -> Result<(), Broken> {
        match self {
            Self::Skip(node) => cursor.skip(writer, *node)?,
            Self::Null => column.push_null(),
            Self::Boolean => {
                let truth = cursor.byte()? == 1;
                match column {
                    Column::Boolean(values) => values.push(truth),
                    _ => return Err(misplaced(cursor)),
                }
            }
            Self::Int(unit) => {
                let number = cursor.int()?;
                push_number(column, number.into(), *unit).map_err(|fault| unfit(cursor, fault))?;
            }
            Self::Long(unit) => {
                let number = cursor.long()?;
                push_number(column, number, *unit).map_err(|fault| unfit(cursor, fault))?;
            }
            Self::Float => {
                let number = cursor.float()?;
                match column {
                    Column::Float(values) => values.push(number),
                    Column::Double(values) => values.push(number.into()),
                    _ => return Err(misplaced(cursor)),
                }
            }
            Self::Double => {
                let number = cursor.double()?;
                match column {
                    Column::Double(values) => values.push(number),
                    _ => return Err(misplaced(cursor)),
                }
            }
            Self::Bytes(shift) => {
                let bytes = cursor.sized()?;
                push_bytes(column, bytes, *shift, cursor)?;
            }
            Self::Fixed(size, shift) => {
                let bytes = cursor.take(*size)?;
                push_bytes(column, bytes, *shift, cursor)?;
            }
            Self::Enum(symbols) => {
                let at = cursor.int()?;
                let symbol = usize::try_from(at).ok().and_then(|at| symbols.get(at));
                match (symbol, column) {
                    (Some(Some(symbol)), Column::Text(values)) => {
                        values.push(symbol.as_bytes()).map_err(|fault| unfit(cursor, fault))?;
                    }
                    (Some(_), Column::Text(_)) => {
                        return Err(cursor.broken("the reader's enum lacks the symbol"));
                    }
                    (None, _) => return Err(cursor.broken(format!("an enum has no symbol {at}"))),
                    _ => return Err(misplaced(cursor)),
                }
            }
            Self::Array(item) => {
                let Column::Array(lists) = column else { return Err(misplaced(cursor)) };
                loop {
                    let count = cursor.block()?;
                    if count == 0 {
                        break;
                    }
                    for _ in 0..count {
                        item.run(cursor, &mut lists.items, writer)?;
                    }
                }
                lists.end_value().map_err(|fault| unfit(cursor, fault))?;
            }
            Self::Map(value) => {
                let Column::Map(lists) = column else { return Err(misplaced(cursor)) };
                map(cursor, lists, value, writer)?;
            }
            Self::Record(step) => {
                let Column::Row(structs) = column else { return Err(misplaced(cursor)) };
                step.run(cursor, &mut structs.columns, writer)?;
                structs.end_value();
            }
            Self::Union(_) => return self.run(cursor, column, writer),
            Self::Fail(why) => return Err(cursor.broken(why.as_str())),
        }
        Ok(())
    }
}

fn map(
    cursor: &mut Cursor<'_>,
    lists: &mut Lists,
    value: &Step,
    writer: &AvroSchema,
) -> Result<(), Broken> {
    loop {
        let count = cursor.block()?;
        if count == 0 {
            break;
        }
        for _ in 0..count {
            let others = lists.open_items();
            let Column::Row(entries) = &mut *lists.items else { return Err(misplaced(cursor)) };
            let [keys, values] = &mut entries.columns[..] else { return Err(misplaced(cursor)) };
            let Column::Text(keys) = keys else { return Err(misplaced(cursor)) };
            push_text(keys, cursor.sized()?).map_err(|fault| unfit(cursor, fault))?;
            if keys.last_repeats(others) {
                return Err(cursor.broken("a map has the same key twice"));
            }
            value.run(cursor, values, writer)?;
            entries.end_value();
        }
    }
    lists.end_value().map_err(|fault| unfit(cursor, fault))
}

#[inline]
pub(super) fn push_number(column: &mut Column, number: i64, unit: Unit) -> Result<(), Fault> {
    match column {
        Column::BigInt(values) => values.push(number),
        Column::Int(values) => values.push(number as i32),
        // Flink cuts off what is too large.
        Column::SmallInt(values) => values.push(number as i16),
        Column::TinyInt(values) => values.push(number as i8),
        Column::Date(values) => values.push(number as i32),
        Column::Float(values) => values.push(number as f32),
        Column::Double(values) => values.push(number as f64),
        Column::Time { values, .. } => {
            let number = unit.of(number).and_then(|number| i32::try_from(number).ok());
            values.push(number.ok_or(Fault::Range)?);
        }
        Column::Timestamp { values, .. } => match values {
            Timestamps::Millis(values) => values.push(unit.of(number).ok_or(Fault::Range)?),
            Timestamps::Micros(values) => values.push(unit.of(number).ok_or(Fault::Range)?),
            Timestamps::Nanos(values) => values.push(match unit {
                Unit::Times(factor) => i128::from(number) * i128::from(factor),
                _ => i128::from(number),
            }),
        },
        _ => return Err(Fault::Form),
    }
    Ok(())
}

#[inline]
fn push_bytes(
    column: &mut Column,
    bytes: &[u8],
    shift: i32,
    cursor: &Cursor<'_>,
) -> Result<(), Broken> {
    match column {
        Column::Text(values) => push_text(values, bytes),
        Column::Binary(values) => values.push(bytes),
        Column::Decimal { values, precision, .. } => {
            return match push_decimal(values, bytes, *precision, shift) {
                true => Ok(()),
                false => Err(cursor.broken("a decimal has no bytes")),
            };
        }
        _ => Err(Fault::Form),
    }
    .map_err(|fault| unfit(cursor, fault))
}

/// Adds a decimal, NULL where it has too many digits, as in Flink; false when it has no bytes.
#[inline]
pub(super) fn push_decimal(
    values: &mut Values<Decimal128Type>,
    bytes: &[u8],
    precision: u8,
    shift: i32,
) -> bool {
    match decimal(bytes, shift).filter(|value| digits_fit(*value, precision)) {
        Some(value) => values.push(value),
        None => values.push_null(),
    }
    !bytes.is_empty()
}

/// Adds text; what is no UTF-8 is replaced, as in Java.
#[inline]
fn push_text(values: &mut Bytes, text: &[u8]) -> Result<(), Fault> {
    match simdutf8::basic::from_utf8(text) {
        Ok(_) => values.push(text),
        Err(_) => values.push(String::from_utf8_lossy(text).as_bytes()),
    }
}

/// The number in two's complement, the most significant byte first, with its scale changed by
/// `shift` digits; `None` when it has too many digits for any decimal.
fn decimal(bytes: &[u8], shift: i32) -> Option<i128> {
    let negative = bytes.first()? & 0x80 != 0;
    let sign = if negative { 0xff } else { 0 };
    let (extra, rest) = bytes.split_at(bytes.len().saturating_sub(16));
    let mut wide = [sign; 16];
    wide[16 - rest.len()..].copy_from_slice(rest);
    let value = i128::from_be_bytes(wide);
    if extra.iter().any(|byte| *byte != sign) || (value < 0) != negative {
        return None;
    }
    let factor = || 10i128.checked_pow(shift.unsigned_abs());
    match shift {
        0 => Some(value),
        1.. => value.checked_mul(factor()?),
        // Half away from zero.
        _ => Some(match factor() {
            Some(factor) => {
                let (whole, rest) = (value / factor, value % factor);
                whole + if rest.abs() >= factor / 2 { value.signum() } else { 0 }
            }
            None => 0,
        }),
    }
}

#[inline]
fn digits_fit(value: i128, precision: u8) -> bool {
    LIMITS.get(usize::from(precision)).is_some_and(|limit| value.unsigned_abs() < *limit)
}

/// The powers of ten.
const LIMITS: [u128; 39] = {
    let mut limits = [1; 39];
    let mut at = 1;
    while at < limits.len() {
        limits[at] = limits[at - 1] * 10;
        at += 1;
    }
    limits
};

#[cold]
fn unfit(cursor: &Cursor<'_>, fault: Fault) -> Broken {
    cursor.broken(reason(fault))
}

pub(super) fn reason(fault: Fault) -> &'static str {
    match fault {
        Fault::Form => "the value is not of its column's type",
        Fault::Range => "the value lies outside of its column's range",
        Fault::TooLong => "the batch cannot hold more bytes",
    }
}

#[cold]
fn misplaced(cursor: &Cursor<'_>) -> Broken {
    unfit(cursor, Fault::Form)
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals_are_numbers_in_twos_complement() {
        for (bytes, shift, value) in [
            (&[0x03, 0xe8][..], 0, Some(1000)),
            (&[0xff], 0, Some(-1)),
            (&[0x00, 0xff], 0, Some(255)),
            (&[0x00; 30], 0, Some(0)),
            (&[0xff; 30], 0, Some(-1)),
            (&[0x7f; 17], 0, None),
            (&[0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0, None),
            (&[0x05], 2, Some(500)),
            (&[0x7d], -2, Some(1)),
            (&[0x96, 0x00], -2, Some(-271)),
            (&[0x32], -2, Some(1)),
            (&[0x31], -2, Some(0)),
            (&[0x7f; 16], 1, None),
        ] {
            assert_eq!(decimal(bytes, shift), value, "{bytes:?} by {shift}");
        }
    }
}
