//! The columns of a table beside the fields of a message.

use flott_types::{DataType, TypeRoot};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use prost_reflect::{
    Cardinality, EnumDescriptor, FieldDescriptor, Kind as PbKind, MessageDescriptor, Syntax,
    Value as PbValue,
};

use super::encode::write_bits;
use super::wire::MAX_DEPTH;
use crate::error::FormatError;

/// How a message is read and written.
#[derive(Debug)]
pub(super) struct MessagePlan {
    /// By field number.
    pub(super) slots: Vec<Slot>,
    by_number: HashMap<u32, usize, FixedState>,
}

/// A field that is wanted, or that a message must have.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) name: Box<str>,
    pub(super) number: u32,
    pub(super) column: Option<usize>,
    pub(super) required: bool,
    /// Of fields of which a message has only one, the number of the group.
    pub(super) oneof: Option<usize>,
    /// Whether a value is written that is the default.
    pub(super) presence: bool,
    pub(super) packed: bool,
    pub(super) kind: Kind,
    /// The value that stands for a missing one, as it would be written; NULL without.
    pub(super) default: Option<Box<[u8]>>,
}

/// How often a field is there.
#[derive(Debug)]
pub(super) enum Kind {
    One(Value),
    Many(Value),
    Map(Value, Value),
}

/// The value of a field.
#[derive(Debug)]
pub(super) enum Value {
    Scalar(Scalar),
    Enum(EnumPlan),
    Message(Box<MessagePlan>),
}

/// A plain value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Int32,
    Int64,
    UInt32,
    UInt64,
    SInt32,
    SInt64,
    Fixed32,
    Fixed64,
    Float,
    Double,
    /// Text; whether what is no UTF-8 is an error.
    Text(bool),
    Bytes,
}

/// The words of an enum.
#[derive(Debug)]
pub(super) struct EnumPlan {
    pub(super) values: Vec<(i32, Box<str>)>,
    /// Whether numbers without a word are kept, as in proto3.
    pub(super) open: bool,
}

/// What the options say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) read_defaults: bool,
}

/// A column: its name, type and place, if it is wanted.
pub(super) type Column<'t> = (&'t str, &'t DataType, Option<usize>);

impl MessagePlan {
    /// The plan of a message for a table's columns.
    pub(super) fn new<'t>(
        message: &MessageDescriptor,
        columns: impl Iterator<Item = Column<'t>>,
        rules: Rules,
        depth: usize,
    ) -> Result<Self, FormatError> {
        if depth > MAX_DEPTH {
            return Err(FormatError::PbType {
                column: message.full_name().into(),
                what: "messages stand in each other too deep".into(),
            });
        }
        let proto3 = message.parent_file().syntax() == Syntax::Proto3;
        let mut slots = Vec::new();
        for (name, data_type, column) in columns {
            let Some(field) = message.get_field_by_name(name) else {
                return Err(FormatError::PbMissing {
                    column: name.into(),
                    message: message.full_name().into(),
                });
            };
            let mut slot =
                Slot::new(&field, data_type, proto3, rules, depth).map_err(
                    |error| match error {
                        FormatError::PbType { column, what } if column.is_empty() => {
                            FormatError::PbType { column: name.into(), what }
                        }
                        FormatError::PbType { column, what } => {
                            FormatError::PbType { column: format!("{name}.{column}"), what }
                        }
                        other => other,
                    },
                )?;
            slot.column = column;
            // What is not wanted only counts where it must be there, or leaves no room for others.
            if column.is_some() || slot.required || slot.oneof.is_some() {
                slots.push(slot);
            }
        }
        for field in message.fields() {
            let known = slots.iter().any(|slot| slot.number == field.number());
            let group = field.containing_oneof().map(|group| group.path().to_vec());
            let shares = group.is_some_and(|group| {
                message.fields().any(|other| {
                    slots.iter().any(|slot| slot.number == other.number())
                        && other.containing_oneof().is_some_and(|of| of.path() == group)
                })
            });
            if !known && (field.is_required() || shares) {
                slots.push(Slot::unread(&field));
            }
        }
        slots.sort_by_key(|slot| slot.number);
        let by_number = slots.iter().enumerate().map(|(at, slot)| (slot.number, at)).collect();
        Ok(Self { slots, by_number })
    }

    /// The slot of a field.
    #[inline]
    pub(super) fn slot(&self, number: u32) -> Option<usize> {
        // Most messages number their fields from 1 and tables have them all.
        let guess = (number as usize).wrapping_sub(1);
        match self.slots.get(guess) {
            Some(slot) if slot.number == number => Some(guess),
            _ => self.by_number.get(&number).copied(),
        }
    }
}

impl Slot {
    fn new(
        field: &FieldDescriptor,
        data_type: &DataType,
        proto3: bool,
        rules: Rules,
        depth: usize,
    ) -> Result<Self, FormatError> {
        let unfit = |what: String| FormatError::PbType { column: String::new(), what };
        let kind = if field.is_map() {
            let TypeRoot::Map(key, value) = &data_type.root else {
                return Err(unfit(format!("a map is no {}", data_type.summary())));
            };
            let PbKind::Message(entry) = field.kind() else {
                return Err(unfit("a map has no entries".into()));
            };
            Kind::Map(
                Value::new(&entry.map_entry_key_field(), key, rules, depth)?,
                Value::new(&entry.map_entry_value_field(), value, rules, depth)?,
            )
        } else if field.is_list() {
            let TypeRoot::Array(element) = &data_type.root else {
                return Err(unfit(format!("a repeated field is no {}", data_type.summary())));
            };
            Kind::Many(Value::new(field, element, rules, depth)?)
        } else {
            Kind::One(Value::new(field, data_type, rules, depth)?)
        };
        let default = match &kind {
            Kind::One(Value::Message(_)) | Kind::Many(_) | Kind::Map(..) => {
                rules.read_defaults.then(Vec::new)
            }
            Kind::One(_) => (proto3 || rules.read_defaults).then(|| default_bytes(field)),
        };
        Ok(Self { default: default.map(Into::into), kind, ..Self::unread(field) })
    }

