//! Where each field of an encoded row lies.
//!
//! ```text
//! row  = NULL bits, one a field, set when NULL │ slots │ variable part
//! slot = the value in little-endian, zeros when NULL        fields of fixed width
//!      | u32 end of the value in the variable part          strings, bytes and nested values
//! list = u32 count │ NULL bits │ slots │ variable part      as a row of `count` equal fields
//! ```

use arrow::datatypes::DataType as Arrow;
use flott_types::{DataType, TypeRoot, arrow_type};

/// The bytes of a list's count.
pub(super) const COUNT: usize = 4;
/// The bytes of a variable field's slot.
const END: usize = 4;

/// How the values of a type are written.
#[derive(Debug)]
pub(super) enum Kind {
    /// Always NULL.
    Null,
    /// One byte, 0 or 1.
    Boolean,
    /// An integer of this many bytes.
    Fixed(usize),
    /// IEEE 4 byte, NaN made one.
    Float,
    /// IEEE 8 byte, NaN made one.
    Double,
    Text,
    Bytes,
    List(Box<Node>),
    Tuple(Layout),
}

/// A type: how it is written and how it lies in Arrow memory.
#[derive(Debug)]
pub(super) struct Node {
    pub kind: Kind,
    pub arrow: Arrow,
}

/// A field of a row.
#[derive(Debug)]
pub(super) struct Slot {
    pub node: Node,
    /// Where the slot starts in the row.
    pub at: usize,
    /// Where the slot of the variable field before starts, which tells where this one's value starts.
    pub previous: Option<usize>,
}

/// The fields of a row.
#[derive(Debug)]
pub(super) struct Layout {
    pub slots: Vec<Slot>,
    /// Bytes before the variable part.
    pub fixed: usize,
    /// The slot of the last variable field, which tells where the row ends.
    pub last: Option<usize>,
}

impl Layout {
    pub fn new<'a>(types: impl ExactSizeIterator<Item = &'a DataType>) -> Self {
        let mut fixed = types.len().div_ceil(8);
        let mut last = None;
        let slots = types
            .map(|ty| {
                let node = Node::new(ty);
                let slot = Slot { at: fixed, previous: last, node };
                fixed += slot.node.width();
                if slot.node.is_variable() {
                    last = Some(slot.at);
                }
                slot
            })
            .collect();
        Self { slots, fixed, last }
    }
}

impl Node {
    fn new(ty: &DataType) -> Self {
        let kind = match &ty.root {
            TypeRoot::Null | TypeRoot::Descriptor => Kind::Null,
            TypeRoot::Boolean => Kind::Boolean,
            TypeRoot::TinyInt => Kind::Fixed(1),
            TypeRoot::SmallInt => Kind::Fixed(2),
            TypeRoot::Int | TypeRoot::Date | TypeRoot::Time(_) | TypeRoot::IntervalYearMonth => {
                Kind::Fixed(4)
            }
            TypeRoot::BigInt | TypeRoot::IntervalDayTime => Kind::Fixed(8),
            TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => {
                Kind::Fixed(if *p <= 6 { 8 } else { 16 })
            }
            TypeRoot::Decimal { .. } => Kind::Fixed(16),
            TypeRoot::Float => Kind::Float,
            TypeRoot::Double => Kind::Double,
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => Kind::Text,
            TypeRoot::Binary(_)
            | TypeRoot::Varbinary(_)
            | TypeRoot::Bitmap
            | TypeRoot::Variant
            | TypeRoot::Raw(_) => Kind::Bytes,
            TypeRoot::Array(element) => Kind::List(Box::new(Self::new(element))),
            TypeRoot::Map(key, value) => Kind::List(Box::new(Self::entry(key, value))),
            TypeRoot::Multiset(element) => {
                Kind::List(Box::new(Self::entry(element, &DataType::int())))
            }
            TypeRoot::Row(fields) | TypeRoot::Structured { fields, .. } => {
                Kind::Tuple(Layout::new(fields.iter().map(|field| &field.data_type)))
            }
        };
        Self { kind, arrow: arrow_type(ty) }
    }

    /// An entry of a map, which Arrow holds as a struct.
    fn entry(key: &DataType, value: &DataType) -> Self {
        let map = arrow_type(&DataType::map(key.clone(), value.clone()));
        let arrow = match map {
            Arrow::List(item) => item.data_type().clone(),
            other => other,
        };
        Self { kind: Kind::Tuple(Layout::new([key, value].into_iter())), arrow }
    }

    pub fn width(&self) -> usize {
        match self.kind {
            Kind::Null => 0,
            Kind::Boolean => 1,
            Kind::Fixed(width) => width,
            Kind::Float => 4,
            Kind::Double => 8,
            _ => END,
        }
    }

    pub fn is_variable(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Bytes | Kind::List(_) | Kind::Tuple(_))
    }

    /// Whether a column's values lie as this type's do, whatever nested fields are called.
    pub fn holds(&self, found: &Arrow) -> bool {
        same_layout(&self.arrow, found)
    }
}

fn same_layout(expected: &Arrow, found: &Arrow) -> bool {
    match (expected, found) {
        (Arrow::List(a), Arrow::List(b)) => same_layout(a.data_type(), b.data_type()),
        (Arrow::Struct(a), Arrow::Struct(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| same_layout(a.data_type(), b.data_type()))
        }
        (Arrow::Decimal128(_, a), Arrow::Decimal128(_, b)) => a == b,
        (a, b) => a == b,
    }
}
