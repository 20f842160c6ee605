//! The order in which Java's `HashMap` gives its entries. Flink prints maps in it.

use arrow::array::{Array, AsArray};
use arrow::datatypes as at;
use flott_types::{DataType, TypeRoot};

/// The positions of `keys` in the order of a `HashMap` that took them one after the other; the order
/// of insertion for types whose Java hash is not known here.
pub(super) fn hash_order(keys: &dyn Array, data_type: &DataType) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut capacity = 16;
    while keys.len() > capacity / 4 * 3 {
        capacity *= 2;
    }
    let bucket = |key: usize| {
        let hash = if keys.is_null(key) { Some(0) } else { java_hash(keys, key, data_type) };
        // The map folds the upper half in, as it only looks at the lowest bits.
        hash.map(|hash| (hash ^ (hash >> 16)) as usize & (capacity - 1))
    };
    // Growing keeps the order within a bucket, so that a stable sort is enough.
    order.sort_by_key(|key| bucket(*key));
    order
}

fn java_hash(keys: &dyn Array, key: usize, data_type: &DataType) -> Option<u32> {
    Some(match data_type.root {
        TypeRoot::Boolean => {
            if keys.as_boolean().value(key) {
                1231
            } else {
                1237
            }
        }
        TypeRoot::TinyInt => keys.as_primitive::<at::Int8Type>().value(key) as u32,
        TypeRoot::SmallInt => keys.as_primitive::<at::Int16Type>().value(key) as u32,
        TypeRoot::Int => keys.as_primitive::<at::Int32Type>().value(key) as u32,
        TypeRoot::BigInt => fold(keys.as_primitive::<at::Int64Type>().value(key) as u64),
        TypeRoot::Float => keys.as_primitive::<at::Float32Type>().value(key).to_bits(),
        TypeRoot::Double => fold(keys.as_primitive::<at::Float64Type>().value(key).to_bits()),
        TypeRoot::Char(_) | TypeRoot::Varchar(_) => keys
            .as_string::<i32>()
            .value(key)
            .encode_utf16()
            .fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into())),
        _ => return None,
    })
}

fn fold(bits: u64) -> u32 {
    (bits ^ (bits >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int32Array, StringArray};

    use super::*;

    #[test]
    fn entries_come_in_the_order_of_their_buckets() {
        let texts = StringArray::from(vec!["k", "j", "a"]);
        assert_eq!(hash_order(&texts, &DataType::string()), [2, 1, 0]);
        let numbers = Int32Array::from(vec![Some(17), Some(1), None, Some(16), Some(-1)]);
        // Buckets 1, 1, 0, 0, 0 (-1 folds to 0xffff0000).
        assert_eq!(hash_order(&numbers, &DataType::int()), [2, 3, 4, 0, 1]);
        let many = Int32Array::from_iter_values((0..13).rev());
        assert_eq!(hash_order(&many, &DataType::int()), (0..13).rev().collect::<Vec<_>>());
    }
}
