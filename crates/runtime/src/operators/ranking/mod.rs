//! What Top-N, deduplication and sorting share: rows in order, and the changes of their ranks.

mod changes;
mod released;
mod run;
mod sorted_rows;

use arrow::array::ArrayRef;
use flott_state::RowStore;

use crate::Result;
pub(super) use changes::{Changes, Given};
pub(super) use released::Released;
pub(super) use run::Run;
pub(super) use sorted_rows::{Arrivals, SortedRows};

/// Rows kept by number.
pub(super) trait KeptRows {
    /// The rows as columns, in the order of `ids`.
    fn gather(&self, ids: &[u32]) -> Result<Vec<ArrayRef>>;

    /// Forgets a row.
    fn remove(&mut self, id: u32);
}

impl KeptRows for RowStore {
    fn gather(&self, ids: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(RowStore::gather(self, ids)?)
    }

    fn remove(&mut self, id: u32) {
        RowStore::remove(self, id);
    }
}
