//! Operands of the conditions of filters.

use std::fmt;

use super::token::Path;
use crate::scalar::json::text::Decimal;
use crate::scalar::pattern::Regexp;

/// What stands on either side of an operator.
pub(super) enum Operand {
    Path(Path),
    Null,
    Boolean(bool),
    Number(Decimal),
    Text(String),
    /// The text of an array or object.
    Json(String),
    Pattern(Box<Regexp>),
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{path:?}"),
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Json(text) => f.write_str(text),
            Self::Pattern(_) => f.write_str("pattern"),
        }
    }
}
