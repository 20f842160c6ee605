//! Which columns take their values from a domain that does not grow.
//!
//! A table says so of its columns with `'attribute-domain' = 'status, country'`: however long the job runs,
//! no value comes that was not among those expected. What is computed from such columns alone has a
//! domain too. Keys of such columns bound the state that is kept for each.

use flott_catalog::Table;
use flott_functions::aggregate::AggregateFunction;
use flott_functions::{Expr, Volatility};
use flott_types::{DataType, Schema, TypeRoot};

use crate::logical::JoinKind;
use crate::physical::{ColumnAggregate, GroupAggregate, LocalGroupAggregate, PhysicalOp};
use crate::{PlanError, Result};

/// The option of a table that names its columns whose domain does not grow.
const OPTION: &str = "attribute-domain";

/// For each column of an operator's result, whether its domain does not grow; `inputs` say so of what it
/// reads.
pub fn of(op: &PhysicalOp, schema: &Schema, inputs: &[&[bool]]) -> Result<Vec<bool>> {
    let first = inputs.first().copied().unwrap_or_default();
    let by_type = || schema.fields.iter().map(|field| is_small(&field.data_type)).collect();
    let known: Vec<bool> = match op {
        PhysicalOp::Source(scan) => {
            let declared = declared(&scan.table)?;
            let names = schema.fields.iter();
            names.map(|field| declared.iter().any(|name| *name == &*field.name)).collect()
        }
        PhysicalOp::Calc(calc) => calc.projection.iter().map(|e| has_domain(e, first)).collect(),
        PhysicalOp::Expand(rows) => (0..schema.len())
            .map(|column| rows.iter().all(|row| has_domain(&row[column], first)))
            .collect(),
        PhysicalOp::GroupAggregate(GroupAggregate { keys, .. })
        | PhysicalOp::LocalGroupAggregate(LocalGroupAggregate { keys, .. }) => {
            let keys = keys.iter().map(|key| first[*key]);
            keys.chain(std::iter::repeat(false)).take(schema.len()).collect()
        }
        PhysicalOp::WindowAssign(_) => {
            first.iter().copied().chain(std::iter::repeat(false)).take(schema.len()).collect()
        }
        PhysicalOp::Join(join) if matches!(join.kind, JoinKind::Semi | JoinKind::Anti) => {
            first.to_vec()
        }
        PhysicalOp::Join(_) => inputs.concat(),
        PhysicalOp::Union => (0..schema.len())
            .map(|column| inputs.iter().all(|input| input.get(column) == Some(&true)))
            .collect(),
        PhysicalOp::Limit { .. }
        | PhysicalOp::Sort(_)
        | PhysicalOp::ChangelogNormalize { .. }
        | PhysicalOp::DropUpdateBefore
        | PhysicalOp::Sink(_) => first.to_vec(),
        _ => by_type(),
    };
    let small: Vec<bool> = by_type();
    let all = small.into_iter().enumerate();
    Ok(all.map(|(i, small)| small || known.get(i) == Some(&true)).collect())
}

/// The columns that a table declares, each of which it must have.
fn declared(table: &Table) -> Result<Vec<&str>> {
    let Some(text) = table.options.raw(OPTION) else { return Ok(Vec::new()) };
    let names: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let unknown = names.iter().find(|name| !table.columns.iter().any(|c| c.name == ***name));
    match unknown {
        None => Ok(names),
        Some(name) => Err(PlanError::new(format!(
            "option '{OPTION}' names the column '{name}', which the table does not have"
        ))
        .hint(format!("list columns of the table: '{OPTION}' = 'status, country'"))),
    }
}

/// Types of few values.
fn is_small(data_type: &DataType) -> bool {
    matches!(data_type.root, TypeRoot::Boolean | TypeRoot::TinyInt)
}

fn has_domain(expr: &Expr, input: &[bool]) -> bool {
    is_small(&expr.data_type())
        || expr.volatility() == Volatility::Immutable
            && expr.columns().iter().all(|column| input.get(*column) == Some(&true))
}

/// What a group keeps beside results of a fixed size: the values of this call, if they are not of a
/// domain; `None` when no call keeps any.
pub fn growing_call(
    calls: &[ColumnAggregate],
    input_retracts: bool,
    input: &[bool],
) -> Option<&'static AggregateFunction> {
    let of_domain =
        |call: &ColumnAggregate| call.args.iter().all(|column| input.get(*column) == Some(&true));
    let grows = |call: &&ColumnAggregate| match call.function.name {
        "ARRAY_AGG" | "LISTAGG" | "JSON_ARRAYAGG" => true,
        "COLLECT" | "JSON_OBJECTAGG" | "PERCENTILE" => !of_domain(call),
        "MIN" | "MAX" | "FIRST_VALUE" | "LAST_VALUE" => input_retracts && !of_domain(call),
        _ => call.distinct && !of_domain(call),
    };
    calls.iter().find(grows).map(|call| call.function)
}