    /// The slot of a field that no column has.
    fn unread(field: &FieldDescriptor) -> Self {
        let oneof = field.containing_oneof();
        Self {
            name: field.name().into(),
            number: field.number(),
            column: None,
            required: field.cardinality() == Cardinality::Required,
            oneof: oneof.and_then(|group| group.path().last().map(|at| *at as usize)),
            presence: field.supports_presence(),
            packed: field.is_packed(),
            kind: Kind::One(Value::Scalar(Scalar::Bytes)),
            default: None,
        }
    }
}

impl Value {
    fn new(
        field: &FieldDescriptor,
        data_type: &DataType,
        rules: Rules,
        depth: usize,
    ) -> Result<Self, FormatError> {
        use TypeRoot::*;
        let root = &data_type.root;
        let strict = field.parent_file().syntax() == Syntax::Proto3;
        let scalar = match (field.kind(), root) {
            (PbKind::Bool, Boolean) => Scalar::Bool,
            (PbKind::Int32, Int) => Scalar::Int32,
            (PbKind::Int64, BigInt) => Scalar::Int64,
            (PbKind::Uint32, Int) => Scalar::UInt32,
            (PbKind::Uint64, BigInt) => Scalar::UInt64,
            (PbKind::Sint32, Int) => Scalar::SInt32,
            (PbKind::Sint64, BigInt) => Scalar::SInt64,
            (PbKind::Fixed32 | PbKind::Sfixed32, Int) => Scalar::Fixed32,
            (PbKind::Fixed64 | PbKind::Sfixed64, BigInt) => Scalar::Fixed64,
            (PbKind::Float, Float) => Scalar::Float,
            (PbKind::Double, Double) => Scalar::Double,
            (PbKind::String, Char(_) | Varchar(_)) => Scalar::Text(strict),
            (PbKind::Bytes, Binary(_) | Varbinary(_)) => Scalar::Bytes,
            (PbKind::Enum(of), Char(_) | Varchar(_) | TinyInt | SmallInt | Int | BigInt) => {
                return Ok(Self::Enum(EnumPlan::new(&of)));
            }
            (PbKind::Message(of), Row(fields)) => {
                let columns = fields.iter().enumerate();
                let columns = columns.map(|(at, field)| (&*field.name, &field.data_type, Some(at)));
                let plan = MessagePlan::new(&of, columns, rules, depth + 1)?;
                return Ok(Self::Message(Box::new(plan)));
            }
            (kind, _) => {
                return Err(FormatError::PbType {
                    column: String::new(),
                    what: format!(
                        "{kind:?} (protobuf) is not compatible with {}",
                        data_type.summary()
                    ),
                });
            }
        };
        Ok(Self::Scalar(scalar))
    }

    /// Whether values may stand one behind the other in one field.
    pub(super) fn is_packable(&self) -> bool {
        match self {
            Self::Scalar(scalar) => !matches!(scalar, Scalar::Text(_) | Scalar::Bytes),
            Self::Enum(_) => true,
            Self::Message(_) => false,
        }
    }
}

impl EnumPlan {
    fn new(of: &EnumDescriptor) -> Self {
        let values = of.values().map(|value| (value.number(), value.name().into())).collect();
        Self { values, open: of.parent_file().syntax() == Syntax::Proto3 }
    }

    /// The word of a number.
    pub(super) fn name(&self, number: i32) -> Option<&str> {
        let found = self.values.iter().find(|(other, _)| *other == number);
        found.map(|(_, name)| &**name)
    }

    /// The number that stands for what is none: that of the first word.
    pub(super) fn first(&self) -> i32 {
        self.values.first().map_or(0, |(number, _)| *number)
    }
}

/// The default of a field as it would be written.
fn default_bytes(field: &FieldDescriptor) -> Vec<u8> {
    let mut out = Vec::new();
    match field.default_value() {
        PbValue::Bool(truth) => out.push(truth.into()),
        PbValue::I32(number) => write_bits(&mut out, field.kind(), number.into()),
        PbValue::I64(number) => write_bits(&mut out, field.kind(), number),
        PbValue::U32(number) => write_bits(&mut out, field.kind(), number.into()),
        PbValue::U64(number) => write_bits(&mut out, field.kind(), number as i64),
        PbValue::EnumNumber(number) => write_bits(&mut out, PbKind::Int32, number.into()),
        PbValue::F32(number) => out.extend_from_slice(&number.to_le_bytes()),
        PbValue::F64(number) => out.extend_from_slice(&number.to_le_bytes()),
        PbValue::String(text) => out.extend_from_slice(text.as_bytes()),
        PbValue::Bytes(bytes) => out.extend_from_slice(&bytes),
        PbValue::Message(_) | PbValue::List(_) | PbValue::Map(_) => {}
    }
    out
}
