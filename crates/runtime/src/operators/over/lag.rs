//! LAG over rows that come in order.

use std::collections::VecDeque;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::compute::kernels::zip::zip;
use arrow::compute::take;
use arrow::datatypes::Int32Type;
use flott_plan::physical::{Operand, RowOffset};
use flott_state::{NO_ROW, RowStore, StateDecoder, StateEncoder, StateError};
use flott_types::Value;

use super::script::Script;
use crate::{Result, RuntimeError};

/// The last values of each partition, as many as the offset looks back.
///
/// The offset of the latest row counts: when it grows from row to row, values that an earlier row let
/// go are gone, as in Flink.
pub(super) struct Lag {
    spec: RowOffset,
    values: RowStore,
    /// By partition, the latest last.
    kept: Vec<VecDeque<u32>>,
    kept_values: usize,
}

impl Lag {
    /// No row yet. Columns are those that [`Self::run`] is given.
    pub fn new(spec: RowOffset) -> Result<Self> {
        let values = RowStore::new(std::slice::from_ref(&spec.data_type));
        Ok(Self { spec, values, kept: Vec::new(), kept_values: 0 })
    }

    /// Makes room for partitions `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.kept.len() {
            self.kept.resize(groups, VecDeque::new());
        }
    }

    /// Takes in rows, which only come, and gives the value that each read looks back to.
    pub fn run(&mut self, columns: &[ArrayRef], script: &Script) -> Result<ArrayRef> {
        let mut ids = Vec::new();
        let value = columns[self.spec.value].clone();
        let encoded = self.values.encode(&[value], script.len())?;
        self.values.insert_all(&encoded, &mut ids)?;
        let offsets = Offsets::new(&self.spec.offset, columns)?;
        let mut found = Vec::with_capacity(script.len());
        let mut dropped = Vec::new();
        for (step, (group, id)) in script.groups.iter().zip(ids).enumerate() {
            let offset = offsets.at(step)?;
            let kept = &mut self.kept[*group as usize];
            kept.push_back(id);
            while kept.len() > offset.saturating_add(1) {
                dropped.extend(kept.pop_front());
            }
            let is_there = kept.len() == offset.saturating_add(1);
            found.push(kept.front().copied().filter(|_| is_there).unwrap_or(NO_ROW));
        }
        self.kept_values += script.len() - dropped.len();
        let picked: Vec<u32> = script.reads.iter().map(|step| found[*step as usize]).collect();
        let mut gathered = self.values.gather(&picked)?;
        dropped.into_iter().for_each(|id| self.values.remove(id));
        let values = gathered.pop().ok_or_else(|| RuntimeError::internal("LAG", "no value"))?;
        let missing: BooleanArray = picked.iter().map(|id| Some(*id == NO_ROW)).collect();
        self.with_default(values, &missing, columns, script)
    }

    /// The values, with the default of the row read where there is no earlier row.
    fn with_default(
        &self,
        values: ArrayRef,
        missing: &BooleanArray,
        columns: &[ArrayRef],
        script: &Script,
    ) -> Result<ArrayRef> {
        if missing.true_count() == 0 {
            return Ok(values);
        }
        match &self.spec.default {
            Operand::Constant(Value::Null) => Ok(values),
            Operand::Constant(value) => {
                let constant = Value::to_array(std::slice::from_ref(value), &self.spec.data_type)
                    .map_err(RuntimeError::operator)?;
                let zeros = UInt32Array::from(vec![0; values.len()]);
                Ok(zip(missing, &take(&constant, &zeros, None)?, &values)?)
            }
            Operand::Column(column) => {
                let rows = UInt32Array::from(script.reads.clone());
                Ok(zip(missing, &take(&columns[*column], &rows, None)?, &values)?)
            }
        }
    }

    /// Makes partitions forget their values.
    pub fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let kept = std::mem::take(&mut self.kept[*group as usize]);
            self.kept_values -= kept.len();
            kept.into_iter().for_each(|id| self.values.remove(id));
        }
    }

    /// Gives all memory back: no partition has values.
    pub fn give_back(&mut self) {
        self.values = self.values.emptied();
        (self.kept, self.kept_values) = Default::default();
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.values.memory()
            + self.kept.capacity() * size_of::<VecDeque<u32>>()
            + self.kept_values * size_of::<u32>()
    }

    /// What a snapshot says of it.
    pub fn schema(&self) -> String {
        format!("LAG({})", self.spec.data_type.root)
    }

    /// Writes the values of a partition.
    pub fn write(&self, group: u32, out: &mut StateEncoder) {
        let kept: Vec<u32> = self.kept[group as usize].iter().copied().collect();
        self.values.write_rows(&kept, out);
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(&mut self, group: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let mut ids = Vec::new();
        self.values.read_rows(input, &mut ids)?;
        self.kept_values += ids.len();
        self.kept[group as usize] = ids.into();
        Ok(())
    }
}

/// The offsets of rows.
enum Offsets {
    Constant(usize),
    Column(ArrayRef),
}

impl Offsets {
    fn new(operand: &Operand, columns: &[ArrayRef]) -> Result<Self> {
        match operand {
            Operand::Constant(value) => {
                let offset = value.as_int().and_then(|offset| usize::try_from(offset).ok());
                Ok(Self::Constant(offset.ok_or_else(|| not_positive(value.as_int()))?))
            }
            Operand::Column(column) => {
                let offsets = columns[*column].clone();
                if offsets.as_primitive_opt::<Int32Type>().is_none() {
                    return Err(RuntimeError::internal("LAG", "an offset that is no INT"));
                }
                Ok(Self::Column(offsets))
            }
        }
    }

    fn at(&self, step: usize) -> Result<usize> {
        match self {
            Self::Constant(offset) => Ok(*offset),
            Self::Column(column) => {
                let offsets = column.as_primitive::<Int32Type>();
                let offset = offsets.is_valid(step).then(|| offsets.value(step));
                offset
                    .and_then(|offset| usize::try_from(offset).ok())
                    .ok_or_else(|| not_positive(offset.map(i64::from)))
            }
        }
    }
}

/// An offset that looks forward, or nowhere.
#[derive(Debug, thiserror::Error)]
#[error("Offset({}) should be positive.\nhint: LAG looks back by zero rows or more", text(.0))]
struct NotPositive(Option<i64>);

fn text(offset: &Option<i64>) -> String {
    offset.map_or_else(|| "NULL".to_string(), |offset| offset.to_string())
}

fn not_positive(offset: Option<i64>) -> RuntimeError {
    RuntimeError::operator(NotPositive(offset))
}
