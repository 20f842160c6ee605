//! Which values a key has seen, and how often: the state of DISTINCT aggregates.

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::error::{Result, StateError};
use crate::keys::{KeyBatch, KeyEncoder, KeyStore, NO_SLOT, SlotTable};
use crate::lists::SlotLists;
use crate::snapshot::{StateDecoder, StateEncoder};
use crate::ttl::Ttl;

/// Who owns a member that is in no set.
const NOBODY: u32 = NO_SLOT;

/// For each slot a multiset of values, all in one table, so that a set of few values costs little.
///
/// A value has one count a lane: all DISTINCT calls on a column share a table, a lane for each
/// distinct FILTER. A value leaves when all its counts are 0, or when it was idle for the TTL: as in
/// Flink each value of a set expires by itself.
#[derive(Debug)]
pub struct CountedSets {
    table: SlotTable,
    values: KeyStore,
    /// The slot whose set a member is in.
    owners: Vec<u32>,
    /// `lanes` counts a member.
    counts: Vec<i64>,
    lanes: usize,
    ttl: Option<Ttl>,
    /// When each member was last written; empty without a TTL.
    last_write: Vec<i64>,
    sets: SlotLists,
    /// Members that are in no set.
    free: Vec<u32>,
    /// Where the next sweep goes on.
    cursor: usize,
}

/// A count before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountChange {
    /// The count before; 0 for a value not in the set.
    pub before: i64,
    /// The count after.
    pub after: i64,
}

impl CountChange {
    /// Whether the value came into the set.
    pub fn appeared(self) -> bool {
        self.before <= 0 && self.after > 0
    }

    /// Whether the value left the set.
    pub fn disappeared(self) -> bool {
        self.before > 0 && self.after <= 0
    }
}

impl CountedSets {
    /// Empty sets of values of these types (most often one), with `lanes` counts a value.
    pub fn new(types: &[DataType], lanes: usize, ttl: Option<Ttl>) -> Self {
        Self {
            table: SlotTable::default(),
            values: KeyStore::new(KeyEncoder::new(types)),
            owners: Vec::new(),
            counts: Vec::new(),
            lanes: lanes.max(1),
            ttl,
            last_write: Vec::new(),
            sets: SlotLists::new(),
            free: Vec::new(),
            cursor: 0,
        }
    }

    /// An encoder whose batches these sets take: it encodes the values of a batch once.
    pub fn encoder(&self) -> &KeyEncoder {
        self.values.encoder()
    }

    /// Adds `delta` to the count of a row's value in the set of `slot`, at time `now` in milliseconds.
    pub fn add(
        &mut self,
        slot: u32,
        values: &KeyBatch,
        row: usize,
        lane: usize,
        delta: i64,
        now: i64,
    ) -> Result<CountChange> {
        let member = self.member(slot, values, row)?;
        Ok(self.add_to(member, lane, delta, now))
    }

    /// Adds `delta` to a count of a member, which leaves its set when all its counts are 0.
    pub fn add_to(&mut self, member: u32, lane: usize, delta: i64, now: i64) -> CountChange {
        if self.is_expired(member, now) {
            self.counts_mut(member).fill(0);
        }
        if self.ttl.is_some() {
            self.last_write[member as usize] = now;
        }
        let counts = self.counts_mut(member);
        let before = counts[lane];
        counts[lane] += delta;
        let change = CountChange { before, after: counts[lane] };
        if change.after == 0 && counts.iter().all(|count| *count == 0) {
            self.remove(member);
        }
        change
    }

    /// The count of a row's value in the set of `slot`, at time `now`.
    pub fn count(&self, slot: u32, values: &KeyBatch, row: usize, lane: usize, now: i64) -> i64 {
        let hash = member_hash(values.hashes()[row], slot);
        let is_member = |member| self.is_member(member, slot, values, row);
        let found = self.table.find(hash, is_member).filter(|m| !self.is_expired(*m, now));
        found.map_or(0, |member| self.counts(member)[lane])
    }

    /// Empties the set of `slot`.
    pub fn clear(&mut self, slot: u32) {
        while let Some(member) = self.sets.first(slot) {
            self.remove(member);
        }
    }

    /// Looks at up to `limit` values, going on where the last call ended, and drops those that expired. Gives
    /// the slots whose sets have changed by that.
    pub fn sweep(&mut self, now: i64, limit: usize) -> Vec<u32> {
        let mut changed = Vec::new();
        if self.ttl.is_none() {
            return changed;
        }
        for _ in 0..limit.min(self.owners.len()) {
            self.cursor = if self.cursor < self.owners.len() { self.cursor } else { 0 };
            let member = self.cursor as u32;
            if self.owners[self.cursor] != NOBODY && self.is_expired(member, now) {
                changed.push(self.owners[self.cursor]);
                self.remove(member);
            }
            self.cursor += 1;
        }
        changed
    }

