//! The types of a table as a JSON decoder walks them.

use std::sync::Arc;

use flott_types::{DataType, Schema, TypeRoot};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::compact::write_text;
use crate::error::FormatError;

/// Up to so many fields are searched one by one.
const FEW_FIELDS: usize = 8;

/// A type and what it is made of.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) data_type: DataType,
    pub(crate) parts: Parts,
}

/// What a type is made of.
#[derive(Debug)]
pub(crate) enum Parts {
    Scalar,
    /// Any JSON value.
    Variant,
    /// The element of an ARRAY.
    Array(Box<Shape>),
    /// The value of a MAP, the count of a MULTISET; keys are text.
    Map(Box<Shape>),
    Row(Fields),
}

/// The fields of a row by name.
#[derive(Debug)]
pub(crate) struct Fields {
    list: Vec<Field>,
    by_name: Option<HashMap<Arc<str>, usize, FixedState>>,
}

/// A field of a row.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Arc<str>,
    /// The name in quotes with its colon, as a record most likely has it.
    pub(crate) key: Box<[u8]>,
    /// The same, escaped, as a record is written.
    pub(crate) written_key: Box<[u8]>,
    pub(crate) shape: Shape,
}

impl Shape {
    /// The shape of a type; fails for types that JSON does not know.
    pub(crate) fn new(
        data_type: &DataType,
        format: &'static str,
        column: &str,
    ) -> Result<Self, FormatError> {
        let parts = match &data_type.root {
            TypeRoot::Array(element) => Parts::Array(Box::new(Self::new(element, format, column)?)),
            TypeRoot::Map(key, value) => Self::map(data_type, key, value, format, column)?,
            TypeRoot::Multiset(element) => {
                Self::map(data_type, element, &DataType::int(), format, column)?
            }
            TypeRoot::Row(fields) => Parts::Row(Fields::new(
                fields.iter().map(|field| (field.name.clone(), &field.data_type)),
                format,
            )?),
            TypeRoot::Variant => Parts::Variant,
            TypeRoot::Structured { .. }
            | TypeRoot::Bitmap
            | TypeRoot::Raw(_)
            | TypeRoot::Descriptor => {
                return Err(FormatError::Type {
                    format,
                    data_type: data_type.summary(),
                    column: column.into(),
                });
            }
            _ => Parts::Scalar,
        };
        Ok(Self { data_type: data_type.clone(), parts })
    }

    fn map(
        whole: &DataType,
        key: &DataType,
        value: &DataType,
        format: &'static str,
        column: &str,
    ) -> Result<Parts, FormatError> {
        if !matches!(key.root, TypeRoot::Char(_) | TypeRoot::Varchar(_)) {
            return Err(FormatError::MapKey { data_type: whole.summary(), column: column.into() });
        }
        Ok(Parts::Map(Box::new(Self::new(value, format, column)?)))
    }
}

impl Fields {
    /// Fields of these names and types.
    pub(crate) fn new<'a>(
        fields: impl Iterator<Item = (Arc<str>, &'a DataType)>,
        format: &'static str,
    ) -> Result<Self, FormatError> {
        let list = fields
            .map(|(name, data_type)| {
                let key = [b"\"", name.as_bytes(), b"\":"].concat().into();
                let mut written_key = Vec::new();
                write_text(&mut written_key, name.as_bytes());
                written_key.push(b':');
                let shape = Shape::new(data_type, format, &name)?;
                Ok(Field { name, key, written_key: written_key.into(), shape })
            })
            .collect::<Result<Vec<_>, FormatError>>()?;
        let by_name = (list.len() > FEW_FIELDS)
            .then(|| list.iter().enumerate().map(|(at, field)| (field.name.clone(), at)).collect());
        Ok(Self { list, by_name })
    }

    /// The fields of a table's columns.
    pub(crate) fn of_schema(schema: &Schema, format: &'static str) -> Result<Self, FormatError> {
        Self::new(schema.fields.iter().map(|field| (field.name.clone(), &field.data_type)), format)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&Field> {
        self.list.get(at)
    }

    /// Where the field of this name is; names are case-sensitive.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        match &self.by_name {
            Some(map) => map.get(std::str::from_utf8(name).ok()?).copied(),
            None => self.list.iter().position(|field| field.name.as_bytes() == name),
        }
    }
}
