//! Rows that wait for their time.

use std::collections::{BTreeMap, HashMap};

use arrow::array::ArrayRef;
use flott_state::{BitSet, RowStore, StateDecoder, StateEncoder, StateError};
use flott_types::DataType;

use crate::Result;

/// Rows by time, in the order in which they came.
pub(super) struct Pending {
    rows: RowStore,
    by_time: BTreeMap<i64, Vec<Waiting>>,
    /// By partition, how many rows wait.
    counts: Vec<u32>,
    waiting: usize,
    /// The number of the next row that comes.
    next: u64,
}

/// A row that waits: its partition and its number, and how many rows came before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub group: u32,
    pub row: u32,
    pub arrival: u64,
}

/// A row whose time has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub time: i64,
    pub group: u32,
    pub row: u32,
}

/// A row of a snapshot and its time.
pub(super) type Restored = (i64, Waiting);

impl Pending {
    /// No row; rows are of these types.
    pub fn new(types: &[DataType]) -> Self {
        let rows = RowStore::new(types);
        Self { rows, by_time: BTreeMap::new(), counts: Vec::new(), waiting: 0, next: 0 }
    }

    /// Makes room for partitions `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
        }
    }

    /// Keeps those rows of a batch that `times` gives one for.
    pub fn add(
        &mut self,
        columns: &[ArrayRef],
        groups: &[u32],
        times: &[Option<i64>],
    ) -> Result<()> {
        let encoded = self.rows.encode(columns, groups.len())?;
        for (row, (group, time)) in groups.iter().zip(times).enumerate() {
            let Some(time) = time else { continue };
            let kept = self.rows.insert(&encoded, row)?;
            let arrival = self.next;
            self.next += 1;
            self.wait(*time, Waiting { group: *group, row: kept, arrival });
        }
        Ok(())
    }

    fn wait(&mut self, time: i64, row: Waiting) {
        let rows = self.by_time.entry(time).or_default();
        // Rows that were on disk meanwhile may have come before others.
        let at = rows.partition_point(|other| other.arrival < row.arrival);
        rows.insert(at, row);
        self.counts[row.group as usize] += 1;
        self.waiting += 1;
    }

    /// The time of the first row.
    pub fn first_time(&self) -> Option<i64> {
        self.by_time.first_key_value().map(|(time, _)| *time)
    }

    /// Appends the rows whose time is at or before `until`, which wait no longer but are still kept.
    pub fn take_due(&mut self, until: i64, due: &mut Vec<Due>) {
        while let Some(entry) = self.by_time.first_entry()
            && *entry.key() <= until
        {
            let (time, rows) = entry.remove_entry();
            self.waiting -= rows.len();
            for Waiting { group, row, .. } in rows {
                self.counts[group as usize] -= 1;
                due.push(Due { time, group, row });
            }
        }
    }

    /// How many rows of a partition wait.
    pub fn count(&self, group: u32) -> u32 {
        self.counts[group as usize]
    }

    /// Gives out rows that are due, and forgets them.
    pub fn release(&mut self, due: &[Due]) -> Result<Vec<ArrayRef>> {
        let ids: Vec<u32> = due.iter().map(|due| due.row).collect();
        let columns = self.rows.gather(&ids)?;
        ids.into_iter().for_each(|id| self.rows.remove(id));
        Ok(columns)
    }

    /// The time of the first row of each of some partitions that have any.
    pub fn first_times(&self, groups: &[u32]) -> HashMap<u32, i64> {
        let wanted: BitSet = groups.iter().copied().collect();
        let mut first = HashMap::new();
        for (time, rows) in &self.by_time {
            for row in rows.iter().filter(|row| wanted.contains(row.group)) {
                first.entry(row.group).or_insert(*time);
            }
        }
        first
    }

    /// Forgets the rows of some partitions, which are on disk.
    pub fn leave(&mut self, groups: &[u32]) {
        let gone: BitSet = groups.iter().copied().collect();
        let Self { rows, by_time, waiting, .. } = self;
        by_time.retain(|_, of_time| {
            of_time.retain(|row| {
                let stays = !gone.contains(row.group);
                if !stays {
                    rows.remove(row.row);
                    *waiting -= 1;
                }
                stays
            });
            !of_time.is_empty()
        });
        groups.iter().for_each(|group| self.counts[*group as usize] = 0);
    }

    /// Gives all memory back: no row waits.
    pub fn give_back(&mut self) {
        self.rows = self.rows.emptied();
        self.counts = Vec::new();
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.rows.memory()
            + self.waiting * size_of::<Waiting>()
            + self.by_time.len() * size_of::<(i64, Vec<Waiting>)>()
            + self.counts.capacity() * size_of::<u32>()
    }

    /// The rows of some partitions that have any, with their times and the order in which they came.
    pub fn by_group(&self, groups: &[u32]) -> HashMap<u32, Vec<(i64, u64, u32)>> {
        let wanted: BitSet = groups.iter().copied().collect();
        let mut all: HashMap<u32, Vec<_>> = HashMap::new();
        let rows = self.by_time.iter().flat_map(|(time, rows)| rows.iter().map(|row| (*time, row)));
        for (time, Waiting { group, row, arrival }) in rows {
            if wanted.contains(*group) {
                all.entry(*group).or_default().push((time, *arrival, *row));
            }
        }
        all
    }

    /// Writes rows of one partition.
    pub fn write(&self, rows: &[(i64, u64, u32)], out: &mut StateEncoder) {
        out.list(rows.iter(), |out, (time, place, _)| {
            out.i64(*time);
            out.i64(*place as i64);
        });
        let ids: Vec<u32> = rows.iter().map(|(_, _, row)| *row).collect();
        self.rows.write_rows(&ids, out);
    }

    /// Reads what [`Self::write`] wrote; the rows wait once [`Self::restore`] is told of them.
    pub fn read(
        &mut self,
        group: u32,
        input: &mut StateDecoder<'_>,
        restored: &mut Vec<Restored>,
    ) -> Result<(), StateError> {
        let times = input.list(|input| Ok((input.i64()?, input.i64()?)))?;
        let mut ids = Vec::new();
        self.rows.read_rows(input, &mut ids)?;
        if ids.len() != times.len() {
            return Err(input.damaged("rows without a time"));
        }
        for ((time, place), row) in times.into_iter().zip(ids) {
            restored.push((time, Waiting { group, row, arrival: place as u64 }));
        }
        Ok(())
    }

    /// Lets rows that were read wait, in the order in which they came.
    pub fn restore(&mut self, mut restored: Vec<Restored>) {
        restored.sort_by_key(|(time, row)| (*time, row.arrival));
        for (time, row) in restored {
            self.next = self.next.max(row.arrival.saturating_add(1));
            self.resize(row.group as usize + 1);
            self.wait(time, row);
        }
    }
}
