//! CSV values as values of a column.

use memchr::memmem;

use super::dialect::Dialect;
use crate::builders::{Column, Fault};
use crate::text::{self, TimestampStyle, trim};

/// Adds the value that `text` stands for, which may be NULL.
#[inline]
pub(super) fn push(column: &mut Column, text: &[u8], dialect: &Dialect) -> Result<(), Fault> {
    match column {
        // An ARRAY or ROW is never NULL as a whole: the literal stands for an element then.
        Column::Array(lists) => {
            for element in elements(text, dialect) {
                push_or_ignore(&mut lists.items, element, dialect)?;
            }
            lists.end_value()
        }
        Column::Row(structs) => {
            let (row, fields) = (structs.len(), structs.columns.len());
            let mut found = 0;
            for (column, element) in structs.columns.iter_mut().zip(elements(text, dialect)) {
                column.truncate(row);
                push_or_ignore(column, element, dialect)?;
                found += 1;
            }
            match found {
                0 if fields > 0 => structs.push_null(),
                _ if found < fields && !dialect.ignore_errors => return Err(Fault::Form),
                _ => structs.end_value(),
            }
            Ok(())
        }
        _ if dialect.is_null(text) => {
            column.push_null();
            Ok(())
        }
        _ => push_scalar(column, text),
    }
}

fn push_or_ignore(column: &mut Column, text: &[u8], dialect: &Dialect) -> Result<(), Fault> {
    match push(column, text, dialect) {
        Err(_) if dialect.ignore_errors => {
            column.push_null();
            Ok(())
        }
        result => result,
    }
}

/// The elements of a value; a blank one has none.
fn elements<'a>(text: &'a [u8], dialect: &'a Dialect) -> impl Iterator<Item = &'a [u8]> {
    let separator = &dialect.array_separator;
    let mut rest =
        (memmem::find(text, separator).is_some() || !trim(text).is_empty()).then_some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let element = match memmem::find(text, separator) {
            Some(end) => {
                rest = Some(&text[end + separator.len()..]);
                &text[..end]
            }
            None => {
                rest = None;
                text
            }
        };
        Some(if dialect.trim { trim(element) } else { element })
    })
}

#[inline]
fn push_scalar(column: &mut Column, text: &[u8]) -> Result<(), Fault> {
    match column {
        Column::Text(values) => values.push(text)?,
        Column::BigInt(values) => values.push(text::parse_integer(text)?),
        Column::Int(values) => values.push(narrow(text)?),
        Column::SmallInt(values) => values.push(narrow(text)?),
        Column::TinyInt(values) => values.push(narrow(text)?),
        Column::Timestamp { values, zoned } => {
            let style = if *zoned { TimestampStyle::SqlZoned } else { TimestampStyle::Sql };
            values.push(text::parse_timestamp(trim(text), style)?)?;
        }
        Column::Decimal { values, precision, scale } => {
            match text::parse_decimal(text, *precision, *scale)? {
                Some(unscaled) => values.push(unscaled),
                None => values.push_null(),
            }
        }
        Column::Double(values) => values.push(text::parse_double(text)?),
        Column::Float(values) => values.push(text::parse_float(text)?),
        Column::Boolean(values) => values.push(trim(text).eq_ignore_ascii_case(b"true")),
        Column::Date(values) => values.push(text::parse_lenient_date(text)?),
        Column::Time { values, precision } => {
            let millis = (text::parse_local_time(text)? / 1_000_000) as i32;
            let unit = [1000, 100, 10].get(usize::from(*precision)).copied().unwrap_or(1);
            values.push(millis / unit * unit);
        }
        Column::Binary(values) => {
            text::decode_base64(text, values.open())?;
            values.end_value()?;
        }
        Column::Months(values) => values.push(narrow(text)?),
        Column::Millis(values) => values.push(text::parse_integer(text)?),
        Column::Null(_) | Column::Array(_) | Column::Map(_) | Column::Row(_) => column.push_null(),
    }
    Ok(())
}

#[inline]
fn narrow<T: TryFrom<i64>>(text: &[u8]) -> Result<T, Fault> {
    T::try_from(text::parse_integer(text)?).map_err(|_| Fault::Range)
}
