//! JSON scalars as values of a column: which kinds of JSON values each type takes, as in Flink.

use super::Flavor;
use super::compact;
use super::lexer::{Lexer, Number, RawString, SyntaxError};
use crate::builders::{Column, Fault};
use crate::text::{self, trim};

/// A JSON value that is no container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar<'a> {
    Text(RawString<'a>),
    Number(Number<'a>),
    /// `true`, `false`, or a bracket where Flink takes one for text.
    Word(&'static [u8]),
}

impl<'a> Scalar<'a> {
    /// Reads a scalar other than `null`, of which `first` is the first byte.
    pub(super) fn read(lexer: &mut Lexer<'a>, first: u8) -> Result<Self, SyntaxError> {
        match first {
            b'"' => lexer.string().map(Self::Text),
            b't' => lexer.word(b"true").map(|()| Self::Word(b"true")),
            b'f' => lexer.word(b"false").map(|()| Self::Word(b"false")),
            b'-' | b'0'..=b'9' => lexer.number().map(Self::Number),
            _ => lexer.error("a value is missing"),
        }
    }

    /// The text of the scalar, written to `scratch` where it is not there as it is.
    pub(super) fn text<'b>(&self, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Self::Text(string) if string.escaped => {
                scratch.clear();
                string.unescape(scratch);
                scratch
            }
            Self::Text(string) => string.raw,
            Self::Number(number) => number.text,
            Self::Word(word) => word,
        }
    }
}

/// Adds a scalar to a column that is no collection and no row.
pub(super) fn push(
    column: &mut Column,
    scalar: Scalar<'_>,
    flavor: Flavor,
    scratch: &mut Vec<u8>,
) -> Result<(), Fault> {
    match column {
        Column::Null(_) => column.push_null(),
        Column::Boolean(values) => {
            values.push(trim(scalar.text(scratch)).eq_ignore_ascii_case(b"true"));
        }
        Column::TinyInt(values) => values.push(narrow(whole(scalar, scratch)?)?),
        Column::SmallInt(values) => values.push(narrow(whole(scalar, scratch)?)?),
        Column::Int(values) => values.push(narrow(integer(scalar, i32::MAX.into(), scratch)?)?),
        Column::Months(values) => values.push(narrow(integer(scalar, i32::MAX.into(), scratch)?)?),
        Column::BigInt(values) => values.push(integer(scalar, i64::MAX, scratch)?),
        Column::Millis(values) => values.push(integer(scalar, i64::MAX, scratch)?),
        Column::Double(values) => {
            values.push(text::parse_double(flavor.signless_zero(scalar.text(scratch)))?);
        }
        Column::Float(values) => values.push(match scalar {
            Scalar::Number(number) if flavor.rounds_floats_twice() && !number.whole => {
                text::parse_double(number.text)? as f32
            }
            _ => text::parse_float(flavor.signless_zero(scalar.text(scratch)))?,
        }),
        Column::Decimal { values, precision, scale } => {
            let digits = scalar.text(scratch);
            let digits = if flavor.tree { digits } else { trim(digits) };
            match text::parse_decimal(digits, *precision, *scale)? {
                Some(unscaled) => values.push(unscaled),
                None => values.push_null(),
            }
        }
        Column::Text(values) => {
            match scalar {
                Scalar::Text(string) => string.unescape(values.open()),
                // The tree has parsed the number and prints it anew.
                Scalar::Number(number) if flavor.tree => {
                    compact::write_number(values.open(), number, flavor.decimals);
                }
                other => values.open().extend_from_slice(other.text(scratch)),
            }
            values.end_value()?;
        }
        Column::Binary(values) => match scalar {
            Scalar::Text(_) => {
                text::decode_base64(scalar.text(scratch), values.open())?;
                values.end_value()?;
            }
            _ if flavor.tree => values.push_null(),
            _ => return Err(Fault::Form),
        },
        Column::Date(values) => values.push(text::parse_strict_date(scalar.text(scratch))?),
        Column::Time { values, .. } => {
            values.push((text::parse_sql_time(scalar.text(scratch))? / 1_000_000) as i32);
        }
        Column::Timestamp { values, zoned } => {
            let style = flavor.timestamps.style(*zoned);
            values.push(text::parse_timestamp(scalar.text(scratch), style)?)?;
        }
        Column::Array(_) | Column::Map(_) | Column::Row(_) => return Err(Fault::Form),
    }
    Ok(())
}

/// TINYINT and SMALLINT take whole numbers only.
fn whole(scalar: Scalar<'_>, scratch: &mut Vec<u8>) -> Result<i64, Fault> {
    text::parse_integer(scalar.text(scratch))
}

/// INT and BIGINT cut the fraction off numbers, but not off text.
fn integer(scalar: Scalar<'_>, max: i64, scratch: &mut Vec<u8>) -> Result<i64, Fault> {
    match scalar {
        Scalar::Number(number) if !number.whole => {
            let value = text::parse_double(number.text)?;
            let min = -(max as f64) - if max == i64::MAX { 0.0 } else { 1.0 };
            if value < min || value > max as f64 { Err(Fault::Range) } else { Ok(value as i64) }
        }
        _ => text::parse_integer(scalar.text(scratch)),
    }
}

fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T, Fault> {
    T::try_from(number).map_err(|_| Fault::Range)
}
