//! Functions of maps: MAP_KEYS, MAP_VALUES, MAP_ENTRIES, MAP_FROM_ARRAYS and MAP_UNION.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::compute::concat;
use arrow::datatypes::Field;
use flott_types::{DataType, RowField, TypeRoot};

use super::elements::{ElementSet, Elements};
use super::picks::{ListColumn, Picks};
use crate::coercion::common_argument_type;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SignatureError, Volatility, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "MAP_KEYS",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| resolve_part(args, |key, _| DataType::array(key.clone())),
        compile: |_, _, _| Ok(total_kernel(|args, context| part(&args[0], 0, context))),
        doc: FunctionDoc {
            syntax: &["MAP_KEYS(map)"],
            text: "The keys of a map, in no particular order.",
            examples: &[("MAP_KEYS(MAP['a', 1])", "[a]")],
        },
    },
    ScalarFunction {
        name: "MAP_VALUES",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| resolve_part(args, |_, value| DataType::array(value.clone())),
        compile: |_, _, _| Ok(total_kernel(|args, context| part(&args[0], 1, context))),
        doc: FunctionDoc {
            syntax: &["MAP_VALUES(map)"],
            text: "The values of a map, in no particular order.",
            examples: &[("MAP_VALUES(MAP['a', 1])", "[1]")],
        },
    },
    ScalarFunction {
        name: "MAP_ENTRIES",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            resolve_part(args, |key, value| {
                let fields =
                    [RowField::new("key", key.clone()), RowField::new("value", value.clone())];
                DataType::array(DataType::row(fields))
            })
        },
        // A map is kept as its entries.
        compile: |_, _, _| {
            Ok(total_kernel(|args, context| args[0].clone().into_array(context.rows)))
        },
        doc: FunctionDoc {
            syntax: &["MAP_ENTRIES(map)"],
            text: "The entries of a map as rows of key and value, in no particular order.",
            examples: &[("MAP_ENTRIES(MAP['a', 1])", "[(a, 1)]")],
        },
    },
    ScalarFunction {
        name: "MAP_FROM_ARRAYS",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_from_arrays,
        compile: |_, returns, _| from_arrays(returns),
        doc: FunctionDoc {
            syntax: &["MAP_FROM_ARRAYS(keys, values)"],
            text: "A map of keys and values in two arrays, which must be of the same length. Repeated \
                   keys are kept.",
            examples: &[("MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1, 2])", "{a=1, b=2}")],
        },
    },
    ScalarFunction {
        name: "MAP_UNION",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_union,
        compile: |_, returns, _| union(returns),
        doc: FunctionDoc {
            syntax: &["MAP_UNION(map, …)"],
            text: "The entries of all maps; of several with the same key the last counts.",
            examples: &[("MAP_UNION(MAP['a', 1], MAP['a', 2])", "{a=2}")],
        },
    },
];

fn resolve_part(
    args: &CallArgs,
    part: impl Fn(&DataType, &DataType) -> DataType,
) -> Result<Resolved, SignatureError> {
    match args.types().as_slice() {
        [DataType { root: TypeRoot::Map(key, value), nullable }] => {
            Ok(Resolved::unchanged(args, part(key, value).with_nullable(*nullable)))
        }
        _ => Err(args.no_match(&["<MAP>"])),
    }
}

/// The keys (0) or values (1) of maps as arrays.
fn part(column: &Column, index: usize, context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let array = column.clone().into_array(context.rows)?;
    let maps = array.as_list::<i32>();
    let values = maps.values().as_struct().column(index);
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let (offsets, nulls) = (maps.offsets().clone(), maps.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(field, offsets, Arc::clone(values), nulls)?))
}

fn entry_types(map: &DataType) -> Result<(Arc<DataType>, Arc<DataType>), SignatureError> {
    match &map.root {
        TypeRoot::Map(key, value) => Ok((Arc::clone(key), Arc::clone(value))),
        root => Err(SignatureError::Other(format!("{root} is no map"))),
    }
}

