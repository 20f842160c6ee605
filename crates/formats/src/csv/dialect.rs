//! The options of `csv` and what they say.

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};

use crate::error::FormatError;

const FIELD_DELIMITER: OptionDef = OptionDef::new(
    "field-delimiter",
    OptionKind::Text,
    "the character between values; escapes such as \\t and \\u0001 are understood",
)
.default(",");
const DISABLE_QUOTE_CHARACTER: OptionDef =
    OptionDef::new("disable-quote-character", OptionKind::Bool, "take quotes as they are")
        .default("false");
const QUOTE_CHARACTER: OptionDef =
    OptionDef::new("quote-character", OptionKind::Text, "the character around quoted values")
        .default("\"");
const ALLOW_COMMENTS: OptionDef = OptionDef::new(
    "allow-comments",
    OptionKind::Bool,
    "skip lines that start with '#', and empty lines",
)
.default("false");
const IGNORE_PARSE_ERRORS: OptionDef = OptionDef::new(
    "ignore-parse-errors",
    OptionKind::Bool,
    "read values that do not fit as NULL, and skip rows that are broken",
)
.default("false");
const ARRAY_ELEMENT_DELIMITER: OptionDef = OptionDef::new(
    "array-element-delimiter",
    OptionKind::Text,
    "what stands between the elements of an ARRAY or ROW within its value",
)
.default(";");
const ESCAPE_CHARACTER: OptionDef = OptionDef::new(
    "escape-character",
    OptionKind::Text,
    "the character that takes the next one's meaning away",
);
const NULL_LITERAL: OptionDef =
    OptionDef::new("null-literal", OptionKind::Text, "the text that stands for NULL");
const WRITE_BIGDECIMAL_IN_SCIENTIFIC_NOTATION: OptionDef = OptionDef::new(
    "write-bigdecimal-in-scientific-notation",
    OptionKind::Bool,
    "write decimals without trailing zeros and with an exponent where Java does; when absent, \
     files are written so and messages with all digits, as by Flink",
);
const TRIM_SPACES: OptionDef = OptionDef::new(
    "trim-spaces",
    OptionKind::Bool,
    "cut spaces off the ends of values that are not quoted, when reading",
)
.default("false");
const IGNORE_TRAILING_UNMAPPABLE: OptionDef = OptionDef::new(
    "ignore-trailing-unmappable",
    OptionKind::Bool,
    "drop values past the last column, when reading",
)
.default("false");
const ALLOW_TRAILING_COMMA: OptionDef = OptionDef::new(
    "allow-trailing-comma",
    OptionKind::Bool,
    "accept a delimiter after the last value, when reading",
)
.default("true");
const FAIL_ON_MISSING_COLUMNS: OptionDef = OptionDef::new(
    "fail-on-missing-columns",
    OptionKind::Bool,
    "refuse rows with fewer values than the table has columns, when reading",
)
.default("false");
const EMPTY_STRING_AS_NULL: OptionDef =
    OptionDef::new("empty-string-as-null", OptionKind::Bool, "read empty values as NULL")
        .default("false");

pub(super) const OPTIONS: &[OptionDef] = &[
    FIELD_DELIMITER,
    DISABLE_QUOTE_CHARACTER,
    QUOTE_CHARACTER,
    ALLOW_COMMENTS,
    IGNORE_PARSE_ERRORS,
    ARRAY_ELEMENT_DELIMITER,
    ESCAPE_CHARACTER,
    NULL_LITERAL,
    WRITE_BIGDECIMAL_IN_SCIENTIFIC_NOTATION,
    TRIM_SPACES,
    IGNORE_TRAILING_UNMAPPABLE,
    ALLOW_TRAILING_COMMA,
    FAIL_ON_MISSING_COLUMNS,
    EMPTY_STRING_AS_NULL,
];

/// What the options say.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    pub(super) separator: char,
    pub(super) quote: Option<char>,
    pub(super) escape: Option<char>,
    pub(super) null_literal: Option<Vec<u8>>,
    pub(super) array_separator: Vec<u8>,
    pub(super) comments: bool,
    pub(super) ignore_errors: bool,
    /// As set; its default depends on where the records go.
    pub(super) scientific: Option<bool>,
    pub(super) trim: bool,
    pub(super) ignore_extra: bool,
    pub(super) allow_trailing: bool,
    pub(super) fail_on_missing: bool,
    pub(super) empty_as_null: bool,
}

