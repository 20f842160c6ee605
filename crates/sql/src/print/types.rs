//! Type names.

use super::{Maybe, comma, flag};
use crate::ast::{FieldDefinition, TimeZoneKind, TypeKind, TypeName};
use std::fmt::{self, Display, Formatter};

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind, flag(!self.nullable, " NOT NULL"))
    }
}

impl Display for TypeKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sized = |f: &mut Formatter<'_>, name: &str, size: &Option<u32>| {
            write!(f, "{name}{}", Maybe("(", size.as_ref(), ")"))
        };
        match self {
            Self::Char(length) => sized(f, "CHAR", length),
            Self::VarChar(length) => sized(f, "VARCHAR", length),
            Self::String => f.write_str("STRING"),
            Self::Binary(length) => sized(f, "BINARY", length),
            Self::VarBinary(length) => sized(f, "VARBINARY", length),
            Self::Bytes => f.write_str("BYTES"),
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Decimal(Some(precision), Some(scale)) => {
                write!(f, "DECIMAL({precision}, {scale})")
            }
            Self::Decimal(precision, _) => sized(f, "DECIMAL", precision),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INTEGER"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Date => f.write_str("DATE"),
            Self::Time(precision, zone) => {
                sized(f, "TIME", precision)?;
                f.write_str(flag(*zone == TimeZoneKind::Local, " WITH LOCAL TIME ZONE"))
            }
            Self::Timestamp(precision, TimeZoneKind::Without) => sized(f, "TIMESTAMP", precision),
            Self::Timestamp(precision, TimeZoneKind::Local) => sized(f, "TIMESTAMP_LTZ", precision),
            Self::Interval(qualifier) => write!(f, "INTERVAL {qualifier}"),
            Self::Array(element) => write!(f, "ARRAY< {element} >"),
            Self::Multiset(element) => write!(f, "MULTISET< {element} >"),
            Self::Map(key, value) => write!(f, "MAP< {key}, {value} >"),
            Self::Row(fields) if fields.is_empty() => f.write_str("ROW<>"),
            Self::Row(fields) => write!(f, "ROW< {} >", comma(fields)),
            Self::Structured(class, fields) => {
                write!(f, "STRUCTURED< {class}")?;
                fields.iter().try_for_each(|field| write!(f, ", {field}"))?;
                f.write_str(" >")
            }
            Self::Raw(class, snapshot) => write!(f, "RAW({class}, {snapshot})"),
            Self::Variant => f.write_str("VARIANT"),
            Self::Bitmap => f.write_str("BITMAP"),
            Self::Null => f.write_str("NULL"),
            Self::Named(name) => name.fmt(f),
        }
    }
}

impl Display for FieldDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.name, self.data_type, Maybe(" ", self.comment.as_ref(), ""))
    }
}
