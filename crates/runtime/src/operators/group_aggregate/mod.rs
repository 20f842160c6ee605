//! GROUP BY over a changelog, and SELECT DISTINCT.

mod bundle;
mod emission;
mod lives;
mod spill;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod two_phase_tests;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_plan::MiniBatch;
use flott_plan::physical::{AggregatePhase, GroupAggregate};
use flott_state::{KeySlots, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, Schema};

use super::aggregation::{Aggregation, GroupReader, GroupWriter, GroupedRows, pick};
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};
use bundle::Bundle;
use emission::Emission;
use lives::Lives;
use spill::read_group;

/// The name and version of its state.
const SECTION: &str = "groups";
const VERSION: u16 = 1;

/// Groups looked at for expiry with each batch, beside one for each row.
const SWEEP: usize = 64;

/// Keeps aggregates by key and gives every change of a group's row, Flink's `GroupAggFunction`:
///
/// - A group's first row gives +I, later ones −U and +U if they change the result, the one that takes its
///   last row back −D.
/// - What is taken back from an unknown group is passed over.
/// - With a TTL unchanged results are given too, so that operators after this one keep theirs alive.
/// - With mini-batch the net change of each group is given when the bundle is full or old enough; a
///   watermark waits for the rows before it.
/// - In batch mode the end of the input gives one row a group, in the order in which groups came, or in
///   that of the disk where groups went there.
pub struct GroupAggregateOperator {
    keys: Vec<usize>,
    emit_update_before: bool,
    final_only: bool,
    phase: AggregatePhase,
    slots: KeySlots,
    /// Where rows may be taken back: the group that each slot's key has now.
    lives: Option<Lives>,
    aggregation: Aggregation,
    /// With mini-batch: the groups whose changes are not given yet.
    bundle: Option<Bundle>,
    schema: SchemaRef,
    state_bytes: usize,
    /// The slot of each row, and the rows before which their slot must be reset.
    row_slots: Vec<u32>,
    fresh: Vec<u32>,
}

impl GroupAggregateOperator {
    /// An operator over rows of `input` that gives columns of `schema`: keys, then results. The second
    /// phase of two gathers rows always.
    pub fn new(
        spec: &GroupAggregate,
        mini_batch: Option<MiniBatch>,
        input: &Schema,
        schema: SchemaRef,
    ) -> Result<Self> {
        if spec.phase == AggregatePhase::Global && (mini_batch.is_none() || spec.final_only) {
            return Err(RuntimeError::internal("", "a second phase that gathers no rows"));
        }
        let types: Vec<DataType> =
            spec.keys.iter().map(|key| input.fields[*key].data_type.clone()).collect();
        let ttl = Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX));
        let ttl = ttl.filter(|_| !spec.final_only);
        let aggregation = Aggregation::new(&spec.calls, spec.input_retracts, ttl)?;
        Ok(Self {
            keys: spec.keys.clone(),
            emit_update_before: spec.emit_update_before,
            final_only: spec.final_only,
            slots: KeySlots::new(&types, ttl),
            lives: spec.input_retracts.then(Lives::default),
            phase: spec.phase,
            bundle: mini_batch
                .filter(|_| !spec.final_only)
                .map(|limits| Bundle::new(limits, &aggregation)),
            aggregation,
            schema,
            state_bytes: 0,
            row_slots: Vec::new(),
            fresh: Vec::new(),
        })
    }

    /// Takes in rows that are all added; a key's slot is its group.
    fn insert(&mut self, columns: &[ArrayRef], now: i64, out: &mut Emission) -> Result<()> {
        self.make_room();
        let rows = GroupedRows { columns, groups: &self.row_slots, signs: None, now };
        if self.final_only {
            return self.aggregation.update(&rows);
        }
        let mut changed = vec![out.repeats(); self.row_slots.len()];
        let pairs = self.aggregation.update_with_changes(&rows, &mut changed)?;
        out.inserted(&self.fresh, &changed);
        out.set_results(pairs);
        Ok(())
    }

    /// Makes room for the groups of rows that are all added, and empties those that expired.
    fn make_room(&mut self) {
        self.aggregation.resize(self.slots.index().slot_bound() as usize);
        if self.slots.meta().ttl().is_some() {
            let stale: Vec<u32> =
                self.fresh.iter().map(|row| self.row_slots[*row as usize]).collect();
            self.aggregation.reset(&stale);
        }
    }

    /// Takes in rows of all kinds.
    fn apply(
        &mut self,
        batch: &ChangelogBatch,
        lives: &mut Lives,
        now: i64,
        out: &mut Emission,
    ) -> Result<()> {
        let steps = lives.step(batch, &self.row_slots, &self.fresh);
        self.aggregation.resize(lives.bound());
        let rows = GroupedRows {
            columns: batch.rows.columns(),
            groups: &steps.groups,
            signs: Some(&steps.signs),
            now,
        };
        if self.final_only {
            self.aggregation.update(&rows)?;
        } else {
            let mut changed = vec![out.repeats(); batch.len()];
            let pairs = self.aggregation.update_with_changes(&rows, &mut changed)?;
            out.stepped(&steps.steps, &changed);
            out.set_results(pairs);
        }
        for slot in steps.vacated {
            if !lives.is_live(slot) {
                self.slots.remove(slot);
            }
        }
        self.aggregation.reset(&lives.release());
        Ok(())
    }

    /// Forgets some groups that expired.
    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.slots.sweep(now, rows + SWEEP, &mut expired);
        for group in self.aggregation.sweep(now, rows + SWEEP) {
            let slot = match &self.lives {
                None => Some(group),
                Some(lives) => lives.slot(group),
            };
            slot.into_iter().for_each(|slot| self.slots.changed(slot));
        }
        for slot in &expired {
            self.slots.remove(*slot);
        }
        self.end_groups(&expired);
        Ok(self.slots.sweep_disk(now, rows + SWEEP)?)
    }

    /// Empties the groups of slots that hold no key any more.
    fn end_groups(&mut self, slots: &[u32]) {
        match &mut self.lives {
            None => self.aggregation.reset(slots),
            Some(lives) => {
                slots.iter().for_each(|slot| lives.end(*slot));
                self.aggregation.reset(&lives.release());
            }
        }
    }

    fn account(&mut self) {
        let lives = self.lives.as_ref().map_or(0, Lives::memory);
        self.state_bytes = self.slots.memory() + self.aggregation.memory() + lives;
    }

    /// Gives the rows of all groups.
    fn emit_all(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        if self.slots.is_spilled() {
            self.evict_all(ctx)?;
            return self.emit_spilled(ctx);
        }
        let slots: Vec<u32> = self.slots.index().slots().collect();
        self.emit_groups(&slots, ctx)?;
        // Without keys there is one group even of no rows.
        if slots.is_empty() && self.keys.is_empty() {
            self.aggregation.resize(1);
            let columns = self.aggregation.values(&[0])?;
            self.emit_rows(columns, 1, ctx)?;
        }
        Ok(())
    }

    fn emit_groups(&self, slots: &[u32], ctx: &mut OperatorContext) -> Result<()> {
        for chunk in slots.chunks(ChangelogBatch::MAX_ROWS) {
            let mut columns = self.slots.key_columns(chunk)?;
            columns.extend(self.aggregation.values(&self.groups(chunk))?);
            self.emit_rows(columns, chunk.len(), ctx)?;
        }
        Ok(())
    }

    fn emit_rows(
        &self,
        columns: Vec<ArrayRef>,
        rows: usize,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        ctx.emit(ChangelogBatch::inserts(rows))
    }

    /// The groups of slots that hold a key.
    fn groups(&self, slots: &[u32]) -> Vec<u32> {
        match &self.lives {
            None => slots.to_vec(),
            Some(lives) => slots.iter().map(|slot| lives.group(*slot)).collect(),
        }
    }

    /// The group of a slot, if it has one.
    fn live_group(&self, slot: u32) -> Option<u32> {
        match &self.lives {
            None => Some(slot),
            Some(lives) => lives.is_live(slot).then(|| lives.group(slot)),
        }
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&self.aggregation.schema())
    }
}

