//! Columns to rows: one pass over each column.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::ArrowNativeType;

use super::EncodedRows;
use super::layout::{Kind, Layout, Node, Slot};
use super::nested::{cell_len, write_cell};
use crate::error::{Result, StateError};

pub(super) fn encode(layout: &Layout, columns: &[ArrayRef], rows: usize) -> Result<EncodedRows> {
    check(layout, columns)?;
    let offsets = row_offsets(layout, columns, rows)?;
    let mut writer =
        RowWriter { data: vec![0; offsets[rows] as usize], ends: Vec::new(), offsets, layout };
    if layout.last.is_some() {
        writer.ends.resize(rows, 0);
    }
    for (index, (slot, column)) in layout.slots.iter().zip(columns).enumerate() {
        writer.column(index, slot, column);
    }
    Ok(EncodedRows { offsets: writer.offsets.into(), data: writer.data.into() })
}

fn check(layout: &Layout, columns: &[ArrayRef]) -> Result<()> {
    if layout.slots.len() != columns.len() {
        return Err(StateError::ColumnCount { expected: layout.slots.len(), found: columns.len() });
    }
    for (slot, column) in layout.slots.iter().zip(columns) {
        if !slot.node.holds(column.data_type()) {
            return Err(StateError::ColumnType {
                expected: slot.node.arrow.to_string(),
                found: column.data_type().to_string(),
            });
        }
    }
    Ok(())
}

/// Where each row starts, and the end of the last.
fn row_offsets(layout: &Layout, columns: &[ArrayRef], rows: usize) -> Result<Vec<i32>> {
    let mut ends = Vec::with_capacity(rows + 1);
    ends.push(0);
    let fixed = layout.fixed;
    if layout.last.is_none() {
        let end = fixed.checked_mul(rows).and_then(|end| i32::try_from(end).ok());
        end.ok_or(StateError::BatchTooLarge)?;
        ends.extend((1..=rows).map(|row| (row * fixed) as i32));
        return Ok(ends);
    }
    let mut lengths = vec![fixed; rows];
    for (slot, column) in layout.slots.iter().zip(columns).filter(|(s, _)| s.node.is_variable()) {
        match slot.node.kind {
            Kind::Text => {
                add_lengths(&mut lengths, column.as_string::<i32>().value_offsets(), column)
            }
            Kind::Bytes => {
                add_lengths(&mut lengths, column.as_binary::<i32>().value_offsets(), column)
            }
            _ => {
                for (row, length) in lengths.iter_mut().enumerate() {
                    *length += cell_len(&slot.node, column, row);
                }
            }
        }
    }
    let mut end = 0usize;
    for length in lengths {
        end += length;
        ends.push(end as i32);
    }
    i32::try_from(end).map_err(|_| StateError::BatchTooLarge)?;
    Ok(ends)
}

fn add_lengths(lengths: &mut [usize], offsets: &[i32], column: &dyn Array) {
    let spans = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
    match column.nulls() {
        None => lengths.iter_mut().zip(spans).for_each(|(length, span)| *length += span),
        Some(nulls) => {
            for ((length, span), valid) in lengths.iter_mut().zip(spans).zip(nulls) {
                *length += if valid { span } else { 0 };
            }
        }
    }
}

/// The batch under construction.
struct RowWriter<'a> {
    layout: &'a Layout,
    offsets: Vec<i32>,
    data: Vec<u8>,
    /// How far each row's variable part is written; empty when rows have none.
    ends: Vec<u32>,
}

