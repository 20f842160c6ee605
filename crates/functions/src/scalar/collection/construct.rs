//! The constructors ROW, ARRAY and MAP.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::compute::concat;
use arrow::datatypes::DataType as Arrow;
use flott_types::{DataType, Family, RowField, TypeRoot, arrow_type};

use super::elements::{ElementSet, Elements};
use super::picks::Picks;
use crate::coercion::common_type;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Resolved, ScalarFunction,
    SignatureError, Volatility, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ROW",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            if args.is_empty() || args.types().iter().any(|ty| ty.family() == Family::Null) {
                return Err(args.no_match(&["<ANY>, <ANY>, …"]));
            }
            let fields: Vec<RowField> = (args.types().into_iter().enumerate())
                .map(|(i, ty)| RowField::new(format!("EXPR${i}"), ty))
                .collect();
            Ok(Resolved::unchanged(args, DataType::row(fields).not_null()))
        },
        compile: |_, returns, _| {
            let returns = returns.clone();
            Ok(total_kernel(move |args, context| struct_of(args, &returns, context)))
        },
        doc: FunctionDoc {
            syntax: &["ROW(value, …)", "(value, value, …)"],
            text: "A row of the values; its fields are named EXPR$0, EXPR$1 and so on.",
            examples: &[("ROW(1, 'a')", "(1, a)")],
        },
    },
    ScalarFunction {
        name: "ARRAY",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            let element = common(args, &args.types())?;
            Ok(Resolved {
                parameters: cast_all(&args.types(), &element),
                returns: DataType::array(element).not_null(),
            })
        },
        compile: |_, returns, _| {
            let TypeRoot::Array(element) = returns.root.clone() else {
                return Err(SignatureError::Other("ARRAY gives an array".into()));
            };
            Ok(total_kernel(move |args, context| array_of(args, &element, context)))
        },
        doc: FunctionDoc {
            syntax: &["ARRAY[element, …]"],
            text: "An array of the elements, which are cast to their common type.",
            examples: &[("ARRAY[1, 2, 3]", "[1, 2, 3]")],
        },
    },
    ScalarFunction {
        name: "MAP",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_map,
        compile: |_, returns, _| {
            let TypeRoot::Map(key, value) = returns.root.clone() else {
                return Err(SignatureError::Other("MAP gives a map".into()));
            };
            Ok(total_kernel(move |args, context| map_of(args, (&key, &value), context)))
        },
        doc: FunctionDoc {
            syntax: &["MAP[key, value, …]"],
            text: "A map of the entries; keys and values are cast to their common types. Of several \
                   entries with the same key the last counts.",
            examples: &[("MAP['a', 1, 'b', 2]", "{a=1, b=2}")],
        },
    },
];

fn common(args: &CallArgs, types: &[DataType]) -> Result<DataType, SignatureError> {
    match common_type(types) {
        Some(ty) if ty.family() != Family::Null => Ok(ty),
        _ if types.is_empty() => Err(args.no_match(&["<ANY>, <ANY>, …"])),
        _ => Err(SignatureError::NoCommonType { types: types.to_vec() }),
    }
}

/// Arguments cast to a type, each as nullable as it was.
fn cast_all(types: &[DataType], target: &DataType) -> Vec<DataType> {
    let is_nullable = |ty: &DataType| ty.nullable || ty.family() == Family::Null;
    types.iter().map(|ty| target.clone().with_nullable(is_nullable(ty))).collect()
}

fn resolve_map(args: &CallArgs) -> Result<Resolved, SignatureError> {
    if args.is_empty() || !args.len().is_multiple_of(2) {
        return Err(args.no_match(&["<ANY>, <ANY>, …, an even number"]));
    }
    let types = args.types();
    // As in Flink an untyped NULL has the type of the first key, unless that is one, too.
    let first = types[0].clone();
    let typed = |ty: &DataType| match ty.family() {
        Family::Null => first.clone().with_nullable(true),
        _ => ty.clone(),
    };
    let keys: Vec<DataType> = types.iter().step_by(2).map(typed).collect();
    let values: Vec<DataType> = types.iter().skip(1).step_by(2).map(typed).collect();
    let (key, value) = (common(args, &keys)?, common(args, &values)?);
    let pairs = cast_all(&keys, &key).into_iter().zip(cast_all(&values, &value));
    Ok(Resolved {
        parameters: pairs.flat_map(|(key, value)| [key, value]).collect(),
        returns: DataType::map(key, value).not_null(),
    })
}

/// A row column of these fields, without NULL rows.
pub(super) fn struct_of(
    columns: &[Column],
    row: &DataType,
    context: &EvalContext,
) -> Result<ArrayRef, EvalError> {
    let Arrow::Struct(fields) = arrow_type(row) else {
        return Err(EvalError::Internal(format!("{row} is no row")));
    };
    let arrays = columns
        .iter()
        .map(|column| column.clone().into_array(context.rows))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(fields, arrays, None, context.rows)?))
}

fn array_of(
    columns: &[Column],
    element: &DataType,
    context: &EvalContext,
) -> Result<ArrayRef, EvalError> {
    let mut picks = Picks::with_capacity(context.rows);
    for row in 0..context.rows {
        for (source, column) in columns.iter().enumerate() {
            picks.pick(source, column.index(row));
        }
        picks.end_list(true)?;
    }
    let sources: Vec<&dyn Array> = columns.iter().map(|column| column.array().as_ref()).collect();
    picks.into_lists(&sources, element)
}

fn map_of(
    columns: &[Column],
    (key, value): (&DataType, &DataType),
    context: &EvalContext,
) -> Result<ArrayRef, EvalError> {
    let part = |first: usize| -> Vec<&dyn Array> {
        columns.iter().skip(first).step_by(2).map(|column| column.array().as_ref()).collect()
    };
    let (keys, values) = (part(0), part(1));
    // Keys and values of an entry stand at the same place of these.
    let same_places = columns.chunks(2).all(|pair| pair[0].is_constant() == pair[1].is_constant());
    if !same_places {
        let expanded = columns
            .iter()
            .map(|column| Ok(Column::rows(column.clone().into_array(context.rows)?)))
            .collect::<Result<Vec<_>, EvalError>>()?;
        return map_of(&expanded, (key, value), context);
    }
    let all_keys = concat(&keys)?;
    let starts: Vec<usize> = keys
        .iter()
        .scan(0, |next, array| {
            let start = *next;
            *next += array.len();
            Some(start)
        })
        .collect();
    let elements = Elements::new(&all_keys, key)?;
    let mut seen = ElementSet::default();
    // For each key where it stands first, and the source of its last entry.
    let mut entries: Vec<(usize, usize)> = Vec::with_capacity(keys.len());
    let mut picks = Picks::with_capacity(context.rows);
    for row in 0..context.rows {
        seen.clear();
        entries.clear();
        let place = |source: usize| columns[2 * source].index(row);
        // The last entry of a key counts, at the place of its first.
        for (source, start) in starts.iter().enumerate() {
            let at = start + place(source);
            let first = seen.find(&elements, at);
            match first.and_then(|first| entries.iter_mut().find(|entry| entry.0 == first)) {
                Some(entry) => entry.1 = source,
                None => {
                    seen.insert(&elements, at);
                    entries.push((at, source));
                }
            }
        }
        entries.iter().for_each(|(_, source)| picks.pick(*source, place(*source)));
        picks.end_list(true)?;
    }
    picks.into_maps((&keys, key), (&values, value))
}
