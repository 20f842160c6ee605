//! Which values a key has seen, and how often: the state of DISTINCT aggregates.

use arrow::array::ArrayRef;
use flott_types::DataType;

use crate::error::{Result, StateError};
use crate::keys::{KeyBatch, KeyEncoder, KeyStore, NO_SLOT, SlotTable};
use crate::snapshot::{StateDecoder, StateEncoder};

/// For each slot a multiset of values, all in one table, so that a set of few values costs little.
///
/// A value has one count a lane: all DISTINCT calls on a column share a table, a lane for each
/// distinct FILTER. A value leaves when all its counts are 0.
#[derive(Debug)]
pub struct CountedSets {
    table: SlotTable,
    values: KeyStore,
    members: Vec<Member>,
    /// `lanes` counts a member.
    counts: Vec<i64>,
    lanes: usize,
    /// The first member of each slot's set.
    heads: Vec<u32>,
    /// Members that belong to no set.
    free: Vec<u32>,
}

/// A value of a set, and its neighbours in it.
#[derive(Debug, Clone, Copy)]
struct Member {
    slot: u32,
    previous: u32,
    next: u32,
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
    pub fn new(types: &[DataType], lanes: usize) -> Self {
        Self {
            table: SlotTable::default(),
            values: KeyStore::new(KeyEncoder::new(types)),
            members: Vec::new(),
            counts: Vec::new(),
            lanes: lanes.max(1),
            heads: Vec::new(),
            free: Vec::new(),
        }
    }

    /// An encoder whose batches these sets take: it encodes the values of a batch once.
    pub fn encoder(&self) -> &KeyEncoder {
        self.values.encoder()
    }

    /// Adds `delta` to the count of a row's value in the set of `slot`.
    pub fn add(
        &mut self,
        slot: u32,
        values: &KeyBatch,
        row: usize,
        lane: usize,
        delta: i64,
    ) -> Result<CountChange> {
        self.values.accepts(values)?;
        let hash = member_hash(values.hashes()[row], slot);
        let new = self.next_member()?;
        let (store, members) = (&self.values, &self.members);
        let member = self.table.find_or_insert(hash, new, |member| {
            members[member as usize].slot == slot && store.is_key(member, values, row)
        });
        if member == new {
            self.values.set(member, values, row)?;
            self.link(member, slot);
        }
        let counts = self.counts_mut(member);
        let before = counts[lane];
        counts[lane] += delta;
        let change = CountChange { before, after: counts[lane] };
        if change.after == 0 && counts.iter().all(|count| *count == 0) {
            self.remove(member);
        }
        Ok(change)
    }

    /// The count of a row's value in the set of `slot`.
    pub fn count(&self, slot: u32, values: &KeyBatch, row: usize, lane: usize) -> i64 {
        let hash = member_hash(values.hashes()[row], slot);
        let member = self.table.find(hash, |member| {
            self.members[member as usize].slot == slot && self.values.is_key(member, values, row)
        });
        member.map_or(0, |member| self.counts[member as usize * self.lanes + lane])
    }

    /// Empties the set of `slot`.
    pub fn clear(&mut self, slot: u32) {
        while let Some(member) = self.head(slot) {
            self.remove(member);
        }
    }

    /// The values in the set of `slot`, in no order, as numbers for [`Self::columns`] and
    /// [`Self::counts`]; they hold until the set changes.
    pub fn members(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |member: &u32| {
            Some(self.members[*member as usize].next).filter(|next| *next != NO_SLOT)
        };
        std::iter::successors(self.head(slot), next)
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

    /// The bytes all sets occupy.
    pub fn memory(&self) -> usize {
        self.table.memory()
            + self.values.memory()
            + self.members.capacity() * size_of::<Member>()
            + self.counts.capacity() * 8
            + (self.heads.capacity() + self.free.capacity()) * 4
    }

    /// Writes the set of `slot`.
    pub fn write_set(&self, slot: u32, out: &mut StateEncoder) -> Result<()> {
        let members: Vec<u32> = self.members(slot).collect();
        out.columns(self.encoder().codec(), &self.columns(&members)?, members.len())?;
        for member in members {
            self.counts(member).iter().for_each(|count| out.i64(*count));
        }
        Ok(())
    }

    /// Reads what [`Self::write_set`] wrote into the set of `slot`, which must be empty.
    pub fn read_set(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<()> {
        let (columns, rows) = input.columns(self.encoder().codec())?;
        let values = self.encoder().encode(&columns, rows)?;
        for row in 0..rows {
            for lane in 0..self.lanes {
                let count = input.i64()?;
                if count != 0 {
                    self.add(slot, &values, row, lane, count)?;
                }
            }
        }
        Ok(())
    }

    fn head(&self, slot: u32) -> Option<u32> {
        self.heads.get(slot as usize).copied().filter(|head| *head != NO_SLOT)
    }

    fn counts_mut(&mut self, member: u32) -> &mut [i64] {
        let at = member as usize * self.lanes;
        &mut self.counts[at..at + self.lanes]
    }

    /// The member that the next new value gets.
    fn next_member(&self) -> Result<u32> {
        match self.free.last() {
            Some(member) => Ok(*member),
            None if self.members.len() < NO_SLOT as usize => Ok(self.members.len() as u32),
            None => Err(StateError::Full { what: "distinct values", limit: NO_SLOT }),
        }
    }

    /// Puts [`Self::next_member`] at the front of a set.
    fn link(&mut self, member: u32, slot: u32) {
        if slot as usize >= self.heads.len() {
            self.heads.resize(slot as usize + 1, NO_SLOT);
        }
        let next = std::mem::replace(&mut self.heads[slot as usize], member);
        if next != NO_SLOT {
            self.members[next as usize].previous = member;
        }
        let place = Member { slot, previous: NO_SLOT, next };
        if self.free.pop().is_some() {
            self.members[member as usize] = place;
        } else {
            self.members.push(place);
            self.counts.resize(self.members.len() * self.lanes, 0);
        }
    }

    fn remove(&mut self, member: u32) {
        let Member { slot, previous, next } = self.members[member as usize];
        self.table.remove(member_hash(self.values.hash(member), slot), member);
        self.values.remove(member);
        self.counts_mut(member).fill(0);
        match previous {
            NO_SLOT => self.heads[slot as usize] = next,
            previous => self.members[previous as usize].next = next,
        }
        if next != NO_SLOT {
            self.members[next as usize].previous = previous;
        }
        self.free.push(member);
    }
}

/// The hash of a value in the set of `slot`.
#[inline]
fn member_hash(value: u64, slot: u32) -> u64 {
    value ^ u64::from(slot).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}
