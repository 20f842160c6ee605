//! Casts to BINARY and VARBINARY.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder};
use flott_types::TypeRoot;

use super::conversion::Conversion;

/// The conversion to bytes: cut to the length of the type, BINARY filled up with zero bytes.
pub(super) fn to_bytes(from: &TypeRoot, to: &TypeRoot) -> Option<Conversion> {
    let (length, pad) = match to {
        TypeRoot::Binary(length) => (*length as usize, true),
        TypeRoot::Varbinary(length) => (*length as usize, false),
        _ => return None,
    };
    let is_text = matches!(from, TypeRoot::Char(_) | TypeRoot::Varchar(_));
    Some(Conversion::total(move |array| {
        let bytes = if is_text { text_bytes(array) } else { array.as_binary::<i32>().clone() };
        if !pad && length == i32::MAX as usize {
            return Ok(Arc::new(bytes));
        }
        let mut values = BinaryBuilder::with_capacity(bytes.len(), bytes.value_data().len());
        let mut padded = Vec::new();
        for value in bytes.iter() {
            match value {
                Some(value) if pad && value.len() < length => {
                    padded.clear();
                    padded.extend_from_slice(value);
                    padded.resize(length, 0);
                    values.append_value(&padded);
                }
                Some(value) => values.append_value(&value[..value.len().min(length)]),
                None => values.append_null(),
            }
        }
        Ok(Arc::new(values.finish()))
    }))
}

fn text_bytes(array: &ArrayRef) -> BinaryArray {
    array.as_string::<i32>().clone().into()
}
