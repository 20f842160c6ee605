//! The format `raw`: a record is the one value of its row.

mod charset;
mod decode;
mod encode;

use flott_catalog::connector::{ConnectorError, FormatDef, OptionDef, OptionKind, Options};
use flott_types::{ChangelogMode, DataType, Schema, TypeRoot};

use crate::error::FormatError;

/// The format `raw`.
pub(crate) static RAW: FormatDef = FormatDef {
    name: "raw",
    help: "the bytes of one column: text, binary, or a number in its binary form",
    options: &[CHARSET, ENDIANNESS],
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(decode::decoder),
    encoder: Some(encode::encoder),
};

const CHARSET: OptionDef =
    OptionDef::new("charset", OptionKind::Text, "the encoding of text, by its Java or WHATWG name")
        .default("UTF-8");
const ENDIANNESS: OptionDef = OptionDef::new(
    "endianness",
    OptionKind::Enum(&["big-endian", "little-endian"]),
    "the order of the bytes of numbers",
)
.default("big-endian");

fn is_big_endian(options: &Options) -> bool {
    !options.text(&ENDIANNESS).is_some_and(|text| text.trim().eq_ignore_ascii_case("little-endian"))
}

/// The type of the one column.
fn single_type(schema: &Schema) -> Result<&DataType, ConnectorError> {
    let [field] = schema.fields.as_slice() else {
        return Err(FormatError::ColumnCount(schema.to_string()).into());
    };
    match field.data_type.root {
        TypeRoot::Char(_)
        | TypeRoot::Varchar(_)
        | TypeRoot::Binary(_)
        | TypeRoot::Varbinary(_)
        | TypeRoot::Raw(_)
        | TypeRoot::Boolean
        | TypeRoot::TinyInt
        | TypeRoot::SmallInt
        | TypeRoot::Int
        | TypeRoot::BigInt
        | TypeRoot::Float
        | TypeRoot::Double => Ok(&field.data_type),
        _ => Err(FormatError::Type {
            format: "raw",
            data_type: field.data_type.summary(),
            column: field.name.to_string(),
        }
        .into()),
    }
}
