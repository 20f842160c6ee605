//! Options that all JSON formats share.

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};

use crate::error::FormatError;
use crate::text::TimestampStyle;

pub(crate) const FAIL_ON_MISSING_FIELD: OptionDef = OptionDef::new(
    "fail-on-missing-field",
    OptionKind::Bool,
    "fail when an object lacks a column; else such a column is NULL",
)
.default("false");

pub(crate) const IGNORE_PARSE_ERRORS: OptionDef = OptionDef::new(
    "ignore-parse-errors",
    OptionKind::Bool,
    "read values that do not fit as NULL, and skip records that are broken",
)
.default("false");

pub(crate) const TIMESTAMP_FORMAT: OptionDef = OptionDef::new(
    "timestamp-format.standard",
    OptionKind::Enum(&["SQL", "ISO-8601"]),
    "how timestamps are written: 'yyyy-MM-dd HH:mm:ss.s' or 'yyyy-MM-ddTHH:mm:ss.s'",
)
.default("SQL");

pub(crate) const MAP_NULL_KEY_MODE: OptionDef = OptionDef::new(
    "map-null-key.mode",
    OptionKind::Enum(&["FAIL", "DROP", "LITERAL"]),
    "what becomes of map entries whose key is NULL when they are written",
)
.default("FAIL");

pub(crate) const MAP_NULL_KEY_LITERAL: OptionDef = OptionDef::new(
    "map-null-key.literal",
    OptionKind::Text,
    "the key that LITERAL writes in place of NULL",
)
.default("null");

pub(crate) const ENCODE_DECIMAL_AS_PLAIN_NUMBER: OptionDef = OptionDef::new(
    "encode.decimal-as-plain-number",
    OptionKind::Bool,
    "write decimals with all their digits and never with an exponent",
)
.default("false");

pub(crate) const ENCODE_IGNORE_NULL_FIELDS: OptionDef =
    OptionDef::new("encode.ignore-null-fields", OptionKind::Bool, "leave out fields that are NULL")
        .default("false");

pub(crate) const DECODE_JSON_PARSER_ENABLED: OptionDef = OptionDef::new(
    "decode.json-parser.enabled",
    OptionKind::Bool,
    "decode token by token; else a whole record is checked first, and of repeated keys the last wins",
)
.default("true");

/// How timestamps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimestampFormat {
    Sql,
    Iso,
}

impl TimestampFormat {
    pub(crate) fn of(options: &Options) -> Result<Self, ConnectorError> {
        match options.text(&TIMESTAMP_FORMAT) {
            None | Some("SQL") => Ok(Self::Sql),
            Some("ISO-8601") => Ok(Self::Iso),
            Some(other) => Err(FormatError::Option {
                option: TIMESTAMP_FORMAT.key.into(),
                value: other.into(),
                wanted: "SQL or ISO-8601".into(),
            }
            .into()),
        }
    }

    #[inline]
    pub(crate) fn style(self, zoned: bool) -> TimestampStyle {
        match (self, zoned) {
            (Self::Sql, false) => TimestampStyle::Sql,
            (Self::Sql, true) => TimestampStyle::SqlZoned,
            (Self::Iso, false) => TimestampStyle::Iso,
            (Self::Iso, true) => TimestampStyle::IsoZoned,
        }
    }
}

/// What is written for a map entry whose key is NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NullKeys {
    Fail,
    Drop,
    Literal(String),
}

impl NullKeys {
    pub(crate) fn of(options: &Options) -> Self {
        let mode = options.text(&MAP_NULL_KEY_MODE).unwrap_or_default().trim();
        if mode.eq_ignore_ascii_case("DROP") {
            Self::Drop
        } else if mode.eq_ignore_ascii_case("LITERAL") {
            Self::Literal(options.text(&MAP_NULL_KEY_LITERAL).unwrap_or_default().into())
        } else {
            Self::Fail
        }
    }
}
