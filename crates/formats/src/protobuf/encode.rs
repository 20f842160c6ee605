//! Rows as messages of Protocol Buffers.

use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, RecordBuffer};
use flott_types::{ChangelogBatch, Schema};
use prost_reflect::Kind as PbKind;

use super::plan::{EnumPlan, Kind, MessagePlan, Rules, Scalar, Slot, Value};
use super::wire::{WireKind, write_sized, write_varint};
use super::{NULL_STRING, descriptor};
use crate::cells::Cells;
use crate::error::FormatError;

/// Makes the encoder of `protobuf`.
pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    let columns = context.schema.fields.iter().enumerate();
    let columns = columns.map(|(at, field)| (&*field.name, &field.data_type, Some(at)));
    let message = descriptor::message(&context.options)?;
    let plan = MessagePlan::new(&message, columns, Rules { read_defaults: false }, 0)?;
    if let Some(slot) = plan.slots.iter().find(|slot| slot.required && slot.column.is_none()) {
        return Err(FormatError::PbRequired(slot.name.to_string()).into());
    }
    Ok(Box::new(ProtobufEncoder {
        plan,
        schema: context.schema.clone(),
        null_text: context.options.text(&NULL_STRING).unwrap_or_default().into(),
    }))
}

struct ProtobufEncoder {
    plan: MessagePlan,
    schema: Schema,
    null_text: Box<str>,
}

impl Encoder for ProtobufEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        if out.is_delimited() {
            return Err(FormatError::NoStream("protobuf").into());
        }
        let columns = self
            .schema
            .fields
            .iter()
            .enumerate()
            .map(|(at, field)| Cells::new(batch.column(at), &field.data_type))
            .collect::<Result<Vec<_>, _>>()?;
        let writer = Writer { null_text: &self.null_text };
        for row in 0..batch.len() {
            writer.message(&mut out.bytes, &self.plan, &columns, row)?;
            out.end_record();
        }
        Ok(())
    }
}

struct Writer<'e> {
    null_text: &'e str,
}

impl Writer<'_> {
    fn message(
        &self,
        out: &mut Vec<u8>,
        plan: &MessagePlan,
        columns: &[Cells<'_>],
        row: usize,
    ) -> Result<(), FormatError> {
        for slot in &plan.slots {
            let Some(column) = slot.column else { continue };
            let cells = &columns[column];
            if cells.is_null(row) {
                if slot.required {
                    return Err(FormatError::PbRequired(slot.name.to_string()));
                }
                continue;
            }
            // Of the fields of a group the last column that has a value counts.
            let later = |other: &Slot| {
                let after = other.column.filter(|other| *other > column);
                other.oneof == slot.oneof && after.is_some_and(|at| !columns[at].is_null(row))
            };
            if slot.oneof.is_some() && plan.slots.iter().any(later) {
                continue;
            }
            self.field(out, slot, cells, row)?;
        }
        Ok(())
    }

    fn field(
        &self,
        out: &mut Vec<u8>,
        slot: &Slot,
        cells: &Cells<'_>,
        row: usize,
    ) -> Result<(), FormatError> {
        match (&slot.kind, cells) {
            (Kind::One(value), cells) => {
                let start = out.len();
                write_tag(out, slot.number, value.kind());
                let content = out.len();
                self.value(out, value, cells, row)?;
                let scalar = !matches!(value, Value::Message(_));
                if scalar && !slot.presence && out[content..].iter().all(|byte| *byte == 0) {
                    out.truncate(start);
                }
            }
            (Kind::Many(value), Cells::Array(lists, items)) => {
                let offsets = lists.value_offsets();
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                if range.is_empty() {
                    return Ok(());
                }
                if slot.packed && value.is_packable() {
                    write_tag(out, slot.number, WireKind::Sized);
                    return write_sized(out, |out| {
                        for at in range {
                            self.value(out, value, items, at)?;
                        }
                        Ok(())
                    });
                }
                for at in range {
                    write_tag(out, slot.number, value.kind());
                    self.value(out, value, items, at)?;
                }
            }
            (Kind::Map(key, value), Cells::Map(lists, keys, values)) => {
                let offsets = lists.value_offsets();
                for at in offsets[row] as usize..offsets[row + 1] as usize {
                    write_tag(out, slot.number, WireKind::Sized);
                    write_sized(out, |out| {
                        write_tag(out, 1, key.kind());
                        self.value(out, key, keys, at)?;
                        write_tag(out, 2, value.kind());
                        self.value(out, value, values, at)
                    })?;
                }
            }
            _ => return Err(misfit(&slot.name)),
        }
        Ok(())
    }

    /// Appends a value without its tag; NULL, in arrays and maps, is zero or nothing.
    fn value(
        &self,
        out: &mut Vec<u8>,
        value: &Value,
        cells: &Cells<'_>,
        row: usize,
    ) -> Result<(), FormatError> {
        let null = cells.is_null(row);
        match (value, cells) {
            (Value::Message(_), _) if null => {
                out.push(0);
                Ok(())
            }
            (Value::Message(plan), Cells::Row(_, columns)) => {
                write_sized(out, |out| self.message(out, plan, columns, row))
            }
            (Value::Enum(of), cells) => {
                let number = if null { of.first() } else { of.number_of(cells, row)? };
                write_varint(out, i64::from(number) as u64);
                Ok(())
            }
            (Value::Scalar(scalar), _) if null => {
                match scalar {
                    Scalar::Text(_) => write_bytes(out, self.null_text.as_bytes()),
                    Scalar::Fixed32 | Scalar::Float => out.extend_from_slice(&[0; 4]),
                    Scalar::Fixed64 | Scalar::Double => out.extend_from_slice(&[0; 8]),
                    _ => out.push(0),
                }
                Ok(())
            }
            (Value::Scalar(scalar), cells) => scalar.write(out, cells, row),
            _ => Err(misfit("")),
        }
    }
}

