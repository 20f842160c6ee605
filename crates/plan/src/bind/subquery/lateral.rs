//! LATERAL: sub-queries in FROM that read the tables left of them.

use flott_functions::Expr;
use flott_sql::ast::{self, JoinCondition, TableRefKind};
use flott_types::{Field, Schema};

use super::super::expr::Context;
use super::super::outer::{is_placeholder, outer_column, outer_columns};
use super::super::query::rename;
use super::super::select::filter;
use super::super::{Binder, Bound, Scope, split_condition};
use super::apply::left_join;
use crate::decorrelate::{
    Dependent, Place, attach, check, decorrelate, is_flinks_top_n, over_both,
};
use crate::logical::{Join, JoinKind, LogicalOp, LogicalPlan};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds a join whose right side is `LATERAL (query)`, if it is one that reads the left side.
    pub fn bind_lateral(&mut self, join: &ast::Join, left: &Bound) -> Result<Option<Bound>> {
        let right = &join.right;
        let TableRefKind::Subquery { lateral: true, query } = &right.kind else { return Ok(None) };
        if join.natural {
            return Err(no_natural().at(right.span));
        }
        let level = self.outer.len();
        let plan = self.inside(&left.scope, |binder| binder.bind_query(query))?.plan;
        let path = right.alias.iter().map(|alias| alias.name.value.clone()).collect();
        let named = match &right.alias {
            None => plan.clone(),
            Some(alias) => rename(plan.clone(), &alias.columns, &alias.name.value, alias.span)?,
        };
        let is_outer = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross | ast::JoinKind::Comma => false,
            ast::JoinKind::Left => true,
            ast::JoinKind::Right | ast::JoinKind::Full => {
                return Err(PlanError::new("LATERAL cannot stand right of a RIGHT or FULL join")
                    .at(right.span)
                    .hint("use CROSS JOIN LATERAL, or LEFT JOIN LATERAL … ON TRUE"));
            }
        };
        let mut given = Scope::of(path, &named.schema);
        for field in &mut given.fields {
            field.data_type.nullable |= is_outer;
            field.time = None;
        }
        let mut scope = left.scope.clone().join(given);
        scope.fields.iter_mut().for_each(|field| field.time = None);
        let on = match &join.condition {
            Some(JoinCondition::On(on)) => {
                let condition = self.bind_condition(on, &mut Context::new(&scope))?;
                condition.conjuncts().into_iter().filter(|c| !is_true(c)).collect()
            }
            Some(JoinCondition::Using(_)) => {
                return Err(
                    PlanError::new("LATERAL is joined ON a condition, not USING").at(right.span)
                );
            }
            None => Vec::new(),
        };
        let plans = self.config.general_correlation || is_flinks_top_n(&left.plan, &plan, level);
        if !plans {
            check(&plan, level, Place::Lateral, right.span)?;
        }
        let plan = if is_outer {
            lateral_left(&left.plan, &plan, level, on, right.span)?
        } else {
            lateral_inner(&left.plan, &plan, level, on, right.span)?
        };
        let plan = LogicalPlan::project(plan, columns(&scope.fields), scope.schema());
        Ok(Some(Bound { plan, scope }))
    }
}

/// NATURAL would compare columns that the right side may compute from the left ones.
pub fn no_natural() -> PlanError {
    PlanError::new("NATURAL cannot join what is computed from each row of the left side")
        .hint("use CROSS JOIN, or ON with the columns that must be equal")
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal { value: flott_types::Value::Boolean(true), .. })
}

type Plan = crate::logical::PlanRef;

/// The pairs of rows and what belongs to them. A row for which an aggregate finds nothing has none, as
/// in Flink.
fn lateral_inner(
    around: &Plan,
    plan: &Plan,
    level: usize,
    on: Vec<Expr>,
    span: ast::Span,
) -> Result<Plan> {
    let split = around.schema.len();
    let reads = !outer_columns(plan, level).is_empty();
    if reads && let Some((joined, outputs)) = attach(plan, around, level) {
        let given = project(joined, around, outputs, plan);
        return Ok(if on.is_empty() { given } else { filter(given, Expr::conjunction(on), span) });
    }
    let Dependent { plan: right, outputs, conditions, .. } =
        decorrelate(plan, around, level, false)?;
    let outputs: Vec<Expr> = outputs.iter().map(|o| over_both(o, level, split)).collect();
    let conditions = conditions.iter().map(|c| over_both(c, level, split)).collect();
    let (equal, residual) = split_condition(conditions, split);
    let residual = (!residual.is_empty()).then(|| Expr::conjunction(residual));
    let mut fields = around.schema.fields.clone();
    fields.extend(right.schema.fields.iter().cloned());
    fields.iter_mut().for_each(|field| field.time = None);
    let op = LogicalOp::Join(Join::new(JoinKind::Inner, equal, residual));
    let inputs = vec![around.clone(), right];
    let joined = LogicalPlan::spanned(op, inputs, Schema::new(fields), span);
    let given = project(joined, around, outputs, plan);
    Ok(if on.is_empty() { given } else { filter(given, Expr::conjunction(on), span) })
}

/// All rows, with what belongs to them or NULLs.
fn lateral_left(
    around: &Plan,
    plan: &Plan,
    level: usize,
    on: Vec<Expr>,
    span: ast::Span,
) -> Result<Plan> {
    let split = around.schema.len();
    let mut dependent = decorrelate(plan, around, level, on.is_empty())?;
    if !on.is_empty() {
        // The condition is part of what belongs to a row; a default that fails it is none.
        if dependent.defaults.is_some() {
            dependent = without_defaults(dependent);
        }
        for condition in on {
            dependent.conditions.push(inside_out(condition, split, level, &dependent.outputs));
        }
    }
    let (joined, outputs) = left_join(around, dependent, level, span)?;
    Ok(project(joined, around, outputs, plan))
}

/// Flink keeps rows around without match as such where ON has a condition.
fn without_defaults(dependent: Dependent) -> Dependent {
    Dependent { defaults: None, ..dependent }
}

/// A condition over the row around and the query's columns as one that stands with the query.
fn inside_out(condition: Expr, split: usize, level: usize, outputs: &[Expr]) -> Expr {
    condition.transform(&mut |node| match node {
        Expr::Column { index, .. } if index >= split && !is_placeholder(index) => {
            outputs[index - split].clone()
        }
        Expr::Column { index, data_type } => outer_column(level, index, data_type),
        other => other,
    })
}

/// The columns around, and the query's behind them.
fn project(joined: Plan, around: &Plan, outputs: Vec<Expr>, plan: &Plan) -> Plan {
    let mut exprs = columns(&around.schema.fields);
    let mut fields = around.schema.fields.clone();
    for (output, field) in outputs.iter().zip(&plan.schema.fields) {
        fields.push(Field::new(field.name.clone(), output.data_type()));
    }
    exprs.extend(outputs);
    LogicalPlan::project(joined, exprs, Schema::new(fields))
}

fn columns(fields: &[Field]) -> Vec<Expr> {
    fields.iter().enumerate().map(|(i, f)| Expr::column(i, f.data_type.clone())).collect()
}
