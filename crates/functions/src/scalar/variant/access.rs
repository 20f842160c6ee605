//! Elements and members of variants: `v[1]`, `v['a']`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder};
use flott_types::variant::View;

use crate::read::{Bytes, Strings};
use crate::{Column, EvalError};

/// The members of these names; NULL where there is none. Fails for what is no object.
pub fn member(variants: &Column, names: &Column, rows: usize) -> Result<ArrayRef, EvalError> {
    let names = Strings::new(names);
    access(variants, rows, |view, row| match (view, names.get(row)) {
        (_, None) => Ok(None),
        (View::Object(object), Some(name)) => Ok(object.find(name)),
        _ => Err("a name finds members of objects only, and the variant is none"),
    })
}

/// The elements at these places, from 1; NULL where there is none. Fails for what is no array.
pub fn element(
    variants: &Column,
    places: impl Fn(usize) -> Option<i32>,
    rows: usize,
) -> Result<ArrayRef, EvalError> {
    access(variants, rows, |view, row| match (view, places(row)) {
        (_, None) => Ok(None),
        (View::Array(array), Some(place)) => {
            let place = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
            Ok(place.and_then(|place| array.element(place)))
        }
        _ => Err("a place finds elements of arrays only, and the variant is none"),
    })
}

fn access<'a>(
    variants: &'a Column,
    rows: usize,
    find: impl Fn(View<'a>, usize) -> Result<Option<&'a [u8]>, &'static str>,
) -> Result<ArrayRef, EvalError> {
    let variants = Bytes::new(variants);
    let mut results = BinaryBuilder::new();
    for row in 0..rows {
        let view = variants.get(row).and_then(View::new);
        let found = match view {
            None => Ok(None),
            Some(view) => find(view, row),
        };
        results.append_option(
            found.map_err(|reason| EvalError::Argument {
                function: "ITEM",
                reason: reason.into(),
            })?,
        );
    }
    Ok(Arc::new(results.finish()))
}
