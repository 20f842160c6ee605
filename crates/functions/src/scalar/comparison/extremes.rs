//! GREATEST and LEAST.

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::compute::kernels::{cmp, nullif::nullif, zip::zip};
use flott_types::{DataType, Family};

use crate::coercion::common_argument_type;
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError,
    Volatility, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "GREATEST",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |_, returns, _| Ok(extreme(returns, true)),
        doc: FunctionDoc {
            syntax: &["GREATEST(value, …)"],
            text: "The largest of some values, in their common type; NULL if one of them is. NaN \
                   is larger than all other numbers.",
            examples: &[("GREATEST(1, 2.5)", "2.5"), ("GREATEST('b', 'abc')", "b")],
        },
    },
    ScalarFunction {
        name: "LEAST",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |_, returns, _| Ok(extreme(returns, false)),
        doc: FunctionDoc {
            syntax: &["LEAST(value, …)"],
            text: "The smallest of some values, in their common type; NULL if one of them is.",
            examples: &[("LEAST(1, 2.5)", "1.0"), ("LEAST('b', 'abc')", "abc")],
        },
    },
];

/// Values of one family that has an order.
fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let types = args.types();
    let ordered = |family: Family| {
        !matches!(family, Family::Null | Family::Collection | Family::Row | Family::Other)
    };
    let family = types.first().map(DataType::family).filter(|family| ordered(*family));
    let alike = family.is_some_and(|family| types.iter().all(|ty| ty.family() == family));
    match common_argument_type(&types).filter(|_| alike) {
        Some(common) => {
            Ok(Resolved { parameters: vec![common.clone(); types.len()], returns: common })
        }
        None => Err(args.no_match(&["<COMPARABLE>, …"])),
    }
}

fn extreme(returns: &DataType, greatest: bool) -> Box<dyn Kernel> {
    let returns = returns.clone();
    total_kernel(move |args, context| {
        let mut columns = args.iter();
        let Some(first) = columns.next() else {
            return Ok(crate::evaluator::nulls(&returns, context.rows));
        };
        let mut chosen = first.clone().into_array(context.rows)?;
        for column in columns {
            let next = column.clone().into_array(context.rows)?;
            // Arrow orders floats totally, as Java's compareTo does.
            let better = if greatest { cmp::gt(&next, &chosen) } else { cmp::lt(&next, &chosen) }?;
            chosen = zip(&better, &next, &chosen)?;
        }
        with_nulls_of(chosen, args)
    })
}

/// The array with NULL wherever one of the columns has it.
fn with_nulls_of(array: ArrayRef, columns: &[Column]) -> Result<ArrayRef, EvalError> {
    let mut nulls: Option<NullBuffer> = None;
    for column in columns {
        if column.is_constant() && column.array().is_null(0) {
            nulls = Some(NullBuffer::new_null(array.len()));
        } else if !column.is_constant() {
            nulls = NullBuffer::union(nulls.as_ref(), column.array().nulls());
        }
    }
    match nulls {
        None => Ok(array),
        Some(nulls) => Ok(nullif(&array, &BooleanArray::new(!nulls.inner(), None))?),
    }
}
