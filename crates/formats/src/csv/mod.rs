//! The format `csv`: columns by position, quoting as in RFC 4180 or by an escape character.

mod cell;
mod decode;
mod dialect;
mod encode;
mod reader;

use flott_catalog::connector::FormatDef;
use flott_types::{ChangelogMode, DataType, Schema, TypeRoot};

use crate::error::FormatError;

/// The format `csv`.
pub(crate) static CSV: FormatDef = FormatDef {
    name: "csv",
    help: "values by position, separated by a character and quoted where needed; no header line",
    options: dialect::OPTIONS,
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(decode::decoder),
    encoder: Some(encode::encoder),
};

/// CSV knows simple types, and arrays and rows of them.
fn check_types(schema: &Schema) -> Result<(), FormatError> {
    for field in &schema.fields {
        let unfit = |data_type: &DataType, nested: bool| {
            let (data_type, column) = (data_type.summary(), field.name.to_string());
            if nested {
                FormatError::Nested { data_type, column }
            } else {
                FormatError::Type { format: "csv", data_type, column }
            }
        };
        let nested = |inner: &DataType| match is_simple(inner) {
            true => Ok(()),
            false => Err(unfit(inner, true)),
        };
        match &field.data_type.root {
            TypeRoot::Array(element) => nested(element)?,
            TypeRoot::Row(fields) => {
                fields.iter().try_for_each(|field| nested(&field.data_type))?;
            }
            _ if is_simple(&field.data_type) => {}
            _ => return Err(unfit(&field.data_type, false)),
        }
    }
    Ok(())
}

fn is_simple(ty: &DataType) -> bool {
    use TypeRoot::*;
    ty.root.is_exact_numeric()
        || ty.root.is_approximate()
        || matches!(
            ty.root,
            Null | Boolean
                | Char(_)
                | Varchar(_)
                | Binary(_)
                | Varbinary(_)
                | Date
                | Time(_)
                | Timestamp(_)
                | TimestampLtz(_)
        )
}
