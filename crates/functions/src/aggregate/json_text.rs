//! Values as JSON text, as Flink's JSON aggregates write them: numbers as Java's `BigDecimal` prints
//! them, members of objects in the order of their names.

use std::cmp::Ordering;
use std::fmt::Write;

use flott_types::text::{write_double, write_timestamp};
use flott_types::{DataType, Family, TypeRoot, Value};

/// A type that has no JSON form, inside or at the top of an argument's type.
pub fn unsupported_type(ty: &DataType) -> Option<&DataType> {
    match &ty.root {
        TypeRoot::Array(element) => unsupported_type(element),
        TypeRoot::Map(key, value) if key.family() == Family::CharacterString => {
            unsupported_type(value)
        }
        root if root.row_fields().is_some() => {
            root.row_fields()?.iter().find_map(|field| unsupported_type(&field.data_type))
        }
        _ => {
            let supported = matches!(
                ty.family(),
                Family::Null
                    | Family::Boolean
                    | Family::Numeric
                    | Family::CharacterString
                    | Family::BinaryString
                    | Family::Timestamp
            );
            (!supported).then_some(ty)
        }
    }
}

/// Writes a value of a supported type.
pub fn write_json(out: &mut String, value: &Value, ty: &DataType) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => write_number(out, format_args!("{number}")),
        Value::Float(number) => write_floating(out, (*number).into()),
        Value::Double(number) => write_floating(out, *number),
        Value::Decimal(digits) => {
            let scale = match ty.root {
                TypeRoot::Decimal { scale, .. } => scale,
                _ => 0,
            };
            write_big_decimal(out, *digits < 0, &digits.unsigned_abs().to_string(), scale.into());
        }
        Value::String(text) => write_string(out, text),
        Value::Bytes(bytes) => write_base64(out, bytes),
        Value::Timestamp(nanos) => write_instant(out, *nanos, ty),
        Value::Array(items) => {
            let element = match &ty.root {
                TypeRoot::Array(element) => element,
                _ => ty,
            };
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_json(out, item, element);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            let value_type = match &ty.root {
                TypeRoot::Map(_, value) => value,
                _ => ty,
            };
            let members = entries.iter().map(|(key, value)| {
                (key.as_str().unwrap_or("null"), move |out: &mut String| {
                    write_json(out, value, value_type);
                })
            });
            write_object(out, members.collect());
        }
        Value::Row(items) => {
            let fields = ty.root.row_fields().unwrap_or_default();
            let members = items.iter().zip(fields).map(|(item, field)| {
                (&*field.name, move |out: &mut String| write_json(out, item, &field.data_type))
            });
            write_object(out, members.collect());
        }
        // No type that is supported has other values.
        Value::Date(_) | Value::Time(_) | Value::Months(_) | Value::Millis(_) => {
            out.push_str("null");
        }
    }
}

/// Writes an object of named members in the order of the names.
fn write_object<F: FnOnce(&mut String)>(out: &mut String, mut members: Vec<(&str, F)>) {
    members.sort_by(|(left, _), (right, _)| java_order(left, right));
    out.push('{');
    for (i, (name, write)) in members.into_iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        write_string(out, name);
        out.push(':');
        write(out);
    }
    out.push('}');
}

/// The order of Java's `String.compareTo`: by UTF-16 units.
pub fn java_order(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Writes a string in quotes, escaped as Jackson does.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => write_number(out, format_args!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_number(out: &mut String, text: std::fmt::Arguments) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

/// A DOUBLE by way of its Java text, read as a `BigDecimal`.
fn write_floating(out: &mut String, number: f64) {
    let mut text = String::new();
    write_double(&mut text, number);
    if !number.is_finite() {
        return write_string(out, &text);
    }
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_start_matches('0');
    let digits = if significant.is_empty() { "0" } else { significant };
    write_big_decimal(out, number < 0.0, digits, fraction.len() as i64 - exponent);
}

/// Digits and scale as `BigDecimal.toString` prints them: with an exponent only for a negative scale, or
/// below 1E-6.
fn write_big_decimal(out: &mut String, negative: bool, digits: &str, scale: i64) {
    if negative {
        out.push('-');
    }
    let count = digits.len() as i64;
    let exponent = count - 1 - scale;
    if scale == 0 {
        out.push_str(digits);
    } else if scale > 0 && exponent >= -6 {
        match usize::try_from(count - scale) {
            Ok(point) if point > 0 => {
                out.push_str(&digits[..point]);
                out.push('.');
                out.push_str(&digits[point..]);
            }
            _ => {
                out.push_str("0.");
                out.extend(std::iter::repeat_n('0', (scale - count).max(0) as usize));
                out.push_str(digits);
            }
        }
    } else {
        out.push_str(&digits[..1]);
        if count > 1 {
            out.push('.');
            out.push_str(&digits[1..]);
        }
        write_number(out, format_args!("E{exponent:+}"));
    }
}

fn write_instant(out: &mut String, nanos: i128, ty: &DataType) {
    let mut text = String::new();
    write_timestamp(&mut text, nanos, 9);
    let text = text.replace(' ', "T");
    let text = match text.strip_suffix("000000000") {
        Some(whole) => whole.trim_end_matches('.'),
        None => text.trim_end_matches("000"),
    };
    out.push('"');
    out.push_str(text);
    if matches!(ty.root, TypeRoot::TimestampLtz(_)) {
        out.push('Z');
    }
    out.push('"');
}

fn write_base64(out: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.push('"');
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sextet = word >> (18 - 6 * place) & 63;
            out.push(if place <= chunk.len() { ALPHABET[sextet as usize].into() } else { '=' });
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_flink_writes_them() {
        let bytes = |bytes: &[u8]| Value::Bytes(bytes.into());
        let cases = [
            (Value::Double(1.5), DataType::double(), "1.5"),
            (Value::Double(1e10), DataType::double(), "1.0E+10"),
            (Value::Double(1e-5), DataType::double(), "0.000010"),
            (Value::Double(-1e-10), DataType::double(), "-1.0E-10"),
            (Value::Double(f64::NAN), DataType::double(), "\"NaN\""),
            (Value::Double(100.0), DataType::double(), "100.0"),
            (Value::Float(0.1), TypeRoot::Float.nullable(), "0.10000000149011612"),
            (Value::Decimal(150), DataType::decimal(5, 2), "1.50"),
            (Value::Decimal(-5), DataType::decimal(5, 2), "-0.05"),
            (Value::Decimal(0), DataType::decimal(5, 2), "0.00"),
            (Value::Decimal(100), DataType::decimal(20, 10), "1.00E-8"),
            (Value::string("a\"b\\c/d\te\u{1}é"), DataType::string(), r#""a\"b\\c/d\te\u0001é""#),
            (bytes(&[0x0a, 0xff]), DataType::bytes(), "\"Cv8=\""),
            (bytes(&[1, 2, 3, 4]), DataType::bytes(), "\"AQIDBA==\""),
            (Value::Timestamp(1_000_000), DataType::timestamp(3), "\"1970-01-01T00:00:00.001\""),
            (Value::Timestamp(0), DataType::timestamp_ltz(3), "\"1970-01-01T00:00:00Z\""),
            (
                Value::Map(vec![
                    (Value::string("b"), Value::Int(1)),
                    (Value::string("a"), Value::Null),
                ]),
                DataType::map(DataType::string(), DataType::int()),
                "{\"a\":null,\"b\":1}",
            ),
        ];
        for (value, ty, expected) in cases {
            let mut out = String::new();
            write_json(&mut out, &value, &ty);
            assert_eq!(out, expected, "{value:?}");
        }
    }
}
