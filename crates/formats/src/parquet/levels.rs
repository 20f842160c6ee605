//! Where the values of a nested column stand: Parquet's definition and repetition levels of one leaf.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType as Arrow, Field};
use flott_catalog::connector::ConnectorError;

/// The levels of a leaf's slots, and its values.
pub(super) struct LeafLevels {
    pub(super) definition: Vec<i16>,
    pub(super) repetition: Vec<i16>,
    /// The rows of `leaf` that hold a value, in order.
    pub(super) rows: Vec<usize>,
    pub(super) leaf: ArrayRef,
}

/// A place of the column at hand: its levels so far, and the row; `None` where a parent is NULL or empty.
type Slot = (i16, i16, Option<usize>);

/// Calls `each` for every leaf of a column, in the file's order, with its position among them and its
/// levels, where `wanted` says so.
pub(super) fn of_leaves(
    field: &Field,
    array: &ArrayRef,
    wanted: &impl Fn(usize) -> bool,
    each: &mut impl FnMut(usize, LeafLevels) -> Result<(), ConnectorError>,
) -> Result<(), ConnectorError> {
    let slots = (0..array.len()).map(|row| (0, 0, Some(row))).collect();
    descend(field, array, slots, 0, &mut 0, wanted, each)
}

fn descend(
    field: &Field,
    array: &ArrayRef,
    mut slots: Vec<Slot>,
    depth: i16,
    next: &mut usize,
    wanted: &impl Fn(usize) -> bool,
    each: &mut impl FnMut(usize, LeafLevels) -> Result<(), ConnectorError>,
) -> Result<(), ConnectorError> {
    for (definition, _, row) in &mut slots {
        match *row {
            Some(at) if array.is_null(at) && field.is_nullable() => *row = None,
            Some(at) if array.is_null(at) => return Err(null_in(field)),
            Some(_) if field.is_nullable() => *definition += 1,
            _ => {}
        }
    }
    match field.data_type() {
        Arrow::Struct(fields) => {
            let columns = array.as_struct().columns();
            fields.iter().zip(columns).try_for_each(|(field, column)| {
                descend(field, column, slots.clone(), depth, next, wanted, each)
            })
        }
        Arrow::List(item) => {
            let list = array.as_list::<i32>();
            let items = items(slots, list.value_offsets(), depth + 1);
            descend(item, list.values(), items, depth + 1, next, wanted, each)
        }
        _ => {
            let position = *next;
            *next += 1;
            if !wanted(position) {
                return Ok(());
            }
            let levels = LeafLevels {
                definition: slots.iter().map(|slot| slot.0).collect(),
                repetition: slots.iter().map(|slot| slot.1).collect(),
                rows: slots.iter().filter_map(|slot| slot.2).collect(),
                leaf: array.clone(),
            };
            each(position, levels)
        }
    }
}

/// The slots of a list's items: the first of a list repeats what its list repeats.
fn items(slots: Vec<Slot>, offsets: &[i32], depth: i16) -> Vec<Slot> {
    let mut items = Vec::with_capacity(slots.len());
    for (definition, repetition, row) in slots {
        let range = row.map_or(0..0, |row| offsets[row] as usize..offsets[row + 1] as usize);
        if range.is_empty() {
            items.push((definition, repetition, None));
        }
        for (i, item) in range.enumerate() {
            let repetition = if i == 0 { repetition } else { depth };
            items.push((definition + 1, repetition, Some(item)));
        }
    }
    items
}

fn null_in(field: &Field) -> ConnectorError {
    ConnectorError::new(format!("NULL in '{}', which cannot hold it", field.name()))
}
