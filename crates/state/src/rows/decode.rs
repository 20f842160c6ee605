//! Rows to columns. Every step is checked, since rows may come from a file.

use std::sync::Arc;

use arrow::array::{
    ArrayData, ArrayRef, BinaryArray, BooleanArray, ListArray, NullArray, NullBufferBuilder,
    StringArray, StructArray, make_array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::{ArrowNativeType, DataType as Arrow};

use super::layout::{COUNT, Kind, Layout, Node, Slot};
use crate::error::{Result, StateError};

/// A field's bytes; `None` when NULL.
type Cell<'a> = Option<&'a [u8]>;

pub(super) fn decode(layout: &Layout, rows: &[&[u8]], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
    if layout.last.is_none() && rows.iter().any(|row| row.len() != layout.fixed) {
        return Err(damaged("row of another length"));
    }
    if let Some(last) = layout.last {
        for row in rows {
            let end = layout.fixed + read_u32(row, last)?;
            if end != row.len() {
                return Err(damaged("row of another length"));
            }
        }
    }
    wanted
        .iter()
        .map(|index| {
            let slot = &layout.slots[*index];
            let cells = rows.iter().map(|row| tuple_cell(layout, *index, slot, row));
            column(&slot.node, cells, rows.len())
        })
        .collect()
}

/// The bytes of a field of a row.
#[inline]
fn tuple_cell<'a>(layout: &Layout, index: usize, slot: &Slot, row: &'a [u8]) -> Result<Cell<'a>> {
    let nulls = row.get(index / 8).ok_or_else(short)?;
    if nulls >> (index % 8) & 1 == 1 {
        return Ok(None);
    }
    if !slot.node.is_variable() {
        return row.get(slot.at..slot.at + slot.node.width()).map(Some).ok_or_else(short);
    }
    let end = read_u32(row, slot.at)?;
    let start = slot.previous.map_or(Ok(0), |at| read_u32(row, at))?;
    let variable = row.get(layout.fixed..).ok_or_else(short)?;
    variable.get(start..end).map(Some).ok_or_else(short)
}

fn column<'a>(
    node: &Node,
    cells: impl Iterator<Item = Result<Cell<'a>>>,
    len: usize,
) -> Result<ArrayRef> {
    match &node.kind {
        Kind::Null => {
            for cell in cells {
                if cell?.is_some() {
                    return Err(damaged("value of type NULL"));
                }
            }
            Ok(Arc::new(NullArray::new(len)))
        }
        Kind::Boolean => {
            let (values, nulls) = fixed::<u8, 1>(cells, len, |bytes| bytes[0])?;
            let values = BooleanBuffer::collect_bool(len, |row| values[row] != 0);
            Ok(Arc::new(BooleanArray::new(values, nulls)))
        }
        Kind::Fixed(1) => primitive(node, cells, len, i8::from_le_bytes),
        Kind::Fixed(2) => primitive(node, cells, len, i16::from_le_bytes),
        Kind::Fixed(4) => primitive(node, cells, len, i32::from_le_bytes),
        Kind::Fixed(8) => primitive(node, cells, len, i64::from_le_bytes),
        Kind::Fixed(_) => primitive(node, cells, len, i128::from_le_bytes),
        Kind::Float => primitive(node, cells, len, f32::from_le_bytes),
        Kind::Double => primitive(node, cells, len, f64::from_le_bytes),
        Kind::Text => {
            let (offsets, values, nulls) = strings(cells, len)?;
            Ok(Arc::new(StringArray::try_new(offsets, values, nulls)?))
        }
        Kind::Bytes => {
            let (offsets, values, nulls) = strings(cells, len)?;
            Ok(Arc::new(BinaryArray::try_new(offsets, values, nulls)?))
        }
        Kind::List(element) => list(node, element, cells, len),
        Kind::Tuple(layout) => tuple(node, layout, cells, len),
    }
}

fn primitive<'a, T: ArrowNativeType, const W: usize>(
    node: &Node,
    cells: impl Iterator<Item = Result<Cell<'a>>>,
    len: usize,
    read: impl Fn([u8; W]) -> T,
) -> Result<ArrayRef> {
    let (values, nulls) = fixed(cells, len, read)?;
    let data = ArrayData::builder(node.arrow.clone())
        .len(len)
        .nulls(nulls)
        .add_buffer(Buffer::from_vec(values))
        .build()?;
    Ok(make_array(data))
}

