//! ON CONFLICT DO ERROR and DO NOTHING: rows wait for a watermark, so that those which are only there for a
//! moment are no conflict.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flott_state::{KeySlots, StateReader, StateWriter, Ttl};
use flott_types::text::value_to_string;
use flott_types::{ChangelogBatch, DataType, RowKind, RowKinds, Schema, Value};

use super::kept::{Kept, KeptRows};
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("row and changes by primary key", 1);
/// Expired keys looked for with each watermark.
const SWEEP: usize = 1024;

/// Gathers the changes of each primary key and, when the watermark rises, gives the net change of each: `+I`,
/// `+U` or `-D` against the row that was given before.
///
/// Where different rows share a key then, the job fails or the first of them counts and the others are
/// forgotten, as in Flink.
pub struct ConflictChecker {
    key: Vec<usize>,
    fail: bool,
    keys: KeySlots,
    entries: Vec<Entry>,
    /// Slots with changes, in the order of their first.
    changed: Vec<u32>,
    kept: KeptRows,
    columns: Vec<(Arc<str>, DataType)>,
    schema: SchemaRef,
    state_bytes: usize,
    waiting: usize,
}

/// What is known of a primary key.
#[derive(Default)]
struct Entry {
    /// The row that was given.
    given: Option<Kept>,
    /// What came since: whether a row was added or taken back.
    changes: Vec<(bool, Kept)>,
}

/// Different rows of one primary key.
#[derive(Debug, thiserror::Error)]
#[error(
    "Primary key constraint violation: multiple distinct records with the same primary key detected. \
     Conflicting key: [{key}].\nhint: use ON CONFLICT DO NOTHING to keep the first record"
)]
struct Conflict {
    key: String,
}

impl ConflictChecker {
    /// Checks rows of `schema` by the columns of `key`; the query tells its rows apart by those of
    /// `upsert_key`. `fail` says that a conflict ends the job.
    pub fn new(
        key: &[usize],
        upsert_key: &[usize],
        fail: bool,
        schema: &Schema,
        ttl: Option<Ttl>,
    ) -> Self {
        let columns: Vec<(Arc<str>, DataType)> =
            schema.fields.iter().map(|f| (f.name.clone(), f.data_type.clone())).collect();
        let key_types: Vec<DataType> = key.iter().map(|at| columns[*at].1.clone()).collect();
        Self {
            key: key.to_vec(),
            fail,
            // Changes that wait for the watermark do not expire.
            keys: KeySlots::new(&key_types, ttl).keeping_expired(),
            entries: Vec::new(),
            changed: Vec::new(),
            kept: KeptRows::new(schema, upsert_key),
            columns,
            schema: schema.to_arrow(),
            state_bytes: 0,
            waiting: 0,
        }
    }

    fn gather(&mut self, batch: &ChangelogBatch, now: i64) -> Result<()> {
        let columns = batch.rows.columns();
        let key: Vec<ArrayRef> = self.key.iter().map(|at| columns[*at].clone()).collect();
        let keys = self.keys.encoder().encode(&key, batch.len())?;
        let incoming = self.kept.encode(batch)?;
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        self.keys.write(&keys, now, &mut slots, &mut fresh)?;
        self.entries.resize_with(self.keys.index().slot_bound() as usize, Entry::default);
        let mut fresh = fresh.into_iter().peekable();
        for (row, slot) in slots.into_iter().enumerate() {
            if fresh.next_if_eq(&(row as u32)).is_some() {
                self.forget_given(slot);
            }
            let entry = &mut self.entries[slot as usize];
            if entry.changes.is_empty() {
                self.changed.push(slot);
            }
            entry.changes.push((batch.kind(row).adds(), self.kept.insert(&incoming, row)?));
            self.waiting += 1;
        }
        Ok(())
    }

    /// The net changes since the last watermark.
    fn release(&mut self, ctx: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let (mut kinds, mut ids, mut retired) = (Vec::new(), Vec::new(), Vec::new());
        for slot in std::mem::take(&mut self.changed) {
            let Entry { given, changes } = std::mem::take(&mut self.entries[slot as usize]);
            self.waiting -= changes.len();
            let mut rows = self.remaining(given, changes, &mut retired);
            let differs = |row: &Kept| !self.kept.are_equal(rows[0], *row);
            if self.fail && rows.iter().any(differs) {
                return Err(self.conflict(slot, ctx));
            }
            retired.extend(rows.drain(1.min(rows.len())..));
            let now = rows.pop();
            match (given, now) {
                (None, None) => {}
                (None, Some(new)) => push(&mut kinds, &mut ids, RowKind::Insert, new),
                (Some(old), None) => push(&mut kinds, &mut ids, RowKind::Delete, old),
                (Some(old), Some(new)) if self.kept.are_equal(old, new) => {}
                (Some(_), Some(new)) => push(&mut kinds, &mut ids, RowKind::UpdateAfter, new),
            }
            self.entries[slot as usize].given = now;
            self.keys.changed(slot);
            if now.is_none() {
                self.keys.remove(slot);
            }
        }
        let given = self.batch(kinds, &ids)?;
        for row in retired {
            let id = self.kept.release(row);
            self.kept.rows.remove(id);
        }
        Ok(given)
    }

