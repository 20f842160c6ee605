//! IN with a list of values.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBuilder, StringArray};
use arrow::compute::or_kleene;
use arrow::datatypes::{
    Date32Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType,
};
use flott_types::{DataType, Family, TimestampUnit, TypeRoot, Value, timestamp_unit};
use hashbrown::HashSet;

use super::pairing::nullable;
use super::{Comparer, Comparison};
use crate::coercion::common_type;
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError,
    Volatility, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "IN",
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve,
    compile: |args, _, _| compile(args),
    doc: FunctionDoc {
        syntax: &["value IN (item, …)"],
        text: "Whether a value is equal to one of some items, which are cast to its type. If it \
               is equal to none and an item is NULL, the result is UNKNOWN.",
        examples: &[("2 IN (1, 2, 3)", "TRUE"), ("'c' IN ('a', 'b')", "FALSE")],
    },
}];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let refused = || args.no_match(&["<COMPARABLE_TYPE> IN (<COMPARABLE_TYPE>, …)"]);
    let types = args.types();
    let [value, items @ ..] = types.as_slice() else { return Err(refused()) };
    let common = common_type(items).ok_or_else(refused)?;
    if !goes_with(value, &common) {
        return Err(refused());
    }
    // Texts meet other values in IN, but not beside an untyped NULL.
    let is_null = |ty: &DataType| ty.family() == Family::Null;
    let is_text = |ty: &DataType| ty.family() == Family::CharacterString;
    if items.iter().any(is_null)
        && !is_null(value)
        && !is_null(&common)
        && is_text(value) != is_text(&common)
    {
        return Err(refused());
    }
    let returns = DataType::boolean().with_nullable(nullable(args));
    let same_kind = |item: &DataType| match (&value.root, &item.root) {
        (TypeRoot::Varchar(_), TypeRoot::Char(_)) => true,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    };
    // Timestamps of different precisions have no layout in common.
    let value = match value.root {
        TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) => {
            let alike = items.iter().filter(|item| same_kind(item));
            let all: Vec<_> = [value].into_iter().chain(alike).cloned().collect();
            common_type(&all).ok_or_else(refused)?
        }
        TypeRoot::Null => common.clone().with_nullable(true),
        _ => value.clone(),
    };
    let is_timestamp = value.family() == Family::Timestamp;
    // A DECIMAL meets numbers as they are; other values ask items to be of their type.
    let is_decimal = matches!(value.root, TypeRoot::Decimal { .. });
    let parameter = |item: &DataType| {
        let stays =
            same_kind(item) && !is_timestamp || is_decimal && item.family() == Family::Numeric;
        if stays { item.clone() } else { value.clone() }
    };
    let parameters = [value.clone()].into_iter().chain(items.iter().map(parameter)).collect();
    Ok(Resolved { parameters, returns })
}

/// Whether values of a type may be looked for among items of another.
fn goes_with(value: &DataType, items: &DataType) -> bool {
    use Family::*;
    match (value.family(), items.family()) {
        (Null, _) | (_, Null) => true,
        (CharacterString, Numeric | Boolean | Date | Time | Timestamp | Interval)
        | (Numeric | Boolean | Date | Time | Timestamp, CharacterString) => true,
        (Interval, Interval) | (Other, Other) => value.same_root(items),
        (Collection, Collection) | (Row, Row) => {
            common_type(&[value.clone(), items.clone()]).is_some()
        }
        (a, b) => a == b,
    }
}

fn compile(args: &CallArgs) -> Result<Box<dyn Kernel>, SignatureError> {
    let items: Option<Vec<Value>> =
        (1..args.len()).map(|item| args.literal(item).cloned()).collect();
    if let Some(set) = items.and_then(|items| Set::new(args, &items)) {
        return Ok(total_kernel(move |args, context| set.contains(&args[0], context.rows)));
    }
    let comparers = (1..args.len())
        .map(|item| Comparer::new(Comparison::Equal, args.data_type(0), args.data_type(item)))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(total_kernel(move |args, context| {
        let mut found: Option<BooleanArray> = None;
        for (comparer, item) in comparers.iter().zip(&args[1..]) {
            let next = comparer.compare(&args[0], item, context.rows)?;
            found = Some(match found {
                None => next,
                Some(found) => or_kleene(&found, &next)?,
            });
        }
        match found {
            Some(found) => Ok(Arc::new(found)),
            None => Err(EvalError::Internal("IN without items".into())),
        }
    }))
}

