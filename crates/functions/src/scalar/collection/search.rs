//! Looking for an element: ARRAY_CONTAINS, ARRAY_POSITION and ARRAY_REMOVE.

use std::sync::Arc;

use arrow::array::{Array, BooleanBuilder, Int32Builder};
use flott_types::{DataType, TypeRoot};

use super::picks::{ListColumn, Picks};
use super::{as_element, element_type};
use crate::scalar::comparison::{Equality, RowsEqual};
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, Resolved, ScalarFunction, SignatureError, Volatility,
    total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ARRAY_CONTAINS",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            let nullable = args.args.first().is_some_and(|arg| arg.data_type.nullable);
            resolve(args, DataType::boolean().with_nullable(nullable))
        },
        compile: |args, _, _| {
            let equality = equality(args);
            Ok(total_kernel(move |args, context| {
                let search = Search::new(&equality, args)?;
                let mut builder = BooleanBuilder::with_capacity(context.rows);
                for row in 0..context.rows {
                    builder.append_option(
                        search
                            .arrays
                            .range(row)
                            .map(|mut range| range.any(|i| search.found(i, row))),
                    );
                }
                Ok(Arc::new(builder.finish()))
            }))
        },
        doc: FunctionDoc {
            syntax: &["ARRAY_CONTAINS(array, element)"],
            text: "Whether an array has an element; NULL is found too.",
            examples: &[("ARRAY_CONTAINS(ARRAY[1, 2], 2)", "TRUE")],
        },
    },
    ScalarFunction {
        name: "ARRAY_POSITION",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            let mut resolved = resolve(args, DataType::int())?;
            resolved.returns.nullable = resolved.parameters.iter().any(|ty| ty.nullable);
            Ok(resolved)
        },
        compile: |args, _, _| {
            let equality = equality(args);
            Ok(total_kernel(move |args, context| {
                let search = Search::new(&equality, args)?;
                let mut builder = Int32Builder::with_capacity(context.rows);
                for row in 0..context.rows {
                    let range = search.arrays.range(row).filter(|_| !search.wanted.is_null(row));
                    builder.append_option(range.map(|mut range| {
                        range.position(|i| search.found(i, row)).map_or(0, |place| place as i32 + 1)
                    }));
                }
                Ok(Arc::new(builder.finish()))
            }))
        },
        doc: FunctionDoc {
            syntax: &["ARRAY_POSITION(array, element)"],
            text: "The place of the first occurrence of an element, from 1; 0 when there is none.",
            examples: &[("ARRAY_POSITION(ARRAY['a', 'b'], 'b')", "2")],
        },
    },
    ScalarFunction {
        name: "ARRAY_REMOVE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            element_type(args, 0, FORMS)?;
            resolve(args, args.data_type(0).clone())
        },
        compile: |args, returns, _| {
            let equality = equality(args);
            let TypeRoot::Array(element) = returns.root.clone() else {
                return Err(args.no_match(FORMS));
            };
            Ok(total_kernel(move |args, context| {
                let search = Search::new(&equality, args)?;
                let mut picks = Picks::with_capacity(context.rows);
                for row in 0..context.rows {
                    let range = search.arrays.range(row);
                    picks.pick_all(
                        0,
                        range.iter().cloned().flatten().filter(|i| !search.found(*i, row)),
                    );
                    picks.end_list(range.is_some())?;
                }
                picks.into_lists(&[search.arrays.values()], &element)
            }))
        },
        doc: FunctionDoc {
            syntax: &["ARRAY_REMOVE(array, element)"],
            text: "The array without all occurrences of an element.",
            examples: &[("ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", "[2]")],
        },
    },
];

const FORMS: &[&str] = &["<ARRAY>, <ELEMENT>"];

fn resolve(args: &CallArgs, returns: DataType) -> Result<Resolved, SignatureError> {
    let element = element_type(args, 0, FORMS)?;
    if args.len() != 2 {
        return Err(args.no_match(FORMS));
    }
    let parameters = vec![args.data_type(0).clone(), as_element(args, 1, element, FORMS)?];
    Ok(Resolved { parameters, returns })
}

fn equality(args: &CallArgs) -> Equality {
    match &args.data_type(0).root {
        TypeRoot::Array(element) => Equality::new(element, args.data_type(1)),
        _ => Equality::new(args.data_type(0), args.data_type(1)),
    }
}

/// Arrays, and what is looked for in each.
struct Search<'a> {
    arrays: ListColumn<'a>,
    wanted: &'a Column,
    equal: RowsEqual<'a>,
}

impl<'a> Search<'a> {
    fn new(equality: &Equality, args: &'a [Column]) -> Result<Self, EvalError> {
        let arrays = ListColumn::new(&args[0]);
        let equal = equality.rows(arrays.values(), args[1].array())?;
        Ok(Self { arrays, wanted: &args[1], equal })
    }

    /// Whether the element at a place is the one wanted in `row`.
    fn found(&self, element: usize, row: usize) -> bool {
        match (self.arrays.values().is_null(element), self.wanted.is_null(row)) {
            (false, false) => (self.equal)(element, self.wanted.index(row)),
            (element, wanted) => element && wanted,
        }
    }
}
