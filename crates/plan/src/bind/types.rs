//! Type names of the syntax to types.

use flott_sql::ast::{self, TimeUnit, TimeZoneKind, TypeKind};
use flott_types::{DataType, RowField, TypeRoot};

use crate::{PlanError, Result};

/// The type that a type name stands for. As in Flink a precision beyond the largest is cut to it,
/// and TIME keeps milliseconds at most.
pub fn resolve_type(name: &ast::TypeName) -> Result<DataType> {
    Ok(resolve_root(name)?.nullable().with_nullable(name.nullable))
}

fn resolve_root(name: &ast::TypeName) -> Result<TypeRoot> {
    let length = |n: Option<u32>, what: &str| match n {
        None => Ok(1),
        Some(n) if n > i32::MAX as u32 => {
            Err(out_of_range(name, what, "a length", 0, i32::MAX as u32))
        }
        Some(n) => Ok(n),
    };
    let precision = |p: Option<u32>, default: u8, most: u8| match p {
        None => default,
        Some(p) => p.min(u32::from(most)) as u8,
    };
    let nested = |ty: &ast::TypeName| resolve_type(ty).map(Into::into);
    Ok(match &name.kind {
        TypeKind::Char(n) => TypeRoot::Char(length(*n, "CHAR")?),
        // Without a length these are the longest; CHAR and BINARY have length 1 then.
        TypeKind::VarChar(None) => DataType::string().root,
        TypeKind::VarChar(n) => TypeRoot::Varchar(length(*n, "VARCHAR")?),
        TypeKind::String => DataType::string().root,
        TypeKind::Binary(n) => TypeRoot::Binary(length(*n, "BINARY")?),
        TypeKind::VarBinary(None) => DataType::bytes().root,
        TypeKind::VarBinary(n) => TypeRoot::Varbinary(length(*n, "VARBINARY")?),
        TypeKind::Bytes => DataType::bytes().root,
        TypeKind::Boolean => TypeRoot::Boolean,
        TypeKind::Decimal(p, s) => {
            let precision = match p {
                None => 10,
                Some(0) => return Err(out_of_range(name, "DECIMAL", "a precision", 1, 38)),
                Some(p) => (*p).min(38) as u8,
            };
            match s.unwrap_or(0) {
                s if s <= u32::from(precision) => TypeRoot::Decimal { precision, scale: s as u8 },
                _ => {
                    return Err(out_of_range(name, "DECIMAL", "a scale", 0, precision.into()));
                }
            }
        }
        TypeKind::TinyInt => TypeRoot::TinyInt,
        TypeKind::SmallInt => TypeRoot::SmallInt,
        TypeKind::Int => TypeRoot::Int,
        TypeKind::BigInt => TypeRoot::BigInt,
        TypeKind::Float => TypeRoot::Float,
        TypeKind::Double => TypeRoot::Double,
        TypeKind::Date => TypeRoot::Date,
        TypeKind::Time(p, TimeZoneKind::Without) => TypeRoot::Time(precision(*p, 0, 3)),
        TypeKind::Time(_, TimeZoneKind::Local) => {
            return Err(PlanError::new("TIME WITH LOCAL TIME ZONE is not a type of Flink SQL")
                .at(name.span)
                .hint("use TIME or TIMESTAMP_LTZ"));
        }
        TypeKind::Timestamp(p, TimeZoneKind::Without) => TypeRoot::Timestamp(precision(*p, 6, 9)),
        TypeKind::Timestamp(p, TimeZoneKind::Local) => TypeRoot::TimestampLtz(precision(*p, 6, 9)),
        TypeKind::Interval(qualifier) => interval_root(qualifier),
        TypeKind::Array(element) => TypeRoot::Array(nested(element)?),
        TypeKind::Multiset(element) => TypeRoot::Multiset(nested(element)?),
        TypeKind::Map(key, value) => TypeRoot::Map(nested(key)?, nested(value)?),
        TypeKind::Row(fields) => TypeRoot::Row(resolve_fields(fields)?.into()),
        TypeKind::Structured(class, fields) => TypeRoot::Structured {
            class: class.value.as_str().into(),
            fields: resolve_fields(fields)?.into(),
        },
        TypeKind::Raw(class, _) => TypeRoot::Raw(class.value.as_str().into()),
        TypeKind::Variant => TypeRoot::Variant,
        TypeKind::Bitmap => TypeRoot::Bitmap,
        TypeKind::Null => TypeRoot::Null,
        TypeKind::Named(type_name) => {
            let words: Vec<_> = type_name.parts.iter().map(|part| part.value.as_str()).collect();
            return Err(PlanError::new(format!("unknown type {}", words.join("."))).at(name.span));
        }
    })
}

/// Whether an interval counts months or milliseconds.
pub fn interval_root(qualifier: &ast::IntervalQualifier) -> TypeRoot {
    match qualifier.start {
        TimeUnit::Year
        | TimeUnit::Quarter
        | TimeUnit::Month
        | TimeUnit::Decade
        | TimeUnit::Century
        | TimeUnit::Millennium => TypeRoot::IntervalYearMonth,
        _ => TypeRoot::IntervalDayTime,
    }
}

fn resolve_fields(fields: &[ast::FieldDefinition]) -> Result<Vec<RowField>> {
    fields
        .iter()
        .map(|field| {
            Ok(RowField {
                name: field.name.value.as_str().into(),
                data_type: resolve_type(&field.data_type)?,
                description: field.comment.as_ref().map(|text| text.value.as_str().into()),
            })
        })
        .collect()
}

fn out_of_range(
    name: &ast::TypeName,
    type_name: &str,
    what: &str,
    low: u32,
    high: u32,
) -> PlanError {
    PlanError::new(format!("{type_name} takes {what} from {low} to {high}")).at(name.span)
}
