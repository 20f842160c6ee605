//! COUNT.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::Int64Type;
use flott_types::DataType;

use super::layout::state_numbers;
use super::rows::each_row;
use super::{Accumulator, AggregateFunction, AggregateInput};
use crate::{EvalError, FunctionDoc, Resolved};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "COUNT",
    aliases: &[],
    resolve: |args, _| Ok(Resolved::unchanged(args, DataType::bigint().not_null())),
    create: |_| Ok(Box::new(Count::default())),
    order_sensitive: false,
    doc: FunctionDoc {
        syntax: &["COUNT(*)", "COUNT([ALL | DISTINCT] value, …)"],
        text: "The number of rows; with arguments, of rows in which none of them is NULL. Never \
               NULL.",
        examples: &[
            ("COUNT(*) FROM (VALUES (1), (CAST(NULL AS INT))) AS t(a)", "2"),
            ("COUNT(a) FROM (VALUES (1), (CAST(NULL AS INT))) AS t(a)", "1"),
        ],
    },
}];

/// A number a group.
#[derive(Default)]
struct Count {
    counts: Vec<i64>,
}

/// The rows in which no argument is NULL; `None` when those are all.
fn non_null(input: &AggregateInput) -> Option<NullBuffer> {
    input
        .args
        .iter()
        .fold(None, |nulls, arg| NullBuffer::union(nulls.as_ref(), arg.logical_nulls().as_ref()))
}

impl Accumulator for Count {
    fn resize(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        let counts = self.counts.as_mut_slice();
        each_row(input, non_null(input).as_ref(), |row, sign| {
            counts[input.groups[row] as usize] += i64::from(sign);
        });
        Ok(())
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let rows = input.groups.len();
        let mut pairs = vec![[0i64; 2]; rows];
        let changed = &mut changed[..rows];
        let counts = self.counts.as_mut_slice();
        each_row(input, non_null(input).as_ref(), |row, sign| {
            let count = &mut counts[input.groups[row] as usize];
            let before = *count;
            *count += i64::from(sign);
            pairs[row] = [before, *count];
            changed[row] |= sign != 0;
        });
        Ok(Arc::new(Int64Array::new(pairs.into_flattened().into(), None)))
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let values = groups.iter().map(|group| self.counts[*group as usize]);
        Ok(Arc::new(Int64Array::from_iter_values(values)))
    }

    fn reset(&mut self, groups: &[u32]) {
        groups.iter().for_each(|group| self.counts[*group as usize] = 0);
    }

    fn merge(
        &mut self,
        into: &[u32],
        other: &dyn Accumulator,
        from: &[u32],
    ) -> Result<(), EvalError> {
        let Some(other) = other.as_any().downcast_ref::<Self>() else {
            return self.merge_state(into, &other.state(from)?);
        };
        for (into, from) in into.iter().zip(from) {
            self.counts[*into as usize] += other.counts[*from as usize];
        }
        Ok(())
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        Ok(vec![self.values(groups)?])
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataType::bigint()]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let counts = state_numbers::<Int64Type>(state, 0)?;
        for (group, count) in into.iter().zip(counts.values()) {
            self.counts[*group as usize] += count;
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
