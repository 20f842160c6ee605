//! MIN and MAX over rows that are taken back: all values of a group, in order, with their counts.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use flott_types::DataType;

use super::cells::{first_arg, nullable_column};
use super::layout::{Physical, numbers};
use super::rows::each_row;
use super::values::{ValueCodec, items_of, lists, state_lists};
use super::{Accumulator, AggregateInput};
use crate::EvalError;

/// How values become keys whose order is theirs, and back.
pub trait KeyCodec: Send + 'static {
    /// A key.
    type Key: Ord + Clone + Send;

    /// The keys of a column's values; those of NULL are there, and mean nothing.
    fn encode(&self, column: &ArrayRef) -> Result<Vec<Self::Key>, EvalError>;

    /// A column of values from their keys; `None` is NULL.
    fn decode<'a>(
        &self,
        keys: impl Iterator<Item = Option<&'a Self::Key>>,
    ) -> Result<ArrayRef, EvalError>
    where
        Self::Key: 'a;

    /// The bytes a key owns on the heap.
    fn heap(key: &Self::Key) -> usize;
}

/// Makes the accumulator of MIN, or of MAX, for values of a type.
pub fn extreme(data_type: &DataType, largest: bool) -> Result<Box<dyn Accumulator>, EvalError> {
    let ty = data_type.clone().with_nullable(true);
    Ok(match Physical::of(data_type) {
        Some(Physical::I128) => Box::new(Ordered::new(ty.clone(), WideKeys(ty), largest)),
        Some(physical) => Box::new(Ordered::new(ty.clone(), NarrowKeys(physical, ty), largest)),
        None => {
            let codec = ByteKeys(ValueCodec::new(data_type)?);
            Box::new(Ordered::new(ty, codec, largest))
        }
    })
}

/// Numbers of up to 64 bits as one key type.
struct NarrowKeys(Physical, DataType);

/// Numbers of 128 bits.
struct WideKeys(DataType);

/// Anything else.
struct ByteKeys(ValueCodec);

/// The bits of a DOUBLE as a number in the same order: −0.0 before 0.0, NaN last, as Java compares.
pub fn order_f64(value: f64) -> i64 {
    let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() } as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The DOUBLE of an [`order_f64`].
pub fn unorder_f64(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63) as u64 >> 1) as i64) as u64)
}

impl KeyCodec for NarrowKeys {
    type Key = i64;

    fn encode(&self, column: &ArrayRef) -> Result<Vec<i64>, EvalError> {
        macro_rules! keys {
            ($t:ty, |$value:ident| $key:expr) => {
                numbers::<$t>(column)?.values().iter().map(|$value| $key).collect()
            };
        }
        Ok(match self.0 {
            Physical::I8 => keys!(Int8Type, |value| i64::from(*value)),
            Physical::I16 => keys!(Int16Type, |value| i64::from(*value)),
            Physical::I32 => keys!(Int32Type, |value| i64::from(*value)),
            Physical::F32 => keys!(Float32Type, |value| order_f64((*value).into())),
            Physical::F64 => keys!(Float64Type, |value| order_f64(*value)),
            Physical::I64 | Physical::I128 => keys!(Int64Type, |value| *value),
        })
    }

    fn decode<'a>(
        &self,
        keys: impl Iterator<Item = Option<&'a i64>>,
    ) -> Result<ArrayRef, EvalError> {
        macro_rules! column {
            ($t:ty, |$key:ident| $value:expr) => {
                nullable_column::<$t>(keys.map(|key| key.map(|$key| $value)), &self.1)
            };
        }
        match self.0 {
            Physical::I8 => column!(Int8Type, |key| *key as i8),
            Physical::I16 => column!(Int16Type, |key| *key as i16),
            Physical::I32 => column!(Int32Type, |key| *key as i32),
            Physical::F32 => column!(Float32Type, |key| unorder_f64(*key) as f32),
            Physical::F64 => column!(Float64Type, |key| unorder_f64(*key)),
            Physical::I64 | Physical::I128 => column!(Int64Type, |key| *key),
        }
    }

    fn heap(_: &i64) -> usize {
        0
    }
}

impl KeyCodec for WideKeys {
    type Key = i128;

    fn encode(&self, column: &ArrayRef) -> Result<Vec<i128>, EvalError> {
        Ok(numbers::<Decimal128Type>(column)?.values().to_vec())
    }

    fn decode<'a>(
        &self,
        keys: impl Iterator<Item = Option<&'a i128>>,
    ) -> Result<ArrayRef, EvalError> {
        nullable_column::<Decimal128Type>(keys.map(Option::<&i128>::copied), &self.0)
    }

    fn heap(_: &i128) -> usize {
        0
    }
}

impl KeyCodec for ByteKeys {
    type Key = Box<[u8]>;

