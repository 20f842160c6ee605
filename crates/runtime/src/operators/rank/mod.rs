//! Top-N over a changelog.

mod partition;
mod row_keys;
mod spill;
#[cfg(test)]
mod tests;
mod ties;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, UInt32Array};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType as Arrow, Int64Type, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_plan::logical::{RankEnd, RankFunction};
use flott_plan::physical::{Rank, RankStrategy};
use flott_state::{KeyBatch, KeySlots, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::aggregation::pick;
use super::ranking::{Arrivals, Changes, KeptRows, Run, SortedRows};
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
pub(super) use partition::{Bounds, Partition};
use row_keys::RowKeys;
use spill::read_partition;
pub(super) use ties::walk;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("ranked rows", 1);
/// Changes given at once: a row near the top changes the ranks of all behind it.
const FLUSH: usize = 4 * ChangelogBatch::MAX_ROWS;
/// Partitions looked at for expiry with each batch, beside one for each row.
const SWEEP: usize = 64;
/// Rows given at once at the end of a batch job.
const CHUNK: usize = ChangelogBatch::MAX_ROWS;

/// Keeps the rows of each partition in order and gives every change of those within a range of
/// ranks, as Flink's Top-N functions do:
///
/// - Where the rank is given, or the range does not begin at 1, each rank that gets another row is
///   an update. Else a row that leaves gives −D, the one that enters +I.
/// - A single first row is always updated.
/// - Rows that are out of range are forgotten unless they may be needed again: when rows may be
///   taken back.
/// - What is taken back and not known is passed over.
/// - In batch mode the end of the input gives the rows of all partitions.
pub struct RankOperator {
    partition: Vec<usize>,
    function: RankFunction,
    bounds: Bounds,
    end: RankEnd,
    keeps_all: bool,
    numbered: bool,
    with_number: bool,
    final_only: bool,
    slots: KeySlots,
    /// By slot.
    runs: Vec<Run>,
    /// By slot, the last rank of the partition where each has its own.
    ends: Vec<u64>,
    sorted: SortedRows,
    /// Where rows only ever move up.
    row_keys: Option<RowKeys>,
    changes: Changes,
    schema: SchemaRef,
    order: String,
    run_bytes: usize,
    state_bytes: usize,
    row_slots: Vec<u32>,
    fresh: Vec<u32>,
}

impl RankOperator {
    /// An operator over rows of `input` that gives columns of `schema`: those of the input, then
    /// the rank if it is wanted.
    pub fn new(spec: &Rank, input: &Schema, schema: SchemaRef) -> Result<Self> {
        let types: Vec<DataType> =
            spec.partition.iter().map(|column| input.fields[*column].data_type.clone()).collect();
        let ttl = Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX));
        let ttl = ttl.filter(|_| !spec.final_only);
        let start = spec.range.start.max(1);
        let end = match spec.range.end {
            RankEnd::Constant(end) => u64::try_from(end).unwrap_or(0),
            RankEnd::Column { .. } | RankEnd::Unbounded => u64::MAX,
        };
        let retracts = spec.strategy == RankStrategy::Retract;
        let update_only = start == 1 && end == 1 && !retracts;
        Ok(Self {
            partition: spec.partition.clone(),
            function: spec.function,
            bounds: Bounds { start, end },
            end: spec.range.end,
            keeps_all: retracts || (spec.final_only && end == u64::MAX),
            numbered: spec.with_number
                || (spec.function == RankFunction::RowNumber && (start > 1 || update_only)),
            with_number: spec.with_number,
            final_only: spec.final_only,
            slots: KeySlots::new(&types, ttl),
            runs: Vec::new(),
            ends: Vec::new(),
            sorted: SortedRows::new(input, &spec.order)?,
            row_keys: match &spec.strategy {
                RankStrategy::UpdateFast { key } => Some(RowKeys::new(key, input)),
                _ => None,
            },
            changes: if spec.final_only {
                Changes::silent()
            } else {
                Changes::new(spec.emit_update_before, spec.with_number)
            },
            schema,
            order: format!("{:?} {:?}", spec.function, spec.order),
            run_bytes: 0,
            state_bytes: 0,
            row_slots: Vec::new(),
            fresh: Vec::new(),
        })
    }

    /// Takes in the rows of a batch one by one.
    fn apply(&mut self, batch: &ChangelogBatch, ctx: &mut OperatorContext) -> Result<()> {
        let now = ctx.now();
        let keys = pick(batch.rows.columns(), &self.partition);
        let keys = self.slots.encoder().encode(&keys, batch.len())?;
        self.load(&keys, now)?;
        self.find_slots(&keys, now)?;
        self.slots.meet(&self.row_slots);
        self.reset_fresh(batch.rows.columns())?;
        let Some(batch) = self.candidates(batch)? else {
            self.changes.finish(&[], &mut self.sorted, &self.schema)?;
            return Ok(());
        };
        let columns = batch.rows.columns();
        let arrivals = self.sorted.arrivals(columns, batch.len())?;
        let row_keys = match &self.row_keys {
            Some(row_keys) => Some(row_keys.encode(columns, batch.len())?),
            None => None,
        };
        for row in 0..batch.len() {
            let slot = self.row_slots[row];
            let kind = batch.kind(row);
            if self.step(slot, kind, &arrivals, row_keys.as_ref(), row)? {
                self.slots.written(slot, now);
            }
            if self.changes.len() >= FLUSH {
                self.flush(columns, ctx)?;
            }
        }
        self.flush(columns, ctx)?;
        self.drop_empty();
        Ok(())
    }

    /// Empties the partitions that begin, or begin again, with this batch.
    fn reset_fresh(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let ends = self.ends_of(columns)?;
        for row in std::mem::take(&mut self.fresh) {
            let slot = self.row_slots[row as usize];
            self.reset(slot);
            if let Some(ends) = &ends {
                self.ends[slot as usize] = ends[row as usize];
            }
        }
        Ok(())
    }

    /// The ranks that are given of a partition.
    fn bounds_of(&self, slot: u32) -> Bounds {
        match self.end {
            RankEnd::Column { .. } if !self.final_only => {
                Bounds { end: self.ends[slot as usize], ..self.bounds }
            }
            _ => self.bounds,
        }
    }

    /// The rows that may get into range, `None` when there is none: most rows of a long stream are
    /// worse than all that is kept, and are told by their sort keys alone.
    fn candidates(&mut self, batch: &ChangelogBatch) -> Result<Option<ChangelogBatch>> {
        if self.keeps_all || self.row_keys.is_some() || self.function != RankFunction::RowNumber {
            return Ok(Some(batch.clone()));
        }
        let keys = self.sorted.sort_keys(batch.rows.columns())?;
        let mut rows: Vec<u32> = Vec::new();
        for (row, slot) in (0u32..).zip(&self.row_slots) {
            let run = &self.runs[*slot as usize];
            if run.len() as u64 >= self.bounds_of(*slot).end {
                let key = keys.as_ref().map_or(&[][..], |keys| keys.row(row as usize));
                if run.last().is_none_or(|last| self.sorted.key_goes_before(last, key)) {
                    continue;
                }
            }
            rows.push(row);
        }
        if rows.len() == batch.len() {
            return Ok(Some(batch.clone()));
        }
        self.row_slots = rows.iter().map(|row| self.row_slots[*row as usize]).collect();
        if rows.is_empty() { Ok(None) } else { Ok(Some(batch.take(&UInt32Array::from(rows))?)) }
    }

    /// Finds or makes the slot of each row's partition. Only a change counts as writing it, and
    /// `fresh` holds the rows of those that are new or had expired.
    fn find_slots(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        self.slots.find_or_write(keys, now, &mut self.row_slots, &mut self.fresh)?;
        let bound = self.slots.index().slot_bound() as usize;
        self.runs.resize_with(bound.max(self.runs.len()), Run::default);
        if matches!(self.end, RankEnd::Column { .. }) {
            self.ends.resize(bound.max(self.ends.len()), 0);
        }
        Ok(())
    }

    /// The last rank that each row asks for, where ranges depend on a column.
    fn ends_of(&self, columns: &[ArrayRef]) -> Result<Option<Vec<u64>>> {
        match self.end {
            RankEnd::Column { column, less } => Ok(Some(ends_of(&columns[column], less)?)),
            _ => Ok(None),
        }
    }

    /// Takes in one row; whether the partition changed.
    fn step(
        &mut self,
        slot: u32,
        kind: RowKind,
        arrivals: &Arrivals,
        row_keys: Option<&KeyBatch>,
        row: usize,
    ) -> Result<bool> {
        let bounds = self.bounds_of(slot);
        let run = &mut self.runs[slot as usize];
        let before = run.memory();
        let mut partition = Partition {
            run,
            sorted: &mut self.sorted,
            out: &mut self.changes,
            bounds,
            numbered: self.numbered,
            keeps_all: self.keeps_all,
        };
        let changed = match (&mut self.row_keys, row_keys, self.function) {
            (Some(kept), Some(keys), _) => {
                // The old version of a row is known by its key.
                if !kind.adds() {
                    return Ok(false);
                }
                let repeats = self.slots.meta().ttl().is_some();
                upsert(&mut partition, kept, keys, arrivals, row, repeats)?
            }
            (_, _, RankFunction::RowNumber) if kind.adds() => {
                partition.add(arrivals, row)?.id.is_some()
            }
            (_, _, RankFunction::RowNumber) => partition.remove(arrivals, row),
            (_, _, function) if kind.adds() => {
                partition.add_tied(function, arrivals, row)?.id.is_some()
            }
            (_, _, function) => partition.remove_tied(function, arrivals, row),
        };
        self.run_bytes = self.run_bytes + self.runs[slot as usize].memory() - before;
        Ok(changed)
    }

    fn flush(&mut self, columns: &[ArrayRef], ctx: &mut OperatorContext) -> Result<()> {
        match self.changes.finish(columns, &mut self.sorted, &self.schema)? {
            Some(given) => ctx.emit(given),
            None => Ok(()),
        }
    }

    /// Forgets the rows of a partition that expired.
    fn reset(&mut self, slot: u32) {
        let run = &mut self.runs[slot as usize];
        self.run_bytes -= run.memory();
        for id in run.take() {
            if let Some(row_keys) = &mut self.row_keys {
                row_keys.forget(id);
            }
            self.changes.retire(id);
        }
    }

    /// Forgets the partitions of the last batch that hold nothing.
    fn drop_empty(&mut self) {
        if !self.keeps_all {
            return;
        }
        for slot in &self.row_slots {
            if self.runs[*slot as usize].is_empty() {
                self.slots.remove(*slot);
            }
        }
    }

    /// Forgets some partitions that expired.
    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.slots.sweep(now, rows + SWEEP, &mut expired);
        for slot in &expired {
            self.reset(*slot);
            self.slots.remove(*slot);
        }
        if !expired.is_empty() {
            self.changes.finish(&[], &mut self.sorted, &self.schema)?;
        }
        Ok(self.slots.sweep_disk(now, rows + SWEEP)?)
    }

    /// Gives the rows of all partitions that are within the range.
    fn emit_all(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        if self.slots.is_spilled() {
            self.evict_all(ctx)?;
            return self.emit_spilled(ctx);
        }
        let slots: Vec<u32> = self.slots.index().slots().collect();
        self.emit_partitions(&slots, ctx)
    }

    fn emit_partitions(&mut self, slots: &[u32], ctx: &mut OperatorContext) -> Result<()> {
        let mut ids = Vec::new();
        let mut ranks = Vec::new();
        for slot in slots {
            let run = &self.runs[*slot as usize];
            for (id, rank) in walk(self.function, &self.sorted, run, 0, 1) {
                if rank > self.bounds.end {
                    break;
                }
                if self.bounds.holds(rank) {
                    ids.push(id);
                    ranks.push(i64::try_from(rank).unwrap_or(i64::MAX));
                }
            }
            if ids.len() >= CHUNK {
                self.emit_rows(&mut ids, &mut ranks, ctx)?;
            }
        }
        self.emit_rows(&mut ids, &mut ranks, ctx)
    }

    fn emit_rows(
        &self,
        ids: &mut Vec<u32>,
        ranks: &mut Vec<i64>,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        for (ids, ranks) in ids.chunks(CHUNK).zip(ranks.chunks(CHUNK)) {
            let mut columns = self.sorted.gather(ids)?;
            let wanted = self.ends_of(&columns)?.map(|ends| {
                let within = |(end, rank): (u64, &i64)| i128::from(*rank) <= i128::from(end);
                ends.into_iter().zip(ranks).map(within).map(Some).collect::<BooleanArray>()
            });
            if self.with_number {
                columns.push(Arc::new(Int64Array::from(ranks.to_vec())));
            }
            let options = RecordBatchOptions::new().with_row_count(Some(ids.len()));
            let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
            let rows = match wanted {
                None => rows,
                Some(wanted) => filter_record_batch(&rows, &wanted)?,
            };
            ctx.emit(ChangelogBatch::inserts(rows))?;
        }
        ids.clear();
        ranks.clear();
        Ok(())
    }

    fn account(&mut self) {
        let row_keys = self.row_keys.as_ref().map_or(0, RowKeys::memory);
        self.state_bytes = self.slots.memory()
            + self.sorted.memory()
            + self.run_bytes
            + self.runs.capacity() * size_of::<Run>()
            + self.ends.capacity() * size_of::<u64>()
            + row_keys;
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&format!("{} by {}", self.sorted.schema(), self.order))
    }
}

