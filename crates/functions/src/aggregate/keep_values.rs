//! MIN, MAX, FIRST_VALUE and LAST_VALUE of values that are no numbers and are not taken back.

use std::any::Any;
use std::marker::PhantomData;

use arrow::array::{Array, ArrayRef};
use flott_types::DataType;

use super::cells::first_arg;
use super::keep::Choice;
use super::layout::state_column;
use super::rows::each_row;
use super::values::{Arena, ValueCodec};
use super::{Accumulator, AggregateInput};
use crate::EvalError;

/// Keeps one value a group, as bytes.
pub struct KeepValues<C> {
    data_type: DataType,
    codec: ValueCodec,
    kept: Vec<Option<Box<[u8]>>>,
    /// The bytes of all values kept.
    heap: usize,
    rule: PhantomData<fn() -> C>,
}

impl<C: Choice> KeepValues<C> {
    /// No group yet; values are of this type.
    pub fn new(data_type: &DataType) -> Result<Self, EvalError> {
        Ok(Self {
            data_type: data_type.clone().with_nullable(true),
            codec: ValueCodec::new(data_type)?,
            kept: Vec::new(),
            heap: 0,
            rule: PhantomData,
        })
    }

    /// Whether the group's value changed.
    fn offer(&mut self, group: u32, value: &[u8]) -> bool {
        let kept = &mut self.kept[group as usize];
        if kept.as_deref().is_some_and(|old| !C::replaces(&value, &old)) {
            return false;
        }
        let changed = kept.as_deref() != Some(value);
        if changed {
            self.heap += value.len();
            self.heap -= kept.as_deref().map_or(0, <[u8]>::len);
            *kept = Some(value.into());
        }
        changed
    }
}

impl<C: Choice> Accumulator for KeepValues<C> {
    fn resize(&mut self, groups: usize) {
        if groups > self.kept.len() {
            self.kept.resize(groups, None);
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        let arg = first_arg(input)?;
        let values = self.codec.encode(arg)?;
        each_row(input, arg.logical_nulls().as_ref(), |row, sign| {
            if sign > 0 {
                self.offer(input.groups[row], values.get(row));
            }
        });
        Ok(())
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let arg = first_arg(input)?;
        let values = self.codec.encode(arg)?;
        let mut pairs = Arena::default();
        each_row(input, arg.logical_nulls().as_ref(), |row, sign| {
            let group = input.groups[row];
            pairs.push(self.kept[group as usize].as_deref());
            if sign > 0 && self.offer(group, values.get(row)) {
                changed[row] = true;
                pairs.push(self.kept[group as usize].as_deref());
            } else {
                pairs.repeat();
            }
        });
        self.codec.decode(pairs.iter())
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        self.codec.decode(groups.iter().map(|group| self.kept[*group as usize].as_deref()))
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let old = self.kept[*group as usize].take();
            self.heap -= old.as_deref().map_or(0, <[u8]>::len);
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        Ok(vec![self.values(groups)?])
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone()]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let column = state_column(state, 0)?;
        let values = self.codec.encode(column)?;
        for (row, group) in into.iter().enumerate() {
            if column.is_valid(row) {
                self.offer(*group, values.get(row));
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.kept.capacity() * size_of::<Option<Box<[u8]>>>() + self.heap
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
