//! Lists and rows inside of rows: value by value, since they are rare.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    DataType as Arrow, Date32Type, Decimal128Type, DurationMillisecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalUnit, IntervalYearMonthType,
    Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
};

use super::encode::{double_bytes, float_bytes};
use super::layout::{COUNT, Kind, Node};

/// The bytes a value takes in the variable part of its row.
pub(super) fn cell_len(node: &Node, array: &dyn Array, row: usize) -> usize {
    if !node.is_variable() || array.is_null(row) {
        return 0;
    }
    match &node.kind {
        Kind::Text => array.as_string::<i32>().value_length(row) as usize,
        Kind::Bytes => array.as_binary::<i32>().value_length(row) as usize,
        Kind::List(element) => {
            let list = array.as_list::<i32>();
            let items = list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize;
            let count = items.len();
            let values = list.values();
            COUNT
                + count.div_ceil(8)
                + count * element.width()
                + items.map(|item| cell_len(element, values, item)).sum::<usize>()
        }
        Kind::Tuple(layout) => {
            let columns = array.as_struct().columns();
            let cells = layout.slots.iter().zip(columns);
            layout.fixed + cells.map(|(slot, c)| cell_len(&slot.node, c, row)).sum::<usize>()
        }
        _ => 0,
    }
}

/// Writes a value that is not NULL and of variable width; the bytes it took.
pub(super) fn write_cell(node: &Node, array: &dyn Array, row: usize, out: &mut [u8]) -> usize {
    let copy = |out: &mut [u8], value: &[u8]| {
        out[..value.len()].copy_from_slice(value);
        value.len()
    };
    match &node.kind {
        Kind::Text => copy(out, array.as_string::<i32>().value(row).as_bytes()),
        Kind::Bytes => copy(out, array.as_binary::<i32>().value(row)),
        Kind::List(element) => {
            let list = array.as_list::<i32>();
            let items = list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize;
            let count = items.len();
            out[..COUNT].copy_from_slice(&(count as u32).to_le_bytes());
            let slots = COUNT + count.div_ceil(8);
            let variable = slots + count * element.width();
            let mut end = 0;
            for (index, item) in items.enumerate() {
                let place =
                    Place { nulls: COUNT, index, at: slots + index * element.width(), variable };
                write_field(element, list.values(), item, out, place, &mut end);
            }
            variable + end
        }
        Kind::Tuple(layout) => {
            let mut end = 0;
            let columns = array.as_struct().columns();
            for (index, (slot, column)) in layout.slots.iter().zip(columns).enumerate() {
                let place = Place { nulls: 0, index, at: slot.at, variable: layout.fixed };
                write_field(&slot.node, column, row, out, place, &mut end);
            }
            layout.fixed + end
        }
        _ => 0,
    }
}

/// Where a field of a nested value goes.
struct Place {
    /// Where the NULL bits start.
    nulls: usize,
    /// Which of them is the field's.
    index: usize,
    /// Where its slot starts.
    at: usize,
    /// Where the variable part starts.
    variable: usize,
}

fn write_field(
    node: &Node,
    array: &dyn Array,
    row: usize,
    out: &mut [u8],
    place: Place,
    end: &mut usize,
) {
    let null = matches!(node.kind, Kind::Null) || array.is_null(row);
    if null {
        out[place.nulls + place.index / 8] |= 1 << (place.index % 8);
    }
    if node.is_variable() {
        if !null {
            *end += write_cell(node, array, row, &mut out[place.variable + *end..]);
        }
        out[place.at..place.at + 4].copy_from_slice(&(*end as u32).to_le_bytes());
    } else if !null {
        let value = fixed_value(array, row);
        let width = node.width();
        out[place.at..place.at + width].copy_from_slice(&value[..width]);
    }
}

/// The little-endian bytes of a fixed-width value, zeros after.
fn fixed_value(array: &dyn Array, row: usize) -> [u8; 16] {
    macro_rules! int {
        ($ty:ty) => {
            i128::from(array.as_primitive::<$ty>().value(row))
        };
    }
    let number: i128 = match array.data_type() {
        Arrow::Boolean => array.as_boolean().value(row).into(),
        Arrow::Int8 => int!(Int8Type),
        Arrow::Int16 => int!(Int16Type),
        Arrow::Int32 => int!(Int32Type),
        Arrow::Int64 => int!(Int64Type),
        Arrow::Date32 => int!(Date32Type),
        Arrow::Time32(_) => int!(Time32MillisecondType),
        Arrow::Timestamp(TimeUnit::Millisecond, _) => int!(TimestampMillisecondType),
        Arrow::Timestamp(_, _) => int!(TimestampMicrosecondType),
        Arrow::Interval(IntervalUnit::YearMonth) => int!(IntervalYearMonthType),
        Arrow::Duration(_) => int!(DurationMillisecondType),
        Arrow::Decimal128(_, _) => int!(Decimal128Type),
        Arrow::Float32 => {
            let bytes = float_bytes(array.as_primitive::<Float32Type>().value(row));
            u32::from_le_bytes(bytes).into()
        }
        Arrow::Float64 => {
            let bytes = double_bytes(array.as_primitive::<Float64Type>().value(row));
            u64::from_le_bytes(bytes).into()
        }
        _ => 0,
    };
    number.to_le_bytes()
}
