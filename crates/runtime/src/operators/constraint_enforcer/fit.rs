//! Cutting and padding of values to the lengths of their types.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, StringBuilder, StructArray};

use super::check::{Check, Length, Parts};
use crate::Result;

/// The values with texts and bytes cut, and padded with spaces or zeros; `None` when all fit. Values
/// inside of ROW values are changed, too; those in collections are never asked for.
pub(super) fn fit(check: &Check, values: &ArrayRef) -> Result<Option<ArrayRef>> {
    if let Some(length) = check.length {
        let fits = |at: usize| {
            let length_of = length.of_value(values, at);
            length_of.is_none_or(|it| it == length.limit || (it < length.limit && !length.exact))
        };
        if (0..values.len()).all(fits) {
            return Ok(None);
        }
        return Ok(Some(if length.is_text {
            texts(values, length)
        } else {
            bytes(values, length)
        }));
    }
    let Parts::Fields(fields) = &check.parts else { return Ok(None) };
    let rows = values.as_struct();
    let mut columns = None;
    for field in fields {
        if let Some(fitted) = fit(field, rows.column(field.at))? {
            columns.get_or_insert_with(|| rows.columns().to_vec())[field.at] = fitted;
        }
    }
    let Some(columns) = columns else { return Ok(None) };
    let rows = StructArray::try_new(rows.fields().clone(), columns, rows.nulls().cloned())?;
    Ok(Some(Arc::new(rows)))
}

fn texts(values: &ArrayRef, length: Length) -> ArrayRef {
    let values = values.as_string::<i32>();
    let mut out = StringBuilder::with_capacity(values.len(), values.value_data().len());
    for text in values {
        let Some(text) = text else {
            out.append_null();
            continue;
        };
        let end = text.char_indices().nth(length.limit).map_or(text.len(), |(at, _)| at);
        let text = &text[..end];
        if length.exact {
            let missing = length.limit - text.chars().count();
            out.append_value(format!("{text}{:missing$}", ""));
        } else {
            out.append_value(text);
        }
    }
    Arc::new(out.finish())
}

fn bytes(values: &ArrayRef, length: Length) -> ArrayRef {
    let values = values.as_binary::<i32>();
    let mut out = BinaryBuilder::with_capacity(values.len(), values.value_data().len());
    let mut padded = Vec::new();
    for value in values {
        let Some(value) = value else {
            out.append_null();
            continue;
        };
        let value = &value[..value.len().min(length.limit)];
        if length.exact {
            padded.clear();
            padded.extend_from_slice(value);
            padded.resize(length.limit, 0);
            out.append_value(&padded);
        } else {
            out.append_value(value);
        }
    }
    Arc::new(out.finish())
}
