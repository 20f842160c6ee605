//! Columns of arrays, maps and rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, NullBufferBuilder, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as Arrow, FieldRef, Fields};

use super::{Column, Fault};

/// ARRAY values: the items of all rows one after the other.
#[derive(Debug)]
pub(crate) struct Lists {
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
    item: FieldRef,
    /// The items; those past the last end belong to the value under way.
    pub(crate) items: Box<Column>,
}

impl Lists {
    pub(crate) fn new(item: FieldRef, items: Column) -> Self {
        Self { ends: vec![0], nulls: NullBufferBuilder::new(0), item, items: Box::new(items) }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Ends the value under way.
    pub(crate) fn end_value(&mut self) -> Result<(), Fault> {
        let Ok(end) = i32::try_from(self.items.len()) else {
            self.truncate(self.len());
            return Err(Fault::TooLong);
        };
        self.ends.push(end);
        self.nulls.append_non_null();
        Ok(())
    }

    pub(crate) fn push_null(&mut self) {
        self.truncate(self.len());
        self.ends.push(self.items.len() as i32);
        self.nulls.append_null();
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(end) = self.ends.get(len) {
            self.items.truncate(*end as usize);
            self.ends.truncate(len + 1);
            self.nulls.truncate(len);
        }
    }

    /// The number of items of the value under way.
    pub(crate) fn open_items(&self) -> usize {
        self.items.len() - self.ends.last().map_or(0, |end| *end as usize)
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        self.truncate(self.len());
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        Arc::new(ListArray::new(
            self.item.clone(),
            OffsetBuffer::new(ends.into()),
            self.items.finish(),
            self.nulls.finish(),
        ))
    }
}

/// ROW values: one column a field.
#[derive(Debug)]
pub(crate) struct Structs {
    len: usize,
    nulls: NullBufferBuilder,
    fields: Fields,
    /// The fields' columns; what they hold past `len` belongs to the value under way.
    pub(crate) columns: Vec<Column>,
}

impl Structs {
    pub(crate) fn new(fields: Fields, columns: Vec<Column>) -> Self {
        Self { len: 0, nulls: NullBufferBuilder::new(0), fields, columns }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Ends the value under way; fields that it did not set are NULL.
    pub(crate) fn end_value(&mut self) {
        self.len += 1;
        for column in &mut self.columns {
            if column.len() < self.len {
                column.push_null();
            }
        }
        self.nulls.append_non_null();
    }

    pub(crate) fn push_null(&mut self) {
        self.truncate(self.len);
        self.columns.iter_mut().for_each(Column::push_null);
        self.len += 1;
        self.nulls.append_null();
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(len));
        self.nulls.truncate(len);
        self.len = self.len.min(len);
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        self.truncate(self.len);
        let len = std::mem::take(&mut self.len);
        let nulls = self.nulls.finish();
        if self.columns.is_empty() {
            return Arc::new(StructArray::new_empty_fields(len, nulls));
        }
        let columns = self.columns.iter_mut().map(Column::finish).collect();
        Arc::new(StructArray::new(self.fields.clone(), columns, nulls))
    }
}

/// The parts of a list type; formats only ask for it where the type is a list.
pub(super) fn list_item(list: &Arrow) -> FieldRef {
    match list {
        Arrow::List(item) => item.clone(),
        other => Arc::new(arrow::datatypes::Field::new("item", other.clone(), true)),
    }
}

/// The fields of a struct type; none where the type is no struct.
pub(super) fn struct_fields(row: &Arrow) -> Fields {
    match row {
        Arrow::Struct(fields) => fields.clone(),
        _ => Fields::empty(),
    }
}
