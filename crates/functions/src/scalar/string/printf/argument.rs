//! What is formatted.

use flott_types::text::{value_to_string, write_decimal, write_double, write_float};
use flott_types::{DataType, TypeRoot, Value};
use jiff::tz::TimeZone;

/// An object as Java's `Formatter` sees it.
#[derive(Debug, Clone)]
pub enum Argument<'a> {
    /// NULL
    Null,
    /// A Boolean.
    Boolean(bool),
    /// A Byte, Short, Integer or Long, by its number of bits.
    Integer {
        /// The value.
        value: i64,
        /// 8, 16, 32 or 64.
        bits: u32,
    },
    /// A Float.
    Float(f32),
    /// A Double.
    Double(f64),
    /// A decimal.
    Decimal {
        /// All digits.
        digits: i128,
        /// How many of them are behind the point.
        scale: u8,
    },
    /// A string.
    Text(&'a str),
    /// Anything else, as text.
    Other(String),
}

impl Argument<'_> {
    /// The object of a value that is no string. Dates, times and intervals are the integers that
    /// Flink keeps them as.
    pub fn of_value(value: &Value, ty: &DataType, zone: &TimeZone) -> Self {
        match (value, &ty.root) {
            (Value::Null, _) => Self::Null,
            (Value::Boolean(value), _) => Self::Boolean(*value),
            (Value::Int(value), root) => {
                let bits = match root {
                    TypeRoot::TinyInt => 8,
                    TypeRoot::SmallInt => 16,
                    TypeRoot::Int => 32,
                    _ => 64,
                };
                Self::Integer { value: *value, bits }
            }
            (Value::Date(value) | Value::Time(value) | Value::Months(value), _) => {
                Self::Integer { value: i64::from(*value), bits: 32 }
            }
            (Value::Millis(value), _) => Self::Integer { value: *value, bits: 64 },
            (Value::Float(value), _) => Self::Float(*value),
            (Value::Double(value), _) => Self::Double(*value),
            (Value::Decimal(digits), TypeRoot::Decimal { scale, .. }) => {
                Self::Decimal { digits: *digits, scale: *scale }
            }
            (Value::Timestamp(nanos), _) => Self::Other(local_date_time(*nanos)),
            _ => Self::Other(value_to_string(value, ty, zone)),
        }
    }

    /// The object as `%s` prints it.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        let mut out = String::new();
        match self {
            Self::Null => return "null".into(),
            Self::Boolean(value) => return if *value { "true" } else { "false" }.into(),
            Self::Text(text) => return (*text).into(),
            Self::Other(text) => return text.as_str().into(),
            Self::Integer { value, .. } => return value.to_string().into(),
            Self::Float(value) => write_float(&mut out, *value),
            Self::Double(value) => write_double(&mut out, *value),
            Self::Decimal { digits, scale } => write_decimal(&mut out, *digits, *scale),
        }
        out.into()
    }

    /// Java's `hashCode`; `None` for objects whose hash differs from run to run.
    pub fn hash_code(&self) -> Option<u32> {
        let fold = |bits: u64| (bits ^ (bits >> 32)) as u32;
        match self {
            Self::Boolean(value) => Some(if *value { 1231 } else { 1237 }),
            Self::Integer { value, bits: 64 } => Some(fold(*value as u64)),
            Self::Integer { value, .. } => Some(*value as u32),
            Self::Float(value) => Some(value.to_bits()),
            Self::Double(value) => Some(fold(value.to_bits())),
            Self::Decimal { digits, scale } => {
                Some(big_integer_hash(*digits).wrapping_mul(31).wrapping_add(u32::from(*scale)))
            }
            Self::Text(text) => Some(murmur(text.as_bytes())),
            Self::Null | Self::Other(_) => None,
        }
    }
}

/// The hash of Java's `BigInteger`: its 32-bit words from the highest.
fn big_integer_hash(value: i128) -> u32 {
    let magnitude = value.unsigned_abs();
    let words = (0..4).rev().map(|i| (magnitude >> (32 * i)) as u32);
    let hash = words.fold(0u32, |hash, word| hash.wrapping_mul(31).wrapping_add(word));
    if value < 0 { hash.wrapping_neg() } else { hash }
}

/// The hash of Flink's strings: Murmur 3 with seed 42, in which each byte of the last, incomplete word
/// is a word of its own.
fn murmur(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u32::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| i32::from(*byte as i8) as u32);
    let hash = words.chain(rest).fold(42u32, |hash, word| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let hash = hash ^ bytes.len() as u32;
    let hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// A timestamp as Java's `LocalDateTime` prints it: without seconds if they are zero, with 0, 3, 6 or 9
/// digits of fraction.
fn local_date_time(nanos: i128) -> String {
    let mut text = String::new();
    flott_types::text::write_timestamp(&mut text, nanos, 9);
    let mut text = text.replacen(' ', "T", 1);
    while let Some(shorter) = text.strip_suffix("000") {
        text.truncate(shorter.len());
    }
    if let Some(whole) = text.strip_suffix('.') {
        text.truncate(whole.len());
        if let Some(minutes) = text.strip_suffix(":00") {
            text.truncate(minutes.len());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_java_s() {
        for (argument, hash) in [
            (Argument::Text("abc"), 0x4ed2_cbb4),
            (Argument::Text(""), 0x087f_cd5c),
            (Argument::Text("a中"), 0x27ee_3df0),
            (Argument::Text("hello world"), 0xa4df_d002),
            (Argument::Boolean(true), 0x4cf),
            (Argument::Integer { value: -1, bits: 64 }, 0),
            (Argument::Integer { value: 5_000_000_000, bits: 64 }, 0x2a05_f201),
            (Argument::Double(1.5), 0x3ff8_0000),
            (Argument::Decimal { digits: 15, scale: 1 }, 0x1d2),
        ] {
            assert_eq!(argument.hash_code(), Some(hash), "{argument:?}");
        }
    }

    #[test]
    fn timestamps_drop_empty_parts() {
        let second = 1_000_000_000i128;
        for (nanos, text) in [
            (0, "1970-01-01T00:00"),
            (12 * second, "1970-01-01T00:00:12"),
            (12 * second + 100_000_000, "1970-01-01T00:00:12.100"),
            (123_456_000, "1970-01-01T00:00:00.123456"),
        ] {
            assert_eq!(local_date_time(nanos), text);
        }
    }
}
