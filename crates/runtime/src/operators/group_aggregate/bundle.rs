//! Mini-batches: rows are taken in as they come, and the net change of each group is given together.

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::Int64Type;
use flott_plan::MiniBatch;
use flott_plan::physical::AggregatePhase;
use flott_state::{BitSet, EncodedRows, KeyBatch, RowCodec};
use flott_types::{ChangelogBatch, RowKind, RowKinds};

use super::GroupAggregateOperator;
use super::lives::Lives;
use crate::context::OperatorContext;
use crate::operators::aggregation::{Aggregation, GroupedRows};
use crate::operators::mini_batch::Pace;
use crate::{Result, RuntimeError};

/// The groups that rows touched since the last mini-batch, and what their results were before.
pub(super) struct Bundle {
    pace: Pace,
    codec: RowCodec,
    /// The slots touched, in the order in which they were.
    touched: Vec<u32>,
    is_touched: BitSet,
    /// For each of them the end of its result in `bytes`, and whether it had one.
    before: Vec<(usize, bool)>,
    bytes: Vec<u8>,
    /// Slots whose group ended at some moment.
    vacated: Vec<u32>,
}

impl Bundle {
    /// An empty bundle of results of an aggregation.
    pub fn new(limits: MiniBatch, aggregation: &Aggregation) -> Self {
        let types = aggregation.compared_types();
        Self {
            pace: Pace::new(limits),
            codec: RowCodec::new(&types),
            touched: Vec::new(),
            is_touched: BitSet::new(),
            before: Vec::new(),
            bytes: Vec::new(),
            vacated: Vec::new(),
        }
    }

    /// Whether no change waits.
    pub fn is_empty(&self) -> bool {
        self.pace.rows() == 0
    }

    fn keep(&mut self, result: Option<&[u8]>) {
        self.bytes.extend_from_slice(result.unwrap_or_default());
        self.before.push((self.bytes.len(), result.is_some()));
    }

    /// The result that the `at`th slot touched had before.
    fn before(&self, at: usize) -> Option<&[u8]> {
        let start = at.checked_sub(1).map_or(0, |last| self.before[last].0);
        let (end, is_some) = self.before[at];
        is_some.then(|| &self.bytes[start..end])
    }

    fn clear(&mut self) {
        self.touched.clear();
        self.is_touched.clear();
        self.before.clear();
        self.bytes.clear();
    }

    /// Whether the bundle holds changes of a slot's group.
    pub fn holds(&self, slot: u32) -> bool {
        self.is_touched.contains(slot)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let lists = self.touched.capacity() * 4 + self.before.capacity() * 16;
        self.bytes.capacity() + lists + self.is_touched.memory() + self.vacated.capacity() * 4
    }
}

impl GroupAggregateOperator {
    /// Takes in a batch, and gives the net changes each time that the bundle is full.
    pub(super) fn gather(
        &mut self,
        mut bundle: Bundle,
        batch: &ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<Bundle> {
        let mut start = 0;
        while start < batch.len() {
            let length = bundle.pace.room().min(batch.len() - start);
            self.take_in(&mut bundle, &batch.slice(start, length), ctx.now())?;
            start += length;
            if bundle.pace.take(length) {
                self.settle(&mut bundle, ctx)?;
            }
        }
        bundle.pace.watch(ctx);
        self.state_bytes += bundle.memory();
        Ok(bundle)
    }

    fn take_in(&mut self, bundle: &mut Bundle, batch: &ChangelogBatch, now: i64) -> Result<()> {
        let columns = batch.rows.columns();
        let keys = super::pick(columns, &self.keys);
        let encoded: KeyBatch = self.slots.encoder().encode(&keys, batch.len())?;
        self.load(&encoded, now)?;
        self.slots.write(&encoded, now, &mut self.row_slots, &mut self.fresh)?;
        self.slots.meet(&self.row_slots);
        self.remember(bundle)?;
        match self.lives.take() {
            None => {
                self.make_room();
                let groups = &self.row_slots;
                match self.phase {
                    AggregatePhase::Complete => {
                        let rows = GroupedRows { columns, groups, signs: None, now };
                        self.aggregation.update(&rows)?;
                    }
                    AggregatePhase::Global => {
                        let partials = &columns[self.keys.len()..];
                        self.aggregation.merge_partials(groups, partials, now)?;
                    }
                }
            }
            Some(mut lives) => {
                let applied = match self.phase {
                    AggregatePhase::Complete => self.apply_gathered(bundle, batch, &mut lives, now),
                    AggregatePhase::Global => self.merge_gathered(bundle, columns, &mut lives, now),
                };
                self.lives = Some(lives);
                applied?;
            }
        }
        self.account();
        Ok(())
    }

    fn apply_gathered(
        &mut self,
        bundle: &mut Bundle,
        batch: &ChangelogBatch,
        lives: &mut Lives,
        now: i64,
    ) -> Result<()> {
        let steps = lives.step(batch, &self.row_slots, &self.fresh);
        self.aggregation.resize(lives.bound());
        self.aggregation.update(&GroupedRows {
            columns: batch.rows.columns(),
            groups: &steps.groups,
            signs: Some(&steps.signs),
            now,
        })?;
        // Their keys are needed when the changes are given.
        bundle.vacated.extend(steps.vacated);
        self.aggregation.reset(&lives.release());
        Ok(())
    }

    /// Adds what the first phase made of rows, some of which may take others back.
    fn merge_gathered(
        &mut self,
        bundle: &mut Bundle,
        columns: &[ArrayRef],
        lives: &mut Lives,
        now: i64,
    ) -> Result<()> {
        let (counts, partials) = match columns.get(self.keys.len()..) {
            Some([counts, partials @ ..]) => (counts, partials),
            _ => return Err(RuntimeError::internal("", "rows of the first phase without a count")),
        };
        let counts = counts
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| RuntimeError::internal("", "a count of rows that is no BIGINT"))?;
        let merge = lives.merge(counts.values(), &self.row_slots, &self.fresh);
        self.aggregation.resize(lives.bound());
        if merge.rows.len() == counts.len() {
            self.aggregation.merge_partials(&merge.groups, partials, now)?;
        } else {
            let rows = UInt32Array::from(merge.rows);
            let partials = partials.iter().map(|column| take(column, &rows, None));
            let partials: Vec<ArrayRef> = partials.collect::<Result<_, _>>()?;
            self.aggregation.merge_partials(&merge.groups, &partials, now)?;
        }
        bundle.vacated.extend(merge.vacated);
        self.aggregation.reset(&lives.release());
        Ok(())
    }

