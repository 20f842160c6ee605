//! Casts of arrays, maps, multisets and rows: child by child.
//!
//! A child that cannot be cast is a failure of the value that holds it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as Arrow, Field};
use flott_types::{DataType, RowField, TypeRoot, arrow_type};

use super::conversion::{Conversion, Failures};
use super::plan;
use crate::{EvalError, SessionSettings, SignatureError};

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
        (Map(ka, va), Map(kb, vb)) => Some(lists(&entry(ka, va), &entry(kb, vb), settings)?),
        (Row(a), Row(b)) if a.len() == b.len() => Some(rows(a, b, to, settings)?),
        _ => None,
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
