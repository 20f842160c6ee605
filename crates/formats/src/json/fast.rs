//! Decoding of ordinary JSON: objects whose values have the JSON type that their columns suggest.
//!
//! Everything else (coercions, repeated keys, broken text) gives up with `None`, whereupon the row is
//! decoded anew by [`exact`](super::stream), which knows all rules and words the errors. That keeps
//! rules for rare cases out of this loop, and both must agree where this one succeeds.

use super::Flavor;
use super::lexer::{Lexer, RawString};
use super::shape::{Fields, Parts, Shape};
use super::variant;
use crate::builders::{Column, Lists};
use crate::text::{self, words};

/// A map of more entries is left to the slow path, which looks for repeated keys with a hash table.
const FEW_KEYS: usize = 64;

/// Decodes an object into `columns`, which hold `row` values before, and says whether all fields were
/// there. Fields that are missing are left out.
#[inline]
pub(super) fn row(
    lexer: &mut Lexer<'_>,
    fields: &Fields,
    columns: &mut [Column],
    row: usize,
    flavor: Flavor,
) -> Option<bool> {
    if !lexer.eat(b'{') {
        return None;
    }
    let (mut next, mut found) = (0, 0);
    // The first fields, by their number: whether they have their value.
    let mut seen = 0u64;
    if lexer.eat(b'}') {
        return complete(found, fields, flavor);
    }
    loop {
        let field = match fields.get(next) {
            Some(field) if lexer.peek() == b'"' && lexer.eat_exactly(&field.key) => Some(next),
            _ => {
                let key = lexer.string().ok().filter(|key| !key.escaped)?;
                lexer.colon().ok()?;
                // The streaming parser does not look at keys once it has all fields.
                if found == fields.len() && !flavor.tree { None } else { fields.find(key.raw) }
            }
        };
        match field {
            Some(at) => {
                let column = columns.get_mut(at)?;
                let repeated = match 1u64.checked_shl(at as u32) {
                    Some(bit) => {
                        let before = seen;
                        seen |= bit;
                        before & bit != 0
                    }
                    None => column.len() != row,
                };
                if repeated {
                    return None;
                }
                value(lexer, &fields.get(at)?.shape, column, flavor)?;
                found += 1;
                next = at + 1;
            }
            None => {
                lexer.skip_value().ok()?;
            }
        }
        if lexer.eat(b',') {
            continue;
        }
        return if lexer.eat(b'}') { complete(found, fields, flavor) } else { None };
    }
}

fn complete(found: usize, fields: &Fields, flavor: Flavor) -> Option<bool> {
    let all = found == fields.len();
    (all || !flavor.fail_on_missing_field).then_some(all)
}

#[inline]
fn value(lexer: &mut Lexer<'_>, shape: &Shape, column: &mut Column, flavor: Flavor) -> Option<()> {
    if lexer.peek() == b'n' {
        lexer.word(b"null").ok()?;
        column.push_null();
        return Some(());
    }
    match column {
        Column::Null(_) => return None,
        Column::Boolean(values) => values.push(match lexer.peek() {
            b't' => lexer.word(b"true").map(|()| true).ok()?,
            _ => lexer.word(b"false").map(|()| false).ok()?,
        }),
        Column::TinyInt(values) => values.push(integer(lexer)?.try_into().ok()?),
        Column::SmallInt(values) => values.push(integer(lexer)?.try_into().ok()?),
        Column::Int(values) => values.push(integer(lexer)?.try_into().ok()?),
        Column::Months(values) => values.push(integer(lexer)?.try_into().ok()?),
        Column::BigInt(values) => values.push(integer(lexer)?),
        Column::Millis(values) => values.push(integer(lexer)?),
        Column::Double(values) => {
            let number = flavor.signless_zero(lexer.number().ok()?.text);
            values.push(text::parse_double(number).ok()?);
        }
        Column::Float(values) => {
            let number = lexer.number().ok()?;
            values.push(if flavor.rounds_floats_twice() && !number.whole {
                text::parse_double(number.text).ok()? as f32
            } else {
                text::parse_float(flavor.signless_zero(number.text)).ok()?
            });
        }
        Column::Decimal { values, precision, scale } => {
            let number = match lexer.peek() {
                b'"' => plain_string(lexer)?,
                _ => lexer.number().ok()?.text,
            };
            match text::parse_decimal(number, *precision, *scale).ok()? {
                Some(unscaled) => values.push(unscaled),
                None => values.push_null(),
            }
        }
        Column::Text(values) => {
            let string = lexer.string().ok()?;
            string.unescape(values.open());
            values.end_value().ok()?;
        }
        Column::Binary(values) if matches!(shape.parts, Parts::Variant) => {
            variant::push(lexer.skip_value().ok()?, values.open()).ok()?;
            values.end_value().ok()?;
        }
        Column::Binary(values) => {
            text::decode_base64(plain_string(lexer)?, values.open()).ok()?;
            values.end_value().ok()?;
        }
        Column::Date(values) => values.push(text::parse_strict_date(plain_string(lexer)?).ok()?),
        Column::Time { values, .. } => {
            let nanos = text::parse_sql_time(plain_string(lexer)?).ok()?;
            values.push((nanos / 1_000_000) as i32);
        }
        Column::Timestamp { values, zoned } => {
            let style = flavor.timestamps.style(*zoned);
            let point = text::parse_timestamp(plain_string(lexer)?, style).ok()?;
            values.push(point).ok()?;
        }
        Column::Array(lists) => {
            let Parts::Array(element) = &shape.parts else { return None };
            return array(lexer, element, lists, flavor);
        }
        Column::Map(lists) => {
            let Parts::Map(value) = &shape.parts else { return None };
            return map(lexer, value, lists, flavor);
        }
        Column::Row(structs) => {
            let Parts::Row(fields) = &shape.parts else { return None };
            let len = structs.len();
            row(lexer, fields, &mut structs.columns, len, flavor)?;
            structs.end_value();
        }
    }
    Some(())
}

