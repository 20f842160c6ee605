//! Messages into columns.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::plan::{EnumPlan, Kind, MessagePlan, Scalar, Value};
use super::wire::{Broken, Wire, WireField, WireKind};
use crate::builders::{Column, Fault};
use crate::error::FormatError;

/// Up to so many entries of a map are searched one by one for the same key.
const FEW_ENTRIES: usize = 32;

/// What is known of the messages under way; the memory is used again.
#[derive(Debug, Default)]
pub(super) struct State {
    found: Vec<Found>,
}

/// What there is of a field.
#[derive(Debug, Clone, Copy, Default)]
enum Found {
    #[default]
    Nothing,
    /// The bytes of its value, among those of the message.
    Value { start: usize, end: usize },
    /// A message that stands there in parts.
    Parts,
    /// Some elements or entries.
    Some,
}

impl State {
    /// Forgets what a broken message left behind.
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }
}

impl Found {
    fn value(field: &WireField<'_>) -> Self {
        Self::Value { start: field.start, end: field.start + field.value.len() }
    }

    /// The bytes of a value, or those of `other` where there is none.
    fn bytes<'b>(self, message: &'b [u8], other: &'b [u8]) -> &'b [u8] {
        match self {
            Self::Value { start, end } => &message[start..end],
            _ => other,
        }
    }
}

impl MessagePlan {
    /// Reads a message into columns. Where it fails, columns may hold more than before.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        columns: &mut [Column],
        state: &mut State,
    ) -> Result<(), Broken> {
        let base = state.found.len();
        state.found.resize(base + self.slots.len(), Found::Nothing);
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            if let Some(at) = self.slot(field.number) {
                self.note(&wire, field, at, base, columns, state)?;
            }
        }
        for (at, slot) in self.slots.iter().enumerate() {
            let found = state.found[base + at];
            if slot.required && matches!(found, Found::Nothing) {
                return Err(wire.broken(format!("the required field '{}' is missing", slot.name)));
            }
            let Some(column) = slot.column else { continue };
            let column = &mut columns[column];
            match (&slot.kind, found) {
                (Kind::One(value), Found::Value { start, end }) => {
                    value.push(&bytes[start..end], column, state)?;
                }
                (Kind::One(value), Found::Parts) => {
                    value.push(&parts(bytes, slot.number)?, column, state)?;
                }
                (Kind::Many(_), Found::Some) => end_list(column)?,
                (Kind::Map(key, value), Found::Some) => {
                    read_map(bytes, slot.number, (key, value), column, state)?;
                }
                (Kind::One(value), _) => match &slot.default {
                    Some(default) => value.push(default, column, state)?,
                    None => column.push_null(),
                },
                (Kind::Many(_) | Kind::Map(..), _) => match slot.default {
                    Some(_) => end_list(column)?,
                    None => column.push_null(),
                },
            }
        }
        state.found.truncate(base);
        Ok(())
    }

    /// Takes note of a field; elements go into their column at once.
    fn note(
        &self,
        wire: &Wire<'_>,
        field: WireField<'_>,
        at: usize,
        base: usize,
        columns: &mut [Column],
        state: &mut State,
    ) -> Result<(), Broken> {
        let slot = &self.slots[at];
        let Some(column) = slot.column else {
            state.found[base + at] = Found::value(&field);
            self.clear_others(at, base, state);
            return Ok(());
        };
        match &slot.kind {
            Kind::One(value) => {
                if field.kind != value.kind() || !value.is_known(field.value)? {
                    return Ok(());
                }
                let before = state.found[base + at];
                state.found[base + at] = match (value, before) {
                    (Value::Message(_), Found::Value { .. } | Found::Parts) => Found::Parts,
                    _ => Found::value(&field),
                };
                self.clear_others(at, base, state);
            }
            Kind::Many(value) => {
                let Column::Array(lists) = &mut columns[column] else {
                    return Err(wire.broken("an array has no column"));
                };
                let items = &mut lists.items;
                if field.kind == value.kind() {
                    if value.is_known(field.value)? {
                        value.push(field.value, items, state)?;
                        state.found[base + at] = Found::Some;
                    }
                } else if field.kind == WireKind::Sized && value.is_packable() {
                    let mut packed = Wire::new(field.value);
                    while !packed.is_at_end() {
                        let element = value.packed(&mut packed)?;
                        if value.is_known(element)? {
                            value.push(element, items, state)?;
                            state.found[base + at] = Found::Some;
                        }
                    }
                }
            }
            Kind::Map(..) if field.kind == WireKind::Sized => {
                state.found[base + at] = Found::Some;
            }
            Kind::Map(..) => {}
        }
        Ok(())
    }

    /// Of the fields of a group only the last one counts.
    fn clear_others(&self, at: usize, base: usize, state: &mut State) {
        let Some(group) = self.slots[at].oneof else { return };
        for (other, slot) in self.slots.iter().enumerate() {
            if other != at && slot.oneof == Some(group) {
                state.found[base + other] = Found::Nothing;
            }
        }
    }
}

