//! SINGLE_VALUE, which plans put where a sub-query must give one row.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::Int64Type;
use flott_types::DataType;

use super::cells::first_arg;
use super::layout::state_numbers;
use super::rows::each_row;
use super::typing::{same_as_argument, unsupported};
use super::values::{Arena, ValueCodec};
use super::{Accumulator, AggregateFunction, AggregateInput};
use crate::{EvalError, FunctionDoc};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "SINGLE_VALUE",
    aliases: &[],
    resolve: same_as_argument,
    create: |spec| match SingleValue::new(&spec.returns) {
        Ok(accumulator) => Ok(Box::new(accumulator)),
        Err(_) => Err(unsupported(spec, 0)),
    },
    order_sensitive: false,
    doc: FunctionDoc {
        syntax: &["SINGLE_VALUE(value)"],
        text: "The value of the only row; NULL without rows. More than one row is an error.",
        examples: &[("SINGLE_VALUE(a) FROM (VALUES (1)) AS t(a)", "1")],
    },
}];

/// The value of each group's only row.
struct SingleValue {
    data_type: DataType,
    codec: ValueCodec,
    groups: Vec<Single>,
    heap: usize,
}

#[derive(Default, Clone)]
struct Single {
    value: Option<Box<[u8]>>,
    rows: i64,
}

impl SingleValue {
    fn new(data_type: &DataType) -> Result<Self, EvalError> {
        Ok(Self {
            data_type: data_type.clone().with_nullable(true),
            codec: ValueCodec::new(data_type)?,
            groups: Vec::new(),
            heap: 0,
        })
    }

    fn set(&mut self, group: u32, value: Option<&[u8]>, delta: i64) {
        let single = &mut self.groups[group as usize];
        single.rows += delta;
        let value = if delta > 0 { value } else { None };
        self.heap += value.map_or(0, <[u8]>::len);
        self.heap -= single.value.as_deref().map_or(0, <[u8]>::len);
        single.value = value.map(Box::from);
    }

    fn apply(
        &mut self,
        input: &AggregateInput,
        mut each: impl FnMut(&Self, usize),
    ) -> Result<(), EvalError> {
        let arg = first_arg(input)?;
        let values = self.codec.encode(arg)?;
        let nulls = arg.logical_nulls();
        let mut several = false;
        each_row(input, None, |row, sign| {
            let group = input.groups[row];
            each(self, row);
            let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            if sign != 0 {
                self.set(group, valid.then(|| values.get(row)), sign.into());
            }
            several |= self.groups[group as usize].rows > 1;
            each(self, row);
        });
        if several { Err(too_many()) } else { Ok(()) }
    }
}

fn too_many() -> EvalError {
    EvalError::Argument {
        function: "SINGLE_VALUE",
        reason: "a sub-query that must give one row gave several\n\
                 hint: make it unique, as by MAX or LIMIT 1"
            .into(),
    }
}

impl Accumulator for SingleValue {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize(groups, Single::default());
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        self.apply(input, |_, _| {})
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let mut pairs = Arena::default();
        let mut before: Option<Box<[u8]>> = None;
        let mut is_after = false;
        self.apply(input, |this, row| {
            let value = this.groups[input.groups[row] as usize].value.as_deref();
            pairs.push(value);
            if is_after {
                changed[row] |= before.as_deref() != value;
            } else {
                before = value.map(Box::from);
            }
            is_after = !is_after;
        })?;
        self.codec.decode(pairs.iter())
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        self.codec.decode(groups.iter().map(|group| self.groups[*group as usize].value.as_deref()))
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let old = std::mem::take(&mut self.groups[*group as usize]);
            self.heap -= old.value.map_or(0, |value| value.len());
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let rows = groups.iter().map(|group| self.groups[*group as usize].rows);
        Ok(vec![self.values(groups)?, Arc::new(Int64Array::from_iter_values(rows))])
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone(), DataType::bigint()]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let column = first_arg(&AggregateInput { groups: into, signs: None, args: state })?;
        let values = self.codec.encode(column)?;
        let nulls = column.logical_nulls();
        let rows = state_numbers::<Int64Type>(state, 1)?;
        for (row, group) in into.iter().enumerate() {
            let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            if rows.value(row) != 0 {
                self.set(*group, valid.then(|| values.get(row)), rows.value(row));
            }
            if self.groups[*group as usize].rows > 1 {
                return Err(too_many());
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Single>() + self.heap
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
