//! Arrays, maps, rows and structured objects: making them, looking into them, changing them.
//!
//! Elements are the same when SQL's `=` says so, and NULL is the same as NULL; NaN is not the same
//! as itself.

pub mod access;
pub mod construct;
pub mod edit;
mod elements;
pub mod maps;
pub mod objects;
pub mod order;
mod picks;
pub mod search;
pub mod sets;
#[cfg(test)]
mod tests;

use flott_types::{DataType, Family, TypeRoot};

use crate::coercion::implicit_cast_allowed;
use crate::{CallArgs, SignatureError};

/// The type of the elements of an array argument, from 0.
fn element_type<'a>(
    args: &'a CallArgs,
    index: usize,
    forms: &[&'static str],
) -> Result<&'a DataType, SignatureError> {
    match args.args.get(index).map(|arg| &arg.data_type.root) {
        Some(TypeRoot::Array(element)) => Ok(element),
        _ => Err(args.no_match(forms)),
    }
}

/// The type that a value is cast to in order to be looked for in, or added to, an array. As in Flink a
/// value that must be cast, strings aside, becomes as nullable as the elements.
fn as_element(
    args: &CallArgs,
    index: usize,
    element: &DataType,
    forms: &[&'static str],
) -> Result<DataType, SignatureError> {
    let value = args.data_type(index);
    let is_string = matches!(value.family(), Family::CharacterString | Family::BinaryString);
    let is_cast = !is_string && !value.same_root(element);
    let target = element.clone().with_nullable(value.nullable || (is_cast && element.nullable));
    match value.family() {
        Family::Null => Ok(target.with_nullable(true)),
        _ if value.same_root(element) || implicit_cast_allowed(value, &target) => Ok(target),
        _ => Err(args.no_match(forms)),
    }
}

/// Whether values of a type have an order that functions of arrays can use.
fn is_ordered(ty: &DataType) -> bool {
    matches!(
        ty.family(),
        Family::Numeric
            | Family::CharacterString
            | Family::BinaryString
            | Family::Date
            | Family::Time
            | Family::Timestamp
    )
}
