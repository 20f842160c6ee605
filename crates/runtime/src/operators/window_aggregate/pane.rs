//! The aggregates of the keys of one slice or window.

use std::ops::Range;

use arrow::array::ArrayRef;
use flott_plan::physical::{ColumnAggregate, WindowAggregate};
use flott_state::{KeySlots, KeyedSection, StateDecoder, StateEncoder, StateError, StateWriter};
use flott_types::{DataType, Schema};

use crate::Result;
use crate::context::OperatorContext;
use crate::operators::aggregation::{Aggregation, GroupReader, GroupWriter, GroupedRows, pick};
use crate::operators::movable::{self, Movable, Plain, ValueReader, ValueWriter};

/// What panes of an operator have in common.
pub(super) struct PaneSpec {
    /// The columns of the keys.
    pub keys: Vec<usize>,
    pub key_types: Vec<DataType>,
    pub calls: Vec<ColumnAggregate>,
    /// Whether rows may be taken back.
    pub retracts: bool,
}

impl PaneSpec {
    /// What panes of this operator have in common.
    pub fn new(spec: &WindowAggregate, input: &Schema) -> Self {
        let key_type = |key: &usize| input.fields[*key].data_type.clone();
        Self {
            keys: spec.keys.clone(),
            key_types: spec.keys.iter().map(key_type).collect(),
            calls: spec.calls.clone(),
            retracts: spec.input_retracts,
        }
    }
}

/// The aggregates of the keys of one slice or window. A key's slot is its group.
pub(super) struct Pane {
    keys: KeySlots,
    aggregation: Aggregation,
    /// Where rows may be taken back: how many rows each group has.
    rows: Option<Vec<i64>>,
    slots: Vec<u32>,
    created: Vec<u32>,
}

impl Pane {
    /// A pane without keys.
    pub fn new(spec: &PaneSpec) -> Result<Self> {
        Ok(Self {
            keys: KeySlots::new(&spec.key_types, None),
            aggregation: Aggregation::new(&spec.calls, spec.retracts, None)?,
            rows: spec.retracts.then(Vec::new),
            slots: Vec::new(),
            created: Vec::new(),
        })
    }

    /// Takes in rows.
    pub fn add(
        &mut self,
        spec: &PaneSpec,
        columns: &[ArrayRef],
        signs: Option<&[i8]>,
        count: usize,
        now: i64,
    ) -> Result<()> {
        let keys = self.keys.encoder().encode(&pick(columns, &spec.keys), count)?;
        let (known, mut groups) = self.parts();
        movable::load(known, &mut groups, &keys, now)?;
        self.keys.write(&keys, now, &mut self.slots, &mut self.created)?;
        self.keys.meet(&self.slots);
        self.resize();
        if let Some(rows) = &mut self.rows {
            for (row, slot) in self.slots.iter().enumerate() {
                rows[*slot as usize] += signs.map_or(1, |signs| signs[row].into());
            }
        }
        let rows = GroupedRows { columns, groups: &self.slots, signs, now };
        self.aggregation.update(&rows)
    }

    /// Takes in the keys of another pane, whose rows count as later ones.
    pub fn merge(&mut self, other: &Self, now: i64) -> Result<()> {
        self.merge_slots(other, other.keys.index().slots().collect(), now)
    }

    /// Takes in the keys of some key groups of another pane, wherever they are.
    pub fn merge_groups(
        &mut self,
        other: &Self,
        groups: Range<u16>,
        max_parallelism: u16,
        spec: &PaneSpec,
    ) -> Result<()> {
        let index = other.keys.index();
        let is_inside = |slot: &u32| groups.contains(&index.key_group(*slot, max_parallelism));
        let in_memory: Vec<u32> = index.slots().filter(is_inside).collect();
        self.merge_slots(other, in_memory, 0)?;
        if other.is_spilled() {
            let mut on_disk = Self::new(spec)?;
            let (keys, mut state) = on_disk.parts();
            let mut reader = state.reader(0);
            other.keys.copy_disk(groups, keys, |slot, input| reader.read(slot, input))?;
            reader.finish()?;
            self.merge(&on_disk, 0)?;
        }
        Ok(())
    }

    fn merge_slots(&mut self, other: &Self, from: Vec<u32>, now: i64) -> Result<()> {
        let keys = other.keys.key_columns(&from)?;
        let keys = self.keys.encoder().encode(&keys, from.len())?;
        self.keys.write(&keys, now, &mut self.slots, &mut self.created)?;
        self.resize();
        if let (Some(rows), Some(theirs)) = (&mut self.rows, &other.rows) {
            for (slot, from) in self.slots.iter().zip(&from) {
                rows[*slot as usize] += theirs[*from as usize];
            }
        }
        self.aggregation.merge(&self.slots, &other.aggregation, &from, now)
    }

