//! The unit in which changelogs flow: Arrow columns and a kind for each row.

use arrow::array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow::buffer::ScalarBuffer;
use arrow::compute;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use crate::RowKind;

/// Rows of a changelog in the order in which they apply.
///
/// Kinds are absent when every row is `+I`, so that insert-only streams pay nothing for them.
#[derive(Debug, Clone)]
pub struct ChangelogBatch {
    /// The columns.
    pub rows: RecordBatch,
    /// The kind of each row; `None` when all are `+I`.
    pub kinds: Option<RowKinds>,
}

/// One kind a row, cheap to clone and to slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowKinds(ScalarBuffer<u8>);

impl RowKinds {
    /// The kind of row `row`.
    pub fn get(&self, row: usize) -> RowKind {
        RowKind::from_u8(self.0[row])
    }

    /// The kinds as their numbers, see [`RowKind`].
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The kinds in order.
    pub fn iter(&self) -> impl Iterator<Item = RowKind> + '_ {
        self.0.iter().map(|kind| RowKind::from_u8(*kind))
    }

    /// `len` kinds from `offset`, without copying.
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        Self(self.0.slice(offset, len))
    }
}

impl From<Vec<u8>> for RowKinds {
    /// Kinds by their numbers, see [`RowKind`].
    fn from(kinds: Vec<u8>) -> Self {
        Self(kinds.into())
    }
}

impl FromIterator<RowKind> for RowKinds {
    fn from_iter<T: IntoIterator<Item = RowKind>>(kinds: T) -> Self {
        Self(kinds.into_iter().map(|kind| kind as u8).collect::<Vec<_>>().into())
    }
}

impl ChangelogBatch {
    /// The rows a batch holds at most.
    pub const MAX_ROWS: usize = 8192;

    /// Rows that are all `+I`.
    pub fn inserts(rows: RecordBatch) -> Self {
        Self { rows, kinds: None }
    }

    /// Rows with their kinds, of which there must be as many; dropped when all are `+I`.
    pub fn new(rows: RecordBatch, kinds: RowKinds) -> Self {
        debug_assert_eq!(rows.num_rows(), kinds.len());
        let plain = kinds.as_bytes().iter().all(|kind| *kind == RowKind::Insert as u8);
        Self { rows, kinds: (!plain).then_some(kinds) }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.num_rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of row `row`.
    pub fn kind(&self, row: usize) -> RowKind {
        self.kinds.as_ref().map_or(RowKind::Insert, |kinds| kinds.get(row))
    }

    /// Column `index`.
    pub fn column(&self, index: usize) -> &ArrayRef {
        self.rows.column(index)
    }

    /// `len` rows from `offset`, without copying.
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        Self {
            rows: self.rows.slice(offset, len),
            kinds: self.kinds.as_ref().map(|kinds| kinds.slice(offset, len)),
        }
    }

    /// The rows for which `keep` is true; NULL counts as false.
    pub fn filter(&self, keep: &BooleanArray) -> Result<Self, ArrowError> {
        let rows = compute::filter_record_batch(&self.rows, keep)?;
        let Some(kinds) = &self.kinds else { return Ok(Self::inserts(rows)) };
        let kept = (0..keep.len())
            .filter(|row| keep.is_valid(*row) && keep.value(*row))
            .map(|row| kinds.get(row))
            .collect();
        Ok(Self::new(rows, kept))
    }

    /// The rows at `indices`, in that order.
    pub fn take(&self, indices: &UInt32Array) -> Result<Self, ArrowError> {
        let rows = compute::take_record_batch(&self.rows, indices)?;
        let Some(kinds) = &self.kinds else { return Ok(Self::inserts(rows)) };
        let taken = indices.values().iter().map(|row| kinds.get(*row as usize)).collect();
        Ok(Self::new(rows, taken))
    }

    /// The bytes the columns occupy.
    pub fn memory(&self) -> usize {
        self.rows.get_array_memory_size() + self.kinds.as_ref().map_or(0, RowKinds::len)
    }
}
