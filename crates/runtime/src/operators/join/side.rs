//! One input of a join as it is kept: its rows by join key.

use arrow::array::ArrayRef;
use arrow::array::BooleanArray;
use arrow::compute::is_not_null;
use flott_state::{
    KeyBatch, KeySlots, NO_SLOT, SlotLists, StateDecoder, StateEncoder, StateReader, StateWriter,
    Ttl,
};
use flott_types::{DataType, Schema};

use super::rows::{Identity, RowBatch, Rows};
use crate::Result;

/// The version of a side's state.
const VERSION: u16 = 1;
/// Expired rows looked for with each batch, beside one for each row.
const SWEEP: usize = 64;
/// Keys or rows encoded or decoded together when snapshots are written and read.
const CHUNK: usize = 4096;

/// The rows of one input. Each row remembers how often it is there, where equal rows are kept once,
/// and how many rows of the other side it matches, where an outer join must know.
pub(super) struct Side {
    name: &'static str,
    key_columns: Vec<usize>,
    /// For each key column, whether NULL equals NULL.
    null_safe: Vec<bool>,
    by_key: KeySlots,
    rows: Rows,
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
    pub rows: RowBatch,
    /// Rows whose key can match: no NULL but where NULL equals NULL. `None`: all can.
    matchable: Option<BooleanArray>,
    /// The slot of each row's key on its own side, where [`Side::keep_keys`] found them.
    own_keys: Vec<u32>,
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
        identity: Identity,
        ttl: Option<Ttl>,
    ) -> Self {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        let keys: Vec<DataType> = key_columns.iter().map(|key| types[*key].clone()).collect();
        Self {
            name,
            key_columns: key_columns.to_vec(),
            null_safe: null_safe.to_vec(),
            by_key: KeySlots::new(&keys, None),
            rows: Rows::new(&types, identity, ttl),
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
            rows: self.rows.encode(columns, rows)?,
            matchable,
            own_keys: Vec::new(),
        })
    }

    /// Finds or makes the keys of a batch at once, which takes less time than one by one. Each of its rows
    /// must then be [added](Self::add), and none taken back meanwhile: no key may be left without rows.
    pub fn keep_keys(&mut self, batch: &mut Encoded, now: i64) -> Result<()> {
        if batch.matchable.is_none() {
            self.by_key.write(&batch.keys, now, &mut batch.own_keys, &mut Vec::new())?;
        }
        Ok(())
    }

    /// For each row of a batch of the other side the key it matches, `NO_SLOT` where there is none.
    pub fn find_keys(&self, other: &Encoded) -> Result<Vec<u32>> {
        let mut keys = Vec::new();
        self.by_key.index().lookup(&other.keys, &mut keys)?;
        if let Some(matchable) = &other.matchable {
            for row in (0..keys.len()).filter(|row| !matchable.value(*row)) {
                keys[row] = NO_SLOT;
            }
        }
        Ok(keys)
    }

    /// The rows kept under a key that [`Self::find_keys`] gave for a row of the other side, appended
    /// as `(row, kept)` to `pairs`; equal rows are one.
    pub fn probe(&self, row: u32, key: u32, now: i64, pairs: &mut Vec<(u32, u32)>) {
        if key == NO_SLOT {
            return;
        }
        let alive = self.lists.iter(key).filter(|kept| !self.rows.is_expired(*kept, now));
        pairs.extend(alive.map(|kept| (row, kept)));
    }

    /// How often a kept row is there.
    pub fn copies(&self, kept: u32) -> u32 {
        self.copies[kept as usize]
    }

    /// Keeps a row, with the number of rows of the other side that it matches; gives its slot.
    pub fn add(&mut self, batch: &Encoded, row: usize, matches: u32, now: i64) -> Result<u32> {
        let (slot, fresh) = self.rows.write(&batch.rows, row, now)?;
        let at = slot as usize;
        if at >= self.copies.len() {
            self.copies.resize(at + 1, 0);
            self.matches.resize(at + 1, 0);
            self.key_of.resize(at + 1, NO_SLOT);
        }
        if fresh || !matches!(self.rows, Rows::Whole(_)) {
            self.copies[at] = 0;
        }
        self.copies[at] += 1;
        self.matches[at] = matches;
        if self.key_of[at] == NO_SLOT {
            let key = match batch.own_keys.get(row) {
                Some(key) => *key,
                None => self.by_key.write_one(&batch.keys, row, now)?.0,
            };
            self.lists.push(key, slot);
            self.key_of[at] = key;
        }
        Ok(slot)
    }

    /// Takes a row back; one that is not there is passed over.
    pub fn retract(&mut self, batch: &Encoded, row: usize, now: i64) {
        let key = self.by_key.index().lookup_one(&batch.keys, row);
        let of_key = key.into_iter().flat_map(|key| self.lists.iter(key));
        let Some(slot) = self.rows.find(&batch.rows, row, now, of_key) else { return };
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

    /// How many rows of the other side a kept row matches.
    pub fn matches(&self, kept: u32) -> u32 {
        self.matches[kept as usize]
    }

    /// Changes how many rows of the other side a kept row matches, for each of equal rows alike,
    /// which counts as writing it.
    pub fn set_matches(&mut self, kept: u32, matches: u32, now: i64) {
        self.matches[kept as usize] = matches;
        self.rows.written(kept, now);
    }

    /// Kept rows as columns; `NO_SLOT` gives NULLs.
    pub fn columns(&self, kept: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.columns(kept)?)
    }

    /// Some columns of kept rows.
    pub fn some_columns(&self, kept: &[u32], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.some_columns(kept, wanted)?)
    }

    /// The rows, each copy by itself, that match nothing.
    pub fn unmatched(&self) -> Vec<u32> {
        let lonely = self.rows.all().into_iter().filter(|slot| self.matches[*slot as usize] == 0);
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

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.rows.codec().types().len()
    }

    fn schema(&self) -> String {
        self.by_key.schema(&self.rows.schema())
    }

    /// Writes the rows under their join key, so that they move with its key group.
    pub fn snapshot(&self, state: &mut StateWriter) -> Result<()> {
        let groups = state.max_parallelism();
        let mut section = state.keyed(self.name, VERSION, &self.schema());
        let keys: Vec<u32> = self.by_key.index().slots().collect();
        for keys in keys.chunks(CHUNK) {
            let columns = self.by_key.key_columns(keys)?;
            let key_bytes = self.by_key.encoder().codec().encode(&columns, keys.len())?;
            let members: Vec<u32> = keys.iter().flat_map(|key| self.lists.iter(*key)).collect();
            let columns = self.rows.columns(&members)?;
            let rows = self.rows.codec().encode(&columns, members.len())?;
            let mut rows = members.iter().zip(rows.iter());
            for (key, bytes) in keys.iter().zip(key_bytes.iter()) {
                let count = self.lists.iter(*key).count();
                section.entry(self.by_key.index().key_group(*key, groups), bytes, |out| {
                    out.count(count);
                    for (member, row) in rows.by_ref().take(count) {
                        out.bytes(row);
                        out.option(self.rows.last_write(*member), StateEncoder::i64);
                        out.u32(self.copies[*member as usize]);
                        out.u32(self.matches[*member as usize]);
                    }
                });
            }
        }
        section.finish();
        Ok(())
    }

    /// Adds the rows of a snapshot; `now` is the time of writing of those from one without a TTL.
    pub fn restore(&mut self, state: &StateReader<'_>, now: i64) -> Result<()> {
        let mut rows: Vec<Restored<'_>> = Vec::new();
        for entry in state.keyed(self.name, VERSION, &self.schema())? {
            let mut entry = entry?;
            for _ in 0..entry.value.count()? {
                rows.push(Restored {
                    row: entry.value.bytes()?,
                    written: entry.value.option(StateDecoder::i64)?.unwrap_or(now),
                    copies: entry.value.u32()?,
                    matches: entry.value.u32()?,
                });
            }
            entry.value.finish()?;
            if rows.len() >= CHUNK {
                self.restore_rows(&rows)?;
                rows.clear();
            }
        }
        self.restore_rows(&rows)
    }

    fn restore_rows(&mut self, rows: &[Restored<'_>]) -> Result<()> {
        let bytes: Vec<&[u8]> = rows.iter().map(|restored| restored.row).collect();
        let columns = self.rows.codec().decode(&bytes)?;
        let encoded = self.encode(&columns, rows.len())?;
        for (row, restored) in rows.iter().enumerate() {
            let slot = self.add(&encoded, row, restored.matches, restored.written)?;
            // Adding it counted one.
            self.copies[slot as usize] += restored.copies.saturating_sub(1);
        }
        Ok(())
    }
}

/// A row as a snapshot holds it.
struct Restored<'a> {
    row: &'a [u8],
    written: i64,
    copies: u32,
    matches: u32,
}
