//! Collections and rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, StructArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType as Arrow, Field, FieldRef, Fields};
use arrow::row::{RowConverter, SortField};
use flott_catalog::connector::ConnectorError;
use hashbrown::HashMap;

use super::column::{Column, Now, mismatch};
use super::rows::Rows;

/// ARRAY, MAP and MULTISET: `length` items a value.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) length: u64,
    pub(super) items: Items,
}

/// The items of a collection.
#[derive(Debug)]
pub(super) enum Items {
    Elements(Box<Column>),
    /// Keys and what belongs to them; keys that come twice in a value are one.
    Entries {
        keys: Box<Column>,
        values: Box<Column>,
    },
}

impl Collection {
    pub(super) fn value_bytes(&self) -> u64 {
        let item = match &self.items {
            Items::Elements(column) => column.value_bytes(),
            Items::Entries { keys, values } => {
                keys.value_bytes().saturating_add(values.value_bytes())
            }
        };
        self.length.saturating_mul(item).saturating_add(4)
    }

    pub(super) fn fill(
        &self,
        rows: Rows,
        now: &Now,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ConnectorError> {
        let inner = rows.items(self.length);
        let (lengths, items) = match &self.items {
            Items::Elements(column) => {
                let lengths = OffsetBuffer::from_repeated_length(self.length as usize, rows.len());
                (lengths, column.fill(inner, now)?)
            }
            Items::Entries { keys, values } => {
                let (keys, values) = (keys.fill(inner, now)?, values.fill(inner, now)?);
                let distinct = Distinct::of(&keys, rows.len(), self.length as usize)?;
                let fields = Fields::from(vec![
                    Field::new("key", keys.data_type().clone(), true),
                    Field::new("value", values.data_type().clone(), true),
                ]);
                let columns = vec![
                    take(&keys, &distinct.keys, None).map_err(mismatch)?,
                    take(&values, &distinct.values, None).map_err(mismatch)?,
                ];
                let entries = StructArray::try_new(fields, columns, None).map_err(mismatch)?;
                (distinct.offsets, Arc::new(entries) as ArrayRef)
            }
        };
        let item: FieldRef = Arc::new(Field::new("item", items.data_type().clone(), true));
        Ok(Arc::new(ListArray::try_new(item, lengths, items, nulls).map_err(mismatch)?))
    }
}

/// Which entries remain when each key is kept once a value, with what came for it last.
struct Distinct {
    keys: UInt32Array,
    values: UInt32Array,
    offsets: OffsetBuffer<i32>,
}

impl Distinct {
    fn of(keys: &ArrayRef, count: usize, length: usize) -> Result<Self, ConnectorError> {
        let converter =
            RowConverter::new(vec![SortField::new(keys.data_type().clone())]).map_err(mismatch)?;
        let encoded = converter.convert_columns(std::slice::from_ref(keys)).map_err(mismatch)?;
        let mut kept_keys: Vec<u32> = Vec::with_capacity(keys.len());
        let mut kept_values: Vec<u32> = Vec::with_capacity(keys.len());
        let mut seen = HashMap::with_hasher(foldhash::fast::RandomState::default());
        let mut lengths = Vec::with_capacity(count);
        for value in 0..count {
            seen.clear();
            let before = kept_keys.len();
            for entry in value * length..(value + 1) * length {
                let place = *seen.entry(encoded.row(entry)).or_insert(kept_keys.len());
                if place == kept_keys.len() {
                    kept_keys.push(entry as u32);
                    kept_values.push(entry as u32);
                } else {
                    kept_values[place] = entry as u32;
                }
            }
            lengths.push(kept_keys.len() - before);
        }
        Ok(Self {
            keys: kept_keys.into(),
            values: kept_values.into(),
            offsets: OffsetBuffer::from_lengths(lengths),
        })
    }
}

/// ROW: a column for each field.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) columns: Vec<Column>,
    pub(super) layout: Arrow,
}

impl Record {
    pub(super) fn value_bytes(&self) -> u64 {
        self.columns.iter().fold(1, |sum, column| sum.saturating_add(column.value_bytes()))
    }

    pub(super) fn fill(
        &self,
        rows: Rows,
        now: &Now,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ConnectorError> {
        let columns = self
            .columns
            .iter()
            .map(|column| column.fill(rows, now))
            .collect::<Result<Vec<_>, _>>()?;
        let fields =
            if let Arrow::Struct(fields) = &self.layout { fields.clone() } else { Fields::empty() };
        let array = StructArray::try_new_with_length(fields, columns, nulls, rows.len());
        Ok(Arc::new(array.map_err(mismatch)?))
    }
}
