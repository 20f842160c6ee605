//! Batch mode without room in memory: both inputs are cut into parts by their keys' hash, on disk, and each part
//! is joined by itself.

use arrow::array::ArrayRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_state::{KeyBatch, RowCodec, SpillFile, SpillReader, SpillSpace, StateError};
use flott_types::ChangelogBatch;

use super::side::Side;
use super::{JoinOperator, LEFT};
use crate::Result;
use crate::context::OperatorContext;

const RIGHT: usize = 1;
/// The parts of an input.
const PARTS: usize = 128;
/// The bytes of the buffer through which each is written and read.
const BUFFER: usize = 16 << 10;

/// The parts of both inputs.
pub(super) struct Parts([Vec<SpillFile>; 2]);

impl Parts {
    fn new(space: &SpillSpace) -> Result<Self, StateError> {
        let files = || (0..PARTS).map(|_| space.file(BUFFER)).collect::<Result<Vec<_>, _>>();
        Ok(Self([files()?, files()?]))
    }

    fn push(
        &mut self,
        input: usize,
        keys: &KeyBatch,
        columns: &[ArrayRef],
        codec: &RowCodec,
    ) -> Result<()> {
        let rows = codec.encode(columns, keys.len())?;
        for (hash, row) in keys.hashes().iter().zip(rows.iter()) {
            self.0[input][(hash >> 32) as usize % PARTS].push(row)?;
        }
        Ok(())
    }
}

impl JoinOperator {
    /// Moves what is kept to disk, in parts, and all that comes from now on.
    pub(super) fn begin_parts(&mut self, space: &SpillSpace) -> Result<()> {
        let mut parts = Parts::new(space)?;
        let kept = self.sides[RIGHT].all_rows();
        for chunk in kept.chunks(ChangelogBatch::MAX_ROWS) {
            let columns = self.sides[RIGHT].columns(chunk)?;
            self.sides[RIGHT].divide(RIGHT, &columns, chunk.len(), &mut parts)?;
        }
        self.sides[RIGHT].give_back_all();
        for batch in std::mem::take(&mut self.waiting) {
            self.sides[LEFT].divide(LEFT, batch.rows.columns(), batch.len(), &mut parts)?;
        }
        self.waiting_bytes = 0;
        self.parts = Some(parts);
        self.account();
        Ok(())
    }

    /// Takes in a batch of an input that is kept in parts.
    pub(super) fn divide(&mut self, input: usize, batch: &ChangelogBatch) -> Result<()> {
        if let Some(parts) = &mut self.parts {
            self.sides[input].divide(input, batch.rows.columns(), batch.len(), parts)?;
        }
        Ok(())
    }

    /// Joins the parts, when both inputs have ended.
    pub(super) fn join_parts(&mut self, parts: Parts, ctx: &mut OperatorContext) -> Result<()> {
        let [left, right] = parts.0;
        for (left, right) in left.into_iter().zip(right) {
            let mut right = right.read(BUFFER)?;
            while let Some(batch) = self.next_rows(RIGHT, &mut right)? {
                self.keep_right(&batch, ctx.now())?;
                self.must_fit(ctx)?;
            }
            let mut left = left.read(BUFFER)?;
            while let Some(batch) = self.next_rows(LEFT, &mut left)? {
                self.join(LEFT, &batch, ctx)?;
            }
            if self.kind.keeps_right() {
                self.give_unmatched_right(ctx)?;
            }
            self.sides[RIGHT].give_back_all();
        }
        self.account();
        Ok(())
    }

    /// The rows of one part, which hardly outgrow memory unless most rows have one key.
    fn must_fit(&self, ctx: &OperatorContext) -> Result<()> {
        let (bytes, memory) = (self.state_bytes as u64, &ctx.task().memory);
        if bytes <= memory.limit() {
            return Ok(());
        }
        Err(StateError::OverBudget {
            operator: ctx.task().name.clone(),
            operator_bytes: bytes,
            spills: true,
            in_flight: memory.in_flight(),
            used: memory.used().max(bytes),
            limit: memory.limit(),
        }
        .into())
    }

    fn next_rows(&self, input: usize, from: &mut SpillReader) -> Result<Option<ChangelogBatch>> {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        while ends.len() < ChangelogBatch::MAX_ROWS && from.next(&mut bytes)? {
            ends.push(bytes.len());
        }
        if ends.is_empty() {
            return Ok(None);
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let rows: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| &bytes[start..*end]).collect();
        let columns = self.sides[input].codec().decode(&rows)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let schema = self.inputs[input].clone();
        let rows = RecordBatch::try_new_with_options(schema, columns, &options)?;
        Ok(Some(ChangelogBatch::inserts(rows)))
    }
}

impl Side {
    fn divide(
        &self,
        input: usize,
        columns: &[ArrayRef],
        rows: usize,
        parts: &mut Parts,
    ) -> Result<()> {
        parts.push(input, &self.encode_keys(columns, rows)?, columns, self.codec())
    }
}
