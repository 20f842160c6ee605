//! Loops over two columns, either of which may be a constant.

use arrow::array::{Array, ArrowPrimitiveType, AsArray, PrimitiveArray, PrimitiveBuilder};
use arrow::buffer::{BooleanBuffer, NullBuffer};

use crate::{Column, EvalError};

/// `op` on the values of each row; NULL where either is. It is called for the rows of NULLs too,
/// with whatever their slots hold.
pub fn binary<L, R, O>(
    left: &Column,
    right: &Column,
    rows: usize,
    op: impl Fn(L::Native, R::Native) -> O::Native,
) -> PrimitiveArray<O>
where
    L: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    let (a, b) = (left.array().as_primitive::<L>(), right.array().as_primitive::<R>());
    let Some(nulls) = nulls_of_both(left, right, rows) else {
        return PrimitiveArray::new_null(rows);
    };
    let (a, b) = (a.values(), b.values());
    let values: Vec<O::Native> = match (left.is_constant(), right.is_constant()) {
        (false, false) => a.iter().zip(b.iter()).map(|(a, b)| op(*a, *b)).collect(),
        (false, true) => {
            let b = b[0];
            a.iter().map(|a| op(*a, b)).collect()
        }
        (true, false) => {
            let a = a[0];
            b.iter().map(|b| op(a, *b)).collect()
        }
        (true, true) => vec![op(a[0], b[0]); rows],
    };
    PrimitiveArray::new(values.into(), nulls)
}

/// `op` on the values of each row where neither is NULL; it may give NULL, and may fail.
pub fn try_binary<L, R, O>(
    left: &Column,
    right: &Column,
    rows: usize,
    op: impl Fn(L::Native, R::Native) -> Result<Option<O::Native>, EvalError>,
) -> Result<PrimitiveArray<O>, EvalError>
where
    L: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    let (a, b) = (left.array().as_primitive::<L>(), right.array().as_primitive::<R>());
    let Some(nulls) = nulls_of_both(left, right, rows) else {
        return Ok(PrimitiveArray::new_null(rows));
    };
    let mut results = PrimitiveBuilder::<O>::with_capacity(rows);
    for row in 0..rows {
        if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            let (a, b) = (a.value(left.index(row)), b.value(right.index(row)));
            results.append_option(op(a, b)?);
        } else {
            results.append_null();
        }
    }
    Ok(results.finish())
}

/// `op` on the values of each row as a truth value; its NULLs are for the caller to add.
pub fn compare<T: ArrowPrimitiveType>(
    left: &Column,
    right: &Column,
    rows: usize,
    op: impl Fn(T::Native, T::Native) -> bool,
) -> BooleanBuffer {
    let (a, b) = (left.array().as_primitive::<T>(), right.array().as_primitive::<T>());
    let (a, b) = (a.values(), b.values());
    // Slices of the length that is looped over need no check of each index.
    match (left.is_constant(), right.is_constant()) {
        (false, false) => {
            let (a, b) = (&a[..rows], &b[..rows]);
            BooleanBuffer::collect_bool(rows, |row| op(a[row], b[row]))
        }
        (false, true) => {
            let (a, b) = (&a[..rows], b[0]);
            BooleanBuffer::collect_bool(rows, |row| op(a[row], b))
        }
        (true, false) => {
            let (a, b) = (a[0], &b[..rows]);
            BooleanBuffer::collect_bool(rows, |row| op(a, b[row]))
        }
        (true, true) => {
            let result = op(a[0], b[0]);
            BooleanBuffer::collect_bool(rows, |_| result)
        }
    }
}

/// The validity of rows in which neither column is NULL, itself absent when all are; `None` when
/// a constant makes every row NULL.
pub fn nulls_of_both(left: &Column, right: &Column, rows: usize) -> Option<Option<NullBuffer>> {
    let mut union = None;
    for column in [left, right] {
        if column.is_constant() {
            if rows > 0 && column.is_null(0) {
                return None;
            }
        } else {
            union = NullBuffer::union(union.as_ref(), column.array().nulls());
        }
    }
    Some(union)
}