fn resolve_from_arrays(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.types().as_slice() {
        [
            DataType { root: TypeRoot::Array(key), .. },
            DataType { root: TypeRoot::Array(value), .. },
        ] => {
            let map = DataType::map((**key).clone(), (**value).clone());
            Ok(Resolved::unchanged(args, map.with_nullable(args.any_nullable())))
        }
        _ => Err(args.no_match(&["<ARRAY>, <ARRAY>"])),
    }
}

fn from_arrays(returns: &DataType) -> Result<Box<dyn Kernel>, SignatureError> {
    let (key, value) = entry_types(returns)?;
    Ok(kernel(move |args, context| {
        let (keys, values) = (ListColumn::new(&args[0]), ListColumn::new(&args[1]));
        let (mut of_keys, mut of_values) = (Vec::new(), Vec::new());
        let mut picks = Picks::with_capacity(context.rows);
        for row in 0..context.rows {
            let entries = keys.range(row).zip(values.range(row));
            if let Some((keys, values)) = entries.clone() {
                if keys.len() != values.len() {
                    return Err(EvalError::Argument {
                        function: "MAP_FROM_ARRAYS",
                        reason: format!("{} keys and {} values", keys.len(), values.len()),
                    });
                }
                // Entries are numbered through; where each comes from is noted beside.
                let start = of_keys.len();
                of_keys.extend(keys.map(|index| index as u32));
                of_values.extend(values.map(|index| index as u32));
                picks.pick_all(0, start..of_keys.len());
            }
            picks.end_list(entries.is_some())?;
        }
        let gather = |array: &ArrayRef, indices: Vec<u32>| {
            arrow::compute::take(array, &arrow::array::UInt32Array::from(indices), None)
        };
        let keys = gather(keys.values(), of_keys)?;
        let values = gather(values.values(), of_values)?;
        picks.into_maps((&[&keys], &key), (&[&values], &value))
    }))
}

fn resolve_union(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let types = args.types();
    let are_maps = types.iter().all(|ty| matches!(ty.root, TypeRoot::Map(..)));
    if types.is_empty() || !are_maps {
        return Err(args.no_match(&["<MAP>, <MAP>, …"]));
    }
    let common = common_argument_type(&types)
        .ok_or_else(|| SignatureError::NoCommonType { types: types.clone() })?;
    Ok(Resolved {
        parameters: types.iter().map(|ty| common.clone().with_nullable(ty.nullable)).collect(),
        returns: common.with_nullable(args.any_nullable()),
    })
}

fn union(returns: &DataType) -> Result<Box<dyn Kernel>, SignatureError> {
    let (key, value) = entry_types(returns)?;
    Ok(total_kernel(move |args, context| {
        let maps: Vec<ListColumn> = args.iter().map(ListColumn::new).collect();
        let part = |part: fn(&ListColumn) -> ArrayRef| -> Result<ArrayRef, EvalError> {
            let parts: Vec<ArrayRef> = maps.iter().map(part).collect();
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            Ok(concat(&parts)?)
        };
        let keys = part(|map| Arc::clone(map.entries().0))?;
        let values = part(|map| Arc::clone(map.entries().1))?;
        let elements = Elements::new(&keys, &key)?;
        let mut seen = ElementSet::default();
        let mut picks = Picks::with_capacity(context.rows);
        let mut entries: Vec<usize> = Vec::new();
        for row in 0..context.rows {
            entries.clear();
            seen.clear();
            let mut start = keys.len();
            let mut all_there = true;
            // Flink begins with the last map.
            for map in maps.iter().rev() {
                start -= map.values().len();
                match map.range(row) {
                    Some(range) => entries.extend(
                        range
                            .map(|index| start + index)
                            .filter(|entry| seen.insert(&elements, *entry)),
                    ),
                    None => all_there = false,
                }
            }
            if all_there {
                picks.pick_all(0, entries.iter().copied());
            }
            picks.end_list(all_there)?;
        }
        picks.into_maps((&[&keys], &key), (&[&values], &value))
    }))
}
