//! Accumulators on their way from the first phase of an aggregation to the second.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, new_empty_array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{Field, Int64Type};
use flott_types::arrow_type;

use super::distinct::{DistinctValues, SeenValues};
use super::signs::{SignSource, Signs};
use super::{Aggregation, GroupedRows, pick};
use crate::{Result, RuntimeError};
use flott_functions::aggregate::AggregateInput;

impl Aggregation {
    /// Takes in rows of which only [partials](Self::partials) are wanted.
    pub fn gather(&mut self, rows: &GroupedRows) -> Result<()> {
        let Self { calls, distinct, retracts, .. } = self;
        let mut signs = Signs::new(rows, *retracts);
        for call in calls {
            let signs = signs.of(call.signs, distinct)?;
            if call.is_distinct() {
                continue;
            }
            let args = pick(rows.columns, &call.args);
            let input = AggregateInput { groups: rows.groups, signs, args: &args };
            call.accumulator.update(&input).map_err(RuntimeError::operator)?;
        }
        Ok(())
    }

    /// The state of some groups as the columns of a
    /// [`PartialLayout`](flott_plan::physical::PartialLayout), without the count of rows.
    pub fn partials(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut columns = Vec::new();
        for call in self.calls.iter().filter(|call| !call.is_distinct()) {
            columns.extend(call.accumulator.state(groups).map_err(RuntimeError::operator)?);
        }
        for set in &self.distinct {
            columns.extend(set.lists(groups)?);
        }
        Ok(columns)
    }

    /// Adds columns that [`Self::partials`] gave in another task: row `i` to group `into[i]`.
    pub fn merge_partials(&mut self, into: &[u32], columns: &[ArrayRef], now: i64) -> Result<()> {
        let mut rest = columns;
        let mut next = |columns: usize| {
            let (own, others) = rest.split_at_checked(columns).ok_or_else(too_few)?;
            rest = others;
            Ok::<_, RuntimeError>(own)
        };
        for call in self.calls.iter_mut().filter(|call| !call.is_distinct()) {
            let own = next(call.accumulator.state_types().len())?;
            call.accumulator.merge_state(into, own).map_err(RuntimeError::operator)?;
        }
        for set in 0..self.distinct.len() {
            let own = next(self.distinct[set].list_columns())?;
            let values = self.distinct[set].read_lists(own)?;
            self.merge_values(set, into, &values, now)?;
        }
        Ok(())
    }
}

impl super::Call {
    fn is_distinct(&self) -> bool {
        matches!(self.signs, SignSource::Distinct { .. })
    }
}

impl DistinctValues {
    /// How many columns [`Self::lists`] gives.
    fn list_columns(&self) -> usize {
        self.columns().len() + self.lanes()
    }

    /// The values of groups: for each column of values, and then for each lane of counts, a list a group.
    fn lists(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let lanes = self.lanes();
        let (columns, positions, counts) = match self.values_of(groups)? {
            Some(SeenValues { columns, positions, counts }) => (columns, positions, counts),
            None => {
                let types = self.types().iter();
                let columns = types.map(|ty| new_empty_array(&arrow_type(ty))).collect();
                (columns, Vec::new(), Vec::new())
            }
        };
        let mut lengths = vec![0usize; groups.len()];
        positions.iter().for_each(|position| lengths[*position as usize] += 1);
        let lane = |lane: usize| -> ArrayRef {
            let counts = counts.iter().skip(lane).step_by(lanes).copied();
            Arc::new(Int64Array::from_iter_values(counts))
        };
        let items = columns.into_iter().chain((0..lanes).map(lane));
        items.map(|items| list(&lengths, items)).collect()
    }

    /// The values in columns that [`Self::lists`] gave.
    fn read_lists(&self, columns: &[ArrayRef]) -> Result<SeenValues> {
        let lists = columns.iter().map(|column| column.as_list_opt().ok_or_else(too_few));
        let lists: Vec<&ListArray> = lists.collect::<Result<_>>()?;
        let (values, lanes) = lists.split_at(self.columns().len());
        let first = values.first().ok_or_else(too_few)?;
        let ends = first.value_offsets();
        let mut positions = Vec::new();
        for (position, ends) in (0u32..).zip(ends.windows(2)) {
            let more = usize::try_from(ends[1] - ends[0]).unwrap_or(0);
            positions.resize(positions.len() + more, position);
        }
        let mut counts = vec![0; positions.len() * lanes.len()];
        for (lane, list) in lanes.iter().enumerate() {
            let items = items(list);
            let items = items.as_primitive_opt::<Int64Type>().ok_or_else(too_few)?;
            for (row, count) in items.values().iter().enumerate() {
                counts[row * lanes.len() + lane] = *count;
            }
        }
        Ok(SeenValues {
            columns: values.iter().map(|list| items(list)).collect(),
            positions,
            counts,
        })
    }
}

/// The items that a list array's rows hold, and no others.
fn items(list: &ListArray) -> ArrayRef {
    let ends = list.value_offsets();
    let (first, last) = (ends[0] as usize, ends[list.len()] as usize);
    list.values().slice(first, last - first)
}

fn list(lengths: &[usize], items: ArrayRef) -> Result<ArrayRef> {
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Ok(Arc::new(ListArray::try_new(field, offsets, items, None)?))
}

fn too_few() -> RuntimeError {
    RuntimeError::internal("", "rows of the first phase of another aggregation")
}
