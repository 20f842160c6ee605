//! The values that DISTINCT calls of the same columns have seen.

use arrow::array::ArrayRef;
use flott_state::{CountedSets, KeyBatch, NO_SLOT, StateDecoder, StateEncoder, StateError, Ttl};
use flott_types::DataType;

use super::pick;
use crate::Result;

/// How often each group has seen each value, once a lane: each FILTER is a lane.
pub(super) struct DistinctValues {
    columns: Vec<usize>,
    types: Vec<DataType>,
    /// The filter of each lane.
    lanes: Vec<Option<usize>>,
    ttl: Option<Ttl>,
    sets: CountedSets,
}

/// Values of groups, taken out to be merged into other groups.
pub(super) struct SeenValues {
    /// The columns of the values.
    pub columns: Vec<ArrayRef>,
    /// For each value, which of the groups asked for has it.
    pub positions: Vec<u32>,
    /// For each value, its count in each lane.
    pub counts: Vec<i64>,
}

impl DistinctValues {
    /// No value seen; values are of these columns and types.
    pub fn new(columns: &[usize], types: &[DataType], ttl: Option<Ttl>) -> Self {
        Self {
            columns: columns.to_vec(),
            types: types.to_vec(),
            lanes: Vec::new(),
            ttl,
            sets: CountedSets::new(types, 1, ttl),
        }
    }

    /// The columns of the values.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Their types.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// The lane of a filter, which is made if there is none. No value may have been seen yet.
    pub fn lane(&mut self, filter: Option<usize>) -> usize {
        if let Some(lane) = self.lanes.iter().position(|known| *known == filter) {
            return lane;
        }
        self.lanes.push(filter);
        self.sets = CountedSets::new(&self.types, self.lanes.len(), self.ttl);
        self.lanes.len() - 1
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// The filter of a lane.
    pub fn filter(&self, lane: usize) -> Option<usize> {
        self.lanes[lane]
    }

    /// The values of a batch.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<KeyBatch> {
        Ok(self.sets.encoder().encode(&pick(columns, &self.columns), rows)?)
    }

    /// Counts values of rows that are all added, to sets from which nothing is ever taken back, by `signs` of 1 and 0, of which those become 0 whose value
    /// was there before.
    ///
    /// No value leaves its set meanwhile, so that one look-up serves all lanes: `members` has those
    /// that were looked up for another lane, and [`NO_SLOT`] for others.
    pub fn add(
        &mut self,
        groups: &[u32],
        values: &KeyBatch,
        members: &mut [u32],
        lane: usize,
        signs: &mut [i8],
        now: i64,
    ) -> Result<()> {
        for (row, (sign, member)) in signs.iter_mut().zip(members).enumerate() {
            if *sign != 0 {
                if *member == NO_SLOT {
                    *member = self.sets.member(groups[row], values, row)?;
                }
                let change = self.sets.add_to(*member, lane, 1, now);
                *sign = i8::from(change.appeared());
            }
        }
        Ok(())
    }

    /// Counts values by their signs, which become +1 for values that came and −1 for values that went.
    pub fn count(
        &mut self,
        groups: &[u32],
        values: &KeyBatch,
        lane: usize,
        signs: &mut [i8],
        now: i64,
    ) -> Result<()> {
        for (row, (group, sign)) in groups.iter().zip(signs).enumerate() {
            if *sign != 0 {
                let change = self.sets.add(*group, values, row, lane, (*sign).into(), now)?;
                *sign = i8::from(change.appeared()) - i8::from(change.disappeared());
            }
        }
        Ok(())
    }

    /// All values of some groups, `None` when there are none.
    pub fn values_of(&self, groups: &[u32]) -> Result<Option<SeenValues>> {
        let (mut members, mut positions) = (Vec::new(), Vec::new());
        for (position, group) in (0u32..).zip(groups) {
            members.extend(self.sets.members(*group));
            positions.resize(members.len(), position);
        }
        if members.is_empty() {
            return Ok(None);
        }
        let counts = members.iter().flat_map(|member| self.sets.counts(*member)).copied().collect();
        Ok(Some(SeenValues { columns: self.sets.columns(&members)?, positions, counts }))
    }

    /// Adds one lane of values to groups; gives for each value its group and whether it came new.
    pub fn merge(
        &mut self,
        into: &[u32],
        values: &SeenValues,
        lane: usize,
        now: i64,
    ) -> Result<(Vec<u32>, Vec<i8>)> {
        let rows = values.positions.len();
        let batch = self.sets.encoder().encode(&values.columns, rows)?;
        let group = |position: &u32| into[*position as usize];
        let groups: Vec<u32> = values.positions.iter().map(group).collect();
        let mut signs = vec![0; rows];
        for row in 0..rows {
            let count = values.counts[row * self.lanes.len() + lane];
            if count != 0 {
                let change = self.sets.add(groups[row], &batch, row, lane, count, now)?;
                signs[row] = i8::from(change.appeared()) - i8::from(change.disappeared());
            }
        }
        Ok((groups, signs))
    }

    /// Forgets the values of a group.
    pub fn clear(&mut self, group: u32) {
        self.sets.clear(group);
    }

    /// Drops up to `limit` values that expired.
    pub fn sweep(&mut self, now: i64, limit: usize) -> Vec<u32> {
        self.sets.sweep(now, limit)
    }

    /// Writes the values of a group.
    pub fn write(&self, group: u32, out: &mut StateEncoder) -> Result<()> {
        Ok(self.sets.write_set(group, out)?)
    }

    /// Reads the values of a group that has none.
    pub fn read(
        &mut self,
        group: u32,
        now: i64,
        input: &mut StateDecoder<'_>,
    ) -> Result<(), StateError> {
        self.sets.read_set(group, now, input)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.sets.memory()
    }
}
