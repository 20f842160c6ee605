//! Aggregates that keep all values of a group in order of arrival.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use arrow::datatypes::Int64Type;
use flott_types::DataType;

use super::cells::first_arg;
use super::layout::numbers;
use super::rows::each_row;
use super::sequences::Sequences;
use super::values::{Arena, ValueCodec, items_of, lists, state_lists};
use super::{Accumulator, AggregateInput};
use crate::EvalError;

/// What becomes of the values of a group.
pub trait Listing: Send + 'static {
    /// Results under construction.
    type Output;

    /// Whether equal values are kept once, with a count.
    const COUNTED: bool = false;

    /// The column of values; NULLs in it are left out if [`Self::skips_nulls`] says so.
    fn values(&self, args: &[ArrayRef]) -> Result<ArrayRef, EvalError> {
        args.first().cloned().ok_or_else(|| EvalError::Internal("no argument".into()))
    }

    /// Whether NULLs are left out.
    fn skips_nulls(&self) -> bool {
        true
    }

    /// No result yet.
    fn begin(&self) -> Self::Output;

    /// Adds the result of a group.
    fn push(&self, out: &mut Self::Output, values: &Sequences, group: u32);

    /// Whether the last two results differ, after a value came or went.
    fn differ(&self, _: &Self::Output) -> bool {
        true
    }

    /// All results as a column.
    fn finish(&self, out: Self::Output, codec: &ValueCodec) -> Result<ArrayRef, EvalError>;
}

/// The accumulator of a [`Listing`].
pub struct Lists<L> {
    listing: L,
    value_type: DataType,
    codec: ValueCodec,
    sequences: Sequences,
}

impl<L: Listing> Lists<L> {
    /// No group yet; the listing's values are of this type.
    pub fn new(listing: L, value_type: &DataType, retracts: bool) -> Result<Self, EvalError> {
        Ok(Self {
            listing,
            value_type: value_type.clone().with_nullable(true),
            codec: ValueCodec::new(value_type)?,
            sequences: Sequences::new(retracts || L::COUNTED),
        })
    }

    /// Whether the list changed.
    fn apply(&mut self, group: u32, value: Option<&[u8]>, sign: i8) -> bool {
        if L::COUNTED {
            self.sequences.count(group, value, sign.into());
        } else if sign > 0 {
            self.sequences.push(group, value);
        } else if sign < 0 {
            return self.sequences.remove(group, value);
        }
        sign != 0
    }

    /// Calls `each` with every row, its value and its sign.
    fn each_value(
        &mut self,
        input: &AggregateInput,
        mut each: impl FnMut(&mut Self, usize, Option<&[u8]>, i8),
    ) -> Result<(), EvalError> {
        first_arg(input)?;
        let column = self.listing.values(input.args)?;
        let values = self.codec.encode(&column)?;
        let nulls = column.logical_nulls();
        let skipped = nulls.as_ref().filter(|_| self.listing.skips_nulls());
        each_row(input, skipped, |row, sign| {
            let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            each(self, row, valid.then(|| values.get(row)), sign);
        });
        Ok(())
    }
}

impl<L: Listing> Accumulator for Lists<L> {
    fn resize(&mut self, groups: usize) {
        self.sequences.resize(groups);
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        self.each_value(input, |this, row, value, sign| {
            this.apply(input.groups[row], value, sign);
        })
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let mut out = self.listing.begin();
        self.each_value(input, |this, row, value, sign| {
            let group = input.groups[row];
            this.listing.push(&mut out, &this.sequences, group);
            let applied = this.apply(group, value, sign);
            this.listing.push(&mut out, &this.sequences, group);
            changed[row] |= applied && this.listing.differ(&out);
        })?;
        self.listing.finish(out, &self.codec)
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let mut out = self.listing.begin();
        groups.iter().for_each(|group| self.listing.push(&mut out, &self.sequences, *group));
        self.listing.finish(out, &self.codec)
    }

    fn reset(&mut self, groups: &[u32]) {
        groups.iter().for_each(|group| self.sequences.clear(*group));
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let lengths = || groups.iter().map(|group| Some(self.sequences.iter(*group).count()));
        let entries = || groups.iter().flat_map(|group| self.sequences.iter(*group));
        let values = self.codec.decode(entries().map(|(value, _)| value))?;
        let mut columns = vec![lists(lengths(), values)?];
        if L::COUNTED {
            let counts = Int64Array::from_iter_values(entries().map(|(_, count)| count));
            columns.push(lists(lengths(), Arc::new(counts))?);
        }
        Ok(columns)
    }

    fn state_types(&self) -> Vec<DataType> {
        let mut types = vec![DataType::array(self.value_type.clone())];
        if L::COUNTED {
            types.push(DataType::array(DataType::bigint()));
        }
        types
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let all = state_lists(state, 0)?;
        let column = all.values();
        let values = self.codec.encode(column)?;
        let value = |at: usize| column.is_valid(at).then(|| values.get(at));
        let counts = L::COUNTED.then(|| state_lists(state, 1)).transpose()?;
        for (row, group) in into.iter().enumerate() {
            let Some(counts) = counts else {
                items_of(all, row).for_each(|at| self.sequences.push(*group, value(at)));
                continue;
            };
            let numbers = numbers::<Int64Type>(counts.values())?;
            for (at, count) in items_of(all, row).zip(items_of(counts, row)) {
                self.sequences.count(*group, value(at), numbers.value(count));
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.sequences.memory()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Single values of lists under construction.
#[derive(Default)]
pub struct Singles {
    values: Arena,
    differ: bool,
}

impl Singles {
    /// Adds a value.
    pub fn push(&mut self, value: Option<&[u8]>) {
        self.differ = self.values.last() != value;
        self.values.push(value);
    }

    /// Whether the last two differ.
    pub fn differ(&self) -> bool {
        self.differ
    }

    /// The values as a column.
    pub fn finish(self, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        codec.decode(self.values.iter())
    }
}
