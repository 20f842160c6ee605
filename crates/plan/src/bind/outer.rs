//! Columns that stand for what is not in the plan yet: columns of queries around the one being bound, and
//! sub-queries of expressions.
//!
//! Both are columns of positions that no plan reaches, so that expressions stay ordinary ones while
//! they are bound. They are gone when the query around is bound: a sub-query becomes a join, and
//! [`crate::decorrelate`] frees its plan from columns of the query that it stands in.

use std::collections::HashSet;
use std::sync::Arc;

use flott_functions::Expr;
use flott_sql::ast::Ident;
use flott_types::DataType;

use super::{Binder, Scope};
use crate::logical::{LogicalPlan, PlanRef};
use crate::{PlanError, Result};

/// Where sub-queries are counted from, far behind any column.
const SUBQUERY: usize = 1 << 32;
/// One step between the columns of one query and those of the query inside it.
const LEVEL: usize = 1 << 40;

/// A column of a query around: of the outermost one at level 0.
pub fn outer_column(level: usize, column: usize, data_type: DataType) -> Expr {
    Expr::column(outer_index(level, column), data_type)
}

/// The position that stands for a column of the query at `level`; what stands for something itself stays.
pub fn outer_index(level: usize, column: usize) -> usize {
    if is_placeholder(column) { column } else { (level + 1) * LEVEL + column }
}

/// The level and position of a column of a query around.
pub fn as_outer(index: usize) -> Option<(usize, usize)> {
    (index >= LEVEL).then(|| (index / LEVEL - 1, index % LEVEL))
}

/// The column that stands for a sub-query until it has become a join.
pub fn subquery_column(number: usize, data_type: DataType) -> Expr {
    Expr::column(SUBQUERY + number, data_type)
}

/// The number of the sub-query that a column stands for.
pub fn as_subquery(index: usize) -> Option<usize> {
    (SUBQUERY..LEVEL).contains(&index).then(|| index - SUBQUERY)
}

/// Whether a column stands for something that is not in the plan.
pub fn is_placeholder(index: usize) -> bool {
    index >= SUBQUERY
}

/// Whether an expression reads columns of the query at `level`.
pub fn reads_outer(expr: &Expr, level: usize) -> bool {
    expr.columns().into_iter().filter_map(as_outer).any(|(of, _)| of == level)
}

/// The columns of the query at `level` that a plan reads, each once, with their types.
pub fn outer_columns(plan: &PlanRef, level: usize) -> Vec<(usize, DataType)> {
    let mut found: Vec<(usize, DataType)> = Vec::new();
    visit_exprs(plan, &mut HashSet::new(), &mut |expr| {
        expr.visit(&mut |node| {
            if let Expr::Column { index, data_type } = node
                && let Some((of, column)) = as_outer(*index)
                && of == level
                && !found.iter().any(|(known, _)| *known == column)
            {
                found.push((column, data_type.clone()));
            }
        });
    });
    found.sort_by_key(|(column, _)| *column);
    found
}

/// Fails for a plan that still reads what is not in it: of a query around in a place where that cannot be
/// a join.
pub fn check_closed(plan: &PlanRef) -> Result<()> {
    let mut is_open = false;
    let mut seen = HashSet::new();
    visit_exprs(plan, &mut seen, &mut |expr| {
        is_open |= expr.columns().into_iter().any(is_placeholder);
    });
    if is_open {
        return Err(PlanError::new(
            "a column of an outer query, or a sub-query, cannot be read here",
        )
        .hint("join the tables instead"));
    }
    Ok(())
}

/// Every expression of a plan; nodes that several read are visited once.
fn visit_exprs(
    plan: &PlanRef,
    seen: &mut HashSet<*const LogicalPlan>,
    visit: &mut impl FnMut(&Expr),
) {
    if !seen.insert(Arc::as_ptr(plan)) {
        return;
    }
    crate::rules::map_exprs(plan, &mut |expr| {
        visit(&expr);
        expr
    });
    plan.inputs.iter().for_each(|input| visit_exprs(input, seen, visit));
}

/// The plan with its columns of the query at `level` replaced.
pub fn replace_outer(
    plan: &PlanRef,
    level: usize,
    replace: &mut impl FnMut(usize, DataType) -> Result<Expr>,
) -> Result<PlanRef> {
    if outer_columns(plan, level).is_empty() {
        return Ok(plan.clone());
    }
    let mut failure = None;
    let rewritten = LogicalPlan::transform(std::slice::from_ref(plan), &mut |node| {
        let op = crate::rules::map_exprs(&node, &mut |expr| {
            expr.transform(&mut |node| match node {
                Expr::Column { index, data_type } => match as_outer(index) {
                    Some((of, column)) if of == level => replace(column, data_type.clone())
                        .unwrap_or_else(|error| {
                            failure.get_or_insert(error);
                            Expr::column(index, data_type)
                        }),
                    _ => Expr::column(index, data_type),
                },
                other => other,
            })
        });
        Arc::new(LogicalPlan { op, ..LogicalPlan::clone(&node) })
    });
    match (failure, rewritten.into_iter().next()) {
        (Some(error), _) => Err(error),
        (None, rewritten) => Ok(rewritten.unwrap_or_else(|| plan.clone())),
    }
}

impl Binder<'_> {
    /// The column that a name stands for: one of the scope, else of the nearest query around.
    pub fn resolve(&self, name: &[Ident], scope: &Scope) -> Result<Expr> {
        if let Some(found) = scope.find(name)? {
            return Ok(found);
        }
        for (level, around) in self.outer.iter().enumerate().rev() {
            if let Some(found) = around.find(name)? {
                return Ok(found.transform(&mut |node| match node {
                    Expr::Column { index, data_type } => outer_column(level, index, data_type),
                    other => other,
                }));
            }
        }
        scope.resolve(name)
    }

    /// Binds something that sees the columns of a scope beside its own.
    pub fn inside<T>(
        &mut self,
        scope: &Scope,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.outer.push(scope.clone());
        let subqueries = self.subqueries.take();
        let bound = bind(self);
        self.subqueries = subqueries;
        self.outer.pop();
        bound
    }

    /// Binds something that sees nothing of what is around it: a view, a computed column.
    pub fn apart<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::take(&mut self.outer);
        let subqueries = self.subqueries.take();
        let bound = bind(self);
        self.subqueries = subqueries;
        self.outer = outer;
        bound
    }
}