    /// The groups that have rows, their keys and their results.
    pub fn results(&self) -> Result<(usize, Vec<ArrayRef>, Vec<ArrayRef>)> {
        let has_rows = |slot: &u32| self.rows.as_ref().is_none_or(|rows| rows[*slot as usize] != 0);
        let slots: Vec<u32> = self.keys.index().slots().filter(has_rows).collect();
        let (keys, results) = (self.keys.key_columns(&slots)?, self.aggregation.values(&slots)?);
        Ok((slots.len(), keys, results))
    }

    /// Whether keys may be on disk.
    pub fn is_spilled(&self) -> bool {
        self.keys.is_spilled()
    }

    /// Moves keys to disk, so that `room` bytes are enough for the rest.
    pub fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.memory(), room);
        let (keys, mut groups) = self.parts();
        if movable::make_way(keys, &mut groups, bytes, ctx)? && self.keys.is_empty() {
            (self.slots, self.created) = Default::default();
        }
        Ok(())
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, Groups<'_>) {
        let groups = Groups { aggregation: &mut self.aggregation, rows: &mut self.rows };
        (&mut self.keys, groups)
    }

    /// What a snapshot says of panes.
    pub fn schema(&self) -> String {
        let types: Vec<_> =
            self.keys.encoder().types().iter().map(|ty| ty.root.to_string()).collect();
        format!("[{}] {}", types.join(", "), self.aggregation.schema())
    }

    /// Writes the entries of keys, or of those that changed; `suffix` tells the pane's keys from those of others.
    pub fn write(&self, section: &mut KeyedSection<'_>, suffix: &[u8]) -> Result<()> {
        let slots = self.keys.to_write(section.state());
        let mut writer = GroupWriter::new(&self.aggregation, &slots)?;
        self.keys.write_entries(section, suffix, |slot, out| {
            if let Some(rows) = &self.rows {
                out.i64(rows[slot as usize]);
            }
            writer.write(out);
        })?;
        writer.finish()
    }

    /// Takes note of a snapshot.
    pub fn handed_over(&mut self, state: &StateWriter) {
        self.keys.handed_over(state);
    }

    /// The pane's keys.
    pub fn keys(&self) -> &KeySlots {
        &self.keys
    }

    /// Keeps nothing but the keys.
    pub fn into_keys(self) -> KeySlots {
        self.keys
    }

    /// A reader of what [`Self::write`] wrote.
    pub fn reader(&self, now: i64) -> GroupReader {
        GroupReader::new(&self.aggregation, now)
    }

    /// Reads a key's entry; `key` is without suffix.
    pub fn read(
        &mut self,
        reader: &mut GroupReader,
        key: &[u8],
        input: &mut StateDecoder<'_>,
    ) -> Result<(), StateError> {
        let (slot, new) = self.keys.write_row(key, 0)?;
        if !new {
            return Err(input.damaged("key written twice"));
        }
        self.resize();
        if let Some(rows) = &mut self.rows {
            rows[slot as usize] = input.i64()?;
        }
        reader.read(&mut self.aggregation, slot, input)
    }

    /// Completes the reading of all keys.
    pub fn finish(&mut self, reader: GroupReader) -> Result<()> {
        reader.finish(&mut self.aggregation)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let rows = self.rows.as_ref().map_or(0, |rows| rows.capacity() * 8);
        self.keys.memory() + self.aggregation.memory() + rows + self.slots.capacity() * 8
    }

    fn resize(&mut self) {
        let groups = self.keys.index().slot_bound() as usize;
        self.aggregation.resize(groups);
        if let Some(rows) = &mut self.rows {
            rows.resize(groups.max(rows.len()), 0);
        }
    }
}

/// What is kept under a key, whose slot is its group: aggregates and, where rows may be taken back, their number.
struct Groups<'a> {
    aggregation: &'a mut Aggregation,
    rows: &'a mut Option<Vec<i64>>,
}

impl Movable for Groups<'_> {
    fn writer<'a>(&'a self, slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        let groups = GroupWriter::new(self.aggregation, slots)?;
        let rows = Plain(|slot: u32, out: &mut StateEncoder| {
            if let Some(rows) = &*self.rows {
                out.i64(rows[slot as usize]);
            }
        });
        Ok((rows, groups))
    }

    fn reader(&mut self, now: i64) -> impl ValueReader + '_ {
        let groups = GroupReader::new(self.aggregation, now);
        Reader { aggregation: self.aggregation, rows: self.rows, groups }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        self.aggregation.reset(slots);
        if let Some(rows) = self.rows {
            slots.iter().for_each(|slot| rows[*slot as usize] = 0);
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        *self.aggregation = self.aggregation.emptied()?;
        self.rows.iter_mut().for_each(|rows| *rows = Vec::new());
        Ok(())
    }
}

struct Reader<'a> {
    aggregation: &'a mut Aggregation,
    rows: &'a mut Option<Vec<i64>>,
    groups: GroupReader,
}

impl ValueReader for Reader<'_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        if let Some(rows) = self.rows {
            rows.resize(rows.len().max(slot as usize + 1), 0);
            rows[slot as usize] = input.i64()?;
        }
        self.groups.read(self.aggregation, slot, input)
    }

    fn finish(self) -> Result<()> {
        self.groups.finish(self.aggregation)
    }
}