/// Constant items, to be found by their hash.
struct Set {
    items: Items,
    has_null: bool,
}

enum Items {
    Numbers(HashSet<i64, foldhash::fast::RandomState>, Numbers),
    Texts(HashSet<Box<str>, foldhash::fast::RandomState>),
}

/// How numbers are read from an array.
type Numbers = fn(&dyn Array, &mut dyn FnMut(usize, i64));

impl Set {
    /// A set of the items, where that is faster than to compare with each: from how many on was
    /// measured.
    fn new(args: &CallArgs, items: &[Value]) -> Option<Self> {
        const MANY_NUMBERS: usize = 12;
        const MANY_TEXTS: usize = 4;
        let ty = args.data_type(0);
        let alike = (1..args.len()).all(|item| {
            let item = args.data_type(item);
            item.same_root(ty)
                || ty.family() == Family::CharacterString && item.family() == ty.family()
        });
        if !alike {
            return None;
        }
        let has_null = items.iter().any(Value::is_null);
        let items = if ty.family() == Family::CharacterString {
            let texts = items.iter().filter_map(Value::as_str).map(Box::from);
            (items.len() >= MANY_TEXTS).then(|| Items::Texts(texts.collect()))
        } else {
            let read = numbers(&ty.root).filter(|_| items.len() >= MANY_NUMBERS)?;
            let array = Value::to_array(items, ty).ok()?;
            let mut set = HashSet::default();
            read(&array, &mut |_, number| {
                set.insert(number);
            });
            Some(Items::Numbers(set, read))
        }?;
        Some(Self { items, has_null })
    }

    fn contains(&self, values: &Column, rows: usize) -> Result<ArrayRef, EvalError> {
        let array = values.array();
        let mut found = BooleanBuilder::with_capacity(array.len());
        let mut push = |is_in: bool| match is_in {
            false if self.has_null => found.append_null(),
            is_in => found.append_value(is_in),
        };
        match &self.items {
            Items::Texts(set) => {
                let texts: &StringArray = array.as_string();
                // NULLs are put in afterwards.
                texts.iter().for_each(|text| push(text.is_some_and(|text| set.contains(text))));
            }
            Items::Numbers(set, read) => {
                let mut next = 0;
                read(array, &mut |row, number| {
                    (next..row).for_each(|_| push(false));
                    push(set.contains(&number));
                    next = row + 1;
                });
                (next..array.len()).for_each(|_| push(false));
            }
        }
        let found = found.finish();
        let nulls = arrow::buffer::NullBuffer::union(found.nulls(), array.nulls());
        let found: ArrayRef = Arc::new(BooleanArray::new(found.values().clone(), nulls));
        let column =
            if values.is_constant() { Column::constant(found) } else { Column::rows(found) };
        column.into_array(rows)
    }
}

/// How values of a root are read as numbers; `None` where they are no 64-bit ones.
fn numbers(root: &TypeRoot) -> Option<Numbers> {
    macro_rules! read {
        ($arrow:ty) => {
            |array, take| {
                let values = array.as_primitive::<$arrow>();
                for (row, value) in values.iter().enumerate() {
                    if let Some(value) = value {
                        take(row, value.into());
                    }
                }
            }
        };
    }
    Some(match root {
        TypeRoot::TinyInt => read!(Int8Type),
        TypeRoot::SmallInt => read!(Int16Type),
        TypeRoot::Int => read!(Int32Type),
        TypeRoot::BigInt => read!(Int64Type),
        TypeRoot::Date => read!(Date32Type),
        TypeRoot::Time(_) => read!(Time32MillisecondType),
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => match timestamp_unit(*p) {
            TimestampUnit::Millis => read!(TimestampMillisecondType),
            TimestampUnit::Micros => read!(TimestampMicrosecondType),
            TimestampUnit::Nanos => return None,
        },
        _ => return None,
    })
}
