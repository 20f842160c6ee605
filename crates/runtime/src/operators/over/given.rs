//! Rows that were given with their results, and are given anew when those change.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_state::{
    EncodedRows, NO_ROW, RowCodec, RowStore, StateDecoder, StateEncoder, StateError,
};
use flott_types::{ChangelogBatch, DataType, Field, RowKind, RowKinds, Schema};

use crate::Result;

/// The rows of all partitions, each under a number, with the results that were given with it last.
pub(super) struct GivenRows {
    rows: RowStore,
    results: RowStore,
    /// By row, the number of its results.
    result_of: Vec<u32>,
    schema: SchemaRef,
}

/// Rows to come out, by their numbers and those of their results.
#[derive(Default)]
pub(super) struct Out {
    kinds: Vec<u8>,
    rows: Vec<u32>,
    results: Vec<u32>,
    /// Numbers that are free when the rows are out.
    left_rows: Vec<u32>,
    left_results: Vec<u32>,
}

impl Out {
    fn push(&mut self, kind: RowKind, row: u32, result: u32) {
        self.kinds.push(kind as u8);
        self.rows.push(row);
        self.results.push(result);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }
}

impl GivenRows {
    /// No row yet: rows of `input`, that come out as rows of `output`, whose last columns are the results.
    pub fn new(input: &Schema, output: &Schema) -> Self {
        let type_of = |field: &Field| field.data_type.clone();
        let types: Vec<DataType> = input.fields.iter().map(type_of).collect();
        let results = output.fields.iter().skip(types.len());
        let results: Vec<DataType> = results.map(type_of).collect();
        Self {
            rows: RowStore::new(&types),
            results: RowStore::new(&results),
            result_of: Vec::new(),
            schema: output.to_arrow(),
        }
    }

    /// What encodes rows of a batch.
    pub fn rows(&self) -> &RowCodec {
        self.rows.codec()
    }

    /// What encodes results.
    pub fn results(&self) -> &RowCodec {
        self.results.codec()
    }

    /// Keeps a row of a batch, whose results are still to come; gives its number.
    pub fn keep(&mut self, rows: &EncodedRows, row: usize) -> Result<u32> {
        let id = self.rows.insert(rows, row)?;
        self.set(id, NO_ROW);
        Ok(id)
    }

    /// Whether a kept row equals one of a batch.
    pub fn is_row(&self, id: u32, rows: &EncodedRows, row: usize) -> bool {
        self.rows.is_row(id, rows, row)
    }

    /// Kept rows as columns, without their results.
    pub fn gather(&self, ids: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.gather(ids)?)
    }

    /// Gives a row that came, or one whose results are no longer what they were; with `repeats` also one whose
    /// results are. `came` is the kind in which it came.
    pub fn settle(
        &mut self,
        id: u32,
        (results, at): (&EncodedRows, usize),
        came: Option<RowKind>,
        repeats: bool,
        out: &mut Out,
    ) -> Result<()> {
        let old = self.result_of[id as usize];
        if came.is_none() && !repeats && self.results.is_row(old, results, at) {
            return Ok(());
        }
        let new = self.results.insert(results, at)?;
        self.result_of[id as usize] = new;
        match came {
            Some(kind) => out.push(kind, id, new),
            None => {
                out.push(RowKind::UpdateBefore, id, old);
                out.push(RowKind::UpdateAfter, id, new);
                out.left_results.push(old);
            }
        }
        Ok(())
    }

    /// Gives a row that is taken back.
    pub fn leave(&self, id: u32, out: &mut Out) {
        let result = self.result_of[id as usize];
        out.push(RowKind::Delete, id, result);
        out.left_rows.push(id);
        out.left_results.push(result);
    }

    /// The rows to come out; those that left are forgotten.
    pub fn finish(&mut self, out: Out) -> Result<ChangelogBatch> {
        let mut columns = self.rows.gather(&out.rows)?;
        columns.extend(self.results.gather(&out.results)?);
        out.left_rows.into_iter().for_each(|id| self.rows.remove(id));
        out.left_results.into_iter().for_each(|id| self.results.remove(id));
        let options = RecordBatchOptions::new().with_row_count(Some(out.kinds.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        Ok(ChangelogBatch::new(rows, RowKinds::from(out.kinds)))
    }

    /// Forgets rows.
    pub fn forget(&mut self, ids: impl IntoIterator<Item = u32>) {
        for id in ids {
            self.results.remove(self.result_of[id as usize]);
            self.rows.remove(id);
        }
    }

    /// Gives all memory back: no row is kept.
    pub fn give_back(&mut self) {
        self.rows = self.rows.emptied();
        self.results = self.results.emptied();
        self.result_of = Vec::new();
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.rows.len() * size_of::<u32>()
            + self.rows.memory()
            + self.results.memory()
            + self.result_of.capacity() * size_of::<u32>()
    }

    /// Writes rows with their results.
    pub fn write(&self, ids: &[u32], out: &mut StateEncoder) {
        let results: Vec<u32> = ids.iter().map(|id| self.result_of[*id as usize]).collect();
        self.rows.write_rows(ids, out);
        self.results.write_rows(&results, out);
    }

    /// Reads what [`Self::write`] wrote; gives the new numbers of the rows.
    pub fn read(&mut self, input: &mut StateDecoder<'_>) -> Result<Vec<u32>, StateError> {
        let (mut ids, mut results) = (Vec::new(), Vec::new());
        self.rows.read_rows(input, &mut ids)?;
        self.results.read_rows(input, &mut results)?;
        if ids.len() != results.len() {
            return Err(input.damaged("rows without results"));
        }
        ids.iter().zip(results).for_each(|(id, result)| self.set(*id, result));
        Ok(ids)
    }

    fn set(&mut self, id: u32, result: u32) {
        if id as usize >= self.result_of.len() {
            self.result_of.resize(id as usize + 1, NO_ROW);
        }
        self.result_of[id as usize] = result;
    }
}
