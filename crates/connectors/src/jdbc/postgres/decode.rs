//! PostgreSQL's binary form of values.

use std::borrow::Cow;
use std::error::Error;

use postgres::types::{FromSql, Kind, Type};

use super::super::cell::Cell;

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_NANOS: i128 = 946_684_800_000_000_000;

/// The bytes of a value; none for NULL.
pub(super) struct Raw<'a>(pub(super) Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// What the bytes of a type are; `None` for types that are not known, and for infinite moments.
pub(super) fn cell<'a>(raw: Option<&'a [u8]>, data_type: &Type) -> Option<Cell<'a>> {
    let Some(raw) = raw else { return Some(Cell::Null) };
    if let Kind::Array(element) = data_type.kind() {
        return array(raw, element);
    }
    if let Kind::Domain(inner) = data_type.kind() {
        return cell(Some(raw), inner);
    }
    Some(match *data_type {
        Type::BOOL => Cell::Boolean(*raw.first()? != 0),
        Type::INT2 => Cell::Int(i16::from_be_bytes(raw.try_into().ok()?).into()),
        Type::INT4 => Cell::Int(i32::from_be_bytes(raw.try_into().ok()?).into()),
        Type::INT8 => Cell::Int(i64::from_be_bytes(raw.try_into().ok()?).into()),
        Type::OID => Cell::Int(u32::from_be_bytes(raw.try_into().ok()?).into()),
        Type::FLOAT4 => Cell::Float(f32::from_be_bytes(raw.try_into().ok()?)),
        Type::FLOAT8 => Cell::Double(f64::from_be_bytes(raw.try_into().ok()?)),
        Type::NUMERIC => Cell::Text(numeric(raw)?.into()),
        Type::BYTEA => Cell::Bytes(raw),
        Type::DATE => {
            let days = i32::from_be_bytes(raw.try_into().ok()?);
            Cell::Date(finite(days.into())?.checked_add(EPOCH_DAYS.into())?.try_into().ok()?)
        }
        Type::TIME => Cell::Time(i64::from_be_bytes(raw.try_into().ok()?).checked_mul(1000)?),
        Type::TIMESTAMP => Cell::Local(moment(raw)?),
        Type::TIMESTAMPTZ => Cell::Instant(moment(raw)?),
        Type::JSONB => Cell::Text(Cow::Borrowed(std::str::from_utf8(raw.get(1..)?).ok()?)),
        Type::UUID => Cell::Text(uuid(raw)?.into()),
        Type::TEXT
        | Type::VARCHAR
        | Type::BPCHAR
        | Type::NAME
        | Type::JSON
        | Type::XML
        | Type::UNKNOWN
        | Type::CHAR => Cell::Text(Cow::Borrowed(std::str::from_utf8(raw).ok()?)),
        _ => match data_type.kind() {
            Kind::Enum(_) => Cell::Text(Cow::Borrowed(std::str::from_utf8(raw).ok()?)),
            _ if matches!(data_type.name(), "citext" | "ltree") => {
                Cell::Text(Cow::Borrowed(std::str::from_utf8(raw).ok()?))
            }
            _ => return None,
        },
    })
}

fn moment(raw: &[u8]) -> Option<i128> {
    let micros = i64::from_be_bytes(raw.try_into().ok()?);
    if micros == i64::MAX || micros == i64::MIN {
        return None;
    }
    Some(i128::from(micros) * 1000 + EPOCH_NANOS)
}

/// The extremes stand for infinity.
fn finite(days: i64) -> Option<i64> {
    (days != i64::from(i32::MAX) && days != i64::from(i32::MIN)).then_some(days)
}

fn uuid(raw: &[u8]) -> Option<String> {
    let number = u128::from_be_bytes(raw.try_into().ok()?);
    let hex = format!("{number:032x}");
    Some([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

/// A number of any length: digits to the base 10 000, of which the first has this weight.
fn numeric(raw: &[u8]) -> Option<String> {
    let short = |at: usize| -> Option<i16> {
        Some(i16::from_be_bytes(raw.get(at..at + 2)?.try_into().ok()?))
    };
    let (count, weight, sign, scale) = (short(0)?, short(2)?, short(4)? as u16, short(6)?);
    match sign {
        0xc000 => return Some("NaN".into()),
        0xd000 => return Some("Infinity".into()),
        0xf000 => return Some("-Infinity".into()),
        _ => {}
    }
    let group = |place: i32| -> Option<i16> {
        // The first group has the place `weight`, later ones less.
        match i32::from(weight) - place {
            at if (0..i32::from(count)).contains(&at) => short(8 + 2 * at as usize),
            _ => Some(0),
        }
    };
    let mut text = String::new();
    if sign == 0x4000 {
        text.push('-');
    }
    if weight < 0 {
        text.push('0');
    }
    for place in (0..=i32::from(weight)).rev() {
        let digits = group(place)?;
        if place == i32::from(weight) {
            text.push_str(&digits.to_string());
        } else {
            text.push_str(&format!("{digits:04}"));
        }
    }
    if scale > 0 {
        text.push('.');
        let end = text.len() + scale as usize;
        let mut place = -1;
        while text.len() < end {
            text.push_str(&format!("{:04}", group(place)?));
            place -= 1;
        }
        text.truncate(end);
    }
    Some(text)
}

/// An array of one dimension, or of several as arrays of arrays.
fn array<'a>(raw: &'a [u8], element: &Type) -> Option<Cell<'a>> {
    let mut rest = raw;
    let int = |rest: &mut &'a [u8]| -> Option<i32> {
        let (head, tail) = rest.split_first_chunk::<4>()?;
        *rest = tail;
        Some(i32::from_be_bytes(*head))
    };
    let dimensions = int(&mut rest)?;
    let (_, _) = (int(&mut rest)?, int(&mut rest)?);
    let mut lengths = Vec::new();
    for _ in 0..dimensions {
        lengths.push(usize::try_from(int(&mut rest)?).ok()?);
        int(&mut rest)?;
    }
    let mut cells = Vec::new();
    for _ in 0..lengths.iter().product::<usize>() * usize::from(dimensions > 0) {
        let length = int(&mut rest)?;
        let value = match usize::try_from(length) {
            Err(_) => None,
            Ok(length) => {
                let (value, tail) = rest.split_at_checked(length)?;
                rest = tail;
                Some(value)
            }
        };
        cells.push(cell(value, element)?);
    }
    for length in lengths.iter().skip(1).rev() {
        cells = cells.chunks(*length).map(|part| Cell::Array(part.to_vec())).collect();
    }
    Some(Cell::Array(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(weight: i16, sign: u16, scale: i16, digits: &[i16]) -> String {
        let mut raw = Vec::new();
        for part in [digits.len() as i16, weight, sign as i16, scale].iter().chain(digits) {
            raw.extend(part.to_be_bytes());
        }
        numeric(&raw).unwrap()
    }

    #[test]
    fn numbers_are_read_to_the_last_digit() {
        assert_eq!(number(0, 0, 0, &[7]), "7");
        assert_eq!(number(1, 0, 2, &[1, 2, 5000]), "10002.50");
        assert_eq!(number(1, 0, 0, &[1]), "10000");
        assert_eq!(number(-1, 0x4000, 4, &[12]), "-0.0012");
        assert_eq!(number(-2, 0, 6, &[1200]), "0.000012");
        assert_eq!(number(0, 0, 3, &[]), "0.000");
        assert_eq!(number(0, 0xc000, 0, &[]), "NaN");
    }
}
