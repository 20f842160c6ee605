//! The keys of a batch's rows, encoded and hashed once.

use arrow::buffer::{NullBuffer, ScalarBuffer};

use super::group::key_group;
use super::hash::{NULL_HASH, hash_bytes, hash_int};
use crate::rows::EncodedRows;

/// The keys of a batch: a form of the key and a hash for each row.
#[derive(Debug, Clone)]
pub struct KeyBatch {
    pub(crate) hashes: Vec<u64>,
    pub(crate) keys: Keys,
    /// Rows in which some key column is NULL are not valid.
    pub(crate) nulls: Option<NullBuffer>,
}

/// The forms keys have.
#[derive(Debug, Clone)]
pub(crate) enum Keys {
    /// No key column: all rows have one key.
    Unit,
    /// One column of at most eight bytes a value. NULL is 0 with a hash that no 0 has.
    Ints(ScalarBuffer<i64>),
    /// One column of strings. NULL is empty with a hash that no empty string has.
    Strings(EncodedRows),
    /// Encoded rows, which hold NULL themselves.
    Rows(EncodedRows),
}

impl KeyBatch {
    pub(super) fn new(keys: Keys, nulls: Option<NullBuffer>, rows: usize) -> Self {
        let mut hashes: Vec<u64> = match &keys {
            Keys::Unit => vec![NULL_HASH; rows],
            Keys::Ints(values) => values.iter().map(|value| hash_int(*value)).collect(),
            Keys::Strings(strings) | Keys::Rows(strings) => {
                strings.iter().map(hash_bytes).collect()
            }
        };
        debug_assert_eq!(hashes.len(), rows);
        if let (Some(nulls), Keys::Ints(_) | Keys::Strings(_)) = (&nulls, &keys) {
            for (hash, valid) in hashes.iter_mut().zip(nulls) {
                *hash = if valid { *hash } else { NULL_HASH };
            }
        }
        Self { hashes, keys, nulls }
    }

    /// Whether row `row` is NULL in a form that does not hold NULL itself.
    pub(super) fn is_bare_null(&self, row: usize) -> bool {
        matches!(self.keys, Keys::Ints(_) | Keys::Strings(_)) && self.has_null(row)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The hash of each row's key: equal keys of equal types have equal hashes, in every process.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The rows none of whose key columns is NULL; `None` when those are all.
    ///
    /// NULL is a key like any other to GROUP BY, and equals nothing to a join.
    pub fn non_null(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Whether some key column of row `row` is NULL.
    #[inline]
    pub fn has_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The key group of each row.
    pub fn key_groups(&self, max_parallelism: u16) -> impl Iterator<Item = u16> + '_ {
        self.hashes.iter().map(move |hash| key_group(*hash, max_parallelism))
    }
}
