//! The order in which a Java `HashMap` gives its entries: that of maps which Flink builds in one.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use flott_types::{DataType, TimestampUnit, TypeRoot, timestamp_unit};

/// Java's `String.hashCode`.
pub fn of_string(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Flink's hash of a string as it holds it: Murmur3 of its bytes, save that a rest of less than four is taken byte by
/// byte.
pub fn of_bytes(bytes: &[u8]) -> i32 {
    let mix = |hash: u32, word: u32| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    };
    let (words, rest) = bytes.as_chunks::<4>();
    let hash = words.iter().fold(42, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| mix(hash, i32::from(*byte as i8) as u32));
    let mut hash = hash ^ bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)) as i32
}

/// The hash of each key of an array, as the object that Flink has for it; `None` for keys of types whose
/// hashes say nothing.
pub fn of_keys(keys: &ArrayRef, ty: &DataType) -> Option<Vec<i32>> {
    macro_rules! of {
        ($arrow:ty, |$key:ident| $hash:expr) => {{
            let keys = keys.as_primitive::<$arrow>();
            keys.values().iter().map(|$key| $hash).collect()
        }};
    }
    let wide = |bits: i64| (bits ^ ((bits as u64) >> 32) as i64) as i32;
    let mut hashes: Vec<i32> = match &ty.root {
        TypeRoot::Char(_) | TypeRoot::Varchar(_) => {
            let texts = keys.as_string::<i32>();
            (0..texts.len()).map(|at| of_bytes(texts.value(at).as_bytes())).collect()
        }
        TypeRoot::Boolean => {
            let truths = keys.as_boolean();
            (0..truths.len()).map(|at| if truths.value(at) { 1_231 } else { 1_237 }).collect()
        }
        TypeRoot::TinyInt => of!(Int8Type, |key| i32::from(*key)),
        TypeRoot::SmallInt => of!(Int16Type, |key| i32::from(*key)),
        TypeRoot::Int => of!(Int32Type, |key| *key),
        TypeRoot::Date => of!(Date32Type, |key| *key),
        TypeRoot::Time(_) => of!(Time32MillisecondType, |key| *key),
        TypeRoot::BigInt => of!(Int64Type, |key| wide(*key)),
        TypeRoot::Float => of!(Float32Type, |key| key.to_bits() as i32),
        TypeRoot::Decimal { scale, .. } => of!(Decimal128Type, |key| of_decimal(*key, *scale)),
        TypeRoot::Timestamp(precision) | TypeRoot::TimestampLtz(precision) => {
            let of_parts = |millis: i64, nano: i64| {
                let hash = millis as i32 ^ (millis >> 32) as i32;
                hash.wrapping_mul(31).wrapping_add(nano as i32)
            };
            match timestamp_unit(*precision) {
                TimestampUnit::Millis => of!(TimestampMillisecondType, |key| of_parts(*key, 0)),
                TimestampUnit::Micros => of!(TimestampMicrosecondType, |key| {
                    of_parts(key.div_euclid(1_000), key.rem_euclid(1_000) * 1_000)
                }),
                TimestampUnit::Nanos => of!(Decimal128Type, |key| {
                    of_parts(key.div_euclid(1_000_000) as i64, key.rem_euclid(1_000_000) as i64)
                }),
            }
        }
        TypeRoot::Double => of!(Float64Type, |key| wide(key.to_bits() as i64)),
        _ => return None,
    };
    for (at, hash) in hashes.iter_mut().enumerate() {
        if keys.is_null(at) {
            *hash = 0;
        }
    }
    Some(hashes)
}

/// Java's `BigDecimal.hashCode` of some digits.
fn of_decimal(digits: i128, scale: u8) -> i32 {
    let magnitude = digits.unsigned_abs();
    let words = [96, 64, 32, 0].map(|shift| (magnitude >> shift) as i32);
    let hash = words.iter().fold(0i32, |hash, word| hash.wrapping_mul(31).wrapping_add(*word));
    let signed = if digits < 0 { hash.wrapping_neg() } else { hash };
    signed.wrapping_mul(31).wrapping_add(scale.into())
}

/// The capacity of a `HashMap` made without one.
pub const DEFAULT_CAPACITY: usize = 16;

/// The places of keys with these hashes, all different keys, in the order in which they come out of a map of some initial
/// capacity that they were put into one after the other.
pub fn order(hashes: &[i32], capacity: usize) -> Vec<usize> {
    let mut buckets = capacity.max(1).next_power_of_two();
    // The map doubles when it is more than three quarters full.
    while hashes.len() * 4 > buckets * 3 {
        buckets *= 2;
    }
    let mut chains: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, hash) in hashes.iter().enumerate() {
        let hash = *hash as u32;
        let bucket = (hash ^ (hash >> 16)) as usize & (buckets - 1);
        chains.entry(bucket).or_default().push(place);
    }
    chains.into_values().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_out_as_from_java() {
        let keys = ["b", "a", "c", "long key of some words"];
        let hashes = keys.map(|key| of_bytes(key.as_bytes()));
        let ordered: Vec<&str> = order(&hashes, 16).into_iter().map(|at| keys[at]).collect();
        assert_eq!(ordered, ["a", "long key of some words", "c", "b"]);
        assert_eq!(order(&["b", "a", "c"].map(of_string), 4), [1, 0, 2]);
        let keys = ["zebra", "apple", "mango", "kiwi", "é", "中文"];
        assert_eq!(order(&keys.map(of_string), 6), [0, 1, 4, 3, 5, 2]);
        assert_eq!(order(&[17, 1, 33], 16), [0, 1, 2]);
        let many: Vec<i32> = (0..13).rev().chain([16, 32]).collect();
        assert_eq!(order(&many, 16)[..2], [12, 14]);
    }
}
