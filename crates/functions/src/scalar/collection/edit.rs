//! Arrays with other elements: ARRAY_APPEND, ARRAY_PREPEND, ARRAY_CONCAT, ARRAY_REVERSE,
//! ARRAY_SLICE; and ARRAY_JOIN.

use std::sync::Arc;

use arrow::array::{Array, AsArray, StringArray, StringBuilder};
use arrow::datatypes::Int32Type;
use flott_types::{DataType, Family, TypeRoot};

use super::picks::{ListColumn, Picks};
use super::{as_element, element_type};
use crate::coercion::common_argument_type;
use crate::read::{Primitives, Strings};
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ARRAY_APPEND",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_addition,
        compile: |_, returns, _| add(returns, false),
        doc: FunctionDoc {
            syntax: &["ARRAY_APPEND(array, element)"],
            text: "The array with an element added at its end; NULL is added too.",
            examples: &[("ARRAY_APPEND(ARRAY[1, 2], 3)", "[1, 2, 3]")],
        },
    },
    ScalarFunction {
        name: "ARRAY_PREPEND",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_addition,
        compile: |_, returns, _| add(returns, true),
        doc: FunctionDoc {
            syntax: &["ARRAY_PREPEND(array, element)"],
            text: "The array with an element added before its first; NULL is added too.",
            examples: &[("ARRAY_PREPEND(ARRAY[1, 2], 3)", "[3, 1, 2]")],
        },
    },
    ScalarFunction {
        name: "ARRAY_CONCAT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| common_array(args, 1, usize::MAX),
        compile: |_, returns, _| concatenate(returns),
        doc: FunctionDoc {
            syntax: &["ARRAY_CONCAT(array, …)"],
            text: "The elements of all arrays, one array after the other.",
            examples: &[("ARRAY_CONCAT(ARRAY[1, 2], ARRAY[2])", "[1, 2, 2]")],
        },
    },
    ScalarFunction {
        name: "ARRAY_REVERSE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            element_type(args, 0, &["<ARRAY>"])?;
            match args.len() {
                1 => Ok(Resolved::unchanged(args, args.data_type(0).clone())),
                _ => Err(args.no_match(&["<ARRAY>"])),
            }
        },
        compile: |_, returns, _| {
            let element = element_of(returns)?;
            Ok(total_kernel(move |args, context| {
                let arrays = ListColumn::new(&args[0]);
                let mut picks = Picks::with_capacity(context.rows);
                for row in 0..context.rows {
                    let range = arrays.range(row);
                    picks.pick_all(0, range.iter().cloned().flatten().rev());
                    picks.end_list(range.is_some())?;
                }
                picks.into_lists(&[arrays.values()], &element)
            }))
        },
        doc: FunctionDoc {
            syntax: &["ARRAY_REVERSE(array)"],
            text: "The elements from the last to the first.",
            examples: &[("ARRAY_REVERSE(ARRAY[1, 2, 3])", "[3, 2, 1]")],
        },
    },
    ScalarFunction {
        name: "ARRAY_SLICE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_slice,
        compile: |_, returns, _| slice(returns),
        doc: FunctionDoc {
            syntax: &["ARRAY_SLICE(array, start[, end])"],
            text: "The elements from one place to another, both included and counted from 1, or from \
                   the end when negative; 0 stands for 1. Without an end, to the last.",
            examples: &[
                ("ARRAY_SLICE(ARRAY[1, 2, 3, 4], 2, 3)", "[2, 3]"),
                ("ARRAY_SLICE(ARRAY[1, 2, 3, 4], -2)", "[3, 4]"),
            ],
        },
    },
    ScalarFunction {
        name: "ARRAY_JOIN",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_join,
        compile: |_, _, _| Ok(join()),
        doc: FunctionDoc {
            syntax: &["ARRAY_JOIN(array, separator[, null_text])"],
            text: "The strings of an array in one, with a separator between them. NULLs are left out, \
                   or written as the text given for them.",
            examples: &[
                ("ARRAY_JOIN(ARRAY['a', 'b'], '-')", "a-b"),
                ("ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING)], '-', '?')", "a-?"),
            ],
        },
    },
];

fn element_of(array: &DataType) -> Result<Arc<DataType>, SignatureError> {
    match &array.root {
        TypeRoot::Array(element) => Ok(Arc::clone(element)),
        root => Err(SignatureError::Other(format!("{root} is no array"))),
    }
}

fn resolve_addition(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &["<ARRAY>, <ELEMENT>"];
    let element = element_type(args, 0, FORMS)?;
    if args.len() != 2 {
        return Err(args.no_match(FORMS));
    }
    let added = as_element(args, 1, element, FORMS)?;
    let nullable = element.nullable || added.nullable;
    let result = DataType::array(element.clone().with_nullable(nullable));
    Ok(Resolved {
        returns: result.with_nullable(args.data_type(0).nullable || added.nullable),
        parameters: vec![args.data_type(0).clone(), added],
    })
}

fn add(returns: &DataType, first: bool) -> Result<Box<dyn Kernel>, SignatureError> {
    let element = element_of(returns)?;
    Ok(total_kernel(move |args, context| {
        let arrays = ListColumn::new(&args[0]);
        let mut picks = Picks::with_capacity(context.rows);
        for row in 0..context.rows {
            let range = arrays.range(row);
            if let Some(range) = range.clone() {
                if first {
                    picks.pick(1, args[1].index(row));
                }
                picks.pick_all(0, range);
                if !first {
                    picks.pick(1, args[1].index(row));
                }
            }
            picks.end_list(range.is_some())?;
        }
        picks.into_lists(&[arrays.values(), args[1].array()], &element)
    }))
}

