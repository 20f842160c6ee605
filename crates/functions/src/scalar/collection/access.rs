//! Looking into collections: ITEM (`a[i]`), ELEMENT and CARDINALITY.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Builder, UInt32Builder};
use arrow::buffer::NullBuffer;
use arrow::compute::take;
use arrow::datatypes::{ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type};
use flott_types::{DataType, Family, TypeRoot, Value};

use super::element_type;
use super::picks::ListColumn;
use crate::coercion::implicit_cast_allowed;
use crate::read::Primitives;
use crate::scalar::comparison::Equality;
use crate::scalar::variant;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ITEM",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_item,
        compile: compile_item,
        doc: FunctionDoc {
            syntax: &[
                "array[INT]",
                "map[key]",
                "row[INT]",
                "row[name]",
                "variant[INT]",
                "variant[name]",
            ],
            text: "The element of an array at a place from 1, or the value of a map's key; NULL when \
                   there is none. The field of a row by its constant place or name. Of a variant, which \
                   must be an array or an object then, the element or member as a variant.",
            examples: &[
                ("ARRAY[10, 20][2]", "20"),
                ("MAP['a', 1, 'b', 2]['b']", "2"),
                ("ROW(1, 'a')[2]", "a"),
            ],
        },
    },
    ScalarFunction {
        name: "ELEMENT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            let forms = &["<ARRAY>"];
            let element = element_type(args, 0, forms)?;
            if args.len() != 1 {
                return Err(args.no_match(forms));
            }
            let nullable = element.nullable || args.any_nullable();
            Ok(Resolved::unchanged(args, element.clone().with_nullable(nullable)))
        },
        compile: |_, _, _| Ok(kernel(|args, context| single_elements(&args[0], context))),
        doc: FunctionDoc {
            syntax: &["ELEMENT(array)"],
            text: "The only element of an array; NULL when the array is empty. More than one is an \
                   error.",
            examples: &[("ELEMENT(ARRAY[7])", "7")],
        },
    },
    ScalarFunction {
        name: "CARDINALITY",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.types().as_slice() {
            [ty] if matches!(ty.root, TypeRoot::Array(_) | TypeRoot::Map(..)) => {
                Ok(Resolved::unchanged(args, DataType::int().with_nullable(ty.nullable)))
            }
            _ => Err(args.no_match(&["<ARRAY>", "<MAP>"])),
        },
        compile: |_, _, _| {
            Ok(total_kernel(|args, context| {
                let lists = ListColumn::new(&args[0]);
                let mut builder = Int32Builder::with_capacity(context.rows);
                for row in 0..context.rows {
                    builder.append_option(lists.range(row).map(|range| range.len() as i32));
                }
                Ok(Arc::new(builder.finish()))
            }))
        },
        doc: FunctionDoc {
            syntax: &["CARDINALITY(array)", "CARDINALITY(map)"],
            text: "The number of elements of an array or of entries of a map.",
            examples: &[("CARDINALITY(ARRAY[4, 5, 6])", "3")],
        },
    },
];

const ITEM: &[&str] = &[
    "<ARRAY>[<INTEGER>]",
    "<MAP>[<KEY>]",
    "<ROW>[<CHARACTER>|<INTEGER>]",
    "<VARIANT>[<CHARACTER>|<INTEGER>]",
];

fn resolve_item(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let [collection, place] = args.args.as_slice() else { return Err(args.no_match(ITEM)) };
    let place_type = &place.data_type;
    match &collection.data_type.root {
        TypeRoot::Array(element) if place_type.root == TypeRoot::Int => {
            match place.literal.as_ref().and_then(Value::as_int) {
                Some(index) if index < 1 => Err(SignatureError::Argument {
                    name: "ITEM".into(),
                    position: 2,
                    reason: format!("elements of an array are counted from 1, not {index}"),
                }),
                _ => Ok(Resolved::unchanged(args, (**element).clone().with_nullable(true))),
            }
        }
        TypeRoot::Map(key, value) => {
            let parameter = as_key(place_type, key).ok_or_else(|| args.no_match(ITEM))?;
            Ok(Resolved {
                parameters: vec![collection.data_type.clone(), parameter],
                returns: (**value).clone().with_nullable(true),
            })
        }
        TypeRoot::Variant
            if place_type.root.is_integer() || place_type.family() == Family::CharacterString =>
        {
            Ok(Resolved::unchanged(args, TypeRoot::Variant.nullable()))
        }
        TypeRoot::Row(_) | TypeRoot::Structured { .. } => {
            let (_, field) = row_field(args).ok_or_else(|| args.no_match(ITEM))?;
            let nullable = field.nullable || collection.data_type.nullable;
            Ok(Resolved::unchanged(args, field.with_nullable(nullable)))
        }
        _ => Err(args.no_match(ITEM)),
    }
}

