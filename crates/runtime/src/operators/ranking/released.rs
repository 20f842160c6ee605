//! Rows that a watermark set free, on their way out.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_types::ChangelogBatch;

use super::KeptRows;
use crate::Result;
use crate::context::OperatorContext;
use crate::marks::{Mark, Marks};

/// Kept rows to be given as insertions and then forgotten, and the watermarks between them.
#[derive(Default)]
pub(in crate::operators) struct Released {
    ids: Vec<u32>,
    /// The rank of each row, if ranks are given.
    ranks: Vec<i64>,
    marks: Vec<Mark>,
}

impl Released {
    /// Gives a row.
    pub fn push(&mut self, id: u32) {
        self.ids.push(id);
    }

    /// Gives a row and its rank.
    pub fn push_ranked(&mut self, id: u32, rank: u64) {
        self.ids.push(id);
        self.ranks.push(i64::try_from(rank).unwrap_or(i64::MAX));
    }

    /// Notes that a watermark stands here.
    pub fn mark(&mut self, watermark: i64) {
        self.marks.push(Mark { row: self.ids.len() as u32, watermark });
    }

    /// Gives the rows and forgets them.
    pub fn emit(
        &mut self,
        kept: &mut impl KeptRows,
        schema: &SchemaRef,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks: Marks = self.marks.drain(..).collect();
        let (ids, ranks) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.ranks));
        for (chunk, ids) in ids.chunks(ChangelogBatch::MAX_ROWS).enumerate() {
            let from = chunk * ChangelogBatch::MAX_ROWS;
            let mut columns = kept.gather(ids)?;
            if !ranks.is_empty() {
                let ranks = ranks[from..from + ids.len()].to_vec();
                columns.push(Arc::new(Int64Array::from(ranks)) as ArrayRef);
            }
            let options = RecordBatchOptions::new().with_row_count(Some(ids.len()));
            let rows = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
            ctx.emit_marked(ChangelogBatch::inserts(rows), marks.slice(from, ids.len()))?;
        }
        ids.into_iter().for_each(|id| kept.remove(id));
        Ok(())
    }
}
