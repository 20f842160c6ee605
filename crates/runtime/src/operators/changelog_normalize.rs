//! ChangelogNormalize: an upsert stream made a complete changelog by keeping each key's last row.

#[cfg(test)]
mod tests;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::SchemaRef;
use flott_state::{KeyBatch, KeySlots, NO_ROW, RowStore, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::deduplicate::read_last;
use crate::operators::kept_output::Output;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("last rows", 1);
/// Expired keys looked for with each batch, beside one for each row.
const SWEEP: usize = 64;

/// Gives `+I` for a key that is new, `-U` and `+U` for one whose row changes, and `-D` with the
/// whole row for one that is deleted, as Flink's `ChangelogNormalize` does.
///
/// A deletion need hold nothing but the key; one of an unknown key is passed over, and so is every
/// `-U`. A row equal to the last one gives nothing, unless state expires: then it is given as an
/// update, so that operators downstream renew their state as well.
pub struct ChangelogNormalize {
    key: Vec<usize>,
    emit_update_before: bool,
    keys: KeySlots,
    /// By slot, the last row in `rows`, or `NO_ROW`.
    last: Vec<u32>,
    rows: RowStore,
    schema: SchemaRef,
    output: Output,
    state_bytes: usize,
}

impl ChangelogNormalize {
    /// Keeps the rows of `schema` by the columns of `key`, each for as long after its last change
    /// as `ttl` says. `emit_update_before` says whether `-U` rows are wanted.
    pub fn new(key: &[usize], emit_update_before: bool, schema: &Schema, ttl: Option<Ttl>) -> Self {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        let key_types: Vec<DataType> = key.iter().map(|column| types[*column].clone()).collect();
        Self {
            key: key.to_vec(),
            emit_update_before,
            keys: KeySlots::new(&key_types, ttl),
            last: Vec::new(),
            rows: RowStore::new(&types),
            schema: schema.to_arrow(),
            output: Output::default(),
            state_bytes: 0,
        }
    }

    fn normalize(&mut self, batch: &ChangelogBatch, now: i64) -> Result<()> {
        let columns = batch.rows.columns();
        let key: Vec<ArrayRef> = self.key.iter().map(|column| columns[*column].clone()).collect();
        let keys = self.keys.encoder().encode(&key, batch.len())?;
        let rows = self.rows.encode(columns, batch.len())?;
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        self.load(&keys, now)?;
        self.keys.write(&keys, now, &mut slots, &mut fresh)?;
        self.keys.meet(&slots);
        self.last.resize(self.keys.index().slot_bound() as usize, NO_ROW);
        let mut fresh = fresh.into_iter().peekable();
        for (row, slot) in slots.iter().enumerate() {
            let last = &mut self.last[*slot as usize];
            if fresh.next_if_eq(&(row as u32)).is_some() && *last != NO_ROW {
                self.output.retire(std::mem::replace(last, NO_ROW));
            }
            match (*last, batch.kind(row).adds()) {
                (NO_ROW, false) => {}
                (NO_ROW, true) => {
                    *last = self.rows.insert(&rows, row)?;
                    self.output.push_new(RowKind::Insert, row);
                }
                (old, false) => {
                    *last = NO_ROW;
                    self.output.push_old(RowKind::Delete, old);
                    self.output.retire(old);
                }
                (old, true) => {
                    let same = self.rows.is_row(old, &rows, row);
                    if same && self.keys.meta().ttl().is_none() {
                        continue;
                    }
                    *last = self.rows.insert(&rows, row)?;
                    if self.emit_update_before {
                        self.output.push_old(RowKind::UpdateBefore, old);
                    }
                    self.output.push_new(RowKind::UpdateAfter, row);
                    self.output.retire(old);
                }
            }
        }
        // Keys that were deleted, or never there, hold a slot until here.
        for (row, slot) in slots.iter().enumerate() {
            if !batch.kind(row).adds() && self.last[*slot as usize] == NO_ROW {
                self.keys.remove(*slot);
            }
        }
        Ok(())
    }

    /// Brings the rows of a batch's keys back that are on disk.
    fn load(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        if !self.keys.is_spilled() {
            return Ok(());
        }
        let (last, rows) = (&mut self.last, &mut self.rows);
        Ok(self.keys.load(keys, now, |slot, input| read_last(last, rows, slot, input))?)
    }

    /// Forgets some keys that expired.
    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.keys.sweep(now, rows + SWEEP, &mut expired);
        for slot in expired {
            self.rows.remove(std::mem::replace(&mut self.last[slot as usize], NO_ROW));
            self.keys.remove(slot);
        }
        Ok(self.keys.sweep_disk(now, rows + SWEEP)?)
    }

    fn account(&mut self) {
        let keys = self.keys.memory();
        self.state_bytes = keys + self.rows.memory() + self.last.capacity() * size_of::<u32>();
    }

    fn state_schema(&self) -> String {
        self.keys.schema(&self.rows.codec().schema())
    }
}

impl Operator for ChangelogNormalize {
    fn name(&self) -> &str {
        "ChangelogNormalize"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let now = ctx.now();
        let batch = without_update_before(batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        self.normalize(&batch, now)?;
        if let Some(given) = self.output.finish(&batch.rows, &self.rows, &self.schema)? {
            ctx.emit(given)?;
        }
        self.output.forget_retired(&mut self.rows);
        self.sweep(now, batch.len())?;
        self.account();
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.state_schema());
        let (last, rows) = (&self.last, &self.rows);
        let write = |slot: u32, out: &mut _| rows.write_rows(&[last[slot as usize]], out);
        self.keys.snapshot(section, write)?;
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let groups = ctx.task().max_parallelism;
        let entries = state.keyed(SECTION.0, SECTION.1, &self.state_schema())?;
        let (last, rows) = (&mut self.last, &mut self.rows);
        self.keys.restore(groups, ctx.now(), entries, |slot, _version, value| {
            read_last(last, rows, slot, value)
        })?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        true
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        let (groups, sizes) = (ctx.task().max_parallelism, (self.state_bytes, room));
        let (last, rows) = (&self.last, &self.rows);
        let leaving = self.keys.move_out(sizes, space, groups, |slot, out| {
            rows.write_rows(&[last[slot as usize]], out);
        })?;
        for slot in &leaving {
            self.rows.remove(std::mem::replace(&mut self.last[*slot as usize], NO_ROW));
        }
        self.keys.forget(&leaving);
        if self.keys.is_empty() {
            self.keys.give_back();
            self.rows = self.rows.emptied();
            self.last = Vec::new();
        }
        self.account();
        Ok(())
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// Without `-U`, which the rows kept make superfluous.
fn without_update_before(batch: ChangelogBatch) -> Result<ChangelogBatch> {
    let Some(kinds) = &batch.kinds else { return Ok(batch) };
    if !kinds.iter().any(|kind| kind == RowKind::UpdateBefore) {
        return Ok(batch);
    }
    let keep: BooleanArray = kinds.iter().map(|kind| Some(kind != RowKind::UpdateBefore)).collect();
    Ok(batch.filter(&keep)?)
}
