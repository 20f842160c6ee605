//! BETWEEN.

use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::compute::{and_kleene, or_kleene};
use flott_types::{DataType, Family};

use super::pairing::nullable;
use super::{Comparer, Comparison, Pairing};
use crate::coercion::common_argument_type;
use crate::{
    Arg, CallArgs, Column, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SignatureError, Volatility, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "BETWEEN",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |args, _, _| compile(args, false),
        doc: FunctionDoc {
            syntax: &["value BETWEEN [ASYMMETRIC] low AND high"],
            text: "Whether a value is at least `low` and at most `high`. With a NULL bound it is \
                   UNKNOWN, unless the other bound decides.",
            examples: &[("5 BETWEEN 1 AND 10", "TRUE"), ("5 BETWEEN 10 AND 1", "FALSE")],
        },
    },
    ScalarFunction {
        name: "BETWEEN SYMMETRIC",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |args, _, _| compile(args, true),
        doc: FunctionDoc {
            syntax: &["value BETWEEN SYMMETRIC bound AND bound"],
            text: "Whether a value lies between two bounds, whichever is the smaller one.",
            examples: &[("5 BETWEEN SYMMETRIC 10 AND 1", "TRUE")],
        },
    },
];

/// All three are compared as one type. Here, other than in `<`, DOUBLE wins over FLOAT.
fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let [value, low, high] = args.args.as_slice() else {
        return Err(args.no_match(&["<COMPARABLE_TYPE> BETWEEN <COMPARABLE_TYPE> AND …"]));
    };
    let returns = DataType::boolean().with_nullable(nullable(args));
    let types = args.types();
    let family = |wanted: Family| {
        types.iter().all(|ty| ty.family() == wanted || ty.family() == Family::Null)
    };
    if family(Family::CharacterString) || family(Family::BinaryString) {
        return Ok(Resolved::unchanged(args, returns));
    }
    // Texts are read as what they are compared with.
    let others: Vec<DataType> =
        types.iter().filter(|ty| ty.family() != Family::CharacterString).cloned().collect();
    let decimals = others.iter().all(|ty| ty.root.is_exact_numeric());
    let common = common_argument_type(&others);
    match common {
        // Differing scales are compared as they are: a common one might not have the room.
        Some(_) if decimals && others.len() == types.len() => {
            let parameters = exact_parameters(&types);
            Ok(Resolved { parameters, returns })
        }
        Some(common) => {
            let pairs = [[value, low], [value, high], [low, high]];
            for [a, b] in pairs {
                Pairing::of_order(&call_of(args, a, b))?;
            }
            Ok(Resolved { parameters: vec![common; 3], returns })
        }
        None => Err(args.no_match(&["<COMPARABLE_TYPE> BETWEEN <COMPARABLE_TYPE> AND …"])),
    }
}

/// Integers as the widest of them, or as DECIMALs where one is.
fn exact_parameters(types: &[DataType]) -> Vec<DataType> {
    if types.iter().all(|ty| ty.root.is_integer())
        && let Some(common) = common_argument_type(types)
    {
        return vec![common; types.len()];
    }
    let as_decimal = |ty: &DataType| ty.root.as_decimal().map(|(p, s)| DataType::decimal(p, s));
    types.iter().map(|ty| as_decimal(ty).unwrap_or_else(|| ty.clone())).collect()
}

fn call_of(args: &CallArgs, left: &Arg, right: &Arg) -> CallArgs {
    CallArgs { args: vec![left.clone(), right.clone()], ..args.clone() }
}

fn compile(args: &CallArgs, symmetric: bool) -> Result<Box<dyn Kernel>, SignatureError> {
    let comparer = |comparison, bound: usize| {
        Comparer::new(comparison, args.data_type(0), args.data_type(bound))
    };
    let forward = Range {
        low: comparer(Comparison::GreaterOrEqual, 1)?,
        high: comparer(Comparison::LessOrEqual, 2)?,
    };
    let backward = symmetric
        .then(|| {
            Ok::<_, SignatureError>(Range {
                low: comparer(Comparison::GreaterOrEqual, 2)?,
                high: comparer(Comparison::LessOrEqual, 1)?,
            })
        })
        .transpose()?;
    Ok(total_kernel(move |args, context| {
        let [value, a, b] = args else {
            return Err(EvalError::Internal("BETWEEN without its bounds".into()));
        };
        let mut result = forward.holds(value, a, b, context.rows)?;
        if let Some(backward) = &backward {
            result = or_kleene(&result, &backward.holds(value, b, a, context.rows)?)?;
        }
        Ok(Arc::new(result))
    }))
}

struct Range {
    low: Comparer,
    high: Comparer,
}

impl Range {
    fn holds(
        &self,
        value: &Column,
        low: &Column,
        high: &Column,
        rows: usize,
    ) -> Result<BooleanArray, EvalError> {
        let above = self.low.compare(value, low, rows)?;
        let below = self.high.compare(value, high, rows)?;
        Ok(and_kleene(&above, &below)?)
    }
}