/// The type rule of functions that take arrays of a common type and give one of it.
pub(super) fn common_array(
    args: &CallArgs,
    least: usize,
    most: usize,
) -> Result<Resolved, SignatureError> {
    let types = args.types();
    let are_arrays = types.iter().all(|ty| matches!(ty.root, TypeRoot::Array(_)));
    if !(least..=most).contains(&types.len()) || !are_arrays {
        return Err(args.no_match(&["<ARRAY>, <ARRAY>, …"]));
    }
    let common = common_argument_type(&types)
        .ok_or_else(|| SignatureError::NoCommonType { types: types.clone() })?;
    Ok(Resolved {
        parameters: types.iter().map(|ty| common.clone().with_nullable(ty.nullable)).collect(),
        returns: common.with_nullable(args.any_nullable()),
    })
}

fn concatenate(returns: &DataType) -> Result<Box<dyn Kernel>, SignatureError> {
    let element = element_of(returns)?;
    Ok(total_kernel(move |args, context| {
        let arrays: Vec<ListColumn> = args.iter().map(ListColumn::new).collect();
        let mut picks = Picks::with_capacity(context.rows);
        for row in 0..context.rows {
            let all_there = arrays.iter().all(|array| array.range(row).is_some());
            if all_there {
                for (source, array) in arrays.iter().enumerate() {
                    picks.pick_all(source, array.range(row).into_iter().flatten());
                }
            }
            picks.end_list(all_there)?;
        }
        let sources: Vec<&dyn Array> = arrays.iter().map(|array| array.values().as_ref()).collect();
        picks.into_lists(&sources, &element)
    }))
}

fn resolve_slice(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &["<ARRAY>, <INTEGER>", "<ARRAY>, <INTEGER>, <INTEGER>"];
    element_type(args, 0, FORMS)?;
    let is_place = |ty: &DataType| {
        matches!(ty.root, TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int | TypeRoot::Null)
    };
    if !(2..=3).contains(&args.len()) || !args.types()[1..].iter().all(is_place) {
        return Err(args.no_match(FORMS));
    }
    let place = |ty: &DataType| DataType::int().with_nullable(ty.nullable);
    let parameters = [args.data_type(0).clone()]
        .into_iter()
        .chain(args.types()[1..].iter().map(place))
        .collect();
    Ok(Resolved {
        parameters,
        returns: args.data_type(0).clone().with_nullable(args.any_nullable()),
    })
}

fn slice(returns: &DataType) -> Result<Box<dyn Kernel>, SignatureError> {
    let element = element_of(returns)?;
    Ok(total_kernel(move |args, context| {
        let arrays = ListColumn::new(&args[0]);
        let starts = Primitives::<Int32Type>::new(&args[1]);
        let ends = args.get(2).map(Primitives::<Int32Type>::new);
        let mut picks = Picks::with_capacity(context.rows);
        for row in 0..context.rows {
            let end = ends.as_ref().map_or(Some(-1), |ends| ends.get(row));
            let known = match (arrays.range(row), starts.get(row), end) {
                (Some(range), Some(start), Some(end)) => {
                    let length = range.len() as i64;
                    let from_start = |place: i32| match i64::from(place) {
                        negative @ ..0 => negative + length + 1,
                        positive => positive,
                    };
                    let place = |place: i32| match from_start(place) {
                        0 => 1,
                        place => place,
                    };
                    let (first, last) = (place(start).max(1), place(end).min(length));
                    if first <= last {
                        let start = range.start;
                        picks.pick_all(0, start + first as usize - 1..start + last as usize);
                    }
                    true
                }
                _ => false,
            };
            picks.end_list(known)?;
        }
        picks.into_lists(&[arrays.values()], &element)
    }))
}

fn resolve_join(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] =
        &["<ARRAY<STRING>>, <CHARACTER>", "<ARRAY<STRING>>, <CHARACTER>, <CHARACTER>"];
    let is_text = |ty: &DataType| matches!(ty.family(), Family::CharacterString | Family::Null);
    let element = element_type(args, 0, FORMS)?;
    if element.family() != Family::CharacterString
        || !(2..=3).contains(&args.len())
        || !args.types()[1..].iter().all(is_text)
    {
        return Err(args.no_match(FORMS));
    }
    let parameters = args
        .types()
        .into_iter()
        .map(|ty| if ty.family() == Family::Null { DataType::string() } else { ty })
        .collect();
    Ok(Resolved { parameters, returns: DataType::string().with_nullable(args.any_nullable()) })
}

fn join() -> Box<dyn Kernel> {
    total_kernel(|args, context| {
        let arrays = ListColumn::new(&args[0]);
        let values: &StringArray = arrays.values().as_string();
        let separators = Strings::new(&args[1]);
        let null_texts = args.get(2).map(Strings::new);
        let mut builder = StringBuilder::with_capacity(context.rows, values.value_data().len());
        let mut text = String::new();
        for row in 0..context.rows {
            let null_text = null_texts.as_ref().map(|texts| texts.get(row));
            let (Some(range), Some(separator), None | Some(Some(_))) =
                (arrays.range(row), separators.get(row), null_text)
            else {
                builder.append_null();
                continue;
            };
            text.clear();
            let items = range.filter_map(|element| match values.is_valid(element) {
                true => Some(values.value(element)),
                false => null_text.flatten(),
            });
            for (i, item) in items.enumerate() {
                if i > 0 {
                    text.push_str(separator);
                }
                text.push_str(item);
            }
            builder.append_value(&text);
        }
        Ok(Arc::new(builder.finish()))
    })
}
