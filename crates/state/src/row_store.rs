//! Rows kept by number: the rows of join sides, Top-N and OVER.

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::error::{Result, StateError};
use crate::rows::{EncodedRows, RowCodec};
use crate::slab::{ByteRef, ByteSlab};
use crate::snapshot::{StateDecoder, StateEncoder};

/// No row: [`RowStore::gather`] gives NULLs for it.
pub const NO_ROW: u32 = u32::MAX;

/// Rows as bytes, each under a small number.
///
/// A removed row's number goes to a later row.
#[derive(Debug)]
pub struct RowStore {
    codec: RowCodec,
    places: Vec<ByteRef>,
    slab: ByteSlab,
    /// Numbers that belong to no row.
    free: Vec<u32>,
    null_row: Vec<u8>,
}

impl RowStore {
    /// No row yet; rows are of these types.
    pub fn new(types: &[DataType]) -> Self {
        let codec = RowCodec::new(types);
        Self {
            null_row: codec.null_row(),
            codec,
            places: Vec::new(),
            slab: ByteSlab::default(),
            free: Vec::new(),
        }
    }

    /// The codec of the rows.
    pub fn codec(&self) -> &RowCodec {
        &self.codec
    }

    /// Encodes a batch's rows, to insert them or to compare them with rows in the store.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<EncodedRows> {
        self.codec.encode(columns, rows)
    }

    /// Keeps a row of a batch and gives its number.
    pub fn insert(&mut self, rows: &EncodedRows, row: usize) -> Result<u32> {
        self.insert_bytes(rows.row(row))
    }

    /// Keeps all rows of a batch and appends their numbers to `ids`.
    pub fn insert_all(&mut self, rows: &EncodedRows, ids: &mut Vec<u32>) -> Result<()> {
        ids.reserve(rows.len());
        for row in rows.iter() {
            ids.push(self.insert_bytes(row)?);
        }
        Ok(())
    }

    /// Encodes and keeps all rows of a batch.
    pub fn push_batch(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        self.insert_all(&self.encode(columns, rows)?, &mut ids)?;
        Ok(ids)
    }

    /// Puts a batch's row in the place of row `id`, whose number stays.
    pub fn replace(&mut self, id: u32, rows: &EncodedRows, row: usize) -> Result<()> {
        let place = self.slab.insert(rows.row(row)).ok_or_else(full)?;
        self.slab.remove(std::mem::replace(&mut self.places[id as usize], place));
        Ok(())
    }

    /// Whether row `id` equals a batch's row: which stored row a retraction means.
    #[inline]
    pub fn is_row(&self, id: u32, rows: &EncodedRows, row: usize) -> bool {
        self.bytes(id) == rows.row(row)
    }

    /// The bytes of row `id`.
    #[inline]
    pub fn bytes(&self, id: u32) -> &[u8] {
        self.slab.bytes(self.places[id as usize])
    }

    /// The rows as columns, in the order of `ids`; NULLs for [`NO_ROW`].
    pub fn gather(&self, ids: &[u32]) -> Result<Vec<ArrayRef>> {
        self.codec.decode(&self.rows(ids))
    }

    /// Some columns of the rows, in the order of `ids`; NULLs for [`NO_ROW`].
    pub fn gather_columns(&self, ids: &[u32], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
        self.codec.decode_columns(&self.rows(ids), wanted)
    }

    fn rows(&self, ids: &[u32]) -> Vec<&[u8]> {
        let row = |id: &u32| if *id == NO_ROW { &self.null_row } else { self.bytes(*id) };
        ids.iter().map(row).collect()
    }

    /// Forgets row `id`, which must be in the store.
    pub fn remove(&mut self, id: u32) {
        self.slab.remove(std::mem::take(&mut self.places[id as usize]));
        self.free.push(id);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes the rows occupy.
    pub fn memory(&self) -> usize {
        self.slab.memory()
            + self.places.capacity() * size_of::<ByteRef>()
            + self.free.capacity() * 4
    }

    /// Writes rows, as part of the value of the key they belong to.
    pub fn write_rows(&self, ids: &[u32], out: &mut StateEncoder) {
        out.list(ids.iter(), |out, id| out.bytes(self.bytes(*id)));
    }

    /// Reads what [`Self::write_rows`] wrote and appends the rows' new numbers to `ids`.
    pub fn read_rows(&mut self, input: &mut StateDecoder<'_>, ids: &mut Vec<u32>) -> Result<()> {
        let rows = input.list(StateDecoder::bytes)?;
        // Rows of a file are decoded once, so that those in the store are known to decode.
        self.codec.decode(&rows)?;
        for row in rows {
            ids.push(self.insert_bytes(row)?);
        }
        Ok(())
    }

    /// Reads what [`Self::write_rows`] wrote of one row and gives its new number.
    pub fn read_row(&mut self, input: &mut StateDecoder<'_>) -> Result<u32> {
        if input.count()? != 1 {
            return Err(input.damaged("not one row for a key"));
        }
        let row = input.bytes()?;
        self.codec.decode(&[row])?;
        self.insert_bytes(row)
    }

    /// A store of rows of the same types without any row.
    pub fn emptied(&self) -> Self {
        Self::new(self.codec.types())
    }

    fn insert_bytes(&mut self, row: &[u8]) -> Result<u32> {
        let place = self.slab.insert(row).ok_or_else(full)?;
        if let Some(id) = self.free.pop() {
            self.places[id as usize] = place;
            return Ok(id);
        }
        if self.places.len() == NO_ROW as usize {
            return Err(full());
        }
        self.places.push(place);
        Ok(self.places.len() as u32 - 1)
    }
}

fn full() -> StateError {
    StateError::Full { what: "rows, or 8-byte units of them,", limit: NO_ROW }
}
