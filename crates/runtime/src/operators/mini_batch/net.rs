//! The net change of rows whose changelog tells which row goes.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use flott_state::{BitSet, KeyIndex};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, RowKind, RowKinds};

use super::operator::Changelog;
use crate::Result;

/// How often each row was added, less how often it was taken back.
pub(super) struct NetRows {
    types: Vec<DataType>,
    schema: SchemaRef,
    mode: ChangelogMode,
    /// By which columns a row that goes finds the one that takes its place.
    key: Option<Vec<usize>>,
    /// Whether rows that went and came again are given, to keep the state of others alive.
    repeats: bool,
    index: KeyIndex,
    counts: Vec<i64>,
    /// The rows that first went.
    went: BitSet,
    slots: Vec<u32>,
    created: Vec<u32>,
}

/// A row of the net change.
struct Change {
    /// The group of its key.
    group: u32,
    adds: bool,
    /// Which row, and how often.
    row: u32,
    times: u64,
}

impl NetRows {
    pub fn new(of: &Changelog) -> Self {
        let types: Vec<DataType> =
            of.schema.fields.iter().map(|field| field.data_type.clone()).collect();
        Self {
            index: KeyIndex::new(&types),
            types,
            schema: of.schema.to_arrow(),
            mode: of.mode,
            key: of.key.clone(),
            repeats: of.repeats,
            counts: Vec::new(),
            went: BitSet::new(),
            slots: Vec::new(),
            created: Vec::new(),
        }
    }

    /// Takes in rows.
    pub fn add(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let encoded = self.index.encoder().encode(batch.rows.columns(), batch.len())?;
        self.index.lookup_or_insert(&encoded, &mut self.slots, &mut self.created)?;
        self.counts.resize(self.index.slot_bound() as usize, 0);
        let mut created = self.created.iter().peekable();
        for (row, slot) in self.slots.iter().enumerate() {
            let adds = batch.kind(row).adds();
            self.counts[*slot as usize] += if adds { 1 } else { -1 };
            if created.next_if(|first| **first as usize == row).is_some() && !adds {
                self.went.insert(*slot);
            }
        }
        Ok(())
    }

    /// The number of rows known.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// The net change, in the order in which its rows, or their keys, first came. Of one key rows go
    /// before others come.
    pub fn take(&mut self) -> Result<ChangelogBatch> {
        let known: Vec<u32> = self.index.slots().collect();
        let changed = |slot: &u32| {
            self.counts[*slot as usize] != 0 || (self.repeats && self.went.contains(*slot))
        };
        let slots: Vec<u32> = known.into_iter().filter(changed).collect();
        let columns = self.index.key_columns(&slots)?;
        let changes = self.changes(&slots, &columns)?;
        let (rows, kinds) = self.kinds(&changes);
        let rows = UInt32Array::from(rows);
        let taken = columns.iter().map(|column| take(column, &rows, None));
        let columns = taken.collect::<Result<Vec<_>, _>>()?;
        self.index = KeyIndex::new(&self.types);
        self.counts.clear();
        self.went.clear();
        let options = RecordBatchOptions::new().with_row_count(Some(kinds.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        Ok(ChangelogBatch::new(rows, RowKinds::from(kinds)))
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.index.memory() + self.counts.capacity() * 8 + self.went.memory()
    }

    /// The rows that change, those of one key together.
    fn changes(&self, slots: &[u32], columns: &[ArrayRef]) -> Result<Vec<Change>> {
        let groups = match &self.key {
            None => vec![0; slots.len()],
            Some(key) => self.groups(key, slots.len(), columns)?,
        };
        let mut changes = Vec::with_capacity(slots.len());
        for (row, (slot, group)) in (0u32..).zip(slots.iter().zip(groups)) {
            let count = self.counts[*slot as usize];
            let mut push = |adds, times| changes.push(Change { group, adds, row, times });
            if count == 0 {
                push(false, 1);
                push(true, 1);
            } else {
                push(count > 0, count.unsigned_abs());
            }
        }
        changes.sort_by_key(|change| (change.group, change.adds));
        Ok(changes)
    }

    fn groups(&self, key: &[usize], rows: usize, columns: &[ArrayRef]) -> Result<Vec<u32>> {
        let types: Vec<DataType> = key.iter().map(|column| self.types[*column].clone()).collect();
        let mut keys = KeyIndex::new(&types);
        let picked: Vec<ArrayRef> = key.iter().map(|column| columns[*column].clone()).collect();
        let encoded = keys.encoder().encode(&picked, rows)?;
        let (mut groups, mut created) = (Vec::new(), Vec::new());
        keys.lookup_or_insert(&encoded, &mut groups, &mut created)?;
        Ok(groups)
    }

    /// The rows to give and their kinds. A row that takes another's place is its update.
    fn kinds(&self, changes: &[Change]) -> (Vec<u32>, Vec<u8>) {
        let (mut rows, mut kinds) = (Vec::new(), Vec::new());
        let has = |kind| self.mode.contains(kind);
        let pairs = self.key.is_some() && has(RowKind::UpdateBefore) && has(RowKind::UpdateAfter);
        let removal = if has(RowKind::Delete) { RowKind::Delete } else { RowKind::UpdateBefore };
        for of_key in changes.chunk_by(|one, other| one.group == other.group) {
            let (goes, comes) = match of_key {
                [Change { adds: false, times: 1, .. }, Change { adds: true, times: 1, .. }]
                    if pairs =>
                {
                    (RowKind::UpdateBefore, RowKind::UpdateAfter)
                }
                _ => (removal, RowKind::Insert),
            };
            for change in of_key {
                for _ in 0..change.times {
                    rows.push(change.row);
                    kinds.push(if change.adds { comes } else { goes } as u8);
                }
            }
        }
        (rows, kinds)
    }
}