/// The type in which a value is compared with the keys of a map.
fn as_key(value: &DataType, key: &DataType) -> Option<DataType> {
    let comparable = value.same_root(key)
        || (value.family() == key.family()
            && matches!(
                key.family(),
                Family::Numeric | Family::CharacterString | Family::BinaryString
            ));
    if comparable {
        return Some(value.clone());
    }
    let target = key.clone().with_nullable(value.nullable);
    let same_kind = value.family() == key.family();
    (same_kind && implicit_cast_allowed(value, &target)).then_some(target)
}

/// The place, from 0, and type of the field that a constant names.
fn row_field(args: &CallArgs) -> Option<(usize, DataType)> {
    let fields = args.data_type(0).root.row_fields()?;
    let index = match args.literal(1)? {
        Value::Int(place) => usize::try_from(*place).ok()?.checked_sub(1)?,
        Value::String(name) => fields.iter().position(|field| field.name == *name)?,
        _ => return None,
    };
    Some((index, fields.get(index)?.data_type.clone()))
}

fn compile_item(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    match &args.data_type(0).root {
        TypeRoot::Array(_) => Ok(total_kernel(|args, context| {
            let lists = ListColumn::new(&args[0]);
            let places = Primitives::<Int32Type>::new(&args[1]);
            take_one(lists.values(), context, |row| {
                let (range, place) = lists.range(row).zip(places.get(row))?;
                let offset = usize::try_from(place).ok()?.checked_sub(1)?;
                (offset < range.len()).then(|| range.start + offset)
            })
        })),
        TypeRoot::Map(key, _) => {
            let equality = Equality::new(key, args.data_type(1));
            Ok(total_kernel(move |args, context| {
                let maps = ListColumn::new(&args[0]);
                let (keys, values) = maps.entries();
                let wanted = &args[1];
                let equal = equality.rows(keys, wanted.array())?;
                take_one(values, context, |row| {
                    let mut entries = maps.range(row)?;
                    let wanted_is_null = wanted.is_null(row);
                    entries.find(|entry| match (keys.is_null(*entry), wanted_is_null) {
                        (false, false) => equal(*entry, wanted.index(row)),
                        (key, wanted) => key && wanted,
                    })
                })
            }))
        }
        TypeRoot::Variant => Ok(match args.data_type(1).root {
            TypeRoot::Char(_) | TypeRoot::Varchar(_) => {
                kernel(|args, context| variant::member(&args[0], &args[1], context.rows))
            }
            TypeRoot::TinyInt => variant_element::<Int8Type>(i32::from),
            TypeRoot::SmallInt => variant_element::<Int16Type>(i32::from),
            TypeRoot::Int => variant_element::<Int32Type>(|place| place),
            _ => variant_element::<Int64Type>(|place| place as i32),
        }),
        _ => {
            let (index, _) = row_field(args).ok_or_else(|| args.no_match(ITEM))?;
            Ok(total_kernel(move |args, context| {
                let array = args[0].clone().into_array(context.rows)?;
                let rows = array.as_struct();
                let column = rows.column(index);
                let nulls = NullBuffer::union(column.nulls(), rows.nulls());
                let data = column.to_data().into_builder().nulls(nulls).build()?;
                Ok(arrow::array::make_array(data))
            }))
        }
    }
}

/// Elements of variants; of a place that needs 64 bits the lower 32 count, as in Flink.
fn variant_element<T: ArrowPrimitiveType>(place: fn(T::Native) -> i32) -> Box<dyn Kernel> {
    kernel(move |args, context| {
        let places = Primitives::<T>::new(&args[1]);
        variant::element(&args[0], |row| places.get(row).map(place), context.rows)
    })
}

/// One value a row, or NULL.
fn take_one(
    values: &ArrayRef,
    context: &EvalContext,
    place: impl Fn(usize) -> Option<usize>,
) -> Result<ArrayRef, EvalError> {
    let mut places = UInt32Builder::with_capacity(context.rows);
    for row in 0..context.rows {
        places.append_option(place(row).map(|place| place as u32));
    }
    Ok(take(values, &places.finish(), None)?)
}

fn single_elements(column: &Column, context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let lists = ListColumn::new(column);
    for row in 0..context.rows {
        if let Some(range) = lists.range(row)
            && range.len() > 1
        {
            return Err(EvalError::Argument {
                function: "ELEMENT",
                reason: format!("the array has {} elements instead of one", range.len()),
            });
        }
    }
    take_one(lists.values(), context, |row| lists.range(row)?.next())
}
