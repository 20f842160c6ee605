//! The rows of a partition in the order of a sort key.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Rows by sort key; rows of equal keys in the order in which they came.
#[derive(Default)]
pub(super) struct Partition {
    rows: BTreeMap<Box<[u8]>, Vec<u32>>,
    key_bytes: usize,
    /// A number for the last key, which differs from that of the key before.
    pub tail: i64,
}

/// Where a row came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// How many rows of other keys are before it.
    pub before: usize,
    /// How many rows of its own key are.
    pub among: usize,
}

impl Partition {
    /// How a key compares with the last one: `Greater` for the first key, too.
    pub fn compare_to_last(&self, key: &[u8]) -> std::cmp::Ordering {
        match self.rows.last_key_value() {
            None => std::cmp::Ordering::Greater,
            Some((last, _)) => key.cmp(last),
        }
    }

    /// Puts a row behind all of its key. Gives the bytes that a new key takes; `entry` is what each
    /// takes beside its own.
    pub fn insert(&mut self, key: &[u8], row: u32, entry: usize) -> usize {
        if let Some(rows) = self.rows.get_mut(key) {
            rows.push(row);
            return 0;
        }
        self.rows.insert(key.into(), vec![row]);
        self.key_bytes += key.len();
        key.len() + entry
    }

    /// Takes out the first row of a key that `is_meant`; gives it, how many rows of its key stood before it, and the
    /// bytes freed.
    pub fn remove(
        &mut self,
        key: &[u8],
        entry: usize,
        mut is_meant: impl FnMut(u32) -> bool,
    ) -> Option<(u32, usize, usize)> {
        let rows = self.rows.get_mut(key)?;
        let among = rows.iter().position(|row| is_meant(*row))?;
        let row = rows.remove(among);
        let mut freed = 0;
        if rows.is_empty() {
            self.rows.remove(key);
            self.key_bytes -= key.len();
            freed = key.len() + entry;
        }
        Some((row, among, freed))
    }

    /// The bytes that the keys take.
    pub fn bytes(&self, entry: usize) -> usize {
        self.key_bytes + self.rows.len() * entry
    }

    /// Where the last row of a key stands.
    pub fn last_of(&self, key: &[u8]) -> Position {
        self.position(key, self.rows.get(key).map_or(0, |rows| rows.len() - 1))
    }

    /// Where the row with so many of its key before it stands.
    pub fn position(&self, key: &[u8], among: usize) -> Position {
        let earlier = self.rows.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(key)));
        Position { before: earlier.map(|(_, rows)| rows.len()).sum(), among }
    }

    /// The rows round the place with so many rows of a key before it: at most `before` and `behind` ones, and how
    /// many of them are before.
    pub fn around(
        &self,
        key: &[u8],
        among: usize,
        before: usize,
        behind: usize,
    ) -> (Vec<u32>, usize) {
        let (earlier, later) = self.peers(key).split_at(among);
        let keys = (Bound::Unbounded, Bound::Excluded(key));
        let smaller = self.rows.range::<[u8], _>(keys).rev();
        let smaller = smaller.flat_map(|(_, rows)| rows.iter().rev());
        let mut ids: Vec<u32> = earlier.iter().rev().chain(smaller).take(before).copied().collect();
        ids.reverse();
        let at = ids.len();
        let keys = (Bound::Excluded(key), Bound::Unbounded);
        let larger = self.rows.range::<[u8], _>(keys).flat_map(|(_, rows)| rows);
        ids.extend(later.iter().chain(larger).take(behind));
        (ids, at)
    }

    /// The rows of a key.
    pub fn peers(&self, key: &[u8]) -> &[u32] {
        self.rows.get(key).map_or(&[], Vec::as_slice)
    }

    /// All rows, and for each the number of keys before its own.
    pub fn in_order(&self) -> (Vec<u32>, Vec<i64>) {
        let (mut ids, mut keys) = (Vec::new(), Vec::new());
        for (number, rows) in (0..).zip(self.rows.values()) {
            ids.extend(rows);
            keys.resize(ids.len(), number);
        }
        (ids, keys)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
