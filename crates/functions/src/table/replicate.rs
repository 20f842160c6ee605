//! REPLICATE_ROWS: a row as often as its first argument says; INTERSECT ALL and EXCEPT ALL use it.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::Int64Type;
use flott_types::{DataType, RowField};

use super::{Pick, ResolvedTable, TableFunction, TableKernel, TableRows};
use crate::{CallArgs, EvalError, FunctionDoc};

pub(super) const FUNCTION: TableFunction = TableFunction {
    name: "$REPLICATE_ROWS",
    resolve: |args| {
        let mut parameters = args.types();
        if parameters.is_empty() {
            return Err(args.no_match(&["$REPLICATE_ROWS(count, value, …)"]));
        }
        parameters[0] = DataType::bigint().with_nullable(parameters[0].nullable);
        let columns = parameters.iter().skip(1).enumerate();
        let columns = columns.map(|(i, ty)| RowField::new(format!("f{i}"), ty.clone())).collect();
        Ok(ResolvedTable { parameters, columns, keys: Vec::new() })
    },
    compile: |_: &CallArgs| Ok(Box::new(Replicate)),
    doc: FunctionDoc {
        syntax: &["$REPLICATE_ROWS(count, value, …)"],
        text: "The values as a row, `count` times; no row when it is NULL or less than one.",
        examples: &[],
    },
};

struct Replicate;

impl TableKernel for Replicate {
    fn evaluate(&self, args: &[ArrayRef], _rows: usize) -> Result<Box<dyn TableRows>, EvalError> {
        let (counts, columns) = args
            .split_first()
            .ok_or_else(|| EvalError::Internal("rows to replicate without a count".into()))?;
        let counts = counts.as_primitive::<Int64Type>().clone();
        Ok(Box::new(Replicated { counts, columns: columns.to_vec() }))
    }
}

struct Replicated {
    counts: Int64Array,
    columns: Vec<ArrayRef>,
}

impl TableRows for Replicated {
    fn count(&self, row: usize) -> usize {
        if self.counts.is_null(row) { 0 } else { self.counts.value(row).max(0) as usize }
    }

    fn gather(&self, picks: &[Pick]) -> Result<Vec<ArrayRef>, EvalError> {
        let rows: UInt32Array = picks.iter().map(|pick| pick.nth.map(|_| pick.row)).collect();
        Ok(self.columns.iter().map(|column| take(column, &rows, None)).collect::<Result<_, _>>()?)
    }
}
