//! The format `json`, and the JSON machinery that the change-log formats share.

mod compact;
mod decode;
mod encode;
mod fast;
mod keys;
pub(crate) mod lexer;
pub(crate) mod options;
mod scalar;
pub(crate) mod shape;
mod stream;
mod tokens;
mod tree;
mod trouble;
mod variant;

use flott_catalog::connector::{FormatDef, OptionDef};
use flott_types::ChangelogMode;

pub(crate) use decode::{RowDecoder, has_decimal};
pub(crate) use encode::RowEncoder;
pub(crate) use trouble::Trouble;

use options::TimestampFormat;

/// The format `json`: one object a record, or an array of objects.
pub(crate) static JSON: FormatDef = FormatDef {
    name: "json",
    help: "JSON objects by field name, one a line or message; arrays of objects give several rows",
    options: OPTIONS,
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(decode::decoder),
    encoder: Some(encode::encoder),
};

const OPTIONS: &[OptionDef] = &[
    options::FAIL_ON_MISSING_FIELD,
    options::IGNORE_PARSE_ERRORS,
    options::TIMESTAMP_FORMAT,
    options::MAP_NULL_KEY_MODE,
    options::MAP_NULL_KEY_LITERAL,
    options::ENCODE_DECIMAL_AS_PLAIN_NUMBER,
    options::ENCODE_IGNORE_NULL_FIELDS,
    options::DECODE_JSON_PARSER_ENABLED,
];

/// Which of Flink's decoders is followed, and how strictly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flavor {
    /// By way of a tree rather than token by token.
    pub(crate) tree: bool,
    /// Whether the table has a DECIMAL anywhere: then numbers are read as decimals throughout.
    pub(crate) decimals: bool,
    pub(crate) ignore_errors: bool,
    pub(crate) fail_on_missing_field: bool,
    pub(crate) timestamps: TimestampFormat,
}

impl Flavor {
    /// Whether a FLOAT is made from a DOUBLE rather than from the text.
    fn rounds_floats_twice(self) -> bool {
        self.tree && !self.decimals
    }

    /// A number's text; the tree takes `-0` for an integer, which has no sign.
    fn signless_zero(self, text: &[u8]) -> &[u8] {
        if self.tree && text == b"-0" { b"0" } else { text }
    }
}
