//! One input of a join as it is kept: its rows by join key.

use arrow::array::ArrayRef;
use arrow::array::BooleanArray;
use arrow::compute::is_not_null;
use flott_state::{KeyBatch, KeySlots, NO_SLOT, SlotLists, StateReader, StateWriter, Ttl};
use flott_types::{DataType, Schema};

use crate::Result;

/// The version of a side's state.
const VERSION: u16 = 1;
/// Expired rows looked for with each batch, beside one for each row.
const SWEEP: usize = 64;

/// The rows of one input. Equal rows are kept once, with how often they are there; each row
/// remembers how many rows of the other side it matches, where an outer join must know.
pub(super) struct Side {
    name: &'static str,
    key_columns: Vec<usize>,
    /// For each key column, whether NULL equals NULL.
    null_safe: Vec<bool>,
    by_key: KeySlots,
    rows: KeySlots,
    /// The rows of each key.
    lists: SlotLists,
    /// By row: copies, matches on the other side, and the slot of its key or `NO_SLOT` when it is in no list.
    copies: Vec<u32>,
    matches: Vec<u32>,
    key_of: Vec<u32>,
}

/// A batch's rows, encoded for their own side and as keys into the other.
pub(super) struct Encoded {
    pub keys: KeyBatch,
    pub rows: KeyBatch,
    /// Rows whose key can match: no NULL but where NULL equals NULL. `None`: all can.
    matchable: Option<BooleanArray>,
}

impl Encoded {
    pub fn can_match(&self, row: usize) -> bool {
        self.matchable.as_ref().is_none_or(|matchable| matchable.value(row))
    }
}

impl Side {
    pub fn new(
        name: &'static str,
        schema: &Schema,
        key_columns: &[usize],
        null_safe: &[bool],
        ttl: Option<Ttl>,
    ) -> Self {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        let keys: Vec<DataType> = key_columns.iter().map(|key| types[*key].clone()).collect();
        Self {
            name,
            key_columns: key_columns.to_vec(),
            null_safe: null_safe.to_vec(),
            by_key: KeySlots::new(&keys, None),
            rows: KeySlots::new(&types, ttl),
            lists: SlotLists::new(),
            copies: Vec::new(),
            matches: Vec::new(),
            key_of: Vec::new(),
        }
    }