impl RowWriter<'_> {
    fn column(&mut self, index: usize, slot: &Slot, column: &ArrayRef) {
        if matches!(slot.node.kind, Kind::Null) {
            for start in &self.offsets[..self.offsets.len() - 1] {
                self.data[*start as usize + index / 8] |= 1 << (index % 8);
            }
            return;
        }
        if let Some(nulls) = column.nulls() {
            self.null_bits(index, nulls);
        }
        let at = slot.at;
        match &slot.node.kind {
            Kind::Null => {}
            Kind::Boolean => {
                let values: Vec<u8> = column.as_boolean().values().iter().map(u8::from).collect();
                self.fixed(at, &values, column.nulls(), |value| [value]);
            }
            Kind::Fixed(1) => {
                self.fixed(at, &natives::<i8>(column), column.nulls(), i8::to_le_bytes)
            }
            Kind::Fixed(2) => {
                self.fixed(at, &natives::<i16>(column), column.nulls(), i16::to_le_bytes)
            }
            Kind::Fixed(4) => {
                self.fixed(at, &natives::<i32>(column), column.nulls(), i32::to_le_bytes)
            }
            Kind::Fixed(8) => {
                self.fixed(at, &natives::<i64>(column), column.nulls(), i64::to_le_bytes)
            }
            Kind::Fixed(_) => {
                self.fixed(at, &natives::<i128>(column), column.nulls(), i128::to_le_bytes)
            }
            Kind::Float => self.fixed(at, &natives::<f32>(column), column.nulls(), float_bytes),
            Kind::Double => self.fixed(at, &natives::<f64>(column), column.nulls(), double_bytes),
            Kind::Text => {
                let strings = column.as_string::<i32>();
                self.strings(at, strings.value_data(), strings.value_offsets(), column.nulls());
            }
            Kind::Bytes => {
                let strings = column.as_binary::<i32>();
                self.strings(at, strings.value_data(), strings.value_offsets(), column.nulls());
            }
            Kind::List(_) | Kind::Tuple(_) => self.nested(&slot.node, at, column),
        }
    }

    fn null_bits(&mut self, index: usize, nulls: &NullBuffer) {
        let (byte, bit) = (index / 8, 1 << (index % 8));
        for (start, valid) in self.offsets.iter().zip(nulls) {
            if !valid {
                self.data[*start as usize + byte] |= bit;
            }
        }
    }

    fn fixed<T: Copy, const W: usize>(
        &mut self,
        at: usize,
        values: &[T],
        nulls: Option<&NullBuffer>,
        bytes: impl Fn(T) -> [u8; W],
    ) {
        let starts = self.offsets.iter().map(|start| *start as usize + at);
        match nulls {
            None => {
                for (start, value) in starts.zip(values) {
                    self.data[start..start + W].copy_from_slice(&bytes(*value));
                }
            }
            Some(nulls) => {
                for ((start, value), valid) in starts.zip(values).zip(nulls) {
                    if valid {
                        self.data[start..start + W].copy_from_slice(&bytes(*value));
                    }
                }
            }
        }
    }

    fn strings(&mut self, at: usize, values: &[u8], spans: &[i32], nulls: Option<&NullBuffer>) {
        let variable = self.layout.fixed;
        for (row, span) in spans.windows(2).enumerate() {
            let start = self.offsets[row] as usize;
            let end = &mut self.ends[row];
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                let value = &values[span[0] as usize..span[1] as usize];
                let to = start + variable + *end as usize;
                self.data[to..to + value.len()].copy_from_slice(value);
                *end += value.len() as u32;
            }
            self.data[start + at..start + at + 4].copy_from_slice(&end.to_le_bytes());
        }
    }

    fn nested(&mut self, node: &Node, at: usize, column: &ArrayRef) {
        let variable = self.layout.fixed;
        for (row, end) in self.ends.iter_mut().enumerate() {
            let start = self.offsets[row] as usize;
            if column.is_valid(row) {
                let to = start + variable + *end as usize;
                *end += write_cell(node, column, row, &mut self.data[to..]) as u32;
            }
            self.data[start + at..start + at + 4].copy_from_slice(&end.to_le_bytes());
        }
    }
}

/// The values of a primitive array, whatever they mean.
fn natives<T: ArrowNativeType>(column: &ArrayRef) -> ScalarBuffer<T> {
    let data = column.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

pub(super) fn float_bytes(value: f32) -> [u8; 4] {
    if value.is_nan() { f32::NAN } else { value }.to_le_bytes()
}

pub(super) fn double_bytes(value: f64) -> [u8; 8] {
    if value.is_nan() { f64::NAN } else { value }.to_le_bytes()
}
