//! VARIANT: PARSE_JSON and TRY_PARSE_JSON, and access to elements and members.

mod access;
mod parse;
mod parse_json;

use std::sync::Arc;

use arrow::array::StringBuilder;
use flott_types::variant::write_variant;

pub(super) use access::{element, member};
pub use parse_json::FUNCTIONS;

use crate::read::Bytes;
use crate::{Column, EvalError};

/// The JSON text of a VARIANT as it is kept in arrays.
pub fn variant_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    write_variant(&mut text, bytes);
    text
}

/// The JSON texts of a column of variants.
pub(super) fn texts(column: &Column) -> Result<Column, EvalError> {
    let variants = Bytes::new(column);
    let mut texts = StringBuilder::new();
    for row in 0..column.array().len() {
        texts.append_option(variants.get(row).map(variant_text));
    }
    let texts = Arc::new(texts.finish());
    Ok(if column.is_constant() { Column::constant(texts) } else { Column::rows(texts) })
}

#[cfg(test)]
mod tests;
