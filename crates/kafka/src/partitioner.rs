//! Which partition a record goes to, as the Java client has it.

/// The partition of a key: the same in every client, so that a key stays where it is.
pub(crate) fn of_key(key: &[u8], partitions: i32) -> i32 {
    (murmur2(key) & 0x7FFF_FFFF) % partitions.max(1)
}

/// Kafka's variant of MurmurHash2.
fn murmur2(bytes: &[u8]) -> i32 {
    const M: u32 = 0x5BD1_E995;
    let mut hash = 0x9747_B28C ^ bytes.len() as u32;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        let mut k = word.iter().rev().fold(0, |k, byte| k << 8 | u32::from(*byte));
        k = k.wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        hash ^= rest.iter().rev().fold(0, |k, byte| k << 8 | u32::from(*byte));
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    (hash ^ hash >> 15) as i32
}

/// Numbers to spread records without a key by.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        use std::hash::{BuildHasher, Hasher, RandomState};
        Self(RandomState::new().build_hasher().finish() | 1)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: i32) -> i32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the Java client's own test.
    #[test]
    fn keys_hash_as_in_java() {
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
        ] {
            assert_eq!(murmur2(key.as_bytes()), hash, "{key}");
        }
    }
}