    /// Keeps the results of groups that rows are about to touch for the first time.
    fn remember(&mut self, bundle: &mut Bundle) -> Result<()> {
        let mut fresh = self.fresh.iter().peekable();
        let mut groups = Vec::new();
        let mut has_result = Vec::new();
        for (row, slot) in (0u32..).zip(&self.row_slots) {
            let is_fresh = fresh.next_if(|fresh| **fresh == row).is_some();
            if !bundle.is_touched.insert(*slot) {
                continue;
            }
            bundle.touched.push(*slot);
            let group = if is_fresh { None } else { self.live_group(*slot) };
            groups.extend(group);
            has_result.push(group.is_some());
        }
        let results = self.encoded_results(bundle, &groups)?;
        let mut next = 0;
        for has_result in has_result {
            if has_result {
                bundle.keep(Some(results.row(next)));
                next += 1;
            } else {
                bundle.keep(None);
            }
        }
        Ok(())
    }

    fn encoded_results(&self, bundle: &Bundle, groups: &[u32]) -> Result<EncodedRows> {
        Ok(bundle.codec.encode(&self.aggregation.compared(groups)?, groups.len())?)
    }

    /// Gives the net change of each group touched, then the watermark that waited for it.
    pub(super) fn settle(&mut self, bundle: &mut Bundle, ctx: &mut OperatorContext) -> Result<()> {
        let rows = bundle.pace.rows();
        let watermark = bundle.pace.end(ctx);
        if rows > 0 {
            let changes = self.net_changes(bundle)?;
            for slot in std::mem::take(&mut bundle.vacated) {
                if self.live_group(slot).is_none() {
                    self.slots.remove(slot);
                }
            }
            if self.slots.meta().ttl().is_some() {
                self.sweep(ctx.now(), rows)?;
            }
            bundle.clear();
            self.account();
            ctx.emit(changes)?;
        }
        match watermark {
            Some(watermark) => ctx.emit_watermark(watermark),
            None => Ok(()),
        }
    }

    fn net_changes(&self, bundle: &Bundle) -> Result<ChangelogBatch> {
        let groups: Vec<Option<u32>> =
            bundle.touched.iter().map(|slot| self.live_group(*slot)).collect();
        let live: Vec<u32> = groups.iter().flatten().copied().collect();
        let results = self.encoded_results(bundle, &live)?;
        let repeats = self.slots.meta().ttl().is_some();
        let (mut slots, mut rows, mut kinds): (Vec<u32>, Vec<&[u8]>, Vec<u8>) = Default::default();
        let mut next = 0;
        for (at, slot) in bundle.touched.iter().enumerate() {
            let after = groups[at].map(|_| {
                next += 1;
                results.row(next - 1)
            });
            let mut push = |row, kind: RowKind| {
                slots.push(*slot);
                rows.push(row);
                kinds.push(kind as u8);
            };
            match (bundle.before(at), after) {
                (None, None) => {}
                (None, Some(after)) => push(after, RowKind::Insert),
                (Some(before), None) => push(before, RowKind::Delete),
                (Some(before), Some(after)) if before != after || repeats => {
                    if self.emit_update_before {
                        push(before, RowKind::UpdateBefore);
                    }
                    push(after, RowKind::UpdateAfter);
                }
                (Some(_), Some(_)) => {}
            }
        }
        let mut columns: Vec<ArrayRef> = self.slots.key_columns(&slots)?;
        columns.extend(bundle.codec.decode(&rows)?);
        // Behind the results is what was compared only.
        columns.truncate(self.schema.fields().len());
        let options = RecordBatchOptions::new().with_row_count(Some(slots.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        Ok(ChangelogBatch::new(rows, RowKinds::from(kinds)))
    }

    /// Gives what the bundle holds.
    pub(super) fn settle_bundle(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let Some(mut bundle) = self.bundle.take() else { return Ok(()) };
        let settled = self.settle(&mut bundle, ctx);
        self.bundle = Some(bundle);
        settled
    }

    /// Lets a watermark wait for the rows before it; whether it does.
    pub(super) fn holds_back(&mut self, watermark: i64) -> bool {
        self.bundle.as_mut().is_some_and(|bundle| bundle.pace.hold(watermark))
    }
}
