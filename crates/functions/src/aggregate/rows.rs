//! Loops over the rows of an accumulator's input, and the pairs of values that come out of them.

use arrow::array::{ArrowNativeTypeOp, ArrowPrimitiveType, PrimitiveArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::ArrowNativeType;

use super::AggregateInput;

/// Calls `each` with every row in order and its sign, which is 0 where `nulls` has a NULL.
#[inline(always)]
pub fn each_row(
    input: &AggregateInput,
    nulls: Option<&NullBuffer>,
    mut each: impl FnMut(usize, i8),
) {
    let rows = input.groups.len();
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    match (input.signs, nulls) {
        (None, None) => (0..rows).for_each(|row| each(row, 1)),
        (None, Some(nulls)) => (0..rows).for_each(|row| each(row, i8::from(nulls.is_valid(row)))),
        (Some(signs), None) => (0..rows).for_each(|row| each(row, signs[row])),
        (Some(signs), Some(nulls)) => {
            (0..rows).for_each(|row| each(row, if nulls.is_valid(row) { signs[row] } else { 0 }));
        }
    }
}

/// As [`each_row`], for a body that may fail; stops at the first error.
pub fn try_each_row<E>(
    input: &AggregateInput,
    nulls: Option<&NullBuffer>,
    mut each: impl FnMut(usize, i8) -> Result<(), E>,
) -> Result<(), E> {
    for row in 0..input.groups.len() {
        let valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
        let sign = input.signs.map_or(1, |signs| signs[row]);
        each(row, if valid { sign } else { 0 })?;
    }
    Ok(())
}

/// Whether two values are the same to a changelog: bit by bit, so that NaN equals NaN.
#[inline(always)]
pub fn same<N: ArrowNativeTypeOp>(left: Option<N>, right: Option<N>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left.is_eq(right),
        (None, None) => true,
        _ => false,
    }
}

/// The values before and after each row.
pub struct Pairs<N> {
    values: Vec<[N; 2]>,
    valid: Vec<[bool; 2]>,
    all_valid: bool,
}

impl<N: ArrowNativeType> Pairs<N> {
    /// Room for `rows` pairs.
    pub fn new(rows: usize) -> Self {
        Self {
            values: vec![[N::default(); 2]; rows],
            valid: vec![[true; 2]; rows],
            all_valid: true,
        }
    }

    /// Sets the pair of a row.
    #[inline(always)]
    pub fn set(&mut self, row: usize, before: Option<N>, after: Option<N>) {
        self.values[row] = [before.unwrap_or_default(), after.unwrap_or_default()];
        self.valid[row] = [before.is_some(), after.is_some()];
        self.all_valid &= before.is_some() & after.is_some();
    }

    /// All values, those of a row one after the other.
    pub fn finish<T: ArrowPrimitiveType<Native = N>>(self) -> PrimitiveArray<T> {
        let nulls = (!self.all_valid).then(|| {
            let valid = self.valid.as_flattened();
            NullBuffer::new(BooleanBuffer::collect_bool(valid.len(), |at| valid[at]))
        });
        PrimitiveArray::new(self.values.into_flattened().into(), nulls)
    }
}
