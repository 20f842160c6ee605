//! A growable set of small numbers, one bit each.

/// A set of `u32`, dense near zero.
#[derive(Debug, Clone, Default)]
pub struct BitSet {
    words: Vec<u64>,
    len: usize,
}

impl BitSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many numbers the set holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the set holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `number` is in the set.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds `number`; whether it is new.
    #[inline]
    pub fn insert(&mut self, number: u32) -> bool {
        let at = number as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (number % 64);
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        self.len += usize::from(new);
        new
    }

    /// Takes `number` out; whether it was there.
    #[inline]
    pub fn remove(&mut self, number: u32) -> bool {
        let Some(word) = self.words.get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let there = *word & bit != 0;
        *word &= !bit;
        self.len -= usize::from(there);
        there
    }

    /// Empties the set, keeping its memory.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.len = 0;
    }

    /// The numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    at as u32 * 64 + bit
                })
            })
        })
    }

    /// The bytes the set occupies.
    pub fn memory(&self) -> usize {
        self.words.capacity() * 8
    }
}

impl FromIterator<u32> for BitSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut set = Self::new();
        numbers.into_iter().for_each(|number| {
            set.insert(number);
        });
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_inserted() {
        let mut set = BitSet::new();
        for number in [0, 63, 64, 1000] {
            assert!(set.insert(number));
            assert!(!set.insert(number));
        }
        assert!(set.remove(63));
        assert!(!set.remove(63) && !set.remove(5000));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 1000]);
        assert_eq!(set.len(), 3);
        set.clear();
        assert!(set.is_empty() && !set.contains(64));
    }
}
