//! The aggregates of the keys of one slice or window.

use arrow::array::ArrayRef;
use flott_plan::physical::{ColumnAggregate, WindowAggregate};
use flott_state::{KeySlots, KeyedSection, StateDecoder, StateError, StateWriter};
use flott_types::{DataType, Schema};

use crate::Result;
use crate::operators::aggregation::{Aggregation, GroupReader, GroupWriter, GroupedRows, pick};

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
        self.keys.write(&keys, now, &mut self.slots, &mut self.created)?;
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
        let from: Vec<u32> = other.keys.index().slots().collect();
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
            rows.resize(groups, 0);
        }
    }
}