fn array(lexer: &mut Lexer<'_>, element: &Shape, lists: &mut Lists, flavor: Flavor) -> Option<()> {
    if !lexer.eat(b'[') {
        return None;
    }
    if !lexer.eat(b']') {
        loop {
            value(lexer, element, &mut lists.items, flavor)?;
            if !lexer.eat(b',') {
                break;
            }
        }
        if !lexer.eat(b']') {
            return None;
        }
    }
    lists.end_value().ok()
}

fn map(lexer: &mut Lexer<'_>, shape: &Shape, lists: &mut Lists, flavor: Flavor) -> Option<()> {
    if !lexer.eat(b'{') {
        return None;
    }
    if !lexer.eat(b'}') {
        loop {
            let key = lexer.string().ok()?;
            lexer.colon().ok()?;
            entry(lexer, key, shape, lists, flavor)?;
            if !lexer.eat(b',') {
                break;
            }
        }
        if !lexer.eat(b'}') {
            return None;
        }
    }
    lists.end_value().ok()
}

fn entry(
    lexer: &mut Lexer<'_>,
    key: RawString<'_>,
    shape: &Shape,
    lists: &mut Lists,
    flavor: Flavor,
) -> Option<()> {
    let before = lists.open_items();
    let Column::Row(entries) = &mut *lists.items else { return None };
    let [Column::Text(keys), values] = entries.columns.as_mut_slice() else { return None };
    key.unescape(keys.open());
    keys.end_value().ok()?;
    if before > FEW_KEYS || keys.last_repeats(before) {
        return None;
    }
    value(lexer, shape, values, flavor)?;
    entries.end_value();
    Some(())
}

/// A whole number of up to eighteen digits.
#[inline]
fn integer(lexer: &mut Lexer<'_>) -> Option<i64> {
    let text = lexer.bytes.get(lexer.at..)?;
    let negative = text.first() == Some(&b'-');
    let digits = &text[usize::from(negative)..];
    let (number, len) = short_number(digits).unwrap_or_else(|| long_number(digits));
    let ends = !matches!(digits.get(len), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
    let proper = (1..=18).contains(&len) && (digits[0] != b'0' || len == 1);
    if !ends || !proper {
        return None;
    }
    lexer.at += usize::from(negative) + len;
    Some(if negative { -number } else { number })
}

/// A number of up to seven digits, with how many there are; `None` where there may be more.
#[inline]
fn short_number(text: &[u8]) -> Option<(i64, usize)> {
    let digits = u64::from_le_bytes(*text.first_chunk()?) ^ words::repeat(b'0');
    let end = words::not_digits(digits);
    if end == 0 {
        return None;
    }
    let len = end.trailing_zeros() as usize / 8;
    // Zeros in front take the place of what follows; a shift by all bits would be none.
    let aligned = digits << (32 - 4 * len) << (32 - 4 * len);
    Some((words::eight_digits(aligned) as i64, len))
}

fn long_number(text: &[u8]) -> (i64, usize) {
    let (mut number, mut len) = (0i64, 0);
    for digit in text.iter().take(19) {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
        len += 1;
    }
    (number, len)
}

fn plain_string<'a>(lexer: &mut Lexer<'a>) -> Option<&'a [u8]> {
    lexer.string().ok().filter(|string| !string.escaped).map(|string| string.raw)
}