    /// The rows that are left of the one given and the changes since, in the order in which they came.
    fn remaining(
        &self,
        given: Option<Kept>,
        changes: Vec<(bool, Kept)>,
        retired: &mut Vec<Kept>,
    ) -> Vec<Kept> {
        let mut rows: Vec<Kept> = given.into_iter().collect();
        for (adds, change) in changes {
            let same = |row: &Kept| self.kept.are_one(*row, change);
            match (adds, rows.iter().rposition(same)) {
                (true, Some(place)) if self.kept.has_key() => {
                    retired.push(std::mem::replace(&mut rows[place], change));
                }
                (true, _) => rows.push(change),
                (false, Some(place)) => retired.extend([rows.remove(place), change]),
                (false, None) => retired.push(change),
            }
        }
        rows
    }

    fn batch(&self, kinds: Vec<u8>, ids: &[u32]) -> Result<Option<ChangelogBatch>> {
        if ids.is_empty() {
            return Ok(None);
        }
        let rows = RecordBatch::try_new(self.schema.clone(), self.kept.rows.gather(ids)?)?;
        Ok(Some(ChangelogBatch::new(rows, RowKinds::from(kinds))))
    }

    fn conflict(&self, slot: u32, ctx: &OperatorContext) -> RuntimeError {
        let columns = match self.keys.key_columns(&[slot]) {
            Ok(columns) => columns,
            Err(error) => return error.into(),
        };
        let texts = self.key.iter().zip(&columns).map(|(at, values)| {
            let (name, data_type) = &self.columns[*at];
            let value = Value::from_array(&**values, 0, data_type);
            format!("{name}={}", value_to_string(&value, data_type, ctx.zone()))
        });
        RuntimeError::operator(Conflict { key: texts.collect::<Vec<_>>().join(", ") })
    }

    /// The row given of a key counts as gone: its state has expired.
    fn forget_given(&mut self, slot: u32) {
        if let Some(old) = self.entries[slot as usize].given.take() {
            let id = self.kept.release(old);
            self.kept.rows.remove(id);
        }
    }

    fn sweep(&mut self, now: i64) {
        let mut expired = Vec::new();
        self.keys.sweep(now, SWEEP, &mut expired);
        for slot in expired {
            if self.entries[slot as usize].changes.is_empty() {
                self.forget_given(slot);
                self.keys.remove(slot);
            }
        }
    }

    fn account(&mut self) {
        self.state_bytes = self.keys.memory()
            + self.kept.memory()
            + self.entries.capacity() * size_of::<Entry>()
            + self.waiting * size_of::<(bool, Kept)>();
    }
}

fn push(kinds: &mut Vec<u8>, ids: &mut Vec<u32>, kind: RowKind, row: Kept) {
    kinds.push(kind as u8);
    ids.push(row.row);
}

impl Operator for ConflictChecker {
    fn name(&self) -> &str {
        "SinkUpsertMaterializer"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        self.gather(&batch, ctx.now())?;
        self.account();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if let Some(given) = self.release(ctx)? {
            ctx.emit(given)?;
        }
        self.sweep(ctx.now());
        self.account();
        ctx.emit_watermark(watermark)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.keys.schema(&self.kept.schema()));
        let (entries, kept) = (&self.entries, &self.kept);
        self.keys.snapshot(section, |slot, out| {
            let entry = &entries[slot as usize];
            out.bool(entry.given.is_some());
            out.list(entry.changes.iter(), |out, (adds, _)| out.bool(*adds));
            let changes = entry.changes.iter().map(|(_, row)| *row);
            kept.write(&entry.given.into_iter().chain(changes).collect::<Vec<_>>(), out);
        })?;
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let groups = ctx.task().max_parallelism;
        let schema = self.keys.schema(&self.kept.schema());
        let entries = state.keyed(SECTION.0, SECTION.1, &schema)?;
        let (restored, kept, changed, waiting) =
            (&mut self.entries, &mut self.kept, &mut self.changed, &mut self.waiting);
        self.keys.restore(groups, ctx.now(), entries, |slot, _version, value| {
            let has_given = value.bool()?;
            let adds = value.list(|input| input.bool())?;
            let mut rows = kept.read(value)?.into_iter();
            if rows.len() != adds.len() + usize::from(has_given) {
                return Err(value.damaged("not one row for each change"));
            }
            let given = if has_given { rows.next() } else { None };
            let changes: Vec<_> = adds.into_iter().zip(rows).collect();
            if !changes.is_empty() {
                changed.push(slot);
                *waiting += changes.len();
            }
            restored.resize_with(restored.len().max(slot as usize + 1), Entry::default);
            restored[slot as usize] = Entry { given, changes };
            Ok(())
        })?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }
}
