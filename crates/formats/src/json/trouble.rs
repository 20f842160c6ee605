//! What stops the decoding of a row.

use super::Flavor;
use super::lexer::SyntaxError;
use super::shape::Shape;
use crate::error::FormatError;

/// What stops the decoding of a row.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The text is no JSON: nothing of the record can be used.
    Syntax(SyntaxError),
    /// A value does not fit its column.
    Value(Box<FormatError>),
    /// The same where nobody will look, because `ignore-parse-errors` turns it into NULL.
    Ignored,
}

impl Trouble {
    /// A value that is not of its column's type; `raw` is its JSON text.
    pub(super) fn value(raw: &[u8], shape: &Shape, flavor: Flavor) -> Self {
        if flavor.ignore_errors {
            return Self::Ignored;
        }
        let text = raw.strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")).unwrap_or(raw);
        let data_type = shape.data_type.summary();
        Self::Value(Box::new(FormatError::value(text, data_type, String::new())))
    }

    /// A JSON value of the wrong kind where a record should be.
    pub(crate) fn shape(first: u8, wanted: &'static str) -> Self {
        let found = match first {
            b'{' => "an object",
            b'[' => "an array",
            b'"' => "text",
            b't' | b'f' => "true or false",
            b'n' => "null",
            0 => "missing",
            _ => "a number",
        };
        Self::Value(Box::new(FormatError::Shape { found, wanted }))
    }

    /// The same trouble, known to be inside of a field.
    pub(super) fn in_field(mut self, name: &str) -> Self {
        if let Self::Value(error) = &mut self
            && let FormatError::Value { column, .. } | FormatError::Missing(column) = &mut **error
        {
            *column = if column.is_empty() { name.to_string() } else { format!("{name}.{column}") };
        }
        self
    }

    /// The error to report for the record.
    pub(crate) fn into_error(self) -> FormatError {
        match self {
            Self::Syntax(SyntaxError { what, at }) => FormatError::Json { what, at },
            Self::Value(error) => *error,
            Self::Ignored => FormatError::Shape { found: "unfit", wanted: "a record" },
        }
    }
}

impl From<SyntaxError> for Trouble {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(error)
    }
}