    fn encode(&self, column: &ArrayRef) -> Result<Vec<Box<[u8]>>, EvalError> {
        let values = self.0.encode(column)?;
        // A NULL's bytes may be anything, and are never looked at.
        Ok((0..column.len()).map(|row| values.get(row).into()).collect())
    }

    fn decode<'a>(
        &self,
        keys: impl Iterator<Item = Option<&'a Box<[u8]>>>,
    ) -> Result<ArrayRef, EvalError> {
        self.0.decode(keys.map(|key| key.map(|bytes| &**bytes)))
    }

    fn heap(key: &Box<[u8]>) -> usize {
        key.len()
    }
}

/// All values of each group, in order.
struct Ordered<K: KeyCodec> {
    data_type: DataType,
    codec: K,
    largest: bool,
    /// Counts by value; negative where a value was taken back before it came.
    groups: Vec<BTreeMap<K::Key, i64>>,
    /// The number of values in all groups, and the bytes they own.
    entries: usize,
    heap: usize,
}

impl<K: KeyCodec> Ordered<K> {
    fn new(data_type: DataType, codec: K, largest: bool) -> Self {
        Self { data_type, codec, largest, groups: Vec::new(), entries: 0, heap: 0 }
    }

    fn add(&mut self, group: u32, key: &K::Key, delta: i64) {
        let counts = &mut self.groups[group as usize];
        if let Some(count) = counts.get_mut(key) {
            *count += delta;
            if *count == 0 {
                counts.remove(key);
                self.entries -= 1;
                self.heap -= K::heap(key);
            }
        } else if delta != 0 {
            counts.insert(key.clone(), delta);
            self.entries += 1;
            self.heap += K::heap(key);
        }
    }

    fn value(&self, group: u32) -> Option<&K::Key> {
        let mut counts = self.groups[group as usize].iter();
        let present = |(_, count): &(&K::Key, &i64)| **count > 0;
        let found = if self.largest { counts.rfind(present) } else { counts.find(present) };
        found.map(|(key, _)| key)
    }
}

impl<K: KeyCodec> Accumulator for Ordered<K> {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, BTreeMap::new);
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        let arg = first_arg(input)?;
        let keys = self.codec.encode(arg)?;
        each_row(input, arg.logical_nulls().as_ref(), |row, sign| {
            if sign != 0 {
                self.add(input.groups[row], &keys[row], sign.into());
            }
        });
        Ok(())
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let arg = first_arg(input)?;
        let keys = self.codec.encode(arg)?;
        let mut pairs = Vec::with_capacity(2 * input.groups.len());
        each_row(input, arg.logical_nulls().as_ref(), |row, sign| {
            let group = input.groups[row];
            let before = self.value(group).cloned();
            if sign != 0 {
                self.add(group, &keys[row], sign.into());
                let after = self.value(group);
                changed[row] |= before.as_ref() != after;
                let after = after.cloned();
                pairs.push(before);
                pairs.push(after);
            } else {
                pairs.push(before.clone());
                pairs.push(before);
            }
        });
        self.codec.decode(pairs.iter().map(Option::as_ref))
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        self.codec.decode(groups.iter().map(|group| self.value(*group)))
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let counts = std::mem::take(&mut self.groups[*group as usize]);
            self.entries -= counts.len();
            self.heap -= counts.keys().map(K::heap).sum::<usize>();
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let picked = || groups.iter().map(|group| &self.groups[*group as usize]);
        let lengths = || picked().map(|counts| Some(counts.len()));
        let keys = self.codec.decode(picked().flat_map(|counts| counts.keys().map(Some)))?;
        let counts = Int64Array::from_iter_values(picked().flat_map(BTreeMap::values).copied());
        Ok(vec![lists(lengths(), keys)?, lists(lengths(), Arc::new(counts))?])
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataType::array(self.data_type.clone()), DataType::array(DataType::bigint())]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let (values, counts) = (state_lists(state, 0)?, state_lists(state, 1)?);
        let keys = self.codec.encode(values.values())?;
        let numbers = numbers::<Int64Type>(counts.values())?;
        for (row, group) in into.iter().enumerate() {
            for (key, count) in items_of(values, row).zip(items_of(counts, row)) {
                self.add(*group, &keys[key], numbers.value(count));
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        // Nodes of a B-tree are about three quarters full.
        let entry = (size_of::<K::Key>() + size_of::<i64>()) * 4 / 3;
        self.groups.capacity() * size_of::<BTreeMap<K::Key, i64>>()
            + self.entries * entry
            + self.heap
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_keep_their_order_as_keys() {
        let values = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        let keys: Vec<_> = values.iter().map(|value| order_f64(*value)).collect();
        assert!(keys.is_sorted_by(|left, right| left < right));
        for (value, key) in values.iter().zip(keys) {
            assert_eq!(unorder_f64(key).to_bits(), value.to_bits());
        }
    }
}
