//! An argument or result of a kernel.

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;

use crate::EvalError;

/// A column of values: one a row, or one for all rows.
#[derive(Debug, Clone)]
pub struct Column {
    array: ArrayRef,
    constant: bool,
}

impl Column {
    /// One value a row.
    pub fn rows(array: ArrayRef) -> Self {
        Self { array, constant: false }
    }

    /// The same value in every row; `array` holds just it.
    pub fn constant(array: ArrayRef) -> Self {
        debug_assert_eq!(array.len(), 1);
        Self { array, constant: true }
    }

    /// The array, of one element when the column is constant.
    pub fn array(&self) -> &ArrayRef {
        &self.array
    }

    /// Whether every row has the same value.
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// Where the value of `row` stands in the array.
    #[inline]
    pub fn index(&self, row: usize) -> usize {
        if self.constant { 0 } else { row }
    }

    /// Whether the value of `row` is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(self.index(row))
    }

    /// An array with one element for each of `rows` rows.
    pub fn into_array(self, rows: usize) -> Result<ArrayRef, EvalError> {
        if self.constant && rows != 1 {
            Ok(take(&self.array, &UInt32Array::from(vec![0; rows]), None)?)
        } else {
            Ok(self.array)
        }
    }
}
