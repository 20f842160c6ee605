//! Which of two values a group keeps: the rules of MIN, MAX, FIRST_VALUE and LAST_VALUE, and their
//! accumulator for numbers that are not taken back.

use std::marker::PhantomData;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType};
use flott_types::DataType;

use super::cells::{Fold, Native, nullable_column};
use super::layout::state_numbers;
use crate::EvalError;

/// Whether a value takes the place of the one kept.
pub trait Choice: Send + 'static {
    /// Whether the later value `new` is kept instead of `old`.
    fn replaces<N: PartialOrd>(new: &N, old: &N) -> bool;
}

/// FIRST_VALUE
pub struct First;

/// LAST_VALUE
pub struct Last;

/// MIN
pub struct Smallest;

/// MAX
pub struct Largest;

impl Choice for First {
    #[inline(always)]
    fn replaces<N: PartialOrd>(_: &N, _: &N) -> bool {
        false
    }
}

impl Choice for Last {
    #[inline(always)]
    fn replaces<N: PartialOrd>(_: &N, _: &N) -> bool {
        true
    }
}

impl Choice for Smallest {
    #[inline(always)]
    fn replaces<N: PartialOrd>(new: &N, old: &N) -> bool {
        is_less(new, old)
    }
}

impl Choice for Largest {
    #[inline(always)]
    fn replaces<N: PartialOrd>(new: &N, old: &N) -> bool {
        is_less(old, new)
    }
}

/// Whether a value comes before another; NaN comes after all numbers, as in ORDER BY.
#[inline(always)]
#[allow(clippy::eq_op)] // Only NaN differs from itself.
fn is_less<N: PartialOrd>(left: &N, right: &N) -> bool {
    left < right || (right != right && left == left)
}

/// Keeps one number a group.
pub struct Keep<T, C> {
    data_type: DataType,
    rule: PhantomData<fn() -> (T, C)>,
}

impl<T, C> Keep<T, C> {
    /// For values of this type.
    pub fn new(data_type: &DataType) -> Self {
        Self { data_type: data_type.clone(), rule: PhantomData }
    }
}

/// A number, once there was one.
#[derive(Clone, Copy)]
pub struct Kept<N> {
    value: N,
    seen: bool,
}

impl<T: ArrowPrimitiveType, C: Choice> Fold for Keep<T, C> {
    type Arg = T;
    type Result = T;
    type Cell = Kept<Native<T>>;

    fn empty(&self) -> Self::Cell {
        Kept { value: Native::<T>::default(), seen: false }
    }

    #[inline(always)]
    fn add(&self, cell: &mut Self::Cell, value: Native<T>) {
        if !cell.seen || C::replaces(&value, &cell.value) {
            *cell = Kept { value, seen: true };
        }
    }

    /// Nothing is taken back from this accumulator.
    fn subtract(&self, _: &mut Self::Cell, _: Native<T>) {}

    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell) {
        if other.seen {
            self.add(cell, other.value);
        }
    }

    #[inline(always)]
    fn value(&self, cell: &Self::Cell) -> Option<Native<T>> {
        cell.seen.then_some(cell.value)
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone().with_nullable(true)]
    }

    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError> {
        let values = cells.iter().map(|cell| self.value(cell));
        Ok(vec![nullable_column::<T>(values, &self.data_type)?])
    }

    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError> {
        let values = state_numbers::<T>(state, 0)?;
        let cell = |row| Kept { value: values.value(row), seen: values.is_valid(row) };
        Ok((0..values.len()).map(cell).collect())
    }
}
