//! Casts of arrays, maps, multisets and rows: child by child.
//!
//! A child that cannot be cast is a failure of the value that holds it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType as Arrow, Field};
use flott_types::{DataType, RowField, TypeRoot, arrow_type};

use super::conversion::{Conversion, Failures, same_layout_and_values};
use super::plan;
use crate::scalar::Equality;
use crate::{EvalError, SessionSettings, SignatureError, hash_order};

/// The conversion between two constructed types; `None` if they are not of the same kind.
pub(super) fn between(
    from: &DataType,
    to: &DataType,
    settings: &SessionSettings,
) -> Result<Option<Conversion>, SignatureError> {
    use TypeRoot::*;
    let entry = |key: &DataType, value: &DataType| {
        let fields = [RowField::new("key", key.clone()), RowField::new("value", value.clone())];
        DataType::row(fields)
    };
    Ok(match (&from.root, &to.root) {
        (Array(a), Array(b)) => Some(lists(a, b, settings)?),
        (Multiset(a), Multiset(b)) => {
            let count = DataType::int().not_null();
            Some(lists(&entry(a, &count), &entry(b, &count), settings)?)
        }
        (Map(ka, va), Map(kb, vb)) => {
            let entries = lists(&entry(ka, va), &entry(kb, vb), settings)?;
            let stays = same_layout_and_values(ka, kb);
            let distinct = if stays { entries } else { with_distinct_keys(entries, kb) };
            Some(if stays && same_layout_and_values(va, vb) {
                distinct
            } else {
                in_hash_order(distinct, kb)
            })
        }
        _ => match (from.root.row_fields(), to.root.row_fields()) {
            (Some(a), Some(b)) if a.len() == b.len() => Some(rows(a, b, to, settings)?),
            _ => None,
        },
    })
}

fn lists(
    from: &DataType,
    to: &DataType,
    settings: &SessionSettings,
) -> Result<Conversion, SignatureError> {
    let element = plan(from, to, settings)?;
    let field = Arc::new(Field::new("item", arrow_type(to), true));
    Ok(Conversion::composed(element.can_fail(), move |array, failures| {
        let lists = array.as_list::<i32>();
        let mut of_elements = failures.of_children();
        let values = element.apply(lists.values(), &mut of_elements)?;
        let offsets = lists.offsets();
        let parents = of_elements.rows().iter().filter_map(|element| {
            // Elements outside of every list belong to nobody.
            let row =
                offsets.partition_point(|offset| *offset as usize <= *element).checked_sub(1)?;
            (row < lists.len()).then_some((row, *element))
        });
        let failed = live_failures(array, parents, lists.values(), &element, failures);
        let nulls = without(array, &failed);
        Ok(Arc::new(ListArray::try_new(field.clone(), offsets.clone(), values, nulls)?))
    }))
}

/// Keys that were different may have become the same; then the last one's value counts.
fn with_distinct_keys(entries: Conversion, key: &DataType) -> Conversion {
    let equality = Equality::new(key, key);
    Conversion::composed(entries.can_fail(), move |array, failures| {
        let maps = entries.apply(array, failures)?;
        let lists = maps.as_list::<i32>();
        let keys = &lists.values().as_struct().columns()[0];
        let equal = equality.rows(keys, keys)?;
        let same = |a: usize, b: usize| match (keys.is_null(a), keys.is_null(b)) {
            (false, false) => equal(a, b),
            (a, b) => a && b,
        };
        let mut kept: Vec<u32> = Vec::with_capacity(keys.len());
        let mut offsets = vec![0];
        for range in lists.value_offsets().windows(2) {
            let (start, end) = (range[0] as usize, range[1] as usize);
            let last = |entry: &usize| !(entry + 1..end).any(|later| same(*entry, later));
            kept.extend((start..end).filter(last).map(|entry| entry as u32));
            offsets.push(kept.len() as i32);
        }
        if kept.len() == keys.len() {
            return Ok(maps.clone());
        }
        let values = take(lists.values(), &UInt32Array::from(kept), None)?;
        let offsets = OffsetBuffer::new(offsets.into());
        let (field, nulls) = (list_field(&maps)?, lists.nulls().cloned());
        Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
    })
}