    /// Encodes a batch of this side.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<Encoded> {
        let keys: Vec<ArrayRef> = self.key_columns.iter().map(|k| columns[*k].clone()).collect();
        let mut matchable: Option<BooleanArray> = None;
        for (key, null_safe) in keys.iter().zip(&self.null_safe) {
            if *null_safe || key.null_count() == 0 {
                continue;
            }
            let valid = is_not_null(key)?;
            matchable = Some(match matchable {
                None => valid,
                Some(so_far) => arrow::compute::and(&so_far, &valid)?,
            });
        }
        Ok(Encoded {
            keys: self.by_key.encoder().encode(&keys, rows)?,
            rows: self.rows.encoder().encode(columns, rows)?,
            matchable,
        })
    }

    /// The rows kept under the key of a row of the other side, appended as `(row, kept)` to `pairs`;
    /// equal rows once, see [`Self::copies`].
    pub fn probe(&self, row: usize, other: &Encoded, now: i64, pairs: &mut Vec<(u32, u32)>) {
        if !other.can_match(row) {
            return;
        }
        let Some(key) = self.by_key.index().lookup_one(&other.keys, row) else { return };
        for kept in self.lists.iter(key) {
            if !self.rows.meta().is_expired(kept, now) {
                pairs.push((row as u32, kept));
            }
        }
    }

    /// Keeps a row, with the number of rows of the other side that it matches.
    pub fn add(&mut self, batch: &Encoded, row: usize, matches: u32, now: i64) -> Result<()> {
        let (slot, fresh) = self.rows.write_one(&batch.rows, row, now)?;
        let at = slot as usize;
        if at >= self.copies.len() {
            self.copies.resize(at + 1, 0);
            self.matches.resize(at + 1, 0);
            self.key_of.resize(at + 1, NO_SLOT);
        }
        if fresh {
            self.copies[at] = 0;
        }
        self.copies[at] += 1;
        self.matches[at] = matches;
        if self.key_of[at] == NO_SLOT {
            let (key, _) = self.by_key.write_one(&batch.keys, row, now)?;
            self.lists.push(key, slot);
            self.key_of[at] = key;
        }
        Ok(())
    }

    /// Takes a row back; one that is not there is passed over.
    pub fn retract(&mut self, batch: &Encoded, row: usize, now: i64) {
        let Some(slot) = self.rows.read_one(&batch.rows, row, now) else { return };
        let copies = &mut self.copies[slot as usize];
        *copies = copies.saturating_sub(1);
        if *copies == 0 {
            self.unlink(slot);
        } else {
            self.rows.written(slot, now);
        }
    }

    fn unlink(&mut self, slot: u32) {
        let key = std::mem::replace(&mut self.key_of[slot as usize], NO_SLOT);
        if key != NO_SLOT {
            self.lists.remove(key, slot);
            if self.lists.first(key).is_none() {
                self.by_key.remove(key);
            }
        }
        self.rows.remove(slot);
    }

    /// How often a kept row is there.
    pub fn copies(&self, kept: u32) -> u32 {
        self.copies[kept as usize]
    }

    /// How many rows of the other side a kept row matches.
    pub fn matches(&self, kept: u32) -> u32 {
        self.matches[kept as usize]
    }

    /// Changes how many rows of the other side a kept row matches; for each of equal rows alike.
    pub fn set_matches(&mut self, kept: u32, matches: u32) {
        self.matches[kept as usize] = matches;
    }

    /// Kept rows as columns; `NO_SLOT` gives NULLs.
    pub fn columns(&self, kept: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.key_columns(kept)?)
    }

    /// The rows, each copy by itself, that match nothing.
    pub fn unmatched(&self) -> Vec<u32> {
        let lonely = self.rows.index().slots().filter(|slot| self.matches[*slot as usize] == 0);
        lonely
            .flat_map(|slot| std::iter::repeat_n(slot, self.copies[slot as usize] as usize))
            .collect()
    }

    /// Forgets some rows that expired.
    pub fn sweep(&mut self, now: i64, rows: usize) {
        let mut expired = Vec::new();
        self.rows.sweep(now, rows + SWEEP, &mut expired);
        expired.into_iter().for_each(|slot| self.unlink(slot));
    }

    pub fn memory(&self) -> usize {
        let counts =
            (self.copies.capacity() + self.matches.capacity() + self.key_of.capacity()) * 4;
        self.by_key.memory() + self.rows.memory() + self.lists.memory() + counts
    }

    fn schema(&self) -> String {
        self.by_key.schema(&self.rows.schema("copies, matches"))
    }

    /// Writes the rows under their join key, so that they move with its key group.
    pub fn snapshot(&self, state: &mut StateWriter) -> Result<()> {
        let groups = state.max_parallelism();
        let mut section = state.keyed(self.name, VERSION, &self.schema());
        for key in self.by_key.index().slots() {
            let members: Vec<u32> = self.lists.iter(key).collect();
            let columns = self.rows.key_columns(&members)?;
            let rows = self.rows.encoder().codec().encode(&columns, members.len())?;
            let bytes = self.by_key.key_bytes(key)?;
            section.entry(self.by_key.index().key_group(key, groups), &bytes, |out| {
                out.count(members.len());
                for (member, row) in members.iter().zip(rows.iter()) {
                    out.bytes(row);
                    out.option(self.rows.meta().last_write(*member), |out, at| out.i64(at));
                    out.u32(self.copies[*member as usize]);
                    out.u32(self.matches[*member as usize]);
                }
            });
        }
        section.finish();
        Ok(())
    }

    pub fn restore(&mut self, state: &StateReader<'_>, now: i64) -> Result<()> {
        for entry in state.keyed(self.name, VERSION, &self.schema())? {
            let mut entry = entry?;
            for _ in 0..entry.value.count()? {
                let row = entry.value.bytes()?;
                let written = entry.value.option(|input| input.i64())?;
                let (copies, matches) = (entry.value.u32()?, entry.value.u32()?);
                let columns = self.rows.encoder().codec().decode(&[row])?;
                let encoded = self.encode(&columns, 1)?;
                self.add(&encoded, 0, matches, written.unwrap_or(now))?;
                if let Some(slot) = self.rows.index().lookup_one(&encoded.rows, 0) {
                    self.copies[slot as usize] = copies;
                }
            }
            entry.value.finish()?;
        }
        Ok(())
    }
}