impl Operator for GroupAggregateOperator {
    fn name(&self) -> &str {
        "GroupAggregate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        if let Some(bundle) = self.bundle.take() {
            self.bundle = Some(self.gather(bundle, &batch, ctx)?);
            return Ok(());
        }
        let now = ctx.now();
        let marks = ctx.marks();
        let columns = batch.rows.columns();
        let keys = pick(columns, &self.keys);
        let encoded = self.slots.encoder().encode(&keys, batch.len())?;
        self.load(&encoded, now)?;
        self.slots.write(&encoded, now, &mut self.row_slots, &mut self.fresh)?;
        self.slots.meet(&self.row_slots);
        let repeats = self.slots.meta().ttl().is_some();
        let mut out =
            Emission::new(batch.len(), self.emit_update_before, repeats, !marks.is_empty());
        match self.lives.take() {
            None => self.insert(columns, now, &mut out)?,
            Some(mut lives) => {
                let applied = self.apply(&batch, &mut lives, now, &mut out);
                self.lives = Some(lives);
                applied?;
            }
        }
        if repeats {
            self.sweep(now, batch.len())?;
        }
        self.account();
        if self.final_only {
            return Ok(());
        }
        let marks = marks.remap(|row| out.rows_after(row));
        ctx.emit_marked(out.finish(&keys, &self.schema)?, marks)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.holds_back(watermark) { Ok(()) } else { ctx.emit_watermark(watermark) }
    }

    fn on_timer(&mut self, _time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.settle_bundle(ctx)
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        self.settle_bundle(ctx)?;
        if self.final_only { self.emit_all(ctx) } else { Ok(()) }
    }

    fn before_snapshot(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.settle_bundle(ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let groups = self.groups(&self.slots.to_write(state));
        let mut writer = GroupWriter::new(&self.aggregation, &groups)?;
        let section = state.keyed(SECTION, VERSION, &self.state_schema());
        self.slots.snapshot(section, |slot, out| {
            if let Some(lives) = &self.lives {
                out.i64(lives.rows(slot));
            }
            writer.write(out);
        })?;
        writer.finish()?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn can_snapshot(&self) -> bool {
        self.bundle.as_ref().is_none_or(Bundle::is_empty)
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.state_schema())?;
        let mut reader = GroupReader::new(&self.aggregation, ctx.now());
        let (lives, aggregation) = (&mut self.lives, &mut self.aggregation);
        self.slots.restore(ctx.task().max_parallelism, ctx.now(), entries, |slot, _, input| {
            read_group(lives, aggregation, &mut reader, slot, input)
        })?;
        reader.finish(&mut self.aggregation)?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        // Without keys there is one group.
        !self.keys.is_empty()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        self.make_way(room, ctx)
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