/// A message that stands in several fields is that of their bytes one behind the other.
fn parts(bytes: &[u8], number: u32) -> Result<Vec<u8>, Broken> {
    let mut whole = Vec::new();
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        if field.number == number && field.kind == WireKind::Sized {
            whole.extend_from_slice(field.value);
        }
    }
    Ok(whole)
}

fn end_list(column: &mut Column) -> Result<(), Broken> {
    match column {
        Column::Array(lists) | Column::Map(lists) => lists.end_value().map_err(unfit),
        _ => Err(unfit(Fault::Form)),
    }
}

/// Reads the entries of a map; of equal keys the last one counts.
fn read_map(
    bytes: &[u8],
    number: u32,
    (key, value): (&Value, &Value),
    column: &mut Column,
    state: &mut State,
) -> Result<(), Broken> {
    let Column::Map(lists) = column else { return Err(unfit(Fault::Form)) };
    let Column::Row(entries) = &mut *lists.items else { return Err(unfit(Fault::Form)) };
    // The entries take the place of found fields: key and value in turns.
    let base = state.found.len();
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        if field.number != number || field.kind != WireKind::Sized {
            continue;
        }
        let (mut of_key, mut of_value) = (Found::Nothing, Found::Nothing);
        let mut entry = Wire::new(field.value);
        while let Some(mut part) = entry.field()? {
            part.start += field.start;
            match part.number {
                1 if part.kind == key.kind() => of_key = Found::value(&part),
                2 if part.kind == value.kind() => of_value = Found::value(&part),
                _ => {}
            }
        }
        if value.is_known(of_value.bytes(bytes, value.zero()))? {
            state.found.extend([of_key, of_value]);
        }
    }
    let count = (state.found.len() - base) / 2;
    let key_of = |state: &State, at: usize| state.found[base + 2 * at].bytes(bytes, key.zero());
    let mut last: HashMap<&[u8], usize, FixedState> = HashMap::default();
    if count > FEW_ENTRIES {
        last.extend((0..count).map(|at| (key_of(state, at), at)));
    }
    for at in 0..count {
        let of_key = key_of(state, at);
        let comes_again = match count > FEW_ENTRIES {
            true => last.get(of_key) != Some(&at),
            false => (at + 1..count).any(|other| key_of(state, other) == of_key),
        };
        if comes_again {
            continue;
        }
        let of_value = state.found[base + 2 * at + 1].bytes(bytes, value.zero());
        let [keys, values] = &mut entries.columns[..] else { return Err(unfit(Fault::Form)) };
        key.push(of_key, keys, state)?;
        value.push(of_value, values, state)?;
        entries.end_value();
    }
    state.found.truncate(base);
    lists.end_value().map_err(unfit)
}

impl Value {
    /// How a single value is written.
    pub(super) fn kind(&self) -> WireKind {
        match self {
            Self::Enum(_) => WireKind::Varint,
            Self::Message(_) => WireKind::Sized,
            Self::Scalar(scalar) => match scalar {
                Scalar::Fixed32 | Scalar::Float => WireKind::Fixed32,
                Scalar::Fixed64 | Scalar::Double => WireKind::Fixed64,
                Scalar::Text(_) | Scalar::Bytes => WireKind::Sized,
                _ => WireKind::Varint,
            },
        }
    }

