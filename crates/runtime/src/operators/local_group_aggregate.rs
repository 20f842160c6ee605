//! The first phase of GROUP BY: rows are aggregated before they are sent to the task of their key.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_plan::MiniBatch;
use flott_plan::physical::LocalGroupAggregate;
use flott_state::KeyIndex;
use flott_types::{ChangelogBatch, DataType, Schema};

use super::aggregation::{Aggregation, GroupedRows, pick};
use super::mini_batch::Pace;
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;

/// Aggregates the rows of a bundle by key, and gives for each key what the second phase adds to its group,
/// Flink's `MiniBatchLocalGroupAggFunction`.
///
/// Rows that are taken back are subtracted, whether they came in this bundle or before it: an
/// accumulator stands for a change. Keys come out in the order in which they came in. Nothing is kept
/// from one bundle to the next, and a checkpoint ends one.
pub struct LocalGroupAggregateOperator {
    keys: Vec<usize>,
    key_types: Vec<DataType>,
    index: KeyIndex,
    aggregation: Aggregation,
    /// Where rows may be taken back: the rows of each group, those taken back subtracted.
    counts: Option<Vec<i64>>,
    pace: Pace,
    schema: SchemaRef,
    state_bytes: usize,
    /// The group of each row.
    groups: Vec<u32>,
    created: Vec<u32>,
}

impl LocalGroupAggregateOperator {
    /// An operator over rows of `input` that gives columns of `schema`: keys, then those of a
    /// [`PartialLayout`](flott_plan::physical::PartialLayout).
    pub fn new(
        spec: &LocalGroupAggregate,
        limits: MiniBatch,
        input: &Schema,
        schema: SchemaRef,
    ) -> Result<Self> {
        let types: Vec<DataType> =
            spec.keys.iter().map(|key| input.fields[*key].data_type.clone()).collect();
        Ok(Self {
            keys: spec.keys.clone(),
            index: KeyIndex::new(&types),
            key_types: types,
            aggregation: Aggregation::new(&spec.calls, spec.input_retracts, None)?,
            counts: spec.input_retracts.then(Vec::new),
            pace: Pace::new(limits),
            schema,
            state_bytes: 0,
            groups: Vec::new(),
            created: Vec::new(),
        })
    }

    fn take_in(&mut self, batch: &ChangelogBatch, now: i64) -> Result<()> {
        let columns = batch.rows.columns();
        let encoded = self.index.encoder().encode(&pick(columns, &self.keys), batch.len())?;
        self.index.lookup_or_insert(&encoded, &mut self.groups, &mut self.created)?;
        let bound = self.index.slot_bound() as usize;
        self.aggregation.resize(bound);
        let signs: Option<Vec<i8>> = batch
            .kinds
            .as_ref()
            .map(|kinds| kinds.iter().map(|kind| if kind.adds() { 1 } else { -1 }).collect());
        if let Some(counts) = &mut self.counts {
            counts.resize(bound.max(counts.len()), 0);
            for (row, group) in self.groups.iter().enumerate() {
                counts[*group as usize] += signs.as_ref().map_or(1, |signs| signs[row].into());
            }
        }
        let rows = GroupedRows { columns, groups: &self.groups, signs: signs.as_deref(), now };
        self.aggregation.gather(&rows)
    }

    /// Gives what the bundle holds, then the watermark that waited for it.
    fn settle(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let watermark = self.pace.end(ctx);
        if !self.index.is_empty() {
            let changes = self.changes()?;
            self.account();
            ctx.emit(changes)?;
        }
        match watermark {
            Some(watermark) => ctx.emit_watermark(watermark),
            None => Ok(()),
        }
    }

    fn changes(&mut self) -> Result<ChangelogBatch> {
        let groups: Vec<u32> = self.index.slots().collect();
        let mut columns = self.index.key_columns(&groups)?;
        if let Some(counts) = &mut self.counts {
            let of = groups.iter().map(|group| counts[*group as usize]);
            columns.push(Arc::new(Int64Array::from_iter_values(of)) as ArrayRef);
            counts.clear();
        }
        columns.extend(self.aggregation.partials(&groups)?);
        self.aggregation.reset(&groups);
        self.index = KeyIndex::new(&self.key_types);
        let options = RecordBatchOptions::new().with_row_count(Some(groups.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        Ok(ChangelogBatch::inserts(rows))
    }

    fn account(&mut self) {
        let counts = self.counts.as_ref().map_or(0, |counts| counts.capacity() * 8);
        self.state_bytes = self.index.memory() + self.aggregation.memory() + counts;
    }
}

impl Operator for LocalGroupAggregateOperator {
    fn name(&self) -> &str {
        "LocalGroupAggregate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let mut start = 0;
        while start < batch.len() {
            let length = self.pace.room().min(batch.len() - start);
            self.take_in(&batch.slice(start, length), ctx.now())?;
            start += length;
            if self.pace.take(length) {
                self.settle(ctx)?;
            }
        }
        self.pace.watch(ctx);
        self.account();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.pace.hold(watermark) { Ok(()) } else { ctx.emit_watermark(watermark) }
    }

    fn on_timer(&mut self, _time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(ctx)
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(ctx)
    }

    fn before_snapshot(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(ctx)
    }

    fn can_snapshot(&self) -> bool {
        self.pace.rows() == 0
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