impl Dialect {
    pub(super) fn of(options: &Options) -> Result<Self, ConnectorError> {
        let no_quotes = options.bool(&DISABLE_QUOTE_CHARACTER)?;
        if no_quotes && options.raw(QUOTE_CHARACTER.key).is_some() {
            return Err(FormatError::Conflict(
                DISABLE_QUOTE_CHARACTER.key.into(),
                QUOTE_CHARACTER.key.into(),
            )
            .into());
        }
        let separator = options.text(&FIELD_DELIMITER).unwrap_or(",");
        let bytes = |def: &OptionDef| options.text(def).map(|text| text.as_bytes().to_vec());
        Ok(Self {
            separator: single(&FIELD_DELIMITER, separator, &unescape_java(separator))?,
            quote: match options.text(&QUOTE_CHARACTER) {
                Some(text) if !no_quotes => Some(single(&QUOTE_CHARACTER, text, text)?),
                _ => None,
            },
            escape: options
                .text(&ESCAPE_CHARACTER)
                .map(|text| single(&ESCAPE_CHARACTER, text, text))
                .transpose()?,
            null_literal: bytes(&NULL_LITERAL),
            array_separator: {
                let text = options.text(&ARRAY_ELEMENT_DELIMITER).unwrap_or(";");
                single(&ARRAY_ELEMENT_DELIMITER, text, text)?.to_string().into_bytes()
            },
            comments: options.bool(&ALLOW_COMMENTS)?,
            ignore_errors: options.bool(&IGNORE_PARSE_ERRORS)?,
            scientific: match options.raw(WRITE_BIGDECIMAL_IN_SCIENTIFIC_NOTATION.key) {
                Some(_) => Some(options.bool(&WRITE_BIGDECIMAL_IN_SCIENTIFIC_NOTATION)?),
                None => None,
            },
            trim: options.bool(&TRIM_SPACES)?,
            ignore_extra: options.bool(&IGNORE_TRAILING_UNMAPPABLE)?,
            allow_trailing: options.bool(&ALLOW_TRAILING_COMMA)?,
            fail_on_missing: options.bool(&FAIL_ON_MISSING_COLUMNS)?,
            empty_as_null: options.bool(&EMPTY_STRING_AS_NULL)?,
        })
    }

    /// Whether a value's text stands for NULL.
    #[inline]
    pub(super) fn is_null(&self, text: &[u8]) -> bool {
        match &self.null_literal {
            Some(literal) if literal == text => true,
            _ => self.empty_as_null && text.is_empty(),
        }
    }
}

/// The single character of an option's text.
fn single(def: &OptionDef, written: &str, text: &str) -> Result<char, ConnectorError> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(FormatError::Option {
            option: format!("csv.{}", def.key),
            value: written.into(),
            wanted: "a single character".into(),
        }
        .into()),
    }
}

/// Resolves the escapes of a Java string literal.
fn unescape_java(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            None => out.push('\\'),
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits = rest.as_str().trim_start_matches('u');
                let code = digits.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                if let Some(c) = code.and_then(char::from_u32) {
                    out.push(c);
                    rest = digits[4..].chars();
                }
            }
            Some(octal @ '0'..='7') => {
                let mut code = octal as u32 - '0' as u32;
                while let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(8))
                    && code * 8 + digit < 256
                {
                    code = code * 8 + digit;
                    rest.next();
                }
                out.extend(char::from_u32(code));
            }
            Some(other) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(pairs: &[(&str, &str)]) -> Result<Dialect, ConnectorError> {
        Dialect::of(&Options::new(pairs.iter().map(|(k, v)| (k.to_string(), v.to_string()))))
    }

    #[test]
    fn delimiters_may_be_escaped() {
        for (written, separator) in [
            (",", ','),
            ("\\t", '\t'),
            ("\\u0001", '\u{1}'),
            ("\\1", '\u{1}'),
            ("\\\\", '\\'),
            ("§", '§'),
        ] {
            assert_eq!(dialect(&[("field-delimiter", written)]).unwrap().separator, separator);
        }
    }

    #[test]
    fn options_that_cannot_hold_are_refused() {
        for pairs in [
            &[("field-delimiter", "||")][..],
            &[("field-delimiter", "")],
            &[("quote-character", "''")],
            &[("array-element-delimiter", "--")],
            &[("escape-character", "\\\\")],
            &[("quote-character", "'"), ("disable-quote-character", "true")],
        ] {
            assert!(dialect(pairs).is_err(), "{pairs:?}");
        }
    }
}
