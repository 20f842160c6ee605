//! Sorted runs on disk, for a sort that has no room in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use flott_state::{
    RowCodec, SortColumn, SortKeyEncoder, SpillFile, SpillReader, SpillSpace, StateError,
};
use flott_types::{DataType, Schema};

use crate::Result;

/// What reading and writing buffers of all runs take together, at most, in bytes each.
const BUFFER: usize = 64 << 10;

/// Rows on disk in sorted runs.
pub(super) struct Runs {
    codec: RowCodec,
    columns: Vec<usize>,
    encoder: SortKeyEncoder,
    files: Vec<SpillFile>,
}

/// Rows of all runs in order; equal ones in the order in which they came.
pub(super) struct MergedRuns<'a> {
    codec: &'a RowCodec,
    runs: Vec<SpillReader>,
    /// The first row of each run.
    heads: BinaryHeap<Reverse<FirstRow>>,
}

/// A row that is the first of its run: its sort key, the run, and the row.
type FirstRow = (Vec<u8>, usize, Vec<u8>);

impl Runs {
    /// No run; rows are of `schema` and sorted by columns with their order.
    pub fn new(schema: &Schema, keys: &[(usize, arrow::compute::SortOptions)]) -> Result<Self> {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        let by: Vec<SortColumn> = keys
            .iter()
            .map(|(column, options)| SortColumn {
                data_type: types[*column].clone(),
                descending: options.descending,
                nulls_first: options.nulls_first,
            })
            .collect();
        Ok(Self {
            codec: RowCodec::new(&types),
            columns: keys.iter().map(|(column, _)| *column).collect(),
            encoder: SortKeyEncoder::new(&by)?,
            files: Vec::new(),
        })
    }

    /// Whether nothing is on disk.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes rows as a run, of which only the first `limit` are needed.
    pub fn push(
        &mut self,
        batches: &[RecordBatch],
        limit: Option<u64>,
        space: &SpillSpace,
    ) -> Result<()> {
        let mut sorted: Vec<(usize, usize)> = Vec::new();
        let mut keys = Vec::with_capacity(batches.len());
        for (at, batch) in batches.iter().enumerate() {
            let by: Vec<ArrayRef> =
                self.columns.iter().map(|column| batch.column(*column).clone()).collect();
            keys.push(self.encoder.encode(&by)?);
            sorted.extend((0..batch.num_rows()).map(|row| (at, row)));
        }
        sorted.sort_by(|a, b| keys[a.0].row(a.1).cmp(keys[b.0].row(b.1)));
        if let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) {
            sorted.truncate(limit);
        }
        let rows = batches
            .iter()
            .map(|batch| self.codec.encode(batch.columns(), batch.num_rows()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut file = space.file(BUFFER)?;
        for (batch, row) in sorted {
            file.push(keys[batch].row(row))?;
            file.push(rows[batch].row(row))?;
        }
        self.files.push(file);
        Ok(())
    }

    /// Reads all runs together, through buffers of at most `room` bytes.
    pub fn merge(&mut self, room: usize) -> Result<MergedRuns<'_>> {
        let files = std::mem::take(&mut self.files);
        let buffer = (room / files.len().max(1)).clamp(4 << 10, 4 * BUFFER);
        let mut merged =
            MergedRuns { codec: &self.codec, runs: Vec::new(), heads: BinaryHeap::new() };
        for (run, file) in files.into_iter().enumerate() {
            merged.runs.push(file.read(buffer)?);
            merged.advance(run)?;
        }
        Ok(merged)
    }
}

impl MergedRuns<'_> {
    /// Up to `rows` rows more as columns, and how many they are.
    pub fn next(&mut self, rows: usize) -> Result<(Vec<ArrayRef>, usize)> {
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(rows);
        while ends.len() < rows
            && let Some(row) = self.pop()?
        {
            bytes.extend_from_slice(&row);
            ends.push(bytes.len());
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let rows: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| &bytes[start..*end]).collect();
        Ok((self.codec.decode(&rows)?, rows.len()))
    }

    /// Passes over up to `rows` rows.
    pub fn skip(&mut self, rows: u64) -> Result<()> {
        for _ in 0..rows {
            if self.pop()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<Vec<u8>>, StateError> {
        let Some(Reverse((_, run, row))) = self.heads.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(row))
    }

    /// Reads the next row of a run.
    fn advance(&mut self, run: usize) -> Result<(), StateError> {
        let (mut key, mut row) = (Vec::new(), Vec::new());
        if self.runs[run].next(&mut key)? && self.runs[run].next(&mut row)? {
            self.heads.push(Reverse((key, run, row)));
        }
        Ok(())
    }
}
