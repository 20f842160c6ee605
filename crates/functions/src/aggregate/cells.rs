//! Aggregates whose state is a few numbers a group.

use std::any::Any;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use flott_types::DataType;

use super::layout::{numbers, typed};
use super::rows::{Pairs, each_row, same};
use super::{Accumulator, AggregateInput};
use crate::EvalError;

/// How numbers are folded into a cell. NULLs are passed over.
pub trait Fold: Send + 'static {
    /// The type of the argument.
    type Arg: ArrowPrimitiveType;
    /// The type of the result.
    type Result: ArrowPrimitiveType;
    /// The state of a group.
    type Cell: Copy + Send + 'static;

    /// Whether every value that is taken in or back is a change, even if the result stays: Flink compares the cells.
    const EVERY_VALUE: bool = false;

    /// The state of no rows.
    fn empty(&self) -> Self::Cell;

    /// Takes a value in.
    fn add(&self, cell: &mut Self::Cell, value: Native<Self::Arg>);

    /// Takes back a value that was added.
    fn subtract(&self, cell: &mut Self::Cell, value: Native<Self::Arg>);

    /// Takes in the state of other rows, which count as later ones.
    fn merge(&self, cell: &mut Self::Cell, other: &Self::Cell);

    /// The result.
    fn value(&self, cell: &Self::Cell) -> Option<Native<Self::Result>>;

    /// The types of the columns that [`Self::write`] gives.
    fn state_types(&self) -> Vec<DataType>;

    /// Cells as columns.
    fn write(&self, cells: &[Self::Cell]) -> Result<Vec<ArrayRef>, EvalError>;

    /// What [`Self::write`] wrote.
    fn read(&self, state: &[ArrayRef]) -> Result<Vec<Self::Cell>, EvalError>;
}

/// The Rust type of an Arrow type's values.
pub type Native<T> = <T as ArrowPrimitiveType>::Native;

/// The accumulator of a [`Fold`]: a cell a group.
pub struct Cells<F: Fold> {
    fold: F,
    cells: Vec<F::Cell>,
    returns: DataType,
}

impl<F: Fold> Cells<F> {
    /// No group yet; results are of type `returns`.
    pub fn new(fold: F, returns: &DataType) -> Self {
        Self { fold, cells: Vec::new(), returns: returns.clone() }
    }

    /// A boxed one.
    pub fn boxed(fold: F, returns: &DataType) -> Box<dyn Accumulator> {
        Box::new(Self::new(fold, returns))
    }

    fn picked(&self, groups: &[u32]) -> Vec<F::Cell> {
        groups.iter().map(|group| self.cells[*group as usize]).collect()
    }

    fn merge_cells(&mut self, into: &[u32], cells: impl Iterator<Item = F::Cell>) {
        for (group, other) in into.iter().zip(cells) {
            self.fold.merge(&mut self.cells[*group as usize], &other);
        }
    }
}

/// The first argument of a call.
pub fn first_arg<'a>(input: &AggregateInput<'a>) -> Result<&'a ArrayRef, EvalError> {
    input.args.first().ok_or_else(|| EvalError::Internal("an aggregate without argument".into()))
}

impl<F: Fold> Accumulator for Cells<F> {
    fn resize(&mut self, groups: usize) {
        if groups > self.cells.len() {
            self.cells.resize(groups, self.fold.empty());
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        let arg = numbers::<F::Arg>(first_arg(input)?)?;
        let values = &arg.values()[..input.groups.len()];
        let (fold, cells) = (&self.fold, self.cells.as_mut_slice());
        each_row(input, arg.nulls(), |row, sign| {
            let cell = &mut cells[input.groups[row] as usize];
            if sign > 0 {
                fold.add(cell, values[row]);
            } else if sign < 0 {
                fold.subtract(cell, values[row]);
            }
        });
        Ok(())
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let rows = input.groups.len();
        let arg = numbers::<F::Arg>(first_arg(input)?)?;
        let values = &arg.values()[..rows];
        let changed = &mut changed[..rows];
        let (fold, cells) = (&self.fold, self.cells.as_mut_slice());
        let mut pairs = Pairs::new(rows);
        each_row(input, arg.nulls(), |row, sign| {
            let cell = &mut cells[input.groups[row] as usize];
            let before = fold.value(cell);
            if sign > 0 {
                fold.add(cell, values[row]);
            } else if sign < 0 {
                fold.subtract(cell, values[row]);
            }
            let after = fold.value(cell);
            changed[row] |= F::EVERY_VALUE & (sign != 0) | !same(before, after);
            pairs.set(row, before, after);
        });
        typed(pairs.finish::<F::Result>(), &self.returns)
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let value = |group: &u32| self.fold.value(&self.cells[*group as usize]);
        let values: PrimitiveArray<F::Result> = groups.iter().map(value).collect();
        typed(values, &self.returns)
    }

    fn unseen(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        if F::EVERY_VALUE { self.state(groups) } else { Ok(Vec::new()) }
    }

    fn unseen_types(&self) -> Vec<DataType> {
        if F::EVERY_VALUE { self.state_types() } else { Vec::new() }
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            self.cells[*group as usize] = self.fold.empty();
        }
    }

    fn merge(
        &mut self,
        into: &[u32],
        other: &dyn Accumulator,
        from: &[u32],
    ) -> Result<(), EvalError> {
        match other.as_any().downcast_ref::<Self>() {
            Some(other) => {
                self.merge_cells(into, from.iter().map(|group| other.cells[*group as usize]));
                Ok(())
            }
            None => self.merge_state(into, &other.state(from)?),
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        self.fold.write(&self.picked(groups))
    }

    fn state_types(&self) -> Vec<DataType> {
        self.fold.state_types()
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let cells = self.fold.read(state)?;
        self.merge_cells(into, cells.into_iter());
        Ok(())
    }

    fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<F::Cell>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A state column of numbers.
pub fn column<T: ArrowPrimitiveType>(
    values: impl Iterator<Item = Native<T>>,
    ty: &DataType,
) -> Result<ArrayRef, EvalError> {
    typed(PrimitiveArray::<T>::from_iter_values(values), ty)
}

/// A state column of numbers that may be NULL.
pub fn nullable_column<T: ArrowPrimitiveType>(
    values: impl Iterator<Item = Option<Native<T>>>,
    ty: &DataType,
) -> Result<ArrayRef, EvalError> {
    typed(values.collect::<PrimitiveArray<T>>(), ty)
}
