//! Sub-queries in ON of an outer join: each is computed beside the rows of the side whose columns it reads.
//!
//! Above the join it would be too late: a row whose condition is not TRUE stays, beside NULLs.

use flott_functions::Expr;
use flott_sql::ast::Span;
use flott_types::{DataType, Field, Schema};

use super::super::Binder;
use super::super::outer::{as_subquery, outer_columns, subquery_column};
use super::{SubQuery, apply_values};
use crate::logical::{LogicalPlan, PlanRef};
use crate::{PlanError, Result};

/// The sides of a join with what its condition needs of sub-queries behind their columns.
pub struct Sides {
    /// The left side.
    pub left: PlanRef,
    /// The right side.
    pub right: PlanRef,
    /// The condition over both.
    pub condition: Vec<Expr>,
}

/// Computes the sub-queries of a condition over `left` and `right` on the side that each reads. Fails for one
/// that reads both.
pub fn place_in_sides(
    binder: &Binder,
    (left, right): (&PlanRef, &PlanRef),
    condition: Vec<Expr>,
    subqueries: Vec<SubQuery>,
    span: Span,
) -> Result<Sides> {
    let (level, split) = (binder.outer.len(), left.schema.len());
    let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
    for subquery in subqueries {
        match side(&subquery, level, split) {
            Some(false) => of_left.push(subquery),
            Some(true) => {
                let below = |expr: &Expr| Ok(expr.clone().map_columns(&|column| column - split));
                of_right.push(subquery.rewritten(level, &below)?);
            }
            None => {
                return Err(PlanError::new(
                    "a sub-query in ON of an outer join cannot read columns of both tables",
                )
                .at(span)
                .hint("compute it in a sub-query in FROM, or use an INNER join"));
            }
        }
    }
    let types = types(&condition);
    let (left, left_numbers) = with_values(binder, left, of_left, &types)?;
    let (right, right_numbers) = with_values(binder, right, of_right, &types)?;
    let place = |index: usize| match as_subquery(index) {
        Some(number) => {
            let at = |numbers: &[usize]| numbers.iter().position(|known| *known == number);
            match (at(&left_numbers), at(&right_numbers)) {
                (Some(value), _) => split + value,
                (None, value) => {
                    left.schema.len() + right.schema.len() - right_numbers.len()
                        + value.unwrap_or_default()
                }
            }
        }
        None if index < split => index,
        None => index + left_numbers.len(),
    };
    let condition = condition.into_iter().map(|expr| expr.map_columns(&place)).collect();
    Ok(Sides { left, right, condition })
}

/// Whether a sub-query reads columns of the left side only (or of none), or of the right side only.
fn side(subquery: &SubQuery, level: usize, split: usize) -> Option<bool> {
    let read = outer_columns(&subquery.plan, level).into_iter().map(|(column, _)| column);
    let columns: Vec<usize> =
        read.chain(subquery.operands().iter().flat_map(Expr::columns)).collect();
    if columns.iter().all(|column| *column < split) {
        return Some(false);
    }
    columns.iter().all(|column| *column >= split && as_subquery(*column).is_none()).then_some(true)
}

/// The types that a condition knows its sub-queries by.
fn types(condition: &[Expr]) -> Vec<(usize, DataType)> {
    let mut types = Vec::new();
    for expr in condition {
        expr.visit(&mut |node| {
            if let Expr::Column { index, data_type } = node
                && let Some(number) = as_subquery(*index)
            {
                types.push((number, data_type.clone()));
            }
        });
    }
    types
}

/// The plan with the values of sub-queries as columns behind its own, and their numbers in order.
fn with_values(
    binder: &Binder,
    plan: &PlanRef,
    subqueries: Vec<SubQuery>,
    types: &[(usize, DataType)],
) -> Result<(PlanRef, Vec<usize>)> {
    if subqueries.is_empty() {
        return Ok((plan.clone(), Vec::new()));
    }
    let wanted: Vec<(usize, DataType)> = subqueries
        .iter()
        .filter_map(|subquery| types.iter().find(|(number, _)| *number == subquery.number).cloned())
        .collect();
    let values = wanted.iter().map(|(number, ty)| subquery_column(*number, ty.clone())).collect();
    let (wide, values) = apply_values(binder, plan.clone(), values, subqueries)?;
    let mut fields = plan.schema.fields.clone();
    let mut exprs: Vec<Expr> =
        fields.iter().enumerate().map(|(i, f)| Expr::column(i, f.data_type.clone())).collect();
    for (i, value) in values.into_iter().enumerate() {
        fields.push(Field::new(format!("$query{i}"), value.data_type()));
        exprs.push(value);
    }
    let plan = LogicalPlan::project(wide, exprs, Schema::new(fields));
    Ok((plan, wanted.into_iter().map(|(number, _)| number).collect()))
}
