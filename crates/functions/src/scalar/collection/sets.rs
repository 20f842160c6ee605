//! Arrays as sets: ARRAY_DISTINCT, ARRAY_UNION, ARRAY_EXCEPT and ARRAY_INTERSECT. Elements keep
//! the order of their first occurrence.

use arrow::array::Array;
use arrow::compute::concat;
use flott_types::{DataType, TypeRoot};

use super::edit::common_array;
use super::element_type;
use super::elements::{ElementSet, Elements};
use super::picks::{ListColumn, Picks};
use crate::{
    FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility, total_kernel,
};

/// A function of two arrays.
macro_rules! set_function {
    ($name:literal, $operation:expr, $text:literal, $example:expr) => {
        ScalarFunction {
            name: $name,
            aliases: &[],
            volatility: Volatility::Immutable,
            resolve: |args| common_array(args, 2, 2),
            compile: |_, returns, _| compile(returns, $operation),
            doc: FunctionDoc {
                syntax: &[concat!($name, "(array1, array2)")],
                text: $text,
                examples: &[$example],
            },
        }
    };
}

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ARRAY_DISTINCT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            element_type(args, 0, &["<ARRAY>"])?;
            match args.len() {
                1 => Ok(Resolved::unchanged(args, args.data_type(0).clone())),
                _ => Err(args.no_match(&["<ARRAY>"])),
            }
        },
        compile: |_, returns, _| compile(returns, Operation::Union),
        doc: FunctionDoc {
            syntax: &["ARRAY_DISTINCT(array)"],
            text: "The array without repeated elements.",
            examples: &[("ARRAY_DISTINCT(ARRAY[2, 1, 2])", "[2, 1]")],
        },
    },
    set_function!(
        "ARRAY_UNION",
        Operation::Union,
        "The elements of both arrays, each once.",
        ("ARRAY_UNION(ARRAY[1, 1, 2], ARRAY[2, 3])", "[1, 2, 3]")
    ),
    set_function!(
        "ARRAY_EXCEPT",
        Operation::Except,
        "The elements of the first array that the second does not have, each once.",
        ("ARRAY_EXCEPT(ARRAY[1, 1, 2], ARRAY[2])", "[1]")
    ),
    set_function!(
        "ARRAY_INTERSECT",
        Operation::Intersect,
        "The elements of the first array that the second has too, each once.",
        ("ARRAY_INTERSECT(ARRAY[1, 1, 2], ARRAY[2, 1])", "[1, 2]")
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Except,
    Intersect,
}

fn compile(returns: &DataType, operation: Operation) -> Result<Box<dyn Kernel>, SignatureError> {
    let TypeRoot::Array(element) = returns.root.clone() else {
        return Err(SignatureError::Other(format!("{returns} is no array")));
    };
    Ok(total_kernel(move |args, context| {
        let arrays: Vec<ListColumn> = args.iter().map(ListColumn::new).collect();
        // All elements in one array, so that they can be compared with each other.
        let sources: Vec<&dyn Array> = arrays.iter().map(|array| array.values().as_ref()).collect();
        let all = concat(&sources)?;
        let second = sources[0].len();
        let elements = Elements::new(&all, &element)?;
        let (mut given, mut other) = (ElementSet::default(), ElementSet::default());
        let mut picks = Picks::with_capacity(context.rows);
        for row in 0..context.rows {
            let ranges = arrays.iter().map(|array| array.range(row));
            let Some(ranges) = ranges.collect::<Option<Vec<_>>>() else {
                picks.end_list(false)?;
                continue;
            };
            let first = ranges[0].clone();
            let others = ranges.get(1).cloned().unwrap_or_default().map(|index| second + index);
            given.clear();
            other.clear();
            match operation {
                Operation::Union => {
                    let new = first.chain(others).filter(|i| given.insert(&elements, *i));
                    picks.pick_all(0, new);
                }
                Operation::Except | Operation::Intersect => {
                    others.for_each(|i| _ = other.insert(&elements, i));
                    let wanted = operation == Operation::Intersect;
                    let kept = first
                        .filter(|i| other.contains(&elements, *i) == wanted)
                        .filter(|i| given.insert(&elements, *i));
                    picks.pick_all(0, kept);
                }
            }
            picks.end_list(true)?;
        }
        picks.into_lists(&[&all], &element)
    }))
}
