//! SinkUpsertMaterializer: of the rows that share a primary key the latest counts.

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_state::{KeyBatch, KeySlots, StateDecoder, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::kept::{Incoming, Kept, KeptRows};
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::kept_output::Output;

/// The section of its state, and the version of its layout.
const SECTION: (&str, u16) = ("rows by primary key", 1);
/// Expired keys looked for with each batch, beside one for each row.
const SWEEP: usize = 64;

/// Keeps all rows of each primary key in the order in which they came, and gives the last one: `+I` for the
/// first of a key, `+U` when the last changes, `-D` when none is left, as Flink's `SinkUpsertMaterializer`
/// does.
///
/// A row that is taken back is found by the query's upsert key, or by all its values where there is none. One
/// that is not there is passed over: its state has expired.
pub struct SinkUpsertMaterializer {
    key: Vec<usize>,
    keys: KeySlots,
    /// By slot, the rows in the order in which they came.
    lists: Vec<Vec<Kept>>,
    kept: KeptRows,
    schema: SchemaRef,
    output: Output,
    /// The rows in all lists.
    listed: usize,
    state_bytes: usize,
}

impl SinkUpsertMaterializer {
    /// Materialises rows of `schema` by the columns of `key`; the query tells its rows apart by those of
    /// `upsert_key`.
    pub fn new(key: &[usize], upsert_key: &[usize], schema: &Schema, ttl: Option<Ttl>) -> Self {
        let key_types: Vec<DataType> =
            key.iter().map(|column| schema.fields[*column].data_type.clone()).collect();
        Self {
            key: key.to_vec(),
            keys: KeySlots::new(&key_types, ttl),
            lists: Vec::new(),
            kept: KeptRows::new(schema, upsert_key),
            schema: schema.to_arrow(),
            output: Output::default(),
            state_bytes: 0,
            listed: 0,
        }
    }

    fn materialize(&mut self, batch: &ChangelogBatch, now: i64) -> Result<()> {
        let columns = batch.rows.columns();
        let key: Vec<ArrayRef> = self.key.iter().map(|column| columns[*column].clone()).collect();
        let keys = self.keys.encoder().encode(&key, batch.len())?;
        let incoming = self.kept.encode(batch)?;
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        self.load(&keys, now)?;
        self.keys.write(&keys, now, &mut slots, &mut fresh)?;
        self.keys.meet(&slots);
        self.lists.resize_with(self.keys.index().slot_bound() as usize, Vec::new);
        let mut fresh = fresh.into_iter().peekable();
        for (row, slot) in slots.iter().enumerate() {
            if fresh.next_if_eq(&(row as u32)).is_some() {
                self.clear(*slot);
            }
            if batch.kind(row).adds() {
                self.add(*slot, &incoming, row)?;
            } else {
                self.retract(*slot, &incoming, row);
            }
        }
        for slot in slots {
            if self.lists[slot as usize].is_empty() {
                self.keys.remove(slot);
            }
        }
        Ok(())
    }

    fn add(&mut self, slot: u32, incoming: &Incoming, row: usize) -> Result<()> {
        let list = &mut self.lists[slot as usize];
        let kind = if list.is_empty() { RowKind::Insert } else { RowKind::UpdateAfter };
        let place = match self.kept.has_key() {
            true => list.iter().position(|kept| self.kept.is(*kept, incoming, row)),
            false => None,
        };
        let new = self.kept.insert(incoming, row)?;
        match place {
            Some(place) => {
                let old = std::mem::replace(&mut list[place], new);
                self.output.retire(self.kept.release(old));
            }
            None => {
                list.push(new);
                self.listed += 1;
            }
        }
        self.output.push_new(kind, row);
        Ok(())
    }

    fn retract(&mut self, slot: u32, incoming: &Incoming, row: usize) {
        let list = &mut self.lists[slot as usize];
        let Some(place) = list.iter().position(|kept| self.kept.is(*kept, incoming, row)) else {
            return;
        };
        let old = list.remove(place);
        self.listed -= 1;
        self.output.retire(self.kept.release(old));
        match list.last() {
            None => self.output.push_new(RowKind::Delete, row),
            Some(last) if place == list.len() => {
                self.output.push_old(RowKind::UpdateAfter, last.row);
            }
            Some(_) => {}
        }
    }

    /// Forgets the rows of a key.
    fn clear(&mut self, slot: u32) {
        for old in std::mem::take(&mut self.lists[slot as usize]) {
            self.listed -= 1;
            self.output.retire(self.kept.release(old));
        }
    }

    /// Brings the rows of a batch's keys back that are on disk.
    fn load(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        if !self.keys.is_spilled() {
            return Ok(());
        }
        let (lists, kept, listed) = (&mut self.lists, &mut self.kept, &mut self.listed);
        Ok(self.keys.load(keys, now, |slot, input| {
            *listed += read_list(lists, kept, slot, input)?;
            Ok(())
        })?)
    }

    fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.keys.sweep(now, rows + SWEEP, &mut expired);
        for slot in expired {
            self.clear(slot);
            self.keys.remove(slot);
        }
        self.output.forget_retired(&mut self.kept.rows);
        Ok(self.keys.sweep_disk(now, rows + SWEEP)?)
    }

    fn account(&mut self) {
        self.state_bytes = self.keys.memory()
            + self.kept.memory()
            + self.lists.capacity() * size_of::<Vec<Kept>>()
            + self.listed * size_of::<Kept>();
    }
}

impl Operator for SinkUpsertMaterializer {
    fn name(&self) -> &str {
        "SinkUpsertMaterializer"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let now = ctx.now();
        self.materialize(&batch, now)?;
        if let Some(given) = self.output.finish(&batch.rows, &self.kept.rows, &self.schema)? {
            ctx.emit(given)?;
        }
        self.output.forget_retired(&mut self.kept.rows);
        self.sweep(now, batch.len())?;
        self.account();
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION.0, SECTION.1, &self.keys.schema(&self.kept.schema()));
        let (lists, kept) = (&self.lists, &self.kept);
        self.keys.snapshot(section, |slot, out| kept.write(&lists[slot as usize], out))?;
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let groups = ctx.task().max_parallelism;
        let schema = self.keys.schema(&self.kept.schema());
        let entries = state.keyed(SECTION.0, SECTION.1, &schema)?;
        let (lists, kept, listed) = (&mut self.lists, &mut self.kept, &mut self.listed);
        self.keys.restore(groups, ctx.now(), entries, |slot, _version, value| {
            *listed += read_list(lists, kept, slot, value)?;
            Ok(())
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
        let (lists, kept) = (&self.lists, &self.kept);
        let leaving = self.keys.move_out(sizes, space, groups, |slot, out| {
            kept.write(&lists[slot as usize], out);
        })?;
        leaving.iter().for_each(|slot| self.clear(*slot));
        self.output.forget_retired(&mut self.kept.rows);
        self.keys.forget(&leaving);
        if self.keys.is_empty() {
            self.keys.give_back();
            self.kept.give_back();
            self.lists = Vec::new();
        }
        self.account();
        Ok(())
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// Reads the rows of a key that a snapshot or the disk holds; gives their number.
fn read_list(
    lists: &mut Vec<Vec<Kept>>,
    kept: &mut KeptRows,
    slot: u32,
    input: &mut StateDecoder<'_>,
) -> flott_state::Result<usize> {
    let list = kept.read(input)?;
    lists.resize_with(lists.len().max(slot as usize + 1), Vec::new);
    let rows = list.len();
    lists[slot as usize] = list;
    Ok(rows)
}