    /// The values in the set of `slot` in the order in which they came, expired ones not yet swept
    /// included, as numbers for [`Self::columns`] and [`Self::counts`]; they hold until the set changes.
    pub fn members(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        self.sets.iter(slot)
    }

    /// The values of members as columns.
    pub fn columns(&self, members: &[u32]) -> Result<Vec<ArrayRef>> {
        self.values.columns(members)
    }

    /// The counts of a member, one a lane.
    pub fn counts(&self, member: u32) -> &[i64] {
        let at = member as usize * self.lanes;
        &self.counts[at..at + self.lanes]
    }

    /// The number of values in all sets.
    pub fn len(&self) -> usize {
        self.owners.len() - self.free.len()
    }

    /// Whether all sets are empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes all sets occupy.
    pub fn memory(&self) -> usize {
        let numbers = self.owners.capacity() + self.free.capacity();
        let wide = self.counts.capacity() + self.last_write.capacity();
        let lists = self.sets.memory();
        self.table.memory() + self.values.memory() + lists + numbers * 4 + wide * 8
    }

    /// Writes the set of `slot`.
    pub fn write_set(&self, slot: u32, out: &mut StateEncoder) -> Result<()> {
        let members: Vec<u32> = self.members(slot).collect();
        out.columns(self.encoder().codec(), &self.columns(&members)?, members.len())?;
        for member in members {
            self.counts(member).iter().for_each(|count| out.i64(*count));
            let written = self.last_write.get(member as usize).copied();
            out.option(written, StateEncoder::i64);
        }
        Ok(())
    }

    /// Reads what [`Self::write_set`] wrote into the set of `slot`, which must be empty. `now` is the
    /// time of writing of values that were written without a TTL.
    pub fn read_set(&mut self, slot: u32, now: i64, input: &mut StateDecoder<'_>) -> Result<()> {
        let (columns, rows) = input.columns(self.encoder().codec())?;
        let values = self.encoder().encode(&columns, rows)?;
        for row in 0..rows {
            let member = self.member(slot, &values, row)?;
            for lane in 0..self.lanes {
                self.counts_mut(member)[lane] = input.i64()?;
            }
            let written = input.option(StateDecoder::i64)?;
            if self.ttl.is_some() {
                self.last_write[member as usize] = written.unwrap_or(now);
            }
        }
        Ok(())
    }

    /// The member that is a row's value in the set of `slot`, made with counts of 0 when there is none;
    /// it is that until a value leaves the set.
    pub fn member(&mut self, slot: u32, values: &KeyBatch, row: usize) -> Result<u32> {
        self.values.accepts(values)?;
        let new = self.next_member()?;
        let (store, owners) = (&self.values, &self.owners);
        let hash = member_hash(values.hashes()[row], slot);
        let member = self.table.find_or_insert(hash, new, |member| {
            owners[member as usize] == slot && store.is_key(member, values, row)
        });
        if member == new {
            self.values.set(member, values, row)?;
            if self.free.pop().is_none() {
                self.owners.push(NOBODY);
                self.counts.resize(self.owners.len() * self.lanes, 0);
                if self.ttl.is_some() {
                    self.last_write.push(i64::MAX);
                }
            }
            self.owners[member as usize] = slot;
            self.sets.push(slot, member);
        }
        Ok(member)
    }

    /// The member that the next new value gets.
    fn next_member(&self) -> Result<u32> {
        match self.free.last() {
            Some(member) => Ok(*member),
            None if self.owners.len() < NO_SLOT as usize => Ok(self.owners.len() as u32),
            None => Err(StateError::Full { what: "distinct values", limit: NO_SLOT }),
        }
    }

    fn remove(&mut self, member: u32) {
        let slot = std::mem::replace(&mut self.owners[member as usize], NOBODY);
        self.table.remove(member_hash(self.values.hash(member), slot), member);
        self.values.remove(member);
        self.counts_mut(member).fill(0);
        self.sets.remove(slot, member);
        self.free.push(member);
    }

    fn is_member(&self, member: u32, slot: u32, values: &KeyBatch, row: usize) -> bool {
        self.owners[member as usize] == slot && self.values.is_key(member, values, row)
    }

    fn is_expired(&self, member: u32, now: i64) -> bool {
        self.ttl.is_some_and(|ttl| ttl.is_expired(self.last_write[member as usize], now))
    }

    fn counts_mut(&mut self, member: u32) -> &mut [i64] {
        let at = member as usize * self.lanes;
        &mut self.counts[at..at + self.lanes]
    }
}

/// The hash of a value in the set of `slot`.
#[inline]
fn member_hash(value: u64, slot: u32) -> u64 {
    value ^ u64::from(slot).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}
