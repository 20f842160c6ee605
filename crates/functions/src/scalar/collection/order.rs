//! Arrays of ordered elements: ARRAY_SORT, ARRAY_MAX and ARRAY_MIN.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, UInt32Builder, make_comparator};
use arrow::compute::{SortOptions, take};
use arrow::datatypes::{Float32Type, Float64Type};
use flott_types::{DataType, Family, TypeRoot};

use super::picks::{ListColumn, Picks};
use super::{element_type, is_ordered};
use crate::read::Booleans;
use crate::{
    CallArgs, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ARRAY_SORT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_sort,
        compile: |_, returns, _| sort(returns),
        doc: FunctionDoc {
            syntax: &["ARRAY_SORT(array[, ascending[, nulls_first]])"],
            text: "The elements in ascending order, or descending when the second argument is FALSE. \
                   NULLs come first when ascending and last when descending, unless the third \
                   argument says otherwise.",
            examples: &[
                ("ARRAY_SORT(ARRAY[3, 1, 2])", "[1, 2, 3]"),
                ("ARRAY_SORT(ARRAY[3, 1, 2], FALSE)", "[3, 2, 1]"),
            ],
        },
    },
    ScalarFunction {
        name: "ARRAY_MAX",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_extreme,
        compile: |args, _, _| extreme(args, Ordering::Greater),
        doc: FunctionDoc {
            syntax: &["ARRAY_MAX(array)"],
            text: "The greatest element, NULLs aside; NULL when there is none.",
            examples: &[("ARRAY_MAX(ARRAY[1, 3, 2])", "3")],
        },
    },
    ScalarFunction {
        name: "ARRAY_MIN",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_extreme,
        compile: |args, _, _| extreme(args, Ordering::Less),
        doc: FunctionDoc {
            syntax: &["ARRAY_MIN(array)"],
            text: "The least element, NULLs aside; NULL when there is none.",
            examples: &[("ARRAY_MIN(ARRAY[2, 1, 3])", "1")],
        },
    },
];

fn resolve_sort(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &["<ARRAY>", "<ARRAY>, <BOOLEAN>", "<ARRAY>, <BOOLEAN>, <BOOLEAN>"];
    let is_flag = |ty: &DataType| matches!(ty.family(), Family::Boolean | Family::Null);
    let element = element_type(args, 0, FORMS)?;
    let types = args.types();
    if !is_ordered(element) || types.len() > 3 || !types[1..].iter().all(is_flag) {
        return Err(args.no_match(FORMS));
    }
    let flags = types[1..].iter().map(|ty| DataType::boolean().with_nullable(ty.nullable));
    Ok(Resolved {
        parameters: [types[0].clone()].into_iter().chain(flags).collect(),
        returns: types[0].clone().with_nullable(args.any_nullable()),
    })
}

fn sort(returns: &DataType) -> Result<Box<dyn Kernel>, SignatureError> {
    let TypeRoot::Array(element) = returns.root.clone() else {
        return Err(SignatureError::Other(format!("{returns} is no array")));
    };
    Ok(total_kernel(move |args, context| {
        let arrays = ListColumn::new(&args[0]);
        let [ascending, nulls_first] = [1, 2].map(|i| args.get(i).map(Booleans::new));
        let values = arrays.values();
        let compare = make_comparator(values, values, SortOptions::default())?;
        let mut picks = Picks::with_capacity(context.rows);
        let mut sorted = Vec::new();
        for row in 0..context.rows {
            let ascending = ascending.map_or(Some(true), |flags| flags.get(row));
            let nulls_first = nulls_first.map_or(ascending, |flags| flags.get(row));
            let (Some(range), Some(ascending), Some(nulls_first)) =
                (arrays.range(row), ascending, nulls_first)
            else {
                picks.end_list(false)?;
                continue;
            };
            sorted.clear();
            sorted.extend(range.clone().filter(|i| values.is_valid(*i)));
            match ascending {
                true => sorted.sort_by(|a, b| compare(*a, *b)),
                false => sorted.sort_by(|a, b| compare(*b, *a)),
            }
            let nulls = range.filter(|i| values.is_null(*i));
            if nulls_first {
                picks.pick_all(0, nulls.chain(sorted.iter().copied()));
            } else {
                picks.pick_all(0, sorted.iter().copied().chain(nulls));
            }
            picks.end_list(true)?;
        }
        picks.into_lists(&[values], &element)
    }))
}

fn resolve_extreme(args: &CallArgs) -> Result<Resolved, SignatureError> {
    const FORMS: &[&str] = &["<ARRAY>"];
    let element = element_type(args, 0, FORMS)?;
    match args.len() {
        1 if is_ordered(element) => {
            Ok(Resolved::unchanged(args, element.clone().with_nullable(true)))
        }
        _ => Err(args.no_match(FORMS)),
    }
}

fn extreme(args: &CallArgs, wanted: Ordering) -> Result<Box<dyn Kernel>, SignatureError> {
    let element = element_type(args, 0, &["<ARRAY>"])?.root.clone();
    Ok(total_kernel(move |args, context| {
        let arrays = ListColumn::new(&args[0]);
        let values = arrays.values();
        let beats = beats(values, &element, wanted)?;
        let mut places = UInt32Builder::with_capacity(context.rows);
        for row in 0..context.rows {
            let best = arrays.range(row).and_then(|range| {
                range
                    .filter(|i| values.is_valid(*i))
                    .reduce(|best, i| if beats(i, best) { i } else { best })
            });
            places.append_option(best.map(|place| place as u32));
        }
        Ok(take(values, &places.finish(), None)?)
    }))
}

/// Whether the element at one place compares as wanted with that at another.
type Beats<'a> = Box<dyn Fn(usize, usize) -> bool + 'a>;

fn beats<'a>(
    values: &'a ArrayRef,
    element: &TypeRoot,
    wanted: Ordering,
) -> Result<Beats<'a>, EvalError> {
    /// Numbers compare as Java's operators have it: NaN beats nothing.
    fn floats<'a, T: ArrowPrimitiveType>(values: &'a ArrayRef, wanted: Ordering) -> Beats<'a>
    where
        T::Native: PartialOrd,
    {
        let values = values.as_primitive::<T>();
        Box::new(move |i, j| values.value(i).partial_cmp(&values.value(j)) == Some(wanted))
    }
    Ok(match element {
        TypeRoot::Float => floats::<Float32Type>(values, wanted),
        TypeRoot::Double => floats::<Float64Type>(values, wanted),
        _ => {
            let compare = make_comparator(values, values, SortOptions::default())?;
            Box::new(move |i, j| compare(i, j) == wanted)
        }
    })
}
