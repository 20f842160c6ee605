//! Casts of any type to CHAR and VARCHAR.
//!
//! Texts are written one behind the other into the buffer of the result, so that no row allocates.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, AsArray, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, DurationMillisecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use flott_types::text::{
    write_bitmap, write_date, write_day_time_interval, write_decimal, write_double, write_float,
    write_time, write_timestamp, write_year_month_interval,
};
use flott_types::variant::write_variant;
use flott_types::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

use super::conversion::Conversion;
use crate::zone::Zone;
use crate::{EvalError, SessionSettings};

/// The conversion to a CHAR or VARCHAR: cut to its length, CHAR padded with blanks.
pub(super) fn to_text(from: &DataType, to: &TypeRoot, settings: &SessionSettings) -> Conversion {
    let from = from.clone();
    let zone = Zone::new(settings.zone.clone());
    let fit = Fit::of(&from.root, to);
    Conversion::total(move |array| {
        let write = writer(array, &from, &zone)?;
        let mut text = String::new();
        let mut offsets = Vec::with_capacity(array.len() + 1);
        offsets.push(0);
        let nulls = array.logical_nulls();
        for row in 0..array.len() {
            if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                let start = text.len();
                write(&mut text, row);
                fit.apply(&mut text, start);
            }
            let end = i32::try_from(text.len())
                .map_err(|_| EvalError::Arrow("texts of a batch exceed 2 GiB".into()))?;
            offsets.push(end);
        }
        let offsets = OffsetBuffer::new(offsets.into());
        Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(text.into_bytes()), nulls)?))
    })
}

/// What is done to a text to make it one of the type.
#[derive(Debug, Clone, Copy)]
enum Fit {
    AsIs,
    To { length: usize, pad: bool, unit: Unit },
}

/// What lengths count. Texts that were texts before are measured in code points, all others in the
/// units of Java's strings, since Flink prints into one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    CodePoints,
    Utf16,
}

impl Unit {
    fn of(self, c: char) -> usize {
        if self == Self::Utf16 { c.len_utf16() } else { 1 }
    }
}

impl Fit {
    fn of(from: &TypeRoot, to: &TypeRoot) -> Self {
        let unit = match from {
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Unit::CodePoints,
            _ => Unit::Utf16,
        };
        match to {
            TypeRoot::Char(length) => Self::To { length: *length as usize, pad: true, unit },
            TypeRoot::Varchar(length) if *length < i32::MAX as u32 => {
                Self::To { length: *length as usize, pad: false, unit }
            }
            _ => Self::AsIs,
        }
    }

    /// Fits the end of `text` from `start` on.
    fn apply(self, text: &mut String, start: usize) {
        let Self::To { length, pad, unit } = self else { return };
        if !pad && text.len() - start <= length {
            return;
        }
        let mut left = length;
        let mut end = None;
        for (at, c) in text[start..].char_indices() {
            match left.checked_sub(unit.of(c)) {
                Some(rest) => left = rest,
                None => {
                    end = Some(start + at);
                    break;
                }
            }
        }
        match end {
            Some(end) => {
                text.truncate(end);
                // Half of a surrogate pair, which has no UTF-8.
                text.extend(std::iter::repeat_n('?', left));
            }
            None if pad => text.extend(std::iter::repeat_n(' ', left)),
            None => {}
        }
    }
}

/// Writes the value of a row, which is not NULL.
type WriteRow<'a> = Box<dyn Fn(&mut String, usize) + 'a>;

