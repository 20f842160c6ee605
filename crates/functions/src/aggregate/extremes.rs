//! MIN and MAX.

use flott_types::{DataType, Family, TypeRoot};

use super::cells::Cells;
use super::keep::{Choice, Keep, Largest, Smallest};
use super::keep_values::KeepValues;
use super::layout::{Physical, with_physical};
use super::ordered::extreme;
use super::typing::{same_as_argument, unsupported};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::{CallArgs, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "MIN",
        aliases: &[],
        resolve,
        create: |spec| create::<Smallest>(spec, false),
        order_sensitive: false,
        doc: FunctionDoc {
            syntax: &["MIN(value)"],
            text: "The smallest of the values that are not NULL; NULL if there are none. Strings \
                   compare by code points, NaN is larger than all numbers.",
            examples: &[("MIN(a) FROM (VALUES ('b'), ('abc'), ('B')) AS t(a)", "B")],
        },
    },
    AggregateFunction {
        name: "MAX",
        aliases: &[],
        resolve,
        create: |spec| create::<Largest>(spec, true),
        order_sensitive: false,
        doc: FunctionDoc {
            syntax: &["MAX(value)"],
            text: "The largest of the values that are not NULL; NULL if there are none. Strings \
                   compare by code points, NaN is larger than all numbers.",
            examples: &[("MAX(a) FROM (VALUES (1), (3), (2)) AS t(a)", "3")],
        },
    },
];

fn resolve(args: &CallArgs, may_be_empty: bool) -> Result<Resolved, SignatureError> {
    let resolved = same_as_argument(args, may_be_empty)?;
    if has_extremes(&resolved.returns) {
        return Ok(resolved);
    }
    Err(SignatureError::Argument {
        name: args.name.clone(),
        position: 1,
        reason: format!(
            "the aggregate function does not support type {}",
            args.data_type(0).summary()
        ),
    })
}

/// The types that Flink has a MIN and a MAX for.
fn has_extremes(ty: &DataType) -> bool {
    match ty.family() {
        Family::Numeric
        | Family::CharacterString
        | Family::Date
        | Family::Time
        | Family::Timestamp => true,
        _ => ty.root == TypeRoot::Boolean,
    }
}

fn create<C: Choice>(
    spec: &AggregateSpec,
    largest: bool,
) -> Result<Box<dyn Accumulator>, SignatureError> {
    let data_type = &spec.returns;
    if !has_extremes(data_type) {
        return Err(unsupported(spec, 0));
    }
    if spec.retracts {
        return extreme(data_type, largest).map_err(|_| unsupported(spec, 0));
    }
    keep::<C>(spec)
}

/// The accumulator that keeps one value a group and takes none back.
pub fn keep<C: Choice>(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let data_type = &spec.returns;
    match Physical::of(data_type) {
        Some(physical) => with_physical!(physical, T => {
            Ok(Cells::boxed(Keep::<T, C>::new(data_type), data_type))
        }),
        None => match KeepValues::<C>::new(data_type) {
            Ok(values) => Ok(Box::new(values)),
            Err(_) => Err(unsupported(spec, 0)),
        },
    }
}
