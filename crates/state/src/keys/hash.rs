//! The hash of a key: XXH3-64 of its bytes, the same in every process and version.
//!
//! It decides the key group, so it belongs to the state format (`docs/state-format.md`).

use xxhash_rust::xxh3::xxh3_64;

/// The hash of NULL in a key of one column, and of the key of no column: the complement of XXH3-64 of
/// no bytes, so that its lower half, by which hash tables tell keys apart, is neither the empty
/// string's nor that of 0, as which NULL is stored.
pub(crate) const NULL_HASH: u64 = !0x2D06_8005_38D3_94C2;

/// The hash of a key's bytes.
#[inline]
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// [`hash_bytes`] of the number's eight bytes in little-endian, by XXH3's rule for that length.
#[inline]
pub(crate) fn hash_int(number: i64) -> u64 {
    /// Bytes 8..16 and 16..24 of XXH3's default secret, combined.
    const FLIP: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;
    let mut hash = (number as u64).rotate_left(32) ^ FLIP;
    hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
    hash = hash.wrapping_mul(PRIME);
    hash ^= (hash >> 35).wrapping_add(8);
    hash = hash.wrapping_mul(PRIME);
    hash ^ (hash >> 28)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_number_is_that_of_its_bytes() {
        for number in (0..1000).map(|i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)) {
            assert_eq!(hash_int(number), hash_bytes(&number.to_le_bytes()), "{number}");
        }
    }

    #[test]
    fn null_is_told_from_the_values_stored_in_its_place() {
        assert_eq!(NULL_HASH, !hash_bytes(&[]));
        assert_ne!(NULL_HASH as u32, hash_bytes(&[]) as u32);
        assert_ne!(NULL_HASH as u32, hash_int(0) as u32);
    }

    /// Key groups are part of the state format: these values must never change.
    #[test]
    fn hashes_are_fixed_for_all_time() {
        assert_eq!(hash_int(0), 0xC77B_3ABB_6F87_ACD9);
        assert_eq!(hash_bytes(b"flott"), 0xA5D8_D7EE_30B7_EFB6);
    }
}
