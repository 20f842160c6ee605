//! Names, strings and literals.

use super::comma;
use crate::ast::{Ident, IntervalLiteral, IntervalQualifier, Literal, ObjectName, Property, Text};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.value.replace('`', "``"))
    }
}

impl Display for ObjectName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        super::Joined(&self.parts, ".").fmt(f)
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.value.replace('\'', "''"))
    }
}

impl Display for Property {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.key, self.value)
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { text, .. } => f.write_str(text),
            Self::String(text) => string(f, text),
            Self::Binary(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                f.write_char('\'')
            }
            Self::Boolean(true) => f.write_str("TRUE"),
            Self::Boolean(false) => f.write_str("FALSE"),
            Self::Unknown => f.write_str("UNKNOWN"),
            Self::Null => f.write_str("NULL"),
            Self::Date(text) => write!(f, "DATE '{}'", text.replace('\'', "''")),
            Self::Time(text) => write!(f, "TIME '{}'", text.replace('\'', "''")),
            Self::Timestamp(text) => write!(f, "TIMESTAMP '{}'", text.replace('\'', "''")),
            Self::TimestampLtz(text) => {
                write!(f, "TIMESTAMP WITH LOCAL TIME ZONE '{}'", text.replace('\'', "''"))
            }
            Self::Interval(interval) => interval.fmt(f),
        }
    }
}

/// A string; with Unicode escapes if it has characters other than ASCII's.
fn string(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    if text.is_ascii() {
        return write!(f, "'{}'", text.replace('\'', "''"));
    }
    f.write_str("u&'")?;
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ (b'\'' | b'\\')) => write!(f, "{0}{0}", char::from(byte))?,
            Ok(byte @ 32..128) => f.write_char(byte.into())?,
            _ => write!(f, "\\{unit:04x}")?,
        }
    }
    f.write_char('\'')
}

impl Display for IntervalLiteral {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = super::flag(self.negative, "-");
        write!(f, "INTERVAL {sign}'{}' {}", self.text.replace('\'', "''"), self.qualifier)
    }
}

impl Display for IntervalQualifier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.start.fmt(f)?;
        let own_fraction = self.fraction_precision.filter(|_| self.end.is_none());
        let precisions: Vec<u32> = self.start_precision.into_iter().chain(own_fraction).collect();
        if !precisions.is_empty() {
            write!(f, "({})", comma(&precisions))?;
        }
        if let Some(end) = self.end {
            write!(f, " TO {end}{}", super::Maybe("(", self.fraction_precision.as_ref(), ")"))?;
        }
        Ok(())
    }
}