/// The last rank that each row asks for by a column of integers; none where it is NULL or negative.
pub(super) fn ends_of(column: &ArrayRef, less: i64) -> Result<Vec<u64>> {
    let values = cast(column, &Arrow::Int64)?;
    let end = |value: Option<i64>| {
        value.map_or(0, |value| u64::try_from(value.saturating_sub(less)).unwrap_or(0))
    };
    Ok(values.as_primitive::<Int64Type>().iter().map(end).collect())
}

/// Takes in a row that replaces the one of its unique key, if that is kept.
fn upsert(
    partition: &mut Partition<'_>,
    kept: &mut RowKeys,
    keys: &KeyBatch,
    arrivals: &Arrivals,
    row: usize,
    repeats: bool,
) -> Result<bool> {
    if let Some(old) = kept.find(keys, row) {
        let new = partition.update(old, arrivals, row, repeats)?;
        kept.set(keys, row, new)?;
        return Ok(true);
    }
    let added = partition.add(arrivals, row)?;
    if let Some(dropped) = added.dropped {
        kept.forget(dropped);
    }
    if let Some(id) = added.id {
        kept.set(keys, row, id)?;
    }
    Ok(added.id.is_some())
}

impl Operator for RankOperator {
    fn name(&self) -> &str {
        "Rank"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        self.apply(&batch, ctx)?;
        if self.slots.meta().ttl().is_some() {
            self.sweep(ctx.now(), batch.len())?;
        }
        self.account();
        Ok(())
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        if self.final_only { self.emit_all(ctx) } else { Ok(()) }
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.state_schema());
        let has_ends = self.has_ends();
        self.slots.snapshot(section, |slot, out| {
            if has_ends {
                out.u64(self.ends[slot as usize]);
            }
            self.sorted.write(&self.runs[slot as usize], out);
        })?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION.0, SECTION.1, &self.state_schema())?;
        let has_ends = self.has_ends();
        let (runs, ends, sorted) = (&mut self.runs, &mut self.ends, &mut self.sorted);
        let groups = ctx.task().max_parallelism;
        self.slots.restore(groups, ctx.now(), entries, |slot, _version, input| {
            read_partition(runs, has_ends.then_some(&mut *ends), sorted, slot, input)
        })?;
        self.sorted.restore_keys()?;
        if let Some(row_keys) = &mut self.row_keys {
            let ids: Vec<u32> = self.runs.iter().flat_map(Run::iter).collect();
            for chunk in ids.chunks(CHUNK) {
                row_keys.take_up(&self.sorted, chunk)?;
            }
        }
        self.run_bytes = self.runs.iter().map(Run::memory).sum();
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        !self.partition.is_empty()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        self.make_way(room, ctx)
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