/// The writer of the rows of an array.
fn writer<'a>(
    array: &'a dyn Array,
    ty: &'a DataType,
    zone: &'a Zone,
) -> Result<WriteRow<'a>, EvalError> {
    use TypeRoot::*;
    Ok(match &ty.root {
        Null | Descriptor => Box::new(|out, _| out.push_str("NULL")),
        Boolean => {
            let values = array.as_boolean();
            Box::new(|out, row| out.push_str(if values.value(row) { "TRUE" } else { "FALSE" }))
        }
        TinyInt => primitive::<Int8Type>(array, |out, value| integer(out, value.into())),
        SmallInt => primitive::<Int16Type>(array, |out, value| integer(out, value.into())),
        Int => primitive::<Int32Type>(array, |out, value| integer(out, value.into())),
        BigInt => primitive::<Int64Type>(array, integer),
        Float => primitive::<Float32Type>(array, write_float),
        Double => primitive::<Float64Type>(array, write_double),
        Decimal { scale, .. } => {
            primitive::<Decimal128Type>(array, |out, value| write_decimal(out, value, *scale))
        }
        Char(_) | Varchar(_) => {
            let values = array.as_string::<i32>();
            Box::new(|out, row| out.push_str(values.value(row)))
        }
        Binary(_) | Varbinary(_) | Raw(_) => {
            let values = array.as_binary::<i32>();
            Box::new(|out, row| write_bytes(out, values.value(row)))
        }
        Bitmap => {
            let values = array.as_binary::<i32>();
            Box::new(|out, row| write_bitmap(out, values.value(row)))
        }
        Variant => {
            let values = array.as_binary::<i32>();
            Box::new(|out, row| write_variant(out, values.value(row)))
        }
        Date => primitive::<Date32Type>(array, write_date),
        Time(precision) => primitive::<Time32MillisecondType>(array, |out, millis| {
            write_time(out, millis, *precision)
        }),
        Timestamp(precision) | TimestampLtz(precision) => {
            let zone = matches!(ty.root, TimestampLtz(_)).then_some(zone);
            timestamp(array, *precision, zone)
        }
        IntervalYearMonth => primitive::<IntervalYearMonthType>(array, write_year_month_interval),
        IntervalDayTime => primitive::<DurationMillisecondType>(array, write_day_time_interval),
        Array(element) => {
            let lists = array.as_list::<i32>();
            let write = nullable_writer(lists.values().as_ref(), element, zone)?;
            Box::new(move |out, row| {
                let (from, to) = range(lists.value_offsets(), row);
                separated(out, ('[', ']'), from..to, &write);
            })
        }
        Map(key, value) => entries(array, key, value, zone)?,
        Multiset(element) => {
            const COUNT: &DataType = &DataType { root: TypeRoot::Int, nullable: false };
            entries(array, element, COUNT, zone)?
        }
        Row(fields) | Structured { fields, .. } => {
            let named = matches!(ty.root, Structured { .. });
            let writers = array
                .as_struct()
                .columns()
                .iter()
                .zip(fields.iter())
                .map(|(column, field)| nullable_writer(column.as_ref(), &field.data_type, zone))
                .collect::<Result<Vec<_>, _>>()?;
            Box::new(move |out, row| {
                separated(out, ('(', ')'), 0..writers.len(), |out, field| {
                    if named {
                        out.push_str(&fields[field].name);
                        out.push('=');
                    }
                    writers[field](out, row);
                });
            })
        }
    })
}

/// A writer that gives `NULL` for NULL.
fn nullable_writer<'a>(
    array: &'a dyn Array,
    ty: &'a DataType,
    zone: &'a Zone,
) -> Result<WriteRow<'a>, EvalError> {
    let write = writer(array, ty, zone)?;
    Ok(Box::new(
        move |out, row| {
            if array.is_null(row) { out.push_str("NULL") } else { write(out, row) }
        },
    ))
}

fn primitive<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    write: impl Fn(&mut String, T::Native) + 'a,
) -> WriteRow<'a> {
    let values = array.as_primitive::<T>().values();
    Box::new(move |out, row| write(out, values[row]))
}

fn integer(out: &mut String, value: i64) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{value}");
}

fn timestamp<'a>(array: &'a dyn Array, precision: u8, zone: Option<&'a Zone>) -> WriteRow<'a> {
    let write = move |out: &mut String, nanos: i128| {
        let local = zone.map_or(0, |zone| zone.offset_at(nanos.div_euclid(1_000_000_000) as i64));
        write_timestamp(out, nanos + i128::from(local) * 1_000_000_000, precision);
    };
    match timestamp_unit(precision) {
        TimestampUnit::Millis => primitive::<TimestampMillisecondType>(array, move |out, step| {
            write(out, i128::from(step) * 1_000_000)
        }),
        TimestampUnit::Micros => primitive::<TimestampMicrosecondType>(array, move |out, step| {
            write(out, i128::from(step) * 1000)
        }),
        TimestampUnit::Nanos => primitive::<Decimal128Type>(array, write),
    }
}

fn entries<'a>(
    array: &'a dyn Array,
    key: &'a DataType,
    value: &'a DataType,
    zone: &'a Zone,
) -> Result<WriteRow<'a>, EvalError> {
    let lists = array.as_list::<i32>();
    let columns = lists.values().as_struct().columns();
    let write_key = nullable_writer(columns[0].as_ref(), key, zone)?;
    let write_value = nullable_writer(columns[1].as_ref(), value, zone)?;
    Ok(Box::new(move |out, row| {
        let (from, to) = range(lists.value_offsets(), row);
        separated(out, ('{', '}'), from..to, |out, entry| {
            write_key(out, entry);
            out.push('=');
            write_value(out, entry);
        });
    }))
}

fn range(offsets: &[i32], row: usize) -> (usize, usize) {
    (offsets[row] as usize, offsets[row + 1] as usize)
}

fn separated(
    out: &mut String,
    (open, close): (char, char),
    items: std::ops::Range<usize>,
    write: impl Fn(&mut String, usize),
) {
    out.push(open);
    let first = items.start;
    for item in items {
        if item > first {
            out.push_str(", ");
        }
        write(out, item);
    }
    out.push(close);
}

/// Writes bytes as UTF-8, with a replacement character for what is none, as Java's `String` does.
fn write_bytes(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
