//! One input of a join as it is kept: its rows by join key.

use arrow::array::ArrayRef;
use arrow::array::BooleanArray;
use arrow::compute::is_not_null;
use flott_state::{
    KeyBatch, KeySlots, NO_SLOT, RowCodec, SlotLists, StateDecoder, StateEncoder, StateReader,
    StateWriter, Ttl,
};
use flott_types::{DataType, Schema};

use super::rows::{Identity, RowBatch, Rows};
use crate::Result;
use crate::operators::aggregation::pick;

/// The version of a side's state.
const VERSION: u16 = 1;
/// Expired rows looked for with each batch, beside one for each row.
const SWEEP: usize = 64;
/// Rows decoded together when snapshots are read.
const CHUNK: usize = 4096;

/// The rows of one input. Each row remembers how often it is there, where equal rows are kept once,
/// and how many rows of the other side it matches, where an outer join must know.
pub(super) struct Side {
    name: &'static str,
    key_columns: Vec<usize>,
    /// For each key column, whether NULL equals NULL.
    null_safe: Vec<bool>,
    pub(super) by_key: KeySlots,
    pub(super) rows: Rows,
    /// The rows of each key.
    pub(super) lists: SlotLists,
    /// By row: copies, matches on the other side, and the slot of its key or `NO_SLOT` when it is in no list.
    pub(super) copies: Vec<u32>,
    pub(super) matches: Vec<u32>,
    pub(super) key_of: Vec<u32>,
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
            // Rows expire one by one; on disk a key's rows do together, with the last.
            by_key: KeySlots::new(&keys, None).expiring_on_disk(ttl),
            rows: Rows::new(&types, identity, ttl),
            lists: SlotLists::new(),
            copies: Vec::new(),
            matches: Vec::new(),
            key_of: Vec::new(),
        }
    }

    /// The codec of the rows.
    pub fn codec(&self) -> &RowCodec {
        self.rows.codec()
    }

    /// Encodes the join keys of a batch of this side.
    pub fn encode_keys(&self, columns: &[ArrayRef], rows: usize) -> Result<KeyBatch> {
        Ok(self.by_key.encoder().encode(&pick(columns, &self.key_columns), rows)?)
    }

    /// Encodes a batch of this side.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<Encoded> {
        let keys = pick(columns, &self.key_columns);
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
    pub fn find_keys(&mut self, other: &Encoded) -> Result<Vec<u32>> {
        let mut keys = Vec::new();
        self.by_key.index().lookup(&other.keys, &mut keys)?;
        if let Some(matchable) = &other.matchable {
            for row in (0..keys.len()).filter(|row| !matchable.value(*row)) {
                keys[row] = NO_SLOT;
            }
        }
        self.by_key.meet(&keys);
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
        let slot = self.keep(batch, row, matches, now)?;
        if self.key_of[slot as usize] == NO_SLOT {
            let key = match batch.own_keys.get(row) {
                Some(key) => *key,
                None => self.by_key.write_one(&batch.keys, row, now)?.0,
            };
            self.link(slot, key);
        }
        let key = self.key_of[slot as usize];
        self.by_key.changed(key);
        self.by_key.meet(&[key]);
        Ok(slot)
    }

    /// Keeps a row again that was on disk with its key.
    pub fn keep_returned(
        &mut self,
        batch: &Encoded,
        row: usize,
        copies: u32,
        matches: u32,
        written: i64,
    ) -> Result<()> {
        let slot = self.keep(batch, row, matches, written)?;
        self.copies[slot as usize] = copies;
        if let Some(key) = self.by_key.index().lookup_one(&batch.keys, row) {
            self.link(slot, key);
        }
        Ok(())
    }

    fn link(&mut self, slot: u32, key: u32) {
        self.lists.push(key, slot);
        self.key_of[slot as usize] = key;
    }

    fn keep(&mut self, batch: &Encoded, row: usize, matches: u32, now: i64) -> Result<u32> {
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
            self.written(slot, now);
        }
    }

    fn unlink(&mut self, slot: u32) {
        let key = std::mem::replace(&mut self.key_of[slot as usize], NO_SLOT);
        if key != NO_SLOT {
            self.lists.remove(key, slot);
            if self.lists.first(key).is_none() {
                self.by_key.remove(key);
            } else {
                self.by_key.changed(key);
            }
        }
        self.rows.remove(slot);
    }

    /// Drops the rows of a key that is on disk.
    pub fn drop_rows(&mut self, key: u32) {
        while let Some(row) = self.lists.first(key) {
            self.lists.remove(key, row);
            self.key_of[row as usize] = NO_SLOT;
            self.rows.remove(row);
        }
    }

    /// Forgets all rows, in batch mode, and gives their memory back.
    pub fn give_back_all(&mut self) {
        self.by_key = KeySlots::new(self.by_key.encoder().types(), None);
        self.give_back();
    }

    /// Gives all memory back, when all keys are on disk.
    pub fn give_back(&mut self) {
        self.by_key.give_back();
        self.rows = self.rows.emptied();
        self.lists = SlotLists::new();
        (self.copies, self.matches, self.key_of) = Default::default();
    }

    /// How many rows of the other side a kept row matches.
    pub fn matches(&self, kept: u32) -> u32 {
        self.matches[kept as usize]
    }

    /// Changes how many rows of the other side a kept row matches, for each of equal rows alike,
    /// which counts as writing it.
    pub fn set_matches(&mut self, kept: u32, matches: u32, now: i64) {
        self.matches[kept as usize] = matches;
        self.written(kept, now);
    }

    fn written(&mut self, slot: u32, now: i64) {
        self.rows.written(slot, now);
        self.by_key.changed(self.key_of[slot as usize]);
    }

    /// Kept rows as columns; `NO_SLOT` gives NULLs.
    pub fn columns(&self, kept: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.columns(kept)?)
    }

    /// Some columns of kept rows.
    pub fn some_columns(&self, kept: &[u32], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.some_columns(kept, wanted)?)
    }

    /// All rows, each copy by itself.
    pub fn all_rows(&self) -> Vec<u32> {
        self.times(self.rows.all())
    }

    /// The rows, each copy by itself, that match nothing.
    pub fn unmatched(&self) -> Vec<u32> {
        let mut lonely = self.rows.all();
        lonely.retain(|slot| self.matches[*slot as usize] == 0);
        self.times(lonely)
    }

    /// Each row as often as it is there.
    fn times(&self, rows: Vec<u32>) -> Vec<u32> {
        let copies = |row: u32| std::iter::repeat_n(row, self.copies[row as usize] as usize);
        rows.into_iter().flat_map(copies).collect()
    }

    /// Forgets some rows that expired.
    pub fn sweep(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut expired = Vec::new();
        self.rows.sweep(now, rows + SWEEP, &mut expired);
        expired.into_iter().for_each(|slot| self.unlink(slot));
        Ok(self.by_key.sweep_disk(now, rows + SWEEP)?)
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

    /// Writes the rows under their join key, so that they move with its key group. A key that changed is
    /// written with all its rows.
    pub fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let now = state.now();
        let section = state.keyed(self.name, VERSION, &self.schema());
        let (mut members, mut row) = (Vec::new(), Vec::new());
        self.by_key.snapshot_untimed(section, |key, out| {
            members.clear();
            members.extend(self.lists.iter(key).filter(|row| !self.rows.is_expired(*row, now)));
            out.list(members.iter(), |out, member| {
                row.clear();
                self.rows.write_row(*member, &mut row);
                out.bytes(&row);
                out.option(self.rows.last_write(*member), StateEncoder::i64);
                out.u32(self.copies[*member as usize]);
                out.u32(self.matches[*member as usize]);
            });
        })?;
        self.by_key.handed_over(state);
        Ok(())
    }

    /// Adds the rows of a snapshot but for those that have expired; `now` is also the time of writing of those
    /// from one without a TTL.
    pub fn restore(&mut self, state: &StateReader<'_>, now: i64) -> Result<()> {
        let mut rows: Vec<Restored<'_>> = Vec::new();
        for entry in state.keyed(self.name, VERSION, &self.schema())? {
            let mut entry = entry?;
            for _ in 0..entry.value.count()? {
                let restored = Restored {
                    row: entry.value.bytes()?,
                    written: entry.value.option(StateDecoder::i64)?.unwrap_or(now),
                    copies: entry.value.u32()?,
                    matches: entry.value.u32()?,
                };
                if !self.rows.ttl().is_some_and(|ttl| ttl.is_expired(restored.written, now)) {
                    rows.push(restored);
                }
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
