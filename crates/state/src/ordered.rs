//! Values in order, counted: the state of MIN and MAX over input that retracts, and sort keys.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::row::{RowConverter, SortField};
use flott_types::{DataType, arrow_type};

use crate::error::Result;
use crate::rows::EncodedRows;
use crate::size::StateSize;
use crate::snapshot::{StateDecoder, StateEncoder};

/// A multiset that knows its smallest and largest value.
#[derive(Debug, Clone)]
pub struct OrderedMultiset<K> {
    counts: BTreeMap<K, i64>,
    heap: usize,
}

impl<K> Default for OrderedMultiset<K> {
    fn default() -> Self {
        Self { counts: BTreeMap::new(), heap: 0 }
    }
}

impl<K: Ord + StateSize> OrderedMultiset<K> {
    /// The empty multiset.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `delta` to a value's count and gives the new count; at 0 the value is gone.
    ///
    /// A count may be negative for a while, when a retraction came before what it retracts.
    pub fn add(&mut self, value: K, delta: i64) -> i64 {
        if let Some(count) = self.counts.get_mut(&value) {
            *count += delta;
            let count = *count;
            if count == 0
                && let Some((value, _)) = self.counts.remove_entry(&value)
            {
                self.heap -= value.heap_size();
            }
            return count;
        }
        if delta != 0 {
            self.heap += value.heap_size();
            self.counts.insert(value, delta);
        }
        delta
    }

    /// The count of a value.
    pub fn count(&self, value: &K) -> i64 {
        self.counts.get(value).copied().unwrap_or(0)
    }

    /// The smallest value whose count is positive.
    pub fn first(&self) -> Option<&K> {
        self.counts.iter().find(|(_, count)| **count > 0).map(|(value, _)| value)
    }

    /// The largest value whose count is positive.
    pub fn last(&self) -> Option<&K> {
        self.counts.iter().rfind(|(_, count)| **count > 0).map(|(value, _)| value)
    }

    /// Values and counts, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, i64)> {
        self.counts.iter().map(|(value, count)| (value, *count))
    }

    /// The number of distinct values.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Writes the multiset; `write` writes a value.
    pub fn write(&self, out: &mut StateEncoder, mut write: impl FnMut(&K, &mut StateEncoder)) {
        out.list(self.counts.iter(), |out, (value, count)| {
            write(value, out);
            out.i64(*count);
        });
    }

    /// Reads what [`Self::write`] wrote; `read` reads a value.
    pub fn read<'a>(
        input: &mut StateDecoder<'a>,
        mut read: impl FnMut(&mut StateDecoder<'a>) -> Result<K>,
    ) -> Result<Self> {
        let mut all = Self::new();
        for (value, count) in input.list(|input| Ok((read(input)?, input.i64()?)))? {
            all.add(value, count);
        }
        Ok(all)
    }
}

impl<K: Ord + StateSize> StateSize for OrderedMultiset<K> {
    fn heap_size(&self) -> usize {
        // Nodes of a B-tree are about three quarters full.
        self.counts.len() * (size_of::<K>() + size_of::<i64>()) * 4 / 3 + self.heap
    }
}

/// How a column is sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortColumn {
    /// Its type.
    pub data_type: DataType,
    /// Whether the largest value comes first.
    pub descending: bool,
    /// Whether NULL comes before all values.
    pub nulls_first: bool,
}

/// Turns sort columns into bytes whose order is the rows' order, and back.
///
/// The bytes live in memory only; snapshots hold rows of [`crate::RowCodec`].
#[derive(Debug)]
pub struct SortKeyEncoder {
    converter: RowConverter,
}

impl SortKeyEncoder {
    /// An encoder of these columns, the most significant first.
    pub fn new(columns: &[SortColumn]) -> Result<Self> {
        let field = |column: &SortColumn| {
            let options =
                SortOptions { descending: column.descending, nulls_first: column.nulls_first };
            SortField::new_with_options(arrow_type(&column.data_type), options)
        };
        Ok(Self { converter: RowConverter::new(columns.iter().map(field).collect())? })
    }

    /// The sort keys of a batch, one a row.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<EncodedRows> {
        let rows = self.converter.convert_columns(columns)?.try_into_binary()?;
        let offsets = rows.offsets().inner().clone();
        Ok(EncodedRows { offsets, data: rows.values().clone() })
    }

    /// The columns of sort keys that this encoder made.
    pub fn decode(&self, keys: &[&[u8]]) -> Result<Vec<ArrayRef>> {
        let parser = self.converter.parser();
        Ok(self.converter.convert_rows(keys.iter().map(|key| parser.parse(key)))?)
    }
}

#[cfg(test)]
mod tests {
    use flott_types::Value;

    use super::*;

    #[test]
    fn sort_keys_are_in_the_order_of_their_rows() {
        let column =
            |data_type, descending| SortColumn { data_type, descending, nulls_first: true };
        let types = [DataType::string(), DataType::bigint()];
        let [text, number] = types.clone();
        let sorted = [
            (Value::Null, Value::Int(1)),
            (Value::string(""), Value::Null),
            (Value::string("a"), Value::Int(9)),
            (Value::string("a"), Value::Int(-3)),
            (Value::string("a\0"), Value::Int(5)),
            (Value::string("b"), Value::Int(5)),
        ];
        let (texts, numbers): (Vec<_>, Vec<_>) = sorted.iter().cloned().unzip();
        let columns = [texts.clone(), numbers.clone()]
            .iter()
            .zip(&types)
            .map(|(values, ty)| Value::to_array(values, ty).unwrap())
            .collect::<Vec<_>>();
        let encoder = SortKeyEncoder::new(&[column(text, false), column(number, true)]).unwrap();
        let keys = encoder.encode(&columns).unwrap();
        let keys: Vec<_> = keys.iter().collect();
        assert!(keys.is_sorted() && keys.windows(2).all(|pair| pair[0] != pair[1]));
        let back = encoder.decode(&keys).unwrap();
        for row in 0..keys.len() {
            assert_eq!(Value::from_array(&back[0], row, &types[0]), texts[row]);
            assert_eq!(Value::from_array(&back[1], row, &types[1]), numbers[row]);
        }
    }
}
