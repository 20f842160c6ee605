//! Rows with the bytes by which they are ordered.

use std::cmp::Ordering;

use arrow::array::ArrayRef;
use flott_plan::physical::RowOrder;
use flott_state::{EncodedRows, RowStore, SortColumn, SortKeyEncoder, StateDecoder, StateEncoder};
use flott_types::{DataType, Schema};

use super::{KeptRows, Run};
use crate::Result;
use crate::operators::aggregation::pick;

/// Rows gathered or encoded together when state is taken up again.
const CHUNK: usize = 4096;

/// Rows kept by number, each with its sort key: bytes whose order is the rows' order.
pub(in crate::operators) struct SortedRows {
    columns: Vec<usize>,
    by: Vec<SortColumn>,
    newest_first: bool,
    encoder: Option<SortKeyEncoder>,
    rows: RowStore,
    /// The sort keys, under the numbers of their rows: both stores get and lose rows together, and
    /// so number them alike.
    keys: RowStore,
}

/// The rows of a batch, ready to be compared and kept.
pub(in crate::operators) struct Arrivals {
    rows: EncodedRows,
    keys: Option<EncodedRows>,
}

impl SortedRows {
    /// No rows yet; they are of `schema` and ordered by `order`.
    pub fn new(schema: &Schema, order: &RowOrder) -> Result<Self> {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        let by: Vec<SortColumn> = order
            .columns
            .iter()
            .map(|key| SortColumn {
                data_type: types[key.column].clone(),
                descending: key.descending,
                nulls_first: key.nulls_first,
            })
            .collect();
        let encoder = (!by.is_empty()).then(|| SortKeyEncoder::new(&by)).transpose()?;
        Ok(Self {
            columns: order.columns.iter().map(|key| key.column).collect(),
            by,
            newest_first: order.newest_first,
            encoder,
            rows: RowStore::new(&types),
            keys: RowStore::new(&[]),
        })
    }

    /// Encodes the rows of a batch.
    pub fn arrivals(&self, columns: &[ArrayRef], rows: usize) -> Result<Arrivals> {
        Ok(Arrivals { rows: self.rows.encode(columns, rows)?, keys: self.sort_keys(columns)? })
    }

    /// The sort keys of a batch's rows; `None` where all rows are equal.
    pub fn sort_keys(&self, columns: &[ArrayRef]) -> Result<Option<EncodedRows>> {
        let Some(encoder) = &self.encoder else { return Ok(None) };
        Ok(Some(encoder.encode(&pick(columns, &self.columns))?))
    }

    /// Keeps a row and gives its number.
    pub fn insert(&mut self, arrivals: &Arrivals, row: usize) -> Result<u32> {
        let id = self.rows.insert(&arrivals.rows, row)?;
        if let Some(keys) = &arrivals.keys {
            let key = self.keys.insert(keys, row)?;
            debug_assert_eq!(id, key);
        }
        Ok(id)
    }

    /// The sort key of a kept row.
    #[inline]
    pub fn key(&self, id: u32) -> &[u8] {
        if self.encoder.is_some() { self.keys.bytes(id) } else { &[] }
    }

    /// Whether a kept row goes before one of the batch, which came after it.
    #[inline]
    pub fn goes_before(&self, id: u32, arrivals: &Arrivals, row: usize) -> bool {
        self.key_goes_before(id, arrivals.key(row))
    }

    /// Whether a kept row goes before one that came after it and has this sort key.
    #[inline]
    pub fn key_goes_before(&self, id: u32, key: &[u8]) -> bool {
        match self.key(id).cmp(key) {
            Ordering::Less => true,
            Ordering::Equal => !self.newest_first,
            Ordering::Greater => false,
        }
    }

    /// Where a row of the batch belongs among the rows of a run.
    pub fn place(&self, run: &Run, arrivals: &Arrivals, row: usize) -> usize {
        match run.last() {
            Some(last) if !self.goes_before(last, arrivals, row) => {
                run.partition_point(|id| self.goes_before(id, arrivals, row))
            }
            _ => run.len(),
        }
    }

    /// Where in a run the row stands that a row of the batch takes back: the first that is equal.
    pub fn find(&self, run: &Run, arrivals: &Arrivals, row: usize) -> Option<usize> {
        let key = arrivals.key(row);
        let from = run.partition_point(|id| self.key(id) < key);
        run.iter_from(from)
            .take_while(|id| self.key(*id) == key)
            .position(|id| self.rows.is_row(id, &arrivals.rows, row))
            .map(|offset| from + offset)
    }

    /// Where in a run a kept row stands, which must be in it.
    pub fn position(&self, run: &Run, id: u32) -> Option<usize> {
        let key = self.key(id);
        let from = run.partition_point(|other| self.key(other) < key);
        run.iter_from(from).position(|other| other == id).map(|offset| from + offset)
    }

    /// Whether a kept row equals one of the batch.
    pub fn is_row(&self, id: u32, arrivals: &Arrivals, row: usize) -> bool {
        self.rows.is_row(id, &arrivals.rows, row)
    }

    /// Writes the rows of a run in order.
    pub fn write(&self, run: &Run, out: &mut StateEncoder) {
        let ids: Vec<u32> = run.iter().collect();
        self.rows.write_rows(&ids, out);
    }

    /// Reads what [`Self::write`] wrote. Sort keys come with [`Self::restore_keys`].
    pub fn read(&mut self, input: &mut StateDecoder<'_>) -> flott_state::Result<Run> {
        let mut ids = Vec::new();
        self.rows.read_rows(input, &mut ids)?;
        Ok(ids.into_iter().collect())
    }

    /// Computes the sort keys of all rows, which were read into an empty store.
    pub fn restore_keys(&mut self) -> Result<()> {
        let ids: Vec<u32> = (0..self.rows.len() as u32).collect();
        for chunk in ids.chunks(CHUNK) {
            let columns = self.rows.gather(chunk)?;
            if let Some(keys) = self.sort_keys(&columns)? {
                self.keys.insert_all(&keys, &mut Vec::new())?;
            }
        }
        Ok(())
    }

    /// Computes the sort keys of rows that were read after all others, in the order in which they were.
    pub fn return_keys(&mut self, ids: &[u32]) -> Result<()> {
        if let Some(keys) = self.sort_keys(&self.rows.gather(ids)?)? {
            let mut numbers = Vec::new();
            self.keys.insert_all(&keys, &mut numbers)?;
            debug_assert_eq!(numbers, ids);
        }
        Ok(())
    }

    /// The same without any row.
    pub fn emptied(&self) -> Result<Self> {
        Ok(Self {
            columns: self.columns.clone(),
            by: self.by.clone(),
            newest_first: self.newest_first,
            encoder: (!self.by.is_empty()).then(|| SortKeyEncoder::new(&self.by)).transpose()?,
            rows: self.rows.emptied(),
            keys: self.keys.emptied(),
        })
    }

    /// What a snapshot's header says of the rows.
    pub fn schema(&self) -> String {
        self.rows.codec().schema()
    }

    /// The bytes the rows occupy.
    pub fn memory(&self) -> usize {
        self.rows.memory() + self.keys.memory()
    }
}

impl KeptRows for SortedRows {
    fn gather(&self, ids: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.gather(ids)?)
    }

    fn remove(&mut self, id: u32) {
        self.rows.remove(id);
        if self.encoder.is_some() {
            self.keys.remove(id);
        }
    }
}

impl Arrivals {
    /// The sort key of a row.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        self.keys.as_ref().map_or(&[], |keys| keys.row(row))
    }
}
