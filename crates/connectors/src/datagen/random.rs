//! Random words by their position: no state runs along, so that any row can be made on its own.

use std::hash::{BuildHasher, RandomState};

/// The step of SplitMix64's counter, 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// An endless row of random words. Word `i` is what SplitMix64 gives as its `i`-th.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stream(u64);

impl Stream {
    /// The stream of a column under the table's seed.
    pub(super) fn new(seed: u64, column: &str) -> Self {
        Self(column.bytes().fold(mix(seed ^ STEP), |state, byte| mix(state ^ u64::from(byte))))
    }

    /// A stream of its own, for what else a column needs.
    pub(super) fn branch(self, name: &str) -> Self {
        Self::new(self.0, name)
    }

    /// The word at `index`.
    #[inline]
    pub(super) fn word(self, index: u64) -> u64 {
        mix(self.0.wrapping_add(index.wrapping_mul(STEP)))
    }

    /// A number in `0..span`, or any when `span` is 0, which stands for 2^64.
    #[inline]
    pub(super) fn below(self, index: u64, span: u64) -> u64 {
        let word = self.word(index);
        if span == 0 { word } else { ((u128::from(word) * u128::from(span)) >> 64) as u64 }
    }

    /// A number in `0..span`, or any when `span` is 0, which stands for 2^128.
    pub(super) fn wide_below(self, index: u64, span: u128) -> u128 {
        let (high, low) = (self.word(index.wrapping_mul(2)), self.word(index.wrapping_mul(2) + 1));
        let wide = u128::from(high) << 64 | u128::from(low);
        match u64::try_from(span) {
            Ok(0) => wide,
            Ok(span) => (u128::from(high) * u128::from(span)) >> 64,
            Err(_) => wide % span,
        }
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub(super) fn unit(self, index: u64) -> f64 {
        (self.word(index) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[inline]
fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A seed that no other run has.
pub(super) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_depend_on_seed_column_and_index_only() {
        let stream = Stream::new(7, "a");
        assert_eq!(stream.word(3), Stream::new(7, "a").word(3));
        assert_ne!(stream.word(3), stream.word(4));
        assert_ne!(stream.word(3), Stream::new(8, "a").word(3));
        assert_ne!(stream.word(3), Stream::new(7, "b").word(3));
        assert_ne!(stream.word(3), stream.branch("null").word(3));
    }

    #[test]
    fn numbers_spread_over_their_range() {
        let stream = Stream::new(1, "x");
        let mut seen = [0u32; 10];
        for i in 0..10_000 {
            seen[stream.below(i, 10) as usize] += 1;
            assert!((0.0..1.0).contains(&stream.unit(i)));
            assert!(stream.wide_below(i, 1 << 100) < 1 << 100);
            assert!(stream.wide_below(i, 3) < 3);
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}
