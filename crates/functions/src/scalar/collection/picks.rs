//! Reading lists row by row, and building lists of elements picked from other arrays.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::interleave;
use arrow::datatypes::{DataType as Arrow, Field, Fields};
use flott_types::{DataType, arrow_type};

use crate::{Column, EvalError};

/// A column of arrays or maps, constant or not.
pub struct ListColumn<'a> {
    lists: &'a ListArray,
    stride: usize,
}

impl<'a> ListColumn<'a> {
    /// A view of a column that holds lists.
    pub fn new(column: &'a Column) -> Self {
        Self { lists: column.array().as_list(), stride: usize::from(!column.is_constant()) }
    }

    /// Where the elements of `row` stand among the values; `None` for NULL.
    #[inline]
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        let index = row * self.stride;
        self.lists.is_valid(index).then(|| {
            let offsets = self.lists.value_offsets();
            offsets[index] as usize..offsets[index + 1] as usize
        })
    }

    /// The elements of all rows, one after another.
    pub fn values(&self) -> &'a ArrayRef {
        self.lists.values()
    }

    /// Keys and values, when the lists are maps.
    pub fn entries(&self) -> (&'a ArrayRef, &'a ArrayRef) {
        let columns = self.lists.values().as_struct().columns();
        (&columns[0], &columns[1])
    }
}

/// Lists under construction: which element of which source array comes next.
pub struct Picks {
    picks: Vec<(usize, usize)>,
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl Picks {
    /// No lists yet, room for some.
    pub fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { picks: Vec::new(), offsets, valid: Vec::with_capacity(rows) }
    }

    /// Adds an element to the list that is being built.
    #[inline]
    pub fn pick(&mut self, source: usize, index: usize) {
        self.picks.push((source, index));
    }

    /// Adds several.
    pub fn pick_all(&mut self, source: usize, indices: impl Iterator<Item = usize>) {
        self.picks.extend(indices.map(|index| (source, index)));
    }

    /// Ends the list that is being built; one that is not `valid` is NULL.
    pub fn end_list(&mut self, valid: bool) -> Result<(), EvalError> {
        let end = i32::try_from(self.picks.len()).map_err(|_| too_many())?;
        self.offsets.push(end);
        self.valid.push(valid);
        Ok(())
    }

    /// The lists as arrays of elements of a type.
    pub fn into_lists(
        self,
        sources: &[&dyn Array],
        element: &DataType,
    ) -> Result<ArrayRef, EvalError> {
        let values = self.gather(sources, element)?;
        self.wrap(values, arrow_type(element))
    }

    /// The lists as maps, the elements picked being entries of `keys` and `values` alike.
    pub fn into_maps(
        self,
        (keys, key): (&[&dyn Array], &DataType),
        (values, value): (&[&dyn Array], &DataType),
    ) -> Result<ArrayRef, EvalError> {
        let fields: Fields = vec![
            Field::new("key", arrow_type(key), true),
            Field::new("value", arrow_type(value), true),
        ]
        .into();
        let columns = vec![self.gather(keys, key)?, self.gather(values, value)?];
        let entries =
            StructArray::try_new_with_length(fields.clone(), columns, None, self.picks.len())?;
        self.wrap(Arc::new(entries), Arrow::Struct(fields))
    }

    fn gather(&self, sources: &[&dyn Array], ty: &DataType) -> Result<ArrayRef, EvalError> {
        if self.picks.is_empty() {
            return Ok(arrow::array::new_empty_array(&arrow_type(ty)));
        }
        Ok(interleave(sources, &self.picks)?)
    }

    fn wrap(self, values: ArrayRef, element: Arrow) -> Result<ArrayRef, EvalError> {
        let field = Arc::new(Field::new("item", element, true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let nulls = Some(NullBuffer::from(self.valid)).filter(|nulls| nulls.null_count() > 0);
        Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
    }
}

fn too_many() -> EvalError {
    EvalError::Argument {
        function: "ARRAY",
        reason: format!("the arrays of one batch have more than {} elements", i32::MAX),
    }
}