impl EnumPlan {
    /// The number of a word or number; the first where it is none of them, as in Flink.
    fn number_of(&self, cells: &Cells<'_>, row: usize) -> Result<i32, FormatError> {
        let number = match cells {
            Cells::Text(array) => {
                let word = array.value(row);
                let found = self.values.iter().find(|(_, name)| **name == *word);
                return Ok(found.map_or(self.first(), |(number, _)| *number));
            }
            Cells::TinyInt(array) => array.value(row).into(),
            Cells::SmallInt(array) => array.value(row).into(),
            Cells::Int(array) => array.value(row),
            Cells::BigInt(array) => i32::try_from(array.value(row)).unwrap_or(self.first()),
            _ => return Err(misfit("")),
        };
        Ok(if self.name(number).is_some() { number } else { self.first() })
    }
}

impl Scalar {
    fn write(self, out: &mut Vec<u8>, cells: &Cells<'_>, row: usize) -> Result<(), FormatError> {
        match (self, cells) {
            (Self::Bool, Cells::Boolean(array)) => out.push(array.value(row).into()),
            (Self::Int32, Cells::Int(array)) => {
                write_varint(out, i64::from(array.value(row)) as u64);
            }
            (Self::UInt32, Cells::Int(array)) => {
                write_varint(out, u64::from(array.value(row) as u32));
            }
            (Self::SInt32, Cells::Int(array)) => {
                let number = array.value(row);
                write_varint(out, u64::from(((number << 1) ^ (number >> 31)) as u32));
            }
            (Self::Fixed32, Cells::Int(array)) => {
                out.extend_from_slice(&array.value(row).to_le_bytes());
            }
            (Self::Int64 | Self::UInt64, Cells::BigInt(array)) => {
                write_varint(out, array.value(row) as u64);
            }
            (Self::SInt64, Cells::BigInt(array)) => {
                let number = array.value(row);
                write_varint(out, ((number << 1) ^ (number >> 63)) as u64);
            }
            (Self::Fixed64, Cells::BigInt(array)) => {
                out.extend_from_slice(&array.value(row).to_le_bytes());
            }
            (Self::Float, Cells::Float(array)) => {
                out.extend_from_slice(&array.value(row).to_le_bytes());
            }
            (Self::Double, Cells::Double(array)) => {
                out.extend_from_slice(&array.value(row).to_le_bytes());
            }
            (Self::Text(_), Cells::Text(array)) => write_bytes(out, array.value(row).as_bytes()),
            (Self::Bytes, Cells::Binary(array)) => write_bytes(out, array.value(row)),
            _ => return Err(misfit("")),
        }
        Ok(())
    }
}

/// Appends a number of a kind of field, as it is written.
pub(super) fn write_bits(out: &mut Vec<u8>, kind: PbKind, number: i64) {
    match kind {
        PbKind::Fixed32 | PbKind::Sfixed32 => {
            out.extend_from_slice(&(number as i32).to_le_bytes());
        }
        PbKind::Fixed64 | PbKind::Sfixed64 => out.extend_from_slice(&number.to_le_bytes()),
        PbKind::Sint32 | PbKind::Sint64 => {
            write_varint(out, ((number << 1) ^ (number >> 63)) as u64);
        }
        _ => write_varint(out, number as u64),
    }
}

fn write_tag(out: &mut Vec<u8>, number: u32, kind: WireKind) {
    write_varint(out, u64::from(number) << 3 | kind as u64);
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn misfit(column: &str) -> FormatError {
    FormatError::PbType { column: column.into(), what: "its values have another type".into() }
}