    /// The bytes of zero, or of nothing.
    fn zero(&self) -> &'static [u8] {
        match self.kind() {
            WireKind::Varint => &[0],
            WireKind::Fixed32 => &[0; 4],
            WireKind::Fixed64 => &[0; 8],
            _ => &[],
        }
    }

    /// False for numbers without a word of enums that do not allow them: they count as not written.
    fn is_known(&self, bytes: &[u8]) -> Result<bool, Broken> {
        match self {
            Self::Enum(EnumPlan { open: true, .. }) | Self::Scalar(_) | Self::Message(_) => {
                Ok(true)
            }
            Self::Enum(of) => Ok(of.name(Wire::new(bytes).varint()? as i32).is_some()),
        }
    }

    /// The next of values that stand one behind the other.
    fn packed<'a>(&self, wire: &mut Wire<'a>) -> Result<&'a [u8], Broken> {
        match self.kind() {
            WireKind::Fixed32 => wire.take(4),
            WireKind::Fixed64 => wire.take(8),
            _ => {
                let mut end = *wire;
                end.varint()?;
                wire.take(end.distance(wire))
            }
        }
    }

    /// Adds a value to a column.
    fn push(&self, bytes: &[u8], column: &mut Column, state: &mut State) -> Result<(), Broken> {
        match self {
            Self::Scalar(scalar) => scalar.push(bytes, column),
            Self::Enum(of) => {
                let number = Wire::new(bytes).varint()? as i32;
                match column {
                    // As Java prints it.
                    Column::Text(values) => {
                        let name = of.name(number).unwrap_or("UNRECOGNIZED");
                        values.push(name.as_bytes()).map_err(unfit)?;
                    }
                    Column::TinyInt(values) => values.push(narrow(number)?),
                    Column::SmallInt(values) => values.push(narrow(number)?),
                    Column::Int(values) => values.push(number),
                    Column::BigInt(values) => values.push(number.into()),
                    _ => return Err(unfit(Fault::Form)),
                }
                Ok(())
            }
            Self::Message(plan) => {
                let Column::Row(structs) = column else { return Err(unfit(Fault::Form)) };
                plan.read(bytes, &mut structs.columns, state)?;
                structs.end_value();
                Ok(())
            }
        }
    }
}

fn narrow<T: TryFrom<i32>>(number: i32) -> Result<T, Broken> {
    T::try_from(number).map_err(|_| unfit(Fault::Range))
}

impl Scalar {
    fn push(self, bytes: &[u8], column: &mut Column) -> Result<(), Broken> {
        let mut wire = Wire::new(bytes);
        let fixed32 = || bytes.try_into().map_err(|_| unfit(Fault::Form));
        let fixed64 = || bytes.try_into().map_err(|_| unfit(Fault::Form));
        match (self, column) {
            (Self::Bool, Column::Boolean(values)) => values.push(wire.varint()? != 0),
            (Self::Int32 | Self::UInt32, Column::Int(values)) => {
                values.push(wire.varint()? as i32);
            }
            (Self::SInt32, Column::Int(values)) => {
                let bits = wire.varint()? as u32;
                values.push((bits >> 1) as i32 ^ -((bits & 1) as i32));
            }
            (Self::Fixed32, Column::Int(values)) => values.push(i32::from_le_bytes(fixed32()?)),
            (Self::Int64 | Self::UInt64, Column::BigInt(values)) => {
                values.push(wire.varint()? as i64);
            }
            (Self::SInt64, Column::BigInt(values)) => {
                let bits = wire.varint()?;
                values.push((bits >> 1) as i64 ^ -((bits & 1) as i64));
            }
            (Self::Fixed64, Column::BigInt(values)) => values.push(i64::from_le_bytes(fixed64()?)),
            (Self::Float, Column::Float(values)) => values.push(f32::from_le_bytes(fixed32()?)),
            (Self::Double, Column::Double(values)) => values.push(f64::from_le_bytes(fixed64()?)),
            (Self::Text(strict), Column::Text(values)) => {
                match simdutf8::basic::from_utf8(bytes) {
                    Ok(_) => values.push(bytes),
                    Err(_) if strict => return Err(Box::new(FormatError::Utf8)),
                    Err(_) => values.push(String::from_utf8_lossy(bytes).as_bytes()),
                }
                .map_err(unfit)?;
            }
            (Self::Bytes, Column::Binary(values)) => values.push(bytes).map_err(unfit)?,
            _ => return Err(unfit(Fault::Form)),
        }
        Ok(())
    }
}

#[cold]
fn unfit(fault: Fault) -> Broken {
    let what = match fault {
        Fault::Form => "a value is not of its column's type",
        Fault::Range => "a value lies outside of its column's range",
        Fault::TooLong => "the batch cannot hold more bytes",
    };
    Box::new(FormatError::Protobuf { what: what.into(), at: 0 })
}