fn fixed<'a, T: Default, const W: usize>(
    cells: impl Iterator<Item = Result<Cell<'a>>>,
    len: usize,
    read: impl Fn([u8; W]) -> T,
) -> Result<(Vec<T>, Option<NullBuffer>)> {
    let mut values = Vec::with_capacity(len);
    let mut nulls = NullBufferBuilder::new(len);
    for cell in cells {
        match cell? {
            Some(bytes) => {
                values.push(read(bytes.try_into().map_err(|_| short())?));
                nulls.append_non_null();
            }
            None => {
                values.push(T::default());
                nulls.append_null();
            }
        }
    }
    Ok((values, nulls.finish()))
}

fn strings<'a>(
    cells: impl Iterator<Item = Result<Cell<'a>>>,
    len: usize,
) -> Result<(OffsetBuffer<i32>, Buffer, Option<NullBuffer>)> {
    // Copying long values again as their buffer grows would cost more than finding them first.
    let mut found = Vec::with_capacity(len);
    let mut size = 0;
    for cell in cells {
        let cell = cell?;
        size += cell.map_or(0, <[u8]>::len);
        found.push(cell);
    }
    let mut offsets = Vec::with_capacity(len + 1);
    let mut values = Vec::with_capacity(size);
    let mut nulls = NullBufferBuilder::new(len);
    offsets.push(0);
    for cell in found {
        values.extend_from_slice(cell.unwrap_or_default());
        nulls.append(cell.is_some());
        offsets.push(i32::try_from(values.len()).map_err(|_| StateError::BatchTooLarge)?);
    }
    Ok((OffsetBuffer::new(offsets.into()), values.into(), nulls.finish()))
}

fn list<'a>(
    node: &Node,
    element: &Node,
    cells: impl Iterator<Item = Result<Cell<'a>>>,
    len: usize,
) -> Result<ArrayRef> {
    let mut offsets = Vec::with_capacity(len + 1);
    let mut nulls = NullBufferBuilder::new(len);
    let mut items = Vec::new();
    offsets.push(0);
    for cell in cells {
        let cell = cell?;
        nulls.append(cell.is_some());
        if let Some(bytes) = cell {
            list_cells(element, bytes, &mut items)?;
        }
        offsets.push(i32::try_from(items.len()).map_err(|_| StateError::BatchTooLarge)?);
    }
    let Arrow::List(field) = &node.arrow else { return Err(damaged("list of another type")) };
    let count = items.len();
    let values = column(element, items.into_iter(), count)?;
    let offsets = OffsetBuffer::new(offsets.into());
    Ok(Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls.finish())?))
}

fn list_cells<'a>(
    element: &Node,
    bytes: &'a [u8],
    items: &mut Vec<Result<Cell<'a>>>,
) -> Result<()> {
    let count = read_u32(bytes, 0)?;
    let slots = COUNT + count.div_ceil(8);
    let width = element.width();
    let variable_start = count.checked_mul(width).map(|size| slots + size).ok_or_else(short)?;
    let variable = bytes.get(variable_start..).ok_or_else(short)?;
    let mut start = 0;
    for index in 0..count {
        let at = slots + index * width;
        let null = bytes[COUNT + index / 8] >> (index % 8) & 1 == 1;
        if element.is_variable() {
            let end = read_u32(bytes, at)?;
            let value = variable.get(start..end).ok_or_else(short)?;
            items.push(Ok((!null).then_some(value)));
            start = end;
        } else {
            items.push(Ok((!null).then_some(&bytes[at..at + width])));
        }
    }
    if start == variable.len() { Ok(()) } else { Err(damaged("list of another length")) }
}

fn tuple<'a>(
    node: &Node,
    layout: &Layout,
    cells: impl Iterator<Item = Result<Cell<'a>>>,
    len: usize,
) -> Result<ArrayRef> {
    let cells = cells.collect::<Result<Vec<_>>>()?;
    let mut nulls = NullBufferBuilder::new(len);
    cells.iter().for_each(|cell| nulls.append(cell.is_some()));
    let nulls = nulls.finish();
    let Arrow::Struct(fields) = &node.arrow else { return Err(damaged("row of another type")) };
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(len, nulls)));
    }
    let columns = layout
        .slots
        .iter()
        .enumerate()
        .map(|(index, slot)| {
            let inner: Vec<_> = cells
                .iter()
                .map(|cell| cell.map_or(Ok(None), |row| tuple_cell(layout, index, slot, row)))
                .collect();
            column(&slot.node, inner.into_iter(), len)
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?))
}

fn read_u32(bytes: &[u8], at: usize) -> Result<usize> {
    let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(short)?;
    Ok(u32::from_le_bytes(bytes) as usize)
}

fn short() -> StateError {
    damaged("row ends early")
}

fn damaged(what: &'static str) -> StateError {
    StateError::Damaged { section: "row".into(), offset: 0, what }
}