/// Flink puts what it casts into a `HashMap`, whose order MAP_KEYS and texts show.
fn in_hash_order(entries: Conversion, key: &DataType) -> Conversion {
    let key = key.clone();
    Conversion::composed(entries.can_fail(), move |array, failures| {
        let maps = entries.apply(array, failures)?;
        let lists = maps.as_list::<i32>();
        let keys = &lists.values().as_struct().columns()[0];
        let Some(hashes) = hash_order::of_keys(keys, &key) else { return Ok(maps) };
        let (first, last) = (lists.value_offsets()[0], lists.value_offsets()[lists.len()]);
        let mut places: Vec<u32> = Vec::with_capacity(keys.len());
        for range in lists.value_offsets().windows(2) {
            let (start, end) = (range[0] as usize, range[1] as usize);
            let order = hash_order::order(&hashes[start..end], hash_order::DEFAULT_CAPACITY);
            places.extend(order.into_iter().map(|at| (start + at) as u32));
        }
        if places.iter().zip(first as u32..last as u32).all(|(place, at)| *place == at) {
            return Ok(maps);
        }
        let values = take(lists.values(), &UInt32Array::from(places), None)?;
        let offsets = OffsetBuffer::from_lengths(lists.offsets().lengths());
        let (field, nulls) = (list_field(&maps)?, lists.nulls().cloned());
        Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
    })
}

fn list_field(lists: &ArrayRef) -> Result<Arc<Field>, EvalError> {
    match lists.data_type() {
        Arrow::List(field) => Ok(field.clone()),
        other => Err(EvalError::Internal(format!("{other} is no list"))),
    }
}

fn rows(
    from: &[RowField],
    to: &[RowField],
    row_type: &DataType,
    settings: &SessionSettings,
) -> Result<Conversion, SignatureError> {
    let fields = from
        .iter()
        .zip(to)
        .map(|(a, b)| plan(&a.data_type, &b.data_type, settings))
        .collect::<Result<Vec<_>, _>>()?;
    let Arrow::Struct(arrow_fields) = arrow_type(row_type) else {
        return Ok(Conversion::identity());
    };
    let can_fail = fields.iter().any(Conversion::can_fail);
    Ok(Conversion::composed(can_fail, move |array, failures| {
        let structs = array.as_struct();
        let mut columns = Vec::with_capacity(fields.len());
        let mut failed = Vec::new();
        for (field, column) in fields.iter().zip(structs.columns()) {
            let mut of_field = failures.of_children();
            columns.push(field.apply(column, &mut of_field)?);
            let parents = of_field.rows().iter().map(|row| (*row, *row));
            failed.extend(live_failures(array, parents, column, field, failures));
        }
        let nulls = without(array, &failed);
        Ok(Arc::new(if columns.is_empty() {
            StructArray::new_empty_fields(structs.len(), nulls)
        } else {
            StructArray::try_new(arrow_fields.clone(), columns, nulls)?
        }))
    }))
}

/// Adds the failures of children, given as `(row, child)`, to those of the values that hold them,
/// and gives the rows. Children of NULL do not count.
fn live_failures(
    array: &ArrayRef,
    children: impl Iterator<Item = (usize, usize)>,
    values: &ArrayRef,
    conversion: &Conversion,
    failures: &mut Failures,
) -> Vec<usize> {
    let mut rows = Vec::new();
    for (row, child) in children.filter(|(row, _)| array.is_valid(*row)) {
        failures.add(row, || error_of(conversion, values, child));
        rows.push(row);
    }
    rows
}

fn error_of(conversion: &Conversion, values: &ArrayRef, child: usize) -> EvalError {
    let mut failures = Failures::new(false);
    match conversion.apply(&values.slice(child, 1), &mut failures) {
        Err(error) => error,
        Ok(_) => failures.into_error().unwrap_or_else(|| {
            EvalError::Internal("a cast that failed for a value has a result for it".into())
        }),
    }
}

/// The validity of an array, less the rows that failed.
fn without(array: &ArrayRef, failed: &[usize]) -> Option<NullBuffer> {
    if failed.is_empty() {
        return array.nulls().cloned();
    }
    let mut valid: Vec<bool> = (0..array.len()).map(|row| array.is_valid(row)).collect();
    failed.iter().for_each(|row| valid[*row] = false);
    Some(valid.into())
}
